-- For tests: repeats its secret where scripts should not, in the place and spelling that its options name.

local SPELLINGS = {
  plain = function(secret)
    return secret
  end,
  url = url.encode,
  hex = crypto.hex,
  upper_hex = function(secret)
    return crypto.hex(secret):upper()
  end,
  base64 = function(secret)
    return crypto.base64("user:" .. secret .. "!")
  end,
  json = function(secret)
    return json.encode({ key = secret })
  end,
}

local function told(ctx)
  return ("x"):rep(ctx.options.pad) .. "<<" .. SPELLINGS[ctx.options.spelling](ctx.secret.LEAKY_SECRET) .. ">>"
end

local BUILDS = {
  error = function(ctx)
    error("no request with " .. told(ctx))
  end,
  fail = function(ctx)
    return fail.auth("no request with " .. told(ctx))
  end,
  host = function(ctx)
    return { url = "http://elsewhere.example/" .. told(ctx) }
  end,
  field = function(ctx)
    return { [told(ctx)] = 1, path = "/v1/offers" }
  end,
}

local ANSWERS = {
  error = function(ctx)
    error("no answer with " .. told(ctx))
  end,
  supplier = function(ctx)
    return fail.supplier({ code = told(ctx), message = "it says " .. told(ctx) })
  end,
  auth = function(ctx)
    return fail.auth("it says " .. told(ctx))
  end,
  unexpected = function(ctx)
    return fail.unexpected(told(ctx))
  end,
  warning = function(ctx)
    return {}, { warnings = { "beware of " .. told(ctx) } }
  end,
  dropped = function(ctx)
    local price = { total = told(ctx), currency = "EUR", taxes_included = "yes" }
    return { { id = "1", hotel_id = "X", board = "room_only", pay = "now", room = "one", price = price } }
  end,
  field = function(ctx)
    return { { id = "1", [told(ctx)] = 1 } }
  end,
  quota = function(ctx)
    return {}, { quota = { [told(ctx)] = 1 } }
  end,
  log = function(ctx)
    log.warning("noted " .. told(ctx))
    return {}
  end,
  place = function(ctx)
    local _, why = time.local_at("2030-05-12T10:00:00Z", told(ctx))
    error(why)
  end,
}

---@type Supplier
return {
  name = "leaky",
  product = "hotels",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  secrets = { "LEAKY_SECRET" },
  options = { base_url = "http://s01.farm.test:8080", build = "", answer = "", spelling = "plain", pad = 0 },

  build_request = function(_, ctx)
    local build = BUILDS[ctx.options.build]
    if build then
      return build(ctx)
    end
    return { -- any answer will do; the secret goes where secrets go
      method = "POST",
      path = "/v1/offers",
      query = { key = ctx.secret.LEAKY_SECRET },
      headers = { authorization = "Basic " .. crypto.base64("user:" .. ctx.secret.LEAKY_SECRET) },
      json = {
        key = ctx.secret.LEAKY_SECRET,
        trip = { { from = "LHR", to = "JFK", date = "2030-05-12" } },
        travellers = { adults = 1 },
        cabin = "economy",
        currency = "EUR",
        timeout_ms = 1000,
      },
    }
  end,

  normalise = function(_, _, ctx)
    return ANSWERS[ctx.options.answer](ctx)
  end,
}
