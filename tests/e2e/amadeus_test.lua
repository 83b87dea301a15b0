-- Amadeus' published answers over HTTP: a login, every offer with all that we tell of it, the outcome of every error,
-- and the offer that goes back whole.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local readings = require("tests.e2e.readings")
local mutations = require("tests.e2e.mutations")
local reading = require("tests.e2e.amadeus_reading")
local test, equal, answered, ended = world.test, world.equal, recorded.answered, recorded.ended

local SECRET = "not-for-anybodys-eyes-of-amadeus"
local DAY_S = 86400

-- Amadeus sells a year ahead.
local function day(days)
  return os.date("!%Y-%m-%d", os.time() + days * DAY_S)
end

local ONE_WAY = {
  slices = { { origin = "SYD", destination = "BKK", date = day(60) } },
  travellers = { { type = "adult" } },
  currency = "EUR",
}
local function return_trip(from, to, travellers, currency)
  return {
    slices = {
      { origin = from, destination = to, date = day(60) },
      { origin = to, destination = from, date = day(64) },
    },
    travellers = travellers,
    currency = currency,
  }
end
local FAMILY = return_trip("GIG", "MAD", { { type = "adult" }, { type = "child", age = 9 } }, "USD")
local TO_MADRID = {
  slices = { { origin = "NYC", destination = "MAD", date = day(60) } },
  travellers = { { type = "adult" } },
  currency = "USD",
}
local COUPLE_OF_FLIGHTS = return_trip("SYD", "DMK", { { type = "adult" } }, "EUR")

local r = recorded.new {
  supplier = "amadeus",
  any_day = true,
  folder = "amadeus_selfservice",
  environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = SECRET },
  query = ONE_WAY,
  rates = { base = "EUR", rates = { USD = "1.25" } },
  more = "scripts: { build_limit: 200ms, normalise_limit: 2s }", -- not the subject here; the machine may be busy
}
r:needs("flight-offers.get.200.json")

-- ---- what the farm answers -----------------------------------------------------------------------------------------

local LOGIN = "POST /v1/security/oauth2/token"
local SEARCH = "POST /v2/shopping/flight-offers"
local GET, POST = "flight-offers.get.200.json", "flight-offers.post.200.json"
local PRICED = reading.as_search(r:read("flight-offers-pricing.200.json"))
local REQUESTED = reading.as_search(r:read("flight-offers-pricing.request.json"))
local TOKEN = reading.decode(r:read("oauth2-token.200.json")).access_token

r:answers_everywhere(LOGIN, "200 OK", "oauth2-token.200.json")
r:answers("amadeus", SEARCH, "200 OK", GET)
r:answers("a_post", SEARCH, "200 OK", POST)
r:set_query("a_post", TO_MADRID)
r:answers("a_priced", SEARCH, "200 OK", PRICED)
r:answers("a_requested", SEARCH, "200 OK", REQUESTED)
r:answers("a_none", SEARCH, "200 OK", "{\"meta\": {\"count\": 0}, \"data\": []}")
r:answers("a_nothing", SEARCH, "404 Not Found", "flight-destinations.404.json")
r:answers("a_refused", LOGIN, "401 Unauthorized", "oauth2-token.401.json")

