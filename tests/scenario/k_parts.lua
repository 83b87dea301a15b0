-- One supplier, several requests side by side.

scenario "parts run side by side and their offers add up"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 100 } },
                                      { { answers = "offers_2", after = 300, from = 3 } } } }

at(200)   { expect_outcome = { a = { "pending", offers = 3 } } }
by(400)   { expect_reply = { complete = true, offers = 5, at = 301.1, requests = 2,
                             outcomes = { a = { "answered", parts = 2, ok = 2, failed = 0, requests = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "of four parts one fails: answered, partial, not complete"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 100 } }, { { fails = "connect" } },
                                      { { answers = "empty", after = 50 } },
                                      { { answers = "offers_1", after = 20, from = 3 } } } }

by(200)   { expect_reply = { status = 200, complete = false, percent = 100, answered = 1, offers = 4,
                             outcomes = { a = { "answered", partial = true, parts = 4, ok = 3, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a part cut by the ceiling keeps what the others brought"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 500,
            parts = { { { answers = "offers_3", after = 100 } }, { { hangs = true } } } }

at(499)   { expect_outcome = { a = "pending" } }
by(510)   { expect_reply = { complete = false, reasons = { "ceiling" }, offers = 3,
                             outcomes = { a = { "answered", partial = true, bound = "ceiling", phase = "first_byte",
                                                ok = 1, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "success" } }

scenario "a part cut by the budget keeps what the others brought"

at(0)     { search = { budget = 400 } }
at(0)     { supplier = "a",
            parts = { { { hangs = true, phase = "connect" } }, { { answers = "offers_2", after = 9 } } } }

by(400)   { expect_reply = { status = 200, complete = false, reasons = { "budget" }, offers = 2,
                             outcomes = { a = { "answered", partial = true, bound = "budget", phase = "connect" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "without offers the earliest failed part decides, not the first to fail"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a",
            parts = { { { answers = "empty", after = 300 } }, { { answers = "unparsable", after = 200 } },
                                      { { fails = "connect", after = 100 } } } }

by(400)   { expect_reply = { status = 504, outcomes = { a = { "unparsable", ok = 1, failed = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a failed part decides over an empty one"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "empty", after = 30 } }, { { fails = "tls", after = 20 } } } }

by(100)   { expect_reply = { status = 504, outcomes = { a = { "failed", phase = "tls" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "all parts empty is empty"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "empty", after = 30 } }, { { answers = "empty", after = 20 } } } }

by(100)   { expect_reply = { status = 200, complete = true, outcomes = { a = { "empty", ok = 2, partial = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "all parts fail in the same instant and it is one outcome"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { fails = "dns" } }, { { fails = "connect" } }, { { fails = "tls" } } } }

by(50)    { expect_reply = { status = 504, missing = 1, outcomes = { a = { "failed", phase = "dns", failed = 3 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an id that two parts bring is one offer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 30 } },
                                      { { answers = "offers_3", after = 60, from = 2 } } } }

by(100)   { expect_reply = { found = 5, offers = 5, order = { "a:0", "a:1", "a:2", "a:3", "a:4" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
