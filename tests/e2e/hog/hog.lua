-- For the share of the processor: reads every answer with forty milliseconds of work or so, and finds nothing in it.

local farm = require("farm")

---@type Supplier
return {
  name = "hog",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = {},
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = function()
    local sum = 0
    for i = 1, 6e6 do
      sum = (sum + i) % 1000
    end
    return {}
  end,
}
