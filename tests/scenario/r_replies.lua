-- The statuses of a reply.

scenario "a bad query is a 422 and nobody is asked"

at(0)     { machine = { product = "bad_query" } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1" }

by(50)    { expect_reply = { status = 422, code = "bad_query", requests = 0 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a product script that fails is a 500, the only one"

at(0)     { machine = { product = "script_error" } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1" }

by(50)    { expect_reply = { status = 500, code = "product_script_error", requests = 0 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a product script that runs too long is a 500"

at(0)     { machine = { product = "script_timeout" } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1" }

by(50)    { expect_reply = { status = 500, code = "product_script_error", requests = 0 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "failures only are a 504 with every outcome"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "connect" }
at(0)     { supplier = "b", answers = "script_error" }
at(0)     { supplier = "c", answers = "quota" }

by(50)    { expect_reply = { status = 504, code = "no_answer", missing = 3, percent = 0,
                             reasons = { "failed", "rejected", "script_error" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "one answer of many failures is a 200"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", fails = "connect" }
at(0)     { supplier = "b", answers = "script_error" }
at(0)     { supplier = "c", answers = "offers_1" }

by(50)    { expect_reply = { status = 200, missing = 2, percent = 33, complete = false } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
