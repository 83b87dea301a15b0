-- The orders of a reply, what a cut keeps of each, and what facets count.

scenario "the quickest thing survives the cut, though it is dear"

at(0)     { search = { budget = 2000, max_items = 2 } }
at(0)     { supplier = "quick", answers = "offers_1", after = 300, cheapest = 900, minutes = 90 }
at(0)     { supplier = "slow", answers = "offers_9", after = 100, cheapest = 100, minutes = 600 }

by(400)   { expect_reply = { found = 10, offers = 2, items = 2, order = { "slow:0", "quick:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "by price, all places but one go to the cheapest"

at(0)     { search = { budget = 2000, max_items = 4, sort = "price" } }
at(0)     { supplier = "quick", answers = "offers_5", after = 300, cheapest = 900, minutes = 90 }
at(0)     { supplier = "slow", answers = "offers_9", after = 100, cheapest = 100, minutes = 600 }

by(400)   { expect_reply = { order = { "slow:0", "slow:1", "slow:2", "quick:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the best share their places evenly between the cheapest and the quickest"

at(0)     { search = { budget = 2000, max_items = 4, sort = "best" } }
at(0)     { supplier = "quick", answers = "offers_5", after = 300, cheapest = 900, minutes = 90 }
at(0)     { supplier = "slow", answers = "offers_9", after = 100, cheapest = 100, minutes = 600 }

by(400)   { expect_reply = { order = { "slow:0", "slow:1", "quick:0", "quick:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "by duration, the quickest come first and the cheapest keeps a place"

at(0)     { search = { budget = 2000, max_items = 4, sort = "duration" } }
at(0)     { supplier = "quick", answers = "offers_5", after = 300, cheapest = 900, minutes = 90 }
at(0)     { supplier = "slow", answers = "offers_9", after = 100, cheapest = 100, minutes = 600 }

by(400)   { expect_reply = { order = { "quick:0", "quick:1", "quick:2", "slow:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "what has no duration is no quick thing"

at(0)     { search = { budget = 2000, max_items = 2, sort = "duration" } }
at(0)     { supplier = "known", answers = "offers_2", after = 300, cheapest = 900, minutes = 90 }
at(0)     { supplier = "unknown", answers = "offers_2", after = 100, cheapest = 100 }

by(400)   { expect_reply = { order = { "known:0", "unknown:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "without a cut, the order by duration holds everything"

at(0)     { search = { budget = 2000, sort = "duration" } }
at(0)     { supplier = "quick", answers = "offers_2", after = 300, cheapest = 900, minutes = 90, item = "q" }
at(0)     { supplier = "slow", answers = "offers_2", after = 100, cheapest = 100, minutes = 600, item = "s" }
at(0)     { supplier = "twin", answers = "offers_2", after = 200, cheapest = 800, minutes = 90, item = "q" }

by(400)   { expect_reply = { items = 4, order = { "twin:0", "twin:1", "quick:0", "quick:1", "slow:0", "slow:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

for flag, why in ipairs({ "whose taxes are unclear", "in another currency", "with both faults" }) do
  scenario("an offer " .. why .. " is shown, but never wins")

  at(0)   { search = { budget = 2000 } }
  at(0)   { supplier = "honest", answers = "offers_2", after = 10, cheapest = 500, minutes = 300 }
  at(0)   { supplier = "odd", answers = "offers_2", after = 10, cheapest = 100, minutes = 60, flag = flag }

  by(100) { expect_reply = { order = { "honest:0", "honest:1", "odd:0", "odd:1" },
                             facets = { "house honest 2 500.00", "house odd 2 -",
                                        "kind 0 2 500.00", "kind 1 2 501.00" } } }
  finally { references = 0, memory = 0, fetches = 0, timers = 0 }
end

scenario "an offer that cannot be compared takes no quick place"

at(0)     { search = { budget = 2000, max_items = 2 } }
at(0)     { supplier = "honest", answers = "offers_2", after = 10, cheapest = 500, minutes = 300 }
at(0)     { supplier = "odd", answers = "offers_2", after = 10, cheapest = 100, minutes = 60, flag = 1 }

by(100)   { expect_reply = { order = { "honest:0", "honest:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "facets cover what was cut"

at(0)     { search = { budget = 2000, max_items = 1, max_offers_per_item = 1 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10, cheapest = 100 }
at(0)     { supplier = "b", answers = "offers_3", after = 20, cheapest = 90 }

by(100)   { expect_reply = { offers = 1, found = 5,
                             facets = { "house a 2 100.00", "house b 3 90.00",
                                        "kind 0 2 90.00", "kind 1 2 91.00", "kind 2 1 92.00" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "offers that were replaced count no longer"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 10, next = 0 },
                                        { answers = "offers_1", after = 10, from = 7, merge = "replace" } },
                                      { { answers = "offers_2", after = 30, from = 1 } } } }

by(200)   { expect_reply = { found = 3, order = { "a:1", "a:2", "a:7" },
                             facets = { "house a 3 101.00", "kind 1 1 101.00", "kind 2 1 102.00",
                                        "kind 7 1 107.00" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an offer replaced by its own id counts once"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_3", after = 10, next = 0 },
                                        { answers = "offers_2", after = 10, from = 1 } } } }

by(200)   { expect_reply = { found = 3, facets = { "house a 3 100.00", "kind 0 1 100.00", "kind 1 1 101.00",
                                                   "kind 2 1 102.00" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "nothing found has no facets"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "empty", after = 10 }

by(100)   { expect_reply = { status = 200, found = 0, facets = {} } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
