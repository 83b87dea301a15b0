-- For the kill matrix: loops for ever while it reads an answer.
---@type Supplier
return {
  name = "kill_loop",
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
      local _ = 1
    end
  end,
}
