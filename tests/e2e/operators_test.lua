-- Operators' switches over real sockets: suppliers are switched off, drained and on again, breakers held, by command
-- and by route; over reloads, restarts and kills. The farm counts what went out.
-- variants: release asan tsan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, wait_until = world.test, world.equal, world.wait_until
local requests, json = world.farm_requests, world.json

local BINARY = world.build .. "/lastcall"
local MINE = world.folder .. "/operators.yaml"
local STATE = world.folder .. "/operators_state"
local FILE = STATE .. "/switches.json"
local TOKEN = "a-token-of-sixteen-or-more"
local NEVER = "2030-01-01"

local TWIN = [[
suppliers:
  twin:
    uses: farm_a
    ceiling: 60s
    accounts:
      uk: { when: { market: [GB] }, options: { base_url: "http://s29.farm.test:8080" } }
      main: { options: { base_url: "http://s31.farm.test:8080" } }
]]
local function settings(more)
  world.write_file(MINE, "breaker: { enabled: true }\nlinger: { learn: 20%, limit: 60s }\n" .. (more or TWIN))
end

settings()
world.shell("rm -rf " .. STATE)
local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), MINE },
  overlay = ("state_dir: %s\nio_threads: 2\nreload: { watch: false }\ndeadline: { max: 120s }\n"):format(STATE)
    .. "reply: { detail: public, token_env: OPERATORS_TOKEN }\n",
  environment = "OPERATORS_TOKEN=" .. TOKEN,
}

local function ask(name, fields)
  local body = { suppliers = { name }, budget_ms = 60000 }
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  local reply = w:search(body, { "Authorization: Bearer " .. TOKEN })
  return assert(world.entry(reply, name), reply.raw), reply
end

local function says(text, words)
  assert(text:find(words, 1, true), ("`%s` expected in:\n%s"):format(words, text))
end

-- What a command printed, and its exit code.
local function run(arguments)
  return world.shell(("LC_ALL=C.UTF-8 %s %s --admin %s 2>&1"):format(BINARY, arguments, w.admin_url))
end

local function fine(arguments)
  local out, code = run(arguments)
  equal(0, code, arguments .. ": " .. out)
  return out
end

local function post(path, body)
  return world.http("POST", w.admin_url .. "/admin/v1/" .. path,
    { body = type(body) == "table" and json.encode(body) or body, headers = { "Content-Type: application/json" },
      max_time = 120 })
end

local function get(path)
  return world.http("GET", w.admin_url .. "/admin/v1/" .. path).json
end

