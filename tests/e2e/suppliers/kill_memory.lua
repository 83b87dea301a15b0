-- For the kill matrix: grows a table for ever.
---@type Supplier
return {
  name = "kill_memory",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local list = {}
    for i = 1, math.huge do
      list[i] = { i, tostring(i) }
    end
    return {}
  end,
}
