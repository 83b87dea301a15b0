-- Flights: what a search for flights asks, and what an offer of one is.

local check = require("check")
local parts = require("parts")

local DEFAULT_CABIN = "economy"

local CABINS = { "economy", "premium", "business", "first" }
local TRIP_TYPES = { "one_way", "return", "multi_city" }
local TRAVELLERS = { "adult", "child", "infant_lap", "infant_seat" }

-- Ages on the day of travel. A child has one: suppliers price a child of two and one of eleven differently.
local AGES = { adult = { 12, 120 }, child = { 2, 17 }, infant_lap = { 0, 1 }, infant_seat = { 0, 1 } }

-- The order of travellers says nothing: adults come first, then by age.
local RANKS = { adult = 1, child = 2, infant_seat = 3, infant_lap = 4 }

local QUERY_FIELDS = parts.join({
  "slices", "travellers", "cabin", "max_stops", "bags", "fare_codes", "loyalty",
}, parts.QUERY_FIELDS)

-- An airport, or a city with several, whose clocks are known.
local function read_airport(c, pointer, value)
  local code = c:pattern(pointer, value, "^%u%u%u$", "an IATA code of three capitals such as LON", true)
  if code and not time.zone(code) then
    c:add(pointer, "unknown_airport", "an airport or a city that is known expected")
  end
  return code
end

local function read_slice(c, pointer, value, earliest)
  local slice = c:object(pointer, value, { "origin", "destination", "date", "flex_days" })
  if not slice then
    return nil
  end
  local read = {
    origin = read_airport(c, pointer .. "/origin", slice.origin),
    destination = read_airport(c, pointer .. "/destination", slice.destination),
    date = c:date(pointer .. "/date", slice.date),
    flex_days = c:integer(pointer .. "/flex_days", slice.flex_days, 0, 3, 0),
  }
  if read.origin and read.origin == read.destination then
    c:add(pointer .. "/destination", "invalid", "the destination is the origin")
  end
  if read.date and read.date < earliest then
    c:add(pointer .. "/date", "in_the_past", "this day is over everywhere")
  end
  return read
end

local function read_slices(c, query, earliest)
  local list = c:list("/query/slices", query.slices, 1, 6)
  local slices = json.array({})
  for i = 1, list and #list or 0 do
    local pointer = check.pointer("/query/slices", i)
    slices[i] = read_slice(c, pointer, list[i], earliest) or {}
    local before = i > 1 and slices[i - 1].date
    if before and slices[i].date and slices[i].date < before then
      c:add(pointer .. "/date", "out_of_order", "the slice before it leaves later")
    end
  end
  return slices
end

local function read_traveller(c, pointer, value)
  local traveller = c:object(pointer, value, { "type", "age" }) or {}
  local kind = c:choice(pointer .. "/type", traveller.type, TRAVELLERS)
  local ages = AGES[kind] or { 0, 120 }
  local read_age = kind == "child" and c.required_integer or c.integer
  return { type = kind, age = read_age(c, pointer .. "/age", traveller.age, ages[1], ages[2]) }
end

local function comes_before(a, b)
  if a.type ~= b.type then
    return RANKS[a.type] < RANKS[b.type]
  end
  return (a.age or -1) < (b.age or -1)
end

local function read_travellers(c, query)
  local list = c:list("/query/travellers", query.travellers, 1, 9)
  local travellers, counts, are_known = json.array({}), { adult = 0, infant_lap = 0 }, true
  for i = 1, list and #list or 0 do
    local traveller = read_traveller(c, check.pointer("/query/travellers", i), list[i])
    travellers[i] = traveller
    are_known = are_known and traveller.type ~= nil
    if traveller.type then
      counts[traveller.type] = (counts[traveller.type] or 0) + 1
    end
  end
  if counts.infant_lap > counts.adult then
    c:add("/query/travellers", "invalid", "each infant on a lap needs an adult")
  end
  if are_known then
    table.sort(travellers, comes_before)
  end
  return travellers
end

local function read_bags(c, query)
  if query.bags == nil then
    return nil
  end
  local bags = c:object("/query/bags", query.bags, { "cabin", "checked" })
  return bags and {
    cabin = c:integer("/query/bags/cabin", bags.cabin, 0, 9, 0),
    checked = c:integer("/query/bags/checked", bags.checked, 0, 9, 0),
  }
end

