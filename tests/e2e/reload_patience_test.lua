-- Reloads that wait: for room while long searches end, and not at all for files that no worker could load in time.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal = world.test, world.equal
local json = world.json

local WORKERS = 32 -- that have to load each file
local OTHERS = 8
local LONG_MS = 30000

local bench = reloads.bench("reload_patience", { scripts = true })
local folder = bench.folder
local SETTINGS, MODULE = bench.settings, folder .. "/scripts/farm.lua"

local function write_supplier(...)
  bench:write(...)
end

local function write_settings(deadline)
  world.write_file(SETTINGS, ([[
suppliers_dir: %s/suppliers
scripts_dir: %s/scripts
script_threads: %d
deadline: { default: 1s, max: %s }
]]):format(folder, folder, WORKERS, deadline))
end

write_supplier("acme", "s01", "first")
write_supplier("bravo", "s03", "first")
write_supplier("charlie", "s05", "first")
for i = 1, OTHERS do
  write_supplier("other" .. i, "s07", "first")
end
write_settings("60s")
local w = world.start { population = "healthy", settings = { SETTINGS },
  overlay = "reload: { watch: true, settle: 100ms, scan: 1s }" }

local ask = reloads.ask(function()
  return w
end)
local get, label = ask.get, ask.label

local function wait_until(what, seconds, probe)
  return ask.wait_until(what, probe, seconds)
end

local function begin_long_search()
  local path = folder .. "/search.json"
  world.write_file(path, json.encode { product = "flights", query = world.query, suppliers = { "charlie" },
    budget_ms = LONG_MS })
  world.shell(("curl -sS -H 'Content-Type: application/json' --data-binary @%s '%s/v1/search' "
    .. ">/dev/null 2>&1 </dev/null & sleep 0.5"):format(path, w.url))
end

test("a change waits for the long searches of former settings, and is not lost", function()
  world.farm("s05", { fault = "hang_headers" })
  begin_long_search()
  local before = label("acme")
  write_supplier("acme", "s01", "second")
  wait_until("acme changes beside a long search", 60, function()
    return label("acme") ~= before
  end)
  begin_long_search()
  write_settings("1s")
  wait_until("searches are short from now on", 60, function()
    return get("/admin/v1/generations").live == 3
  end)
  before = label("bravo")
  write_supplier("bravo", "s03", "second")
  wait_until("bravo changes when there is room", 120, function()
    return label("bravo") ~= before
  end)
  for _, event in ipairs(get("/admin/v1/events").events) do
    assert(event.event ~= "refused", event.message) -- it waited as long as those searches may last
  end
  world.farm("s05", { fault = "none" })
end)

test("files that are too slow for so many workers are not published, and the slowest is named", function()
  local source = world.read_file(MODULE)
  local generation, before = get("/admin/v1/status").generation, label("acme")
  world.write_file(MODULE, "for _ = 1, 7e7 do end\n" .. source)
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 300, body = "{}",
    headers = { "Content-Type: application/json" } })
  local answer = reply.json
  assert(answer and answer.outcome, "no answer: " .. tostring(reply.status) .. " " .. reply.raw)
  equal("refused", answer.outcome, reply.raw)
  local finding = answer.findings[1].finding
  assert(finding:find("suppliers/%w+%.lua: .* to load, and each worker loads all files"), reply.raw)
  equal(generation, get("/admin/v1/status").generation, "generation")
  equal(before, label("acme"), "what runs")
  equal("answered", world.entry(w:search { suppliers = { "acme" }, budget_ms = 20000 }, "acme").outcome, "acme")
  world.write_file(MODULE, source)
end)

w:stop()

world.finish()
