-- Suppliers that are asked in XML: a search is begun, then polled for what has come; an error is an answer.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local POPULATION = "examples/farm/populations/xml.txt"
local SETTINGS = world.folder .. "/xml.yaml"

local printed, code = world.shell(("%s/examples/farm/farm --population %s --plain --print-settings"):format(world.build,
  POPULATION))
assert(code == 0, printed)
world.write_file(SETTINGS, printed .. "\n")

local w = world.start {
  population = POPULATION,
  settings = { world.settings_without_ceilings(), SETTINGS },
  environment = "FARM_SECRET=farm-secret-of-all",
}

-- Long enough for all that end by themselves, also on a machine that does other things.
local LONG_MS = 8000

-- The farm counts from 0; with another seed all logins are over.
local function reset(seed)
  local body = seed and world.json.encode { seed = seed }
  equal(200, world.http("POST", world.farm_url .. "/reset", { body = body }).status, "reset of the farm")
end

-- A search of one supplier whose offers are all in the reply; its entry, its offers, the reply.
local function ask(name, budget_ms, query)
  local reply = w:search { suppliers = { name }, budget_ms = budget_ms or LONG_MS, max_items = 1000,
    max_offers_per_item = 1000, query = query }
  return world.entry(reply, name), reply.json.offers or {}, reply
end

local function on_wire(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

-- name, requests
for _, case in ipairs { { "s01", 4 }, { "s02", 6 }, { "s03", 2 } } do
  local name, requests = unpack(case)
  test("a search is begun and polled until it is complete (" .. name .. ")", function()
    ask(name) -- it has a login then
    reset()
    local entry, offers, reply = ask(name)
    equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
    equal(nil, entry.partial, "partial")
    equal(30, entry.offers, "offers")
    equal(30, #offers, "offers in the reply")
    equal(true, reply.json.coverage.complete, "complete")
    equal(requests, on_wire(name).requests, "requests on the wire")
  end)
end

test("the first search logs in, and so does one whose login is over", function()
  for _, seed in ipairs { 11, 12 } do
    reset(seed)
    local entry = ask("s01")
    equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
    equal(30, entry.offers, "offers")
    equal(6, on_wire("s01").requests, "requests on the wire: one refused, a login, one begun, three polls")
  end
end)

test("an offer of XML has all its fields", function()
  local _, offers, reply = ask("s01")
  local offer = offers[1]
  equal("Light & <easy>", offer.brand, "brand")
  equal("boolean", type(offer.refundable), "refundable")
  equal("EUR", offer.price.currency, "currency")
  equal("yes", offer.price.taxes_included, "taxes")
  assert(offer.price.total:match("^%d+%.%d%d$"), offer.price.total)
  local item = reply.json.items[offer.item]
  local segment = (item.slices or offer.slices)[1].segments[1]
  equal("LHR", segment.origin, "origin")
  equal("2030-05-14", segment.departs["local"]:sub(1, 10), "departs")
  equal("Europe/London", segment.departs.zone, "zone")
end)

test("polls that the budget ends keep what they had", function()
  local entry, offers = ask("s04", 2500)
  equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
  equal(true, entry.partial, "partial")
  equal("budget", entry.bound, "bound")
  assert(#offers > 0 and #offers < 30, "offers " .. #offers)
end)

-- fault, outcome, a part of its detail
for _, case in ipairs {
  { "html", "unparsable", "a DOCTYPE: this is an HTML page" },
  { "empty", "unparsable", "the body is empty, XML was expected" },
  { "status_429", "rejected" },
  { "status_500", "failed" },
  { "length_short", "unparsable", "unclosed token" },
} do
  local fault, outcome, detail = unpack(case)
  test(fault .. " in place of XML is " .. outcome, function()
    world.farm("s01", { fault = fault })
    local entry = ask("s01")
    world.farm("s01", { fault = "none" })
    w:wait_until_free("s01")
    equal(outcome, entry.outcome, "outcome of " .. world.json.encode(entry))
    assert(not detail or (entry.detail or ""):find(detail, 1, true), world.json.encode(entry))
  end)
end

for _, fault in ipairs { "utf16", "bom", "gzip_members" } do
  test(fault .. " changes nothing of XML", function()
    world.farm("s01", { fault = fault })
    local entry = ask("s01")
    world.farm("s01", { fault = "none" })
    equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
    equal(30, entry.offers, "offers")
  end)
end

w:stop()
world.finish()
