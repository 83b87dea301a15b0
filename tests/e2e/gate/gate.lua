-- For tests of accounts' identities: asks the gate, and tells in its offer whom that took us for, on which connection.
---@type Supplier
return {
  name = "gate",
  product = "hotels",
  owner = "tests@example.com",
  docs = "https://example.com",
  hosts = {},
  options = { base_url = "http://127.0.0.1:1" },

  build_request = function(_, _)
    return { method = "POST", path = "/rates", json = { any = "thing" } }
  end,

  normalise = function(response, _, _)
    local body = response:json()
    local price = { total = "9.00", currency = "EUR", taxes_included = "yes" }
    return {
      {
        id = "1", hotel_id = "X", board = "room_only", pay = "now", price = price,
        room = ("%s on %d"):format(body.client, body.connection),
      },
    }
  end,
}
