-- Pressure over real sockets: an engine that cannot keep up leaves suppliers out, then refuses searches, and is itself
-- again afterwards. Accounts whose credentials are refused are parked; every Retry-After is obeyed, and bounded.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, requests, wait_until = world.test, world.equal, world.farm_requests, world.wait_until

local HEAVY = 8
local SETTINGS = world.folder .. "/overload.yaml"
local STOP = world.folder .. "/overload.stop"
local BODY = world.folder .. "/overload.json"
local CALLER = world.folder .. "/overload_caller.sh"

-- `values` replace those below by name.
local function write_settings(values)
  local lines = {
    "io_threads: 2",
    "script_threads: 1",
    "deadline: { max: 60s }",
    "scripts: { normalise_limit: 5s, build_limit: 1s }",
    "suppliers_dir: [suppliers, examples/farm/suppliers, tests/e2e/strained]",
    "reload: { watch: false }",
    ("admission: { enabled: %s, target: %s }"):format(values.admission, values.target),
    "suppliers:",
    "  heavy: { enabled: false }",
    ("  refusing: { accounts: { main: { options: { user: %s } } } }"):format(values.user),
    ("  s03: { accounts: { main: { limits: { concurrent: %d } } } }"):format(values.concurrent),
  }
  for number = 1, HEAVY do
    lines[#lines + 1] = ("  heavy%d: { uses: heavy }"):format(number)
  end
  world.write_file(SETTINGS, table.concat(lines, "\n") .. "\n")
end
-- On a machine that is busy itself, what waits 5 ms is no pressure of ours: until the test makes some, a second is.
local values = { admission = "true", target = "1s", user = "one", concurrent = 8 }
write_settings(values)

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), SETTINGS },
  environment = "REFUSING_KEY=a-key-that-is-long",
}

local function reload()
  write_settings(values)
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 })
  equal(200, reply.status, reply.raw)
  equal("published", reply.json.outcome, reply.raw)
end

local function ask(name)
  local reply = w:search { suppliers = { name }, budget_ms = 20000 }
  local entry = assert(world.entry(reply, name), reply.raw)
  return entry, world.json.encode(entry), reply
end

-- The page of `lastcall status`.
local function page()
  return world.shell(("%s/lastcall status --no-color --admin %s"):format(world.build, w.admin_url))
end

local function overload()
  return world.http("GET", w.admin_url .. "/admin/v1/status").json.overload
end

-- The lines of a metric together, of those whose labels have that word.
local function sum_of(row, word)
  local sum = 0
  local page = world.http("GET", w.admin_url .. "/metrics").raw
  for labels, value in page:gmatch("\nlastcall_" .. row .. "({[^}]*}) (%d+)") do
    sum = sum + (labels:find(word or "", 1, true) and tonumber(value) or 0)
  end
  return sum
end

-- --------------------------------------------------------------------------------------------------------- credentials

test("three refusals of the credentials park the account", function()
  world.farm("s01", { fault = "status_503" })
  local before = requests("s01")
  for number = 1, 3 do
    local entry, told = ask("refusing")
    equal("rejected", entry.outcome, "call " .. number .. ": " .. told)
    equal("auth", entry.kind, told)
    equal(503, entry.http_status, told)
  end
  for number = 4, 8 do
    local entry, told, reply = ask("refusing")
    equal("rejected", entry.outcome, "call " .. number .. ": " .. told)
    equal("auth", entry.kind, told)
    equal("its credentials were refused too often", entry.detail, told)
    assert(entry.retry_in_ms > 0 and entry.retry_in_ms <= 60000, told)
    equal(nil, entry.took_ms, "it was not asked")
    equal(504, reply.status, "status")
  end
  equal(before + 3, requests("s01"), "requests that went out")
  local account = w:account("refusing")
  equal("parked", account.auth.state, "state")
  equal(1, account.auth.parks, "parks")
  equal(3, account.looks, "looks")
  local told = page()
  assert(told:find("account main: parked, its credentials were refused; tried out in %d+ s\n"), told)
  assert(not told:find("overload:", 1, true), told)
  equal(1, w:metric("supplier_auth_parked", "refusing"), "parked, in metrics")
  equal(1, w:metric("supplier_auth_parks_total", "refusing"), "parks, in metrics")
  equal(3, w:metric("supplier_looks_total", "refusing"), "looks, in metrics")
  local _, lines = w:engine_output():gsub("auth: its credentials were refused", "")
  equal(1, lines, "lines of the log")
end)

