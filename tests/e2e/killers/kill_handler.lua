-- For the kill matrix: a handler of xpcall that never ends, while it builds its request.
---@type Supplier
return {
  name = "kill_handler",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    xpcall(error, function()
      while true do end
    end)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
