-- For tests of patience: its ceiling is what is known of it, weighed; 15 s while nothing is.
local farm = require("farm")

---@type Supplier
return {
  name = "weighing",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = {},
  options = { base_url = "http://s05.farm.test:8080" },
  sells = { trip_types = { "one_way" }, max_party = 2, min_lead_days = 1 },

  ceiling = function(_, progress)
    if not progress.latency then
      return 15000
    end
    local longest = progress.worth_waiting { value = 10, delay_cost = 40 }
    return longest and longest + 1000 * (progress.chance(60000) or 0) or 15000
  end,

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = farm.offers,
}