local function read_fare_codes(c, query)
  local list = c:list("/query/fare_codes", query.fare_codes, 0, 20)
  if not list then
    return nil
  end
  local codes = {}
  for i = 1, #list do
    codes[#codes + 1] = c:text(check.pointer("/query/fare_codes", i), list[i], 1, 40)
  end
  return #codes > 0 and parts.as_set(codes) or nil
end

local function read_loyalty(c, query)
  local list = c:list("/query/loyalty", query.loyalty, 0, 20)
  if not list or #list == 0 then
    return nil
  end
  local programmes = json.array({})
  for i = 1, #list do
    local pointer = check.pointer("/query/loyalty", i)
    local entry = c:object(pointer, list[i], { "carrier", "number" }) or {}
    programmes[i] = {
      carrier = c:pattern(pointer .. "/carrier", entry.carrier, "^[%u%d][%u%d]$", "an IATA code such as QF", true),
      number = c:pattern(pointer .. "/number", entry.number, "^[%w]+$", "a membership number", true),
    }
  end
  return programmes
end

local function trip_type(slices)
  if #slices == 1 then
    return "one_way"
  end
  local out, back = slices[1], slices[2]
  if #slices == 2 and out.origin == back.destination and out.destination == back.origin then
    return "return"
  end
  return "multi_city"
end

local function derive(search, arrival)
  local slices = search.query.slices
  local first, last = slices[1].date, slices[#slices].date
  search.trip_type = trip_type(slices)
  search.cabin = search.query.cabin
  search.lead_days = parts.lead_days(arrival, first)
  search.party = #search.query.travellers
  search.weekend = time.weekday(first) >= 6
  if search.trip_type ~= "one_way" then
    search.nights = time.days_between(first, last)
  end
  search.private = (search.query.loyalty or search.query.fare_codes) and true or nil
  return search
end

--- Validates the request; `arrival` is {s, ms, iso}. A search with its derived facts, or nil and every mistake.
local function query(request, arrival)
  local c = check.new()
  local asked = c:object("/query", request.query, QUERY_FIELDS)
  if not asked then
    return nil, c.errors
  end
  local earliest = parts.earliest(arrival)
  local search = parts.read(c, "flights", asked)
  search.query = {
    slices = read_slices(c, asked, earliest),
    travellers = read_travellers(c, asked),
    cabin = c:choice("/query/cabin", asked.cabin, CABINS, DEFAULT_CABIN),
    max_stops = c:integer("/query/max_stops", asked.max_stops, 0, 5),
    bags = read_bags(c, asked),
    fare_codes = read_fare_codes(c, asked),
    loyalty = read_loyalty(c, asked),
  }
  if #c.errors > 0 then
    return nil, c.errors
  end
  return derive(search, arrival)
end

local place_and_time = {
  { "local", "local_time", required = true, key = true },
  { "zone", "text", max = 64 },
  { "utc", "utc_time" },
}

local arrival_time = {
  { "local", "local_time", required = true },
  { "zone", "text", max = 64 },
  { "utc", "utc_time" },
}

-- The cabin belongs to the item's identity: business and economy of one flight are two things to buy.
local segment = {
  { "carrier", "text", required = true, key = true, max = 3, facet = "carriers" },
  { "operating", "text", max = 3 },
  { "number", "text", required = true, key = true, max = 8, trim_zeros = true },
  { "origin", "text", required = true, key = true, min = 3, max = 3 },
  { "destination", "text", required = true, key = true, min = 3, max = 3 },
  { "departs", place_and_time, required = true, at = "origin" },
  { "arrives", arrival_time, required = true, at = "destination" },
  { "duration_min", "integer", max = 5000, elapsed = true },
  { "cabin", "enum", values = CABINS, key = true },
}

-- An entry for each traveller, with what that one pays.
local per_traveller = {
  { "type", "enum", values = TRAVELLERS, required = true },
  { "total", "money", required = true },
  { "currency", "currency", required = true },
}

local offer = {
  parts.ID,
  parts.SELLER,
  parts.price(per_traveller),
  parts.EXPIRES_AT,
  { "slices", "list", item = true, required = true, min = 1, max = 6, of = {
    { "duration_min", "integer", max = 10000, adds_duration = true, elapsed = true },
    { "segments", "list", of = segment, required = true, min = 1, max = 12, facet = "stops", facet_less = 1 },
  } },
  { "brand", "text", max = 100 },
  { "bags", { { "cabin", "integer", max = 20 }, { "checked", "integer", max = 20 } } },
  { "refundable", "flag" },
  { "changeable", "flag" },
  { "seats_left", "integer", max = 999 },
  parts.REF,
  parts.HANDOFF,
}

---@type Product
return {
  name = "flights",
  item_prefix = "fl",
  key = parts.KEY,
  segments = parts.segments({ cabin = CABINS, trip_type = TRIP_TYPES }),
  offer = offer,
  query = query,
  example = {
    slices = {
      { origin = "LHR", destination = "JFK", date = "2026-05-14" },
      { origin = "JFK", destination = "LHR", date = "2026-05-21" },
    },
    travellers = { { type = "adult" }, { type = "child", age = 9 } },
    market = "GB",
  },
}
