-- A healthy supplier.
return {
  name = "good",
  display_name = "Good Things",
  product = "shop",
  owner = "shop@example.com",
  hosts = { "api.good.example", "127.0.0.1:9000" },
  secrets = { "GOOD_KEY" },
  options = { base_url = "https://api.good.example/v1/", size = 3 },
  limits = { body = "64KiB" },

  ceiling = function(search, progress)
    return progress.eligible > 0 and #search.query.list * 40000 or 1
  end,

  build_request = function(search, ctx)
    return {
      path = "/things",
      query = { thing = search.query.thing, size = ctx.options.size },
      headers = { ["X-Key"] = ctx.secret.GOOD_KEY, ["x-day"] = search.day, ["X-Left"] = ctx.remaining_ms },
      json = { things = search.query.list, now = ctx.now.iso, id = search.id },
    }
  end,

  normalise = function(response, search, ctx)
    if response.status == 429 then
      return fail.quota({ retry_after = response.headers["retry-after"] })
    end
    local document = response:json()
    local offers = {}
    for i, thing in ipairs(document.things or {}) do
      offers[i] = {
        id = thing.id,
        thing = search.query.thing,
        price = { total = thing.total, currency = search.currency, taxes_included = "yes" },
      }
    end
    return offers, { complete = ctx.step == 1 }
  end,
}
