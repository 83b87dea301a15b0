-- A supplier that is polled and tells its whole list each time: what a later poll leaves out is sold.

local farm = require("farm")

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

  normalise = function(response)
    local body, trouble = farm.document(response, "offers")
    if not body then
      return trouble
    end
    local details = { merge = "replace" }
    if body.status ~= "complete" then
      details.complete = false
      details.next = {
        after_ms = body.poll_after_ms,
        request = { method = "GET", path = "/v1/searches/" .. body.id },
      }
    end
    return farm.offers(body), details
  end,
}
