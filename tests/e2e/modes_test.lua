-- Modes over the farm: dark suppliers are asked and recorded but never shown, test suppliers are for test searches.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local ffi = require("ffi")
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local FILE = world.folder .. "/attribution.ndjson"
os.execute("rm -f " .. FILE)

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings() },
  overlay = ([[
attribution: { file: %s }
suppliers:
  s02: { mode: dark, traffic: 100%% }
  s03: { mode: dark, traffic: 50%% }
  s04: { mode: test }
  s05:
    mode: live
    accounts:
      main: { mode: live }
      trial: { when: { market: [GB] }, mode: dark, options: { base_url: "http://s05.farm.test:8080" } }
  s06:
    accounts:
      sandbox: { mode: test, options: { base_url: "http://s08.farm.test:8080" } }
      main: { options: { base_url: "http://s06.farm.test:8080" } }
]]):format(FILE),
}

local function requests()
  local counts = {}
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    counts[supplier.name] = supplier.requests
  end
  return counts
end

-- The record of a search, once it is written.
local function record_of(id)
  for _ = 1, 400 do
    for line in (world.read_file(FILE) or ""):gmatch("([^\n]+)\n") do
      if line:find(id, 1, true) then
        return world.json.decode(line)
      end
    end
    world.sleep_ms(25)
  end
  error("no record of " .. id)
end

local function entry_of(record, name)
  return world.entry({ json = record }, name)
end

-- A search of a supplier that takes its time, so that dark ones have theirs.
local function search(names, market, fields)
  local query = {}
  for key, value in pairs(world.query) do
    query[key] = value
  end
  query.market = market
  local body = { query = query, suppliers = names, budget_ms = 8000 }
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  local reply = w:search(body)
  equal(200, reply.status, "status: " .. reply.raw:sub(1, 300))
  return reply, record_of(reply.json.search_id)
end

-- FNV-1a over "SEARCH_ID SUPPLIER", folded, as policy/traffic.h tells.
local function is_reached(id, name, share)
  local hash = 14695981039346656037ULL
  for byte in (id .. " " .. name):gmatch(".") do
    -- The byte only touches the lowest eight bits.
    local low = tonumber(hash % 256ULL)
    hash = (hash - low + require("bit").bxor(low, byte:byte())) * 1099511628211ULL
  end
  local upper, lower = tonumber(hash / 4294967296ULL), tonumber(hash % 4294967296ULL)
  local folded = tonumber(ffi.cast("uint32_t", require("bit").bxor(upper, lower)))
  return folded % 1000000 < share
end

world.farm("s01", { model = "constant", median_ms = 600 })

test("a dark supplier is asked and recorded, and the reply has nothing of it", function()
  local before = requests().s02
  local reply, record = search({ "s01", "s02" })
  equal(before + 1, requests().s02, "requests")
  equal(nil, world.entry(reply, "s02"), "the reply's entry")
  assert(not reply.raw:find('"s02', 1, true), "the reply names s02")
  equal(1, reply.json.coverage.eligible, "eligible")
  equal(true, reply.json.coverage.complete, "complete")
  local entry = assert(entry_of(record, "s02"), "the record has no s02")
  equal("dark", entry.mode, "mode")
  equal("answered", entry.outcome, "outcome")
  assert(entry.offers > 0, "offers")
  equal(reply.json.coverage.offers_found, record.coverage.offers_found, "offers that were found")
  equal(nil, entry_of(record, "s01").mode, "mode of a live one")
end)

test("no search waits for a dark supplier", function()
  world.farm("s02", { fault = "hang_answer" })
  local reply, record = search({ "s01", "s02" })
  world.farm("s02", { fault = "none" })
  equal(true, reply.json.coverage.complete, "complete")
  equal("finished_early", entry_of(record, "s02").outcome, "outcome")
end)

