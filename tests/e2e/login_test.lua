-- Suppliers behind logins and signatures: cold and warm, one login for all that wait, failing, hanging, expiring.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local FILE = world.folder .. "/login.ndjson"
os.execute("rm -f " .. FILE)

-- Long enough for all that end by themselves, also on a machine that does other things.
local LONG_MS = 9000

local OVERLAY = [[
io_threads: 2
attribution: { file: %s }
suppliers_dir: [examples/farm/suppliers, examples/farm/gates, tests/e2e/logins]
suppliers:
  told_login: { enabled: false, because: "a template" }
  wrong_login: { uses: farm_oauth, accounts: { main: { secrets: { FARM_SECRET: WRONG_SECRET } } } }
  wrong_key:
    uses: farm_signed
    accounts:
      main: { secrets: { FARM_SECRET: WRONG_SECRET }, options: { base_url: "http://s07.farm.test:8080", key: s07 } }
]]

local TELLER = [[
  tells_%s:
    uses: told_login
    accounts: { main: { options: { base_url: "http://s02.farm.test:8080", user: s02, tells: %s } } }
]]

local w = world.start {
  without_breakers = true,
  population = "gates",
  settings = { "examples/farm/gates.yaml" },
  environment = "FARM_SECRET=farm-secret-of-all WRONG_SECRET=not-the-secret",
  overlay = OVERLAY:format(FILE) .. TELLER:format("error", "error") .. TELLER:format("fail", "fail")
    .. TELLER:format("warning", "warning"),
}

local function reset()
  equal(200, world.http("POST", world.farm_url .. "/reset").status, "reset of the farm")
end

-- Every login so far is over; the farm counts from 0.
local function forget_logins()
  reset()
  for number = 1, 6 do
    world.farm(("s%02d"):format(number), { revoke = 1 })
  end
end

