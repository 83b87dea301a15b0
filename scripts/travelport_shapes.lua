-- What the supplier travelport reads of its answers, as shapes: lists of elements that name each other by Key.

local M = {}

-- What the names of uAPI's elements stand for; one version of the schema for requests and answers.
M.SOAP_NAMES = "http://schemas.xmlsoap.org/soap/envelope/"
M.AIR_NAMES = "http://www.travelport.com/schema/air_v52_0"
M.COMMON_NAMES = "http://www.travelport.com/schema/common_v52_0"

local PENALTIES = { { ["a:Amount"] = text, ["a:Percentage"] = decimal } }
local FARES = { {
  ["@Key"] = text, ["@FareBasis"] = text,
  ["a:BaggageAllowance"] = { ["a:NumberOfPieces"] = integer, ["a:MaxWeight"] = { ["@Value"] = decimal } },
  ["a:Brand"] = { ["@BrandID"] = text, ["@Name"] = text },
} }
local SEGMENTS = { {
  ["@Key"] = text, ["@Group"] = integer, ["@Carrier"] = text, ["@FlightNumber"] = text, ["@Origin"] = text,
  ["@Destination"] = text, ["@DepartureTime"] = text, ["@ArrivalTime"] = text, ["@FlightTime"] = integer,
  ["a:CodeshareInfo"] = { ["@OperatingCarrier"] = text },
  ["a:AirAvailInfo"] = { { ["a:BookingCodeInfo"] = { { ["@BookingCounts"] = text } } } },
} }
local BOOKINGS = { {
  ["@BookingCode"] = text, ["@BookingCount"] = integer, ["@CabinClass"] = text, ["@FareInfoRef"] = text,
  ["@SegmentRef"] = text,
} }
local MESSAGES = { { ["@Code"] = text, ["@Type"] = text, ["#text"] = text } }
-- One traveller's price of a kind; `more` is where its flights are, which differs.
local function infos(more)
  local info = {
    ["@TotalPrice"] = text, ["@LatestTicketingTime"] = text, ["@Refundable"] = text, ["@PlatingCarrier"] = text,
    ["@ProviderCode"] = text, ["a:PassengerType"] = { { ["@Code"] = text } },
    ["a:ChangePenalty"] = PENALTIES, ["a:CancelPenalty"] = PENALTIES,
  }
  for name, shape in pairs(more) do
    info[name] = shape
  end
  return { info }
end

-- The price of all travellers; `more` has its parts.
local function prices(more)
  local price = {
    ["@Key"] = text, ["@TotalPrice"] = text, ["@BasePrice"] = text, ["@EquivalentBasePrice"] = text, ["@Taxes"] = text,
    ["@Fees"] = text, ["@Services"] = text, ["@CompleteItinerary"] = text,
  }
  for name, shape in pairs(more) do
    price[name] = shape
  end
  return { price }
end

local FOUND = {
  ["@SearchId"] = text,
  ["c:ResponseMessage"] = MESSAGES,
  ["a:AirSegmentList"] = { ["a:AirSegment"] = SEGMENTS },
  ["a:FareInfoList"] = { ["a:FareInfo"] = FARES },
  ["a:BrandList"] = { ["a:Brand"] = { { ["@BrandID"] = text, ["@Name"] = text } } },
  ["a:AirPricePointList"] = { ["a:AirPricePoint"] = prices { ["a:AirPricingInfo"] = infos {
    ["a:FareInfoRef"] = { { ["@Key"] = text } },
    ["a:FlightOptionsList"] = { ["a:FlightOption"] = { { ["a:Option"] = { {
      ["@Key"] = text, ["@TravelTime"] = text, ["a:BookingInfo"] = BOOKINGS,
      ["a:Connection"] = { { ["@SegmentIndex"] = integer } },
    } } } } },
  } } },
  ["a:AsyncProviderSpecificResponse"] = { { ["@ProviderCode"] = text, ["@MoreResults"] = flag } },
}

local PRICED = {
  ["c:ResponseMessage"] = MESSAGES,
  ["a:AirItinerary"] = { ["a:AirSegment"] = SEGMENTS },
  ["a:AirPriceResult"] = {
    ["a:AirPricingSolution"] = prices {
      ["a:AirPricingInfo"] = infos { ["a:FareInfo"] = FARES, ["a:BookingInfo"] = BOOKINGS },
    },
  },
}

-- What stands in the body, by its name: a search has three ways to be answered.
local function shape_of(answer)
  return {
    xmlns = { s = M.SOAP_NAMES, a = M.AIR_NAMES, c = M.COMMON_NAMES },
    ["s:Envelope"] = { ["s:Body"] = map_of(answer) },
  }
end

-- The answers to a search and to a pricing.
M.FOUND, M.PRICED = shape_of(FOUND), shape_of(PRICED)

return M
