-- Breakers over real sockets: who fails too often is left alone, tried out by probes that no search waits for, and
-- comes back; who is only cut by short budgets never is. The farm counts what went out.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, requests, wait_until = world.test, world.equal, world.farm_requests, world.wait_until

local SETTINGS = world.folder .. "/breaker.yaml"
-- No cut attempt goes on: what was never answered stays unknown.
local function write_settings(extra)
  world.write_file(SETTINGS, "breaker: { enabled: true }\nlinger: { learn: 0%, limit: 6s }\n" .. (extra or ""))
end
write_settings()

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), SETTINGS },
  overlay = "deadline: { max: 60s }\n",
}

local function ask(name, budget_ms)
  local reply = w:search { suppliers = { name }, budget_ms = budget_ms or 20000 }
  local entry = assert(world.entry(reply, name), reply.raw)
  return entry, world.json.encode(entry), reply
end

local function breaker(name)
  return w:account(name).breaker
end

-- Asks until it is `outcome`; how often it was asked.
local function ask_until(name, outcome, limit, budget_ms)
  for number = 1, limit do
    local entry = ask(name, budget_ms)
    if entry.outcome == outcome then
      return number, entry
    end
  end
  error(("%s is never %s"):format(name, outcome))
end

test("a supplier that cannot be reached is left alone after five connects", function()
  world.farm("s01", { fault = "refused" })
  for number = 1, 5 do
    equal("failed", (ask("s01")).outcome, "call " .. number)
  end
  -- On a busy machine the first wait of a second may be over by now: then probes are out, and fail, too.
  local entry, told, reply = ask("s01")
  equal("breaker_open", entry.outcome, told)
  assert(entry.detail == "failed too often" or entry.detail == "failed too often; it is being tried out", told)
  assert(not entry.retry_in_ms or (entry.retry_in_ms > 0 and entry.retry_in_ms <= 10000), told)
  equal(nil, entry.took_ms, "it was not asked")
  equal("breaker_open", reply.json.coverage.reasons[1], "reason")
  equal(false, reply.json.coverage.complete, "complete")
  assert(breaker("s01").trips >= 1, "trips")
  wait_until("it says for how long", function()
    entry, told = ask("s01")
    equal("breaker_open", entry.outcome, told)
    return entry.retry_in_ms and entry.detail == "failed too often"
  end)
  equal(1, w:metric("supplier_breakers_not_closed", "s01"), "not closed, in metrics")
  equal(0, w:metric("supplier_breakers_not_closed", "s02"), "s02 is closed, in metrics")
end)

test("a dead one costs a search nothing, and next to nothing goes out to it", function()
  world.farm("s02", { fault = "status_503" })
  ask_until("s02", "breaker_open", 20)
  local before = requests("s02")
  for number = 1, 200 do
    local entry, told = ask("s02")
    equal("breaker_open", entry.outcome, "call " .. number .. ": " .. told)
  end
  local state = breaker("s02")
  -- Three probes that fail open it again, for twice as long.
  assert(requests("s02") - before <= 3 * (state.trips + 1), requests("s02") - before .. " went out")
end)

test("one that is well again is tried out and comes back", function()
  local before = requests("s02")
  world.farm("s02", { fault = "none" })
  local entry
  wait_until("s02 answers", function()
    entry = ask("s02")
    return entry.outcome == "answered"
  end)
  assert(requests("s02") - before >= 4, "three probes, then the first call")
  wait_until("s02 is closed", function()
    ask("s02")
    return breaker("s02").state == "closed"
  end)
  for number = 1, 30 do
    equal("answered", (ask("s02")).outcome, "call " .. number)
  end
  equal(0, w:metric("supplier_breakers_not_closed", "s02"), "not closed, in metrics")
end)

test("a reload keeps what is known", function()
  world.farm("s03", { fault = "status_503" })
  ask_until("s03", "breaker_open", 20)
  local trips = breaker("s03").trips
  write_settings("deadline: { default: 1900ms }\n")
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 })
  equal(200, reply.status, reply.raw)
  equal(true, reply.json.generation > 1, reply.raw)
  assert(breaker("s03").trips >= trips, "trips are forgotten")
  assert(breaker("s03").state ~= "closed", "it is closed")
end)

test("one that is only cut by short budgets never is left alone, and is known well", function()
  world.farm("s04", { model = "constant", median_ms = 4000 })
  local cuts = 0
  for _ = 1, 2000 do -- few of them are too late to ask, but for a machine that is very busy
    local entry, told = ask("s04", 150)
    assert(entry.outcome == "cut" or entry.outcome == "too_late", told)
    cuts = cuts + (entry.outcome == "cut" and 1 or 0)
    if cuts == 120 then
      break
    end
  end
  equal(120, cuts, "cuts")
  equal("closed", breaker("s04").state, "state")
  equal(0, breaker("s04").trips, "trips")
  local latency = w:account("s04").latency
  assert(latency.samples > 60, "samples")
  equal(world.json.null, latency.p50_ms, "nobody knows how long it takes")
end)

test("one that hangs is left alone, though every cut was the budget's", function()
  world.farm("s05", { model = "constant", median_ms = 20 })
  local longest_ms = 0
  for number = 1, 60 do
    local entry = ask("s05")
    equal("answered", entry.outcome, "call " .. number)
    longest_ms = math.max(longest_ms, entry.took_ms)
  end
  -- They are forgotten by half in five minutes.
  local latency = w:account("s05").latency
  assert(latency.samples > 30 and latency.p50_ms >= 15, world.json.encode(latency))
  world.farm("s05", { fault = "hang_answer" })
  -- Longer than it ever took, however busy the machine was then.
  local _, entry = ask_until("s05", "breaker_open", 200, 2 * longest_ms + 400)
  assert(entry.retry_in_ms == nil or entry.retry_in_ms <= 1250)
  assert(breaker("s05").trips >= 1, "trips")
end)

test("the others never moved", function()
  for number = 6, 12 do
    local name = ("s%02d"):format(number)
    equal("answered", (ask(name)).outcome, name)
    equal("closed", breaker(name).state, name)
  end
end)

test("switched off, everybody is asked again", function()
  world.write_file(SETTINGS, "breaker: { enabled: false }\n")
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
  equal("failed", (ask("s03")).outcome)
  equal("failed", (ask("s01")).outcome)
  equal("closed", breaker("s01").state, "state")
end)

test("a probe that hangs does not hold up the end", function()
  write_settings()
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
  world.farm("s06", { fault = "status_503" })
  ask_until("s06", "breaker_open", 20)
  world.farm("s06", { fault = "hang_answer" })
  local before = requests("s06")
  wait_until("a probe is out", function()
    ask("s06")
    return requests("s06") > before
  end)
end)

w:stop()
world.finish()
