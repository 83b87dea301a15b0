-- Polls, pages, look-ups: one exchange after the other, all within one allocation.

scenario "polls go on until the script has enough"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "polls", parts = { { { answers = "empty", after = 50, next = 100, complete = false },
                                            { answers = "empty", after = 50, next = 100, complete = false },
                                            { answers = "offers_4", after = 50 } } } }

at(100)   { expect_outcome = { polls = { "pending", phase = "pause", requests = 1 } } }
at(170)   { expect_outcome = { polls = { "pending", phase = "first_byte", requests = 2 } } }
by(400)   { expect_reply = { complete = true, offers = 4, at = 351.3,
                             outcomes = { polls = { "answered", requests = 3, partial = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "pages by a cursor follow each other with the least pause"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "pages", parts = { { { answers = "offers_3", after = 50, next = 0 },
                                            { answers = "offers_3", after = 50, from = 3, next = 0 },
                                            { answers = "offers_1", after = 50, from = 6 } } } }

at(55)    { expect_outcome = { pages = { "pending", phase = "pause", offers = 3 } } }
at(80)    { expect_outcome = { pages = { "pending", phase = "first_byte", offers = 3 } } }
by(200)   { expect_reply = { complete = true, offers = 7, at = 171.3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a page cut by the budget keeps the pages before it"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "pages", parts = { { { answers = "offers_3", after = 50, next = 0 },
                                            { answers = "offers_3", after = 50, from = 3, next = 10 },
                                            { hangs = true } } } }

by(300)   { expect_reply = { status = 200, complete = false, offers = 6, reasons = { "budget" },
                             outcomes = { pages = { "answered", partial = true, bound = "budget",
                                                    phase = "first_byte" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a page that fails keeps the pages before it"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "pages", parts = { { { answers = "offers_3", after = 50, next = 0 },
                                            { fails = "body", after = 50 } } } }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3,
                             outcomes = { pages = { "answered", partial = true, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a page that cannot be read keeps the pages before it"

at(0)     { search = { budget = 300 } }
at(0)     { supplier = "pages", parts = { { { answers = "offers_3", after = 50, next = 0 },
                                            { answers = "unparsable", after = 50 } } } }

by(200)   { expect_reply = { status = 200, complete = false, offers = 3,
                             outcomes = { pages = { "answered", partial = true, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a poll that would come after the end is not waited for"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50, next = 5000 },
                                        { answers = "offers_9", after = 1 } } } }

at(60)    { expect_outcome = { a = { "answered", bound = "budget", phase = "pause", partial = true } } }
by(70)    { expect_reply = { offers = 2, complete = false, requests = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a poll that would come after the ceiling is not waited for"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", ceiling = 200, parts = { { { answers = "empty", after = 50, next = 160 },
                                                       { answers = "offers_9", after = 1 } } } }

at(60)    { expect_outcome = { a = { "cut", bound = "ceiling", phase = "pause" } } }
by(70)    { expect_reply = { status = 504, requests = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "nothing is sent when the loop wakes from a pause after the end"

at(0)     { machine = { late = 5 } }
at(0)     { search = { budget = 1000, reserve = 30 } }
for i = 10, 40 do
  at(0)   { supplier = "s" .. i, ceiling = 200, parts = { { { answers = "empty", after = 50, next = 100 + i },
                                                            { answers = "offers_9", after = 200 } } } }
end

by(220)   { expect_reply = { status = 504, missing = 31, reasons = { "ceiling" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "parts have steps of their own"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50, next = 100 },
                                        { answers = "offers_2", after = 50, from = 2 } },
                                      { { answers = "offers_2", after = 20, from = 10, next = 10 },
                                        { answers = "offers_2", after = 20, from = 12 } } } }

by(300)   { expect_reply = { complete = true, offers = 8, requests = 4,
                             outcomes = { a = { "answered", parts = 2, ok = 2, requests = 4 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the second step of one part outlives the failure of another"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", parts = { { { fails = "connect", after = 10 } },
                                      { { answers = "empty", after = 20, next = 100 },
                                        { answers = "offers_2", after = 20 } } } }

by(300)   { expect_reply = { offers = 2, outcomes = { a = { "answered", partial = true, ok = 1, failed = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

-- `count` pages, the first one starting with the offer `from`.
local function pages(count, answers, from)
  local steps = {}
  for i = 1, count do
    steps[i] = { answers = answers, after = 1, from = from + (i - 1) * 400,
                 next = i < count and 0 or nil }
  end
  return steps
end

scenario "a script that always asks for one more step ends at the hundredth"

at(0)     { search = { budget = 8000 } }
at(0)     { supplier = "a", parts = { pages(120, "offers_1", 0), pages(2, "offers_1", 90000) } }
at(0)     { supplier = "b", parts = { pages(120, "empty", 0) } }

by(7000)  { expect_reply = { status = 200, complete = false, found = 102, answered = 1, empty = 1,
                             outcomes = { a = { "answered", partial = true, ok = 2, failed = 0, requests = 102 },
                                          b = { "empty", partial = true, requests = 100 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a supplier with ever new offers ends when it is full"

at(0)     { search = { budget = 8000 } }
at(0)     { supplier = "a", parts = { pages(20, "offers_300", 0), { { hangs = true } } } }
at(0)     { supplier = "b", answers = "offers_3", after = 40 }

by(1000)  { expect_reply = { status = 200, complete = false, found = 2003, missing = 0,
                             outcomes = { a = { "answered", partial = true, offers = 2000, requests = 8, ok = 1,
                                                failed = 1 },
                                          b = { "answered", partial = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a full supplier that gives the same offers again goes on"

at(0)     { search = { budget = 8000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_400", after = 1, next = 0 },
                                        { answers = "offers_800", after = 1, from = 400, next = 0 },
                                        { answers = "offers_800", after = 1, from = 1200, next = 0 },
                                        { answers = "offers_400", after = 1, from = 300, next = 0 },
                                        { answers = "offers_800", after = 1, from = 1200 } } } }

by(1000)  { expect_reply = { status = 200, complete = true, found = 2000,
                             outcomes = { a = { "answered", partial = false, offers = 2000, requests = 5 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
