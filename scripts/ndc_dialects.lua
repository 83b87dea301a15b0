-- Dialects of NDC: what each version of IATA's schemas calls what the scripts ask and read. A version is written as
-- what it changes of another. Paths are those of scripts/records.lua.

local records = require("records")

-- Names of requests, and paths of answers as scripts/records.lua reads them.
local V19 = {
  version = "19.2",
  xmlns = "http://www.iata.org/IATA/2015/00/2019.2/", -- and the message's name
  shop = "IATA_AirShopping", price = "IATA_OfferPrice",
  place = "IATA_LocationCode", number = "IATA_Number", age = "AgeMeasure", language = "PrimaryLangID",
  currency = "RequestedCurCode",
  top = {
    error = { at = "Error[]", code = "Code", message = "DescText" },
    error_listed = { at = "Errors.Error[]", code = "Code", message = "DescText" },
    warning = { at = "Response.Warning[]", code = "Code", message = "DescText" },
    response_id = "Response.ShoppingResponse.ShoppingResponseRefID",
  },
  lists = {
    at = "Response.DataLists",
    paxs = { at = "PaxList.Pax[]", id = "PaxID", ptc = "PTC" },
    ways = { at = "OriginDestList.OriginDest[]", journeys = "PaxJourneyRefID[]" },
    journeys = {
      at = "PaxJourneyList.PaxJourney[]",
      id = "PaxJourneyID", duration = "Duration", segments = "PaxSegmentRefID[]",
    },
    segments = {
      at = "PaxSegmentList.PaxSegment[]",
      id = "PaxSegmentID", duration = "Duration",
      carrier = "MarketingCarrierInfo.CarrierDesigCode",
      number = "MarketingCarrierInfo.MarketingCarrierFlightNumberText",
      operating = "OperatingCarrierInfo.CarrierDesigCode",
      from = "Dep.IATA_LocationCode", leaves = "Dep.AircraftScheduledDateTime.#text",
      leaves_zone = "Dep.AircraftScheduledDateTime.@TimeZoneCode",
      to = "Arrival.IATA_LocationCode", lands = "Arrival.AircraftScheduledDateTime.#text",
      lands_zone = "Arrival.AircraftScheduledDateTime.@TimeZoneCode",
      legs = {
        at = "DatedOperatingLeg[]",
        from = "Dep.IATA_LocationCode", leaves = "Dep.AircraftScheduledDateTime.#text",
        leaves_zone = "Dep.AircraftScheduledDateTime.@TimeZoneCode",
        to = "Arrival.IATA_LocationCode", lands = "Arrival.AircraftScheduledDateTime.#text",
        lands_zone = "Arrival.AircraftScheduledDateTime.@TimeZoneCode",
      },
    },
    fares = { at = "PriceClassList.PriceClass[]", id = "PriceClassID", name = "Name" },
    allowances = {
      at = "BaggageAllowanceList.BaggageAllowance[]",
      id = "BaggageAllowanceID", kind = "TypeCode", pieces = "PieceAllowance[].TotalQty:integer",
      weights = "WeightAllowance[].MaximumWeightMeasure:decimal",
    },
    penalties = {
      at = "PenaltyList.Penalty[]",
      id = "PenaltyID", cancel_fee = "CancelFeeInd:flag", change_fee = "ChangeFeeInd:flag",
    },
    definitions = {
      at = "ServiceDefinitionList.ServiceDefinition[]",
      id = "ServiceDefinitionID", allowances = "ServiceDefinitionAssociation.BaggageAllowanceRefID[]",
    },
  },
  shopped_at = "Response.OffersGroup.CarrierOffers[].Offer[]",
  priced_at = "Response.PricedOffer[]",
  offer = {
    id = "OfferID", owner = "OwnerCode",
    expires = "OfferExpirationTimeLimitDateTime",
    total = "TotalPrice.TotalAmount.#text:decimal", currency = "TotalPrice.TotalAmount.@CurCode",
    base = "TotalPrice.BaseAmount.#text:decimal", base_currency = "TotalPrice.BaseAmount.@CurCode",
    taxes = "TotalPrice.TaxSummary.TotalTaxAmount.#text:decimal",
    penalties = "PenaltyRefID[]",
    overview = {
      at = "JourneyOverview.JourneyPriceClass[]", journey = "PaxJourneyRefID", fare = "PriceClassRefID",
    },
    bags = {
      at = "BaggageAllowance[]",
      allowance = "BaggageAllowanceRefID", paxs = "PaxRefID[]",
      journeys = "BaggageFlightAssociations.PaxJourneyRefID[]|PaxJourneyRefID[]",
      segments = "BaggageFlightAssociations.PaxSegmentRefID[]",
    },
    items = {
      at = "OfferItem[]",
      id = "OfferItemID", mandatory = "MandatoryInd:flag",
      total = "Price.TotalAmount.#text:decimal", currency = "Price.TotalAmount.@CurCode",
      base = "Price.BaseAmount.#text:decimal", base_currency = "Price.BaseAmount.@CurCode",
      taxes = "Price.TaxSummary.TotalTaxAmount.#text:decimal",
      guaranteed = "PriceGuaranteeTimeLimitDateTime", pay_by = "PaymentTimeLimit.PaymentTimeLimitDateTime",
      cancel = "CancelRestrictions[].AllowedModificationInd:flag",
      change = "ChangeRestrictions[].AllowedModificationInd:flag",
      travellers = "Service[].PaxRefID[]", journeys = "Service[].ServiceAssociations.PaxJourneyRefID[]",
      services = {
        at = "Service[]", is_lazy = true,
        paxs = "PaxRefID[]", definition = "ServiceAssociations.ServiceDefinitionRef.ServiceDefinitionRefID",
        segments = "ServiceAssociations.ServiceDefinitionRef.PaxSegmentRefID[]",
      },
      fares = {
        at = "FareDetail[]",
        paxs = "PaxRefID[]",
        parts = {
          at = "FareComponent[]",
          segments = "PaxSegmentRefID[]", fare = "PriceClassRefID",
          cabin_code = "CabinType.CabinTypeCode", cabin = "CabinType.CabinTypeName",
          penalties = "FareRule[].PenaltyRefID[]",
        },
      },
    },
  },
}

