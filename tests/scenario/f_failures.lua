-- Transport failures, by phase.

scenario "a name that does not exist is failed in dns, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "dns", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "dns" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "dns", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a refused connection is failed in connect, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "connect", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "connect" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "connect", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a bad certificate is failed in tls, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "tls", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "tls" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "tls", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a reset while sending is failed in send, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "send", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "send" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "send", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a reset before the first byte is failed in first_byte, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "first_byte", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "first_byte" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "first_byte", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a reset in the body is failed in body, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "body", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "body" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "body", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a body over its cap is too_large in body, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "too_large", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "too_large", phase = "body" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "too_large" }, percent = 50,
                             outcomes = { a = { "too_large", phase = "body", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "ignored" } }

scenario "an address that is not allowed is failed in connect, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "address", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "connect" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "connect", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }

scenario "a fetch without memory is failed in queue, at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "memory", after = 40 }
at(0)     { supplier = "b", answers = "offers_1", after = 80 }

at(60)    { expect_outcome = { a = { "failed", phase = "queue" }, b = "pending" } }
by(200)   { expect_reply = { status = 200, reasons = { "failed" }, percent = 50,
                             outcomes = { a = { "failed", phase = "queue", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { a = "failure" } }
