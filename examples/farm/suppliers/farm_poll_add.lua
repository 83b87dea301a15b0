-- A supplier that is polled and tells what is new: each poll says how many offers were seen, and gets those after them.

local farm = require("farm")

---@type Supplier
return {
  name = "farm_poll_add",
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

  normalise = function(response, _, ctx)
    local body, trouble = farm.document(response, "offers")
    if not body then
      return trouble
    end
    local offers = farm.offers(body)
    if body.status == "complete" then
      return offers
    end
    local seen = (ctx.state and ctx.state.seen or 0) + #body.offers
    return offers, {
      complete = false, -- until a later step says otherwise, or the time is up
      next = {
        after_ms = body.poll_after_ms,
        request = { method = "GET", path = "/v1/searches/" .. body.id, query = { after = seen } },
        state = { seen = seen },
      },
    }
  end,
}
