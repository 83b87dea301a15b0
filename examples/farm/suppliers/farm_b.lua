-- The farm's second shape: flat lists of legs, journeys and fares that point at each other by id, money as text.

local farm = require("farm")

local cabin_letters = { economy = "Y", premium = "W", business = "C", first = "F" }
local passenger_codes = { adult = "ADT", child = "CHD", infant_lap = "INF", infant_seat = "INS" }
local passenger_order = { "adult", "child", "infant_lap", "infant_seat" }

local function passengers(travellers)
  local counts = {}
  for _, traveller in ipairs(travellers) do
    counts[traveller.type] = (counts[traveller.type] or 0) + 1
  end
  local words = {}
  for _, kind in ipairs(passenger_order) do
    if counts[kind] then
      words[#words + 1] = counts[kind] .. passenger_codes[kind]
    end
  end
  return table.concat(words)
end

local function pieces(text)
  return text and tonumber(text:match("^(%d+)PC$"))
end

local function is_allowed(word)
  return word ~= "NO"
end

---@type Supplier
return {
  name = "farm_b",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s02.farm.test:8080" },
  limits = { body = "1MiB" },

  -- Always worth the wait: only the budget ends it.
  ceiling = function()
    return 10000
  end,

  build_request = function(search)
    local query = search.query
    return {
      method = "POST",
      path = "/search",
      json = {
        od = map(query.slices, function(slice)
          return slice.origin .. "-" .. slice.destination .. "-" .. slice.date
        end),
        pax = passengers(query.travellers),
        class = cabin_letters[query.cabin],
        cur = search.currency,
      },
    }
  end,

  -- A fare names its journeys, a journey its legs.
  normalise = plan {
    each = "fares[]",
    offer = {
      id = "id",
      price = {
        total = money(up(1).cur, "total"),
        taxes = money(up(1).cur, "tax"),
        taxes_included = const "yes",
      },
      slices = {
        each = "journeys[]",
        of = ref("journeys", "id"),
        duration_min = "min",
        segments = {
          each = "legs[]",
          of = ref("legs", "id"),
          carrier = { "flight", function(flight) return flight:sub(1, 2) end },
          number = { "flight", function(flight) return flight:sub(3) end },
          origin = "orig",
          destination = "dest",
          departs = { ["local"] = "dep" },
          arrives = { ["local"] = "arr" },
          duration_min = "min",
          cabin = map("class", { Y = "economy", W = "premium", C = "business", F = "first" }),
        },
      },
      brand = "family",
      bags = { cabin = { "carry_on", pieces }, checked = { "checked", pieces } },
      refundable = { "refund", is_allowed },
      changeable = { "change", is_allowed },
      seats_left = "seats",
    },
    when = farm.refusals("fares"),
  },
}
