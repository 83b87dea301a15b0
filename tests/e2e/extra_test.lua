-- Calls that are made a second time, over real sockets: retries of fast failures, hedges to a second endpoint, and
-- never more of them than their allowance. The farm counts what went out.
-- variants: release asan tsan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, requests = world.test, world.equal, world.farm_requests

-- Half of the answers of some fail in one way.
local POPULATION = world.folder .. "/extra.txt"
world.write_file(POPULATION, [[
s01     1        http    a      constant   0          0      0       60000    -   status_503=50%
s02     2        http    a      constant   0          0      0       60000    -   reset_headers=50% close
s03     3        http    a      constant   0          0      0       60000    -
s04     4        http    a      constant   0          0      0       60000    -
s05     5        http    a      constant   0          0      0       60000    -
s06     6        http    a      constant   0          0      0       60000    -
s07     7        http    a      constant   0          0      0       60000    -
s08     8        http    a      constant   0          0      0       60000    -
]])

local SUPPLIERS = world.folder .. "/extra_suppliers"
world.shell("rm -rf " .. SUPPLIERS .. " && mkdir -p " .. SUPPLIERS)
-- A supplier of the farm's first shape at a place, with what its table has more; a header tells which try it is.
local function write_supplier(name, place, more)
  world.write_file(("%s/%s.lua"):format(SUPPLIERS, name), ([[
local farm = require("farm")

---@type Supplier
return {
  name = "%s", product = "flights", owner = "farm@example.com", docs = "a test", hosts = {}, secrets = {},
  options = { base_url = "http://%s.farm.test:8080" },
  build_request = function(search, ctx)
    local asked = farm.ask(search, ctx)
    asked.timeout_ms = 20000 -- what differs each time would not be equal
    return { method = "POST", path = "/v1/offers", json = asked,
      headers = { ["x-try"] = tostring(ctx.attempt) } }
  end,
  normalise = farm.offers,
  %s
}
]]):format(name, place, more))
end
write_supplier("bare", "s06", "limits = { retry_on = {} },")
write_supplier("busy", "s01", "")
write_supplier("elsewhere", "s06", "endpoints = { \"http://s04.farm.test:8080\" },")
write_supplier("heavy", "s05", "limits = { hedge = true },")
write_supplier("resets", "s02", "")
write_supplier("slow", "s03", "endpoints = { \"http://s04.farm.test:8080\" },")
write_supplier("stubborn", "s07", "")

local SETTINGS = world.folder .. "/extra.yaml"
local function write_settings(extra)
  world.write_file(SETTINGS, ("suppliers_dir: [%s]\nextra_calls: { %s }\ndeadline: { max: 60s }\n" ..
    "io_threads: 1\nscripts: { build_limit: 1s, normalise_limit: 10s }\n" .. -- a sanitizer slows scripts down
    "suppliers: { elsewhere: { accounts: { main: { options: { base_url: \"http://s08.farm.test:8080\" } } } } }\n"
    ):format(SUPPLIERS, extra))
end
write_settings("enabled: true, per_supplier: 50%, engine: 50%")

-- Some of them fail each time: a breaker would end that.
local w = world.start { population = POPULATION, settings = { SETTINGS }, without_breakers = true }

local function reload()
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 })
  equal(200, reply.status, reply.raw)
end

local function ask(name, budget_ms)
  local reply = w:search { suppliers = { name }, budget_ms = budget_ms or 20000 }
  local entry = assert(world.entry(reply, name), reply.raw)
  return entry, world.json.encode(entry)
end

-- Asks until a reply is as wanted; how many were asked.
local function ask_until(what, name, is_wanted)
  for number = 1, 200 do
    local entry, told = ask(name)
    if is_wanted(entry) then
      return entry, told, number
    end
  end
  error("never: " .. what)
end

-- So many searches, eight at once unless said: a permit is good for ten seconds, in which one after the other may be
-- too few on a busy machine. Their replies.
local function ask_many(count, name, budget_ms, at_once)
  local body = world.folder .. "/many.json"
  world.write_file(body, world.json.encode { product = "flights", query = world.query, suppliers = { name },
    budget_ms = budget_ms })
  return (world.shell(("seq %d | xargs -P %d -I {} curl -sS --max-time 60 -H 'Content-Type: application/json' " ..
    "--data-binary @%s %s/v1/search"):format(count, at_once or 8, body, w.url)))
end

local function counts(name)
  return w:account(name).extra_calls
end

test("a 503 is asked for again, and answers", function()
  local before, calls = requests("s01"), 0
  for _ = 1, 40 do
    local entry = ask("busy")
    calls = calls + 1
    assert(entry.outcome == "answered" or entry.http_status == 503, entry.outcome)
  end
  local entry, told, more = ask_until("a retry that answers", "busy", function(entry)
    return entry.retries == 1 and entry.outcome == "answered"
  end)
  equal(nil, entry.hedge, told)
  local tried = counts("busy")
  assert(tried.sent.retry > 0 and tried.won.retry > 0, world.json.encode(tried))
  equal(tried.sent.retry, tried.won.retry + tried.wasted.retry, "won and wasted")
  equal(requests("s01") - before, calls + more + tried.sent.retry, "what the farm counts")
  equal(tried.sent.retry, w:metric("supplier_extra_calls_sent_total", "busy"), "metric")
  equal(tried.won.retry, w:metric("supplier_extra_calls_won_total", "busy"), "metric of those that won")
end)

test("so is a connection that is reset", function()
  ask_until("a retry that answers", "resets", function(entry)
    return entry.retries == 1 and entry.outcome == "answered"
  end)
  assert(counts("resets").won.retry > 0, "won")
end)

