-- A supplier whose requests are signed, and which answers in pages: each of them is signed when it is sent.

local farm = require("farm")

local PAGE = { next_cursor = text }

local function page(search, ctx, cursor)
  return { method = "POST", path = "/v1/pages", query = cursor and { cursor = cursor }, json = farm.ask(search, ctx) }
end

-- By key and second alone, or over all that goes out.
local SIGNATURES = {
  sha256 = function(_, key, secret, second)
    return { ["x-api-key"] = key, ["x-signature"] = crypto.hex(crypto.sha256(key .. secret .. second)) }
  end,
  sha512 = function(request, key, secret, second)
    local target = request.url:match("^https?://[^/]+(.*)$")
    local signed = table.concat { key, secret, second, request.method, target, request.body }
    local signature = crypto.hex(crypto.sha512(signed))
    return { authorization = ("FARM key=%s,signature=%s,timestamp=%s"):format(key, signature, second) }
  end,
}

---@type Supplier
return {
  name = "farm_signed",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = { "FARM_SECRET" },
  options = { base_url = "http://s01.farm.test:8080", key = "s01", digest = "sha256" },
  limits = { body = "1MiB" },

  sign = function(request, ctx)
    local second = ("%d"):format(ctx.now.s)
    return SIGNATURES[ctx.options.digest](request, ctx.options.key, ctx.secret.FARM_SECRET, second)
  end,

  build_request = function(search, ctx)
    return page(search, ctx)
  end,

  normalise = function(response, search, ctx)
    local offers = farm.offers(response, search, ctx)
    local cursor = response.status == 200 and response:json(PAGE).next_cursor
    if not cursor then
      return offers
    end
    return offers, { complete = false, next = { request = page(search, ctx, cursor) } }
  end,
}
