-- Hotelbeds' recorded answers over HTTP: every rate with all that we tell of it, what becomes of an answer that is
-- changed, and of every error. /checkrates' answer comes by fixtures here; by_hand_again_test.lua has it over HTTP.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local mutations = require("tests.e2e.mutations")
local reading = require("tests.e2e.hotelbeds_reading")
local test, equal = world.test, world.equal

local KEY, SECRET = "hotelbeds-key-of-nobody", "hotelbeds-secret-of-nobody"
local FILE, CHECKED = "availability.200.json", "checkrates.200.json"
local ASK = "POST /hotel-api/1.0/hotels"
local TABLE = world.folder .. "/hotelbeds.tsv"
local NAME = "Millennium  Hotel London Knightsbridge" -- two blanks, as it is told

local r = recorded.new {
  supplier = "hotelbeds",
  product = "hotels",
  query = { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2030-04-02",
    check_out = "2030-04-03", rooms = { { adults = 1 } }, market = "GB" },
  environment = { HOTELBEDS_KEY = KEY, HOTELBEDS_SECRET = SECRET },
  rates = { base = "EUR", rates = { GBP = "0.8" } },
  -- Of so many suppliers even a small function has been over its 5 ms now and then, on a machine with others.
  more = ([[
scripts: { build_limit: 200ms, normalise_limit: 2s }
data:
  hotelbeds_in_city: { file: %s, key: [city] }
  hotelbeds_by_hotel: { file: %s, key: [hotel] }
  hotelbeds_by_code: { file: %s, key: [code] }]]):format(TABLE, TABLE, TABLE),
}
r:needs(FILE)
world.write_file(TABLE, "city\tcode\thotel\nLON\t6619\tknightsbridge\nLON\t6620\tgrand\nPAR\t7001\tnord\n")

-- ---- what the farm answers -----------------------------------------------------------------------------------------

local text = r:read(FILE)
-- The same rates, whose free time is not over.
local later, moved = text:gsub("2024%-04%-01T14", "2030-04-01T14")
assert(moved == 11, moved .. " rates with a time at which it ends")
-- And with a tourist tax of the hotel.
local taxed, put = text:gsub("\"packaging\"", [["taxes": { "allIncluded": false, "taxes": [ { "included": false,
  "amount": 2.8, "currency": "GBP", "clientAmount": "3.30", "clientCurrency": "EUR" } ] }, "packaging"]])
assert(put == 19, put .. " rates")

r:answers("hotelbeds", ASK, "200 OK", FILE, { gzip = true })
r:answers("hb_later", ASK, "200 OK", later)
r:answers("hb_taxed", ASK, "200 OK", taxed)
r:answers("hb_net", ASK, "200 OK", FILE)
r:set_options("hb_net", { price = "net", taxes_when_untold = "yes" })
r:answers("hb_tables", ASK, "200 OK", FILE)
r:set_options("hb_tables", { in_city = "hotelbeds_in_city", by_hotel = "hotelbeds_by_hotel",
  by_code = "hotelbeds_by_code", hotels_per_request = 1 })
r:answers("hb_none", ASK, "200 OK", "{\"auditData\": {}, \"hotels\": {\"total\": 0}}")
r:answers("hb_checked", ASK, "200 OK", CHECKED)

local function fault(code, message)
  return world.json.encode { auditData = { token = "0F0F" }, error = { code = code .. "-0F0F", message = message } }
end