test("a supplier that is refused twice is told as it is, and asked twice at most", function()
  world.farm("s07", { fault = "status_503" })
  local before = requests("s07")
  for _ = 1, 10 do
    local entry, told = ask("stubborn")
    equal("failed", entry.outcome, told)
    equal(503, entry.http_status, told)
  end
  local tried = counts("stubborn")
  equal(requests("s07") - before, 10 + tried.sent.retry, "requests")
  assert(tried.sent.retry >= 1 and tried.sent.retry <= 5, tried.sent.retry .. " retries of ten calls at 50 %")
  equal(tried.sent.retry, tried.wasted.retry, "wasted")
  assert(tried.refused.allowance > 0, world.json.encode(tried))
end)

test("one that wants no second call gets none", function()
  world.farm("s06", { fault = "status_503" })
  local before = requests("s06")
  for _ = 1, 10 do
    local entry, told = ask("bare")
    equal("failed", entry.outcome, told)
    equal(nil, entry.retries, told)
  end
  equal(10, requests("s06") - before, "requests")
end)

test("one that is likely to be late is asked at its other endpoint, which answers", function()
  for _ = 1, 120 do -- so that it is known
    equal("answered", (ask("slow")).outcome)
  end
  local first, second = requests("s03"), requests("s04")
  world.farm("s03", { model = "constant", median_ms = 50000 })
  local entry, told = ask_until("a hedge that wins", "slow", function(entry)
    return entry.hedge ~= nil and entry.hedge.won
  end)
  equal("answered", entry.outcome, told)
  assert(entry.hedge.sent_at_ms >= 20, told)
  assert(requests("s04") > second, "nothing came to the other endpoint")
  assert(requests("s03") > first, "nothing came to the first endpoint")
  local tried = counts("slow")
  assert(tried.won.hedge >= 1, world.json.encode(tried))
  equal(requests("s04") - second, tried.sent.hedge, "what the second endpoint counts")
end)

test("one whose requests the settings lead elsewhere has no other endpoint", function()
  for _ = 1, 120 do
    equal("answered", (ask("elsewhere")).outcome)
  end
  local before, second = requests("s08"), requests("s04")
  world.farm("s08", { model = "constant", median_ms = 2000 })
  for _ = 1, 3 do
    local entry, told = ask("elsewhere")
    equal("answered", entry.outcome, told)
    equal(nil, entry.hedge, told)
  end
  equal(3, requests("s08") - before, "requests")
  equal(second, requests("s04"), "requests to the endpoint")
end)

test("when it is quick again, the first answers", function()
  world.farm("s03", { model = "constant", median_ms = 0 })
  local entry, told = ask("slow")
  equal("answered", entry.outcome, told)
end)

test("a supplier that is slow all at once gets no more than its allowance", function()
  write_settings("enabled: true")
  reload()
  world.farm("s05", { model = "constant", median_ms = 100 })
  local before, calls = requests("s05"), 0
  for _ = 1, 120 do
    equal("answered", (ask("heavy")).outcome)
    calls = calls + 1
  end
  -- From now on each of them is late: all it could be asked again for is worth it, and nothing of it comes in time.
  -- Many at once, for what calls earn is good for ten seconds, however slow the machine is.
  world.farm("s05", { model = "constant", median_ms = 5000 })
  local tried, granted
  for _ = 1, 4 do
    ask_many(60, "heavy", 3000, 60)
    calls = calls + 60
    tried = counts("heavy")
    granted = tried.sent.hedge + tried.sent.retry + tried.sent.connect
    if granted >= 1 and tried.refused.allowance then
      break
    end
  end
  local sent = requests("s05") - before - calls
  assert(sent <= calls * 0.03, ("%d extra calls of %d"):format(sent, calls))
  assert(granted >= 1 and granted <= calls * 0.03, world.json.encode(tried))
  assert((tried.refused.allowance or 0) > 0, world.json.encode(tried))
end)

test("switched off, there are none", function()
  write_settings("enabled: false")
  reload()
  local before = requests("s07")
  for _ = 1, 6 do
    local entry, told = ask("stubborn")
    equal("failed", entry.outcome, told)
    equal(nil, entry.retries, told)
  end
  equal(6, requests("s07") - before, "requests")
end)

test("equal searches at the same time are one request, and each is answered", function()
  write_settings("enabled: false, coalesce: true")
  reload()
  world.farm("s03", { model = "constant", median_ms = 3000 })
  local before = requests("s03")
  local replies = ask_many(4, "slow", 20000)
  local _, answered = replies:gsub('"outcome":"answered"', "")
  equal(4, answered, replies)
  equal(1, requests("s03") - before, "requests")
  equal(200, w:search({ suppliers = { "slow" }, budget_ms = 20000 }).status)
  equal(2, requests("s03") - before, "requests, with one later")
end)

test("what makes no sense is refused, with its place", function()
  write_supplier("wrong", "s06", "limits = { retry_on = { 404 } },")
  local told, code = world.shell(("%s/lastcall check -c %s"):format(world.build, SETTINGS))
  assert(code ~= 0, told)
  assert(told:find("wrong.lua", 1, true) and told:find("retry_on", 1, true), told)
  write_supplier("wrong", "s06", "endpoints = { \"http://s04.farm.test:8080/v2\" },")
  told, code = world.shell(("%s/lastcall check -c %s"):format(world.build, SETTINGS))
  assert(code ~= 0, told)
  assert(told:find("endpoints names what is no origin", 1, true), told)
  world.shell("rm " .. SUPPLIERS .. "/wrong.lua")
end)

w:stop()
world.finish()
