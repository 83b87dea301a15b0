-- What scripts make of an answer.

scenario "a used-up quota is a refusal with its time"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "quota", after = 40, retry_after = 3000 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "rejected" }, percent = 50, missing = 1,
                             outcomes = { a = { "rejected", kind = "quota", retry = 3000 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "by_kind" } }

scenario "a supplier that wants to be left alone for a day is asked again after an hour, and that is told"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "quota", after = 40, retry_after = 86400000 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { outcomes = { a = { "rejected", kind = "quota", retry = 3600000 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a supplier that does not say how long it had enough is left alone for a second"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", status = 429, after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { outcomes = { a = { "rejected", kind = "quota", retry = 1000 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a busy supplier refuses"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "busy", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "rejected" }, percent = 50, missing = 1,
                             outcomes = { a = { "rejected", kind = "busy" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "by_kind" } }

scenario "a lost login is a refusal of auth"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "login", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "rejected" }, percent = 50, missing = 1,
                             outcomes = { a = { "rejected", kind = "auth" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "by_kind" } }

scenario "refused credentials are a refusal of auth"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "auth", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "rejected" }, percent = 50, missing = 1,
                             outcomes = { a = { "rejected", kind = "auth" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "by_kind" } }

scenario "an error of the supplier keeps its code and words"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "supplier_error", after = 40, code = "E17", says = "no contract" }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "rejected" }, percent = 50, missing = 1,
                             outcomes = { a = { "rejected", kind = "supplier", code = "E17",
                                          detail = "no contract" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "by_kind" } }

scenario "an unexpected shape is unparsable and names its place"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "unexpected", after = 40, says = "offers[2].total" }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "unparsable" }, percent = 50, missing = 1,
                             outcomes = { a = { "unparsable", detail = "offers[2].total" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script" } }

scenario "a page of HTML is unparsable"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "unparsable", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "unparsable" }, percent = 50, missing = 1,
                             outcomes = { a = { "unparsable" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script" } }

scenario "a body that inflates over its cap is too large"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "too_large", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "too_large" }, percent = 50, missing = 1,
                             outcomes = { a = { "too_large" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "ignored" } }

scenario "a bug in our script is ours"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_error", after = 40, says = "acme.lua:58: nil" }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "script_error" }, percent = 50, missing = 1,
                             outcomes = { a = { "script_error", detail = "acme.lua:58: nil" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script" } }

scenario "a script that runs too long is ours"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_timeout", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "script_timeout" }, percent = 50, missing = 1,
                             outcomes = { a = { "script_timeout" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script" } }

scenario "a script that takes too much memory is ours"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "script_memory", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "script_memory" }, percent = 50, missing = 1,
                             outcomes = { a = { "script_memory" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "script" } }

scenario "an answer that no worker took in time is cut in our queue"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "dropped", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

by(200)   { expect_reply = { status = 200, reasons = { "budget" }, percent = 50, missing = 1,
                             outcomes = { a = { "cut", bound = "budget", phase = "script_queue" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "slow" } }

scenario "a script that fails before its request sends nothing"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", starts = "script_error" }
at(0)     { supplier = "b", starts = "script_timeout" }
at(0)     { supplier = "c", starts = "script_memory" }
at(0)     { supplier = "d", starts = "dropped" }
at(0)     { supplier = "e", starts = "quota" }
at(0)     { supplier = "f", answers = "offers_1", after = 10 }

by(50)    { expect_reply = { requests = 1, missing = 5,
                             outcomes = { a = { "script_error", asked = false }, b = { "script_timeout",
                                          asked = false },
                                          c = { "script_memory", asked = false }, d = { "too_late", asked = false },
                                          e = { "rejected", kind = "quota", asked = false }, f = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
