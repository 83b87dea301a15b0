-- Keeps a script worker busy for some milliseconds with each answer.

local farm = require("farm")

local function toil(times)
  local sum = 0
  for number = 1, times do
    sum = (sum + number * number) % 1000003
  end
  return sum
end

---@type Supplier
return {
  name = "heavy",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s05.farm.test:8080" },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = function(response, search, ctx)
    toil(400000)
    return farm.offers(response, search, ctx)
  end,
}
