-- Suppliers in the manner of three large ones, each mostly a plan: right offers, totals and times over HTTP, all
-- exchanges within one allocation. Then with a field that has another name: told with its path, never silently empty.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reading = require("tests.e2e.shapes_reading")
local test, equal = world.test, world.equal

local folder = world.folder
local properties = folder .. "/properties.tsv"
os.execute("mkdir -p " .. folder)
local printed, code = world.shell(("%s/examples/farm/farm --properties %s"):format(world.build, properties))
equal(0, code, "exit code of farm --properties: " .. printed)

local w = world.start {
  population = "shapes",
  settings = { "examples/farm/shapes.yaml" },
  environment = "FARM_RATES_KEY=farm-key FARM_RATES_SECRET=farm-secret FARM_SECRET=farm-secret-of-all",
  overlay = ([[
data:
  properties_in_city: { file: %s }
  properties: { file: %s }
  properties_of_hotel: { file: %s }
%s]]):format(properties, properties, properties,
    -- Code of the thread sanitizer takes ten times as long.
    os.getenv("LASTCALL_VARIANT") == "tsan" and "scripts: { build_limit: 100ms, normalise_limit: 1s }\n" or ""),
}

local FLIGHTS = {
  slices = {
    { origin = "SYD", destination = "LHR", date = "2030-05-12" },
    { origin = "LHR", destination = "SYD", date = "2030-05-19" },
  },
  travellers = { { type = "adult" }, { type = "adult" } },
  currency = "GBP",
  cabin = "business",
}
local HOTELS = {
  place = { city = "LON" },
  check_in = "2030-09-03",
  check_out = "2030-09-06",
  rooms = { { adults = 2, child_ages = { 7, 9 } }, { adults = 1 }, { adults = 2, child_ages = { 7, 9 } } },
  currency = "GBP",
}
local LONG_MS = 9000

local function reset()
  equal(200, world.http("POST", "http://" .. world.network .. ".254:9999/reset").status, "reset of the farm")
end

local function ask(name, query)
  local reply = w:search { suppliers = { name }, query = query, product = query.place and "hotels" or "flights",
    budget_ms = LONG_MS, max_items = 10000, max_offers_per_item = 1000 }
  local entry = world.entry(reply, name)
  assert(entry, reply.raw:sub(1, 600))
  return entry, reply
end

