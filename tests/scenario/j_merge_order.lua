-- The order of arrival leaves no trace in the reply.

local forward = { a = 10, b = 60, c = 110 }
local backward = { a = 110, b = 60, c = 10 }

for _, order in ipairs({ forward, backward }) do
  scenario(order == forward and "offers are in the order of price when the cheap one comes first"
    or "offers are in the order of price when the cheap one comes last")

  at(0)   { search = { budget = 2000 } }
  at(0)   { supplier = "a", answers = "offers_3", after = order.a, cheapest = 100 }
  at(0)   { supplier = "b", answers = "offers_3", after = order.b, cheapest = 101 }
  at(0)   { supplier = "c", answers = "offers_3", after = order.c, cheapest = 102 }

  by(200) { expect_reply = { order = { "a:0", "a:1", "b:0", "a:2", "b:1", "c:0", "b:2", "c:1", "c:2" } } }
  finally { references = 0, memory = 0, fetches = 0, timers = 0 }
end

for _, order in ipairs({ forward, backward }) do
  scenario(order == forward and "equal prices go by item, then by supplier"
    or "equal prices go by item, then by supplier, in whatever order they came")

  at(0)   { search = { budget = 2000 } }
  at(0)   { supplier = "a", answers = "offers_1", after = order.a, item = "z" }
  at(0)   { supplier = "b", answers = "offers_1", after = order.b, item = "y" }
  at(0)   { supplier = "c", answers = "offers_1", after = order.c, item = "y" }

  by(200) { expect_reply = { order = { "b:0", "c:0", "a:0" } } }
  finally { references = 0, memory = 0, fetches = 0, timers = 0 }
end

scenario "parts of one supplier are merged like those of many"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 90, from = 2 } },
                                      { { answers = "offers_2", after = 30 } } } }
at(0)     { supplier = "b", answers = "offers_4", after = 60 }

by(200)   { expect_reply = { order = { "a:0", "b:0", "a:1", "b:1", "a:2", "b:2", "a:3", "b:3" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
