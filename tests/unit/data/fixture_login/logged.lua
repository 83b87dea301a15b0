-- A supplier that logs in and signs, for the tests of fixtures.

return {
  name = "logged",
  product = "flights",
  owner = "test@example.com",
  hosts = { "api.acme.example" },
  secrets = { "ACME_KEY" },
  options = { base_url = "https://api.acme.example", pages = 1 },

  login = {
    build_request = function(ctx)
      local form = { grant_type = "client_credentials", key = ctx.secret.ACME_KEY }
      return { method = "POST", path = "/token", form = form }
    end,
    read = function(response)
      if response.status == 401 then
        return fail.auth("the key is refused")
      end
      local body = response:json()
      return { value = body.token, expires_in_s = body.expires_in }
    end,
  },

  sign = function(request, ctx)
    local signed = crypto.hmac("sha256", ctx.secret.ACME_KEY, request.method .. " " .. request.url .. " " .. ctx.now.s)
    return { ["X-Signature"] = crypto.hex(signed), ["X-Nonce"] = crypto.uuid() }
  end,

  build_request = function(_, ctx)
    return { path = "/search", headers = { authorization = "Bearer " .. ctx.login } }
  end,

  normalise = function(response, _, ctx)
    if response.status == 401 then
      return fail.login("the token is gone")
    end
    if ctx.step < ctx.options.pages then
      local request = { path = "/page", headers = { authorization = "Bearer " .. ctx.login } }
      return {}, { next = { after_ms = 5000, request = request } }
    end
    return {}
  end,
}