local function on_wire(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

-- Every offer of the reply is one of those expected, and all of them are there; `check` looks at each.
local function compare(reply, name, expected, check)
  local count = 0
  for _, offer in ipairs(reply.json.offers) do
    local id = offer.id:sub(#name + 2)
    local other = expected[id]
    assert(other, "not sold: " .. id)
    equal(other.total, offer.price.total, "total of " .. id)
    equal(HOTELS.currency, offer.price.currency, "currency of " .. id)
    check(id, offer, other, reply.json.items[offer.item])
    count = count + 1
  end
  for _ in pairs(expected) do
    count = count - 1
  end
  equal(0, count, "offers more than expected")
end

test("maps by id: three polls that replace, thousandths, times in pieces", function()
  local expected, answers = reading.maps(FLIGHTS)
  reset()
  local entry, reply = ask("m01", FLIGHTS)
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(nil, entry.partial, "partial")
  equal(nil, entry.first_warning, "warning")
  equal(true, reply.json.coverage.complete, "complete")
  equal(answers, on_wire("m01").requests, "requests")
  equal(3, answers, "answers")
  compare(reply, "m01", expected, function(id, offer, other, item)
    equal(other.segments, reading.segments(item), "segments of " .. id)
    equal(other.seller, offer.seller.name, "seller of " .. id)
    equal("business", item.slices[1].segments[1].cabin, "cabin of " .. id)
  end)
end)

test("tables by number: references through two lists, amounts as numbers, days to add", function()
  local expected = reading.tables(FLIGHTS)
  reset()
  local entry, reply = ask("t01", FLIGHTS)
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(nil, entry.first_warning, "warning")
  equal(30, entry.offers, "offers")
  equal(1, on_wire("t01").requests, "requests")
  local later = false
  compare(reply, "t01", expected, function(id, offer, other, item)
    equal(other.segments, reading.segments(item), "segments of " .. id)
    equal(other.brand, offer.brand, "brand of " .. id)
    equal(other.checked, offer.bags.checked, "bags of " .. id)
    equal(other.brand == "FLEX", offer.refundable, "refundable of " .. id)
    local first = item.slices[1].segments
    later = later or first[#first].departs["local"]:sub(1, 10) ~= FLIGHTS.slices[1].date
  end)
  assert(later, "no segment leaves on a later day")
end)

-- The numbers of what the sources 1 to 5 have in London.
local function london()
  local ids = {}
  for line in io.lines(properties) do
    local source, property = line:match("^h0([1-5])\tLON\tP(%d+)\t")
    if source then
      ids[#ids + 1] = source .. property
    end
  end
  return ids
end

test("rates in rooms: signed parts of 250, prices by occupancy, equal rooms each", function()
  local ids, expected, parts = london(), {}, 0
  for first = 1, #ids, 250 do
    for id, rate in pairs(reading.rates(HOTELS, { unpack(ids, first, math.min(first + 249, #ids)) })) do
      expected[id] = rate
    end
    parts = parts + 1
  end
  assert(parts >= 2, "parts " .. parts)
  reset()
  local entry, reply = ask("r01", HOTELS)
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(nil, entry.partial, "partial")
  equal(parts, entry.parts.ok, "parts ok")
  equal(parts, on_wire("r01").requests, "requests")
  local dues, refunds = 0, 0
  compare(reply, "r01", expected, function(id, offer, other, item)
    equal(other.due, offer.price.due_later and offer.price.due_later[1].amount, "due later of " .. id)
    equal(other.refundable, offer.refund ~= nil, "refund of " .. id)
    equal(other.room, offer.room, "room of " .. id)
    equal(other.board, offer.board, "board of " .. id)
    assert(item.hotel_id:match("^farm%-%d+$"), item.hotel_id)
    dues = dues + (other.due and 1 or 0)
    refunds = refunds + (other.refundable and 1 or 0)
  end)
  assert(dues > 0 and refunds > 0, "none with a fee, or none to give back")
end)

test("a wrong signature is refused by the farm", function()
  local reply = world.http("GET", "http://" .. world.network .. ".3:8080/v3/properties/availability?checkin=2030-09-03",
    { headers = { "Authorization: EAN APIKey=farm-key,Signature=" .. ("0"):rep(128) .. ",timestamp=" .. os.time() } })
  equal(401, reply.status, reply.raw)
end)

-- Fields that offers cannot be without: supplier, query, field, fault, what the detail must say.
for _, case in ipairs {
  { "m01", FLIGHTS, "content", "content.results.itineraries{}: an object expected, got nothing" },
  { "m01", FLIGHTS, "itineraries", "content.results.itineraries{}: an object expected, got nothing" },
  { "m01", FLIGHTS, "pricingOptions", "content.results.itineraries{}.pricingOptions[]: a list expected" },
  { "m01", FLIGHTS, "amount", "price.total" },
  { "m01", FLIGHTS, "legIds", "slices" },
  { "m01", FLIGHTS, "segments", "slices[1].segments[1]" },
  { "m01", FLIGHTS, "places", "slices[1].segments[1].origin" },
  { "m01", FLIGHTS, "hour", "slices[1].segments[1].departs.local" },
  { "t01", FLIGHTS, "groupedItineraryResponse", "groupedItineraryResponse.itineraryGroups[]: a list expected" },
  { "t01", FLIGHTS, "itineraries", "groupedItineraryResponse.itineraryGroups[].itineraries[]: a list expected" },
  { "t01", FLIGHTS, "legDescs", "slices[1]" },
  { "t01", FLIGHTS, "schedules", "slices[1].segments" },
  { "t01", FLIGHTS, "totalPrice", "price.total" },
  { "t01", FLIGHTS, "departureDate", "slices[1].segments[1].departs.local" },
  { "t01", FLIGHTS, "id", "id" },
  { "x01", FLIGHTS, "Price", "price.total" },
  { "x01", FLIGHTS, "Offers", "f:Offers" },
  { "x01", FLIGHTS, "Offer", "f:Offer", { "rename_field" } }, -- without them the list is an empty one
  { "x01", FLIGHTS, "Flight", "slices[1].segments" },
  { "x01", FLIGHTS, "Departs", "slices[1].segments[1].departs.local" },
  { "r01", HOTELS, "rooms", "[].rooms[]: a list expected" },
  { "r01", HOTELS, "rates", "[].rooms[].rates[]: a list expected" },
  { "r01", HOTELS, "inclusive", "price.total" },
  { "r01", HOTELS, "value", "price.total" },
} do
  local name, query, field, path, faults = unpack(case)
  for _, fault in ipairs(faults or { "rename_field", "drop_field" }) do
    test(name .. " with " .. field .. " under " .. fault .. " is unparsable, with the path", function()
      world.farm(name, { fault = fault, field = field, median_ms = 0 })
      local entry, reply = ask(name, query)
      world.farm(name, { fault = "none" })
      equal("unparsable", entry.outcome, world.json.encode(entry))
      assert(entry.detail:find(path, 1, true), entry.detail)
      equal(false, reply.json.coverage and reply.json.coverage.complete, "complete")
    end)
  end
end

local function drifting(name)
  local status = world.http("GET", w.admin_url .. "/admin/v1/status").json
  for _, supplier in ipairs(status.suppliers) do
    if supplier.name == name then
      return supplier.drift
    end
  end
end

local function drift_total(name)
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  return tonumber(text:match('lastcall_script_drift_total{supplier="' .. name .. '"} (%d+)'))
end

test("an optional field that stops appearing is told as drift, and again when it is back", function()
  world.farm("t01", { fault = "none", median_ms = 0 })
  for _ = 1, 55 do
    equal(nil, ask("t01", FLIGHTS).first_warning, "warning")
  end
  equal(nil, drifting("t01"), "drift")
  equal(0, drift_total("t01"), "answers with drift")
  world.farm("t01", { fault = "rename_field", field = "brandName" })
  local entry
  for _ = 1, 6 do
    entry = ask("t01", FLIGHTS)
    equal("answered", entry.outcome, world.json.encode(entry))
  end
  local path = "groupedItineraryResponse.fareComponentDescs[].brand.brandName"
  equal("drift: " .. path .. " has stopped appearing", entry.first_warning, "warning")
  equal(2, drift_total("t01"), "answers with drift")
  local list = drifting("t01")
  equal(1, #list, "paths that drift")
  equal(path, list[1].path, "path")
  assert(list[1].since:match("^20%d%d%-%d%d%-%d%dT"), list[1].since)
  local shown = world.shell(world.build .. "/lastcall status --no-color --admin " .. w.admin_url)
  assert(shown:find("drift: " .. path .. " has stopped appearing, since " .. list[1].since, 1, true), shown)
  local count = 0
  for _ = 1, 200 do -- lines are written by a thread of their own
    _, count = w:engine_output():gsub("has stopped appearing", "")
    if count > 0 then
      break
    end
    world.sleep_ms(20)
  end
  equal(1, count, "lines in the log")
  world.farm("t01", { fault = "none" })
  equal(nil, ask("t01", FLIGHTS).first_warning, "warning")
  equal(nil, drifting("t01"), "drift")
end)

w:stop()
test("the engine ends clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
