-- The farm's first shape, of a supplier that can be asked again for what it offered. Half of its references are too
-- long for a token, so that another engine finds them in the shared store only.

local farm = require("farm")

local function reference(offer)
  return #offer.brand % 2 == 0 and offer.id or offer.id .. (" "):rep(2000)
end

-- The price of the offer now; nil: it is not sold any more.
local function price_of(response, id)
  local body = response:json {
    currency = text,
    offers = { { id = text, price = { total = decimal, scale = integer } } },
  }
  local found = first(body.offers or {}, function(offer)
    return offer.id == id
  end)
  return found and money.scaled(found.price.total, found.price.scale, body.currency), body.currency
end

---@type Supplier
return {
  name = "farm_booked",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = plan {
    each = "offers[]",
    offer = {
      id = "id",
      price = { total = money(up(1).currency, "price.total", "price.scale"), taxes_included = const "yes" },
      slices = {
        each = "slices[]",
        duration_min = "minutes",
        segments = {
          each = "segments[]",
          carrier = "carrier",
          number = "number",
          origin = "from",
          destination = "to",
          departs = { ["local"] = "departs" },
          arrives = { ["local"] = "arrives" },
          duration_min = "minutes",
          cabin = up(2).cabin,
        },
      },
      brand = "brand",
      ref = reference,
      handoff = {
        url = function(offer)
          return "https://book.example/" .. offer.id
        end,
      },
    },
    when = farm.refusals("offers"),
  },

  revalidate = {
    build_request = function(offer, ctx)
      local search = { query = offer.query, currency = offer.price.currency }
      return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
    end,
    read = function(response, offer)
      local total, currency = price_of(response, offer.id)
      if not total then
        return { status = "sold_out" }
      end
      assert(offer.ref:gsub(" +$", "") == offer.id, "the reference is another one")
      return { status = "confirmed", now = { total = total, currency = currency } }
    end,
  },
}
