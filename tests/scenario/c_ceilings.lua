-- How long a supplier's answer is worth waiting for.

scenario "a low ceiling lets the reply leave before the budget"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "healthy", answers = "offers_3", after = 500, ceiling = 400 }
at(0)     { supplier = "quick", answers = "offers_1", after = 100 }

at(399)   { expect_outcome = { healthy = "pending" } }
at(400)   { expect_outcome = { healthy = { "cut", bound = "ceiling", phase = "first_byte", ceiling = 400,
                                           ceiling_from = "script" } } }
by(410)   { expect_reply = { offers = 1, reasons = { "ceiling" }, cut_by_budget = false, at = 400 } }
finally   { breaker = { healthy = "no_failure" }, references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule of the settings wins over the script, downwards"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 500, ceiling = 900, rule = 200 }

by(250)   { expect_reply = { outcomes = { a = { "cut", bound = "ceiling", ceiling = 200,
                                                ceiling_from = "settings" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule of the settings wins over the script, upwards"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 500, ceiling = 200, rule = 900 }

by(600)   { expect_reply = { complete = true, outcomes = { a = { "answered", ceiling = 900,
                                                                 ceiling_from = "settings" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "each supplier has its own ceiling"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", hangs = true, ceiling = 300 }
at(0)     { supplier = "b", hangs = true, ceiling = 200 }
at(0)     { supplier = "c", answers = "offers_1", after = 350, ceiling = 600 }

at(250)   { expect_outcome = { a = "pending", b = { "cut", bound = "ceiling" }, c = "pending" } }
at(320)   { expect_outcome = { a = { "cut", bound = "ceiling" }, c = "pending" } }
by(370)   { expect_reply = { offers = 1, missing = 2, outcomes = { c = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a ceiling above the budget binds nobody"

at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", hangs = true, ceiling = 900 }

by(500)   { expect_reply = { status = 504, reasons = { "budget" }, outcomes = { a = { "cut", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a ceiling that is over before the request is built sends nothing"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "late", answers = "offers_1", ceiling = 1 }
at(0)     { supplier = "fine", answers = "offers_1" }

by(100)   { expect_reply = { requests = 1, missing = 1, reasons = { "too_late" },
                             outcomes = { late = { "too_late", requests = 0, asked = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { late = "ignored" } }

scenario "a ceiling that ends in our script says so"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 100, script = 400, ceiling = 300 }

by(320)   { expect_reply = { status = 504, outcomes = { a = { "cut", bound = "ceiling", phase = "script" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }
