-- For tests of products: offers what its option says, whatever its farm answers. Several play it by `uses`.
---@type Supplier
return {
  name = "told",
  product = "hotels",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080", offers = "[]" },

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

  normalise = function(_, _, ctx)
    return json.decode(ctx.options.offers)
  end,
}
