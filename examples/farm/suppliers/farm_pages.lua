-- A supplier that answers in pages: each but the last has a cursor, with which the next one is asked for.

local farm = require("farm")

local function page(search, ctx, cursor)
  return {
    method = "POST",
    path = "/v1/pages",
    query = cursor and { cursor = cursor },
    json = farm.ask(search, ctx),
  }
end

---@type Supplier
return {
  name = "farm_pages",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s01.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = function(search, ctx)
    return page(search, ctx)
  end,

  normalise = function(response, search, ctx)
    local body, trouble = farm.document(response, "offers")
    if not body then
      return trouble
    end
    local cursor = body.next_cursor
    if not cursor then
      return farm.offers(body)
    end
    return farm.offers(body), { complete = false, next = { request = page(search, ctx, cursor) } }
  end,
}
