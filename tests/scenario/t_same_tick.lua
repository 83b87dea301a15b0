-- Things that fall into one instant: one verdict each, and one reply.

scenario "ceiling and budget in the same tick name the budget"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", hangs = true, ceiling = 490 }
at(0)     { supplier = "b", hangs = true, ceiling = 489.999 }

by(500)   { expect_reply = { at = 490, reasons = { "budget", "ceiling" },
                             outcomes = { a = { "cut", bound = "budget" }, b = { "cut", bound = "ceiling" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an answer in the tick of its ceiling is one outcome"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1", after = 199, ceiling = 200 }
at(0)     { supplier = "b", answers = "offers_1", after = 198.9, ceiling = 200 }

by(500)   { expect_reply = { at = 200, missing = 2, outcomes = { a = "cut", b = "cut" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "an answer in the tick of the end is one outcome"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", answers = "offers_1", after = 488.9 }

by(500)   { expect_reply = { at = 490, status = 504, outcomes = { a = { "cut", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "ten ceilings in the same tick close ten attempts and reply once"

at(0)     { search = { budget = 2000 } }
for i = 0, 9 do
  at(0)   { supplier = "s" .. i, hangs = true, ceiling = 300 }
end

by(310)   { expect_reply = { status = 504, missing = 10, reasons = { "ceiling" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, replies = 1 }

scenario "a poll that ends its pause in the tick of the ceiling sends nothing"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", ceiling = 300, parts = { { { answers = "empty", after = 98.9, next = 200 },
                                                       { answers = "offers_1" } } } }

by(310)   { expect_reply = { requests = 1, outcomes = { a = { "cut", bound = "ceiling", phase = "pause" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "all answers in one tick are one reply"

at(0)     { search = { budget = 2000 } }
for i = 0, 9 do
  at(0)   { supplier = "s" .. i, answers = "offers_2", after = 100 }
end

by(200)   { expect_reply = { complete = true, answered = 10, offers = 20 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, replies = 1 }

scenario "a caller who leaves in the tick of the reply has had it"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "a", hangs = true }
at(490)   { caller = "leaves" }

by(500)   { expect_reply = { at = 490, status = 504 } }
finally   { replies = 1, references = 0, memory = 0, fetches = 0, timers = 0 }
