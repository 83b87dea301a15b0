-- The recorded answers to an offer that is asked for again, held against values that were read from their files by
-- hand: by fixtures, which are made here, and over HTTP. A fixture does not tell what an item has (flights, their
-- times, the hotel's name). Over HTTP the search finds another offer than the one that is priced, so that the reply
-- tells all of the file's offer; of its item it tells the name, and the search found that item in the file's own text.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local files = require("tests.e2e.by_hand_values")
local amadeus_reading = require("tests.e2e.amadeus_reading")
local hotelbeds_reading = require("tests.e2e.hotelbeds_reading")
local test, equal = world.test, world.equal

local LEAST = 10 -- of a file
local OF_THE_ITEM = { slices = true, name = true, stars = true }
local ROOT = world.folder .. "/by-hand-again/"
local SETTINGS = ROOT .. "settings.yaml"

local function payload(file)
  return world.read_file(("%s/payloads/%s/%s"):format(world.shared, file.folder, file.file))
end

local function file_named(name)
  for _, file in ipairs(files) do
    if file.file == name then
      return file
    end
  end
  error("no values of " .. name)
end

local AMADEUS = file_named("flight-offers-pricing.200.json")
local TRAVELPORT = file_named("AirPriceRsp.IEV-PAR.xml")
local HOTELBEDS = file_named("checkrates.200.json")
if not payload(AMADEUS) then
  world.skip("recorded answers to offers that are asked for again", world.shared .. "/payloads is absent")
  world.finish()
end

os.execute("rm -rf '" .. ROOT .. "' && mkdir -p '" .. ROOT .. "'")
world.write_file(SETTINGS, "suppliers_dir: " .. ROOT:sub(1, -2) .. "\nscripts_dir: scripts\n")

-- ---- what is asked -------------------------------------------------------------------------------------------------

-- The values of an offer as the object that they are of, and how many; what the item has is left out.
local function offer_of(values)
  local offer, count = {}, 0
  for path, value in pairs(values) do
    local keys = {}
    for key in path:gmatch("[^.]+") do
      keys[#keys + 1] = tonumber(key) or key
    end
    if not OF_THE_ITEM[keys[1]] then
      local node = offer
      for i = 1, #keys - 1 do
        node[keys[i]] = node[keys[i]] or {}
        node = node[keys[i]]
      end
      node[keys[#keys]] = value
      count = count + 1
    end
  end
  return offer, count
end

local counts, fixtures = {}, {}

-- A fixture with one revalidation. asked: query, now, secrets, options, nothing (an answer without offers), price (of
-- before), ref, login; expected: `status` and what else, with the number of values in it.
local function ask(file, name, asked, expected, count)
  local folder = ROOT .. file.supplier .. ".test/"
  os.execute("mkdir -p '" .. folder .. "'")
  world.write_file(ROOT .. file.supplier .. ".lua", assert(world.read_file("suppliers/" .. file.supplier .. ".lua")))
  world.write_file(folder .. name .. ".body", payload(file))
  world.write_file(folder .. "odd-" .. name .. ".json", world.json.encode {
    about = name, now = asked.now, secrets = asked.secrets, options = asked.options, login = asked.login,
    search = { product = asked.product or "flights", query = asked.query },
    exchanges = { { response = asked.nothing } }, expect = { outcome = "empty" },
    revalidate = { {
      offer = { id = "o", price = asked.price, observed_at = asked.now }, ref = asked.ref,
      exchanges = { { response = { headers = { ["content-type"] = asked.type or "application/json" },
        body_file = name .. ".body" } } },
      expect = expected,
    } },
  })
  counts[file] = (counts[file] or 0) + count
  fixtures[#fixtures + 1] = name
end

local function slices(...)
  local list = {}
  for _, words in ipairs { ... } do
    local origin, destination, date = words:match("^(%u+)-(%u+) (%S+)$")
    list[#list + 1] = { origin = origin, destination = destination, date = date }
  end
  return list
end

-- Amadeus: another offer than the one that was kept, so all of it is told.
do
  local kept = file_named("flight-offers-pricing.request.json")
  local offer, count = offer_of(AMADEUS.offers[1][2])
  ask(AMADEUS, "priced", {
    now = "2020-02-01T09:00:00Z", login = "token-1", price = { total = "546.70", currency = "EUR" },
    secrets = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "test-secret" },
    query = { slices = slices("GIG-MAD 2020-03-01", "MAD-GIG 2020-03-05"), currency = "USD",
      travellers = { { type = "adult" }, { type = "child", age = 9 } } },
    nothing = { body = "{\"data\": []}" }, ref = amadeus_reading.offer_in(payload(kept)),
  }, { status = "changed", offer = offer, now = { total = offer.price.total, currency = offer.price.currency } },
    count + 3)
end

-- Travelport: each of both fares as the one that was kept, and the cheapest where that is gone.
local FAULT = "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><Fault>"
  .. "<faultcode>Server.Business</faultcode><detail><i:ErrorInfo xmlns:i='urn:i'><i:Code>2602</i:Code></i:ErrorInfo>"
  .. "</detail></Fault></Body></Envelope>"
local function ref_of(fare)
  return "1G,A3;0,A3,967,KBP,ATH,2016-11-10T18:35+02:00,2016-11-10T21:05+02:00,P," .. fare
    .. ",c;0,A3,614,ATH,CDG,2016-11-11T16:15+02:00,2016-11-11T18:45+01:00,P," .. fare .. ","
end
local function priced_again(name, fare, price, expected, count)
  ask(TRAVELPORT, name, {
    now = "2016-09-04T18:00:00Z", price = price, type = "text/xml",
    secrets = { TRAVELPORT_USER = "u", TRAVELPORT_PASSWORD = "test-password" }, options = { target_branch = "P1" },
    query = { slices = slices("IEV-PAR 2016-11-10"), travellers = { { type = "adult" } }, currency = "EUR" },
    nothing = { status = 500, headers = { ["content-type"] = "text/xml" }, body = FAULT }, ref = ref_of(fare),
  }, expected, count)
end
for _, row in ipairs(TRAVELPORT.offers) do
  local values = row[2]
  local now = { total = values["price.total"], currency = values["price.currency"] }
  priced_again("kept-" .. row[1], row[1], now,
    { status = "confirmed", now = now, expires_at = values["expires_at"] }, 4)
end
do
  local offer, count = offer_of(TRAVELPORT.offers[1][2])
  priced_again("gone", "PGONE", { total = "60.00", currency = "EUR" }, { status = "changed", offer = offer }, count + 1)
end

-- Hotelbeds: the rate as it was kept, and as one with another board.
local KEY = payload(HOTELBEDS):match("\"rateKey\": \"([^\"]+)\"")
local function checked(name, board, price, expected, count)
  ask(HOTELBEDS, name, {
    now = "2024-02-23T20:46:00Z", price = price, product = "hotels",
    secrets = { HOTELBEDS_KEY = "test-key", HOTELBEDS_SECRET = "test-secret" },
    query = { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2024-04-02",
      check_out = "2024-04-03", rooms = { { adults = 1 } }, market = "GB", currency = "EUR" },
    nothing = { body = "{\"auditData\": {}, \"hotels\": {\"total\": 0}}" },
    ref = world.json.encode { board = board, free_until = "2024-04-01T14:00:00+01:00", hotel = "6619",
      keys = { KEY }, pay = "now", rooms = "TWN.ST" },
  }, expected, count)
end
do
  local offer, count = offer_of(HOTELBEDS.offers[1][2])
  local now = { total = offer.price.total, currency = offer.price.currency }
  checked("same", "breakfast", { total = "300.30", currency = "EUR" }, { status = "confirmed", now = now }, 3)
  checked("dearer", "breakfast", { total = "290.10", currency = "EUR" }, { status = "price_changed", now = now }, 3)
  checked("board", "room_only", { total = "300.30", currency = "EUR" }, { status = "changed", offer = offer },
    count + 1)
end

-- ---- what comes ----------------------------------------------------------------------------------------------------

test("what the recorded answers offer again is what stands in their files", function()
  local output, code = world.shell(("%s/lastcall test -c '%s'"):format(world.build, SETTINGS))
  equal(0, code, output)
  assert(output:find(("%d passed"):format(#fixtures), 1, true), output)
end)

for _, file in ipairs { AMADEUS, TRAVELPORT, HOTELBEDS } do
  test(file.file .. " has values enough", function()
    local all = 0
    for _, row in ipairs(file.offers) do
      for _ in pairs(row[2]) do
        all = all + 1
      end
    end
    print(("# file %s/%s: %d values by hand by fixtures, %d in all"):format(file.folder, file.file, counts[file], all))
    assert(counts[file] >= LEAST and all >= LEAST, file.file)
  end)
end

os.execute("rm -rf '" .. ROOT .. "'")

-- ---- over HTTP -----------------------------------------------------------------------------------------------------

-- Starts a world of the supplier that gives tokens; `register` says what the farm answers.
local function with_tokens(file, options, register)
  options.supplier, options.folder = file.supplier, file.folder
  options.tokens = true
  local r = recorded.new(options)
  register(r)
  r:start()
  return r
end

-- The value at "price.total" or "slices.1.duration_min" of an offer and its item.
local function value_at(offer, item, path)
  local node = OF_THE_ITEM[path:match("^[^.]+")] and item or offer
  for key in path:gmatch("[^.]+") do
    node = node and node[tonumber(key) or key]
  end
  return node
end

-- Some values, others in place of some of them, and more.
local function with_values(values, others)
  local out = {}
  for _, from in ipairs { values, others } do
    for path, value in pairs(from) do
      out[path] = value
    end
  end
  return out
end

local shown = {} -- by file: each value that was compared, once, and what it is of

local function compare(file, offer, item, values)
  shown[file] = shown[file] or {}
  for path, value in pairs(values) do
    equal(value, value_at(offer, item, path), path)
    shown[file][path .. " " .. tostring(value)] = OF_THE_ITEM[path:match("^[^.]+")] and "item" or "offer"
  end
end

-- A text with something else in it, which must be there so many times.
local function with_other(text, times, from, to)
  local out, count = text:gsub(from, (to:gsub("%%", "%%%%")))
  equal(times, count, from)
  return out
end

-- What `alias` offered is asked for again and is another offer by now: all of that is told, it can be asked for again
-- itself, and nothing of it can be booked. The names of both items.
local function compare_changed(r, file, alias, was, others)
  local told, kept, found = r:revalidated(alias, was.id)
  local new = told.offer
  equal("changed", told.status, world.json.encode(told))
  equal(was.total, told.was.total, "before")
  assert(type(new.token) == "string" and new.token ~= kept.token, "it has a token of its own")
  for _, name in ipairs { "now", "handoff", "booking_token" } do
    equal(nil, told[name], name)
  end
  local item = assert(found.json.items[new.item], new.item .. " was not found")
  equal(alias .. ":" .. file.offers[1][1], new.id, "offer")
  equal(nil, new.price.due_later, "all taxes are in it, or nothing is said of any")
  compare(file, new, item, with_values(file.offers[1][2], others or {}))
  return kept.item, new.item
end

local SOON, LATER = os.date("!%Y-%m-%d", os.time() + 60 * 86400), os.date("!%Y-%m-%d", os.time() + 64 * 86400)

do
  local r = with_tokens(AMADEUS, {
    any_day = true, environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "amadeus-secret-of-nobody" },
    query = { slices = slices("GIG-MAD " .. SOON, "MAD-GIG " .. LATER), currency = "USD",
      travellers = { { type = "adult" }, { type = "child", age = 9 } } },
  }, function(r)
    r:answers("amadeus", "POST /v1/security/oauth2/token", "200 OK", "oauth2-token.200.json")
    r:answers("amadeus", "POST /v1/shopping/flight-offers/pricing", "200 OK", AMADEUS.file)
    r:answers("amadeus", "POST /v2/shopping/flight-offers", "200 OK", amadeus_reading.as_search(payload(AMADEUS)))
  end)
  test(AMADEUS.file .. " over HTTP: the offer that is priced is the one that was found", function()
    local values = AMADEUS.offers[1][2]
    local told = r:revalidated("amadeus", "1")
    equal("confirmed", told.status, world.json.encode(told))
    for _, price in ipairs { told.was, told.now } do
      equal(values["price.total"] .. " " .. values["price.currency"], price.total .. " " .. price.currency)
    end
  end)
  r:stop()
end

-- What a search found, by the name of its supplier: the file's offer as it stands, and the one that is asked for again.
-- How often something of the file stands there, what it is, and what was found in its place.
local OTHERS = {
  { "am_flight", 1, "\"number\": \"970\"", "\"number\": \"972\"", is_other_item = true },
  { "am_time", 1, "2020%-03%-02T15:45:00", "2020-03-02T15:05:00", is_other_item = true },
  { "am_cabin", 4, "\"ECONOMY\"", "\"PREMIUM_ECONOMY\"", is_other_item = true },
  { "am_class", 4, "\"class\": \"X\"", "\"class\": \"V\"" },
  { "am_fare", 2, "XL0R0BRACH", "VL0R0BRACH" },
  { "am_allowance", 4, "\"quantity\": 2", "\"quantity\": 1" }, -- of the flights back: the least
}

-- As it was found it cost 100.00 less, and the adult so much.
local function found_before(file, other)
  local text = amadeus_reading.offer_in(payload(file))
  local before = with_other(text, other[2], other[3], other[4])
  for _, row in ipairs { { 1, "\"id\": \"1\"", "\"id\": \"before\"" }, { 2, "2778%.98", "2678.98" },
    { 1, "2568%.00", "2468.00" }, { 1, "1625%.49", "1525.49" } } do
    before = with_other(before, row[1], row[2], row[3])
  end
  return ("{\"meta\": {\"count\": 2}, \"data\": [%s, %s]}"):format(before, text)
end

do
  local r = with_tokens(AMADEUS, {
    any_day = true, environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "amadeus-secret-of-nobody" },
    query = { slices = slices("GIG-MAD " .. SOON, "MAD-GIG " .. LATER), currency = "USD",
      travellers = { { type = "adult" }, { type = "child", age = 9 } } },
  }, function(r)
    for _, other in ipairs(OTHERS) do
      local alias = other[1]
      r:answers(alias, "POST /v1/shopping/flight-offers/pricing", "200 OK", AMADEUS.file)
      r:answers(alias, "POST /v2/shopping/flight-offers", "200 OK", found_before(AMADEUS, other))
    end
    r:answers_everywhere("POST /v1/security/oauth2/token", "200 OK", "oauth2-token.200.json")
  end)
  for _, other in ipairs(OTHERS) do
    test(("%s over HTTP: all of it, where another %s was found"):format(AMADEUS.file, other[1]:sub(4)), function()
      local before, now = compare_changed(r, AMADEUS, other[1], { id = "before", total = "2678.98" })
      equal(other.is_other_item or false, before ~= now, "another item")
    end)
  end
  r:stop()
end

-- The recorded days are over: the same ones of another year.
local function put_forward(text)
  return (text:gsub("\"20[12][64]%-", "\"2030-"))
end

-- A search that found the flights which AirPriceRsp prices, as they stand there, with a fare that is gone since.
local ITINERARY = put_forward(payload(TRAVELPORT)):match("<air:AirItinerary>(.-)</air:AirItinerary>")
local FLIGHT_KEYS = {}
for key in ITINERARY:gmatch("<air:AirSegment Key=\"([^\"]+)\"") do
  FLIGHT_KEYS[#FLIGHT_KEYS + 1] = key
end
local FOUND = ([[
<SOAP:Envelope xmlns:SOAP="http://schemas.xmlsoap.org/soap/envelope/"><SOAP:Body>
<air:LowFareSearchRsp xmlns:air="http://www.travelport.com/schema/air_v52_0" TraceId="t" TransactionId="T1"
  ResponseTime="1" CurrencyType="EUR">
<air:AirSegmentList>
%s
</air:AirSegmentList>
<air:FareInfoList>
<air:FareInfo Key="f1" FareBasis="PGONE" PassengerTypeCode="ADT" Amount="EUR10.00"/>
</air:FareInfoList>
<air:AirPricePointList><air:AirPricePoint Key="pp1" TotalPrice="EUR60.00" BasePrice="EUR10.00" Taxes="EUR50.00"
  CompleteItinerary="true">
<air:AirPricingInfo Key="pi1" TotalPrice="EUR60.00" LatestTicketingTime="2030-11-10" ProviderCode="1G">
<air:FareInfoRef Key="f1"/><air:PassengerType Code="ADT"/>
<air:FlightOptionsList><air:FlightOption LegRef="leg-1"><air:Option Key="o1" TravelTime="P1DT1H10M0S">
<air:BookingInfo BookingCode="P" BookingCount="4" CabinClass="Economy" FareInfoRef="f1" SegmentRef="%s"/>
<air:BookingInfo BookingCode="P" BookingCount="4" CabinClass="Economy" FareInfoRef="f1" SegmentRef="%s"/>
</air:Option></air:FlightOption></air:FlightOptionsList>
</air:AirPricingInfo></air:AirPricePoint></air:AirPricePointList>
</air:LowFareSearchRsp></SOAP:Body></SOAP:Envelope>]]):format(ITINERARY, FLIGHT_KEYS[1], FLIGHT_KEYS[2])

do
  local r = with_tokens(TRAVELPORT, {
    environment = { TRAVELPORT_USER = "travelport-user", TRAVELPORT_PASSWORD = "travelport-password-of-nobody" },
    options = { target_branch = "P1" },
    query = { slices = slices("IEV-PAR 2030-11-10"), travellers = { { type = "adult" } }, currency = "EUR" },
  }, function(r)
    local target = "POST /B2BGateway/connect/uAPI/AirService"
    r:answers("travelport", target .. "?body~AirPriceReq", "200 OK", put_forward(payload(TRAVELPORT)))
    r:answers("travelport", target, "200 OK", FOUND)
  end)
  test(TRAVELPORT.file .. " over HTTP: the fare that took the place of one that is gone", function()
    local told, offer, found = r:revalidated("travelport")
    equal("changed", told.status, world.json.encode(told))
    local new, item = told.offer, found.json.items[offer.item]
    equal(offer.item, new.item, "other flights")
    local later = {}
    for path, value in pairs(TRAVELPORT.offers[1][2]) do
      later[path] = type(value) == "string" and value:gsub("^2016", "2030") or value
    end
    for i = 1, 2 do -- OperatingCarrier of each CodeshareInfo
      later[("slices.1.segments.%d.operating"):format(i)] = "A3"
    end
    compare(TRAVELPORT, new, item, later)
    assert(type(new.token) == "string", "no token")
    equal(nil, told.booking_token)
  end)
  r:stop()
end

do
  local SEARCHED = file_named("availability.200.json")
  local twin -- with breakfast: the rate that was checked, by its key of the search
  for _, room in ipairs(world.json.decode(payload(SEARCHED)).hotels.hotels[1].rooms) do
    twin = room.code == "TWN.ST" and room.rates[3].rateKey or twin
  end
  local id = hotelbeds_reading.ids({ twin })[1]
  local r = with_tokens(HOTELBEDS, {
    product = "hotels",
    environment = { HOTELBEDS_KEY = "hotelbeds-key-of-nobody", HOTELBEDS_SECRET = "hotelbeds-secret-of-nobody" },
    query = { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2030-04-02",
      check_out = "2030-04-03", rooms = { { adults = 1 } }, market = "GB", currency = "EUR" },
  }, function(r)
    r:answers("hotelbeds", "POST /hotel-api/1.0/checkrates", "200 OK", put_forward(payload(HOTELBEDS)))
    r:answers("hotelbeds", "POST /hotel-api/1.0/hotels", "200 OK", put_forward(payload(SEARCHED)))
  end)
  test(HOTELBEDS.file .. " over HTTP: the rate that is checked costs what its file says", function()
    local values = HOTELBEDS.offers[1][2]
    local told, offer = r:revalidated("hotelbeds", id)
    equal(offer.price.total == values["price.total"] and "confirmed" or "price_changed", told.status,
      world.json.encode(told))
    equal(values["price.total"] .. " " .. values["price.currency"], told.now.total .. " " .. told.now.currency)
    for _, name in ipairs { "room", "board", "pay", "supplier_hotel_id" } do
      equal(values[name], offer[name], name)
    end
    equal((values["refund.free_until"]:gsub("2024", "2030")), offer.refund.free_until)
  end)
  r:stop()
end

-- The checked hotel as a search found it: with its rate of before, which differed in one thing, and was cheaper.
local RATES = {
  { "hb_board", { 1, "\"BB\"", "\"RO\"" }, { 1, "\"BED AND BREAKFAST\"", "\"ROOM ONLY\"" } },
  { "hb_time", { 1, "04%-01T14:00:00%+01:00", "03-31T14:00:00+01:00" } }, -- until which it is free
  { "hb_payment", { 1, "\"AT_WEB\"", "\"AT_HOTEL\"" } },
  { "hb_room", { 1, "\"TWN%.ST\"", "\"DBL.ST\"" }, { 1, "standard room twin", "standard room double" } },
}
-- Some see another price of it: the net one, 280.72, where nobody else is paid, and pounds, of which one is 1.25 euros.
local PRICES = {
  { "hb_net", options = { price = "net", taxes_when_untold = "yes" }, was = "270.10",
    values = { ["price.total"] = "280.72", ["price.taxes_included"] = "yes" } },
  { "hb_pounds", currency = "GBP", was = "232.08",
    values = { ["price.total"] = "240.24", ["price.currency"] = "GBP", ["price.supplier_price.amount"] = "300.30",
      ["price.supplier_price.currency"] = "EUR" } },
}

local function hotel_before(rate)
  local hotel = put_forward(payload(HOTELBEDS)):match("\"hotel\":%s*(%b{})")
  for _, row in ipairs { { 1, "1630615603", "1630615602" }, { 1, "300%.30", "290.10" }, { 1, "\"net\": 280%.72",
    "\"net\": 270.10" }, rate[2], rate[3] } do
    hotel = with_other(hotel, row[1], row[2], row[3])
  end
  return "{\"hotels\": {\"total\": 1, \"hotels\": [" .. hotel .. "]}}"
end

do
  local before = hotelbeds_reading.ids({ (with_other(KEY, 1, "1630615603", "1630615602")) })[1]
  local function asked_in(currency)
    return { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2030-04-02",
      check_out = "2030-04-03", rooms = { { adults = 1 } }, market = "GB", currency = currency }
  end
  local function register(r, alias, rate)
    r:answers(alias, "POST /hotel-api/1.0/checkrates", "200 OK", put_forward(payload(HOTELBEDS)))
    r:answers(alias, "POST /hotel-api/1.0/hotels", "200 OK", hotel_before(rate))
  end
  local r = with_tokens(HOTELBEDS, {
    product = "hotels", query = asked_in("EUR"), rates = { base = "EUR", rates = { GBP = "0.8" } },
    environment = { HOTELBEDS_KEY = "hotelbeds-key-of-nobody", HOTELBEDS_SECRET = "hotelbeds-secret-of-nobody" },
  }, function(r)
    for _, rate in ipairs(RATES) do
      register(r, rate[1], rate)
    end
    for _, price in ipairs(PRICES) do
      register(r, price[1], RATES[1])
      r:set_options(price[1], price.options)
      r:set_query(price[1], asked_in(price.currency or "EUR"))
    end
  end)
  local function told(alias, was, others)
    local before_item, item = compare_changed(r, HOTELBEDS, alias, { id = before, total = was },
      with_values({ ["refund.free_until"] = "2030-04-01T13:00:00Z" }, others or {}))
    equal(before_item, item, "the hotel is the same one")
  end
  for _, rate in ipairs(RATES) do
    test(("%s over HTTP: all of it, where another %s was found"):format(HOTELBEDS.file, rate[1]:sub(4)), function()
      told(rate[1], "290.10")
    end)
  end
  for _, price in ipairs(PRICES) do
    test(("%s over HTTP: all of it, its price as %s"):format(HOTELBEDS.file, price[1]:sub(4)), function()
      told(price[1], price.was, price.values)
    end)
  end
  r:stop()
end

for _, file in ipairs { AMADEUS, TRAVELPORT, HOTELBEDS } do
  test(file.file .. " has values enough over HTTP", function()
    local count, of_offer = 0, 0
    for _, what in pairs(shown[file]) do
      count = count + 1
      of_offer = of_offer + (what == "offer" and 1 or 0)
    end
    print(("# file %s/%s: %d values by hand over HTTP, %d of them in the reply itself"):format(file.folder, file.file,
      count, of_offer))
    assert(count >= LEAST, file.file)
  end)
end

world.finish()
