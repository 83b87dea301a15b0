-- For the kill matrix: a pattern that takes for ever, while it reads an answer.
---@type Supplier
return {
  name = "kill_bomb",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local found = string.find(("a"):rep(60), ("a*"):rep(60) .. "b")
    log.debug(found)
    return {}
  end,
}
