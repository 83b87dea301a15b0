-- What Travelport's recorded answers say, read by patterns over their text, independently of the supplier's script.
local world = require("tests.e2e.world")

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

-- Days since 1970-01-01, by the days of the months.
local function days_of(year, month, day)
  local days = day - 1
  for y = 1970, year - 1 do
    days = days + ((y % 4 == 0 and (y % 100 ~= 0 or y % 400 == 0)) and 366 or 365)
  end
  local lengths = { 31, year % 4 == 0 and 29 or 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
  for m = 1, month - 1 do
    days = days + lengths[m]
  end
  return days
end

-- Turkey gave up its winter time in September 2016, after the answer was recorded with +02:00 for November.
local OFFSETS = { IST = 180 }

-- "2016-11-10T18:35:00.000+02:00" at an airport: its clock, and the minutes since 1970 in UTC.
local function read_time(told, airport)
  local year, month, day, hour, minute, sign, hours, minutes =
    told:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):00%.000([+-])(%d+):(%d+)$")
  local clock = days_of(tonumber(year), tonumber(month), tonumber(day)) * 1440 + hour * 60 + minute
  local offset = OFFSETS[airport] or (sign == "-" and -1 or 1) * (hours * 60 + minutes)
  return { clock = ("%s-%s-%sT%s:%s:00"):format(year, month, day, hour, minute), utc = clock - offset }
end

local function utc_text(minutes)
  return os.date("!%Y-%m-%dT%H:%M:00Z", minutes * 60)
end

-- "P1DT1H10M0S"
local function minutes_of(duration)
  local days, hours, minutes = duration:match("^P(%d+)DT(%d+)H(%d+)M0S$")
  return days * 1440 + hours * 60 + minutes
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
    departs = read_time(attribute(tag, "DepartureTime"), origin),
    arrives = read_time(attribute(tag, "ArrivalTime"), destination),
    told_min = tonumber(attribute(tag, "FlightTime")),
    cabin = CABINS[attribute(booking, "CabinClass")],
  }
end

local function seats_of(booking, segment)
  local code = attribute(booking, "BookingCode")
  local count = attribute(booking, "BookingCount")
  for class, seats in (segment.inner:match("BookingCounts=\"([^\"]*)\"") or ""):gmatch("(%u)(%d)") do
    count = count or class == code and seats or nil
  end
  return count and tonumber(count)
end

local function pieces_of(fare)
  local pieces = fare.inner:match("<air:NumberOfPieces>(%d+)<")
  return pieces and tonumber(pieces) or fare.inner:find("<air:MaxWeight Value=\"%d+\"") and 1 or nil
end

local function penalty_of(info, name)
  local found = elements(info, name)[1]
  if not found then
    return nil
  end
  return found.inner:match("<air:Percentage>([%d.]+)<") ~= "100.00"
end

local function read_option(option, lists)
  local read = { key = attribute(option.tag, "Key"), minutes = minutes_of(attribute(option.tag, "TravelTime")),
    segments = {}, brands = {} }
  for _, booking in ipairs(elements(option.inner, "BookingInfo")) do
    local segment = lists.segments[attribute(booking.tag, "SegmentRef")]
    local fare = lists.fares[attribute(booking.tag, "FareInfoRef")]
    table.insert(read.segments, read_segment(booking.tag, segment))
    read.seats = math.min(read.seats or 999, seats_of(booking.tag, segment) or 999)
    local pieces = assert(pieces_of(fare), "a fare without bags")
    read.pieces = math.min(read.pieces or 999, pieces)
    table.insert(read.brands, lists.brands[fare.inner:match("BrandID=\"(%d+)\"") or ""])
  end
  return read
end

