-- A plan for whoever wants it; it has a field that is none.

local offers = plan {
  offer = { id = "id", price = { total = money("c", "t") }, nmae = "x" },
}

return offers
