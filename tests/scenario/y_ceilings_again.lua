-- Ceilings that read the progress of their search, asked again while their suppliers are awaited.

scenario "a ceiling that is raised lets an answer in that would have been cut"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", answers = "offers_3", after = 450, ceiling = 300, again = { { ceiling = 700 } } }

by(600)   { expect_reply = { complete = true, offers = 3, reasks = 4,
                             outcomes = { slow = { "answered", ceiling = 700, ceiling_from = "script" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling that is lowered ends its supplier earlier"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 900, again = { { offers = 3, ceiling = 400 } } }
at(0)     { supplier = "quick", answers = "offers_3", after = 50 }

at(390)   { expect_outcome = { slow = "pending" } }
by(450)   { expect_reply = { answered = 1, reasons = { "ceiling" }, at = 400, reasks = 1,
                             outcomes = { slow = { "cut", bound = "ceiling", phase = "first_byte", ceiling = 400 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, breaker = { slow = "no_failure" } }

scenario "a ceiling that is lowered below now ends its supplier at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 900, again = { { answered = 1, ceiling = 100 } } }
at(0)     { supplier = "quick", answers = "offers_3", after = 250 }

at(240)   { expect_outcome = { slow = "pending" } }
by(300)   { expect_reply = { answered = 1, reasons = { "ceiling" }, reasks = 1,
                             outcomes = { slow = { "cut", bound = "ceiling", ceiling = 100 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling that fails when it is asked again keeps its value, and is counted"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 450, again = { { after = 1, fails = true } } }

at(440)   { expect_outcome = { slow = { "pending", ceiling = 450 } } }
by(500)   { expect_reply = { status = 504, troubles = 4, reasks = 4,
                             outcomes = { slow = { "cut", bound = "ceiling", ceiling = 450 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling that says nothing any more leaves the budget alone to bind"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 300, again = { { after = 150 } } }

by(800)   { expect_reply = { status = 504, reasons = { "budget" }, outcomes = { slow = { "cut", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling that is raised beyond the deadline ends with the search"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "slow", answers = "offers_1", after = 900, ceiling = 300, again = { { ceiling = 5000 } } }

by(800)   { expect_reply = { status = 504, reasons = { "budget" },
                             outcomes = { slow = { "cut", bound = "budget", ceiling = 5000 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a caller leaves while ceilings are being asked"

at(0)     { machine = { reask = 80 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 900, again = { { ceiling = 1200 } } }
at(150)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { slow = { "cancelled", ceiling = 900 } }, reasks = 1,
            references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "the search ends while ceilings are being asked"

at(0)     { machine = { reask = 5000 } }
at(0)     { search = { budget = 400 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 2000, again = { { ceiling = 10 } } }

by(400)   { expect_reply = { status = 504, reasons = { "budget" }, reasks = 1,
                             outcomes = { slow = { "cut", bound = "budget", ceiling = 2000 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "an answer that is late leaves the old ceiling in force"

at(0)     { machine = { reask = 300 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", answers = "offers_1", after = 500, ceiling = 250, again = { { ceiling = 900 } } }
at(0)     { supplier = "slower", hangs = true, ceiling = 600, again = { { ceiling = 600 } } }

by(700)   { expect_reply = { missing = 2, outcomes = { slow = { "cut", bound = "ceiling", ceiling = 250 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "all suppliers of a search are asked in one call"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 350, ceiling = 300, again = { { ceiling = 600 } } }
at(0)     { supplier = "b", answers = "offers_1", after = 350, ceiling = 300, again = { { ceiling = 600 } } }
at(0)     { supplier = "c", answers = "offers_1", after = 350, ceiling = 300, again = { { ceiling = 600 } } }

by(450)   { expect_reply = { complete = true, reasks = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling that read nothing is not asked again, nor one whose reading does not change"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", hangs = true, ceiling = 500 }
at(0)     { supplier = "b", hangs = true, ceiling = 500, again = { { offers = 1, ceiling = 100 } } }

by(600)   { expect_reply = { status = 504, reasks = 0, missing = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a ceiling of the settings is not the script's to change"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", hangs = true, ceiling = 900, rule = 300, again = { { ceiling = 900 } } }

by(400)   { expect_reply = { status = 504, reasks = 0, outcomes = { a = { "cut", ceiling = 300,
                                                                         ceiling_from = "settings" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "rules scale and limit a ceiling that is asked again"

at(0)     { search = { budget = 2000 } }
at(0)     { rules = { { scale = 50, supplier = { "scaled" } }, { max = 450, supplier = { "limited" } } } }
at(0)     { supplier = "scaled", hangs = true, ceiling = 400, again = { { ceiling = 800 } } }
at(0)     { supplier = "limited", hangs = true, ceiling = 200, again = { { ceiling = 5000 } } }

at(390)   { expect_outcome = { scaled = { "pending", ceiling = 400 }, limited = { "pending", ceiling = 450 } } }
by(500)   { expect_reply = { status = 504, outcomes = {
              scaled = { "cut", bound = "ceiling", ceiling = 400, rules = { "rules:1" } },
              limited = { "cut", bound = "ceiling", ceiling = 450, rules = { "rules:2" } } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a poll goes on when the ceiling is raised"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 400, again = { { offers = 1, ceiling = 900 } },
            parts = { { { answers = "offers_3", after = 100, next = 200 },
                        { answers = "offers_2", after = 300, from = 3 } } } }

by(800)   { expect_reply = { complete = true, offers = 5, outcomes = { a = { "answered", ceiling = 900 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "an answer that waited past the old ceiling for a worker is read under the new one"

at(0)     { machine = { workers = 1, exact = true } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "hog", answers = "offers_1", after = 150, script = 100 }      -- the worker is busy until 251,
at(0)     { supplier = "next", answers = "offers_1", after = 160, script = 100, ceiling = 290 }          -- then 351
at(0)     { supplier = "waits", answers = "offers_1", after = 190, ceiling = 300,
            again = { { after = 150, ceiling = 1200 } } }

at(345)   { expect_outcome = { waits = { "pending", phase = "script_queue", ceiling = 1200 } } }
by(1000)  { expect_reply = { answered = 2, outcomes = { waits = { "answered", ceiling = 1200 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a call for ceilings that the workers refuse leaves the old one in force"

at(0)     { machine = { refuses_call = 2, exact = true } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "slow", hangs = true, ceiling = 350, again = { { ceiling = 320 } } }

by(400)   { expect_reply = { status = 504, outcomes = { slow = { "cut", bound = "ceiling", ceiling = 320 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }
