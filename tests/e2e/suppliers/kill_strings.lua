-- For the kill matrix: doubles a string for ever.
---@type Supplier
return {
  name = "kill_strings",
  product = "flights",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, _)
    return { method = "POST", path = "/search", json = search.query }
  end,

  normalise = function(_, _, _)
    local text = "lastcall"
    for _ = 1, 60 do
      text = text .. text
    end
    log.debug(#text)
    return {}
  end,
}
