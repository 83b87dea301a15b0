-- Where a supplier stood when it was cut.

scenario "a cut names the phase of the network in which it fell"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", hangs = true, phase = "queue" }
at(0)     { supplier = "b", hangs = true, phase = "dns" }
at(0)     { supplier = "c", hangs = true, phase = "connect" }
at(0)     { supplier = "d", hangs = true, phase = "tls" }
at(0)     { supplier = "e", hangs = true, phase = "send" }
at(0)     { supplier = "f", hangs = true, phase = "first_byte" }
at(0)     { supplier = "g", hangs = true, phase = "body" }

by(300)   { expect_reply = { outcomes = {
            a = { "cut", phase = "queue", requests = 0 }, b = { "cut", phase = "dns", requests = 0 },
            c = { "cut", phase = "connect", requests = 0 }, d = { "cut", phase = "tls", requests = 0 },
            e = { "cut", phase = "send", requests = 0 }, f = { "cut", phase = "first_byte", requests = 1 },
            g = { "cut", phase = "body", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a cut in our own queue is told as ours"

at(0)     { machine = { workers = 1 } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "first", answers = "offers_1", after = 50, script = 5000 }
at(0)     { supplier = "second", answers = "offers_1", after = 100 }

by(500)   { expect_reply = { outcomes = { first = { "cut", phase = "script" },
                                          second = { "cut", phase = "script_queue" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, breaker = { second = "no_failure" } }

scenario "a cut while a poll is waited for is a cut in the pause"

at(0)     { search = { budget = 500 } }
at(0)     { supplier = "polls", ceiling = 300,
            parts = { { { answers = "empty", after = 50, next = 100 }, { answers = "empty", after = 50, next = 90 },
                        { answers = "offers_1", after = 50 } } } }

at(250)   { expect_outcome = { polls = { "pending", phase = "pause" } } }
by(400)   { expect_reply = { outcomes = { polls = { "cut", bound = "ceiling" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