-- How each error ends: its status, its body, its headers.
local ERRORS = {
  { "hb_signature", "401 Unauthorized", "{\"error\": \"Request signature verification failed\"}", "rejected", "auth" },
  { "hb_inactive", "403 Forbidden", "<html>Developer Inactive</html>", "rejected", "auth",
    headers = { "x-mashery-error-code: ERR_403_DEVELOPER_INACTIVE" } },
  { "hb_over_rate", "403 Forbidden", "<html>Developer Over Rate</html>", "rejected", "quota", retry_in_ms = 600000,
    headers = { "x-mashery-error-code: ERR_403_DEVELOPER_OVER_RATE", "retry-after: 600" } },
  { "hb_over_qps", "403 Forbidden", "", "rejected", "quota",
    headers = { "x-mashery-error-code: ERR_403_DEVELOPER_OVER_QPS" } },
  { "hb_forbidden", "403 Forbidden", "{\"error\": \"Forbidden\"}", "rejected", "quota" },
  { "hb_limit", "429 Too Many Requests", "{\"error\": \"Rate limit exceeded\"}", "rejected", "quota" },
  { "hb_dates", "400 Bad Request", fault("INVALID_DATA", "Check-in must be in the future"), "rejected", "supplier",
    code = "INVALID_DATA" },
  { "hb_in_200", "200 OK", fault("PRODUCT_ERROR", "Contract is closed"), "rejected", "supplier",
    code = "PRODUCT_ERROR" },
  { "hb_system", "500 Internal Server Error", fault("SYSTEM_ERROR", "Internal server error"), "rejected", "busy" },
  { "hb_overload", "503 Service Unavailable", fault("SERVICE_OVERLOAD", "Later"), "rejected", "busy" },
  { "hb_client", "500 Internal Server Error", fault("CONFIGURATION_ERROR", "This apikey has no client"), "rejected",
    "auth" },
  { "hb_gateway", "502 Bad Gateway", "<html>Bad Gateway</html>", "failed" },
  { "hb_bare", "500 Internal Server Error", "", "failed" },
  { "hb_page", "200 OK", "<html>Maintenance</html>", "unparsable" },
  { "hb_silent", "200 OK", "", "unparsable" },
  { "hb_nowhere", "404 Not Found", "<html>Not Found</html>", "rejected", "supplier" },
  { "hb_odd_error", "400 Bad Request", "{\"error\": [7]}", "rejected", "supplier", code = "unknown" },
}
for _, row in ipairs(ERRORS) do
  r:answers(row[1], ASK, row[2], row[3], row.headers)
end

local changed = r:mutated("hb_m", FILE, {
  fields = { "hotels", "hotels.total", "hotels.hotels", "hotels[].code", "hotels[].name", "hotels[].currency",
    "hotels[].rooms", "rooms[].name", "rooms[].rates", "rooms[2].rates", "rates[].rateKey", "rates[2].rateKey",
    "rates[].rateType", "rates[].rateClass", "rates[].net", "rates[].sellingRate", "rooms[3].rates[1].sellingRate",
    "rates[].packaging", "rates[].paymentType", "rates[].boardCode", "rates[].boardName", "rates[].rooms",
    "rates[].adults", "rates[].children", "rates[].cancellationPolicies", "cancellationPolicies[].from",
    "rates[2]", "hotels[1].rooms[2]", "hotels.hotels[1]", "cancellationPolicies[1]" },
  lists = { "hotels.hotels", "hotels[].rooms", "rooms[].rates", "rooms[1].rates", "rates[].cancellationPolicies" },
}, function(alias, body)
  r:answers(alias, ASK, "200 OK", body)
end)

local taxes = r:mutated("hb_t", taxed, {
  fields = { "rates[].taxes", "taxes.taxes", "taxes.allIncluded", "taxes[].included", "taxes[].amount",
    "taxes[].currency", "taxes[].clientAmount", "taxes[].clientCurrency", "taxes.taxes[1]" },
  lists = { "taxes.taxes" },
}, function(alias, body)
  r:answers(alias, ASK, "200 OK", body)
end)

r:start()

-- ---- offers --------------------------------------------------------------------------------------------------------

local NOW = os.time()

test("each of the 19 rates of a hotel is told in full, and its free time is over", function()
  local by_id, count = reading.read(text, "sellingRate", NOW)
  equal(19, count, "rates of the file")
  local before = os.time()
  local reply = r:search { "hotelbeds" }
  local after = os.time()
  local entry = recorded.answered(reply, "hotelbeds", 19, 0)
  equal(19, entry.offers_unmapped, "unmapped")
  reading.compare(by_id, reply, "hotelbeds", "unknown")
  for _, offer in ipairs(reply.json.offers) do
    equal("hotelbeds:6619", offer.item, "item")
    equal(nil, offer.refund, "refund of " .. offer.id)
    -- Half an hour from the arrival of the search.
    local least, most = os.date("!%Y-%m-%dT%H:%M:%SZ", before + 1800), os.date("!%Y-%m-%dT%H:%M:%SZ", after + 1801)
    assert(offer.expires_at >= least and offer.expires_at <= most, offer.expires_at)
  end
  local item = reply.json.items["hotelbeds:6619"]
  equal(NAME, item.name, "name")
  equal(4, item.stars, "stars")
end)

test("rates whose free time is not over are free until then, in UTC", function()
  local by_id = reading.read(later, "sellingRate", NOW)
  local reply = r:search { "hb_later" }
  recorded.answered(reply, "hb_later", 19, 0)
  reading.compare(by_id, reply, "hb_later", "unknown")
end)

