-- What an engine under pressure leaves out, and what waits for a place among the requests of an account.

scenario "up to the third rung everybody is asked"

at(0)     { machine = { rung = 2 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, worth = 1 }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 2 }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 3 }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 4 }

by(200)   { expect_reply = { complete = true, offers = 4 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "on the third rung the least valuable quarter is shed"

at(0)     { machine = { rung = 3 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, worth = 5 }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 1 }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 3 }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 4 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3, requests = 3, missing = 1,
                             reasons = { "shed" },
                             outcomes = { b = { "shed", asked = false, requests = 0, breaker = "ignored",
                                                detail = "left out: the engine is overloaded" },
                                          a = "answered", c = "answered", d = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 3,
            health = { b = "untold" } }

scenario "on the last rung no more than that; who would not be asked anyway does not count"

at(0)     { machine = { rung = 5 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, worth = 5 }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 1 }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 3 }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 4 }
at(0)     { supplier = "e", skips = "not sold", worth = 1 }
at(0)     { supplier = "f", disabled = "off", worth = 1 }

by(200)   { expect_reply = { complete = false, offers = 3,
                             outcomes = { a = "answered", b = "shed", c = "answered", d = "answered", e = "skipped",
                                          f = "disabled" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "whoever is worth his price is asked under any pressure"

at(0)     { machine = { rung = 5 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, worth = 4 }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 3 }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 4 }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 4 }

by(200)   { expect_reply = { complete = true, offers = 4 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "what its answers add counts, not only how likely they are"

at(0)     { machine = { rung = 4 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 1 } }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 2, past = { from = 40, to = 60, items = 9 } }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 5 } }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 5 } }

by(200)   { expect_reply = { complete = false, offers = 3,
                             outcomes = { a = "shed", b = "answered", c = "answered", d = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "who is new is taken to add as much as the others"

at(0)     { machine = { rung = 4 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "new", answers = "offers_1", after = 50, worth = 3 }
at(0)     { supplier = "b", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 9 } }
at(0)     { supplier = "c", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 5 } }
at(0)     { supplier = "d", answers = "offers_1", after = 50, worth = 3, past = { from = 40, to = 60, items = 1 } }

by(200)   { expect_reply = { complete = false, offers = 3,
                             outcomes = { new = "answered", b = "answered", c = "answered", d = "shed" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a search is never left with nobody"

at(0)     { machine = { rung = 5 } }
at(0)     { search = { budget = 1000, suppliers = { "only" } } }
at(0)     { supplier = "only", answers = "offers_1", after = 50 }

by(200)   { expect_reply = { complete = true, offers = 1 } }
finally   { references = 0, memory = 0 }

scenario "nobody lingers under pressure"

at(0)     { machine = { rung = 1 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "slow", answers = "offers_1", after = 500, lingers = true }

by(300)   { expect_reply = { status = 504, outcomes = { slow = "cut" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { slow = { "cut", times = 1 } } }

scenario "a request that is one too many waits for a place"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parts", limits = { concurrent = 1 },
            parts = { { { answers = "offers_3", after = 15 } },
                      { { answers = "offers_3", after = 50, from = 3 } } } }

by(200)   { expect_reply = { status = 200, complete = true, offers = 6, requests = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "it waits 30 ms and no longer"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parts", limits = { concurrent = 1 },
            parts = { { { answers = "offers_3", after = 100 } },
                      { { answers = "offers_3", after = 50, from = 3 } } } }

at(20)    { expect_outcome = { parts = { "pending", requests = 1 } } }
by(200)   { expect_reply = { status = 200, complete = false, offers = 3, requests = 1, at = 101.1,
                             outcomes = { parts = { "answered", partial = true, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "the end of an attempt ends its wait for a place"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parts", limits = { concurrent = 1 }, ceiling = 15,
            parts = { { { hangs = true } }, { { answers = "offers_3", after = 50, from = 3 } } } }
at(0)     { supplier = "sound", answers = "offers_1", after = 50 }

by(200)   { expect_reply = { status = 200, offers = 1,
                             outcomes = { parts = { "cut", bound = "ceiling", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a caller who leaves takes those along that wait for a place"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parts", limits = { concurrent = 1 },
            parts = { { { hangs = true } }, { { answers = "offers_3", after = 50, from = 3 } } } }
at(10)    { caller = "leaves" }

finally   { replies = 0, outcomes = { parts = "cancelled" }, references = 0, memory = 0, fetches = 0, timers = 0,
            permits = 0 }

scenario "a supplier that is busy and says for how long is left alone, as one whose quota is used"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", parts = { { { answers = "busy", after = 50, retry_after = 60000 } },
                                         { { answers = "offers_2", after = 60, next = 100, from = 2 },
                                           { answers = "offers_2", after = 60, from = 4 } } } }

by(500)   { expect_reply = { complete = false, offers = 2, requests = 2,
                             outcomes = { busy = { "answered", partial = true, failed = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a supplier that refuses is sent fewer requests at once"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "weak", limits = { concurrent = 4 },
            parts = { { { answers = "offers_1", fails = "connect", after = 10 } },
                      { { answers = "offers_2", after = 100, from = 2 } },
                      { { answers = "offers_2", after = 100, from = 4 } },
                      { { answers = "offers_2", after = 20, from = 6, next = 10 },
                        { answers = "offers_2", after = 20, from = 8 } } } }

by(500)   { expect_reply = { complete = false, requests = 4,
                             outcomes = { weak = { "answered", partial = true, ok = 2, failed = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "under pressure nothing is asked for twice, and that is counted"

at(0)     { machine = { rung = 1 } }
at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20,
            second = { answers = "offers_3", after = 30 } }

by(200)   { expect_reply = { status = 504, requests = 1, outcomes = { busy = "failed" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { refused = "overload" } } }
