-- Patience over real sockets: a supplier that is known to hang is not waited for, one that is well again comes back,
-- and whose ceiling nobody gave has one from what is known of it.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, wait_until = world.test, world.equal, world.wait_until

local SETTINGS = world.folder .. "/patience.yaml"
local FILE = world.folder .. "/attribution.ndjson"
local BUDGET = 250
os.remove(FILE)

local function write_settings(patience, linger)
  world.write_file(SETTINGS, ("patience: { %s }\nlinger: { learn: %s }\n"):format(patience, linger))
end
write_settings("early_finish: true", "0%")

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), SETTINGS },
  overlay = "attribution: { file: " .. FILE .. " }\ndeadline: { max: 60s }\nreload: { watch: false }\n" ..
    "suppliers_dir: [examples/farm/suppliers, suppliers, tests/e2e/weighing]\n",
}

local function reload()
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 })
  equal(200, reply.status, "reload: " .. tostring(reply.raw):sub(1, 500))
end

local function ask(names, budget_ms, more)
  local fields = { suppliers = names, budget_ms = budget_ms or BUDGET }
  for key, value in pairs(more or {}) do
    fields[key] = value
  end
  local reply = w:search(fields)
  return world.entry(reply, names[1]), reply
end

local function samples(name)
  return w:account(name).latency.samples
end

world.farm("s01", { fault = "hang_answer" })

test("one that hangs is waited for until that is known", function()
  local entry, reply = ask { "s01", "s02" }
  equal("cut", entry.outcome, reply.raw)
  equal("budget", entry.bound, reply.raw)
  equal(0, w:metric("searches_finished_early_total"), "early")
end)

test("once it is known, nobody waits for it", function()
  local entry, reply
  wait_until("s01 is not waited for", function()
    entry, reply = ask { "s01", "s02" }
    return entry.outcome == "finished_early"
  end)
  assert(samples("s01") >= 20, "it is given up after " .. samples("s01") .. " searches")
  equal("finished_early", reply.json.coverage.reasons[1], reply.raw)
  equal(false, reply.json.coverage.complete, reply.raw)
  equal(200, reply.status, reply.raw)
  assert(reply.json.took_ms < BUDGET, "it ended by itself")
  assert(entry.took_ms <= reply.json.took_ms, reply.raw)
  equal(nil, entry.bound, reply.raw)
end)

test("metrics and attribution tell of it", function()
  assert(w:metric("searches_finished_early_total") >= 1, "searches")
  assert(w:metric("searches_finished_early_seconds_total") > 0, "time saved")
  wait_until("its record is written", function()
    local text = world.read_file(FILE)
    return text and text:find('"finished_early_by_ms":%d') ~= nil and text:find('"outcome":"finished_early"', 1, true)
  end)
end)

test("a longer budget than it was ever given may bring something", function()
  local entry, reply = ask({ "s01", "s02" }, 4 * BUDGET)
  equal("cut", entry.outcome, reply.raw)
end)

test("all or nothing waits for all", function()
  local _, reply = ask({ "s01", "s02" }, BUDGET, { partial = false })
  equal(504, reply.status, reply.raw)
  equal("cut", world.entry(reply, "s01").outcome, reply.raw)
end)

test("one of which nothing is known is waited for", function()
  world.farm("s03", { model = "constant", median_ms = 100 })
  local entry, reply = ask({ "s03", "s02" }, 20000)
  equal("answered", entry.outcome, reply.raw)
end)

test("one that is well again is noticed by those that linger", function()
  write_settings("early_finish: true", "20%")
  reload()
  world.farm("s01", { fault = "none" })
  wait_until("s01 answers", function()
    return (ask { "s01", "s02" }).outcome == "answered"
  end)
end)

test("switched off, it is waited for to the end", function()
  write_settings("early_finish: false", "0%")
  reload()
  world.farm("s01", { fault = "hang_answer" })
  local before = w:metric("searches_finished_early_total")
  for _ = 1, 5 do
    equal("cut", (ask { "s01", "s02" }).outcome)
  end
  equal(before, w:metric("searches_finished_early_total"), "early")
end)

test("a held connection has its price, and so whoever has no ceiling has the built-in one", function()
  write_settings("held_cost: 0.1", "0%")
  reload()
  world.farm("s03", { model = "constant", median_ms = 20 })
  local entry, reply
  wait_until("it has a ceiling", function()
    entry, reply = ask({ "bare" }, 20000)
    return entry.ceiling_from == "built_in"
  end)
  assert(samples("bare") >= 20, "samples")
  world.farm("s03", { fault = "hang_answer" })
  entry, reply = ask({ "bare" }, 20000)
  equal("cut", entry.outcome, reply.raw)
  equal("ceiling", entry.bound, reply.raw)
  equal("built_in", entry.ceiling_from, reply.raw)
  assert(entry.ceiling_ms < 19000, reply.raw)
end)

test("a script may weigh what is known of its supplier", function()
  world.farm("s05", { model = "constant", median_ms = 20 })
  local entry, reply
  wait_until("it is known", function()
    entry, reply = ask({ "weighing" }, 20000)
    equal("answered", entry.outcome, reply.raw)
    equal("script", entry.ceiling_from, reply.raw)
    return entry.ceiling_ms ~= 15000
  end)
  assert(samples("weighing") >= 20, "samples")
  assert(entry.ceiling_ms > 1000 and entry.ceiling_ms < 15000, reply.raw)
end)

test("whoever gives a ceiling wins over the built-in one", function()
  world.write_file(SETTINGS, "patience: { held_cost: 0.1 }\nsuppliers: { bare: { ceiling: 15s } }\n")
  reload()
  world.farm("s03", { fault = "none" })
  local entry, reply = ask({ "bare" }, 20000)
  equal("settings", entry.ceiling_from, reply.raw)
  equal(15000, entry.ceiling_ms, reply.raw)
end)

w:stop()
world.finish()
