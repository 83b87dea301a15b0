-- A supplier with sessions, which is polled: it does not say when a session ends, and each poll has to show it. One
-- that ends between two polls is opened anew, and the poll asked once more.

local farm = require("farm")

local POLL = { status = text, id = text, poll_after_ms = integer, offers = { { id = text } } }

---@type Supplier
return {
  name = "farm_session",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = { "FARM_SECRET" },
  options = { base_url = "http://s01.farm.test:8080", user = "s01" },
  limits = { body = "1MiB" },

  login = {
    build_request = function(ctx)
      return {
        method = "POST",
        path = "/v1/sessions",
        json = { user = ctx.options.user, password = ctx.secret.FARM_SECRET },
      }
    end,

    read = function(response, ctx)
      local opened = response:json { session = text }
      return { value = { session = opened.session, opened_at = ctx.now.iso } }
    end,
  },

  -- The session is shown by `sign`, so that every request has it that knows of one.
  sign = function(_, ctx)
    return ctx.login and { ["x-session"] = ctx.login.session }
  end,

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
      complete = false,
      next = {
        after_ms = body.poll_after_ms,
        request = { method = "GET", path = "/v1/searches/" .. body.id, query = { after = seen } },
        state = { seen = seen },
      },
    }
  end,
}
