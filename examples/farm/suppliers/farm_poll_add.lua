-- A supplier that is polled and tells what is new: each poll says how many offers were seen, and gets those after them.

local farm = require("farm")

local POLL = { status = text, id = text, poll_after_ms = integer, offers = { { id = text } } }

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

  normalise = function(response, search, ctx)
    local offers = farm.offers(response, search, ctx)
    local body = response.status == 200 and response:json(POLL)
    if not body or body.status == "complete" then
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
