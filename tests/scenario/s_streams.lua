-- What a streaming caller is told. (The fold of every play's events is compared with its single reply.)

scenario "offers are told as they come, outcomes once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 100 }
at(0)     { supplier = "b", answers = "empty", after = 200 }
at(0)     { supplier = "c", fails = "connect", after = 300 }

by(400)   { expect_events = { "search", "offers a 3", "supplier a answered", "supplier b empty", "supplier c failed",
                              "done" } }
by(400)   { expect_reply = { status = 200, offers = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "those that are not asked are told first"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 100 }
at(0)     { supplier = "off", disabled = "contract ended" }
at(0)     { supplier = "skips", skips = "not sold" }

by(400)   { expect_events = { "search", "supplier off disabled", "supplier skips skipped", "offers a 1",
                              "supplier a answered", "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "what is replaced is retracted"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_4", after = 20, next = 20 },
                                        { answers = "offers_3", after = 20, from = 2, merge = "replace" } } } }

by(400)   { expect_events = { "search", "offers a 4", "retract 2 replaced", "offers a 3", "supplier a answered",
                              "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "what the limits drop is retracted before the end"

at(0)     { search = { budget = 2000, max_items = 2 } }
at(0)     { supplier = "a", answers = "offers_5", after = 20 }

by(400)   { expect_events = { "search", "offers a 5", "supplier a answered", "retract 3 over_limit", "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an item that a cheaper offer describes anew is told again"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "odd", answers = "offers_2", after = 20, item = "i", cheapest = 90, odd = true }
at(0)     { supplier = "plain", answers = "offers_2", after = 80, item = "i" }

by(400)   { expect_events = { "search", "offers odd 2", "supplier odd answered", "offers plain 2",
                              "supplier plain answered", "items 2", "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "cut ones are told with the rest before the end"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20 }
at(0)     { supplier = "b", hangs = true }
at(0)     { supplier = "c", hangs = true, ceiling = 100 }

by(300)   { expect_events = { "search", "offers a 1", "supplier a answered", "supplier c cut", "supplier b cut",
                              "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a search whose scripts never came has nothing to stream"

at(0)     { machine = { queue = 3000 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20 }

by(300)   { expect_events = { "done" } }
by(300)   { expect_reply = { status = 504 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
