-- Hotels over a table of 100,000 properties: twenty suppliers with ids, currencies and taxes of their own.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local QUERY = {
  place = { city = "LON" },
  check_in = "2030-09-03",
  check_out = "2030-09-06",
  rooms = { { adults = 2, child_ages = { 7 } } },
  currency = "EUR",
}

local folder = world.folder
local properties = folder .. "/properties.tsv"
os.execute("mkdir -p " .. folder)
local output, code = world.shell(("%s/examples/farm/farm --properties %s"):format(world.build, properties))
equal(0, code, "exit code of farm --properties: " .. output)

-- By hand, line by line: what the engine's look-ups must agree with.
local by_property, by_city, rows = {}, {}, 0
for line in io.lines(properties) do
  local supplier, city, property, hotel = line:match("^([^\t]+)\t([^\t]+)\t([^\t]+)\t([^\t]+)\t")
  if rows > 0 then
    by_property[supplier .. " " .. property] = hotel
    by_city[supplier .. " " .. city] = (by_city[supplier .. " " .. city] or 0) + 1
  end
  rows = rows + 1
end

local DATA = ([[
data:
  properties_in_city: { file: %s }
  properties: { file: %s }
  properties_of_hotel: { file: %s }
]]):format(properties, properties, properties)

local w = world.start {
  population = "hotels",
  settings = { "examples/farm/hotels.yaml" },
  overlay = DATA,
}

local function search(fields, query)
  local body = { product = "hotels", budget_ms = 10000, max_items = 10000, max_offers_per_item = 1000 }
  body.query = {}
  for _, from in ipairs { QUERY, query or {} } do
    for key, value in pairs(from) do
      body.query[key] = value
    end
  end
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  return w:search(body)
end

local function misses(table_name)
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  return tonumber(text:match('lastcall_lookup_misses_total{table="' .. table_name .. '"} (%d+)'))
end

-- The property in an offer's id: "h07:7919-0-22159-3".
local function property_of(offer)
  return ("P%07d"):format(tonumber(offer.id:match("^h%d%d:(%d+)-")))
end

test("the table has a line for each of 100,000 properties", function()
  equal(100001, rows, "lines")
end)

test("every supplier is asked for what the table says it has in the city", function()
  local reply = search()
  equal(200, reply.status, "status: " .. reply.raw:sub(1, 600))
  equal(20, reply.json.coverage.eligible, "eligible")
  equal(true, reply.json.coverage.complete, "complete: " .. world.json.encode(reply.json.suppliers))
  local seen = {}
  for _, offer in ipairs(reply.json.offers) do
    if not offer.item:match("^h%d%d:") then
      local hotel = by_property[offer.supplier .. " " .. property_of(offer)]
      equal(hotel, reply.json.items[offer.item].hotel_id, "hotel of " .. offer.id)
      seen[offer.supplier .. property_of(offer)] = offer.supplier
    end
  end
  local counts = {}
  for _, supplier in pairs(seen) do
    counts[supplier] = (counts[supplier] or 0) + 1
  end
  for i = 1, 20 do
    local name = ("h%02d"):format(i)
    equal(by_city[name .. " LON"], counts[name], "properties of " .. name)
  end
end)

test("a hotel of two suppliers is one item with the offers of both", function()
  local reply = search()
  local sellers = {}
  for _, offer in ipairs(reply.json.offers) do
    sellers[offer.item] = sellers[offer.item] or {}
    sellers[offer.item][offer.supplier] = true
  end
  local shared = 0
  for item in pairs(sellers) do
    local count = 0
    for _ in pairs(sellers[item]) do
      count = count + 1
    end
    shared = shared + (count > 1 and 1 or 0)
  end
  -- Each of London's 800 hotels is sold by two or three suppliers.
  equal(800, shared, "hotels with several suppliers")
end)

test("a property that is in no table is an item of its supplier, and counted", function()
  local before = misses("properties")
  local reply = search { suppliers = { "h10", "h11" } }
  local own = {}
  for _, offer in ipairs(reply.json.offers) do
    if offer.item:match("^h%d%d:") then
      own[offer.item] = true
    end
  end
  equal(true, own["h10:N0000010"], "the item of the new property")
  equal(nil, own["h11:N0000011"], "an item of a supplier without one")
  equal(before + 1, misses("properties"), "misses")
end)

