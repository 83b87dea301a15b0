-- Suppliers that need several exchanges: polls that add or replace, pages, and four parts of which one fails.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local POPULATION = "examples/farm/populations/steps.txt"
local FOLDER = world.folder
local SETTINGS, FILE = FOLDER .. "/steps.yaml", FOLDER .. "/steps.ndjson"
os.execute("mkdir -p " .. FOLDER .. " && rm -f " .. FILE)

local printed, code = world.shell(("%s/examples/farm/farm --population %s --print-settings"):format(world.build,
  POPULATION))
assert(code == 0, printed)
world.write_file(SETTINGS, printed .. "\n")

local w = world.start {
  without_breakers = true,
  population = POPULATION,
  settings = { world.settings_without_ceilings(), SETTINGS },
  overlay = "attribution: { file: " .. FILE .. " }",
}

-- Long enough for all that end by themselves, also on a machine that does other things.
local LONG_MS = 8000

local function reset()
  equal(200, world.http("POST", "http://" .. world.network .. ".254:9999/reset").status, "reset of the farm")
end

-- A search of one supplier whose offers are all in the reply; its entry and how many offers the reply has.
local function ask(name, budget_ms)
  local reply = w:search { suppliers = { name }, budget_ms = budget_ms or LONG_MS, max_items = 1000,
    max_offers_per_item = 1000 }
  return world.entry(reply, name), #(reply.json.offers or {}), reply
end

local function on_wire(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

-- The requests of the last search's supplier, as attribution tells them.
local function attributed(reply, name)
  world.http("GET", w.admin_url .. "/admin/v1/searches") -- comes back when everything is written
  for line in (world.read_file(FILE) or ""):gmatch("[^\n]+") do
    local record = world.json.decode(line)
    if record.search_id == reply.json.search_id then
      return world.entry({ json = record }, name).requests
    end
  end
end

-- name, requests, offers
for _, case in ipairs {
  { "s01", 3, 30, about = "polls that add bring all offers" },
  { "s05", 3, 20, about = "polls that replace leave what the last one has" },
  { "s09", 3, 30, about = "pages are followed to the last" },
  { "s11", 6, 30, about = "six pages are followed to the last" },
  { "s12", 1, 30, about = "one page is the first and the last" },
  { "s15", 4, 30, about = "four parts together bring all offers" },
} do
  local name, requests, offers = unpack(case)
  test(case.about .. " (" .. name .. ")", function()
    reset()
    local entry, returned, reply = ask(name)
    equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
    equal(nil, entry.partial, "partial")
    equal(offers, entry.offers, "offers")
    equal(offers, returned, "offers in the reply")
    equal(true, reply.json.coverage.complete, "complete")
    local seen = on_wire(name)
    equal(requests, seen.requests, "requests on the wire")
    equal(requests, seen.answered, "answers on the wire")
    equal(requests, attributed(reply, name), "requests in attribution")
  end)
end

test("a part that fails makes the answer partial, and the others stay", function()
  reset()
  local entry, returned, reply = ask("s13")
  equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
  equal(true, entry.partial, "partial")
  equal(4, entry.parts.sent, "parts sent")
  equal(3, entry.parts.ok, "parts ok")
  equal(1, entry.parts.failed, "parts failed")
  equal(nil, entry.bound, "bound")
  assert(returned > 15 and returned < 30, "offers in the reply: " .. returned)
  equal(entry.offers, returned, "offers")
  equal(502, entry.http_status, "the status of the part that failed")
  equal(false, reply.json.coverage.complete, "complete")
  equal(100, reply.json.coverage.percent, "percent")
  local seen = on_wire("s13")
  equal(4, seen.requests, "requests on the wire")
  equal(1, seen.faults.source_down, "sources that were down")
  equal(4, attributed(reply, "s13"), "requests in attribution")
end)

test("polls that the budget ends keep what they had", function()
  for _, name in ipairs { "s03", "s07" } do
    reset()
    local entry, returned, reply = ask(name, 2500) -- thirty rounds of 145 ms take longer
    equal("answered", entry.outcome, "outcome of " .. name .. " " .. world.json.encode(entry))
    equal(true, entry.partial, "partial")
    equal("budget", entry.bound, "bound")
    assert(entry.offers > 0 and entry.offers < 30, "offers " .. entry.offers)
    equal(entry.offers, returned, "offers in the reply")
    equal(false, reply.json.coverage.complete, "complete")
    equal("budget", reply.json.coverage.reasons[1], "reason")
    local seen = on_wire(name)
    assert(seen.steps >= 1 and seen.steps < 29, "polls on the wire: " .. seen.steps)
    equal(seen.requests, seen.steps + 1, "requests on the wire")
    equal(seen.requests, attributed(reply, name), "requests in attribution")
  end
end)

test("a poll that could not come in time is not waited for", function()
  reset()
  local entry, returned, reply = ask("s04")
  equal("answered", entry.outcome, "outcome of " .. world.json.encode(entry))
  equal(true, entry.partial, "partial")
  equal("budget", entry.bound, "bound")
  equal("pause", entry.phase, "phase")
  equal(10, entry.offers, "offers")
  equal(10, returned, "offers in the reply")
  equal(1, on_wire("s04").requests, "requests on the wire")
  assert(reply.json.took_ms < LONG_MS, "took " .. reply.json.took_ms)
end)

-- What a caller of a stream sees: all offers ever told, those taken back, those left.
local function stream(name)
  local reply = w:search({ suppliers = { name }, budget_ms = LONG_MS, max_items = 1000, max_offers_per_item = 1000 },
    { "Accept: application/x-ndjson" })
  local seen = { told = 0, retracted = {}, held = {}, reasons = {} }
  for line in reply.raw:gmatch("[^\n]+") do
    local event = world.json.decode(line)
    if event.event == "offers" then
      for _, offer in ipairs(event.data.offers) do
        seen.told = seen.told + (seen.held[offer.id] and 0 or 1)
        seen.held[offer.id] = true
      end
    elseif event.event == "retract" then
      seen.reasons[event.data.reason] = true
      for _, id in ipairs(event.data.ids) do
        assert(seen.held[id], id .. " was never told")
        seen.held[id] = nil
        seen.retracted[#seen.retracted + 1] = id
      end
    elseif event.event == "done" then
      seen.order = event.data.order
    end
  end
  return seen
end

test("a stream takes back the offers that a poll replaced", function()
  local _, _, reply = ask("s05")
  local seen = stream("s05")
  equal(30, seen.told, "offers told")
  equal(10, #seen.retracted, "offers taken back")
  equal(true, seen.reasons.replaced, "reason replaced")
  equal(20, #seen.order, "offers in the order")
  local left = {}
  for _, offer in ipairs(reply.json.offers) do
    left[offer.id] = true
    assert(seen.held[offer.id], offer.id .. " is in the reply, but not held by who reads the stream")
  end
  for _, id in ipairs(seen.retracted) do
    assert(not left[id], id .. " was taken back, but the single reply has it")
  end
end)

test("a stream takes nothing back from polls that add", function()
  local seen = stream("s01")
  equal(30, seen.told, "offers told")
  equal(0, #seen.retracted, "offers taken back")
  equal(30, #seen.order, "offers in the order")
end)

test("all forty together: each supplier has its own way, and the sums agree with the wire", function()
  reset()
  local reply = w:search { budget_ms = LONG_MS }
  equal(200, reply.status, "status")
  equal(40, reply.json.coverage.answered, "answered")
  local partial = {}
  for _, entry in ipairs(reply.json.suppliers) do
    local may_be_cut = entry.name == "s03" or entry.name == "s07" -- thirty rounds: not on a busy machine
    partial[#partial + 1] = entry.partial and not may_be_cut and entry.name or nil
  end
  equal("s04 s13 s14", table.concat(partial, " "), "partial")
  for _, seen in ipairs(world.farm_stats().suppliers) do
    equal(seen.requests, attributed(reply, seen.name), "requests of " .. seen.name)
  end
end)

w:stop()
test("the engine ends clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
os.execute("rm -f " .. FILE .. " " .. SETTINGS)
world.finish()
