-- An airline's AirShopping answer of IATA's NDC 19.2: offers name journeys, which name segments, all in data lists.
local LISTS = "n:IATA_AirShoppingRS.n:Response.n:DataLists."

local function amount(amounts, currency)
  local total = money.sum(amounts, currency)
  return total
end

return {
  name = "xml_ndc",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  build_request = function() end,
  normalise = plan {
    from = "xml",
    xmlns = { n = "http://www.iata.org/IATA/2015/00/2019.2/IATA_AirShoppingRS" },
    each = "n:IATA_AirShoppingRS.n:Response.n:OffersGroup.n:CarrierOffers.n:Offer[]",
    offer = {
      id = "n:OfferID",
      price = {
        total = { "n:OfferItem[].n:Price.n:TotalAmount", "n:OfferItem[1].n:Price.n:TotalAmount.@CurCode", amount },
        currency = "n:OfferItem[1].n:Price.n:TotalAmount.@CurCode",
        taxes_included = const "yes",
      },
      expires_at = "n:OfferExpirationTimeLimitDateTime",
      slices = {
        each = "n:OfferItem[1].n:Service[].n:ServiceAssociations.n:PaxJourneyRefID[]",
        of = ref(LISTS .. "n:PaxJourneyList.n:PaxJourney", "n:PaxJourneyID"),
        duration_min = { "n:Duration", time.minutes },
        segments = {
          each = "n:PaxSegmentRefID[]",
          of = ref(LISTS .. "n:PaxSegmentList.n:PaxSegment", "n:PaxSegmentID"),
          carrier = "n:MarketingCarrierInfo.n:CarrierDesigCode",
          number = "n:MarketingCarrierInfo.n:MarketingCarrierFlightNumberText",
          origin = "n:DatedOperatingLeg.n:Dep.n:IATA_LocationCode",
          destination = "n:DatedOperatingLeg.n:Arrival.n:IATA_LocationCode",
          departs = {
            ["local"] = "n:DatedOperatingLeg.n:Dep.n:AircraftScheduledDateTime",
            zone = "n:DatedOperatingLeg.n:Dep.n:AircraftScheduledDateTime.@TimeZoneCode",
          },
          arrives = {
            ["local"] = "n:DatedOperatingLeg.n:Arrival.n:AircraftScheduledDateTime",
            zone = "n:DatedOperatingLeg.n:Arrival.n:AircraftScheduledDateTime.@TimeZoneCode",
          },
        },
      },
    },
    when = { ["n:IATA_AirShoppingRS.n:Error:present"] = fail.unexpected "IATA_AirShoppingRS.Error" },
  },
}