local function on_farm(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

local function counted(name)
  for _, supplier in ipairs(world.http("GET", w.admin_url .. "/admin/v1/status").json.suppliers) do
    if supplier.name == name then
      return supplier.login
    end
  end
end

local function ask(name, budget_ms)
  local reply = w:search { suppliers = { name }, budget_ms = budget_ms or LONG_MS, max_items = 1000,
    max_offers_per_item = 1000 }
  local entry = world.entry(reply, name)
  assert(entry, "no entry: " .. tostring(reply.raw):sub(1, 300))
  return entry, reply
end

local function expect(entry, wanted)
  for key, value in pairs(wanted) do
    equal(value, entry[key], key .. " of " .. world.json.encode(entry))
  end
end

-- Polls until the probe gives something.
local function wait_until(what, seconds, probe)
  local deadline = os.time() + seconds
  while os.time() <= deadline do
    local found = probe()
    if found then
      return found
    end
    world.sleep_ms(50)
  end
  error("waited in vain: " .. what)
end

-- Many searches of one supplier at the same time; their outcomes, each with its count.
local function ask_at_once(name, count, budget_ms)
  local folder = world.folder .. "/at_once"
  local body = world.json.encode { product = "flights", query = world.query, suppliers = { name },
    budget_ms = budget_ms or LONG_MS }
  os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
  world.write_file(folder .. "/body", body)
  world.shell(("for i in $(seq %d); do curl -sS --max-time 30 -o %s/$i.out -H 'Content-Type: application/json' "
    .. "--data-binary @%s/body %s/v1/search & done; wait"):format(count, folder, folder, w.url))
  local outcomes = {}
  for number = 1, count do
    local decoded, reply = pcall(world.json.decode, world.read_file(folder .. "/" .. number .. ".out") or "")
    local entry = decoded and world.entry({ json = reply }, name)
    local outcome = entry and (entry.outcome .. (entry.phase and " " .. entry.phase or "")) or "no reply"
    outcomes[outcome] = (outcomes[outcome] or 0) + 1
  end
  return outcomes
end

test("the settings of the gates are those that the farm prints", function()
  local printed, code = world.shell(world.build
    .. "/examples/farm/farm --population examples/farm/populations/gates.txt --print-settings")
  equal(0, code, "exit code")
  local function gates(settings)
    return settings:match("\n  farm_oauth:.*") -- before it are the templates of all shapes
  end
  equal(gates(printed), gates(world.read_file("examples/farm/gates.yaml")), "the end of examples/farm/gates.yaml")
end)

test("their fixtures pass", function()
  local output, code = world.shell(world.build .. "/lastcall test -c examples/farm/gates.yaml "
    .. "farm_oauth farm_session farm_signed")
  equal(0, code, "exit code of " .. output)
end)

for _, name in ipairs { "s01", "s03", "s05" } do
  test("cold and warm within one allocation: " .. name, function()
    local cold = ask(name)
    expect(cold, { outcome = "answered", offers = 30 })
    local warm = ask(name)
    expect(warm, { outcome = "answered", offers = 30 })
    local seen = on_farm(name)
    equal(1, seen.logins, "logins at the farm")
    equal(0, seen.strangers, "requests without a login")
    expect(counted(name), { made = 1, held = 1, failed = 0, waiting = 0 })
    local metrics = world.http("GET", w.admin_url .. "/metrics").raw
    assert(metrics:find(('lastcall_logins_total{supplier="%s"} 1'):format(name), 1, true), "metrics tell no login")
  end)
end

test("forty searches that wait for a login make one login", function()
  world.farm("s02", { login_ms = 2500 })
  local outcomes = ask_at_once("s02", 40)
  equal(40, outcomes.answered, "answered of " .. world.json.encode(outcomes))
  local seen = on_farm("s02")
  equal(1, seen.logins, "logins at the farm")
  equal(40, seen.answered, "answers of the farm")
  equal(0, seen.strangers, "requests without a login")
end)

test("forty searches that were refused the same login make one login, and redo once", function()
  forget_logins()
  world.farm("s02", { login_ms = 2500 })
  local outcomes = ask_at_once("s02", 40)
  equal(40, outcomes.answered, "answered of " .. world.json.encode(outcomes))
  local seen = on_farm("s02")
  equal(1, seen.logins, "logins at the farm")
  equal(40, seen.answered, "answers of the farm")
  assert(seen.strangers >= 1 and seen.strangers <= 40, "requests with the old login: " .. seen.strangers)
  equal(seen.answered + seen.strangers + seen.logins, seen.requests, "requests of the farm")
end)

test("a login that fails fails those who wait, and is not asked for again at once", function()
  forget_logins()
  world.farm("s01", { fault = "login_500" })
  local entry = ask("s01")
  expect(entry, { outcome = "failed", phase = "login", http_status = 500 })
  local page = world.shell(("%s/lastcall status --no-color --admin %s"):format(world.build, w.admin_url))
  assert(page:match("login: accounts 1, held %d+, made %d+, renewed %d+, failed [1-9]"), page)
  local soon = ask("s01")
  expect(soon, { outcome = "failed", phase = "login" })
  local asked = on_farm("s01").faults.login_500
  assert(asked >= 1 and asked <= 2, "logins asked for: " .. asked) -- 2: the second search came a second later
  world.farm("s01", { fault = "none" })
  wait_until("the login works again", 40, function()
    return ask("s01").outcome == "answered"
  end)
end)

test("a login that is denied is rejected as auth", function()
  forget_logins()
  world.farm("s01", { fault = "login_denied" })
  expect(ask("s01"), { outcome = "rejected", kind = "auth", phase = "login", http_status = 401 })
  world.farm("s01", { fault = "none" })
  expect(ask("wrong_login"), { outcome = "rejected", kind = "auth", phase = "login", http_status = 401 })
  expect(counted("wrong_login"), { made = 0, failed = 1, held = 0 })
end)

test("a login that hangs is cut where it waits, is asked for once, and costs nobody else", function()
  forget_logins()
  world.farm("s03", { fault = "login_hang" })
  local outcomes = ask_at_once("s03", 12, 1500)
  equal(12, outcomes["cut login"], "cut in phase login of " .. world.json.encode(outcomes))
  equal(1, on_farm("s03").faults.login_hang, "logins asked for")
  local reply = w:search { suppliers = { "s03", "s09" }, budget_ms = 1500 }
  expect(world.entry(reply, "s03"), { outcome = "cut", bound = "budget", phase = "login" })
  expect(world.entry(reply, "s09"), { outcome = "answered" })
  equal(1, on_farm("s03").faults.login_hang, "logins asked for")
  equal(0, counted("s03").waiting, "waiting")
  world.farm("s03", { fault = "none" })
end)

test("a session that ends between two polls is opened anew once, and the poll is asked again", function()
  reset()
  ask("s06") -- warm
  reset()
  local fields = { product = "flights", query = world.query, suppliers = { "s06" }, budget_ms = LONG_MS }
  local file = world.folder .. "/middle"
  local out = file .. ".out"
  world.write_file(file, world.json.encode(fields))
  os.execute(("rm -f %s; curl -sS --max-time 30 -o %s.part -H 'Content-Type: application/json' --data-binary @%s "
    .. "%s/v1/search && mv %s.part %s &"):format(out, out, file, w.url, out, out))
  wait_until("the search is created", 20, function()
    return on_farm("s06").answered >= 1
  end)
  world.farm("s06", { revoke = 1 })
  wait_until("the search is over", 20, function()
    return world.read_file(out)
  end)
  local entry = world.entry({ json = world.json.decode(world.read_file(out)) }, "s06")
  expect(entry, { outcome = "answered", offers = 30 })
  local seen = on_farm("s06")
  equal(1, seen.strangers, "polls with the old session")
  equal(1, seen.logins, "sessions opened")
end)

test("a session that ends twice within one search is not opened a third time, and what came stays", function()
  forget_logins()
  world.farm("s06", { login_life_s = 0.7 })
  local entry = ask("s06")
  expect(entry, { outcome = "answered", partial = true })
  assert(entry.offers == 10 or entry.offers == 20, "offers " .. entry.offers)
end)

test("a login is renewed before it expires, and nobody waits", function()
  reset()
  local before = counted("s04").renewed
  wait_until("a login of s04 that was used is renewed", 30, function()
    ask("s04")
    return counted("s04").renewed > before
  end)
end)

test("every request is signed: parts, pages, by both digests", function()
  reset()
  for _, name in ipairs { "s07", "s08" } do
    expect(ask(name), { outcome = "answered", offers = 30 })
    local seen = on_farm(name)
    equal(3, seen.answered, "pages of " .. name)
    equal(0, seen.strangers, "requests of " .. name .. " without a good signature")
  end
  expect(ask("wrong_key"), { outcome = "rejected", http_status = 403, code = "bad_signature" })
end)

test("a login is told by nobody: not in replies, not in the log, not in attribution", function()
  reset()
  wait_until("the login of tells_error", 20, function()
    return ask("tells_error").outcome == "script_error"
  end)
  local error_reply = world.json.encode((ask("tells_error")))
  assert(error_reply:find("the token was ***", 1, true), error_reply)
  local fail_reply = world.json.encode((ask("tells_fail")))
  assert(fail_reply:find("no offers for ***", 1, true), fail_reply)
  local warning_reply = world.json.encode((ask("tells_warning")))
  assert(warning_reply:find("asked with ***", 1, true), warning_reply)
  world.http("GET", w.admin_url .. "/admin/v1/searches") -- comes back when everything is written
  local told = { error_reply, fail_reply, warning_reply, w:engine_output(), world.read_file(FILE),
    world.http("GET", w.admin_url .. "/admin/v1/searches").raw, world.http("GET", w.admin_url .. "/metrics").raw }
  assert(w:engine_output():find("the token is ***", 1, true), "the script did not write into the log")
  for place, words in ipairs(told) do
    local token = words:match(("%x"):rep(48))
    assert(not token, "a login stands in place " .. place .. ": " .. tostring(token))
    assert(not words:find("farm-secret-of-all", 1, true), "the secret stands in place " .. place)
  end
end)

test("the engine ends clean, also while a login is fetched", function()
  forget_logins()
  world.farm("s03", { fault = "login_hang" })
  ask("s03", 500)
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
os.execute("rm -rf " .. FILE .. " " .. world.folder .. "/at_once " .. world.folder .. "/middle*")
world.finish()
