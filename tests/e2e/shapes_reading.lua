-- What the answers of the farm's three shapes say, read by hand: offers by id, each with its total and its segments or
-- terms. The test holds the engine's replies against it.
local world = require("tests.e2e.world")

local M = {}

local function post(address, path, body)
  local reply = world.http("POST", ("http://%s.%d:8080%s"):format(world.network, address, path),
    { body = body and world.json.encode(body) or "", headers = { "Content-Type: application/json" } })
  assert(reply.status == 200, "the farm: " .. tostring(reply.status) .. " " .. reply.raw:sub(1, 300))
  return reply.json
end

local function money_of(hundredths)
  return ("%d.%02d"):format(math.floor(hundredths / 100), hundredths % 100)
end

local CABINS = { economy = "ECONOMY", business = "BUSINESS" }

local function clock_of(at)
  return ("%04d-%02d-%02dT%02d:%02d:00"):format(at.year, at.month, at.day, at.hour, at.minute)
end

-- Polls to the end; the offers of the last answer and how many answers there were.
function M.maps(query)
  local legs = {}
  for i, slice in ipairs(query.slices) do
    local year, month, day = slice.date:match("(%d+)-(%d+)-(%d+)")
    legs[i] = { originPlaceId = { iata = slice.origin }, destinationPlaceId = { iata = slice.destination },
      date = { year = tonumber(year), month = tonumber(month), day = tonumber(day) } }
  end
  local answer = post(1, "/v3/search/create", { query = { market = "GB", locale = "en-GB", currency = query.currency,
    queryLegs = legs, adults = #query.travellers, cabinClass = "CABIN_CLASS_" .. CABINS[query.cabin or "economy"] } })
  local answers = 1
  while answer.status ~= "RESULT_STATUS_COMPLETE" do
    answer = post(1, "/v3/search/poll/" .. answer.sessionToken)
    answers = answers + 1
  end
  local found, results = {}, answer.content.results
  for id, itinerary in pairs(results.itineraries) do
    for _, option in ipairs(itinerary.pricingOptions) do
      local segments = {}
      for _, leg in ipairs(itinerary.legIds) do
        for _, name in ipairs(results.legs[leg].segmentIds) do
          local segment = results.segments[name]
          segments[#segments + 1] = table.concat({
            results.carriers[segment.marketingCarrierId].iata, segment.marketingFlightNumber,
            results.places[segment.originPlaceId].iata, results.places[segment.destinationPlaceId].iata,
            clock_of(segment.departureDateTime), clock_of(segment.arrivalDateTime), segment.durationInMinutes,
          }, " ")
        end
      end
      found[id .. "/" .. option.id] = {
        total = money_of(tonumber(option.price.amount) / 10),
        segments = table.concat(segments, ", "),
        seller = results.agents[option.agentIds[1]].name,
      }
    end
  end
  return found, answers
end

local function day_after(date, days)
  local year, month, day = date:match("(%d+)-(%d+)-(%d+)")
  return os.date("!%Y-%m-%d", os.time { year = year, month = month, day = day, hour = 12 } + days * 86400)
end

function M.tables(query)
  local list = {}
  for i, slice in ipairs(query.slices) do
    list[i] = { RPH = tostring(i), DepartureDateTime = slice.date .. "T00:00:00",
      OriginLocation = { LocationCode = slice.origin }, DestinationLocation = { LocationCode = slice.destination } }
  end
  local letters = { economy = "Y", business = "C" }
  local answer = post(2, "/v4/offers/shop", { OTA_AirLowFareSearchRQ = {
    OriginDestinationInformation = list,
    TravelPreferences = { CabinPref = { { Cabin = letters[query.cabin or "economy"] } } },
    TravelerInfoSummary = {
      AirTravelerAvail = { { PassengerTypeQuantity = { { Code = "ADT", Quantity = #query.travellers } } } },
      PriceRequestInformation = { CurrencyCode = query.currency },
    },
  } }).groupedItineraryResponse
  local by_id = { schedules = {}, legs = {}, fares = {}, bags = {} }
  for name, list_of in pairs { schedules = answer.scheduleDescs, legs = answer.legDescs,
    fares = answer.fareComponentDescs, bags = answer.baggageAllowanceDescs } do
    for _, item in ipairs(list_of) do
      by_id[name][item.id] = item
    end
  end
  local found = {}
  for _, group in ipairs(answer.itineraryGroups) do
    for _, itinerary in ipairs(group.itineraries) do
      local segments = {}
      for i, leg in ipairs(itinerary.legs) do
        local date = group.groupDescription.legDescriptions[i].departureDate
        for _, named in ipairs(by_id.legs[leg.ref].schedules) do
          local schedule, days = by_id.schedules[named.ref], named.departureDateAdjustment or 0
          local departs, arrives = schedule.departure, schedule.arrival
          segments[#segments + 1] = table.concat({
            schedule.carrier.marketing, schedule.carrier.marketingFlightNumber, departs.airport, arrives.airport,
            day_after(date, days) .. "T" .. departs.time:sub(1, 8),
            day_after(date, days + (arrives.dateAdjustment or 0)) .. "T" .. arrives.time:sub(1, 8),
            schedule.elapsedTime,
          }, " ")
        end
      end
      local fare = itinerary.pricingInformation[1].fare
      local passenger = fare.passengerInfoList[1].passengerInfo
      found[tostring(itinerary.id)] = {
        total = ("%.2f"):format(fare.totalFare.totalPrice),
        segments = table.concat(segments, ", "),
        brand = by_id.fares[passenger.fareComponents[1].ref].brand.brandName,
        checked = by_id.bags[passenger.baggageInformation[1].allowance.ref].pieceCount,
      }
    end
  end
  return found
end

-- The rates of some properties, for rooms of the search.
function M.rates(query, properties)
  local seconds = os.time()
  local digest = world.shell(("printf %%s farm-keyfarm-secret%d | sha512sum"):format(seconds)):match("%x+")
  local parts = { "checkin=" .. query.check_in, "checkout=" .. query.check_out, "currency=" .. query.currency }
  local occupancies = {}
  for i, room in ipairs(query.rooms) do
    local ages = table.concat(room.child_ages or {}, ",")
    occupancies[i] = room.adults .. (ages ~= "" and "-" .. ages or "")
    parts[#parts + 1] = "occupancy=" .. occupancies[i]
  end
  for _, property in ipairs(properties) do
    parts[#parts + 1] = "property_id=" .. property
  end
  local reply = world.http("GET", ("http://%s.3:8080/v3/properties/availability?%s"):format(world.network,
    table.concat(parts, "&")),
    { headers = { ("Authorization: EAN APIKey=farm-key,Signature=%s,timestamp=%d"):format(digest, seconds) } })
  assert(reply.status == 200, "the farm: " .. tostring(reply.status) .. " " .. reply.raw:sub(1, 300))
  local found = {}
  for _, property in ipairs(reply.json) do
    for _, room in ipairs(property.rooms) do
      for _, rate in ipairs(room.rates) do
        local total, due = 0, 0
        for _, occupancy in ipairs(occupancies) do
          local totals = rate.occupancy_pricing[occupancy].totals
          local fees = totals.property_fees and tonumber(totals.property_fees.request_currency.value) or 0
          due = due + fees
          total = total + fees + tonumber(totals.inclusive.request_currency.value)
        end
        found[rate.id] = { total = ("%.2f"):format(total), due = due > 0 and ("%.2f"):format(due) or nil,
          property = property.property_id, refundable = rate.refundable, room = room.room_name,
          board = next(rate.amenities) and "breakfast" or "room_only" }
      end
    end
  end
  return found
end

-- The segments of an offer's item, spelt as above.
function M.segments(item)
  local segments = {}
  for _, slice in ipairs(item.slices) do
    for _, segment in ipairs(slice.segments) do
      segments[#segments + 1] = table.concat({ segment.carrier, segment.number, segment.origin, segment.destination,
        segment.departs["local"], segment.arrives["local"], segment.duration_min }, " ")
    end
  end
  return table.concat(segments, ", ")
end

return M
