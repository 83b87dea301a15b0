-- For the kill matrix: a pattern that takes for ever, caught by pcall again and again.
---@type Supplier
return {
  name = "kill_caught_bomb",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    while true do
      pcall(string.gsub, ("a"):rep(60), ("a*"):rep(60) .. "b", "")
    end
    return {}
  end,
}
