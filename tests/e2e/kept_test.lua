-- What an engine keeps of its suppliers while it reloads: logins, quotas, connections, metrics.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local MINE = world.folder .. "/kept.yaml"
local LONG_MS = 9000

-- `counted` and `comes` play templates of the farm without a login; `comes` is there or not.
local function settings(per_day, comes, user)
  world.write_file(MINE, ([[
suppliers_dir: [examples/farm/suppliers, examples/farm/gates]
suppliers:
  counted:
    uses: farm_a
    accounts: { main: { options: { base_url: "http://s09.farm.test:8080" }, limits: { per_day: %d } } }
  moody:
    uses: farm_oauth
    accounts: { main: { options: { base_url: "http://s02.farm.test:8080", user: %s } } }
]]):format(per_day, user or "s02") .. (comes and [[
  comes:
    uses: farm_b
    accounts: { main: { options: { base_url: "http://s10.farm.test:8080" } } }
]] or ""))
end

settings(2, false)
local w = world.start {
  population = "gates",
  settings = { "examples/farm/gates.yaml", MINE },
  environment = "FARM_SECRET=farm-secret-of-all",
  overlay = "io_threads: 1\nreload: { watch: false }\n",
}

local function reload()
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", {
    body = world.json.encode { who = "the test" }, headers = { "Content-Type: application/json" }, max_time = 120,
  })
  equal(200, reply.status, "reload: " .. tostring(reply.raw):sub(1, 500))
  equal("published", reply.json.outcome, reply.raw)
end

local function ask(name)
  local reply = w:search { suppliers = { name }, budget_ms = LONG_MS }
  local entry = world.entry(reply, name)
  assert(entry, "no entry: " .. tostring(reply.raw):sub(1, 300))
  return entry
end

local function status_of(name)
  for _, supplier in ipairs(world.http("GET", w.admin_url .. "/admin/v1/status").json.suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

local function on_farm(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

local function connects()
  local raw = world.http("GET", w.admin_url .. "/metrics").raw
  return tonumber(raw:match('\nlastcall_fetch_connects_total{thread="0"} (%d+)'))
end

-- Of all suppliers and outcomes.
local function attempts()
  local sum = 0
  for count in world.http("GET", w.admin_url .. "/metrics").raw:gmatch("\nlastcall_attempts_total{[^\n]*} (%d+)") do
    sum = sum + tonumber(count)
  end
  return sum
end

test("a login and a connection serve the generation after the one that made them", function()
  equal("answered", ask("s01").outcome, "outcome")
  equal("answered", ask("moody").outcome, "outcome")
  local before, opened = on_farm("s01"), connects()
  settings(2, true)
  reload()
  equal("answered", ask("s01").outcome, "outcome")
  equal("answered", ask("moody").outcome, "outcome")
  equal(opened, connects(), "connections opened")
  equal(1, on_farm("s01").logins, "logins at the farm")
  equal(1, on_farm("s02").logins, "logins at the farm")
  equal(1, status_of("s01").login.made, "logins")
  equal(0, on_farm("s01").strangers - before.strangers, "requests without a login")
  equal("answered", ask("comes").outcome, "outcome of the new one")
end)

test("what was asked of an account today stays asked, and a new limit counts at once", function()
  equal("answered", ask("counted").outcome, "outcome")
  equal("answered", ask("counted").outcome, "outcome")
  equal("rate_limited", ask("counted").outcome, "outcome")
  settings(2, false)
  reload() -- `comes` is gone: another part of the file
  equal("rate_limited", ask("counted").outcome, "outcome after the reload")
  equal(2, status_of("counted").accounts[1].used.day, "used")
  settings(3, false)
  reload()
  equal("answered", ask("counted").outcome, "outcome with a higher limit")
  equal("rate_limited", ask("counted").outcome, "outcome")
  settings(1, false)
  reload()
  equal("rate_limited", ask("counted").outcome, "outcome with a lower limit")
  equal(4, w:metric("supplier_requests_kept_in_total", "counted"), "kept in")
end)

test("a login whose account was changed is made anew, and its supplier's counters go on", function()
  local made = on_farm("s02").logins
  settings(1, false, "s02-new")
  reload()
  ask("moody") -- whatever the farm makes of this user
  equal(made + 1, on_farm("s02").logins + on_farm("s02").denied, "logins at the farm")
  local login = status_of("moody").login
  equal(2, login.made + login.failed, "logins since the start")
end)

test("a supplier that goes leaves its numbers, and one that comes back counts on", function()
  equal(nil, status_of("comes"), "status")
  equal(1, w:metric("supplier_requests_total", "comes"), "requests")
  equal(0, w:metric("supplier_requests_running", "comes"), "running")
  local before = attempts()
  settings(1, true)
  reload()
  equal("answered", ask("comes").outcome, "outcome")
  equal(2, w:metric("supplier_requests_total", "comes"), "requests")
  equal(before + 1, attempts(), "attempts")
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
os.execute("rm -f " .. MINE)
world.finish()
