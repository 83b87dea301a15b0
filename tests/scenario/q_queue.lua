-- Script workers that have no time.

scenario "a start call that no worker takes is a reply in time all the same"

at(0)     { machine = { queue = 3000 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1" }

by(1000)  { expect_reply = { status = 504, requests = 0, reasons = { "budget" },
                             outcomes = { a = { "cut", bound = "budget", phase = "script_queue", asked = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "a start call that runs too long is a reply in time all the same"

at(0)     { machine = { start = 3000 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_1" }
at(0)     { supplier = "off", disabled = "contract ended" }

by(1000)  { expect_reply = { status = 504, requests = 0, eligible = 1,
                             outcomes = { a = { "cut", bound = "budget", phase = "script" }, off = "disabled" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }

scenario "requests built after a ceiling are not sent"

at(0)     { machine = { queue = 300 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "late", answers = "offers_1", ceiling = 200 }
at(0)     { supplier = "fine", answers = "offers_1", ceiling = 1500 }

by(800)   { expect_reply = { requests = 1, outcomes = { late = { "too_late", asked = false }, fine = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "one worker reads forty answers one by one"

at(0)     { machine = { workers = 1 } }
at(0)     { search = { budget = 2000, max_items = 400 } }
for i = 10, 49 do
  at(0)   { supplier = "s" .. i, answers = "offers_2", after = 100, script = 10 }
end

at(300)   { expect_outcome = { s10 = "answered", s49 = { "pending", phase = "script_queue" } } }
by(1000)  { expect_reply = { complete = true, answered = 40 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a worker takes the answer whose end is nearest"

at(0)     { machine = { workers = 1, exact = true } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_1", after = 100, script = 200 }
at(0)     { supplier = "b", answers = "offers_1", after = 110, script = 100 }
at(0)     { supplier = "c", answers = "offers_1", after = 120, script = 30, ceiling = 600 }

at(370)   { expect_outcome = { a = { "answered" }, b = "pending" } }
by(800)   { expect_reply = { complete = true, answered = 3, outcomes = { c = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an answer that waited past its ceiling is cut in the queue, and its job is not run"

at(0)     { machine = { workers = 1 } }
at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "hog", answers = "offers_1", after = 50, script = 400 }
at(0)     { supplier = "waits", answers = "offers_1", after = 100, ceiling = 300 }

at(300)   { expect_outcome = { waits = { "cut", bound = "ceiling", phase = "script_queue" } } }
by(1000)  { expect_reply = { answered = 1, missing = 1, outcomes = { hog = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, breaker = { waits = "no_failure" } }

scenario "a script that reads for ever does not hold the reply"

at(0)     { machine = { workers = 2 } }
at(0)     { search = { budget = 600 } }
at(0)     { supplier = "a", answers = "offers_1", after = 50, script = 60000 }
at(0)     { supplier = "b", answers = "offers_1", after = 60 }

by(600)   { expect_reply = { answered = 1, outcomes = { a = { "cut", bound = "budget", phase = "script" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0 }
