-- Ports that refuse: an outcome or a status, never a crash, and nothing is lost.

scenario "a search that the script queue does not take is not started"

at(0)     { machine = { refuses_call = 1 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1" }

at(500)   { expect_no_reply = true }
finally   { replies = 0, requests = 0, references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a search without a timer for its end is not started"

at(0)     { machine = { refuses_timer = 1 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1" }

at(500)   { expect_no_reply = true }
finally   { replies = 0, requests = 0, references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "an answer that the script queue does not take is shed"

at(0)     { machine = { refuses_call = 2 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20 }
at(0)     { supplier = "b", answers = "offers_1", after = 60 }

by(100)   { expect_reply = { status = 200, reasons = { "shed" }, outcomes = { a = "shed", b = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, breaker = { a = "ignored" } }

scenario "a request that cannot be started fails its part alone"

at(0)     { machine = { refuses_fetch = 1 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_1", after = 20 } },
                                      { { answers = "offers_1", after = 20, from = 1 } } } }

by(100)   { expect_reply = { status = 200, complete = false,
                             outcomes = { a = { "answered", partial = true, ok = 1, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an attempt without a timer for its ceiling fails"

at(0)     { machine = { refuses_timer = 2 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20, ceiling = 100 }
at(0)     { supplier = "b", answers = "offers_1", after = 20 }

by(100)   { expect_reply = { requests = 1, outcomes = { a = "failed", b = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a poll without a timer for its pause keeps what came before"

at(0)     { machine = { refuses_timer = 2 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 20, next = 50 }, { answers = "empty" } } } }

by(100)   { expect_reply = { offers = 2, outcomes = { a = { "answered", partial = true } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
