-- A master pricer search of Amadeus, without its envelope: recommendations name groups of flights by number; dates are
-- ddmmyy, times hhmm.
local ROOT = "Fare_MasterPricerTravelBoardSearchReply."

local function at(date, clock)
  local there = time.at(time.ddmmyy(date), 0, clock)
  return there
end

return {
  name = "xml_amadeus",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  build_request = function() end,
  normalise = plan {
    from = "xml",
    each = ROOT .. "recommendation[].segmentFlightRef[]",
    offer = {
      id = {
        up(1).itemNumber.itemNumberId.number,
        "referencingDetail[1].refNumber",
        function(item, flight) return item .. "-" .. flight end,
      },
      price = {
        total = up(1).recPriceInfo.monetaryDetail[1].amount,
        taxes = up(1).recPriceInfo.monetaryDetail[2].amount,
        currency = up(2).Fare_MasterPricerTravelBoardSearchReply.conversionRate.conversionRateDetail.currency,
        taxes_included = const "yes",
      },
      slices = {
        each = "referencingDetail[]",
        of = ref(ROOT .. "flightIndex.groupOfFlights", "propFlightGrDetail.flightProposal[1].ref", "refNumber"),
        segments = {
          each = "flightDetails[]",
          carrier = "flightInformation.companyId.marketingCarrier",
          operating = "flightInformation.companyId.operatingCarrier",
          number = "flightInformation.flightOrtrainNumber",
          origin = "flightInformation.location[1].locationId",
          destination = "flightInformation.location[2].locationId",
          departs = {
            ["local"] = {
              "flightInformation.productDateTime.dateOfDeparture",
              "flightInformation.productDateTime.timeOfDeparture",
              at,
            },
          },
          arrives = {
            ["local"] = {
              "flightInformation.productDateTime.dateOfArrival",
              "flightInformation.productDateTime.timeOfArrival",
              at,
            },
          },
        },
      },
    },
    when = {
      [ROOT .. "errorMessage:present"] = function(response)
        local body = response:xml { Fare_MasterPricerTravelBoardSearchReply = {
          errorMessage = {
            applicationError = { applicationErrorDetail = { error = text } },
            errorMessageText = { description = text },
          },
        } }
        local trouble = body.Fare_MasterPricerTravelBoardSearchReply.errorMessage
        return fail.supplier {
          code = trouble.applicationError.applicationErrorDetail.error,
          message = trouble.errorMessageText.description,
        }
      end,
    },
  },
}
