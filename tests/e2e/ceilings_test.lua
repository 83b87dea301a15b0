-- Ceilings that read the progress of their search, and what suppliers sell, over the farm.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings() },
  overlay = "suppliers_dir: [examples/farm/suppliers, suppliers, tests/e2e/patient]\n",
}

local function search(changes, fields)
  local query = { travellers = { { type = "adult" } }, currency = "EUR",
    slices = { { origin = "LHR", destination = "JFK", date = "2030-05-14" } } }
  for key, value in pairs(changes or {}) do
    query[key] = value
  end
  local body = { query = query, suppliers = { "s01", "patient" }, budget_ms = 9000 }
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  return w:search(body)
end

test("a ceiling that is lowered once offers are there cuts a supplier that hangs", function()
  world.farm("s03", { fault = "hang_answer" })
  local reply = search()
  world.farm("s03", { fault = "none" })
  equal(200, reply.status, "status")
  local entry = world.entry(reply, "patient")
  equal("cut", entry.outcome, "outcome: " .. reply.raw:sub(1, 900))
  equal("ceiling", entry.bound, "bound")
  equal(300, entry.ceiling_ms, "the ceiling in force at the end")
  equal("script", entry.ceiling_from, "where it is from")
  equal("answered", world.entry(reply, "s01").outcome, "the other one's outcome")
end)

test("while there are no offers it is waited for", function()
  world.farm("s03", { model = "constant", median_ms = 700 })
  local reply = search(nil, { suppliers = { "patient" } })
  world.farm("s03", { model = "constant", median_ms = 1 })
  equal("answered", world.entry(reply, "patient").outcome, "outcome")
end)

for _, case in ipairs {
  { "a trip that is not sold", "trip_type return not sold", { slices = {
    { origin = "LHR", destination = "JFK", date = "2030-05-14" },
    { origin = "JFK", destination = "LHR", date = "2030-05-21" } } } },
  { "a party that is too large", "party 3 not sold, at most 2",
    { travellers = { { type = "adult" }, { type = "adult" }, { type = "adult" } } } },
} do
  test(case[1] .. " skips the supplier", function()
    local reply = search(case[3])
    local entry = world.entry(reply, "patient")
    equal("skipped", entry.outcome, "outcome")
    equal(case[2], entry.reason, "reason")
    equal(1, reply.json.coverage.eligible, "eligible")
  end)
end

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
