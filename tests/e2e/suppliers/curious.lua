-- For tests of products: tells in its offer who asks, as far as it may see that.
---@type Supplier
return {
  name = "curious",
  product = "hotels",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },
  wants = { "client" },

  build_request = function(_, _)
    return { -- any answer will do
      method = "POST",
      path = "/v1/offers",
      json = {
        trip = { { from = "LHR", to = "JFK", date = "2030-05-12" } },
        travellers = { adult = 1 },
        cabin = "economy",
        currency = "EUR",
        timeout_ms = 1000,
      },
    }
  end,

  normalise = function(_, search, _)
    return {
      {
        id = "1", hotel_id = "X", board = "room_only", pay = "now", room = get(search, "client", "ip") or "nobody",
        price = { total = "9000.00", currency = "EUR", taxes_included = "yes" },
      },
    }
  end,
}
