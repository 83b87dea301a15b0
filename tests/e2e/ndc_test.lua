-- A recorded answer of NDC 19.2 over HTTP: every offer with all that we tell of it, whole trips made of single
-- journeys, and what becomes of the answer when it changes.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local reading = require("tests.e2e.ndc_reading")
local test, equal, answered, ended = world.test, world.equal, recorded.answered, recorded.ended

local FILE = "IATA_AirShoppingRS.19.2.sandbox-9A.BCN-LHR.rt.xml"
local KEY = "k-not-for-anybodys-eyes"
local THERE = { origin = "BCN", destination = "LHR", date = "2030-12-20" }
local BACK = { origin = "LHR", destination = "BCN", date = "2030-12-27" }

local function query(slices)
  return { slices = slices, travellers = { { type = "adult" }, { type = "child", age = 9 } }, currency = "USD" }
end

local r = recorded.new {
  supplier = "ndc",
  any_day = true,
  product = "flights",
  environment = { NDC_KEY = KEY },
  query = query { THERE, BACK },
  rates = { base = "EUR", rates = { USD = "1.25" } },
  more = "scripts: { build_limit: 100ms, normalise_limit: 1s }", -- sanitizers and other load are not what is tested
}
r:needs(FILE)

-- ---- what the farm answers -----------------------------------------------------------------------------------------

local SHOP = "POST /AirShopping"
r:answers("ndc", SHOP, "200 OK", FILE, { gzip = true })
r:answers("n_half", SHOP, "200 OK", FILE)
r:set_options("n_half", { trips_max = 0 })
r:answers("n_17", SHOP, "200 OK", FILE)
r:set_options("n_17", { dialect = "17.2" })

local function error_19(code)
  return ("<IATA_AirShoppingRS xmlns=\"urn:x\"><Error><Code>%s</Code><DescText>words</DescText></Error>"
    .. "</IATA_AirShoppingRS>"):format(code)
end
local PAGE = "<html><body>Bad gateway</body>"
local ERRORS = {
  { "n_none", "200 OK", error_19("496"), "empty" },
  { "n_agency", "200 OK", error_19("E09"), "rejected", "auth" },
  { "n_busy", "200 OK", error_19("911"), "rejected", "busy" },
  { "n_wrong", "200 OK", error_19("4"), "rejected", "supplier" },
  { "n_wrong_400", "400 Bad Request", error_19("4"), "rejected", "supplier" },
  { "n_wrong_500", "500 Internal Server Error", error_19("4"), "rejected", "supplier" },
  { "n_key", "401 Unauthorized", PAGE, "rejected", "auth" },
  { "n_forbidden", "403 Forbidden", "", "rejected", "auth" },
  { "n_rate", "429 Too Many Requests", PAGE, "rejected", "quota" },
  { "n_down", "503 Service Unavailable", PAGE, "rejected", "busy" },
  { "n_page_500", "500 Internal Server Error", PAGE, "failed" },
  { "n_page_502", "502 Bad Gateway", PAGE, "failed" },
  { "n_page_404", "404 Not Found", PAGE, "rejected", "supplier" },
  { "n_page", "200 OK", PAGE, "unparsable" },
  { "n_nothing", "200 OK", "", "unparsable" },
}
for _, row in ipairs(ERRORS) do
  r:answers(row[1], SHOP, row[2], row[3])
end

local MUTATED = r:mutated("m", FILE, {
  fields = {
    "OfferID", "Offer", "OfferItem", "Offer[3]/OfferItem[1]", "OfferItem/Price/TotalAmount", "TotalAmount/@CurCode",
    "Offer[2]/OfferItem[2]/Price/TotalAmount", "Service/PaxRefID", "ServiceAssociations/PaxJourneyRefID", "PaxID",
    "PaxJourney[2]/PaxSegmentRefID", "PaxSegment[4]/DatedOperatingLeg", "AircraftScheduledDateTime",
    "Dep/IATA_LocationCode",
  },
  lists = {
    "OffersGroup", "CarrierOffers", "Offer[7]", "DataLists", "OriginDestList", "PaxJourneyList", "PaxSegmentList",
    "PaxList", "Response",
  },
}, function(alias, body)
  r:answers(alias, SHOP, "200 OK", body)
end)

r:start()

-- ---- offers --------------------------------------------------------------------------------------------------------

local expected, count = reading.read(r:read(FILE))

local function shown(reply)
  local offers = recorded.offers_of(reply, "ndc")
  return offers, reply.json.items
end

-- So many offers; the others were not asked for.
local function only(reply, offers, dropped, first_dropped)
  local entry = world.entry(reply, "ndc")
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(offers, entry.offers, "offers")
  equal(dropped, entry.offers_dropped, "offers dropped")
  equal(first_dropped or entry.first_dropped, entry.first_dropped, "the first of them")
  return entry
end

test("a trip there: each of the 21 offers in full; those of the way back were not asked for", function()
  local reply = r:search({ "ndc" }, { query = query { THERE } })
  only(reply, 21, 18, "Offer[22]: LHR-BCN on 2020-12-27: not asked for")
  local offers, items = shown(reply)
  for id, ours in pairs(offers) do
    local theirs = assert(expected[id], id)
    reading.compare({ theirs }, ours, items[ours.item])
  end
end)

test("a trip back: each of the other 18 offers in full", function()
  equal(39, count, "offers of the file")
  local reply = r:search({ "ndc" }, { query = query { BACK } })
  only(reply, 18, 21, "Offer[1]: BCN-LHR on 2020-12-20: not asked for")
  local offers, items = shown(reply)
  for id, ours in pairs(offers) do
    local theirs = assert(expected[id], id)
    reading.compare({ theirs }, ours, items[ours.item])
  end
end)

test("there and back: every pair of the 39 offers as a whole trip, each the sum of both", function()
  local reply = r:search { "ndc" }
  answered(reply, "ndc", 378, 0)
  local offers, items = shown(reply)
  local pairs_seen = 0
  for id, ours in pairs(offers) do
    local there, back = id:match("^(OFFER%d+)%+(OFFER%d+)$")
    assert(there, id)
    reading.compare({ expected[there], expected[back] }, ours, items[ours.item])
    pairs_seen = pairs_seen + 1
  end
  equal(21 * 18, pairs_seen, "pairs")
end)

-- Read from the file by eye and added on paper, so that a mistake made twice cannot hide. Barcelona and Berlin are an
-- hour ahead of London in December.
local HAND = {
  OFFER1 = { "520.66", "213.50", "307.16", minutes = 119, "2020-12-20T07:30:00", "2020-12-20T06:30:00Z",
    "2020-12-20T08:29:00", "2020-12-20T08:29:00Z", flights = "9A105" },
  OFFER2 = { "629.16", "322.00", "307.16", minutes = 119, "2020-12-20T07:30:00", "2020-12-20T06:30:00Z",
    "2020-12-20T08:29:00", "2020-12-20T08:29:00Z", flights = "9A105" },
  OFFER3 = { "410.41", "103.25", "307.16", minutes = 119, "2020-12-20T07:30:00", "2020-12-20T06:30:00Z",
    "2020-12-20T08:29:00", "2020-12-20T08:29:00Z", flights = "9A105" },
  OFFER13 = { "1068.72", "434.00", "634.72", minutes = 334, "2020-12-20T07:50:00", "2020-12-20T06:50:00Z",
    "2020-12-20T12:24:00", "2020-12-20T12:24:00Z", flights = "9A129 9A284" },
  OFFER14 = { "1287.47", "652.75", "634.72", minutes = 334, "2020-12-20T07:50:00", "2020-12-20T06:50:00Z",
    "2020-12-20T12:24:00", "2020-12-20T12:24:00Z", flights = "9A129 9A284" },
  OFFER15 = { "849.97", "215.25", "634.72", minutes = 334, "2020-12-20T07:50:00", "2020-12-20T06:50:00Z",
    "2020-12-20T12:24:00", "2020-12-20T12:24:00Z", flights = "9A129 9A284" },
  OFFER19 = { "1068.72", "434.00", "634.72", minutes = 814, "2020-12-20T07:50:00", "2020-12-20T06:50:00Z",
    "2020-12-20T20:24:00", "2020-12-20T20:24:00Z", flights = "9A129 9A288" },
}

