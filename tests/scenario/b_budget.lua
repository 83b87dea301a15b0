-- The deadline waits for nobody.

scenario "a short budget cuts a healthy supplier and is no failure of it"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "healthy", answers = "offers_3", after = 500 }
at(0)     { supplier = "quick", answers = "offers_1", after = 100 }

at(289)   { expect_outcome = { healthy = "pending" } }
by(300)   { expect_reply = { status = 200, complete = false, percent = 50, reasons = { "budget" }, at = 290,
                             outcomes = { healthy = { "cut", bound = "budget", phase = "first_byte" } } } }
finally   { breaker = { healthy = "no_failure" }, references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "nobody answers: a problem, in time"

at(0)     { search = { budget = 400 } }
at(0)     { supplier = "a", hangs = true }
at(0)     { supplier = "b", hangs = true, phase = "connect" }

by(400)   { expect_reply = { status = 504, code = "no_answer", complete = false, percent = 0, missing = 2,
                             reasons = { "budget" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "one name hangs, thirty-nine answer"

at(0)     { search = { budget = 1000, max_items = 400 } }
at(0)     { supplier = "hung", hangs = true, phase = "dns" }
for i = 10, 48 do
  at(0)   { supplier = "s" .. i, answers = "offers_3", after = 15 * i }
end

by(1000)  { expect_reply = { eligible = 40, answered = 39, percent = 97, offers = 117,
                             outcomes = { hung = { "cut", bound = "budget", phase = "dns" } } } }
finally   { breaker = { hung = "no_failure" }, references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "forty answers at 95 percent of the deadline are not too many"

at(0)     { search = { budget = 2000, max_items = 1000 } }
for i = 10, 49 do
  at(0)   { supplier = "s" .. i, answers = "offers_50", after = 1900 }
end

by(2000)  { expect_reply = { status = 200, eligible = 40, answered = 40, offers = 1000, found = 2000 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "forty answers in the last millisecond are never a late reply"

at(0)     { search = { budget = 1000, max_items = 1000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20 }
for i = 10, 49 do
  at(0)   { supplier = "s" .. i, answers = "offers_20", after = 988.5, script = 0.4 }
end

by(1000)  { expect_reply = { status = 200, eligible = 41, outcomes = { a = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the smallest budget still has a reply in time"

at(0)     { search = { budget = 100, reserve = 5 } }
at(0)     { supplier = "quick", answers = "offers_2", after = 20 }
at(0)     { supplier = "slow", answers = "offers_2", after = 120 }

by(100)   { expect_reply = { status = 200, offers = 2, outcomes = { slow = { "cut", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "answers are taken up to the last microsecond before the end, and not after it"

at(0)     { machine = { exact = true } }
at(0)     { search = { budget = 500 } }
at(0)     { supplier = "just", answers = "offers_1", after = 488.898 }
at(0)     { supplier = "over", answers = "offers_1", after = 488.902 }

by(500)   { expect_reply = { at = 490, outcomes = { just = "answered",
                                                    over = { "cut", bound = "budget", phase = "script" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
