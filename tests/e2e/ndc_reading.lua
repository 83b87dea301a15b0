-- The NDC answer read once more, by other code than the supplier's scripts: what the reply must say of each offer.
-- Money is counted in cents; instants come from date(1) and the system's zones.
local world = require("tests.e2e.world")
local readings = require("tests.e2e.readings")

local M = {}

-- What stands between the tags of this name; there is no nesting of equal names in what is asked for.
local function blocks(text, name)
  return text:gmatch("<" .. name .. ">(.-)</" .. name .. ">")
end

local function value(text, name)
  return text:match("<" .. name .. "[^>]*>([^<]*)</" .. name .. ">")
end

local function values(text, name)
  local list = {}
  for found in text:gmatch("<" .. name .. ">([^<]*)</" .. name .. ">") do
    list[#list + 1] = found
  end
  return list
end

local function cents(amount)
  local whole, part = amount:match("^(%d+)%.(%d%d)$")
  return assert(tonumber(whole), amount) * 100 + tonumber(part)
end

local function amount_of(count)
  return ("%d.%02d"):format(count / 100, count % 100)
end
M.cents, M.amount_of = cents, amount_of

-- Clock times by zone, asked of date(1) in one go: seconds since 1970 by "CLOCK ZONE".
local function stop(leg, name)
  local place = leg:match("<" .. name .. ">(.-)</" .. name .. ">")
  local zone, clock = place:match("TimeZoneCode=\"([^\"]+)\">([^<]+)<")
  local key = clock:gsub("%.000$", "") .. " " .. zone
  return { airport = value(place, "IATA_LocationCode"), zone = zone, clock = clock, key = key }
end

local function read_segments(text)
  local segments, keys = {}, {}
  for block in blocks(text:match("<PaxSegmentList>(.-)</PaxSegmentList>"), "PaxSegment") do
    local leg = block:match("<DatedOperatingLeg>(.-)</DatedOperatingLeg>")
    local segment = {
      departs = stop(leg, "Dep"), arrives = stop(leg, "Arrival"),
      carrier = value(block:match("<MarketingCarrierInfo>(.-)</MarketingCarrierInfo>"), "CarrierDesigCode"),
      operating = value(block:match("<OperatingCarrierInfo>(.-)</OperatingCarrierInfo>"), "CarrierDesigCode"),
      number = value(block, "MarketingCarrierFlightNumberText"),
    }
    segments[value(block, "PaxSegmentID")] = segment
    keys[segment.departs.key], keys[segment.arrives.key] = true, true
  end
  local instants = readings.instants(keys)
  for _, segment in pairs(segments) do
    segment.departs_s, segment.arrives_s = instants[segment.departs.key], instants[segment.arrives.key]
  end
  return segments
end

local function read_journeys(text, segments)
  local journeys = {}
  for block in blocks(text:match("<PaxJourneyList>(.-)</PaxJourneyList>"), "PaxJourney") do
    local journey = {}
    for _, id in ipairs(values(block, "PaxSegmentRefID")) do
      journey[#journey + 1] = assert(segments[id], id)
    end
    journeys[value(block, "PaxJourneyID")] = journey
  end
  return journeys
end

local KINDS = { Pax1 = "adult", Pax2 = "child" }

local function read_offer(block, journeys)
  local offer = { total = 0, base = 0, travellers = {}, expires_at = value(block, "OfferExpirationTimeLimitDateTime") }
  local journey
  for item in blocks(block, "OfferItem") do
    local price = item:match("<Price>(.-)</Price>")
    local currency = price:match("<TotalAmount CurCode=\"(%u+)\">")
    offer.currency = offer.currency or currency
    world.equal(offer.currency, currency, "currencies of one offer")
    local total = cents(value(price, "TotalAmount"))
    offer.total, offer.base = offer.total + total, offer.base + cents(value(price, "BaseAmount"))
    local pax = value(item, "PaxRefID")
    offer.travellers[KINDS[pax]] = total
    journey = journey or value(item, "PaxJourneyRefID")
    world.equal(journey, value(item, "PaxJourneyRefID"), "the journey of all items")
  end
  offer.journey = assert(journeys[journey], journey)
  return offer
end

--- The offers of the answer by their ids, and how many.
function M.read(text)
  local journeys = read_journeys(text, read_segments(text))
  local offers, count = {}, 0
  for block in blocks(text, "Offer") do
    offers[value(block, "OfferID")] = read_offer(block, journeys)
    count = count + 1
  end
  return offers, count
end

local function compare_segment(theirs, ours, what)
  local equal = world.equal
  equal(theirs.carrier, ours.carrier, what .. " carrier")
  equal(theirs.operating, ours.operating, what .. " operating")
  equal(theirs.number, ours.number, what .. " number")
  equal(nil, ours.cabin, what .. " cabin, which the answer does not tell")
  for name, place in pairs { departs = "origin", arrives = "destination" } do
    equal(theirs[name].airport, ours[place], what .. " " .. place)
    equal(theirs[name].clock:sub(1, 19), ours[name]["local"], what .. " " .. name)
    equal(theirs[name].zone, ours[name].zone, what .. " zone")
    equal(os.date("!%Y-%m-%dT%H:%M:%SZ", theirs[name .. "_s"]), ours[name].utc, what .. " utc")
  end
  equal((theirs.arrives_s - theirs.departs_s) / 60, ours.duration_min, what .. " duration")
end

local function compare_slice(journey, slice, what)
  world.equal((journey[#journey].arrives_s - journey[1].departs_s) / 60, slice.duration_min, what .. " duration")
  world.equal(#journey, #slice.segments, what .. " segments")
  for i, segment in ipairs(journey) do
    compare_segment(segment, slice.segments[i], what .. " segment " .. i)
  end
end

--- One offer of the reply against those of the answer that it is made of: a slice each, in order.
function M.compare(made_of, ours, item)
  local equal, id = world.equal, ours.id
  local total, base, adult, child, expires_at = 0, 0, 0, 0, nil
  equal(#made_of, #item.slices, id .. " slices")
  for i, theirs in ipairs(made_of) do
    total, base = total + theirs.total, base + theirs.base
    adult, child = adult + theirs.travellers.adult, child + theirs.travellers.child
    expires_at = expires_at and expires_at < theirs.expires_at and expires_at or theirs.expires_at
    equal(made_of[1].currency, theirs.currency, id .. " currency")
    compare_slice(theirs.journey, item.slices[i], id .. " slice " .. i)
  end
  equal(amount_of(total), ours.price.total, id .. " total")
  equal(made_of[1].currency, ours.price.currency, id .. " currency")
  equal(amount_of(base), ours.price.base, id .. " base")
  equal(amount_of(total - base), ours.price.taxes, id .. " taxes")
  equal("yes", ours.price.taxes_included, id .. " taxes_included")
  equal(nil, ours.price.due_later, id .. " due_later")
  equal("adult " .. amount_of(adult) .. " child " .. amount_of(child), ("%s %s %s %s"):format(
    ours.price.per_traveller[1].type, ours.price.per_traveller[1].total, ours.price.per_traveller[2].type,
    ours.price.per_traveller[2].total), id .. " per_traveller")
  equal(expires_at, ours.expires_at, id .. " expires_at")
  equal("9A", ours.seller.id, id .. " seller")
  for _, field in ipairs { "brand", "bags", "refundable", "changeable", "seats_left" } do
    equal(nil, ours[field], id .. " " .. field .. ", which the answer does not tell")
  end
end

return M
