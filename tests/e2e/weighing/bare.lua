-- For tests of patience: nobody says how long it is worth waiting for.
local farm = require("farm")

---@type Supplier
return {
  name = "bare",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = {},
  options = { base_url = "http://s03.farm.test:8080" },
  sells = { trip_types = { "one_way" }, max_party = 2, min_lead_days = 1 },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = farm.offers,
}
