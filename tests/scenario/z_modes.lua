-- Suppliers of mode dark and test.

scenario "a dark supplier is asked and recorded, and never shown"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", answers = "offers_2", after = 300 }
at(0)     { supplier = "new", answers = "offers_9", after = 100, cheapest = 1, mode = "dark" }

by(400)   { expect_reply = { complete = true, eligible = 1, offers = 2, found = 2, items = 2, requests = 2,
                             seen = { shown = "answered" }, facets = { "house shown 2 100.00", "kind 0 1 100.00",
                                                                       "kind 1 1 101.00" },
                             outcomes = { new = { "answered", mode = "dark", offers = 9 },
                                          shown = { "answered", mode = "live" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a search does not wait for a dark supplier"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", answers = "offers_2", after = 100 }
at(0)     { supplier = "new", answers = "offers_9", after = 700, mode = "dark" }

by(200)   { expect_reply = { complete = true, cut_by_budget = false, before = 150,
                             outcomes = { new = { "finished_early", mode = "dark", phase = "first_byte",
                                                  breaker = "ignored" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "the budget cuts a dark supplier with the others"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "shown", hangs = true }
at(0)     { supplier = "new", hangs = true, mode = "dark" }

by(500)   { expect_reply = { status = 504, missing = 1, reasons = { "budget" },
                             outcomes = { new = { "cut", mode = "dark", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a dark supplier is asked behind the shown ones, and its answer read behind theirs"

at(0)     { machine = { workers = 1, exact = true } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "hog", answers = "offers_1", after = 100, script = 100 }
at(0)     { supplier = "new", answers = "offers_1", after = 110, script = 300, ceiling = 500, mode = "dark" }
at(0)     { supplier = "shown", answers = "offers_1", after = 150, script = 50 }

by(270)   { expect_reply = { complete = true, outcomes = { new = "finished_early", shown = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a dark supplier whose share the search is not in is not asked"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", answers = "offers_2", after = 100 }
at(0)     { supplier = "new", answers = "offers_9", after = 50, mode = "dark", traffic = 0 }

by(200)   { expect_reply = { complete = true, requests = 1, seen = { shown = "answered" },
                             outcomes = { new = { "skipped", mode = "dark", asked = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a dark supplier that fails is no trouble of the search's"

at(0)     { search = { budget = 2000, partial = false } }
at(0)     { supplier = "shown", answers = "offers_2", after = 200 }
at(0)     { supplier = "new", fails = "connect", after = 50, mode = "dark" }
at(0)     { supplier = "old", starts = "script_error", mode = "dark" }

by(300)   { expect_reply = { status = 200, complete = true, troubles = 1, seen = { shown = "answered" },
                             outcomes = { new = { "failed", mode = "dark" },
                                          old = { "script_error", mode = "dark" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a search of dark suppliers only has nobody to ask"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "new", answers = "offers_9", after = 50, mode = "dark" }

by(50)    { expect_reply = { status = 200, eligible = 0, reasons = { "none_eligible" }, offers = 0, seen = {},
                             outcomes = { new = { "finished_early", mode = "dark" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a dark account makes its supplier dark for the search"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", answers = "offers_2", after = 200 }
at(0)     { supplier = "new", answers = "offers_9", after = 50, account = "dark" }
at(0)     { supplier = "out", answers = "offers_9", after = 50, account = "dark", traffic = 0 }

by(300)   { expect_reply = { complete = true, eligible = 1, offers = 2, requests = 2, seen = { shown = "answered" },
                             outcomes = { new = { "answered", mode = "dark", offers = 9 },
                                          out = { "skipped", mode = "dark" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "rules limit the ceiling of a dark supplier"

at(0)     { search = { budget = 2000 } }
at(0)     { rules = { { max = 150, supplier = { "slow" } } } }
at(0)     { supplier = "shown", answers = "offers_2", after = 200 }
at(0)     { supplier = "slow", hangs = true, ceiling = 900, mode = "dark" }

by(250)   { expect_reply = { complete = true,
                             outcomes = { slow = { "cut", mode = "dark", bound = "ceiling", ceiling = 150,
                                                   rules = { "rules:1" } } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a caller leaves while a dark supplier is asked"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", hangs = true }
at(0)     { supplier = "new", hangs = true, mode = "dark" }
at(100)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { new = { "cancelled", mode = "dark" }, shown = "cancelled" },
            references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a test supplier is not there for a search that is no test"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "shown", answers = "offers_2", after = 100 }
at(0)     { supplier = "sandbox", answers = "offers_9", after = 50, mode = "test" }

by(200)   { expect_reply = { complete = true, eligible = 1, requests = 1, seen = { shown = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a test search asks test suppliers, too"

at(0)     { search = { budget = 2000, test = true } }
at(0)     { supplier = "shown", answers = "offers_2", after = 100 }
at(0)     { supplier = "sandbox", answers = "offers_3", after = 50, mode = "test" }

by(200)   { expect_reply = { complete = true, eligible = 2, offers = 5,
                             seen = { shown = "answered", sandbox = "answered" },
                             outcomes = { sandbox = { "answered", mode = "test" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "who names a test supplier without a test search learns why it was not asked"

at(0)     { search = { budget = 2000, suppliers = { "sandbox" } } }
at(0)     { supplier = "sandbox", answers = "offers_3", after = 50, mode = "test" }

by(50)    { expect_reply = { status = 200, eligible = 0, requests = 0, reasons = { "none_eligible" },
                             outcomes = { sandbox = { "skipped",
                                                      detail = "only for searches with \"mode\": \"test\"" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "an account of mode test is passed over by a search that is no test"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 50, account = "test" }

by(50)    { expect_reply = { status = 200, eligible = 0, requests = 0, outcomes = { a = "skipped" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }
