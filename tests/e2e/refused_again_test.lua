-- Recorded refusals as answers to an offer that is asked for again, over HTTP: it is gone, or nobody knows, and the
-- reply says why. None of them confirms anything, and none is a script's error.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local amadeus_reading = require("tests.e2e.amadeus_reading")
local test, equal = world.test, world.equal

local ONE = { { type = "adult" } }
local SOON, LATER = os.date("!%Y-%m-%d", os.time() + 60 * 86400), os.date("!%Y-%m-%d", os.time() + 64 * 86400)

local function slice(origin, destination, date)
  return { origin = origin, destination = destination, date = date }
end

-- The recorded days are over: the same ones of another year.
local function put_forward(text)
  return (text:gsub("([\">])20[12]%d%-", "%12030-"))
end

local LATER_ON = os.date("!%a, %d %b %Y %H:%M:%S GMT", os.time() + 3600)

-- An answer to the second question: alias, status, file or text; then what is told: status, because, and whether there
-- is a time to wait.
local SUPPLIERS = {
  {
    supplier = "duffel", environment = { DUFFEL_TOKEN = "duffel-token-of-nobody" }, any_day = true,
    query = { slices = { slice("ORD", "LAX", SOON) }, travellers = ONE, currency = "GBP" },
    again = "GET /air/offers/off_0000ACUEAwiy4LZKiaec5s",
    found = function(r, alias)
      local shown = put_forward(r:read("offers.show.json")):match("\"data\":%s*(%b{})")
      r:answers(alias, "POST /air/offer_requests", "201 Created", "{\"data\": {\"offers\": [" .. shown .. "]}}")
    end,
    { "ra_airline", "502 Bad Gateway", "error.airline_error.json", "retry", "rejected" },
    { "ra_api", "500 Internal Server Error", "error.api_error.json", "retry", "rejected" },
    { "ra_key", "401 Unauthorized", "error.authentication_error.json", "retry", "rejected" },
    { "ra_limit", "429 Too Many Requests", "error.rate_limit_error.json", "retry", "rejected", waits = true,
      headers = { "ratelimit-reset: " .. LATER_ON } },
    { "ra_field", "422 Unprocessable Entity", "error.validation_error.json", "retry", "rejected" },
    { "ra_gateway", "502 Bad Gateway", "error.gateway.html", "retry", "failed" },
    { "ra_over", "200 OK", "offers.show.json", "expired" }, -- as it was recorded: over for years
  },
  {
    supplier = "amadeus", folder = "amadeus_selfservice", any_day = true,
    environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "amadeus-secret-of-nobody" },
    query = { slices = { slice("SYD", "DMK", SOON), slice("DMK", "SYD", LATER) }, travellers = ONE, currency = "EUR" },
    again = "POST /v1/shopping/flight-offers/pricing",
    found = function(r, alias)
      r:answers(alias, "POST /v1/security/oauth2/token", "200 OK", "oauth2-token.200.json")
      r:answers(alias, "POST /v2/shopping/flight-offers", "200 OK",
        amadeus_reading.as_search(r:read("flight-offers-pricing.request.json")))
    end,
    { "ra_format", "400 Bad Request", "flight-offers.400.json", "retry", "rejected" },
    { "ra_city", "400 Bad Request", "hotel-list-by-city.400.Invalid_Format.json", "retry", "rejected" },
    { "ra_system", "500 Internal Server Error", "flight-offers.500.json", "retry", "rejected" },
    { "ra_none", "404 Not Found", "flight-destinations.404.json", "sold_out" },
    { "ra_client", "401 Unauthorized", "oauth2-token.401.json", "retry", "rejected" },
    { "ra_token", "200 OK", "oauth2-token.200.json", "retry", "unparsable" },
    { "ra_found", "200 OK", "flight-offers.get.200.json", "retry", "unparsable" },
    { "ra_page", "503 Service Unavailable", "<html>Later</html>", "retry", "failed" },
  },
  {
    supplier = "travelport", folder = "travelport_uapi",
    environment = { TRAVELPORT_USER = "us", TRAVELPORT_PASSWORD = "travelport-word-of-nobody" },
    options = { target_branch = "P1234567" },
    query = { slices = { slice("IEV", "PAR", "2030-11-10"), slice("PAR", "IEV", "2030-11-20") }, travellers = ONE,
      currency = "EUR" },
    again = "POST /B2BGateway/connect/uAPI/AirService?body~AirPriceReq",
    found = function(r, alias)
      r:answers(alias, "POST /B2BGateway/connect/uAPI/AirService", "200 OK",
        put_forward(r:read("LowFareSearchRsp.1ADT.IEV-PAR.rt.xml")))
    end,
    { "ra_seats", "500 Internal Server Error", "fault.price.no-availability.xml", "sold_out" },
    { "ra_nothing", "500 Internal Server Error", "fault.no-more-flights.xml", "sold_out" },
    { "ra_agreement", "500 Internal Server Error", "fault.security.no-agreement.xml", "retry", "rejected" },
    { "ra_words", "500 Internal Server Error", "fault.validation.xml", "retry", "rejected" },
    { "ra_parsed", "500 Internal Server Error", "fault.no-solutions.parsed.json", "retry", "rejected" },
    { "ra_counts", "200 OK", "AvailabilitySearchRsp.xml", "retry", "unparsable" },
    { "ra_money", "200 OK", "CurrencyConversionRsp.xml", "retry", "unparsable" },
  },
}

for _, supplier in ipairs(SUPPLIERS) do
  supplier.tokens = true
  local r = recorded.new(supplier)
  r:needs(supplier[1][3])
  for _, row in ipairs(supplier) do
    r:answers(row[1], supplier.again, row[2], row[3], row.headers)
    supplier.found(r, row[1])
  end
  r:start()
  for _, row in ipairs(supplier) do
    local what = row[3]:find("^<") and "a page" or row[3]
    test(("%s: asked again, %s with %s is %s"):format(supplier.supplier, row[2], what, row[4]), function()
      local told = r:revalidated(row[1])
      local text = world.json.encode(told)
      equal(row[4], told.status, text)
      equal(row[5], told.because, text)
      equal(row.waits or false, (told.retry_in_ms or 0) > 0, text)
      for _, name in ipairs { "now", "offer", "handoff", "booking_token" } do
        equal(nil, told[name], name)
      end
    end)
  end
  r:stop()
end

world.finish()