-- How each error ends, and answers to other questions.
local ERRORS = {
  { "e_400", "400 Bad Request", "flight-offers.400.json", "rejected", "supplier", code = "477",
    told = "INVALID FORMAT" },
  { "e_hotel_400", "400 Bad Request", "hotel-list-by-city.400.Invalid_Format.json", "rejected", "supplier",
    code = "477", told = "INVALID FORMAT" },
  { "e_500", "500 Internal Server Error", "flight-offers.500.json", "rejected", "busy", told = "141 SYSTEM ERROR" },
  { "e_503", "503 Service Unavailable", "flight-offers.500.json", "rejected", "busy", told = "141 SYSTEM ERROR" },
  { "e_200", "200 OK", "flight-offers.400.json", "rejected", "supplier", code = "477", told = "INVALID FORMAT" },
  { "e_1797", "400 Bad Request", "flight-destinations.404.json", "rejected", "supplier", code = "1797",
    told = "NOT FOUND" },
  { "e_401", "401 Unauthorized", "oauth2-token.401.json", "rejected", "auth", told = "401" },
  { "e_token", "200 OK", "oauth2-token.200.json", "unparsable", nil, told = "data" },
  { "e_request", "200 OK", "flight-offers.post.request.json", "unparsable", nil, told = "data" },
  { "e_priced", "200 OK", "flight-offers-pricing.200.json", "unparsable", nil, told = "data" },
  { "e_pricing", "200 OK", "flight-offers-pricing.request.json", "unparsable", nil, told = "data" },
  { "e_flights", "200 OK", "flight-destinations.200.json", "unparsable", nil, told = "is no flight-offer" },
  { "e_hotels", "200 OK", "hotel-list-by-city.200.Successful_Reply.json", "unparsable", nil,
    told = "is no flight-offer" },
  { "e_rooms", "200 OK", "hotel-offers.200.json", "unparsable", nil, told = "is no flight-offer" },
  { "e_cars", "200 OK", "transfer-offers.200.json", "unparsable", nil, told = "is no flight-offer" },
}
for _, row in ipairs(ERRORS) do
  r:answers(row[1], SEARCH, row[2], row[3])
end

local function with(status)
  return function(alias, body)
    r:answers(alias, SEARCH, status, body)
  end
end

local FIELDS = { "price.grandTotal", "price.total", "price.currency", "data[].price", "data[1].itineraries",
  "segments[].departure", "segments[1].arrival", "data[].travelerPricings", "data[].type", "data" }
local LISTS = { "data[].itineraries", "itineraries[1].segments", "data[].travelerPricings", "data" }
local MUTATED = {
  { r:mutated("m_get", GET, { fields = FIELDS, lists = LISTS }, with "200 OK") },
  { r:mutated("m_post", POST, { query = TO_MADRID, fields = FIELDS, lists = LISTS }, with "200 OK"),
    { currency = "USD" } },
  { r:mutated("m_priced", PRICED, { file = "flight-offers-pricing.200.json", lists = LISTS, fields = {
    "travelerPricings[2].price", "price.base",
    "segments[].id", "segments[].duration", "price.grandTotal", "data[].price" } }, with "200 OK"),
    { query = FAMILY } },
  { r:mutated("m_requested", REQUESTED, { file = "flight-offers-pricing.request.json", lists = LISTS, fields = {
    "price.total", "segments[].carrierCode",
    "segments[].number", "fareDetailsBySegment[].cabin", "departure.at" } }, with "200 OK"),
    { query = COUPLE_OF_FLIGHTS } },
  { r:mutated("m_token", "oauth2-token.200.json", { fields = { "access_token", "expires_in" },
    whole = true }, function(alias, body)
    r:answers(alias, LOGIN, "200 OK", body)
    r:answers(alias, SEARCH, "200 OK", GET)
  end) },
  { r:mutated("m_400", "flight-offers.400.json", { fields = { "errors[].code", "errors[].title", "errors" },
    lists = { "errors" }, no_offers = true }, with "400 Bad Request") },
  { r:mutated("m_500", "flight-offers.500.json", { fields = { "errors[].code", "errors[].title", "errors" },
    lists = { "errors" }, no_offers = true }, with "500 Internal Server Error") },
  { r:mutated("m_401", "oauth2-token.401.json", { fields = { "error", "error_description" }, no_offers = true,
    whole = true },
    function(alias, body)
      r:answers(alias, LOGIN, "401 Unauthorized", body)
    end) },
}
-- Nothing was found: only its code says so.
local NOTHING = r:mutated("m_404", "flight-destinations.404.json", { fields = { "errors[].code", "errors" },
  lists = { "errors" } }, with "404 Not Found")

r:start()

-- ---- offers --------------------------------------------------------------------------------------------------------

local function compares(alias, text, count, fields)
  local expected, corrected = reading.read(reading.decode(text))
  local reply = r:search({ alias }, fields)
  answered(reply, alias, count, corrected)
  readings.compare(expected, reply, alias)
  return reply, corrected
end

test("both offers of the answer to GET are told in full", function()
  local _, corrected = compares("amadeus", r:read(GET), 2)
  equal(0, corrected, "durations that are wrong")
end)

test("both offers of the answer to POST are told in full; its durations forgot when summer time ends", function()
  local _, corrected = compares("a_post", r:read(POST), 2, { currency = "USD" })
  equal(4, corrected, "two flights, two journeys")
end)

test("the offer that pricing gave is told in full: two travellers, there and back", function()
  compares("a_priced", PRICED, 1, { query = FAMILY })
end)

test("the offer that pricing was asked about is told in full", function()
  compares("a_requested", REQUESTED, 1, { query = COUPLE_OF_FLIGHTS })
end)

-- Read from the files by eye, so that a mistake made twice cannot hide. Each: what, and what it must be.
local function by_hand(alias, id, fields, rows)
  test(("%s, offer %s: values read by hand"):format(alias, id), function()
    local reply = r:search({ alias }, fields)
    local offer = assert(recorded.offers_of(reply, alias)[id], reply.raw:sub(1, 300))
    local slices = reply.json.items[offer.item].slices
    for _, row in ipairs(rows) do
      local at = row[1]:find("^%d") and slices or offer
      for step in row[1]:gmatch("[^.]+") do
        at = type(at) == "table" and at[tonumber(step) or step] or nil
      end
      equal(row[2], at, row[1])
    end
    equal(nil, offer.price.due_later, "due later")
    equal(nil, offer.expires_at, "expiry")
  end)
end

-- Sydney is 11 hours ahead in November, Manila 8, Bangkok 7.
by_hand("amadeus", "1", nil, {
  { "price.total", "355.34" }, { "price.currency", "EUR" }, { "price.base", "255.00" }, { "price.taxes", "100.34" },
  { "price.taxes_included", "yes" }, { "seller.name", "PHILIPPINE AIRLINES" }, { "bags.checked", 1 },
  { "seats_left", 9 }, { "1.duration_min", 855 },
  { "1.segments.1.origin", "SYD" }, { "1.segments.1.departs.local", "2021-11-01T11:35:00" },
  { "1.segments.1.departs.utc", "2021-11-01T00:35:00Z" }, { "1.segments.1.destination", "MNL" },
  { "1.segments.1.arrives.utc", "2021-11-01T08:50:00Z" }, { "1.segments.1.duration_min", 495 },
  { "1.segments.2.departs.utc", "2021-11-01T11:20:00Z" }, { "1.segments.2.arrives.utc", "2021-11-01T14:50:00Z" },
  { "1.segments.2.arrives.local", "2021-11-01T21:50:00" }, { "1.segments.2.duration_min", 210 },
})
by_hand("amadeus", "2", nil, {
  { "price.total", "355.34" }, { "1.duration_min", 995 }, { "1.segments.2.number", "740" },
  { "1.segments.2.departs.utc", "2021-11-01T13:40:00Z" }, { "1.segments.2.arrives.local", "2021-11-02T00:10:00" },
  { "1.segments.2.arrives.utc", "2021-11-01T17:10:00Z" }, { "1.segments.2.arrives.zone", "Asia/Bangkok" },
})
-- New York is 4 hours behind until 5 November, London is at UTC, Madrid an hour ahead.
by_hand("a_post", "1", { currency = "USD" }, {
  { "price.total", "342.20" }, { "price.base", "294.00" }, { "price.taxes", "48.20" }, { "price.currency", "USD" },
  { "seller.id", "6X" }, { "seller.name", "AMADEUS SIX" }, { "bags.checked", 8 },
  { "1.segments.1.departs.utc", "2023-11-02T01:50:00Z" }, { "1.segments.1.arrives.utc", "2023-11-02T08:45:00Z" },
  { "1.segments.1.duration_min", 415 }, { "1.segments.1.cabin", "business" },
  { "1.segments.2.arrives.utc", "2023-11-02T12:00:00Z" }, { "1.segments.2.duration_min", 90 },
  { "1.duration_min", 610 },
})
by_hand("a_post", "2", { currency = "USD" }, {
  { "1.segments.1.origin", "JFK" }, { "1.segments.1.departs.utc", "2023-11-02T00:00:00Z" },
  { "1.segments.1.duration_min", 485 }, { "1.duration_min", 720 },
})
-- A euro is 1.25 dollars here: 342.20, 294.00 and 48.20 of them.
by_hand("a_post", "1", { currency = "EUR" }, {
  { "price.total", "273.76" }, { "price.base", "235.20" }, { "price.taxes", "38.56" }, { "price.currency", "EUR" },
  { "price.supplier_price.amount", "342.20" }, { "price.supplier_price.currency", "USD" },
  { "price.per_traveller.1.total", "273.76" }, { "price.fx.id", "amadeus-test" },
})
-- Rio is 3 hours behind, Casablanca and Madrid an hour ahead.
by_hand("a_priced", "1", { query = FAMILY }, {
  { "price.total", "2778.98" }, { "price.base", "2568.00" }, { "price.taxes", "210.98" }, { "price.currency", "USD" },
  { "price.per_traveller.1.type", "adult" }, { "price.per_traveller.1.total", "1625.49" },
  { "price.per_traveller.2.type", "child" }, { "price.per_traveller.2.total", "1153.49" },
  { "seller.id", "AT" }, { "bags.checked", 2 }, { "seats_left", nil },
  { "1.segments.1.departs.utc", "2020-03-02T02:30:00Z" }, { "1.segments.1.arrives.utc", "2020-03-02T11:10:00Z" },
  { "1.segments.1.cabin", "business" }, { "1.segments.2.arrives.utc", "2020-03-02T16:40:00Z" },
  { "1.duration_min", 850 },
  { "2.segments.1.departs.utc", "2020-03-05T17:40:00Z" }, { "2.segments.2.arrives.utc", "2020-03-07T01:00:00Z" },
  { "2.segments.2.duration_min", 560 }, { "2.segments.2.cabin", "economy" }, { "2.duration_min", 1880 },
})
by_hand("a_requested", "1", { query = COUPLE_OF_FLIGHTS }, {
  { "price.total", "546.70" }, { "price.base", "334.00" }, { "price.taxes", "212.70" }, { "seller.id", "HR" },
  { "1.segments.1.departs.utc", "2021-02-01T08:15:00Z" }, { "1.segments.1.arrives.utc", "2021-02-01T16:30:00Z" },
  { "1.segments.2.duration_min", 145 }, { "1.duration_min", 1935 },
  { "2.segments.1.departs.utc", "2021-02-05T16:15:00Z" }, { "2.segments.2.arrives.utc", "2021-02-06T07:15:00Z" },
  { "2.duration_min", 900 },
})

-- ---- nothing, and trouble ------------------------------------------------------------------------------------------

test("404 with its code, and an empty list, are empty", function()
  local entry = ended(r:search { "a_nothing" }, "a_nothing", "empty")
  equal(404, entry.http_status, "http_status")
  ended(r:search { "a_none" }, "a_none", "empty")
end)

test("a login that is refused is rejected, for want of authority", function()
  local reply = r:search { "a_refused" }
  local entry = ended(reply, "a_refused", "rejected", "auth")
  equal("login", entry.phase, "phase")
  equal("Client credentials are invalid", entry.detail, "detail")
  assert(not reply.raw:find(SECRET, 1, true), "the secret is in the reply")
end)

for _, row in ipairs(ERRORS) do
  local name, status, file, outcome, kind = row[1], row[2], row[3], row[4], row[5]
  test(("%s: %s with %s is %s%s"):format(name, file, status, outcome, kind and ", " .. kind or ""), function()
    local entry = ended(r:search { name }, name, outcome, kind)
    equal(row.code, entry.code, "code")
    assert(entry.detail:find(row.told, 1, true), entry.detail)
    local http = tonumber(status:match("^%d+"))
    equal(http >= 400 and http or nil, entry.http_status, "http_status")
  end)
end

test("neither secret nor token is in a reply or in the log", function()
  for _, alias in ipairs { "amadeus", "a_nothing", "e_400", "e_hotels" } do
    local reply = r:search { alias }
    assert(not reply.raw:find(SECRET, 1, true) and not reply.raw:find(TOKEN, 1, true), reply.raw)
  end
  local output = r.world:engine_output()
  assert(not output:find(SECRET, 1, true) and not output:find(TOKEN, 1, true), "the log")
end)

