-- Calls that are made a second time: retries of fast failures, races of connects, hedges; and when none is.

scenario "a 503 is asked for again at once, and answers"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20,
            second = { answers = "offers_3", after = 30 } }

by(200)   { expect_reply = { status = 200, complete = true, offers = 3, requests = 2,
                             outcomes = { busy = { "answered", retries = 1, hedge = "none" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { busy = { "good", times = 1 } }, extra = { busy = { retry = "won" } } }

scenario "so is a 504, a refused connect, a reset before the answer and one within it"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 504, after = 20,
            second = { answers = "offers_1", after = 9 } }
at(0)     { supplier = "b", fails = "connect", after = 20, second = { answers = "offers_1", after = 9 } }
at(0)     { supplier = "c", fails = "first_byte", after = 20, second = { answers = "offers_1", after = 9 } }
at(0)     { supplier = "d", fails = "body", after = 20, second = { answers = "offers_1", after = 9 } }
at(0)     { supplier = "e", fails = "send", after = 20, second = { answers = "offers_1", after = 9 } }

by(200)   { expect_reply = { status = 200, complete = true, offers = 5, requests = 10 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { a = { retry = "won" }, b = { retry = "won" }, c = { retry = "won" }, d = { retry = "won" },
                      e = { retry = "won" } } }

scenario "nothing else is asked for again"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "auth", answers = "auth", status = 401, after = 20 }
at(0)     { supplier = "denied", answers = "unparsable", status = 403, after = 20 }
at(0)     { supplier = "dns", fails = "dns", after = 20 }
at(0)     { supplier = "error", answers = "unparsable", status = 500, after = 20 }
at(0)     { supplier = "input", answers = "unparsable", status = 400, after = 20 }
at(0)     { supplier = "large", fails = "too_large", after = 20 }
at(0)     { supplier = "quota", answers = "quota", status = 429, after = 20 }
at(0)     { supplier = "tls", fails = "tls", after = 20 }
at(0)     { supplier = "waits", answers = "busy", status = 503, says_wait = true, after = 20 }

by(200)   { expect_reply = { status = 504, requests = 9 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a supplier says itself which statuses are worth it"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 502, after = 20, retry_on = 502,
            second = { answers = "offers_1", after = 9 } }
at(0)     { supplier = "b", answers = "unparsable", status = 503, after = 20, retry_on = 502 }

by(200)   { expect_reply = { status = 200, offers = 1, requests = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { a = { retry = "won" }, b = {} } }

scenario "once is enough, and the second failure is told"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "down", answers = "unparsable", status = 503, after = 20,
            second = { answers = "unparsable", status = 504, after = 30 } }

by(200)   { expect_reply = { status = 504, requests = 2,
                             outcomes = { down = { "failed", http_status = 504, retries = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { down = { "bad", times = 1 } },
            extra = { down = { retry = "wasted" } } }

scenario "switched off, nothing is asked for again"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20,
            second = { answers = "offers_3", after = 30 } }

by(200)   { expect_reply = { status = 504, requests = 1, outcomes = { busy = { "failed", retries = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { busy = {} } }

scenario "not when it could not be here in time, as far as anybody knows"

at(0)     { extra = {} }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "known", answers = "unparsable", status = 503, after = 20, known = { median = 600, late = 900 },
            second = { answers = "offers_3", after = 30 } }
at(0)     { supplier = "unknown", answers = "unparsable", status = 503, after = 200,
            second = { answers = "offers_3", after = 30 } }

by(400)   { expect_reply = { status = 504, requests = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { known = { refused = "no_time" }, unknown = { refused = "no_time" } } }

scenario "not when its breaker is not closed, it had enough lately, it is busy, or we are"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "breaker", answers = "unparsable", status = 503, after = 20,
            known = { unknown = true, breaker = true } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20, limits = { concurrent = 4 },
            known = { unknown = true, running = 3 } }
at(0)     { supplier = "quota", answers = "unparsable", status = 503, after = 20,
            known = { unknown = true, quota = true } }

by(400)   { expect_reply = { status = 504, requests = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { breaker = { refused = "breaker" }, busy = { refused = "busy" }, quota = { refused = "quota" } } }

scenario "under pressure there are none"

at(0)     { extra = { overloaded = true } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 503, after = 20 }
at(0)     { supplier = "b", answers = "offers_3", after = 900, hedge = true, known = { median = 100, late = 120 } }

by(1000)  { expect_reply = { status = 200, requests = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { a = { refused = "overload" }, b = { refused = "overload" } } }

scenario "who is hardly called is not called twice"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20,
            known = { unknown = true, calls = 20 } }

by(400)   { expect_reply = { status = 504, requests = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { refused = "allowance" } } }

scenario "the engine's allowance is for all of them"

at(0)     { extra = { per_supplier = 50, engine = 0 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20 }

by(400)   { expect_reply = { status = 504, requests = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { refused = "allowance" } } }

scenario "each part has its own second try"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "both", parts = {
            { { answers = "unparsable", status = 503, after = 20, second = { answers = "offers_2", after = 30 } } },
            { { fails = "body", after = 20, from = 5, second = { answers = "offers_3", after = 30 } } } } }

by(200)   { expect_reply = { status = 200, complete = true, offers = 5, requests = 4,
                             outcomes = { both = { "answered", retries = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { both = { retry = "won" } } }

scenario "a later step is sent once more as it is"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "pages", signs = true, parts = { {
            { answers = "offers_2", after = 20, next = 30 },
            { answers = "unparsable", status = 503, after = 20, from = 5,
              second = { answers = "offers_3", after = 30 } },
          } } }

by(300)   { expect_reply = { status = 200, complete = true, offers = 5, requests = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { pages = { retry = "won" } } }

scenario "a retry is signed anew, and built with the login that there is"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "login", signs = true, login = 20, warm = true, answers = "unparsable", status = 503,
            after = 150, second = { answers = "offers_3", after = 30 } }

by(400)   { expect_reply = { status = 200, complete = true, offers = 3, requests = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { login = { retry = "won" } } }

scenario "a retry without a permit leaves the failure as it was"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20, limits = { per_minute = 1 } }

by(400)   { expect_reply = { status = 504, requests = 1,
                             outcomes = { busy = { "failed", http_status = 503, retries = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { retry = "not_sent" } } }

scenario "a retry that hangs is cut by the budget"

at(0)     { extra = {} }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "hangs", answers = "unparsable", status = 503, after = 20,
            second = { hangs = true, phase = "first_byte" } }

by(500)   { expect_reply = { status = 504, outcomes = { hangs = { "cut", bound = "budget", phase = "first_byte" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { hangs = { retry = "late" } } }

scenario "one that is likely to be late is asked elsewhere, and that answer counts"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "slow", hangs = true, phase = "first_byte", hedge = true, known = { median = 100, late = 150 },
            second = { answers = "offers_3", after = 90 } }

by(500)   { expect_reply = { status = 200, complete = true, offers = 3, requests = 2,
                             outcomes = { slow = { "answered", hedge = "won", requests = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { slow = { "good", times = 1 } },
            extra = { slow = { hedge = "won", loser = 150 } } }

scenario "the first wins when it is there first, and the other is no failure"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "slow", answers = "offers_3", after = 300, hedge = true, known = { median = 100, late = 150 },
            second = { hangs = true, phase = "first_byte" } }

by(500)   { expect_reply = { status = 200, complete = true, offers = 3,
                             outcomes = { slow = { "answered", hedge = "lost" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { slow = { "good", times = 1 } },
            extra = { slow = { hedge = "wasted", loser = 50 } } }

scenario "a hedge that fails does not beat the first"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 600, hedge = true, known = { median = 100, late = 150 },
            second = { answers = "unparsable", status = 503, after = 20 } }
at(0)     { supplier = "b", answers = "offers_3", after = 600, hedge = true, known = { median = 100, late = 150 },
            second = { fails = "first_byte", after = 20 } }
at(0)     { supplier = "c", answers = "offers_3", after = 600, hedge = true, known = { median = 100, late = 150 },
            second = { answers = "script_error", after = 20 } }

by(900)   { expect_reply = { status = 200, complete = true, offers = 9, requests = 6,
                             outcomes = { a = { "answered", hedge = "lost" }, b = "answered", c = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { a = "good", b = "good", c = "good" },
            extra = { a = { hedge = "wasted" }, b = { hedge = "wasted" }, c = { hedge = "wasted" } } }

scenario "a first one that fails waits for its hedge, and is told when both do"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 500, after = 300, hedge = true,
            known = { median = 100, late = 150 }, second = { answers = "offers_3", after = 300 } }
at(0)     { supplier = "b", fails = "body", after = 300, hedge = true, known = { median = 100, late = 150 },
            second = { answers = "offers_3", after = 300 } }
at(0)     { supplier = "c", answers = "unparsable", status = 500, after = 300, hedge = true,
            known = { median = 100, late = 150 }, second = { answers = "unparsable", status = 502, after = 300 } }
at(0)     { supplier = "d", fails = "body", after = 300, hedge = true, known = { median = 100, late = 150 },
            second = { fails = "first_byte", after = 300 } }

by(900)   { expect_reply = { status = 200, offers = 6, requests = 8,
                             outcomes = { a = { "answered", hedge = "won" }, b = { "answered", hedge = "won" },
                                          c = { "failed", http_status = 500, hedge = "lost" },
                                          d = { "failed", phase = "body", hedge = "lost" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { a = { hedge = "won" }, b = { hedge = "won" }, c = { hedge = "wasted" },
                      d = { hedge = "wasted" } } }

scenario "no hedge: not wanted, too little known, not worth it, no time for it, or vetoed"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "breaker", answers = "offers_1", after = 900, hedge = true,
            known = { median = 100, late = 150, breaker = true } }
at(0)     { supplier = "busy", answers = "offers_1", after = 900, hedge = true, limits = { concurrent = 4 },
            known = { median = 100, late = 150, running = 3 } }
at(0)     { supplier = "cost", answers = "offers_1", after = 900, hedge = true, call_cost = 100,
            known = { median = 100, late = 150 } }
at(0)     { supplier = "few", answers = "offers_1", after = 900, hedge = true,
            known = { median = 100, late = 150, calls = 9 } }
at(0)     { supplier = "long", answers = "offers_1", after = 900, hedge = true, known = { median = 960, late = 980 } }
at(0)     { supplier = "median", answers = "offers_1", after = 900, hedge = true,
            known = { early = 100, median = 985, late = 20000, value = 1000 } }
at(0)     { supplier = "plain", answers = "offers_1", after = 900, known = { median = 100, late = 150 } }
at(0)     { supplier = "quota", answers = "offers_1", after = 900, hedge = true,
            known = { median = 100, late = 150, quota = true } }
at(0)     { supplier = "unknown", answers = "offers_1", after = 900, hedge = true }

by(1000)  { expect_reply = { status = 200, requests = 9 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { breaker = { refused = "breaker" }, busy = { refused = "busy" }, cost = {},
                      few = { refused = "allowance" }, long = {}, median = {}, plain = {},
                      quota = { refused = "quota" }, unknown = {} } }

scenario "both late: the attempt is cut, and that is learned of pairs"

at(0)     { extra = {} }
at(0)     { search = { budget = 600 } }
at(0)     { supplier = "hangs", hangs = true, phase = "first_byte", hedge = true, known = { median = 100, late = 150 } }

by(600)   { expect_reply = { status = 504, requests = 2,
                             outcomes = { hangs = { "cut", bound = "budget", phase = "first_byte",
                                                    hedge = "lost" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { hangs = { "cut", times = 1, pending = 500 } }, extra = { hangs = { hedge = "late" } } }

scenario "a caller who leaves takes both with him"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "hangs", hangs = true, phase = "first_byte", hedge = true, known = { median = 100, late = 150 } }
at(400)   { caller = "leaves" }

by(1000)  { expect_no_reply = true }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 2,
            extra = { hangs = { hedge = "wasted" } } }

scenario "a hedge is signed like any request, and a cut one may linger"

at(0)     { extra = {} }
at(0)     { search = { budget = 600 } }
at(0)     { supplier = "a", signs = true, hangs = true, phase = "first_byte", hedge = true, rebuild = 5,
            known = { median = 100, late = 150 }, second = { answers = "offers_3", after = 50 } }
at(0)     { supplier = "b", lingers = true, hangs = true, phase = "first_byte", hedge = true,
            known = { median = 100, late = 150 }, second = { answers = "offers_3", after = 700 } }

by(600)   { expect_reply = { status = 200, offers = 3, requests = 4,
                             outcomes = { a = { "answered", hedge = "won" }, b = { "cut", hedge = "lost" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { a = { hedge = "won" }, b = { hedge = "won" } } }

scenario "a connect that takes longer than nearly all is raced, and only one of the two sends"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "first", answers = "offers_1", after = 300, connect = 200,
            known = { unknown = true, connect = 30 }, second = { answers = "offers_1", after = 400, connect = 350 } }
at(0)     { supplier = "second", hangs = true, phase = "connect", known = { unknown = true, connect = 30 },
            second = { answers = "offers_1", after = 80, connect = 20 } }
at(0)     { supplier = "soon", answers = "offers_1", after = 300, connect = 20,
            known = { unknown = true, connect = 30 } }
at(0)     { supplier = "unknown", answers = "offers_1", after = 300, connect = 200 }

by(900)   { expect_reply = { status = 200, complete = true, offers = 4,
                             outcomes = { first = { "answered", requests = 1, hedge = "none" },
                                          second = { "answered", requests = 1, hedge = "none" },
                                          soon = { "answered", requests = 1 },
                                          unknown = { "answered", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 6,
            extra = { first = { connect = "wasted" }, second = { connect = "won" }, soon = {}, unknown = {} } }

scenario "when the one that lost the race was the first, the second decides"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "fails", answers = "offers_1", after = 300, connect = 100,
            known = { unknown = true, connect = 30 }, second = { fails = "body", after = 200, connect = 20 } }

by(900)   { expect_reply = { status = 504, outcomes = { fails = { "failed", phase = "body", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 2,
            extra = { fails = { connect = "wasted" } } }

scenario "a dark supplier is asked once"

at(0)     { extra = {} }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "dark", mode = "dark", answers = "unparsable", status = 503, after = 20 }
at(0)     { supplier = "shown", answers = "offers_1", after = 300 }

by(900)   { expect_reply = { status = 200, complete = true, offers = 1, requests = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, extra = { dark = {} } }

scenario "a retry that is not built in time is cut, and nothing went out"

at(0)     { extra = {} }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20, ceiling = 200, rebuild = 300 }

by(300)   { expect_reply = { status = 504, requests = 1,
                             outcomes = { busy = { "cut", bound = "ceiling", phase = "script", retries = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { retry = "not_sent" } } }

scenario "a retry whose script fails is the script's failure"

at(0)     { extra = {} }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "busy", answers = "unparsable", status = 503, after = 20, rebuilds = "script_error" }

by(300)   { expect_reply = { status = 504, requests = 1, outcomes = { busy = { "script_error", retries = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            extra = { busy = { retry = "not_sent" } } }
