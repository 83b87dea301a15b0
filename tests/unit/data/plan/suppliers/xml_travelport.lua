-- A low-fare search of Travelport's universal API: everything by Key, money with its currency glued to it.
local ROOT = "s:Envelope.s:Body.a:LowFareSearchRsp."

local function amount_of(total)
  local amount = money.split(total)
  return amount
end

local function currency_of(total)
  local _, currency = money.split(total)
  return currency
end

local NOTHING = { ["20"] = true, ["2602"] = true }

local function refuse(response)
  local fault = soap.fault(response)
  local code = first(fault.detail[1], function(part) return part.name == "Code" end).text
  if NOTHING[code] then
    return {}
  end
  return fail.supplier { code = code, message = fault.reason }
end

return {
  name = "xml_travelport",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  build_request = function() end,
  normalise = plan {
    from = "xml",
    xmlns = {
      s = "http://schemas.xmlsoap.org/soap/envelope/",
      a = "http://www.travelport.com/schema/air_v52_0",
    },
    each = ROOT .. "a:AirPricePointList.a:AirPricePoint[]",
    offer = {
      id = "@Key",
      price = {
        total = { "@TotalPrice", amount_of },
        currency = { "@TotalPrice", currency_of },
        taxes = { "@Taxes", amount_of },
        taxes_included = const "yes",
      },
      slices = {
        each = "a:AirPricingInfo[1].a:FlightOptionsList.a:FlightOption[]",
        duration_min = { "a:Option[1].@TravelTime", time.minutes },
        segments = {
          each = "a:Option[1].a:BookingInfo[]",
          of = ref(ROOT .. "a:AirSegmentList.a:AirSegment", "@Key", "@SegmentRef"),
          carrier = "@Carrier",
          number = "@FlightNumber",
          origin = "@Origin",
          destination = "@Destination",
          departs = { ["local"] = { "@DepartureTime", time.local_time } },
          arrives = { ["local"] = { "@ArrivalTime", time.local_time } },
          duration_min = "@FlightTime",
        },
      },
    },
    when = {
      [500] = refuse,
      ["s:Envelope.s:Body.s:Fault:present"] = refuse,
    },
  },
}
