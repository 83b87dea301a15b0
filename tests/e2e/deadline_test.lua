-- The promise: one reply, one outcome per supplier, and every cut says by what and where. That it is on time is for
-- plays in virtual time to show, and for the bench: a busy machine would turn a test red.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start { population = "brief", seed = 7 }

-- A table that grows under load holds the loop up for 10 ms and more.
test("the kernel's table of descriptors is large before the first search", function()
  local usage = w:usage()
  assert(usage.descriptor_room >= math.min(16384, usage.descriptor_limit), "room for " .. usage.descriptor_room)
end)

test("every search over the brief's farm gets one reply with one outcome per supplier", function()
  for round = 1, 5 do
    local reply = w:search { budget_ms = 2000 }
    equal(200, reply.status, "status of round " .. round)
    equal(40, reply.json.coverage.eligible, "eligible")
    local coverage = reply.json.coverage
    equal(coverage.eligible, coverage.answered + coverage.empty + coverage.missing, "sum of coverage")
    local seen = {}
    for _, supplier in ipairs(reply.json.suppliers) do
      assert(not seen[supplier.name], supplier.name .. " is there twice")
      seen[supplier.name] = true
      assert(type(supplier.outcome) == "string", supplier.name .. " has no outcome")
      if supplier.outcome == "cut" then
        assert(supplier.bound == "ceiling" or supplier.bound == "budget", supplier.name .. " was cut by nothing")
        assert(type(supplier.phase) == "string", supplier.name .. " was cut nowhere")
      end
    end
    assert(coverage.answered > 0, "nobody answered")
    assert(#reply.json.offers > 0 and coverage.offers_found >= #reply.json.offers, "offers")
  end
end)

test("a budget of 300 ms against a healthy supplier of 500 ms says cut, budget", function()
  world.farm("s01", { model = "constant", median_ms = 500, fault = "none" })
  local reply = w:search { budget_ms = 300, suppliers = { "s01" } }
  equal(504, reply.status, "status")
  local entry = world.entry(reply, "s01")
  equal("cut", entry.outcome, "outcome")
  equal("budget", entry.bound, "bound")
  equal("first_byte", entry.phase, "phase")
end)

test("the same supplier answers when the budget allows", function()
  local entry = world.entry(w:search { budget_ms = 1500, suppliers = { "s01" } }, "s01")
  equal("answered", entry.outcome, "outcome")
end)

test("offers are sorted by total and an item has at most five of them", function()
  local reply = w:search { budget_ms = 2000 }
  local last, per_item = -1, {}
  for _, offer in ipairs(reply.json.offers) do
    local total = tonumber(offer.price.total)
    assert(total >= last, "the order of totals")
    last = total
    per_item[offer.item] = (per_item[offer.item] or 0) + 1
    assert(per_item[offer.item] <= 5, "too many offers of " .. offer.item)
    assert(reply.json.items[offer.item], "item " .. offer.item .. " is missing")
  end
end)

w:stop()

local low = world.start { population = "healthy", overlay = "suppliers: { s01: { ceiling: 400ms } }" }
test("a ceiling of 400 ms against a healthy supplier of 500 ms says cut, ceiling", function()
  world.farm("s01", { model = "constant", median_ms = 500, fault = "none" })
  local entry = world.entry(low:search { budget_ms = 2000, suppliers = { "s01" } }, "s01")
  equal("cut", entry.outcome, "outcome")
  equal("ceiling", entry.bound, "bound")
  equal("settings", entry.ceiling_from, "ceiling_from")
  equal(400, entry.ceiling_ms, "ceiling_ms")
end)
low:stop()

world.finish()