test("prices, taxes, clocks and instants that were read by hand", function()
  local reply = r:search({ "ndc" }, { query = query { THERE } })
  local offers, items = shown(reply)
  for id, by_hand in pairs(HAND) do
    local ours, slice = offers[id], items[offers[id].item].slices[1]
    equal(by_hand[1] .. " USD", ours.price.total .. " " .. ours.price.currency, id .. " total")
    equal(by_hand[2], ours.price.base, id .. " base")
    equal(by_hand[3], ours.price.taxes, id .. " taxes")
    equal("yes", ours.price.taxes_included, id .. " taxes are in the total")
    local first, last = slice.segments[1], slice.segments[#slice.segments]
    equal("BCN-LHR", first.origin .. "-" .. last.destination, id .. " airports")
    equal(by_hand[4], first.departs["local"], id .. " departs")
    equal(by_hand[5], first.departs.utc, id .. " departs, UTC")
    equal(by_hand[6], last.arrives["local"], id .. " arrives")
    equal(by_hand[7], last.arrives.utc, id .. " arrives, UTC")
    equal(by_hand.minutes, slice.duration_min, id .. " duration")
    local flights = {}
    for i, segment in ipairs(slice.segments) do
      flights[i] = segment.carrier .. segment.number
    end
    equal(by_hand.flights, table.concat(flights, " "), id .. " flights")
    equal("2021-04-24T12:34:58.784Z", ours.expires_at, id .. " expires")
  end
  equal("275.58", offers.OFFER1.price.per_traveller[1].total, "the adult of OFFER1")
  equal("245.08", offers.OFFER1.price.per_traveller[2].total, "the child of OFFER1")
  equal("Europe/Berlin", items[offers.OFFER13.item].slices[1].segments[1].arrives.zone, "the zone of TXL")
  equal(143, items[offers.OFFER13.item].slices[1].segments[1].duration_min, "BCN-TXL")
  equal(104, items[offers.OFFER13.item].slices[1].segments[2].duration_min, "TXL-LHR")
end)

test("a whole trip that was added up by hand: 1068.72 there and 849.97 back", function()
  local offers, items = shown(r:search { "ndc" })
  local ours = offers["OFFER13+OFFER36"]
  equal("1918.69", ours.price.total, "total")
  equal("649.25", ours.price.base, "base")
  equal("1269.44", ours.price.taxes, "taxes")
  equal("1005.72", ours.price.per_traveller[1].total, "the adult")
  equal("912.97", ours.price.per_traveller[2].total, "the child")
  local back = items[ours.item].slices[2]
  equal("2020-12-27T07:30:00", back.segments[1].departs["local"], "departs, in London")
  equal("2020-12-27T07:30:00Z", back.segments[1].departs.utc, "departs, UTC")
  equal("2020-12-27T20:13:00", back.segments[2].arrives["local"], "arrives, in Barcelona")
  equal("2020-12-27T19:13:00Z", back.segments[2].arrives.utc, "arrives, UTC")
  equal(703, back.duration_min, "11 hours and 43 minutes")
end)

test("a search in euros has every total converted to the cent, and the airline's own beside it", function()
  local reply = r:search({ "ndc" }, { query = query { THERE }, currency = "EUR" })
  only(reply, 21, 18)
  local offers = shown(reply)
  equal("416.53", offers.OFFER1.price.total, "520.66 dollars at 1.25")
  equal("328.33", offers.OFFER3.price.total, "410.41 dollars at 1.25")
  for id, ours in pairs(offers) do
    equal("USD", ours.price.supplier_price.currency, id)
    equal(reading.amount_of(expected[id].total), ours.price.supplier_price.amount, id)
  end
end)

test("at most one stop: the same; none: the direct flights, and the others are told", function()
  local direct = query { THERE }
  direct.max_stops = 0
  local reply = r:search({ "ndc" }, { query = direct })
  local entry = only(reply, 12, 12)
  assert(entry.first_warning:find("with more stops", 1, true), entry.first_warning)
  direct.max_stops = 1
  only(r:search({ "ndc" }, { query = direct }), 21, 18)
end)

-- ---- what is no answer ---------------------------------------------------------------------------------------------

test("offers of single journeys that are not to be combined are no whole trip, and not nothing either", function()
  local entry = ended(r:search { "n_half" }, "n_half", "unparsable")
  assert(entry.detail:find("whole trip", 1, true), entry.detail)
end)

test("another party than the one that asked: no price of theirs is told", function()
  local alone = query { THERE }
  alone.travellers = { { type = "adult" } }
  local entry = ended(r:search({ "ndc" }, { query = alone }), "ndc", "unparsable")
  assert(entry.detail:find("2 travellers, asked for 1", 1, true), entry.detail)
end)

test("another version of the schema than the account says is told by the name of its root", function()
  local entry = ended(r:search { "n_17" }, "n_17", "unparsable")
  assert(entry.detail:find("AirShoppingRS", 1, true), entry.detail)
end)

for _, row in ipairs(ERRORS) do
  test(("%s: %s is %s%s"):format(row[1], row[2], row[4], row[5] and ", " .. row[5] or ""), function()
    local reply = r:search { row[1] }
    ended(reply, row[1], row[4], row[5])
    assert(not reply.raw:find(KEY, 1, true), "the key is in the reply")
  end)
end

r:never_wrong(MUTATED)

r:stop()
world.finish()
