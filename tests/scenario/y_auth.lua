-- Credentials that are refused: three times in a row, and the account is left alone, then tried out.

scenario "a refusal of the credentials counts, and an account that is not parked is asked"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "refused", answers = "auth", after = 50, auth_refusals = 1 }

by(200)   { expect_reply = { status = 504, outcomes = { refused = { "rejected", kind = "auth", asked = true,
                                                                    requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { refused = { "ours", times = 1, refusals = 2, parks = 0 } } }

scenario "the third refusal in a row parks the account"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "refused", answers = "auth", after = 50, auth_refusals = 2 }

by(200)   { expect_reply = { status = 504, outcomes = { refused = { "rejected", kind = "auth", asked = true } } } }
finally   { references = 0, memory = 0, health = { refused = { "ours", times = 1, refusals = 0, parks = 1 } } }

scenario "an account that is parked is not asked, and says for how long"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parked", answers = "offers_3", after = 50, auth_refusals = 3 }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3, requests = 1, missing = 1,
                             reasons = { "rejected" },
                             outcomes = { parked = { "rejected", kind = "auth", asked = false, requests = 0,
                                                     breaker = "by_kind", retry = 59999,
                                                     detail = "its credentials were refused too often" },
                                          sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { parked = "untold", sound = { "good", times = 1 } } }

scenario "a parked account is not asked for a login, either"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parked", login = 50, answers = "offers_3", after = 50, auth_refusals = 3 }

by(200)   { expect_reply = { status = 504, outcomes = { parked = { "rejected", kind = "auth", asked = false } } } }
finally   { references = 0, memory = 0, logins = 0, requests = 0 }

scenario "the first call after the park is the probe, and its success ends it"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 50, auth_refusals = 3, tried_out = true }

by(200)   { expect_reply = { complete = true, offers = 3, outcomes = { tried = "answered" } } }
finally   { references = 0, memory = 0, health = { tried = { "good", times = 1, refusals = 0, parks = 0 } } }

scenario "a probe that is refused parks it again"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "auth", after = 50, auth_refusals = 3, tried_out = true }

by(200)   { expect_reply = { status = 504, outcomes = { tried = { "rejected", kind = "auth", asked = true } } } }
finally   { references = 0, memory = 0, health = { tried = { "ours", times = 1, parks = 2 } } }

scenario "a probe that is cut says nothing, and leaves its place to the next"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "tried", hangs = true, auth_refusals = 3, tried_out = true }

by(300)   { expect_reply = { status = 504, outcomes = { tried = "cut" } } }
finally   { references = 0, memory = 0, health = { tried = { "cut", times = 1, parks = 1 } } }

scenario "a probe whose caller leaves leaves its place to the next"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", hangs = true, auth_refusals = 3, tried_out = true }
at(100)   { caller = "leaves" }

finally   { replies = 0, outcomes = { tried = "cancelled" }, references = 0, memory = 0, fetches = 0, timers = 0,
            health = { tried = { "cut", times = 1, parks = 1 } } }

scenario "a success between two refusals begins the row anew"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "sound", answers = "empty", after = 50, auth_refusals = 2 }

by(200)   { expect_reply = { complete = true } }
finally   { references = 0, memory = 0, health = { sound = { "good", times = 1, refusals = 0, parks = 0 } } }

scenario "a login that is refused is renewed once, and only then it is one refusal"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "refused", login = 20, warm = true, answers = "offers_3", after = 50, refuses = 2 }
at(0)     { supplier = "renewed", login = 20, warm = true, answers = "offers_3", after = 50, refuses = 1 }

by(400)   { expect_reply = { outcomes = { refused = { "rejected", kind = "auth", requests = 2 },
                                          renewed = { "answered", requests = 2 } } } }
finally   { references = 0, memory = 0, logins = 2,
            health = { refused = { "ours", times = 1, refusals = 1 }, renewed = { "good", times = 1, refusals = 0 } } }

scenario "a login that is denied is one refusal, however many parts wait for it"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "denied", login = 50, login_ends = "rejected",
            parts = { { { answers = "offers_3", after = 50 } }, { { answers = "offers_3", after = 50, from = 3 } } } }

by(400)   { expect_reply = { status = 504, outcomes = { denied = { "rejected", kind = "auth", requests = 0 } } } }
finally   { references = 0, memory = 0, logins = 1, health = { denied = { "ours", times = 1, refusals = 1 } } }

scenario "an account that is parked does not ask its breaker"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "both", answers = "offers_3", after = 50, auth_refusals = 3, breaker = "half_open" }

by(200)   { expect_reply = { status = 504, outcomes = { both = { "rejected", kind = "auth", asked = false } } } }
finally   { references = 0, memory = 0, requests = 0, health = { both = "untold" } }
