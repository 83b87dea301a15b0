-- What a supplier's script would read of the documents of `tests/bench/run decode`: the fields of an offer of flights.

local duffel_offer = {
  id = text,
  total_amount = decimal, total_currency = text, tax_amount = decimal, tax_currency = text,
  expires_at = text,
  owner = { iata_code = text, name = text },
  conditions = { refund_before_departure = { allowed = flag }, change_before_departure = { allowed = flag } },
  slices = {
    {
      duration = text, fare_brand_name = text,
      segments = {
        {
          id = text,
          origin = { iata_code = text, time_zone = text }, origin_terminal = text,
          destination = { iata_code = text, time_zone = text }, destination_terminal = text,
          departing_at = text, arriving_at = text, duration = text,
          marketing_carrier = { iata_code = text }, marketing_carrier_flight_number = text,
          operating_carrier = { iata_code = text }, operating_carrier_flight_number = text,
          aircraft = { name = text },
          passengers = { { passenger_id = text, cabin_class = text, baggages = { { type = text, quantity = integer } } } },
        },
      },
    },
  },
  passengers = { { id = text, type = text, age = integer } },
}

local sabre_itinerary = {
  SequenceNumber = integer,
  AirItinerary = {
    OriginDestinationOptions = {
      OriginDestinationOption = {
        {
          ElapsedTime = integer,
          FlightSegment = {
            {
              DepartureAirport = { LocationCode = text }, ArrivalAirport = { LocationCode = text },
              DepartureDateTime = text, ArrivalDateTime = text, ElapsedTime = integer,
              MarketingAirline = { Code = text }, OperatingAirline = { Code = text, FlightNumber = text },
              FlightNumber = text, ResBookDesigCode = text, StopQuantity = integer,
            },
          },
        },
      },
    },
  },
  AirItineraryPricingInfo = {
    {
      LastTicketDate = text,
      ItinTotalFare = {
        TotalFare = { Amount = decimal, CurrencyCode = text },
        Taxes = { Tax = { { Amount = decimal, CurrencyCode = text, TaxCode = text } } },
      },
    },
  },
}

return {
  ["offers.list.page.json"] = { data = { duffel_offer } },
  ["offer_requests.create_with_offers.json"] = { data = { offers = { duffel_offer } } },
  ["OTA_AirLowFareSearchRS.bfm-v1.8.6.LAX-WAW.rt.100itin.json"] = {
    Resource = {
      OTA_AirLowFareSearchRS = { PricedItineraries = { PricedItinerary = { sabre_itinerary } } },
    },
  },
}
