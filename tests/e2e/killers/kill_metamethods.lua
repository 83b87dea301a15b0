-- For the kill matrix: metamethods that never end, within functions that call them.
---@type Supplier
return {
  name = "kill_metamethods",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local endless = function()
      while true do end
    end
    local meta = { __index = endless, __lt = endless, __tostring = endless }
    pcall(tostring, setmetatable({}, meta))
    pcall(table.sort, { setmetatable({}, meta), setmetatable({}, meta) })
    string.gsub("a", "a", setmetatable({}, meta))
    return {}
  end,
}