local function supplier_of(name)
  for _, supplier in ipairs(get("suppliers").suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
  error("no supplier " .. name)
end

local function account_of(name, which)
  for _, account in ipairs(supplier_of(name).accounts) do
    if account.name == (which or "main") then
      return account
    end
  end
  error("no account of " .. name)
end

-- The newest event of a supplier.
local function event_of(name)
  for _, event in ipairs(get("events").events) do
    if event.event == "operator" and (event.name or "") == name then
      return event
    end
  end
  return { message = "none" }
end

local function is_asked(name)
  local before = requests(name)
  local entry = ask(name)
  return entry.outcome == "answered" and requests(name) > before, entry
end

local function expect_off(name, words)
  local before = requests(name)
  local entry, reply = ask(name)
  equal("disabled", entry.outcome, reply.raw)
  says(entry.reason, words)
  equal(before, requests(name), "requests to " .. name)
  return entry, reply
end

local function enabled_count()
  return tonumber(world.http("GET", w.admin_url .. "/metrics").raw:match("\nlastcall_suppliers_enabled (%S+)\n"))
end

-- Ends the engine by a signal, and starts it anew; between the two `change` may do something.
local function restart(signal, change)
  w:signal(signal)
  assert(w:wait_engine(60), "the engine did not end")
  local code = w:exit_code()
  assert(signal == "KILL" or code == 0, w:engine_output())
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
  if change then
    change()
  end
  w:start_engine()
end

test("a supplier that is switched off is not asked, and everybody is told who and why", function()
  assert(is_asked("s01"))
  local before = enabled_count()
  equal(0, w:metric("supplier_switched_off", "s01"), "in metrics")
  local out = fine("disable s01 --why 'answers nonsense'")
  says(out, "s01: disabled by ")
  says(out, "answers nonsense")
  for _ = 1, 5 do
    local _, reply = expect_off("s01", "answers nonsense")
    equal(0, reply.json.coverage.eligible, "eligible")
  end
  assert(is_asked("s02"), "the others are")
  equal(1, w:metric("supplier_switched_off", "s01"), "in metrics")
  equal(0, w:metric("supplier_switched_off", "s02"), "in metrics")
  equal(before - 1, enabled_count(), "suppliers that are on")
  says(event_of("s01").message, "it is switched off, by ")
  says(event_of("s01").message, "answers nonsense")
  wait_until("the log has it", function()
    return w:engine_output():find("name=s01 generation=1: it is switched off", 1, true)
  end)
  says(fine("status"), "off  an operator has switched it off")
  says(fine("status"), "s01: disabled by ")
  says(fine("history --events"), "s01: it is switched off, by ")
  says(fine("suppliers --width 160"), "disabled by ")
  equal("disabled", supplier_of("s01").switch.state, "state")
  equal("answers nonsense", supplier_of("s01").switch.why, "why")
  equal(nil, supplier_of("s01").switch["until"], "it has no end")
end)

test("a stranger learns that it is unavailable, and nothing else", function()
  local reply = w:search { suppliers = { "s01", "s02" }, budget_ms = 60000 }
  local one = reply.json.suppliers[1]
  equal("unavailable", one.outcome, reply.raw)
  for key in pairs(one) do
    assert(key == "name" or key == "outcome", key)
  end
  assert(not reply.raw:find("nonsense", 1, true) and not reply.raw:find("disabled", 1, true), reply.raw)
end)

test("enable takes it back, once", function()
  local out = fine("enable s01")
  says(out, "s01: enable, done")
  says(out, "before: disabled by ")
  assert(is_asked("s01"))
  equal(nil, supplier_of("s01").switch, "switch")
  equal(0, w:metric("supplier_switched_off", "s01"), "in metrics")
  says(event_of("s01").message, "it is asked again, by ")
  out = fine("enable s01")
  says(out, "nothing to do")
  says(out, "no operator has switched it off")
  local answer = post("suppliers/s01/enable", {}).json
  equal(false, answer.changed, "changed")
end)

test("the time of a switch is over by itself", function()
  local answer = post("suppliers/s02/disable", { who = "ann", why = "a minute", ["for"] = "1s" })
  equal(200, answer.status, answer.raw)
  equal("ann", answer.json.switch.who, answer.raw)
  assert(answer.json.switch["until"] < NEVER and answer.json.switch.ends_in_ms <= 1000, answer.raw)
  wait_until("s02 is asked", function()
    return (ask("s02")).outcome == "answered"
  end)
  wait_until("it is told", function()
    return event_of("s02").message:find("is asked again: the time is over that was set by ann: a minute", 1, true)
  end)
  equal(nil, supplier_of("s02").switch, "switch")
  wait_until("the file has it no more", function()
    return not world.read_file(FILE):find("a minute", 1, true)
  end)
end)

test("what is wrong with a request is told by its place", function()
  local cases = {
    { "s01/disable", {}, 422, "/why", "required" },
    { "s01/disable", { why = "  " }, 422, "/why", "required" },
    { "s01/disable", { why = 7 }, 422, "/why", "wrong_type" },
    { "s01/disable", { why = ("x"):rep(401) }, 422, "/why", "wrong_type" },
    { "s01/disable", { why = "x", ["for"] = "soon" }, 422, "/for", "wrong_type" },
    { "s01/disable", { why = "x", ["for"] = "0s" }, 422, "/for", "wrong_type" },
    { "s01/disable", { why = "x", ["for"] = 30 }, 422, "/for", "wrong_type" },
    { "s01/disable", { why = "x", account = "A B" }, 422, "/account", "wrong_type" },
    { "s01/disable", { why = "x", account = "mian" }, 422, "/account", "unknown_account" },
    { "s01/disable", { why = "x", whi = "x" }, 422, "/whi", "unknown_field" },
    { "s01/disable", { why = "x", state = "open" }, 422, "/state", "unknown_field" },
    { "s01/disable", '{"why":"a","why":"b"}', 422, "/why", "duplicate" },
    { "s01/disable", "[]", 400, "", "not_json" },
    { "s01/disable", "{", 400, "", "not_json" },
    { "s01/enable", { ["for"] = "1s" }, 422, "/for", "unknown_field" },
    { "s01/breaker", {}, 422, "/state", "required" },
    { "s01/breaker", { state = "ajar" }, 422, "/state", "wrong_type" },
    { "s01/breaker", { state = "open" }, 422, "/why", "required" },
    { "s01/breaker", { state = "reset", ["for"] = "1m" }, 422, "/for", "not_supported" },
    { "s0l/disable", { why = "x" }, 404, "", "unknown_supplier" },
    { "nobody_at_all/enable", {}, 404, "", "unknown_supplier" },
    { "s01/disabel", {}, 404, "", "unknown_action" },
    { "farm_a/enable", {}, 409, "", "not_possible" },
  }
  for _, case in ipairs(cases) do
    local reply = post("suppliers/" .. case[1], case[2])
    equal(case[3], reply.status, case[1] .. ": " .. reply.raw)
    equal(case[4], reply.json.errors[1].pointer, reply.raw)
    equal(case[5], reply.json.errors[1].code, reply.raw)
    assert(#reply.json.errors[1].detail > 0, reply.raw)
  end
  equal(405, world.http("GET", w.admin_url .. "/admin/v1/suppliers/s01/disable").status)
  equal(405, world.http("POST", w.admin_url .. "/admin/v1/suppliers").status)
  equal(nil, supplier_of("s01").switch, "nothing of it was done")
  equal(403, world.http("POST", w.admin_url .. "/admin/v1/suppliers/s01/drain",
    { headers = { "Origin: http://evil.example" } }).status)
end)

test("commands end with the code that says what was wrong", function()
  local cases = {
    { "disable s01", 2, "--why" },
    { "disable s01 --why x --for soon", 2, "30m" },
    { "disable s1x --why x", 2, "no supplier is called" },
    { "disable farm_aa --why x", 2, "did you mean `farm_a`?" },
    { "disable ../x --why x", 2, "help: " },
    { "disable s01 --why x --account mian", 2, "did you mean `main`?" },
    { "enable farm_a", 5, "a template" },
    { "drain s01 --wait soon", 2, "30m" },
    { "breaker s01 ajar", 2, "open, close and reset" },
    { "breaker s01 open", 2, "--why" },
    { "breaker s01 --for 1m", 2, "open, close or reset" },
    { "breaker farm_aa", 2, "did you mean `farm_a`?" },
    { "breaker s01 --account mian", 2, "mian" },
    { "suppliers --no-such", 2, "help: " },
  }
  for _, case in ipairs(cases) do
    local out, code = run(case[1])
    equal(case[2], code, case[1] .. ": " .. out)
    says(out, case[3])
  end
  local _, code = world.shell(BINARY .. " disable s01 --why x --admin http://127.0.0.1:1")
  equal(4, code)
  for _, command in ipairs { "suppliers --json", "breaker s01 --json", "disable s09 --why x --json",
    "enable s09 --json", "drain s09 --json", "drain s09 --wait 60s --json", "breaker s09 reset --json" } do
    assert(type(json.decode(fine(command))) == "table", command)
  end
  fine("enable s09")
  says(fine("disable farm_a --why 'to be sure'"), "it is off anyway")
  _, code = run("enable farm_a")
  equal(0, code, "the operator's word is taken back, and the settings' stands")
  equal("disabled", (ask("farm_a")).outcome)
end)

test("one account of a supplier is switched off alone", function()
  local query = {}
  for key, value in pairs(world.query) do
    query[key] = value
  end
  query.market = "GB"
  equal("uk", (ask("twin", { query = query })).account)
  says(fine("disable twin --account uk --why 'its contract is over'"), "twin, account uk: disabled by ")
  local before = requests("s29")
  local entry = ask("twin", { query = query })
  equal("disabled", entry.outcome)
  equal("uk", entry.account)
  equal(before, requests("s29"), "requests")
  equal("answered", (ask("twin")).outcome)
  equal("disabled", account_of("twin", "uk").switch.state)
  equal(nil, account_of("twin").switch)
  equal(1, w:metric("supplier_switched_off", "twin"), "in metrics")
  -- All of it is off: this account alone does not bring it back.
  fine("disable twin --why 'all of it'")
  local out = fine("enable twin --account uk")
  says(out, "all of twin is switched off")
  equal("disabled", (ask("twin")).outcome)
  fine("disable twin --account uk --why again")
  fine("enable twin")
  equal("answered", (ask("twin", { query = query })).outcome, "with all of its accounts")
end)

test("a reload keeps it, also over the time that its supplier is gone", function()
  fine("disable twin --why 'off for the night'")
  fine("disable s03 --why 'off, too'")
  settings(TWIN .. "  s03: { enabled: true }\n")
  equal(200, post("reload", {}).status)
  expect_off("twin", "off for the night")
  expect_off("s03", "off, too")
  settings("")
  local reply = post("reload", {})
  equal(200, reply.status, reply.raw)
  local absent = get("suppliers").absent
  equal(1, #absent, "absent ones")
  equal("twin", absent[1].name)
  says(fine("suppliers"), "not there now, but disabled by ")
  settings()
  equal(200, post("reload", {}).status)
  expect_off("twin", "off for the night")
  assert(is_asked("s04"))
  -- One that is gone can be taken back.
  settings("")
  equal(200, post("reload", {}).status)
  says(fine("enable twin"), "enable, done")
  equal(0, #get("suppliers").absent, "absent ones")
  settings()
  equal(200, post("reload", {}).status)
  equal("answered", (ask("twin")).outcome)
end)

test("drain tells how many are out, and waits for them", function()
  world.farm("s05", { fault = "hang_answer" })
  local log = world.folder .. "/operators_hung.log"
  world.write_file(world.folder .. "/operators_hung.json", json.encode { product = "flights", query = world.query,
    suppliers = { "s05" }, budget_ms = 110000 })
  local caller = world.spawn(("%s search %s/operators_hung.json --url %s"):format(BINARY, world.folder, w.url), log)
  wait_until("it is out", function()
    return account_of("s05").out == 1
  end)
  local answer = post("suppliers/s05/drain", { why = "maintenance" })
  equal(1, answer.json.out, answer.raw)
  equal("draining", answer.json.switch.state, answer.raw)
  local out, code = run("drain s05 --wait 1s")
  equal(6, code, out)
  says(out, "1 are still out after 1s")
  expect_off("s05", "by ")
  assert(world.is_alive(caller), "what is under way is not cut")
  world.terminate(caller) -- the caller leaves
  says(fine("drain s05 --wait 60s"), "nothing is out")
  equal(0, account_of("s05").out)
  world.farm("s05", { fault = "none" })
  fine("enable s05")
  assert(is_asked("s05"))
end)

test("what goes on for nobody ends when its supplier is drained", function()
  world.farm("s06", { fault = "hang_answer" })
  equal("cut", (ask("s06", { budget_ms = 300 })).outcome)
  equal(1, account_of("s06").out, "it goes on")
  fine("drain s06")
  wait_until("it has ended", function()
    return account_of("s06").out == 0
  end)
  local before = requests("s06")
  expect_off("s06", "by ")
  equal(before, requests("s06"))
  world.farm("s06", { fault = "none" })
  fine("enable s06")
end)

test("a breaker that is held open refuses, and one that is held closed never opens", function()
  says(fine("breaker s07 open --for 30m --why 'they are ill'"), "s07: breaker_open by ")
  local before = requests("s07")
  for _ = 1, 3 do
    local entry = ask("s07")
    equal("breaker_open", entry.outcome)
    assert(entry.retry_in_ms > 60000, "it says how long")
  end
  equal(before, requests("s07"), "nor is it tried out")
  says(fine("breaker s07 --width 160"), "held open")
  says(fine("suppliers --width 160"), "breaker held open by ")
  fine("breaker s07 reset")
  assert(is_asked("s07"))

  world.farm("s08", { fault = "status_503" })
  fine("breaker s08 close --for 30m --why 'ask it whatever it says'")
  for number = 1, 30 do
    equal("failed", (ask("s08")).outcome, "call " .. number)
  end
  equal(0, account_of("s08").breaker.trips, "trips")
  equal(30, account_of("s08").calls, "calls")
  equal(0, account_of("s08").answered, "answered")
  fine("breaker s08 reset")
  wait_until("it counts again", function()
    return (ask("s08")).outcome == "breaker_open"
  end)
  fine("breaker s08 close --why 'mended'")
  world.farm("s08", { fault = "none" })
  assert(is_asked("s08"), "closed by hand")
end)

test("a breaker that is opened by hand tries its supplier out and comes back", function()
  fine("breaker s10 open --why 'let us see'")
  equal(1, account_of("s10").breaker.trips, "trips")
  equal("breaker_open", (ask("s10")).outcome)
  wait_until("it is back", function()
    return (ask("s10")).outcome == "answered"
  end)
end)

test("a ceiling is another one for a time, and everybody is told", function()
  local before = ask("s31")
  assert(before.ceiling_from ~= "override", json.encode(before))
  says(fine("ceiling s31 25s --for 1h --why \"their deploy\""), "ceiling of 25000 ms by ")
  local entry = ask("s31")
  equal("override", entry.ceiling_from)
  equal(25000, entry.ceiling_ms)
  local account = account_of("s31")
  equal(25000, supplier_of("s31").ceiling_override and supplier_of("s31").ceiling_override.ceiling_ms
    or account.ceiling_override.ceiling_ms)
  assert(ask("s29").ceiling_from ~= "override", "another supplier's is changed, too")
  says(event_of("s31").message, "has another ceiling")
  restart("TERM")
  equal("override", ask("s31").ceiling_from, "a restart forgets it")
  says(fine("ceiling s31 none"), "done")
  equal(before.ceiling_from, ask("s31").ceiling_from)
  says(fine("ceiling s31 none"), "nothing to do")
end)

test("what is wrong with a ceiling is told", function()
  for _, row in ipairs {
    { { ceiling = "soon", why = "x", ["for"] = "1h" }, "/ceiling" },
    { { ceiling = "6min", why = "x", ["for"] = "1h" }, "/ceiling" },
    { { ceiling = "900ms", why = "x" }, "/for" },
    { { ceiling = "900ms", ["for"] = "1h" }, "/why" },
    { { why = "x", ["for"] = "1h" }, "/ceiling" },
    { { ceiling = "none", ["for"] = "1h" }, "/for" },
  } do
    local reply = post("suppliers/s31/ceiling", row[1])
    equal(422, reply.status, reply.raw)
    equal(row[2], reply.json.errors[1].pointer, reply.raw)
  end
  for _, arguments in ipairs { "ceiling s31 soon --for 1h --why x", "ceiling s31 900ms --why x",
    "ceiling s31 900ms --for 1h" } do
    local _, code = run(arguments)
    equal(2, code, arguments)
  end
end)

test("switches are there again after a restart, and after a kill at any time", function()
  says(fine("disable s11 --why 'over a restart' --for 2h"), "by ")
  restart("TERM")
  expect_off("s11", "over a restart")
  assert(supplier_of("s11").switch.ends_in_ms <= 7200000, "its end stays")
  says(event_of("").message, "in force from before the start")
  for round = 1, 3 do
    local name = "s1" .. 1 + round
    local answer = post("suppliers/" .. name .. "/disable", { why = "killed after it was said" })
    restart("KILL")
    equal(true, answer.json.kept.over_restarts, answer.raw)
    expect_off(name, "killed after it was said")
  end
  expect_off("s11", "over a restart")
  for number = 11, 14 do
    fine("enable s" .. number)
  end
  restart("KILL")
  assert(is_asked("s11") and is_asked("s14"), "what was taken back stays so")
end)

test("one whose time was over meanwhile is told, and asked", function()
  restart("TERM", function()
    world.write_file(FILE, [[{"version":1,"written_us":1,"switches":[
      {"supplier":"s15","state":"disabled","who":"ann","why":"long ago","since_us":1,"left_us":60000000}]}]])
  end)
  wait_until("it is told", function()
    return event_of("s15").message:find("the time is over that was set by ann: long ago", 1, true)
  end)
  assert(is_asked("s15"))
end)

test("a file that cannot be read is kept aside, told, and stops nobody", function()
  fine("disable s16 --why 'will be lost'")
  local whole = world.read_file(FILE)
  restart("KILL", function()
    world.write_file(FILE, whole:sub(1, #whole / 2))
  end)
  assert(is_asked("s16"), "what was said is lost")
  equal(whole:sub(1, #whole / 2), world.read_file(FILE .. ".bad-1"), "the bad file")
  says(event_of("").message, "cannot be used")
  says(event_of("").help, ".bad-1")
  says(fine("status"), "lost at the start: ")
  local answer = post("suppliers/s17/disable", { why = "goes on" }).json
  equal(true, answer.kept.over_restarts)
  says(answer.kept.at_start.help, ".bad-1")
  assert(answer.kept.at_start.line >= 1, "its place")
  fine("enable s17")
end)

test("where nothing can be written it is done all the same, and said", function()
  world.shell("mv " .. STATE .. " " .. STATE .. ".away && touch " .. STATE)
  local answer = post("suppliers/s18/disable", { why = "no disk" })
  equal(200, answer.status, answer.raw)
  equal(false, answer.json.kept.over_restarts, answer.raw)
  assert(#answer.json.kept.because > 0 and #answer.json.kept.help > 0, answer.raw)
  expect_off("s18", "no disk")
  says(fine("enable s18"), "not kept over a restart: ")
  world.shell("rm " .. STATE .. " && mv " .. STATE .. ".away " .. STATE)
  fine("disable s18 --why 'the disk is back'")
  equal(true, get("suppliers").kept.over_restarts, "kept again")
end)

-- As under a limit of files, or on a full disk: a write past it raises SIGXFSZ, which ends a process by default.
test("where no file may grow it goes on, and says what is not kept", function()
  local function limit(bytes)
    local output, code = world.shell(("prlimit --pid %d --fsize=%s:unlimited"):format(w.engine_pid, bytes))
    equal(0, code, output)
  end
  fine("disable s17 --why 'before it'")
  local before = world.read_file(FILE)
  limit(0)
  local answer = post("suppliers/s18/disable", { why = "a full disk" })
  equal(200, answer.status, answer.raw)
  equal(false, answer.json.kept.over_restarts, answer.raw)
  expect_off("s18", "a full disk")
  equal(before, world.read_file(FILE), "what was kept before")
  limit("unlimited")
  fine("enable s18")
  fine("enable s17")
  equal(true, get("suppliers").kept.over_restarts, "kept again")
end)

test("without state_dir it says that a restart forgets it", function()
  restart("TERM", function()
    w.options.overlay = "reload: { watch: false }\nbreaker: { enabled: false }\n"
    w.options.settings = { world.settings_without_ceilings() }
  end)
  local out = fine("disable s19 --why 'for now'")
  says(out, "not kept over a restart: state_dir is not set")
  says(out, "help: set state_dir")
  equal("disabled", (ask("s19")).outcome)
  -- Breakers are off here.
  local text, code = run("breaker s20 open --why x")
  equal(5, code, text)
  says(text, "breakers are off")
  fine("breaker s20 open --why x --for 10m")
  equal("breaker_open", (ask("s20")).outcome)
  restart("TERM")
  assert(is_asked("s19"))
  w:signal("TERM")
  assert(w:wait_engine(60), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
