-- What the offers of a step do to those before it.

scenario "an equal id replaces, others stay"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 50, next = 50 },
                                        { answers = "offers_3", after = 50, from = 2, merge = "add" } } } }

by(300)   { expect_reply = { found = 5, order = { "a:0", "a:1", "a:2", "a:3", "a:4" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "replace drops the earlier offers of the part"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_4", after = 50, next = 50 },
                                        { answers = "offers_3", after = 50, from = 2, merge = "replace" } } } }

by(300)   { expect_reply = { found = 3, order = { "a:2", "a:3", "a:4" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "replace leaves the offers of other parts alone"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50, next = 50 },
                                        { answers = "offers_1", after = 50, from = 7, merge = "replace" } },
                                      { { answers = "offers_2", after = 50, from = 3 } } } }

by(300)   { expect_reply = { found = 3, order = { "a:3", "a:4", "a:7" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "keep brings nothing new"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50, next = 50 },
                                        { answers = "offers_9", after = 50, merge = "keep" } } } }

by(300)   { expect_reply = { found = 2, order = { "a:0", "a:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "replaced by nothing is empty"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50, next = 50 },
                                        { answers = "empty", after = 50, merge = "replace" } } } }

by(300)   { expect_reply = { status = 200, found = 0, complete = true, outcomes = { a = "empty" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "results that are replaced poll after poll end with the last ones"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_4", after = 20, next = 20, complete = false },
                                        { answers = "offers_6", after = 20, next = 20, merge = "replace",
                                          complete = false },
                                        { answers = "offers_2", after = 20, from = 9, next = 20, merge = "replace",
                                          complete = false },
                                        { answers = "offers_2", after = 20, from = 10 } } } }

by(300)   { expect_reply = { complete = true, order = { "a:9", "a:10", "a:11" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
