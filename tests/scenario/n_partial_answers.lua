-- Answers that are not whole.

scenario "a script that says it is not all makes the answer partial"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_4", after = 50, complete = false } } } }

by(100)   { expect_reply = { status = 200, complete = false, percent = 100,
                             outcomes = { a = { "answered", partial = true, offers = 4 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "only the last step says whether it was all"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_1", after = 50, complete = false, next = 10 },
                                        { answers = "offers_1", after = 50, from = 1 } } } }

by(200)   { expect_reply = { complete = true, outcomes = { a = { "answered", partial = false, offers = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an empty answer that is not all is not complete"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "empty", after = 50, complete = false } } } }

by(100)   { expect_reply = { status = 200, complete = false, outcomes = { a = { "empty", partial = true } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a bad offer is dropped and counted, and takes none with it"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_4", after = 50, dropped = 2 }

by(100)   { expect_reply = { complete = true, offers = 4, outcomes = { a = { "answered", dropped = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
