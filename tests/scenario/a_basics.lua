-- What a search is when nothing goes wrong.

scenario "all answer and the reply leaves at once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_3", after = 100 }
at(0)     { supplier = "b", answers = "offers_4", after = 300 }

at(150)   { expect_outcome = { a = { "answered", offers = 3 }, b = { "pending", phase = "first_byte" } } }
by(400)   { expect_reply = { status = 200, complete = true, percent = 100, eligible = 2, answered = 2, offers = 7,
                             found = 7, reasons = {}, at = 301.1, cut_by_budget = false, requests = 2,
                             outcomes = { a = { "answered", offers = 3, requests = 1 }, b = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, breaker = { a = "success" } }

scenario "an empty answer is an answer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "full", answers = "offers_2", after = 50 }
at(0)     { supplier = "none", answers = "empty", after = 80 }

by(200)   { expect_reply = { status = 200, complete = true, percent = 100, answered = 1, empty = 1, missing = 0,
                             outcomes = { none = "empty" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { none = "success" } }

scenario "a product without suppliers is answered, but never complete"

at(0)     { search = { budget = 2000 } }

by(50)    { expect_reply = { status = 200, complete = false, percent = 0, eligible = 0, reasons = { "none_eligible" },
                             offers = 0, at = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "those whom the caller left out are neither asked nor told"

at(0)     { search = { budget = 2000, suppliers = { "b" } } }
at(0)     { supplier = "a", answers = "offers_3", after = 100 }
at(0)     { supplier = "b", answers = "offers_1", after = 20 }

by(100)   { expect_reply = { eligible = 1, answered = 1, offers = 1, complete = true, requests = 1 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "forty suppliers are as many answers"

at(0)     { search = { budget = 2000, max_items = 400 } }
for i = 10, 49 do
  at(0)   { supplier = "s" .. i, answers = "offers_5", after = 10 * i }
end

by(600)   { expect_reply = { eligible = 40, answered = 40, offers = 200, complete = true, requests = 40 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "skipped and disabled ones are not eligible, and say why"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "fine", answers = "offers_1", after = 10 }
at(0)     { supplier = "skips", skips = "multi-city not sold" }
at(0)     { supplier = "off", disabled = "contract ended" }

by(100)   { expect_reply = { complete = true, eligible = 1, requests = 1,
                             outcomes = { skips = { "skipped", detail = "multi-city not sold", asked = false },
                                          off = { "disabled", detail = "contract ended", asked = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, breaker = { skips = "ignored", off = "ignored" } }
