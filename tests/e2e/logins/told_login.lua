-- Tells its login wherever it can: in an error, in a warning, in the log. None of it may come out.

local farm = require("farm")

---@type Supplier
return {
  name = "told_login",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  secrets = { "FARM_SECRET" },
  options = { base_url = "http://s01.farm.test:8080", user = "s01", tells = "error" },

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
    read = function(response)
      return { value = { token = response:json { access_token = text }.access_token } }
    end,
  },

  build_request = function(search, ctx)
    return {
      method = "POST",
      path = "/v1/offers",
      headers = { authorization = "Bearer " .. ctx.login.token },
      json = farm.ask(search, ctx),
    }
  end,

  normalise = function(response, search, ctx)
    log.info("the token is " .. ctx.login.token)
    if ctx.options.tells == "error" then
      error("the token was " .. ctx.login.token)
    elseif ctx.options.tells == "fail" then
      return fail.supplier { code = ctx.login.token, message = "no offers for " .. ctx.login.token }
    end
    return farm.offers(response, search, ctx), { warnings = { "asked with " .. ctx.login.token } }
  end,
}
