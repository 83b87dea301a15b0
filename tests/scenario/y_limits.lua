-- Limits of an account: rates, requests at once, and what the supplier says of its quota.

scenario "a rate that was used before keeps the next request in"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "used", answers = "offers_3", after = 50, limits = { per_minute = 2 }, used = 2 }
at(0)     { supplier = "free", answers = "offers_3", after = 50, limits = { per_minute = 3 }, used = 2 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3, requests = 1, missing = 1,
                             reasons = { "rate_limited" },
                             outcomes = { used = { "rate_limited", asked = false, requests = 0, breaker = "ignored",
                                                   detail = "the account's requests of a minute are used" },
                                          free = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a rate that is used up in the middle of the steps leaves what they brought"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "pages", limits = { per_day = 2 },
            parts = { { { answers = "offers_3", after = 50, next = 0 },
                        { answers = "offers_3", after = 50, from = 3, next = 0 },
                        { answers = "offers_3", after = 50, from = 6 } } } }

by(300)   { expect_reply = { status = 200, complete = false, offers = 6, requests = 2,
                             outcomes = { pages = { "answered", partial = true, failed = 1, requests = 2,
                                                    asked = true } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "each part needs a permit of its own"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "parts", limits = { concurrent = 2 },
            parts = { { { answers = "offers_3", after = 50 } },
                      { { answers = "offers_3", after = 90, from = 3 } },
                      { { answers = "offers_3", after = 50, from = 6 } } } }

by(200)   { expect_reply = { status = 200, complete = false, offers = 6, requests = 2,
                             outcomes = { parts = { "answered", partial = true, parts = 3, ok = 2, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a request that is over gives its permit to the next step"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "polls", limits = { concurrent = 1 },
            parts = { { { answers = "empty", after = 50, next = 0, complete = false },
                        { answers = "empty", after = 50, next = 0, complete = false },
                        { answers = "offers_2", after = 50 } } } }

by(300)   { expect_reply = { complete = true, offers = 2, outcomes = { polls = { "answered", requests = 3 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "an account that the supplier blocked is not asked"

at(0)     { search = { budget = 1000, suppliers = { "blocked" } } }
at(0)     { supplier = "blocked", answers = "offers_1", after = 50, blocked = 5000 }

by(100)   { expect_reply = { status = 504, complete = false, requests = 0, reasons = { "rate_limited" },
                             outcomes = { blocked = { "rate_limited", asked = false,
                                                      detail = "the supplier asked to wait" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "an end of blocking lets requests out again"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "polls", blocked = 0.5, parts = { { { answers = "offers_2", after = 50 } } } }

by(300)   { expect_reply = { complete = true, offers = 2 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a supplier that says its quota is used up is not asked for more"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "pages", parts = { { { answers = "offers_3", after = 50, next = 0, quota_used = true,
                                              retry_after = 60000 },
                                            { answers = "offers_3", after = 50, from = 3 } } } }

by(300)   { expect_reply = { complete = false, offers = 3, requests = 1,
                             outcomes = { pages = { "answered", partial = true, failed = 1, retry = 59990 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "a refusal by quota blocks the account for a second when nothing is said"

at(0)     { search = { budget = 3000 } }
at(0)     { supplier = "two", parts = { { { answers = "quota", after = 50 } },
                                        { { answers = "offers_2", after = 60, next = 500, from = 2 },
                                          { answers = "offers_2", after = 60, from = 4 } } } }
at(0)     { supplier = "late", parts = { { { answers = "quota", after = 50 } },
                                         { { answers = "offers_2", after = 60, next = 1100, from = 2 },
                                           { answers = "offers_2", after = 60, from = 4 } } } }

by(2000)  { expect_reply = { complete = false, offers = 6,
                             outcomes = { two = { "answered", partial = true, offers = 2, failed = 2, requests = 2 },
                                          late = { "answered", partial = true, offers = 4, failed = 1,
                                                   requests = 3 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "permits come back from what is cut"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "hangs", limits = { concurrent = 1 }, hangs = true }
at(0)     { supplier = "short", limits = { concurrent = 1 }, hangs = true, ceiling = 100 }

by(300)   { expect_reply = { status = 504, outcomes = { hangs = "cut", short = "cut" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "permits come back when the caller leaves"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "hangs", limits = { concurrent = 1 }, hangs = true }
at(100)   { caller = "leaves" }

finally   { replies = 0, outcomes = { hangs = "cancelled" }, references = 0, memory = 0, fetches = 0, timers = 0,
            permits = 0 }

scenario "permits come back from what fails and from what cannot be started"

at(0)     { machine = { refuses_fetch = 2 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", limits = { concurrent = 1 }, fails = "connect", after = 20 }
at(0)     { supplier = "b", limits = { concurrent = 1 }, answers = "offers_1", after = 20 }

by(100)   { expect_reply = { status = 504, outcomes = { a = "failed", b = "failed" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }
