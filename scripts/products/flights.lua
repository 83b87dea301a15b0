-- Flights: what a search for flights asks, and what an offer of one is.

local check = require("check")

local DEFAULT_CURRENCY = "EUR"
local DEFAULT_LOCALE = "en"
local DEFAULT_DEVICE = "desktop"
local DEFAULT_CABIN = "economy"

local CABINS = { "economy", "premium", "business", "first" }
local TRAVELLERS = { "adult", "child", "infant_lap", "infant_seat" }
local DEVICES = { "mobile", "desktop", "app" }

-- Ages on the day of travel; a child without an age is priced by its type.
local AGES = { adult = { 12, 120 }, child = { 2, 17 }, infant_lap = { 0, 1 }, infant_seat = { 0, 1 } }

local QUERY_FIELDS = {
  "slices", "travellers", "cabin", "max_stops", "bags", "fare_codes", "loyalty",
  "market", "locale", "currency", "device", "client",
}

local function read_slice(c, pointer, value, earliest)
  local slice = c:object(pointer, value, { "origin", "destination", "date", "flex_days" })
  if not slice then
    return nil
  end
  local what = "an IATA code of three capitals such as LON"
  local read = {
    origin = c:pattern(pointer .. "/origin", slice.origin, "^%u%u%u$", what, true),
    destination = c:pattern(pointer .. "/destination", slice.destination, "^%u%u%u$", what, true),
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

local function read_travellers(c, query)
  local list = c:list("/query/travellers", query.travellers, 1, 9)
  local travellers, laps, adults = json.array({}), 0, 0
  for i = 1, list and #list or 0 do
    local pointer = check.pointer("/query/travellers", i)
    local traveller = c:object(pointer, list[i], { "type", "age" }) or {}
    local kind = c:choice(pointer .. "/type", traveller.type, TRAVELLERS)
    local ages = AGES[kind] or { 0, 120 }
    travellers[i] = { type = kind, age = c:integer(pointer .. "/age", traveller.age, ages[1], ages[2]) }
    laps = laps + (kind == "infant_lap" and 1 or 0)
    adults = adults + (kind == "adult" and 1 or 0)
  end
  if laps > adults then
    c:add("/query/travellers", "invalid", "each infant on a lap needs an adult")
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
  local codes = json.array({})
  for i = 1, #list do
    codes[i] = c:text(check.pointer("/query/fare_codes", i), list[i], 1, 40)
  end
  return codes
end

local function read_loyalty(c, query)
  local list = c:list("/query/loyalty", query.loyalty, 0, 20)
  if not list then
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

-- Who asks is checked but goes no further: only scripts that declare `wants = { "client" }` may see it.
local function check_client(c, query)
  if query.client ~= nil then
    local client = c:object("/query/client", query.client, { "ip", "user_agent" })
    if client then
      c:pattern("/query/client/ip", client.ip, "^[%x:.]+$", "an IP address", false)
      c:text("/query/client/user_agent", client.user_agent, 1, 500)
    end
  end
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
  search.lead_days = math.max(0, time.days_between(time.date(arrival.iso), first))
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
  -- A day is over when it is over at UTC-12, where it ends last.
  local earliest = time.date(time.iso(arrival.s - 12 * 3600))
  check_client(c, asked)
  local search = {
    product = "flights",
    market = c:country("/query/market", asked.market),
    locale = c:pattern("/query/locale", asked.locale, "^%a%a%a?[%w-]*$", "a language tag such as en-GB", false)
      or DEFAULT_LOCALE,
    currency = c:currency("/query/currency", asked.currency, DEFAULT_CURRENCY),
    device = c:choice("/query/device", asked.device, DEVICES, DEFAULT_DEVICE),
    query = {
      slices = read_slices(c, asked, earliest),
      travellers = read_travellers(c, asked),
      cabin = c:choice("/query/cabin", asked.cabin, CABINS, DEFAULT_CABIN),
      max_stops = c:integer("/query/max_stops", asked.max_stops, 0, 5),
      bags = read_bags(c, asked),
      fare_codes = read_fare_codes(c, asked),
      loyalty = read_loyalty(c, asked),
    },
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
  { "carrier", "text", required = true, key = true, max = 3 },
  { "operating", "text", max = 3 },
  { "number", "text", required = true, key = true, max = 8, trim_zeros = true },
  { "origin", "text", required = true, key = true, min = 3, max = 3 },
  { "destination", "text", required = true, key = true, min = 3, max = 3 },
  { "departs", place_and_time, required = true },
  { "arrives", arrival_time, required = true },
  { "duration_min", "integer", max = 5000 },
  { "cabin", "enum", values = CABINS, key = true },
}

local due_later = {
  { "kind", "text", required = true, max = 40 },
  { "amount", "money", required = true },
  { "currency", "currency", required = true },
}

local per_traveller = {
  { "type", "enum", values = TRAVELLERS, required = true },
  { "total", "money", required = true },
  { "currency", "currency", required = true },
}

local offer = {
  { "id", "text", required = true, max = 256 },
  { "seller", { { "id", "text", max = 64 }, { "name", "text", max = 128 } } },
  { "price", {
    { "total", "money", required = true },
    { "currency", "currency", required = true },
    { "base", "money" },
    { "taxes", "money" },
    { "taxes_included", "enum", values = { "yes", "no", "unknown" } },
    { "due_later", "list", of = due_later, max = 20 },
    { "per_traveller", "list", of = per_traveller, max = 9 },
  }, required = true },
  { "expires_at", "utc_time" },
  { "slices", "list", item = true, required = true, min = 1, max = 6, of = {
    { "duration_min", "integer", max = 10000, adds_duration = true },
    { "segments", "list", of = segment, required = true, min = 1, max = 12 },
  } },
  { "brand", "text", max = 100 },
  { "bags", { { "cabin", "integer", max = 20 }, { "checked", "integer", max = 20 } } },
  { "refundable", "flag" },
  { "changeable", "flag" },
  { "seats_left", "integer", max = 999 },
  { "ref", "text", max = 1024, hidden = true },
  { "handoff", { { "url", "text", max = 2000 }, { "ref", "text", max = 500 } }, hidden = true },
}

---@type Product
return {
  name = "flights",
  item_prefix = "fl",
  offer = offer,
  query = query,
}
