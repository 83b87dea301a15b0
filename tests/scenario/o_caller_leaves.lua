-- Callers that leave, at every state: nothing is left behind, and attribution says cancelled.

scenario "a caller leaves before the scripts have begun"

at(0)     { machine = { queue = 20 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(0)     { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", asked = false, requests = 0 } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves while the requests are being built"

at(0)     { machine = { start = 50 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(10)    { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", asked = false } }, references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves while the supplier is asked"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(50)    { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", phase = "first_byte", requests = 1 } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves while the answer waits for a worker"

at(0)     { machine = { queue = 20 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(103)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", phase = "first_byte" } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves while the script reads the answer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(150)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", phase = "script", requests = 1 } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves in the pause before a poll"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(250)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", phase = "pause", requests = 1 } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves while the poll is out"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 900, parts = { { { answers = "offers_3", after = 100, script = 80, next = 150 },
                                                       { answers = "offers_9", after = 300 } } } }
at(380)   { caller = "leaves" }

at(1990)  { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = { "cancelled", phase = "first_byte", requests = 2 } },
            references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves a supplier with parts in every state"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 10, next = 900 }, { answers = "empty" } },
                                      { { hangs = true } }, { { answers = "offers_3", after = 60, script = 300 } },
                                      { { fails = "connect", after = 5 } }, { { answers = "empty", after = 9 } } } }
at(0)     { supplier = "done", answers = "offers_1", after = 10 }
at(100)   { caller = "leaves" }

at(200)   { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = "cancelled", done = "answered" }, references = 0, memory = 0, fetches = 0,
            timers = 0, calls = 0 }

scenario "a caller leaves in the instant before the end"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", hangs = true }
at(489.999) { caller = "leaves" }

at(490)   { expect_no_reply = true }
finally   { replies = 0, outcomes = { a = "cancelled" }, references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a caller who leaves after the reply has had it"

at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20 }
at(100)   { caller = "leaves" }

by(100)   { expect_reply = { status = 200, offers = 1 } }
finally   { replies = 1, references = 0, memory = 0, fetches = 0, timers = 0 }
