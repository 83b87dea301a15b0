-- Travelport's recorded answers over HTTP: every combination with all that we tell of it, the outcome of every fault,
-- each answer as it might change; and an offer priced again.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local readings = require("tests.e2e.readings")
local reading = require("tests.e2e.travelport_reading")
local test, equal, answered, ended = world.test, world.equal, recorded.answered, recorded.ended

local PASSWORD = "not-for-anybodys-eyes"
local ROUND = "LowFareSearchRsp.1ADT.IEV-PAR.rt.xml"
local PARTS = "LowFareSearchAsynchRsp.1ADT.ICN-KKJ.xml"
local PRICED = "AirPriceRsp.IEV-PAR.xml"

local r = recorded.new {
  supplier = "travelport",
  any_day = true,
  folder = "travelport_uapi",
  environment = { TRAVELPORT_USER = "uAPI-12345", TRAVELPORT_PASSWORD = PASSWORD },
  options = { target_branch = "P1234567" },
  query = {
    slices = { { origin = "IEV", destination = "PAR", date = "2030-11-10" },
      { origin = "PAR", destination = "IEV", date = "2030-11-20" } },
    travellers = world.query.travellers,
    currency = "EUR",
  },
  rates = { base = "EUR", rates = { KRW = "1250" } },
  more = "scripts: { build_limit: 200ms, normalise_limit: 2s }", -- of a machine that others use, too
}
r:needs(ROUND)
local ONE_WAY = { slices = { { origin = "SEL", destination = "KKJ", date = "2030-10-20" } },
  travellers = world.query.travellers, currency = "KRW" }
local TWO = { { type = "adult" }, { type = "adult" } }

-- ---- what the farm answers -----------------------------------------------------------------------------------------

local ASK = "POST /B2BGateway/connect/uAPI/AirService"
local OK, FAULT = "200 OK", "500 Internal Server Error"

r:answers("travelport", ASK, OK, ROUND, { gzip = true })
r:answers("t_plain", ASK, OK, ROUND)
r:answers("t_other_url", "POST /elsewhere", OK, ROUND)

local function in_parts(alias, body, headers)
  r:set_options(alias, { asynchronous = true })
  r:answers(alias, ASK, OK, body, headers)
end
in_parts("t_parts", PARTS, { gzip = true })
-- The search goes on for ever, and its second answer is one of a first request.
local endless, changes = r:read(PARTS):gsub("MoreResults=\"false\"", "MoreResults=\"true\"")
assert(changes == 1, "MoreResults is not where it was")
in_parts("t_endless", endless)
in_parts("t_whole", ROUND)
r:answers("t_in_parts", ASK, OK, PARTS)