test("another reload keeps it parked", function()
  values.concurrent = 9
  reload()
  local entry, told = ask("refusing")
  equal("its credentials were refused too often", entry.detail, told)
  equal("parked", w:account("refusing").auth.state, "state")
end)

test("other options end it", function()
  world.farm("s01", { fault = "none" })
  values.user = "two"
  reload()
  equal("taken", w:account("refusing").auth.state, "state")
  assert(not page():find("parked", 1, true), "the page")
  local entry, told = ask("refusing")
  equal("answered", entry.outcome, told)
  equal(0, w:metric("supplier_auth_parked", "refusing"), "parked, in metrics")
end)

-- --------------------------------------------------------------------------------------------------------- Retry-After

-- What the supplier says, and for how long at the most and the least its account is left alone, in ms; nil: not at all.
local WAITS = {
  { "3600", 3590000, 3600000 },
  { "7", 6001, 7000 },
  { "86400", 3590000, 3600000 },
  { "999999999999999", 3590000, 3600000 },
  { "9223372036854775808", 3590000, 3600000 },
  { "Fri, 31 Dec 99999 23:59:59 GMT", 3590000, 3600000 },
  { "Mon, 03 May 2100 20:05:00 GMT", 3590000, 3600000 },
  { "30.5", 29500, 30500 },
  { "20|9", 8001, 20000 }, -- twice: one of them
  { "Sun, 06 Nov 1994 08:49:37 GMT" },
  { "2abc" },
  { "-1" },
  { "0" },
  { "" },
  { "nan" },
}

local function named(number)
  return ("s%02d"):format(number + 10)
end

for number, row in ipairs(WAITS) do
  local said = row[1]:gsub("|", " and ")
  test("a 429 that says '" .. said .. "' is obeyed", function()
    local name = named(number)
    world.farm(name, { fault = "status_429", retry_after = row[1] ~= "" and row[1] or "x" })
    local entry, told = ask(name)
    equal("rejected", entry.outcome, told)
    equal("quota", entry.kind, told)
    local least, most = row[2] or 1, row[3] or 1000
    assert(entry.retry_in_ms >= least and entry.retry_in_ms <= most, told)
    if row[2] then
      entry, told = ask(name)
      equal("rate_limited", entry.outcome, told)
      assert(entry.retry_in_ms <= most, told)
      assert(w:account(name).blocked_until, "blocked")
    end
  end)
end

test("a 503 that says when is left alone, too, and one that does not is not", function()
  world.farm("s26", { fault = "status_503", retry_after = "600" })
  local entry, told = ask("s26")
  equal("failed", entry.outcome, told)
  assert(entry.retry_in_ms > 0 and entry.retry_in_ms <= 600000, told)
  entry, told = ask("s26")
  equal("rate_limited", entry.outcome, told)
  world.farm("s27", { fault = "status_503" })
  for _ = 1, 3 do
    entry, told = ask("s27")
    equal("failed", entry.outcome, told)
  end
end)

test("a supplier that refuses bears fewer at once", function()
  equal(9, w:account("s03").used.bearable, "before")
  world.farm("s03", { fault = "refused" })
  equal("failed", (ask("s03")).outcome)
  equal(1, w:account("s03").used.bearable, "after")
  world.farm("s03", { fault = "none" })
  wait_until("it bears more again", function()
    local outcome = ask("s03").outcome
    return outcome == "answered" and w:account("s03").used.bearable > 1
  end)
end)

