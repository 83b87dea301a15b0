-- For the kill matrix: loops for ever behind pcall while it builds its request.
---@type Supplier
return {
  name = "kill_pcall",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(_, _)
    while true do
      pcall(function()
        while true do
          local _ = 1
        end
      end)
    end
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