-- Distinct names in order.
local function brand_of(out, back)
  local names, seen = {}, {}
  for _, option in ipairs { out, back } do
    for _, name in ipairs(option.brands) do
      if not seen[name] then
        names[#names + 1], seen[name] = name, true
      end
    end
  end
  return names[1] and table.concat(names, " / ")
end

-- A date alone ends at midnight in Seoul, where all journeys of that file begin.
local function expiry_of(told)
  return utc_text(read_time(told:find("T", 1, true) and told or told .. "T23:59:00.000+09:00").utc)
end

local function split(amount)
  return amount:match("^(%u%u%u)([%d.]+)$")
end

local function terms_of(point, info)
  local currency, total = split(attribute(point.tag, "TotalPrice"))
  local _, base = split(attribute(point.tag, "EquivalentBasePrice") or attribute(point.tag, "BasePrice"))
  local _, taxes = split(attribute(point.tag, "Taxes"))
  local refundable = attribute(info.tag, "Refundable") == "true" or nil
  if penalty_of(info.inner, "CancelPenalty") == false then
    refundable = refundable or false
  end
  return { total = total, currency = currency, base = base, taxes = taxes,
    seller = attribute(info.tag, "PlatingCarrier"),
    expires_at = expiry_of(attribute(info.tag, "LatestTicketingTime")), refundable = refundable,
    changeable = penalty_of(info.inner, "ChangePenalty") }
end

local function read_offer(terms, out, back)
  local offer = { slices = { out, back }, brand = brand_of(out, back or { brands = {} }),
    pieces = math.min(out.pieces, back and back.pieces or 999),
    seats = math.min(out.seats, back and back.seats or 999) }
  for name, value in pairs(terms) do
    offer[name] = value
  end
  return offer
end

--- The offers of an answer by their ids, and how many durations of flights its times contradict.
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
    for _, first in ipairs(elements(legs[1].inner, "Option")) do
      local out = read_option(first, lists)
      for _, second in ipairs(legs[2] and elements(legs[2].inner, "Option") or { false }) do
        local back = second and read_option(second, lists) or nil
        by_id[out.key .. (back and "." .. back.key or "")] = read_offer(terms, out, back)
      end
    end
  end
  return by_id
end

--- How many durations are told otherwise than the times of the flights say.
function M.contradictions(by_id)
  local count = 0
  for _, offer in pairs(by_id) do
    for _, slice in ipairs(offer.slices) do
      for _, segment in ipairs(slice.segments) do
        count = count + (segment.arrives.utc - segment.departs.utc == segment.told_min and 0 or 1)
      end
    end
  end
  return count
end

-- ---- comparison ----------------------------------------------------------------------------------------------------

local function compare_segment(theirs, ours, what)
  local equal = world.equal
  for _, field in ipairs { "carrier", "operating", "number", "origin", "destination", "cabin" } do
    equal(theirs[field], ours[field], what .. " " .. field)
  end
  equal(theirs.arrives.utc - theirs.departs.utc, ours.duration_min, what .. " duration")
  for _, stop in ipairs { "departs", "arrives" } do
    equal(theirs[stop].clock, ours[stop]["local"], what .. " " .. stop)
    equal(utc_text(theirs[stop].utc), ours[stop].utc, what .. " utc of " .. stop)
    assert(ours[stop].zone, what .. " zone of " .. stop)
  end
end

local function compare_offer(id, theirs, ours, item)
  local equal = world.equal
  for _, field in ipairs { "total", "currency", "base", "taxes" } do
    equal(theirs[field], ours.price[field], id .. " " .. field)
  end
  equal("yes", ours.price.taxes_included, id .. " taxes_included")
  equal(1, #ours.price.per_traveller, id .. " travellers")
  equal("adult " .. theirs.total, ours.price.per_traveller[1].type .. " " .. ours.price.per_traveller[1].total, id)
  equal(theirs.seller, ours.seller and ours.seller.id, id .. " seller")
  for _, field in ipairs { "expires_at", "brand", "refundable", "changeable" } do
    equal(theirs[field], ours[field], id .. " " .. field)
  end
  equal(theirs.pieces, ours.bags.checked, id .. " bags.checked")
  equal(nil, ours.bags.cabin, id .. " bags.cabin")
  equal(theirs.seats, ours.seats_left, id .. " seats_left")
  equal(#theirs.slices, #item.slices, id .. " slices")
  for s, slice in ipairs(theirs.slices) do
    equal(slice.minutes, item.slices[s].duration_min, id .. " duration of slice " .. s)
    equal(#slice.segments, #item.slices[s].segments, id .. " segments")
    for g, segment in ipairs(slice.segments) do
      compare_segment(segment, item.slices[s].segments[g], ("%s slice %d segment %d"):format(id, s, g))
    end
  end
end

--- Each offer of the file, all that is told of it, and nothing else.
function M.compare(by_id, reply, supplier)
  local count = 0
  for _, ours in ipairs(reply.json.offers) do
    local id = ours.id:match("^" .. supplier .. ":(.*)$")
    compare_offer(id, assert(by_id[id], ours.id .. " is not of the file"), ours, reply.json.items[ours.item])
    count = count + 1
  end
  for _ in pairs(by_id) do
    count = count - 1
  end
  world.equal(0, count, "offers that are too many, or missing")
end

return M