-- Read from the file by eye, so that a mistake made twice cannot hide: room, board, total; what it is in pounds of 0.8
-- euros, halves up; the net price.
local HAND = {
  { "standard room", "room_only", false, "227.22", "181.78", "212.40" }, -- 181.776
  { "standard room", "room_only", true, "252.46", "201.97", "236.01" }, -- 201.968
  { "standard room", "breakfast", true, "300.30", "240.24", "280.72" },
  { "standard room capacity 1", "breakfast", true, "276.38", "221.10", "258.36" }, -- 221.104
  { "standard room twin", "room_only", false, "227.22", "181.78", "212.40" },
  { "Superior Plus  Room", "breakfast", false, "277.71", "222.17", "259.61" }, -- 222.168
  { "Superior Plus Room Twin", "breakfast", true, "309.60", "247.68", "289.42" },
  { "club room", "breakfast", false, "341.49", "273.19", "319.23" }, -- 273.192
  { "club room twin", "breakfast", true, "380.02", "304.02", "355.25" }, -- 304.016
  { "studio SUITE", "breakfast", false, "506.25", "405.00", "473.25" },
  { "studio SUITE", "breakfast", true, "562.06", "449.65", "525.43" }, -- 449.648
}

-- The one offer of the reply that is this.
local function offer_like(reply, row)
  local found = nil
  for _, offer in ipairs(reply.json.offers) do
    if offer.room == row[1] and offer.board == row[2] and (offer.refund ~= nil) == row[3] then
      assert(not found, "two offers of " .. row[1])
      found = offer
    end
  end
  return assert(found, ("no offer of %s, %s"):format(row[1], row[2]))
end

test("eleven rates read by hand, in euros and in pounds", function()
  local euros, pounds = r:search { "hb_later" }, r:search({ "hb_later" }, { currency = "GBP" })
  for _, row in ipairs(HAND) do
    local offer = offer_like(euros, row)
    equal(row[4] .. " EUR", offer.price.total .. " " .. offer.price.currency, row[1])
    equal(row[3] and "2030-04-01T13:00:00Z" or nil, offer.refund and offer.refund.free_until, row[1])
    equal("now", offer.pay, row[1])
    offer = offer_like(pounds, row)
    equal(row[5] .. " GBP", offer.price.total .. " " .. offer.price.currency, row[1])
    equal(row[4] .. " EUR", offer.price.supplier_price.amount .. " " .. offer.price.supplier_price.currency, row[1])
  end
end)

test("a net contract shows net prices, and the tables make the hotel ours", function()
  local reply = r:search { "hb_net" }
  local by_id = reading.read(text, "net", NOW)
  recorded.answered(reply, "hb_net", 19, 0)
  for id, rate in pairs(by_id) do
    rate.taxes = "yes"
    equal("yes", assert(recorded.offers_of(reply, "hb_net")[id]).price.taxes_included)
  end
  for _, row in ipairs(HAND) do
    local seen = false
    for _, offer in ipairs(reply.json.offers) do
      seen = seen or offer.room == row[1] and offer.price.total == row[6]
    end
    assert(seen, row[1] .. " for " .. row[6])
  end
end)

