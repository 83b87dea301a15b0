-- The real Duffel answer over HTTP, beside the farm's: 68 offers, totals to the cent, local times, airports.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local FILE = world.shared .. "/payloads/duffel/offer_requests.create_with_offers.json"
local content = world.read_file(FILE)
if not content then
  world.skip("the real Duffel answer", FILE .. " is absent")
  world.finish()
end
local source = world.json.decode(content).data

local w = world.start {
  population = "healthy",
  settings = { "examples/farm/lastcall.yaml", "examples/farm/duffel.yaml" },
  overlay = ("suppliers: { duffel: { accounts: { main: { options: { base_url: \"http://%s.41:8080\" } } } } }")
    :format(world.network),
  files = { "duffel:" .. world.network .. ".41:" .. FILE },
  environment = "DUFFEL_TOKEN=test-token",
}

local function offers_of(reply, supplier)
  local by_id, count = {}, 0
  for _, offer in ipairs(reply.json.offers) do
    if offer.supplier == supplier then
      by_id[offer.id] = offer
      count = count + 1
    end
  end
  return by_id, count
end

local ALL = { budget_ms = 5000, max_items = 10000, max_offers_per_item = 1000 }
local reply = w:search(ALL)
local offers, count = offers_of(reply, "duffel")

test("all 68 offers are there, beside those of the farm", function()
  equal(200, reply.status, "status")
  equal(68, #source.offers, "offers of the file")
  local entry = world.entry(reply, "duffel")
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(68, entry.offers, "offers counted")
  equal(68, count, "offers returned")
  assert(reply.json.coverage.offers_found > 68 + 1000, "the farm's offers are there too")
end)

test("each total, currency and airport is that of the file, to the cent", function()
  for _, theirs in ipairs(source.offers) do
    local ours = assert(offers["duffel:" .. theirs.id], theirs.id .. " is missing")
    equal(theirs.total_amount, ours.price.total, theirs.id .. " total")
    equal(theirs.total_currency, ours.price.currency, theirs.id .. " currency")
    local item = assert(reply.json.items[ours.item], theirs.id .. " has no item")
    equal(#theirs.slices, #item.slices, theirs.id .. " slices")
    for s, slice in ipairs(theirs.slices) do
      equal(#slice.segments, #item.slices[s].segments, theirs.id .. " segments")
      for g, segment in ipairs(slice.segments) do
        local mine = item.slices[s].segments[g]
        equal(segment.origin.iata_code, mine.origin, theirs.id .. " origin")
        equal(segment.destination.iata_code, mine.destination, theirs.id .. " destination")
        equal(segment.departing_at, mine.departs["local"], theirs.id .. " departs")
        equal(segment.arriving_at, mine.arrives["local"], theirs.id .. " arrives")
        equal(segment.origin.time_zone, mine.departs.zone, theirs.id .. " zone")
        equal(segment.destination.time_zone, mine.arrives.zone, theirs.id .. " zone")
      end
    end
  end
end)

-- Read from the file by eye, so that a mistake made twice cannot hide.
test("ten values read by hand", function()
  local HAND = {
    [1] = { "off_0000AEatBxAp5iMWXnIwuf", "627.00 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [2] = { "off_0000AEatBxAT724wWh8fMW", "395.25 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [3] = { "off_0000AEatBxA78LnMVayNoV", "327.17 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [8] = { "off_0000AEatBx9l9fVmUUo6G3", "79.62 GBP", "2022-04-16T19:00:00", "2022-04-16T20:35:00" },
    [14] = { "off_0000AEatBx93CIwcSITX9S", "627.00 GBP", "2022-04-16T17:00:00", "2022-04-16T18:35:00" },
    [21] = { "off_0000AEatBx8LEwNSQ68y2r", "79.62 GBP", "2022-04-16T16:00:00", "2022-04-16T17:35:00" },
    [32] = { "off_0000AEatBx6vKDF8LhTppz", "79.62 GBP", "2022-04-16T13:00:00", "2022-04-16T14:35:00" },
    [45] = { "off_0000AEatBx5rOAOOIOyzB8", "79.62 GBP", "2022-04-16T10:00:00", "2022-04-16T11:35:00" },
    [56] = { "off_0000AEatBx45UkyUCu9ZQ7", "79.62 GBP", "2022-04-16T08:00:00", "2022-04-16T09:35:00" },
    [68] = { "off_0000AEatBx31Yi7k9beiky", "129.51 GBP", "2022-04-16T06:30:00", "2022-04-16T08:05:00" },
  }
  for index, expected in pairs(HAND) do
    local ours = assert(offers["duffel:" .. expected[1]], "offer " .. index .. " is missing")
    local segment = reply.json.items[ours.item].slices[1].segments[1]
    equal(expected[2], ours.price.total .. " " .. ours.price.currency, "offer " .. index)
    equal("SYD-MEL", segment.origin .. "-" .. segment.destination, "airports of offer " .. index)
    equal(expected[3], segment.departs["local"], "departure of offer " .. index)
    equal(expected[4], segment.arrives["local"], "arrival of offer " .. index)
    equal(95, segment.duration_min, "duration of offer " .. index)
  end
end)

w:stop()
world.finish()