-- ---- mutations -----------------------------------------------------------------------------------------------------

for _, mutated in ipairs(MUTATED) do
  r:never_wrong(mutated[1], mutated[2])
end

test("flight-destinations.404.json: mutations of each kind", function()
  mutations.tell("flight-destinations.404.json", NOTHING)
end)
for _, mutation in ipairs(NOTHING) do
  -- A number as text is still that number.
  local is_told = mutation.name == "errors[].code retyped"
  test(("404: %s is %s"):format(mutation.name, is_told and "empty" or "a refusal"), function()
    local reply = r:search { mutation.alias }
    ended(reply, mutation.alias, is_told and "empty" or "rejected", not is_told and "supplier" or nil)
  end)
end

-- ---- back to be priced ---------------------------------------------------------------------------------------------

-- Replies do not show what an offer keeps, so this script tells its digest as the offer's brand.
local function script_that_tells()
  local script, found = world.read_file("suppliers/amadeus.lua"):gsub("\n    ref = bytes,\n",
    "%0    brand = crypto.hex(crypto.sha256(bytes)),\n")
  equal(1, found, "places where an offer keeps its bytes")
  return script
end

local function digest(text)
  local path = r.out .. "digest"
  world.write_file(path, text)
  return (world.shell("sha256sum " .. path):match("^%x+"))
end

-- The engine asks again in fixtures only so far.
test("an offer keeps its bytes and goes back to be priced with them; another one comes, and is told", function()
  local folder = r.out .. "priced"
  local offer = reading.offer_in(r:read("flight-offers-pricing.request.json"))
  local priced = reading.offer_in(r:read("flight-offers-pricing.200.json"))
  local request = "{\"data\":{\"type\":\"flight-offers-pricing\",\"flightOffers\":[" .. offer .. "]}}"
  local documented = reading.decode(r:read("flight-offers-pricing.request.json"))
  readings.same(documented, reading.decode(request), "request")
  -- days: of both flights, and of the search.
  local function fixture(name, query, days, body, expect, revalidate)
    query.slices[1].date, query.slices[2].date = days[1], days[2]
    world.write_file(("%s/amadeus.test/%s.json"):format(folder, name), world.json.encode {
      about = "the published documents of pricing", now = days[3] .. "T09:00:00Z", login = "token-1",
      secrets = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "test-secret" },
      search = { product = "flights", query = query },
      exchanges = { { response = body } }, expect = expect, revalidate = revalidate,
    })
  end
  world.shell(("rm -rf %s && mkdir -p %s/amadeus.test"):format(folder, folder))
  world.write_file(folder .. "/amadeus.lua", script_that_tells())
  local kept_days = { "2021-02-01", "2021-02-05", "2021-01-05" }
  local priced_days = { "2020-03-01", "2020-03-05", "2020-02-01" }
  fixture("ok-kept", return_trip("SYD", "DMK", { { type = "adult" } }, "EUR"), kept_days,
    { body = REQUESTED }, { outcome = "answered", offers = 1,
    first = { brand = digest(offer), price = { total = "546.70" } } })
  fixture("ok-priced", return_trip("GIG", "MAD", FAMILY.travellers, "USD"), priced_days,
    { status = 404, body = r:read("flight-destinations.404.json") }, { outcome = "empty" }, { {
      offer = { id = "1", price = { total = "546.70", currency = "EUR" } }, ref = offer,
      exchanges = { { expect_request = { body = request },
        response = { body = r:read("flight-offers-pricing.200.json") } } },
      expect = { status = "changed", now = { total = "2778.98", currency = "USD" }, offer = {
        id = "amadeus:1", brand = digest(priced), bags = { checked = 2 }, seller = { id = "AT" },
        price = { total = "2778.98", taxes = "210.98", currency = "USD" },
      } },
    } })
  world.write_file(folder .. ".yaml", ("suppliers_dir: %s\nscripts_dir: %s\n"):format(
    world.shell("realpath " .. folder), world.shell("realpath scripts")))
  local output, code = world.shell(world.build .. "/lastcall test -c " .. folder .. ".yaml")
  equal(0, code, output)
  assert(output:find("2 passed", 1, true), output)
end)

r:stop()
world.finish()
