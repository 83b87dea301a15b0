-- Itineraries out of tables: an itinerary names legs, a leg its schedules, a fare its brand. Schedules have clock times
-- only; the date of a leg stands beside the itineraries, and the days to add with who names the schedule.

local RESPONSE, FARE = "groupedItineraryResponse.", "pricingInformation[1].fare."
local PASSENGER = FARE .. "passengerInfoList[1].passengerInfo."
local SEGMENT = PASSENGER .. "fareComponents[1].segments[1].segment."
local CABINS = { Y = "economy", S = "premium", C = "business", F = "first" }
local LETTERS = { economy = "Y", premium = "S", business = "C", first = "F" }
local CODES = { adult = "ADT", child = "CNN", infant_lap = "INF", infant_seat = "INS" }

-- "10:05:00+01:00" of the leg's date, so many days later.
local function clock(dates, leg, named, time_of_day, own)
  local date = dates and dates[leg]
  return date and time_of_day and time.at(date, tonumber(named or 0) + tonumber(own or 0), time_of_day:sub(1, 5)) or nil
end

-- Seen from a schedule: who names it, the leg, who names that, the itinerary, its group.
local DATES, LEG = up(5)["groupDescription.legDescriptions[].departureDate"], up(3)["[]"]
local DAYS = up(1).departureDateAdjustment

---@type Supplier
return {
  name = "farm_tables", product = "flights", owner = "farm@example.com", docs = "examples/farm/README.md",
  hosts = {}, secrets = {}, options = { base_url = "http://t01.farm.test:8080" },

  build_request = function(search)
    return { method = "POST", path = "/v4/offers/shop", json = { OTA_AirLowFareSearchRQ = {
      Version = "4",
      OriginDestinationInformation = map(search.query.slices, function(slice) return {
        DepartureDateTime = slice.date .. "T00:00:00",
        OriginLocation = { LocationCode = slice.origin }, DestinationLocation = { LocationCode = slice.destination },
      } end),
      TravelPreferences = { CabinPref = { { Cabin = LETTERS[search.query.cabin], PreferLevel = "Only" } } },
      TravelerInfoSummary = {
        AirTravelerAvail = { { PassengerTypeQuantity = map(search.query.travellers, function(traveller)
          return { Code = CODES[traveller.type], Quantity = 1 }
        end) } },
        PriceRequestInformation = { CurrencyCode = search.currency },
      },
    } } }
  end,

  normalise = plan {
    each = RESPONSE .. "itineraryGroups[].itineraries[]",
    offer = {
      id = "id",
      price = {
        total = money(FARE .. "totalFare.currency", FARE .. "totalFare.totalPrice"),
        taxes = money(FARE .. "totalFare.currency", FARE .. "totalFare.totalTaxAmount"),
        taxes_included = const "yes",
      },
      slices = { each = "legs[]", of = ref(RESPONSE .. "legDescs", "id", "ref"),
        duration_min = "elapsedTime",
        segments = { each = "schedules[]", of = ref(RESPONSE .. "scheduleDescs", "id", "ref"),
          carrier = "carrier.marketing", operating = "carrier.operating", number = "carrier.marketingFlightNumber",
          origin = "departure.airport", destination = "arrival.airport", duration_min = "elapsedTime",
          departs = { ["local"] = { DATES, LEG, DAYS, "departure.time", clock } },
          arrives = { ["local"] = { DATES, LEG, DAYS, "arrival.time", "arrival.dateAdjustment", clock } },
          cabin = map(up(4)[SEGMENT .. "cabinCode"], CABINS),
        },
      },
      brand = ref(RESPONSE .. "fareComponentDescs", "id", PASSENGER .. "fareComponents[1].ref").brand.brandName,
      bags = { checked = ref(RESPONSE .. "baggageAllowanceDescs", "id",
        PASSENGER .. "baggageInformation[1].allowance.ref").pieceCount },
      refundable = map(PASSENGER .. "nonRefundable", { [true] = false, [false] = true }),
      seats_left = SEGMENT .. "seatsAvailable",
    },
    when = { [429] = fail.quota },
  },
}