-- ------------------------------------------------------------------------------------------------------------ pressure

local function heavies()
  local names = {}
  for number = 1, HEAVY do
    names[number] = "heavy" .. number
  end
  return names
end

-- So many callers, each of whom asks again as soon as he has an answer, until the file is there.
local function begin_pressure(callers)
  os.remove(STOP)
  world.write_file(BODY, world.json.encode { product = "flights", query = world.query, suppliers = heavies(),
    budget_ms = 3000 })
  world.write_file(CALLER, ([[
while [ ! -e %s ]; do
  curl -sS -o /dev/null --max-time 30 -X POST -H 'Content-Type: application/json' --data-binary @%s %s/v1/search || true
done
]]):format(STOP, BODY, w.url))
  for _ = 1, callers do
    os.execute(("timeout 300 sh %s >/dev/null 2>&1 &"):format(CALLER))
  end
end

local function end_pressure()
  world.write_file(STOP, "")
end

test("without pressure nothing is left out", function()
  local reply = w:search { suppliers = { "heavy1", "heavy2" }, budget_ms = 20000 }
  equal(200, reply.status, reply.raw)
  equal(true, reply.json.coverage.complete, reply.raw)
  wait_until("the level is none", function()
    return overload().level == "none"
  end)
  equal(true, overload().enabled, "enabled")
  equal(0, overload().refused, "refused")
end)

test("under pressure suppliers are shed, then searches are refused at once", function()
  local refused
  values.target = "1ms"
  reload()
  begin_pressure(12)
  local is_fine, why = pcall(wait_until, "a search is refused", function()
    local reply = w:search { suppliers = heavies(), budget_ms = 1000 }
    refused = reply.status == 503 and reply or refused
    return refused and sum_of("attempts_total", "\"shed\"") > 0
  end)
  local level, searches, told = overload(), sum_of("overload_refused_total"), page()
  end_pressure()
  assert(is_fine, why)
  equal("application/problem+json", refused.headers["content-type"], refused.raw)
  assert(tonumber(refused.headers["retry-after"]) >= 1, refused.raw)
  equal("overloaded", refused.json.code, refused.raw)
  assert(level.refused > 0 and level.times > 0, world.json.encode(level))
  assert(searches > 0, "refused, in metrics")
  assert(told:find("\noverload: %S+, [1-9]%d* searches refused"), told)
  assert(refused.headers.traceparent and refused.headers["cache-control"] == "no-store", refused.raw)
end)

test("when it is over everything is back", function()
  values.target = "1s"
  reload()
  wait_until("the level is none", function()
    return overload().level == "none"
  end)
  equal(nil, overload().most_at_once, "all are admitted")
  equal(0, sum_of("overload_level"), "in metrics")
  wait_until("a search is whole", function()
    local reply = w:search { suppliers = heavies(), budget_ms = 20000 }
    return reply.status == 200 and reply.json.coverage.complete
  end)
  assert(w:engine_output():match("overload: level=%w+ was=%w+"), "no line of the log")
  for number = 1, HEAVY do
    wait_until("nothing of it is under way", function()
      return w:account("heavy" .. number).used.running == 0
    end)
  end
end)

test("switched off, nobody is refused", function()
  values.admission, values.target = "false", "1ms"
  reload()
  local before = overload().refused
  begin_pressure(6)
  local statuses = {}
  for _ = 1, 6 do
    local reply = w:search { suppliers = heavies(), budget_ms = 3000 }
    statuses[#statuses + 1] = reply.status
    assert(reply.status ~= 503 and not reply.raw:find("\"shed\"", 1, true), reply.raw)
  end
  end_pressure()
  equal(before, overload().refused, table.concat(statuses, " "))
  equal("none", overload().level, "level")
end)

w:stop()
test("the engine ended clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
