-- Amadeus' files read once more, by other code than the supplier's script: what a reply must say of each offer.
local world = require("tests.e2e.world")
local readings = require("tests.e2e.readings")

local M = {}

-- The files tell no zones. Of the airports in them:
local ZONES = {
  SYD = "Australia/Sydney", MNL = "Asia/Manila", BKK = "Asia/Bangkok", DMK = "Asia/Bangkok", SIN = "Asia/Singapore",
  EWR = "America/New_York", JFK = "America/New_York", LHR = "Europe/London", MAD = "Europe/Madrid",
  GIG = "America/Sao_Paulo", CMN = "Africa/Casablanca",
}
local PEOPLE = { ADULT = "adult", CHILD = "child" }

local function key_of(stop)
  return stop.at .. " " .. ZONES[stop.iataCode]
end

local function each_segment(offers, visit)
  for _, offer in ipairs(offers) do
    for _, itinerary in ipairs(offer.itineraries) do
      for _, segment in ipairs(itinerary.segments) do
        visit(segment)
      end
    end
  end
end

local function stop_of(stop, instants)
  return { ["local"] = stop.at, zone = ZONES[stop.iataCode], utc = readings.utc(instants[key_of(stop)]) }
end

-- Whole cents, so that nothing is rounded.
local function cents(amount)
  local whole, part = amount:match("^(%d+)%.(%d%d)$")
  return whole * 100 + part
end

local function fare_of(offer, segment)
  for _, fare in ipairs(offer.travelerPricings[1].fareDetailsBySegment) do
    if fare.segmentId == segment.id then
      return fare
    end
  end
  return nil
end

local function slices_of(offer, instants)
  local slices, corrected = {}, 0
  local function took(from, to, told)
    local minutes = (instants[key_of(to)] - instants[key_of(from)]) / 60
    corrected = corrected + (told and readings.minutes(told) ~= minutes and 1 or 0)
    return minutes
  end
  for i, itinerary in ipairs(offer.itineraries) do
    local segments = {}
    for k, segment in ipairs(itinerary.segments) do
      segments[k] = {
        carrier = segment.carrierCode,
        operating = segment.operating.carrierCode,
        number = segment.number,
        origin = segment.departure.iataCode,
        destination = segment.arrival.iataCode,
        departs = stop_of(segment.departure, instants),
        arrives = stop_of(segment.arrival, instants),
        duration_min = took(segment.departure, segment.arrival, segment.duration),
        cabin = fare_of(offer, segment).cabin:lower(),
      }
    end
    local first, last = itinerary.segments[1], itinerary.segments[#itinerary.segments]
    slices[i] = { duration_min = took(first.departure, last.arrival, itinerary.duration), segments = segments }
  end
  return slices, corrected
end

local function price_of(offer)
  local taxes = cents(offer.price.total) - cents(offer.price.base)
  local people = {}
  for i, traveller in ipairs(offer.travelerPricings) do
    local price = traveller.price
    people[i] = { type = PEOPLE[traveller.travelerType], total = price.total, currency = price.currency }
  end
  return {
    total = offer.price.grandTotal, currency = offer.price.currency, base = offer.price.base,
    taxes = ("%d.%02d"):format(math.floor(taxes / 100), taxes % 100), taxes_included = "yes", per_traveller = people,
  }
end

local function bags_of(offer)
  local least = math.huge
  for _, traveller in ipairs(offer.travelerPricings) do
    for _, fare in ipairs(traveller.fareDetailsBySegment) do
      local has = fare.includedCheckedBags
      least = math.min(least, has.quantity or (has.weight > 0 and 1 or 0))
    end
  end
  return { checked = least }
end

--- What the reply must say, by offer id; and how many durations their own times contradict.
function M.read(document)
  local asked, by_id, corrected = {}, {}, 0
  each_segment(document.data, function(segment)
    asked[key_of(segment.departure)], asked[key_of(segment.arrival)] = true, true
  end)
  local instants = readings.instants(asked)
  local carriers = document.dictionaries and document.dictionaries.carriers or {}
  for _, offer in ipairs(document.data) do
    local slices, wrong = slices_of(offer, instants)
    local airline = offer.validatingAirlineCodes[1]
    corrected = corrected + wrong
    by_id[offer.id] = {
      seller = { id = airline, name = carriers[airline] },
      price = price_of(offer),
      slices = slices,
      bags = bags_of(offer),
      seats_left = offer.numberOfBookableSeats,
    }
  end
  return by_id, corrected
end

--- The text of the first offer in a document of the pricing service, as it stands.
function M.offer_in(text)
  local from = assert(text:find("\"flightOffers\"%s*:%s*%["))
  return text:match("%b{}", text:find("{", from, true))
end

--- That offer as an answer to a search.
function M.as_search(text)
  return "{\"meta\": {\"count\": 1}, \"data\": [" .. M.offer_in(text) .. "]}"
end

function M.decode(text)
  return world.json.decode(text)
end

return M
