-- Items, and how much of them is returned.

scenario "limits are told apart from completeness"

at(0)     { search = { budget = 2000, max_items = 2, max_offers_per_item = 1 } }
at(0)     { supplier = "a", answers = "offers_5", after = 10, item = "i" }
at(0)     { supplier = "b", answers = "offers_5", after = 20, item = "i" }

by(100)   { expect_reply = { complete = true, found = 10, offers = 2, items = 2, order = { "a:0", "a:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the same thing of two suppliers is one item with both offers"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10, item = "i", cheapest = 100 }
at(0)     { supplier = "b", answers = "offers_2", after = 20, item = "i", cheapest = 90 }

by(100)   { expect_reply = { items = 2, offers = 4, order = { "b:0", "b:1", "a:0", "a:1" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the cheapest offer describes its item, whoever came first"

at(0)     { search = { budget = 2000, max_items = 3 } }
at(0)     { supplier = "cheap", answers = "offers_5", after = 300, item = "i", cheapest = 50, odd = true }
at(0)     { supplier = "dear", answers = "offers_5", after = 100, item = "i", cheapest = 100 }

by(400)   { expect_reply = { items = 3, odd_items = { "i0", "i1", "i2" }, found = 10, offers = 6 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "offers beyond an item's share are counted, not returned"

at(0)     { search = { budget = 2000, max_offers_per_item = 2 } }
at(0)     { supplier = "a", answers = "offers_1", after = 10, item = "i", cheapest = 103 }
at(0)     { supplier = "b", answers = "offers_1", after = 20, item = "i", cheapest = 102 }
at(0)     { supplier = "c", answers = "offers_1", after = 30, item = "i", cheapest = 101 }

by(100)   { expect_reply = { items = 1, found = 3, offers = 2, order = { "c:0", "b:0" }, complete = true } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "one item is the least that a reply can hold"

at(0)     { search = { budget = 2000, max_items = 1, max_offers_per_item = 1 } }
at(0)     { supplier = "a", answers = "offers_9", after = 10 }
at(0)     { supplier = "b", answers = "offers_9", after = 20, cheapest = 99 }

by(100)   { expect_reply = { items = 1, found = 18, offers = 1, order = { "b:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
