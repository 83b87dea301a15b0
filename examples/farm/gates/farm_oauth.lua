-- A supplier behind OAuth 2: client credentials for a token, which every request then shows.

local farm = require("farm")

---@type Supplier
return {
  name = "farm_oauth",
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
        path = "/oauth/token",
        form = {
          grant_type = "client_credentials",
          client_id = ctx.options.user,
          client_secret = ctx.secret.FARM_SECRET,
        },
      }
    end,

    -- Without a token in it the status decides: 401 is rejected, a 5xx has failed.
    read = function(response)
      local granted = response:json { access_token = text, expires_in = raw }
      return { value = granted.access_token, expires_in_s = tonumber(granted.expires_in) }
    end,
  },

  build_request = function(search, ctx)
    return {
      method = "POST",
      path = "/v1/offers",
      headers = { authorization = "Bearer " .. ctx.login },
      json = farm.ask(search, ctx),
    }
  end,

  normalise = farm.offers,
}