test("the id of a search tells whether a dark supplier is reached", function()
  local reached = 0
  for _ = 1, 24 do
    local reply, record = search({ "s01", "s03" })
    local entry = entry_of(record, "s03")
    if is_reached(reply.json.search_id, "s03", 500000) then
      reached = reached + 1
      assert(entry.outcome ~= "skipped", "not asked: " .. reply.json.search_id)
    else
      equal("skipped", entry.outcome, "outcome")
      equal("dark, and this search is not in its share", entry.reason, "reason")
    end
    equal("dark", entry.mode, "mode")
    if reached >= 2 and reached < _ - 1 then
      break -- both ways were seen twice
    end
  end
  assert(reached > 0, "no search reached it")
end)

test("a stream tells nothing of a dark supplier", function()
  local body = world.json.encode { product = "flights", query = world.query, suppliers = { "s01", "s02" },
    budget_ms = 8000 }
  local reply = world.http("POST", w.url .. "/v1/search",
    { body = body, headers = { "Content-Type: application/json", "Accept: application/x-ndjson" } })
  assert(reply.raw:find('"s01', 1, true), "the stream has no s01")
  assert(not reply.raw:find('"s02', 1, true), "the stream names s02")
end)

test("a dark account makes its supplier dark in its market only", function()
  local reply = search({ "s01", "s05" }, "FR")
  equal("answered", world.entry(reply, "s05").outcome, "outcome in FR")
  equal("main", world.entry(reply, "s05").account, "account in FR")
  local record
  reply, record = search({ "s01", "s05" }, "GB")
  equal(nil, world.entry(reply, "s05"), "the reply's entry in GB")
  equal("trial", entry_of(record, "s05").account, "account in GB")
  equal("dark", entry_of(record, "s05").mode, "mode in GB")
end)

test("a test supplier is for test searches only", function()
  local before = requests().s04
  local reply = search({ "s01", "s04" })
  equal(before, requests().s04, "requests")
  equal("skipped", world.entry(reply, "s04").outcome, "outcome")
  equal('only for searches with "mode": "test"', world.entry(reply, "s04").reason, "reason")
  equal(nil, reply.json.mode, "mode of the search")
  local all = w:search { budget_ms = 8000 }
  equal(nil, world.entry(all, "s04"), "the entry when nobody names it")
  local record
  reply, record = search({ "s01", "s04" }, nil, { mode = "test" })
  equal("answered", world.entry(reply, "s04").outcome, "outcome in a test")
  equal("test", world.entry(reply, "s04").mode, "mode of the supplier")
  equal("test", reply.json.mode, "mode of the search")
  equal("test", record.mode, "mode of the record")
  equal(2, reply.json.coverage.eligible, "eligible")
end)

test("a test account is passed over by other searches", function()
  local before = requests()
  local reply = search({ "s06" })
  equal("main", world.entry(reply, "s06").account, "account")
  reply = search({ "s06" }, nil, { mode = "test" })
  equal("sandbox", world.entry(reply, "s06").account, "account in a test")
  local after = requests()
  equal(before.s06 + 1, after.s06, "requests to the live one")
  equal(before.s08 + 1, after.s08, "requests to the other one")
end)

test("metrics count dark attempts, status and explain tell the modes", function()
  local metrics = world.http("GET", w.admin_url .. "/metrics").raw
  assert(metrics:match('attempts_total{supplier="s02",outcome="answered"} [1-9]'), "attempts of s02")
  local status = world.http("GET", w.admin_url .. "/admin/v1/status").json
  local modes = {}
  for _, supplier in ipairs(status.suppliers) do
    modes[supplier.name] = supplier.mode
  end
  equal(nil, modes.s01, "s01")
  equal("dark 100%", modes.s02, "s02")
  equal("dark 50%", modes.s03, "s03")
  equal("test", modes.s04, "s04")
  equal("trial dark, main live 5%", modes.s05, "s05")
  equal("sandbox test, main live", modes.s06, "s06")
  local shown = world.shell(("%s/lastcall status --admin %s"):format(world.build, w.admin_url))
  assert(shown:match("s02 +on +dark 100%%"), shown)
  local reply = search({ "s01", "s02" })
  shown = world.shell(("%s/lastcall explain %s --admin %s"):format(world.build, reply.json.search_id, w.admin_url))
  assert(shown:match("s02 +dark "), shown)
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
