-- Two parts; the first one polls until the answer says that it is done.
return {
  name = "steps",
  product = "shop",
  owner = "shop@example.com",
  hosts = { "api.steps.example" },
  options = { base_url = "https://api.steps.example" },

  build_request = function()
    return { { path = "/a" }, { path = "/b" } }
  end,

  normalise = function(response, search, ctx)
    local document = response:json()
    local offers = map(document.ids, function(id)
      return {
        id = id,
        thing = search.query.thing,
        price = { total = "1.00", currency = search.currency, taxes_included = "yes" },
      }
    end)
    if document.mistake then
      return offers, { merge = document.mistake }
    end
    if document.done then
      return offers, { merge = "replace", complete = true, warnings = { "slow today", "really" } }
    end
    return offers, {
      complete = false,
      next = {
        after_ms = 250,
        request = { path = "/a/poll", query = { seen = ctx.state and ctx.state.seen or 0 } },
        state = { seen = (ctx.state and ctx.state.seen or 0) + #offers, part = ctx.part, step = ctx.step },
      },
    }
  end,
}
