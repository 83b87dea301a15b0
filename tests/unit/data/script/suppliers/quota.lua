-- Says of its quota what the answer says.
return {
  name = "quota",
  product = "shop",
  owner = "shop@example.com",
  hosts = { "api.quota.example" },
  options = { base_url = "https://api.quota.example" },
  limits = { rps = 40, per_minute = 1000, per_day = 50000, concurrent = 64 },

  build_request = function()
    return { path = "/a" }
  end,

  normalise = function(response, search)
    local document = response:json()
    if document.fail then
      return fail.quota({ retry_after = document.retry_after })
    end
    local offers = {
      { id = "a", thing = search.query.thing, price = { total = "1.00", currency = "EUR", taxes_included = "yes" } },
    }
    return document.is_empty and {} or offers, { quota = document.quota, next = document.next }
  end,
}
