-- The farm's second shape: flat lists of legs, journeys and fares that point at each other by id, money as text.

local farm = require("farm")

local cabin_letters = { economy = "Y", premium = "W", business = "C", first = "F" }
local cabins = { Y = "economy", W = "premium", C = "business", F = "first" }
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

local function by_id(list)
  local index = {}
  for _, entry in ipairs(list) do
    index[entry.id] = entry
  end
  return index
end

local function read_leg(leg)
  return {
    carrier = leg.flight:sub(1, 2),
    number = leg.flight:sub(3),
    origin = leg.orig,
    destination = leg.dest,
    departs = { ["local"] = time.local_time(leg.dep) },
    arrives = { ["local"] = time.local_time(leg.arr) },
    duration_min = leg.min,
    cabin = cabins[leg.class],
  }
end

local function pieces(text)
  return tonumber(text:match("^(%d+)PC$"))
end

local function read_fare(fare, journeys, legs, currency)
  return {
    id = fare.id,
    price = {
      total = money.parse(fare.total, currency),
      taxes = money.parse(fare.tax, currency),
      currency = currency,
      taxes_included = "yes",
    },
    slices = map(fare.journeys, function(id)
      return {
        duration_min = journeys[id].min,
        segments = map(journeys[id].legs, function(leg)
          return legs[leg]
        end),
      }
    end),
    brand = fare.family,
    bags = { cabin = pieces(fare.carry_on), checked = pieces(fare.checked) },
    refundable = fare.refund ~= "NO",
    changeable = fare.change ~= "NO",
    seats_left = fare.seats,
  }
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

  normalise = function(response)
    local body, trouble = farm.document(response, "fares")
    if not body then
      return trouble
    end
    local journeys, legs = by_id(body.journeys), {}
    for _, leg in ipairs(body.legs) do
      legs[leg.id] = read_leg(leg)
    end
    return map(body.fares, function(fare)
      return read_fare(fare, journeys, legs, body.cur)
    end)
  end,
}
