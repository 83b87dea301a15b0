-- For tests of ceilings: how long it is waited for depends on what has come; what is asked does not.
local farm = require("farm")

---@type Supplier
return {
  name = "patient",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = {},
  options = { base_url = "http://s03.farm.test:8080" },
  sells = { trip_types = { "one_way" }, max_party = 2, min_lead_days = 1 },

  -- Nobody waits for it once others have offers, and for ever (which the budget ends) while there are none.
  ceiling = function(_, progress)
    return progress.cheapest and 300 or 60000
  end,

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = farm.offers,
}
