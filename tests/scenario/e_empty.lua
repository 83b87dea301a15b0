-- Nothing found, and nothing heard.

scenario "all are empty: complete, and a good reply"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", after = 30 }
at(0)     { supplier = "b", answers = "empty", after = 60 }

by(100)   { expect_reply = { status = 200, complete = true, percent = 100, empty = 2, offers = 0, reasons = {} } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "one empty answer makes a reply of failures a 200"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", after = 30 }
at(0)     { supplier = "b", fails = "connect", after = 60 }

by(100)   { expect_reply = { status = 200, complete = false, percent = 50, empty = 1, missing = 1,
                             reasons = { "failed" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "reasons name each kind of what is missing once"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 30 }
at(0)     { supplier = "b", fails = "connect", after = 60 }
at(0)     { supplier = "c", fails = "tls", after = 60 }
at(0)     { supplier = "d", answers = "unparsable", after = 60 }
at(0)     { supplier = "e", hangs = true, ceiling = 100 }
at(0)     { supplier = "f", hangs = true }

by(300)   { expect_reply = { status = 200, missing = 5, percent = 16,
                             reasons = { "budget", "ceiling", "failed", "unparsable" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "only skipped ones: nobody was eligible, which is no failure"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", skips = "not sold" }
at(0)     { supplier = "b", disabled = "contract ended" }

by(50)    { expect_reply = { status = 200, complete = false, percent = 0, eligible = 0,
                             reasons = { "none_eligible" }, requests = 0 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
