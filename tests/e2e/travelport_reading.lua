-- What Travelport's recorded answers say, read by patterns over their text, independently of the supplier's script.
local readings = require("tests.e2e.readings")

local M = {}

-- ---- XML, as far as these files go: one prefix, no comments, no element within one of its own name ------------------

local function attribute(tag, name)
  return tag:match("[ \n]" .. name .. "=\"([^\"]*)\"")
end

-- Each element of that name as its begin tag and what is in it ("" of an empty one).
local function elements(text, name)
  local list, at = {}, 1
  local begin, close = "<air:" .. name .. "%f[ \n/>][^>]*>", "</air:" .. name .. ">"
  while true do
    local from, to = text:find(begin, at)
    if not from then
      return list
    end
    local tag = text:sub(from, to)
    local inner = ""
    if tag:sub(-2) ~= "/>" then
      local close_from, close_to = assert(text:find(close, to, true))
      inner, to = text:sub(to + 1, close_from - 1), close_to
    end
    list[#list + 1] = { tag = tag, inner = inner }
    at = to + 1
  end
end

local function index(text, name)
  local by_key = {}
  for _, element in ipairs(elements(text, name)) do
    by_key[attribute(element.tag, "Key")] = element
  end
  return by_key
end

-- ---- times ---------------------------------------------------------------------------------------------------------

-- Zones by hand. The offsets of the answers are not used: Turkey gave up its winter time after the older one was
-- recorded, which has Istanbul in November at +02:00.
local ZONES = {
  AMS = "Europe/Amsterdam", ATH = "Europe/Athens", BRU = "Europe/Brussels", CDG = "Europe/Paris",
  FRA = "Europe/Berlin", GMP = "Asia/Seoul", HND = "Asia/Tokyo", ICN = "Asia/Seoul", IEV = "Europe/Kyiv",
  IST = "Europe/Istanbul", KBP = "Europe/Kyiv", KKJ = "Asia/Tokyo", LHR = "Europe/London", MSQ = "Europe/Minsk",
  MUC = "Europe/Berlin", NRT = "Asia/Tokyo", ORY = "Europe/Paris", RIX = "Europe/Riga", VIE = "Europe/Vienna",
  WAW = "Europe/Warsaw",
}

local function stop_of(told, airport)
  return { ["local"] = assert(told:match("^[%d-]+T[%d:]+"), told), zone = assert(ZONES[airport], airport) }
end

local function key_of(stop)
  return stop["local"] .. " " .. stop.zone
end

-- All instants of the flights at once.
local function instants_of(by_id)
  local asked = {}
  for _, offer in pairs(by_id) do
    for _, slice in ipairs(offer.slices) do
      for _, segment in ipairs(slice.segments) do
        asked[key_of(segment.departs)], asked[key_of(segment.arrives)] = true, true
      end
    end
  end
  return readings.instants(asked)
end

-- What the engine adds: instants and minutes; returns how many minutes were told otherwise.
local function add_instants(by_id)
  local instants, contradicted = instants_of(by_id), 0
  for _, offer in pairs(by_id) do
    for _, slice in ipairs(offer.slices) do
      local from, to
      for _, segment in ipairs(slice.segments) do
        local departs, arrives = instants[key_of(segment.departs)], instants[key_of(segment.arrives)]
        segment.departs.utc, segment.arrives.utc = readings.utc(departs), readings.utc(arrives)
        local minutes = (arrives - departs) / 60
        contradicted = contradicted + (minutes ~= segment.duration_min and 1 or 0)
        segment.duration_min = minutes
        from, to = from or departs, arrives
      end
      contradicted = contradicted + ((to - from) / 60 ~= slice.duration_min and 1 or 0)
      slice.duration_min = (to - from) / 60
    end
  end
  return contradicted
end

-- ---- offers --------------------------------------------------------------------------------------------------------

local CABINS = { Economy = "economy", Business = "business" }

local function read_segment(booking, segment)
  local tag = segment.tag
  local origin, destination = attribute(tag, "Origin"), attribute(tag, "Destination")
  return {
    carrier = attribute(tag, "Carrier"),
    operating = segment.inner:match("OperatingCarrier=\"(%w+)\""),
    number = attribute(tag, "FlightNumber"),
    origin = origin,
    destination = destination,
    departs = stop_of(attribute(tag, "DepartureTime"), origin),
    arrives = stop_of(attribute(tag, "ArrivalTime"), destination),
    duration_min = tonumber(attribute(tag, "FlightTime")),
    cabin = CABINS[attribute(booking, "CabinClass")],
  }
end

local function seats_of(booking, segment)
  local code = attribute(booking, "BookingCode")
  local count = attribute(booking, "BookingCount")
  for class, seats in (segment.inner:match("BookingCounts=\"([^\"]*)\"") or ""):gmatch("(%u)(%d)") do
    count = count or class == code and seats or nil
  end
  return (assert(count and tonumber(count), "seats that nobody tells"))
end

-- Of a weight without pieces one.
local function pieces_of(fare)
  local pieces = fare.inner:match("<air:NumberOfPieces>(%d+)<")
  local weight = fare.inner:find("<air:MaxWeight Value=\"%d+\"") and 1 or nil
  return (assert(pieces and tonumber(pieces) or weight, "a fare without bags"))
end

local function read_option(option, lists)
  local read = { key = attribute(option.tag, "Key"), segments = {}, brands = {}, seats = 999, pieces = 999,
    minutes = readings.minutes(attribute(option.tag, "TravelTime")) }
  for _, booking in ipairs(elements(option.inner, "BookingInfo")) do
    local segment = lists.segments[attribute(booking.tag, "SegmentRef")]
    local fare = lists.fares[attribute(booking.tag, "FareInfoRef")]
    table.insert(read.segments, read_segment(booking.tag, segment))
    read.seats = math.min(read.seats, seats_of(booking.tag, segment))
    read.pieces = math.min(read.pieces, pieces_of(fare))
    table.insert(read.brands, lists.brands[fare.inner:match("BrandID=\"(%d+)\"") or ""])
  end
  return read
end

-- Distinct names in order.
local function brand_of(options)
  local names, seen = {}, {}
  for _, option in ipairs(options) do
    for _, name in ipairs(option.brands) do
      if not seen[name] then
        names[#names + 1], seen[name] = name, true
      end
    end
  end
  return names[1] and table.concat(names, " / ")
end

-- "2016-11-10T23:59:00.000+02:00"; a date alone ends at midnight in Seoul, where all journeys of that file begin.
local function expiry_of(told)
  local clock, hours = told:match("^(.*)%.000%+(%d%d):00$")
  local key = (clock or told .. "T23:59:00") .. " UTC"
  return readings.utc(readings.instants({ [key] = true })[key] - tonumber(hours or 9) * 3600)
end

local function split(amount)
  return amount:match("^(%u%u%u)([%d.]+)$")
end

-- May it be done, for a fee? No, where that is all of the fare.
local function penalty_of(info, name)
  local found = elements(info, name)[1]
  if not found then
    return nil
  end
  return found.inner:match("<air:Percentage>([%d.]+)<") ~= "100.00"
end

-- What all journeys of a price have in common.
local function terms_of(point, info)
  local currency, total = split(attribute(point.tag, "TotalPrice"))
  local _, base = split(attribute(point.tag, "EquivalentBasePrice") or attribute(point.tag, "BasePrice"))
  local _, taxes = split(attribute(point.tag, "Taxes"))
  local refundable = attribute(info.tag, "Refundable") == "true" or nil
  if penalty_of(info.inner, "CancelPenalty") == false then
    refundable = refundable or false
  end
  local seller = attribute(info.tag, "PlatingCarrier")
  return {
    price = { total = total, currency = currency, base = base, taxes = taxes, taxes_included = "yes",
      per_traveller = { { type = "adult", total = total, currency = currency } } },
    seller = seller and { id = seller },
    expires_at = expiry_of(attribute(info.tag, "LatestTicketingTime")),
    refundable = refundable,
    changeable = penalty_of(info.inner, "ChangePenalty"),
  }
end

local function read_offer(terms, options)
  local offer = { slices = {}, brand = brand_of(options), bags = { checked = 999 }, seats_left = 999 }
  for name, value in pairs(terms) do
    offer[name] = value
  end
  local keys = {}
  for i, option in ipairs(options) do
    keys[i] = option.key
    offer.slices[i] = { duration_min = option.minutes, segments = option.segments }
    offer.bags.checked = math.min(offer.bags.checked, option.pieces)
    offer.seats_left = math.min(offer.seats_left, option.seats)
  end
  return table.concat(keys, "."), offer
end

--- The offers of an answer by their ids, as the reply must tell them, and how many durations its times contradict.
function M.read(text)
  local lists = { segments = index(text, "AirSegment"), fares = index(text, "FareInfo"), brands = {} }
  for _, brand in ipairs(elements(text:match("<air:BrandList>.*</air:BrandList>"), "Brand")) do
    lists.brands[attribute(brand.tag, "BrandID")] = attribute(brand.tag, "Name")
  end
  local by_id = {}
  for _, point in ipairs(elements(text, "AirPricePoint")) do
    local info = elements(point.inner, "AirPricingInfo")
    assert(#info == 1, "one traveller")
    local terms, legs = terms_of(point, info[1]), elements(info[1].inner, "FlightOption")
    for _, out in ipairs(elements(legs[1].inner, "Option")) do
      for _, back in ipairs(legs[2] and elements(legs[2].inner, "Option") or { false }) do
        local id, offer = read_offer(terms, { read_option(out, lists), back and read_option(back, lists) or nil })
        by_id[id] = offer
      end
    end
  end
  return by_id, add_instants(by_id)
end

return M