test("hotels that are asked for by our ids reach their suppliers only", function()
  local hotel
  for key, value in pairs(by_property) do
    hotel = key:match("^h03 ") and value or hotel
  end
  local reply = search({}, { place = { hotels = { hotel } } })
  equal(200, reply.status, "status: " .. reply.raw:sub(1, 300))
  local h03 = world.entry(reply, "h03")
  equal("answered", h03.outcome, "outcome for " .. hotel)
  assert(reply.json.coverage.eligible <= 3, "a hotel has at most three sellers: " .. reply.json.coverage.eligible)
  for _, entry in ipairs(reply.json.suppliers) do
    assert(entry.outcome == "answered" or entry.outcome == "skipped" or entry.outcome == "disabled", entry.outcome)
  end
end)

test("a city that nobody sells skips all suppliers and counts a miss for each", function()
  local before = misses("properties_in_city")
  local reply = search({}, { place = { city = "NOWHERE" } })
  equal(0, reply.json.coverage.eligible, "eligible")
  equal("no property there", world.entry(reply, "h01").reason, "reason")
  equal(before + 20, misses("properties_in_city"), "misses")
end)

-- What the farm itself says of one property, rate by rate.
local function ask_farm(supplier, property)
  local reply = world.http("POST", ("http://%s.%d:8080/v2/rates"):format(world.network, tonumber(supplier:sub(2))), {
    body = world.json.encode {
      check_in = QUERY.check_in,
      check_out = QUERY.check_out,
      rooms = { { adults = 2, children = { 7 } } },
      properties = { property },
    },
  })
  equal(200, reply.status, "status of the farm: " .. reply.raw)
  local rates = {}
  for _, rate in ipairs(reply.json.properties[1].rates) do
    rates[supplier .. ":" .. rate.key] = rate
  end
  return rates, reply.json.taxes
end

local function cents(text)
  local whole, part = text:match("^(%d+)%.(%d%d)$")
  return tonumber(whole) * 100 + tonumber(part)
end

test("fees at the hotel and taxes that stand apart are in the total, to the cent", function()
  local reply = search { suppliers = { "h02" } } -- in EUR, without its taxes
  local with_fee = 0
  for _, offer in ipairs(reply.json.offers) do
    local due = offer.price.due_later and offer.price.due_later[1]
    if due and with_fee < 5 then
      with_fee = with_fee + 1
      local rates, taxes = ask_farm("h02", property_of(offer))
      local rate = rates[offer.id]
      equal("excluded", taxes, "taxes")
      equal(cents(rate.total) + cents(rate.taxes) + cents(rate.resort_fee), cents(offer.price.total), offer.id)
      equal("resort_fee", due.kind, "kind")
      equal(rate.resort_fee, due.amount, "fee")
      equal("yes", offer.price.taxes_included, "taxes_included")
    end
  end
  equal(5, with_fee, "offers with a fee that were looked at")
end)

test("the same search gives the same bytes", function()
  local function stable(reply)
    local offers = reply.json.offers
    for _, offer in ipairs(offers) do
      offer.observed_at = nil
    end
    local ids = {}
    for i, offer in ipairs(offers) do
      ids[i] = offer.id .. " " .. offer.price.total .. " " .. offer.item
    end
    return table.concat(ids, "\n")
  end
  local first = stable(search())
  equal(first, stable(search()), "offers in their order")
end)

test("check counts rows and keys, and finds the table that a script misses", function()
  local site = w.folder .. "/hotels-check.yaml"
  world.write_file(site, DATA)
  -- The authority of this farm, not of one that was started by hand.
  local check = ("LASTCALL__NETWORK__CA_FILE=%s/tls/ca.pem %s/lastcall check -c "):format(w.folder, world.build)
  local text, exit = world.shell(check .. "examples/farm/hotels.yaml -c " .. site)
  equal(0, exit, text)
  assert(text:match("properties: 100000 rows, 100000 keys"), text)
  assert(text:match("properties_in_city: 100000 rows, 1000 keys, 1000 of them with several rows, at most 152"), text)
  assert(text:match("properties: [^\n]*; fixtures: %d+ look%-ups, 1 miss %(h01/P9999999%)"), text)
  local settings = world.read_file("examples/farm/hotels.yaml"):gsub("  properties_of_hotel:", "  property_of_hotel:")
  world.write_file(site, (settings:gsub("%.build/farm/properties%.tsv", properties)))
  text, exit = world.shell(check .. site)
  equal(1, exit, text)
  assert(text:match("farm_hotels.lua:%d+"), text)
  assert(text:match('no table "properties_of_hotel"') and text:match('did you mean "property_of_hotel"'), text)
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
