-- Breakers, probes, attempts that linger, and what is told of a supplier's health.

scenario "whoever failed too often is not asked, and says how long"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "broken", answers = "offers_3", after = 50, breaker = "open" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3, requests = 1, missing = 1,
                             reasons = { "breaker_open" },
                             outcomes = { broken = { "breaker_open", asked = false, requests = 0, breaker = "ignored",
                                                     detail = "failed too often" },
                                          sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { broken = "untold", sound = { "good", times = 1, value = 3 } } }

scenario "it is tried out by a copy that nobody waits for"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 1500, breaker = "half_open" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3, missing = 1, reasons = { "breaker_open" },
                             outcomes = { tried = { "breaker_open", asked = false, requests = 0,
                                                    detail = "failed too often; it is being tried out" },
                                          sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 2,
            health = { tried = { "good", times = 1, value = 3 } },
            late = { tried = { "answered", line = "probe", times = 1, offers = 3, requests = 1, new = 3,
                               cheapest = 0 } } }

scenario "all parts and steps of it are tried out"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", breaker = "half_open",
            parts = { { { answers = "offers_3", after = 600, next = 300 },
                        { answers = "offers_3", after = 600, from = 3 } },
                      { { answers = "offers_2", after = 90, from = 6 } } } }

by(200)   { expect_reply = { status = 504, complete = false, outcomes = { tried = "breaker_open" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 3,
            health = { tried = { "good", times = 1, value = 8 } },
            late = { tried = { "answered", line = "probe", times = 1, offers = 8, requests = 3 } } }

scenario "one that hangs when it is tried out is slow"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", hangs = true, phase = "first_byte", breaker = "half_open" }

by(200)   { expect_reply = { status = 504, complete = false, outcomes = { tried = "breaker_open" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { tried = { "cut", times = 1, pending = 2990 } } }

scenario "the one that is tried out takes a permit like any other"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 50, breaker = "half_open", limits = { per_minute = 1 },
            used = 1 }

by(200)   { expect_reply = { status = 504, complete = false, requests = 0, outcomes = { tried = "breaker_open" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { tried = "ours" } }

scenario "it is tried out with a login"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 50, breaker = "half_open", login = 300 }

by(200)   { expect_reply = { status = 504, complete = false, outcomes = { tried = "breaker_open" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { tried = { "good", value = 3 } } }

scenario "the one that is tried out has as long as its search would have given it"

at(0)     { search = { budget = 5000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 4000, breaker = "half_open" }

by(200)   { expect_reply = { status = 504, complete = false, outcomes = { tried = "breaker_open" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { tried = { "good", value = 3 } } }

scenario "a caller who leaves does not take the one that is tried out with him"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 500, breaker = "half_open" }
at(0)     { supplier = "slow", answers = "offers_3", after = 600 }
at(100)   { caller = "leaves" }

by(1000)  { expect_no_reply = true }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 2,
            health = { tried = { "good", value = 3 }, slow = { "cut", times = 1 } } }

scenario "what is told of each end"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "answers", answers = "offers_3", after = 50 }
at(0)     { supplier = "auth", answers = "auth", after = 50 }
at(0)     { supplier = "busy", answers = "busy", after = 50 }
at(0)     { supplier = "ceiling", answers = "offers_1", after = 500, ceiling = 300 }
at(0)     { supplier = "connect", fails = "connect", after = 5 }
at(0)     { supplier = "disabled", disabled = "no contract" }
at(0)     { supplier = "dns", fails = "dns", after = 5 }
at(0)     { supplier = "empty", answers = "empty", after = 50 }
at(0)     { supplier = "error", answers = "script_error", after = 50 }
at(0)     { supplier = "gateway", answers = "unparsable", status = 502, after = 50 }
at(0)     { supplier = "hangs", hangs = true, phase = "first_byte" }
at(0)     { supplier = "quota", answers = "quota", after = 50 }
at(0)     { supplier = "refused", fails = "address", after = 5 }
at(0)     { supplier = "reset", fails = "body", after = 50 }
at(0)     { supplier = "skips", skips = "not sold" }
at(0)     { supplier = "tls", fails = "tls", after = 5 }

by(1000)  { expect_reply = { status = 200, complete = false, cut_by_budget = true } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { answers = { "good", times = 1 }, auth = "ours", busy = "bad", ceiling = { "cut", times = 1 },
                       connect = "unreachable", disabled = "untold", dns = "unreachable", empty = "good",
                       error = "ours", gateway = "bad", hangs = { "cut", pending = 970 }, quota = "ours", reset = "bad",
                       skips = "untold", tls = "unreachable" } }

scenario "waiting for us is not held against anybody"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "polls", parts = { { { answers = "empty", after = 50, next = 2000, complete = false } } } }
at(0)     { supplier = "scripts", answers = "offers_3", after = 50, script = 3000 }

by(1000)  { expect_reply = { status = 504, complete = false } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { scripts = "cut" } }

scenario "some that are cut go on, so that one learns how late they were"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "late", answers = "offers_3", after = 1400, lingers = true }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(1000)  { expect_reply = { status = 200, complete = false, offers = 3, missing = 1, cut_by_budget = true,
                             reasons = { "budget" },
                             outcomes = { late = { "cut", bound = "budget", phase = "first_byte", offers = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 2,
            health = { late = { "good", times = 1, value = 3 } },
            late = { late = { "answered", line = "late", bound = "budget", times = 1, after = 380, offers = 3,
                              requests = 0, new = 3, cheapest = 0 } } }

scenario "what came in time of one that goes on is in the reply"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "pages", lingers = true,
            parts = { { { answers = "offers_3", after = 300, next = 0 },
                        { answers = "offers_3", after = 900, from = 3, next = 100 },
                        { answers = "offers_3", after = 300, from = 6 } },
                      { { answers = "offers_2", after = 100, from = 10 } } } }

by(1000)  { expect_reply = { status = 200, complete = false, offers = 5, cut_by_budget = true,
                             outcomes = { pages = { "answered", partial = true, offers = 5, parts = 2, ok = 1,
                                                    failed = 1, requests = 3 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 4,
            health = { pages = { "good", times = 1, value = 6 } },
            late = { pages = { "answered", times = 1, after = 580, offers = 6, requests = 1, new = 6 } } }

scenario "one that is cut by its ceiling may go on beside its search"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "late", answers = "offers_3", after = 500, ceiling = 300, lingers = true }
at(0)     { supplier = "slow", answers = "offers_3", after = 800 }

by(1000)  { expect_reply = { status = 200, complete = false, offers = 3,
                             outcomes = { late = { "cut", bound = "ceiling", offers = 0 }, slow = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { late = { "good", times = 1, value = 3 }, slow = "good" },
            late = { late = { "answered", bound = "ceiling", times = 1, after = 180, offers = 3, new = 3,
                              cheapest = 0 } } }

scenario "what came too late is compared with all that the reply had, also when it came before it"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "dear", answers = "offers_4", after = 800, item = "i", cheapest = 70 }
at(0)     { supplier = "early", answers = "offers_6", after = 500, ceiling = 300, lingers = true, item = "i",
            cheapest = 50 }
at(0)     { supplier = "late", answers = "offers_6", after = 1400, lingers = true, item = "i", cheapest = 60 }
at(0)     { supplier = "night", answers = "offers_6", after = 100, mode = "dark", item = "i", cheapest = 10 }

by(1000)  { expect_reply = { status = 200, complete = false, offers = 4,
                             outcomes = { early = "cut", late = "cut", dear = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            late = { early = { "answered", bound = "ceiling", offers = 6, new = 2, cheapest = 4 },
                     late = { "answered", bound = "budget", offers = 6, new = 2, cheapest = 4, requests = 0 } } }

scenario "and is nothing new when it is dearer"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "cheap", answers = "offers_6", after = 100, item = "i", cheapest = 50 }
at(0)     { supplier = "late", answers = "offers_6", after = 1400, lingers = true, item = "i", cheapest = 60 }
at(0)     { supplier = "taxed", answers = "offers_6", after = 1400, lingers = true, item = "i", cheapest = 10,
            flag = 1 }

by(1000)  { expect_reply = { status = 200, complete = false, offers = 6 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            late = { late = { "answered", offers = 6, new = 0, cheapest = 0 },
                     taxed = { "answered", offers = 6, new = 0, cheapest = 0 } } }

scenario "nothing is compared when the caller has left"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "late", answers = "offers_3", after = 500, ceiling = 300, lingers = true }
at(0)     { supplier = "slow", answers = "offers_3", after = 800 }
at(400)   { caller = "leaves" }

by(1000)  { expect_no_reply = true }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            late = { late = { "answered", bound = "ceiling", offers = 3 } } }

scenario "one that fails in the end says how"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "broken", answers = "script_error", after = 1400, lingers = true }
at(0)     { supplier = "hidden", answers = "unparsable", after = 1400, lingers = true, mode = "dark" }
at(0)     { supplier = "hung", hangs = true, phase = "first_byte", lingers = true }
at(0)     { supplier = "reset", fails = "body", after = 1400, lingers = true }

by(1000)  { expect_reply = { status = 504, complete = false } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            late = { broken = { "script_error", times = 1, offers = 0 }, hung = { "cut", after = 1900 },
                     reset = "failed" } }

scenario "it ends at the limit, in the middle of whatever it does"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a_hangs", hangs = true, phase = "body", lingers = true }
at(0)     { supplier = "b_polls", lingers = true,
            parts = { { { answers = "empty", after = 50, next = 1500, complete = false },
                        { answers = "empty", after = 50, next = 2000, complete = false } } } }
at(0)     { supplier = "c_scripts", answers = "offers_3", after = 2900, script = 3000, lingers = true }
at(0)     { supplier = "d_logs_in", answers = "offers_3", after = 50, login_hangs = true, lingers = true }

by(1000)  { expect_reply = { complete = false, cut_by_budget = true } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { a_hangs = { "cut", times = 1, pending = 2990 }, c_scripts = { "cut", times = 1 },
                       d_logs_in = { "cut", times = 1 } } }

scenario "a shadow of the past tells a stranger nothing"

at(0)     { search = { budget = 1000, detail = "public" } }
at(0)     { supplier = "broken", answers = "offers_3", after = 50, breaker = "open" }
at(0)     { supplier = "late", answers = "offers_3", after = 1400, lingers = true }
at(0)     { supplier = "tried", answers = "offers_3", after = 1500, breaker = "half_open" }

by(1000)  { expect_reply = { status = 504, complete = false,
                             seen = { broken = "unavailable", late = "late", tried = "unavailable" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }
