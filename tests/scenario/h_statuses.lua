-- HTTP statuses beside what the script made of the answer: typed failures win.

scenario "an untyped 500 is failed"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", status = 500, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false, outcomes = { a = { "failed", http_status = 500 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an untyped 502 with a page of HTML is failed, not unparsable"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 502, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false, outcomes = { a = { "failed", http_status = 502 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an untyped 500 over which the script stumbled is failed"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_error", status = 500, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false, outcomes = { a = { "failed", http_status = 500 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a plain error is a bug of the script under any status below 500"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_error", status = 418, after = 40, says = "acme.lua:58: nil" }
at(0)     { supplier = "b", answers = "script_error", status = 429, after = 40 }
at(0)     { supplier = "c", answers = "script_error", status = 302, after = 40 }
at(0)     { supplier = "d", answers = "empty", status = 418, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "script_error", http_status = 418, detail = "acme.lua:58: nil" },
                                          b = "script_error", c = "script_error",
                                          d = { "rejected", kind = "supplier", http_status = 418 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script", b = "script" } }

scenario "offers that come with a 500 are no answer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_2", status = 500, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "failed", http_status = 500, offers = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a typed 503 is a refusal"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "busy", status = 503, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "rejected", kind = "busy", http_status = 503 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an untyped 404 is a refusal"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", status = 404, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "rejected", kind = "supplier", http_status = 404 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an untyped 429 is a quota"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", status = 429, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "rejected", kind = "quota", http_status = 429 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a typed 401 is auth"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "auth", status = 401, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false,
                             outcomes = { a = { "rejected", kind = "auth", http_status = 401 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a limit that the script hit stays its own, whatever the status"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_timeout", status = 500, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false, outcomes = { a = { "script_timeout" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a 201 with offers is an answer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_2", status = 201, after = 40 }

by(100)   { expect_reply = { status = 200, complete = true, outcomes = { a = { "answered", offers = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a 204 is empty"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", status = 204, after = 40 }

by(100)   { expect_reply = { status = 200, complete = true, outcomes = { a = { "empty" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a 404 of which its script says that it means nothing is empty"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", told = true, status = 404, after = 40 }
at(0)     { supplier = "b", answers = "empty", status = 404, after = 40 }

by(100)   { expect_reply = { status = 200, complete = false, outcomes = { a = { "empty" }, b = { "rejected" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a redirect is not followed: the supplier sent us away"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "unparsable", status = 302, after = 40 }

by(100)   { expect_reply = { status = 504, complete = false, outcomes = { a = { "rejected" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
