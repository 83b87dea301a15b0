-- The farm's first shape: everything in one answer, offers nested, money in hundredths, times with their offset.

local farm = require("farm")

---@type Supplier
return {
  name = "farm_a",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s01.farm.test:8080" },
  limits = { body = "1MiB" },

  -- The first offers are worth the wait; once many are in, a slow answer seldom changes the head of the list.
  ceiling = function(_, progress)
    return progress.offers >= 600 and 1500 or 1900
  end,

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = farm.offers,
}