local V18 = {
  version = "18.2",
  xmlns = "http://www.iata.org/IATA/2015/00/2018.2/",
  place = "IATALocationCode", number = "IATANumber", language = false,
  lists = {
    segments = {
      from = "Dep.IATALocationCode", to = "Arrival.IATALocationCode",
      legs = { from = "Dep.IATALocationCode", to = "Arrival.IATALocationCode" },
    },
    definitions = false,
  },
  offer = {
    expires = "OfferExpirationDateTime",
    bags = { journeys = "PaxJourneyRefID[]", segments = false },
    items = {
      guaranteed = false, pay_by = false, cancel = false, change = false,
      services = false,
      fares = {
        parts = {
          cancel_fee = "FareRule[].Penalty[].CancelFeeInd:flag", change_fee = "FareRule[].Penalty[].ChangeFeeInd:flag",
        },
      },
    },
  },
}

local V21 = {
  version = "21.3",
  xmlns = "http://www.iata.org/IATA/2015/EASD/00/IATA_OffersAndOrdersMessage",
  xmlns_types = "http://www.iata.org/IATA/2015/EASD/00/IATA_OffersAndOrdersCommonTypes",
  age = false, currency = "CurCode",
  lists = {
    segments = {
      carrier = false, number = false, operating = false, duration = false, legs = false,
      from = false, leaves = false, leaves_zone = false, to = false, lands = false, lands_zone = false,
      marketing = "DatedMarketingSegmentRefId",
      cabin_code = "CabinTypeAssociationChoice.SegmentCabinType.CabinTypeCode",
      cabin = "CabinTypeAssociationChoice.SegmentCabinType.CabinTypeName",
    },
    marketed = {
      at = "DatedMarketingSegmentList.DatedMarketingSegment[]",
      id = "DatedMarketingSegmentId", carrier = "CarrierDesigCode", number = "MarketingCarrierFlightNumberText",
      operated = "DatedOperatingSegmentRefId",
      from = "Dep.IATA_LocationCode", leaves = "Dep.AircraftScheduledDateTime.#text",
      leaves_zone = "Dep.AircraftScheduledDateTime.@TimeZoneCode",
      to = "Arrival.IATA_LocationCode", lands = "Arrival.AircraftScheduledDateTime.#text",
      lands_zone = "Arrival.AircraftScheduledDateTime.@TimeZoneCode",
    },
    operated = {
      at = "DatedOperatingSegmentList.DatedOperatingSegment[]",
      id = "DatedOperatingSegmentId", operating = "CarrierDesigCode", duration = "Duration",
    },
    definitions = {
      allowances = "ServiceDefinitionAssociation.BaggageAllowanceRef.BaggageAllowanceRefID[]",
    },
  },
  offer = {
    bags = {
      at = "BaggageAssociations[]",
      journeys = "OfferFlightAssociations.PaxJourneyRef.PaxJourneyRefID[]",
      segments = "OfferFlightAssociations.PaxSegmentReferences.PaxSegmentRefID[]",
    },
    items = {
      pay_by = "PaymentTimeLimit.PaymentTimeLimitDate.PaymentTimeLimitDateTime",
      journeys = "Service[].OfferServiceAssociation.PaxJourneyRef.PaxJourneyRefID[]",
      services = {
        definition = "OfferServiceAssociation.ServiceDefinitionRef.ServiceDefinitionRefID",
        segments = "OfferServiceAssociation.ServiceDefinitionRef.OfferFlightAssociations.PaxSegmentReferences"
          .. ".PaxSegmentRefID[]",
      },
      fares = { penalties = "PenaltyRefID[]", parts = { penalties = false } },
    },
  },
}

