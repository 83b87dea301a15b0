-- A supplier with four sources, each asked for itself and at the same time. A source that is down costs its own offers.

local farm = require("farm")

local SOURCES = { 1, 2, 3, 4 }

---@type Supplier
return {
  name = "farm_parts",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s01.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = function(search, ctx)
    local body = farm.ask(search, ctx)
    return map(SOURCES, function(source)
      return { method = "POST", path = "/v1/sources/" .. source, json = body }
    end)
  end,

  normalise = farm.offers,
}
