-- A supplier that answers in pages: each but the last has a cursor, with which the next one is asked for.

local farm = require("farm")

local PAGE = { next_cursor = text }

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
    local offers = farm.offers(response, search, ctx)
    local cursor = response.status == 200 and response:json(PAGE).next_cursor
    if not cursor then
      return offers
    end
    return offers, { complete = false, next = { request = page(search, ctx, cursor) } }
  end,
}