-- Ids are attributes here, and references texts with blanks between.
local V17 = {
  version = "17.2",
  xmlns = "http://www.iata.org/IATA/EDIST/2017.2",
  shop = "AirShopping", price = "OfferPrice", number = "IATA_Number",
  top = {
    error = { at = "Errors.Error[]", code = "@Code|@ShortText", message = "#text" },
    warning = { at = "Warnings.Warning[]", code = "@Code", message = "#text" },
    response_id = "ShoppingResponseID.ResponseID.#text",
  },
  lists = {
    at = "DataLists",
    paxs = { at = "PassengerList.Passenger[]", id = "@PassengerID", ptc = "PTC" },
    ways = { at = "OriginDestinationList.OriginDestination[]", journeys = "FlightReferences:refs" },
    journeys = {
      at = "FlightList.Flight[]", id = "@FlightKey", duration = "Journey.Time", segments = "SegmentReferences:refs",
    },
    segments = {
      at = "FlightSegmentList.FlightSegment[]",
      id = "@SegmentKey", duration = "FlightDetail.FlightDuration.Value",
      carrier = "MarketingCarrier.AirlineID", number = "MarketingCarrier.FlightNumber",
      operating = "OperatingCarrier.AirlineID",
      from = "Departure.AirportCode", leaves_day = "Departure.Date", leaves_time = "Departure.Time",
      to = "Arrival.AirportCode", lands_day = "Arrival.Date", lands_time = "Arrival.Time",
    },
    fares = {
      at = "PriceClassList.PriceClass[]",
      id = "@PriceClassID", name = "Name", seats = "ClassOfService.Code.@SeatsLeft:integer",
    },
    allowances = {
      at = "BaggageAllowanceList.BaggageAllowance[]",
      id = "@BaggageAllowanceID", kind = "BaggageCategory", pieces = "PieceAllowance[].TotalQuantity:integer",
      weights = "WeightAllowance[].MaximumWeight.Value:decimal",
    },
    penalties = {
      at = "PenaltyList.Penalty[]",
      id = "@ObjectKey", refundable = "@RefundableInd:flag", changeable = "@ChangeAllowedInd:flag",
      cancel_fee = "@CancelFeeInd:flag", change_fee = "@ChangeFeeInd:flag",
    },
    definitions = {
      at = "ServiceDefinitionList.ServiceDefinition[]",
      id = "@ServiceDefinitionID", allowances = "BaggageAllowanceRef:refs",
    },
  },
  shopped_at = "OffersGroup.AirlineOffers[].Offer[]",
  priced_at = "PricedOffer[]",
  offer = {
    id = "@OfferID", owner = "@Owner", expires = "TimeLimits.OfferExpiration.@DateTime",
    total = "TotalPrice.DetailCurrencyPrice.Total.#text:decimal|TotalPrice.SimpleCurrencyPrice.#text:decimal",
    currency = "TotalPrice.DetailCurrencyPrice.Total.@Code|TotalPrice.SimpleCurrencyPrice.@Code",
    overview = { at = "FlightsOverview.FlightRef[]", journey = "#text", fare = "@PriceClassRef" },
    bags = {
      at = "BaggageAllowance[]",
      allowance = "BaggageAllowanceRef", paxs = "PassengerRefs:refs", journeys = "FlightRefs:refs",
    },
    items = {
      at = "OfferItem[]",
      id = "@OfferItemID", mandatory = "@MandatoryInd:flag",
      total = "TotalPriceDetail.TotalAmount.DetailCurrencyPrice.Total.#text:decimal"
        .. "|TotalPriceDetail.TotalAmount.SimpleCurrencyPrice.#text:decimal",
      currency = "TotalPriceDetail.TotalAmount.DetailCurrencyPrice.Total.@Code"
        .. "|TotalPriceDetail.TotalAmount.SimpleCurrencyPrice.@Code",
      base = "TotalPriceDetail.BaseAmount.#text:decimal", base_currency = "TotalPriceDetail.BaseAmount.@Code",
      taxes = "TotalPriceDetail.Taxes.Total.#text:decimal",
      travellers = "Service[].PassengerRefs:refs", journeys = "Service[].FlightRefs:refs",
      services = {
        at = "Service[]", is_lazy = true,
        paxs = "PassengerRefs:refs", definition = "ServiceDefinitionRef.#text",
        segments = "ServiceDefinitionRef.@SegmentRefs:refs",
      },
      fares = {
        at = "FareDetail[]",
        paxs = "PassengerRefs:refs",
        parts = {
          at = "FareComponent[]",
          segments = "SegmentRefs:refs", fare = "PriceClassRef",
          cabin_code = "FareBasis.CabinType.CabinTypeCode", cabin = "FareBasis.CabinType.CabinTypeName",
          penalties = "FareRules.Penalty.@refs:refs",
        },
      },
    },
  },
}

local BASED = { ["17.2"] = { V17 }, ["18.2"] = { V19, V18 }, ["19.2"] = { V19 }, ["21.3"] = { V19, V21 } }

local M = {}
local whole = {} -- made when it is first asked for: an airline speaks one

--- The dialect of that version, or nil.
function M.of(version)
  local parts = BASED[version]
  if parts and not whole[version] then
    whole[version] = parts[2] and records.merge(parts[1], parts[2]) or parts[1]
  end
  return whole[version]
end

return M
