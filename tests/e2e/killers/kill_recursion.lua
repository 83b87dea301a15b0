-- For the kill matrix: a function that calls itself through pcall, while it reads an answer.
---@type Supplier
return {
  name = "kill_recursion",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local function again()
      pcall(again)
      pcall(again)
    end
    again()
    return {}
  end,
}
