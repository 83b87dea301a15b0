-- Takes a 503 for a refusal of its credentials, so that the farm's faults can refuse them.

local farm = require("farm")

---@type Supplier
return {
  name = "refusing",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  secrets = { "REFUSING_KEY" },
  options = { base_url = "http://s01.farm.test:8080", user = "one" },

  build_request = function(search, ctx)
    return {
      method = "POST",
      path = "/v1/offers",
      headers = { ["x-key"] = ctx.secret.REFUSING_KEY },
      json = farm.ask(search, ctx),
    }
  end,

  normalise = function(response, search, ctx)
    if response.status == 503 then
      return fail.auth("this key is unknown")
    end
    return farm.offers(response, search, ctx)
  end,
}
