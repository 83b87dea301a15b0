-- For the kill matrix: texts that take for ever to compare, inside a C function.
---@type Supplier
return {
  name = "kill_sort",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local one, two = ("x"):rep(1000000) .. "1", ("x"):rep(1000000) .. "2"
    local list = {}
    for i = 1, 20000 do
      list[i] = i % 3 == 0 and one or two
    end
    table.sort(list)
    return {}
  end,
}