test("a tax that the hotel takes is in the total and told apart", function()
  local reply = r:search { "hb_taxed" }
  recorded.answered(reply, "hb_taxed", 19, 0)
  local totals = {}
  for _, offer in ipairs(reply.json.offers) do
    local due = offer.price.due_later
    equal(1, #due, "due later")
    equal("tax 3.30 EUR", due[1].kind .. " " .. due[1].amount .. " " .. due[1].currency)
    equal("yes", offer.price.taxes_included)
    totals[offer.price.total] = true
  end
  assert(totals["230.52"] and totals["303.60"] and totals["565.36"], "227.22, 300.30 and 562.06 with 3.30 more")
end)

-- ---- where ---------------------------------------------------------------------------------------------------------

local function place(value, name)
  local query = {}
  for field, told in pairs(r.all.query) do
    query[field] = told
  end
  query.place = value
  return r:search({ name or "hb_tables" }, { query = query })
end

test("a city is asked for by the codes of its hotels, in slices, and the hotel is ours", function()
  local reply = place { city = "LON" }
  local entry = recorded.answered(reply, "hb_tables", 19, 0)
  equal(nil, entry.offers_unmapped, "unmapped")
  local _, item = next(reply.json.items)
  equal("knightsbridge", item.hotel_id, "our id")
  equal(NAME, item.name, "name")
  recorded.answered(place { hotels = { "knightsbridge" } }, "hb_tables", 19, 0)
end)

test("what no table knows is not asked for", function()
  equal("no hotel there", world.entry(place { city = "ROM" }, "hb_tables").reason)
  equal("no hotel there", world.entry(place { hotels = { "nobody" } }, "hb_tables").reason)
  equal("no table of cities: see the option in_city",
    world.entry(place({ city = "LON" }, "hotelbeds"), "hotelbeds").reason)
  equal("no table of hotels: see the option by_hotel",
    world.entry(place({ hotels = { "nobody" } }, "hotelbeds"), "hotelbeds").reason)
end)

-- ---- what is no answer ---------------------------------------------------------------------------------------------

test("nothing for sale is empty, and an answer to another question is none", function()
  recorded.ended(r:search { "hb_none" }, "hb_none", "empty")
  local entry = recorded.ended(r:search { "hb_checked" }, "hb_checked", "unparsable")
  assert(entry.detail:find("hotels", 1, true), entry.detail)
  -- Two adults are not what was recorded.
  local query = { rooms = { { adults = 2 } } }
  for field, told in pairs(r.all.query) do
    query[field] = query[field] or told
  end
  entry = recorded.ended(r:search({ "hb_later" }, { query = query }), "hb_later", "unparsable")
  assert(entry.detail:find("other rooms than asked", 1, true), entry.detail)
end)

for _, row in ipairs(ERRORS) do
  local name, status, outcome, kind = row[1], row[2], row[4], row[5]
  test(("%s: %s is %s%s"):format(name, status, outcome, kind and ", " .. kind or ""), function()
    local reply = r:search { name }
    local entry = recorded.ended(reply, name, outcome, kind)
    equal(row.code, entry.code, "code")
    -- An account whose supplier does not say how long is left alone for a second.
    equal(row.retry_in_ms or (kind == "quota" and 1000 or nil), entry.retry_in_ms, "retry_in_ms")
    assert(not reply.raw:find(SECRET, 1, true) and not reply.raw:find(KEY, 1, true), reply.raw)
  end)
end

r:never_wrong(changed)
-- What is not told any more cannot be in the total; then the price is not said to be everything.
for _, mutation in ipairs(taxes) do
  test(("taxes: %s: no price is said to be everything that is not"):format(mutation.name), function()
    local reply = r:search { mutation.alias }
    local whole = recorded.offers_of(r:search { "hb_taxed" }, "hb_taxed")
    local bare = recorded.offers_of(reply, mutation.alias)
    if mutation.name == "cut in half" then
      recorded.ended(reply, mutation.alias, "unparsable")
      return
    end
    local without = reading.read(text, "sellingRate", NOW)
    for id, offer in pairs(bare) do
      local price = offer.price
      local is_whole = price.total == whole[id].price.total
      assert(is_whole or price.total == without[id].total and price.taxes_included ~= "yes",
        ("%s: %s, %s"):format(id, price.total, tostring(price.taxes_included)))
      equal(is_whole, price.due_later ~= nil, "due later of " .. id)
    end
    equal(19, world.entry(reply, mutation.alias).offers, "offers")
  end)
end

r:stop()

-- ---- /checkrates, and searches of the day on which it was recorded -------------------------------------------------

local BENCH = world.folder .. "/hotelbeds"
local SETTINGS = BENCH .. "/settings.yaml"
local ASKED = { place = { city = "LON" }, check_in = "2024-04-02", check_out = "2024-04-03", rooms = { { adults = 1 } },
  market = "GB", currency = "EUR" }
os.execute(("rm -rf '%s' && mkdir -p '%s/hotelbeds.test'"):format(BENCH, BENCH))
os.execute(("cp suppliers/hotelbeds.lua '%s'"):format(BENCH))
world.write_file(SETTINGS, ("suppliers_dir: %s\nscripts_dir: scripts\n%s\n"):format(BENCH, r.all.more))
world.write_file(BENCH .. "/hotelbeds.test/a.body.json", text)

-- The rate that was checked, as the search told it: the twin room with breakfast.
local twin
for _, room in ipairs(world.json.decode(text).hotels.hotels[1].rooms) do
  twin = room.code == "TWN.ST" and room.rates[3].rateKey or twin
end
local TWIN = reading.ids({ twin })[1]
local REF = ("{\"board\":\"breakfast\",\"free_until\":\"2024-04-01T14:00:00+01:00\",\"hotel\":\"6619\","
  .. "\"keys\":[\"%s\"],\"pay\":\"now\",\"rooms\":\"TWN.ST\"}"):format(twin)

local function write_fixture(name, fixture)
  fixture.search = { product = "hotels", query = ASKED, budget_ms = 5000 }
  fixture.now = "2024-02-23T20:46:00Z"
  fixture.secrets = { HOTELBEDS_KEY = "test-key", HOTELBEDS_SECRET = "test-secret" }
  fixture.options = { in_city = "hotelbeds_in_city", by_code = "hotelbeds_by_code" }
  world.write_file(("%s/hotelbeds.test/%s.json"):format(BENCH, name), world.json.encode(fixture))
end

local SEARCHED = { { expect_request = { json = {
  stay = { checkIn = "2024-04-02", checkOut = "2024-04-03" },
  occupancies = { { rooms = 1, adults = 1, children = 0 } },
  hotels = { hotel = { 6619, 6620 } },
  sourceMarket = "GB", language = "ENG",
} }, response = { body_file = "a.body.json" } } }

local function play(arguments)
  return world.shell(("%s/lastcall test hotelbeds -c %s %s"):format(world.build, SETTINGS, arguments or ""))
end

test("when it was recorded, rates are free until 13:00 UTC, and /checkrates confirms one at its price", function()
  write_fixture("ok-recorded", {
    about = "the recorded search and the check of one of its rates",
    exchanges = SEARCHED,
    expect = { outcome = "answered", offers = 19, ["offers[3]"] = { refund = { free_until = "2024-04-01T13:00:00Z" },
      price = { total = "252.46" }, item = { hotel_id = "knightsbridge", name = NAME, stars = 4 },
      expires_at = "2024-02-23T21:16:00Z" } },
    revalidate = { { offer = TWIN, ref = REF,
      exchanges = { { expect_request = { url = "https://api.hotelbeds.com/hotel-api/1.0/checkrates",
        json = { rooms = { { rateKey = twin } } } }, response = { body = r:read(CHECKED) } } },
      expect = { status = "confirmed", now = { total = "300.30", currency = "EUR" },
        expires_at = "2024-02-23T21:16:00Z" } } },
  })
  local output, code = play()
  equal(0, code, output)
end)

test("a check whose answer is changed shows no wrong price, and confirms nothing that it lacks", function()
  local list = recorded.mutations(r:read(CHECKED), {
    fields = { "hotel", "hotel.currency", "hotel.totalNet", "hotel.rooms", "rooms[].rates", "rates[].rateKey",
      "rates[].rateType", "rates[].net", "rates[].sellingRate", "rates[].boardCode", "rates[].boardName",
      "rates[].rooms", "rates[].adults", "rates[].paymentType", "rates[1]",
      "rates[].cancellationPolicies", "cancellationPolicies[].from" },
    lists = { "hotel.rooms", "rooms[].rates", "rates[].cancellationPolicies", "hotel" },
  })
  mutations.tell(CHECKED, list)
  local asked = {}
  for i, mutation in ipairs(list) do
    asked[i] = { about = mutation.name, offer = TWIN, ref = REF, expect = { status = "sold_out" },
      exchanges = { { response = { body = mutation.text } } } }
  end
  write_fixture("ok-recorded", { about = "changed answers", exchanges = SEARCHED, revalidate = asked,
    expect = { outcome = "answered" } })
  play("--update") -- it writes what came, but for failures
  local function revalidations()
    return world.json.decode(world.read_file(BENCH .. "/hotelbeds.test/ok-recorded.json")).revalidate
  end
  local kinds = { confirmed = 0, changed = 0, retry = 0, sold_out = 0, unparsable = 0 }
  for i, one in ipairs(revalidations()) do
    local word = one.expect.status or "unparsable"
    assert(kinds[word], one.about .. ": " .. word)
    assert(word ~= "sold_out" or one.about == "hotel emptied", one.about .. ": " .. word)
    kinds[word] = kinds[word] + 1
    asked[i].expect = word == "unparsable" and { outcome = word } or { status = word }
    asked[i].expect.now = word == "confirmed" and { total = "300.30", currency = "EUR" } or nil
  end
  write_fixture("ok-recorded", { about = "changed answers", exchanges = SEARCHED, revalidate = asked,
    expect = { outcome = "answered" } })
  local output, code = play()
  equal(0, code, output)
  for word, count in pairs(kinds) do
    assert(count > 0, "no answer that is " .. word)
  end
end)

world.finish()
