-- A supplier that is polled and tells its whole list each time: what a later poll leaves out is sold.

local farm = require("farm")

local POLL = { status = text, id = text, poll_after_ms = integer }

---@type Supplier
return {
  name = "farm_poll_replace",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s01.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/searches", json = farm.ask(search, ctx) }
  end,

  normalise = function(response, search, ctx)
    local offers = farm.offers(response, search, ctx)
    if response.status ~= 200 then
      return offers
    end
    local body, details = response:json(POLL), { merge = "replace" }
    if body.status ~= "complete" then
      details.complete = false
      details.next = {
        after_ms = body.poll_after_ms,
        request = { method = "GET", path = "/v1/searches/" .. body.id },
      }
    end
    return offers, details
  end,
}
