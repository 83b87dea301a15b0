-- "partial": false.

scenario "all or nothing: one cut supplier makes it a problem"

at(0)     { search = { budget = 400, partial = false } }
at(0)     { supplier = "a", answers = "offers_3", after = 50 }
at(0)     { supplier = "hung", hangs = true }

by(400)   { expect_reply = { status = 504, code = "not_complete", complete = false, answered = 1, missing = 1,
                             offers = 0, outcomes = { a = "answered", hung = "cut" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "all or nothing: a partial answer is not all"

at(0)     { search = { budget = 400, partial = false } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 50, complete = false } } } }

by(100)   { expect_reply = { status = 504, code = "not_complete" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "all or nothing: answered and empty are all"

at(0)     { search = { budget = 400, partial = false } }
at(0)     { supplier = "a", answers = "offers_3", after = 50 }
at(0)     { supplier = "b", answers = "empty", after = 50 }
at(0)     { supplier = "c", skips = "not sold" }

by(100)   { expect_reply = { status = 200, complete = true, offers = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "all or nothing: with nobody eligible there is nothing to miss"

at(0)     { search = { budget = 400, partial = false } }
at(0)     { supplier = "c", skips = "not sold" }

by(100)   { expect_reply = { status = 200, complete = false, reasons = { "none_eligible" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