-- A fault that a client library has parsed, as the envelope that it was.
local parsed = world.json.decode((r:read("fault.no-solutions.parsed.json")))
local info = parsed.detail["common_v52_0:ErrorInfo"]
local children = {}
for _, name in ipairs { "Code", "Service", "Type", "Description", "TransactionId", "TraceId" } do
  children[#children + 1] = ("<c:%s>%s</c:%s>"):format(name, info["common_v52_0:" .. name], name)
end
local NO_SOLUTIONS = ("<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body><S:Fault><faultcode>%s"
  .. "</faultcode><faultstring>%s</faultstring><detail><c:ErrorInfo xmlns:c=\"%s\">%s</c:ErrorInfo></detail></S:Fault>"
  .. "</S:Body></S:Envelope>"):format(parsed.faultcode, parsed.faultstring, info["xmlns:common_v52_0"],
  table.concat(children))

-- How each ends. Faults come with status 500, but it is not the status that decides.
local ENDS = {
  { "t_none", FAULT, NO_SOLUTIONS, "empty" },
  { "t_none_200", OK, NO_SOLUTIONS, "empty" },
  { "t_none_json", FAULT, "fault.no-solutions.parsed.json", "failed" },
  { "t_none_json_200", OK, "fault.no-solutions.parsed.json", "unparsable" },
  { "t_no_more", FAULT, "fault.no-more-flights.xml", "empty" },
  { "t_no_seats", FAULT, "fault.price.no-availability.xml", "empty" },
  { "t_security", FAULT, "fault.security.no-agreement.xml", "rejected", kind = "auth",
    detail = "No Agreement Exists: NO AGREEMENT EXISTS FOR AGENCY - 7J8J" },
  { "t_security_200", OK, "fault.security.no-agreement.xml", "rejected", kind = "auth" },
  { "t_invalid", FAULT, "fault.validation.xml", "rejected", kind = "supplier", code = "1000",
    detail = "Validation failed on request message: [Error] :16:36: cvc-maxLength-valid: Value ' Mos Eisley ' with" },
  { "t_seats", OK, "AvailabilitySearchRsp.xml", "unparsable", detail = "Envelope.Body.LowFareSearchRsp" },
  { "t_seats_500", FAULT, "AvailabilitySearchRsp.xml", "failed" },
  { "t_money", OK, "CurrencyConversionRsp.xml", "unparsable", detail = "Envelope.Body.LowFareSearchRsp" },
  { "t_price", OK, PRICED, "unparsable", detail = "Envelope.Body.LowFareSearchRsp" },
  { "t_html", OK, "<!DOCTYPE html><html><body>Maintenance<br></body></html>", "unparsable" },
  { "t_html_502", "502 Bad Gateway", "<html><body>Bad Gateway</body></html>", "failed" },
  { "t_key", "401 Unauthorized", "<html><body>Who are you?</body></html>", "rejected", kind = "auth" },
  { "t_slow_down", "429 Too Many Requests", "<html><body>Slow down</body></html>", "rejected", kind = "quota" },
  { "t_nothing", OK, "", "unparsable" },
}
for _, row in ipairs(ENDS) do
  r:answers(row[1], ASK, row[2], row[3])
end

local MUTATED = {
  r:mutated("m_round", ROUND, {
    fields = { "AirPricePoint/@TotalPrice", "AirPricePoint[3]/@TotalPrice", "AirPricePoint/@Taxes", "AirSegment/@Key",
      "AirSegment/@DepartureTime", "BookingInfo/@SegmentRef", "PassengerType", "FlightOption[2]", "AirPricePointList" },
    lists = { "FlightOptionsList", "FlightOption[1]", "AirSegmentList", "FareInfoList", "AirPricePointList" },
  }, function(alias, body) r:answers(alias, ASK, OK, body) end),
  r:mutated("m_parts", PARTS, {
    fields = { "AirPricePoint/@TotalPrice", "AirPricePoint/@BasePrice", "AirSegment/@Carrier", "Option", "@SearchId",
      "LowFareSearchAsynchRsp" },
    lists = { "AirPricePointList", "AirPricingInfo", "Option[1]" },
  }, in_parts),
}
-- What has no offers: only a fault that still has its code may mean that there is nothing.
local NONE = { "fault.no-more-flights.xml", "fault.price.no-availability.xml", "fault.security.no-agreement.xml",
  "fault.validation.xml", "AvailabilitySearchRsp.xml", "CurrencyConversionRsp.xml" }
for i, file in ipairs(NONE) do
  local is_fault = i <= 4
  local fields = is_fault and { "Fault", "ErrorInfo/Code", "ErrorInfo/Type" } or { "Body[1]" }
  local list = r:mutated("m_none_" .. i, file, { fields = fields, lists = { "Body" }, no_offers = true },
    function(alias, body) r:answers(alias, ASK, is_fault and FAULT or OK, body) end)
  for _, mutation in ipairs(list) do
    mutation.may_be_empty = i <= 2 and mutation.name:find("^ErrorInfo/Type") ~= nil
  end
  MUTATED[#MUTATED + 1] = list
end

MUTATED[#MUTATED + 1] = r:mutated("m_parsed", "fault.no-solutions.parsed.json", { no_offers = true,
  fields = { "faultcode", "faultstring", "detail" }, lists = { "detail" } }, function(alias, body)
  r:answers(alias, ASK, FAULT, body)
end)

local round, contradicted = reading.read((r:read(ROUND)))
local parts = reading.read((r:read(PARTS)))

local w = r:start()

-- ---- offers --------------------------------------------------------------------------------------------------------

local function by_id_of(reply, alias)
  equal(200, reply.status, reply.raw:sub(1, 400))
  return recorded.offers_of(reply, alias)
end

test("each of the 194 combinations of 45 prices is told in full", function()
  local reply = r:search { "travelport" }
  local entry = answered(reply, "travelport", 194, contradicted)
  readings.compare(round, reply, "travelport")
  equal(36, contradicted, "nine offers have four flights whose offset in Istanbul is out of date")
  assert(entry.first_warning:find("130 minutes are told, but its times are 70 minutes apart", 1, true),
    entry.first_warning)
  reply = r:search { "t_plain" }
  answered(reply, "t_plain", 194, contradicted)
  readings.compare(round, reply, "t_plain")
end)

-- Read from the file by eye, so that a mistake made twice cannot hide.
local HAND = {
  { out = "fVUd7uzfRUGHcW9F/3/LNA==", back = "o+D9I70AQY+imdEY/48+xw==", seller = "A3", -- 70.00 + 108.74
    total = "178.74", base = "70.00", taxes = "108.74", expires_at = "2016-11-10T21:59:00Z", brand = "GoLight",
    checked = 0, seats = 5, changeable = true, minutes = { 1510, 905 },
    flights = {
      { "A3", "967", "KBP", "ATH", "2016-11-10T18:35:00", "2016-11-10T16:35:00Z", "2016-11-10T19:05:00Z", 150 },
      { "A3", "614", "ATH", "CDG", "2016-11-11T16:15:00", "2016-11-11T14:15:00Z", "2016-11-11T17:45:00Z", 210 },
      { "A3", "615", "CDG", "ATH", "2016-11-20T19:35:00", "2016-11-20T18:35:00Z", "2016-11-20T21:50:00Z", 195 },
      { "A3", "966", "ATH", "KBP", "2016-11-21T09:10:00", "2016-11-21T07:10:00Z", "2016-11-21T09:40:00Z", 150 },
    } },
  { out = "aKIXr4XMR4ewB50crBOUrQ==", back = "EWqZfLagTHmb67HGvuOn6Q==", seller = "SN", -- 192.00 + 150.34
    total = "342.34", base = "192.00", taxes = "150.34", expires_at = "2016-11-10T21:59:00Z", brand = "LIGHT AND RELAX",
    checked = 1, seats = 2, changeable = true, refundable = true, minutes = { 1310, 490 },
    flights = {
      { "SN", "4016", "KBP", "BRU", "2016-11-10T10:55:00", "2016-11-10T08:55:00Z", "2016-11-10T12:00:00Z", 185 },
      { "SN", "3631", "BRU", "CDG", "2016-11-11T06:50:00", "2016-11-11T05:50:00Z", "2016-11-11T06:45:00Z", 55 },
      { "SN", "3632", "CDG", "BRU", "2016-11-20T08:45:00", "2016-11-20T07:45:00Z", "2016-11-20T08:40:00Z", 55 },
      { "SN", "4015", "BRU", "KBP", "2016-11-20T14:00:00", "2016-11-20T13:00:00Z", "2016-11-20T15:55:00Z", 175 },
    } },
  { out = "NbiGRAo1TdOONEesnEFJuQ==", back = "uiJ8YPQrSeqJIA/33l2q6g==", seller = "KL", -- 2107.00 + 82.67
    total = "2189.67", base = "2107.00", taxes = "82.67", expires_at = "2016-11-10T21:59:00Z", checked = 1, seats = 4,
    refundable = true, minutes = { 210, 180 }, cabins = { "business", "economy" },
    flights = {
      { "AF", "1653", "KBP", "CDG", "2016-11-10T06:55:00", "2016-11-10T04:55:00Z", "2016-11-10T08:25:00Z", 210 },
      { "PS", "9282", "CDG", "KBP", "2016-11-20T19:00:00", "2016-11-20T18:00:00Z", "2016-11-20T21:00:00Z", 180 },
    } },
  { out = "Au9eRinLQGCJwkr/d/D9lQ==", back = "gNzvvTQGQaG/ZucrPBEw2A==", seller = "TK", -- 77.00 + 252.15; 20 kg
    total = "329.15", base = "77.00", taxes = "252.15", expires_at = "2016-11-10T21:59:00Z", checked = 1, seats = 9,
    changeable = true, minutes = { 440, 470 },
    flights = { -- Istanbul is three hours before UTC, whatever the offsets say
      { "TK", "458", "KBP", "IST", "2016-11-10T10:45:00", "2016-11-10T08:45:00Z", "2016-11-10T09:55:00Z", 70 },
      { "TK", "1827", "IST", "CDG", "2016-11-10T14:10:00", "2016-11-10T11:10:00Z", "2016-11-10T16:05:00Z", 295 },
      { "TK", "1822", "CDG", "IST", "2016-11-20T11:20:00", "2016-11-20T10:20:00Z", "2016-11-20T13:00:00Z", 160 },
      { "TK", "459", "IST", "KBP", "2016-11-20T18:10:00", "2016-11-20T15:10:00Z", "2016-11-20T18:10:00Z", 180 },
    } },
}

local function compare_by_hand(hand, reply, alias)
  local id = hand.out .. (hand.back and "." .. hand.back or "")
  local offer = assert(by_id_of(reply, alias)[id], id .. " is missing")
  for name, value in pairs { total = hand.total, base = hand.base, taxes = hand.taxes, taxes_included = "yes",
    currency = hand.currency or "EUR" } do
    equal(value, offer.price[name], id .. " " .. name)
  end
  equal(nil, offer.price.due_later, id .. " due_later")
  for _, name in ipairs { "expires_at", "brand", "changeable", "refundable" } do
    equal(hand[name], offer[name], id .. " " .. name)
  end
  equal(hand.seller, offer.seller.id, id .. " seller")
  equal(hand.checked, offer.bags.checked, id .. " bags")
  equal(hand.seats, offer.seats_left, id .. " seats")
  local number = 0
  for s, slice in ipairs(reply.json.items[offer.item].slices) do
    equal(hand.minutes[s], slice.duration_min, id .. " duration")
    for _, segment in ipairs(slice.segments) do
      number = number + 1
      equal(table.concat(hand.flights[number], " "), table.concat({ segment.carrier, segment.number, segment.origin,
        segment.destination, segment.departs["local"], segment.departs.utc, segment.arrives.utc, segment.duration_min },
        " "), id .. " flight " .. number)
      equal(hand.cabins and hand.cabins[number] or "economy", segment.cabin, id .. " cabin")
    end
  end
  equal(#hand.flights, number, id .. " flights")
end

test("four journeys read by hand: prices, taxes, times across zones, bags, seats, the last moment", function()
  local reply = r:search { "travelport" }
  for _, hand in ipairs(HAND) do
    compare_by_hand(hand, reply, "travelport")
  end
end)

test("nobody gets more stops than was asked for", function()
  local direct = 0
  for _, offer in pairs(round) do
    direct = direct + (#offer.slices[1].segments == 1 and #offer.slices[2].segments == 1 and 1 or 0)
  end
  local reply = r:search({ "travelport" }, { query = { slices = r.all.query.slices, travellers = world.query.travellers,
    max_stops = 0 } })
  local entry = world.entry(reply, "travelport")
  equal(direct, entry.offers, "direct journeys")
  assert(direct > 0 and direct < 194, "there are both kinds")
  assert(entry.first_warning:find("too many stops", 1, true), entry.first_warning)
end)

test("a price for one is none for two", function()
  local reply = r:search({ "travelport" }, { query = { slices = r.all.query.slices, travellers = TWO } })
  local entry = ended(reply, "travelport", "unparsable")
  assert(entry.detail:find("[1].price.total", 1, true) and entry.detail:find("1 of 2 travellers", 1, true),
    entry.detail)
end)

-- ---- parts ---------------------------------------------------------------------------------------------------------

local HAND_PARTS = {
  { out = "jsXfwx4R2BKADobpFAAAAA==", seller = "LJ", currency = "KRW", total = "60200", base = "25000", taxes = "35200",
    expires_at = "2019-08-31T14:59:00Z", brand = "SUPER LOW", checked = 1, seats = 9, changeable = true,
    refundable = true, minutes = { 85 }, flights = {
      { "LJ", "261", "ICN", "KKJ", "2019-10-20T07:10:00", "2019-10-19T22:10:00Z", "2019-10-19T23:35:00Z", 85 },
    } },
  { out = "jsXfwx4R2BKAOobpFAAAAA==", seller = "OZ", currency = "KRW", total = "341600", base = "298700",
    taxes = "42900", expires_at = "2019-08-20T14:59:00Z", checked = 1, seats = 1, changeable = false,
    refundable = false, minutes = { 730 }, flights = {
      { "OZ", "178", "ICN", "HND", "2019-10-20T21:10:00", "2019-10-20T12:10:00Z", "2019-10-20T14:30:00Z", 140 },
      { "NH", "3873", "HND", "KKJ", "2019-10-21T07:40:00", "2019-10-20T22:40:00Z", "2019-10-21T00:20:00Z", 100 },
    } },
}

test("a search in parts: 25 offers in won, each in full, two of them by hand", function()
  local reply = r:search({ "t_parts" }, { query = ONE_WAY })
  local entry = answered(reply, "t_parts", 25, 0)
  equal(nil, entry.partial, "partial")
  readings.compare(parts, reply, "t_parts")
  for _, hand in ipairs(HAND_PARTS) do
    compare_by_hand(hand, reply, "t_parts")
  end
end)

test("won become euros to the cent, and stand beside them", function()
  local reply = r:search({ "t_parts" }, { query = ONE_WAY, currency = "EUR" })
  local offer = by_id_of(reply, "t_parts")[HAND_PARTS[1].out]
  equal("48.16 EUR", offer.price.total .. " " .. offer.price.currency, "60200 / 1250")
  equal("60200 KRW", offer.price.supplier_price.amount .. " " .. offer.price.supplier_price.currency)
end)

test("a part that is not what was asked for leaves those before it, and the answer is partial", function()
  local reply = r:search({ "t_endless" }, { query = ONE_WAY })
  local entry = world.entry(reply, "t_endless")
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(25, entry.offers, "offers")
  equal(true, entry.partial, "partial")
end)

test("a whole answer to a search in parts is none, nor the other way round", function()
  ended(r:search { "t_whole" }, "t_whole", "unparsable")
  ended(r:search({ "t_in_parts" }, { query = ONE_WAY }), "t_in_parts", "unparsable")
end)

-- ---- refusals ------------------------------------------------------------------------------------------------------

for _, row in ipairs(ENDS) do
  local name, status, body, outcome = row[1], row[2], row[3], row[4]
  test(("%s: %s with %s is %s%s"):format(name, body:sub(1, 40):gsub("\n", " "), status, outcome,
    row.kind and ", " .. row.kind or ""), function()
    local reply = r:search { name }
    local entry = ended(reply, name, outcome, row.kind)
    equal(row.code, entry.code, "code")
    if row.detail then
      equal(row.detail, entry.detail:sub(1, #row.detail), "detail")
    end
    assert(not reply.raw:find(PASSWORD, 1, true), "the password is in the reply")
  end)
end

test("without the address there is a refusal, and no password in reply, records and log", function()
  local reply = r:search { "t_other_url" }
  ended(reply, "t_other_url", "rejected", "supplier")
  local record = world.http("GET", w.admin_url .. "/admin/v1/searches")
  equal(200, record.status, "records")
  for _, told in ipairs { reply.raw, record.raw, w:engine_output() } do
    assert(not told:find(PASSWORD, 1, true), "the password is told")
  end
end)

-- ---- changed answers -----------------------------------------------------------------------------------------------

-- What is lost has been dropped with its path.
local function look_closer(mutation, entry)
  if entry.outcome == "answered" and entry.offers < mutation.all then
    local told = mutation.name .. ": " .. world.json.encode(entry)
    assert(entry.offers_dropped and entry.first_dropped:find("^%[%d+%]%."), told)
  end
end

for i, list in ipairs(MUTATED) do
  for _, mutation in ipairs(list) do
    mutation.all = i == 1 and 194 or 25
  end
  r:never_wrong(list, i == 2 and { query = ONE_WAY } or nil, look_closer)
end

r:stop()
world.finish()
