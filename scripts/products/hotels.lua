-- Hotels: what a search for hotels asks, and what an offer of one is.

local check = require("check")
local parts = require("parts")

local NIGHTS_MAX = 99
local HOTELS_MAX = 200
local GUESTS_MAX = 9 -- adults of a room, and its children

local BOARDS = { "room_only", "breakfast", "half_board", "full_board", "all_inclusive" }
local PAYS = { "now", "at_property" }

local QUERY_FIELDS = parts.join({ "place", "check_in", "check_out", "rooms", "residency" }, parts.QUERY_FIELDS)

-- ---- the query -------------------------------------------------------------------------------------------------

local function read_geo(c, place)
  local geo = c:object("/query/place/geo", place.geo, { "lat", "lon" })
  return geo and {
    lat = c:number("/query/place/geo/lat", geo.lat, -90, 90, true),
    lon = c:number("/query/place/geo/lon", geo.lon, -180, 180, true),
  }
end

local function read_hotels(c, place)
  local list = c:list("/query/place/hotels", place.hotels, 1, HOTELS_MAX)
  local hotels = {}
  for i = 1, list and #list or 0 do
    hotels[#hotels + 1] = c:pattern(check.pointer("/query/place/hotels", i), list[i], "^[%w_.-]+$",
      "a hotel's id of letters, digits and _.-", true)
  end
  return parts.as_set(hotels)
end

-- One way to say where, and one only.
local function read_place(c, query)
  local place = c:object("/query/place", query.place, { "city", "geo", "radius_km", "hotels" })
  if not place then
    return nil
  end
  local ways = (place.city ~= nil and 1 or 0) + (place.geo ~= nil and 1 or 0) + (place.hotels ~= nil and 1 or 0)
  if ways ~= 1 then
    c:add("/query/place", ways == 0 and "required" or "ambiguous",
      "exactly one of city, geo (with radius_km) and hotels is required here")
  end
  local read = {}
  if place.city ~= nil then
    read.city = c:pattern("/query/place/city", place.city, "^[%w_.-]+$", "a city's code such as LON", true)
  end
  if place.geo ~= nil then
    read.geo = read_geo(c, place)
    read.radius_km = c:number("/query/place/radius_km", place.radius_km, 0.1, 100, true)
  elseif place.radius_km ~= nil then
    c:add("/query/place/radius_km", "invalid", "a radius needs geo")
  end
  if place.hotels ~= nil then
    read.hotels = read_hotels(c, place)
  end
  return read
end

local function read_room(c, pointer, value)
  local room = c:object(pointer, value, { "adults", "child_ages" })
  if not room then
    return {}
  end
  local list = c:list(pointer .. "/child_ages", room.child_ages, 0, GUESTS_MAX)
  local ages = json.array({})
  for i = 1, list and #list or 0 do
    ages[#ages + 1] = c:integer(check.pointer(pointer .. "/child_ages", i), list[i], 0, 17)
  end
  table.sort(ages)
  return {
    adults = c:required_integer(pointer .. "/adults", room.adults, 1, GUESTS_MAX),
    child_ages = ages,
  }
end

local function read_rooms(c, query)
  local list = c:list("/query/rooms", query.rooms, 1, 9)
  local rooms = json.array({})
  for i = 1, list and #list or 0 do
    rooms[i] = read_room(c, check.pointer("/query/rooms", i), list[i])
  end
  return rooms
end

local function check_dates(c, check_in, check_out, earliest)
  if check_in and check_in < earliest then
    c:add("/query/check_in", "in_the_past", "this day is over everywhere")
  end
  if not check_in or not check_out then
    return
  end
  local nights = time.days_between(check_in, check_out)
  if nights < 1 then
    c:add("/query/check_out", "out_of_order", "the check-out comes after the check-in")
  elseif nights > NIGHTS_MAX then
    c:add("/query/check_out", "out_of_range", "at most " .. NIGHTS_MAX .. " nights")
  end
end

-- A stay is over a weekend when it has the night of a Friday or of a Saturday.
local function is_weekend(check_in, nights)
  return time.weekday(check_in) % 7 + nights > 5
end

local function derive(search, arrival)
  local query = search.query
  search.lead_days = parts.lead_days(arrival, query.check_in)
  search.nights = time.days_between(query.check_in, query.check_out)
  search.weekend = is_weekend(query.check_in, search.nights)
  search.party = 0
  search.rooms = #query.rooms
  for i = 1, #query.rooms do
    search.party = search.party + query.rooms[i].adults + #query.rooms[i].child_ages
  end
  return search
end

--- Validates the request; `arrival` is {s, ms, iso}. A search with its derived facts, or nil and every mistake.
local function query(request, arrival)
  local c = check.new()
  local asked = c:object("/query", request.query, QUERY_FIELDS)
  if not asked then
    return nil, c.errors
  end
  local search = parts.read(c, "hotels", asked)
  search.query = {
    place = read_place(c, asked),
    check_in = c:date("/query/check_in", asked.check_in),
    check_out = c:date("/query/check_out", asked.check_out),
    rooms = read_rooms(c, asked),
    residency = c:country("/query/residency", asked.residency) or search.market,
  }
  check_dates(c, search.query.check_in, search.query.check_out, parts.earliest(arrival))
  if #c.errors > 0 then
    return nil, c.errors
  end
  return derive(search, arrival)
end

-- ---- the offer -------------------------------------------------------------------------------------------------

---@type Product
return {
  name = "hotels",
  item_prefix = "ho",
  key = parts.KEY,
  segments = parts.segments({ rooms = "integer" }),
  query = query,
  example = {
    place = { city = "LON" },
    check_in = "2026-05-14",
    check_out = "2026-05-17",
    rooms = { { adults = 2, child_ages = { 9 } } },
    market = "GB",
  },
  offer = {
    parts.ID,
    parts.SELLER,
    parts.price(),
    parts.EXPIRES_AT,
    { "hotel_id", "text", item = true, key = true, max = 64 },
    { "name", "text", item = true, max = 200 },
    { "stars", "integer", item = true, min = 1, max = 5, facet = "stars" },
    { "supplier_hotel_id", "text", max = 64, stands_in = true },
    { "room", "text", required = true, max = 300 },
    { "board", "enum", required = true, values = BOARDS, facet = "board" },
    { "refund", { { "free_until", "utc_time", ends = true } } },
    { "pay", "enum", required = true, values = PAYS },
    { "beds", "text", max = 200 },
    parts.REF,
    parts.HANDOFF,
  },
}
