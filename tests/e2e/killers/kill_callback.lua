-- For the kill matrix: a C function that is called again and again by another one.
---@type Supplier
return {
  name = "kill_callback",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local text = ("x"):rep(1000000)
    local list = {}
    for i = 1, 100000 do
      list[i] = text
    end
    map(list, string.reverse)
    return {}
  end,
}
