-- Reloads of a running engine: the states of workers are built aside, and those of a generation that is over go.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal = world.test, world.equal

local RELOADS = 12
local WORKERS = 2

local bench = reloads.bench("reload_states")
local folder = bench.folder

local function write_supplier(...)
  bench:write(...)
end

local settings = bench.settings
world.write_file(settings, ("suppliers_dir: %s/suppliers\nscripts_dir: scripts\nscript_threads: %d\n"):format(folder,
  WORKERS))
write_supplier("acme", "s01", "first")
write_supplier("bravo", "s03", "first")
local w = world.start { population = "healthy", settings = { settings }, overlay = "reload: { watch: false }" }

local function metric(name)
  local reply = world.http("GET", w.admin_url .. "/metrics")
  local value = reply.raw:match("\nlastcall_" .. name .. " (%S+)")
  return assert(tonumber(value), "there is no metric " .. name)
end

local function search()
  local reply = w:search { suppliers = { "acme", "bravo" }, budget_ms = 8000 }
  equal(200, reply.status, "search")
  for _, name in ipairs { "acme", "bravo" } do
    equal("answered", world.entry(reply, name).outcome, name)
  end
end

local ask = reloads.ask(function()
  return w
end)

local function reload()
  return ask.reload().outcome
end

local function wait_for_states(most)
  local deadline = os.time() + 60
  while metric("script_states") > most do
    assert(os.time() <= deadline, "states: " .. metric("script_states"))
    world.sleep_ms(20)
  end
end

test("no file is loaded within a call, after the start or after a reload", function()
  for _ = 1, 4 do
    search()
  end
  equal(0, metric("script_loads_total"), "files that were loaded within calls since the start")
  for round = 1, RELOADS do
    write_supplier("acme", "s01", "version " .. round)
    equal("published", reload(), "outcome")
    for _ = 1, 4 do
      search()
    end
  end
  equal(0, metric("script_loads_total"), "files that were loaded within calls")
end)

test("a generation that is over leaves no states, though no search comes", function()
  wait_for_states(WORKERS)
  write_supplier("bravo", "s03", "second")
  equal("published", reload(), "outcome")
  wait_for_states(WORKERS)
end)

test("a reload that changes nothing builds none", function()
  local states = metric("script_states")
  equal("unchanged", reload(), "outcome")
  equal(states, metric("script_states"), "states")
end)

w:stop()

world.finish()
