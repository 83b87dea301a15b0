-- Reloads of a running engine: one answer for all who ask, broken files kept back one by one, ways back.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal = world.test, world.equal
local json = world.json

local bench = reloads.bench("reload", { scripts = true })
local folder, SETTINGS, row = bench.folder, bench.settings, reloads.row
local HOSTS = { acme = "s01", bravo = "s03", charlie = "s05", delta = "s07" }

local function path_of(name)
  return bench:path(name)
end

-- What stands for `normalise` may be another.
local function write_supplier(name, version, normalise)
  bench:write(name, HOSTS[name], version, normalise)
end

-- It passes the check and fails on every real answer, in line 20.
local FAILS = [[function(response, search, ctx)
    error("the answer is not what I thought")
  end]]
local FAILS_AT = "acme.lua:20: the answer is not what I thought"

local function write_settings(more)
  world.write_file(SETTINGS, ("suppliers_dir: %s/suppliers\nscripts_dir: %s/scripts\n%s\n"):format(folder, folder,
    more or ""))
end

write_supplier("acme", "first")
write_supplier("bravo", "first")
write_supplier("charlie", "first")
write_settings()

local w

local function start(overlay)
  w = world.start { population = "healthy", settings = { SETTINGS }, overlay = overlay }
end

local ask = reloads.ask(function()
  return w
end)
local get, status, post, reload, label = ask.get, ask.status, ask.post, ask.reload, ask.label
local lastcall, wait_until = ask.lastcall, ask.wait_until

local function search(names)
  local reply = w:search { suppliers = names, budget_ms = 8000 }
  equal(200, reply.status, "search")
  return reply.json
end

local function offers(reply, name)
  local entry = world.entry({ json = reply }, name)
  return entry and entry.offers, entry
end

-- What every source must answer the same: all but who asked and how long it took.
local function facts(answer)
  return { outcome = answer.outcome, changed = answer.changed, kept = answer.kept, settings = answer.settings,
    findings = answer.findings }
end

local function same(expected, actual, path)
  if type(expected) ~= "table" or type(actual) ~= "table" then
    equal(expected, actual, path)
    return
  end
  for key in pairs(expected) do
    same(expected[key], actual[key], path .. "." .. tostring(key))
  end
  for key in pairs(actual) do
    assert(expected[key] ~= nil, path .. "." .. tostring(key) .. " is one too many")
  end
end

-- ------------------------------------------------------------------------------------------- without the file watch

start("reload: { watch: false, trial_errors: 5 }\nsecrets_dir: " .. folder .. "/secrets")

test("a reload that finds nothing changed says so, and which generation runs on", function()
  local answer, http = reload()
  equal(200, http, "status")
  equal("unchanged", answer.outcome, "outcome")
  equal(1, answer.generation, "generation")
  equal(1, answer.previous, "previous")
  equal("command", answer.source, "source")
  equal("the test", answer.who, "who")
  equal(0, #answer.changed, "changed")
  equal(0, #answer.kept, "kept")
  equal(false, answer.settings.changed, "settings")
  equal(1, status().generation, "status")
end)

test("a changed supplier runs, and the answer names it before and after", function()
  local before = label("acme")
  write_supplier("acme", "second")
  local answer = reload { who = "ann@desk", why = "a second look" }
  equal("published", answer.outcome, "outcome")
  equal(answer.generation, status().generation, "generation")
  equal(1, answer.previous, "previous")
  equal("a second look", answer.why, "why")
  equal(1, #answer.changed, "changed")
  same({ kind = "supplier", name = "acme", file = path_of("acme"), fate = "changed", before = before,
    running = label("acme") }, answer.changed[1], "changed")
  assert(before ~= label("acme"), "another label")
end)

test("searches are of one generation, and its scripts stand at their results", function()
  local reply = search { "acme", "bravo" }
  equal(status().generation, reply.generation, "generation")
  local _, entry = offers(reply, "acme")
  equal(label("acme"), entry.script, "script")
  equal("answered", entry.outcome, "outcome")
end)

test("one broken of three keeps its version, the others move on", function()
  local bravo = label("bravo")
  write_supplier("acme", "third")
  write_supplier("charlie", "third")
  world.write_file(path_of("bravo"), "-- third\nreturn {\n  name = \"bravo\",\n  normalise = = 3,\n}\n")
  local answer, http = reload()
  equal(200, http, "status")
  equal("published", answer.outcome, "outcome")
  equal(2, #answer.changed, "changed")
  equal("changed", row(answer.changed, "acme").fate, "acme")
  equal("changed", row(answer.changed, "charlie").fate, "charlie")
  local kept = row(answer.kept, "bravo")
  equal("kept", kept.fate, "fate")
  equal(bravo, kept.running, "running")
  assert(kept.on_disk and kept.on_disk ~= bravo, "what is on the disk is told")
  assert(kept.because:find("bravo.lua:4:", 1, true), kept.because)
  equal(bravo, label("bravo"), "bravo runs")
  equal("answered", world.entry({ json = search { "bravo" } }, "bravo").outcome, "bravo answers")
end)

test("what is stale, and why, stands in the status, in the metrics and in the events", function()
  local answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal("kept", row(answer.kept, "bravo").fate, "it is told again")
  local stale = row(status().reload.kept, "bravo")
  assert(stale.because:find("bravo.lua:4:", 1, true), stale.because)
  local text = lastcall("status")
  assert(text:find("stale, for what runs is not what is on the disk", 1, true), text)
  assert(text:find("bravo.lua:4:", 1, true), text)
  local metrics = world.http("GET", w.admin_url .. "/metrics").raw
  assert(metrics:find("\nlastcall_reload_kept 1\n", 1, true), "lastcall_reload_kept")
  assert(metrics:find("\nlastcall_reloads_total{outcome=\"published\"} 2\n", 1, true), "lastcall_reloads_total")
  local kept = 0
  for _, event in ipairs(get("/admin/v1/events").events) do
    if event.event == "kept" and event.name == "bravo" then
      kept = kept + 1
      equal(4, event.line, "line")
    end
  end
  equal(1, kept, "it is one event, though it was met twice")
end)

test("a mended file runs, and nothing is stale any more", function()
  write_supplier("bravo", "fourth")
  local answer = reload()
  equal("published", answer.outcome, "outcome")
  equal("changed", row(answer.changed, "bravo").fate, "bravo")
  equal(0, #answer.kept, "kept")
  equal(0, #status().reload.kept, "stale")
end)

test("a new supplier is added, and a vanished one removed", function()
  write_supplier("delta", "first")
  local answer = reload()
  equal("added", row(answer.changed, "delta").fate, "delta")
  assert(offers(search { "delta" }, "delta") > 0, "delta offers")
  os.remove(path_of("delta"))
  answer = reload()
  equal("removed", row(answer.changed, "delta").fate, "delta")
  equal(nil, label("delta"), "delta is gone")
  equal(422, w:search { suppliers = { "delta" } }.status, "nobody knows it")
end)

test("a new supplier that is broken is left out", function()
  world.write_file(path_of("delta"), "")
  local answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal("left_out", row(answer.kept, "delta").fate, "delta")
  os.remove(path_of("delta"))
  equal(0, #reload().kept, "kept")
end)

test("a change of settings alone is published, and no script changes", function()
  write_settings("suppliers: { charlie: { enabled: false, because: \"on leave\" } }")
  local answer = reload()
  equal("published", answer.outcome, "outcome")
  equal(true, answer.settings.changed, "settings")
  equal(0, #answer.changed, "changed")
  equal("skipped", world.entry({ json = search { "bravo", "charlie" } }, "charlie").outcome:gsub("disabled", "skipped"),
    "charlie")
  write_settings()
  equal(true, reload().settings.changed, "settings")
end)

test("a setting that needs a restart is named with its place, and keeps its running value", function()
  write_settings("io_threads: 2")
  local answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal(1, #answer.settings.needs_restart, "needs_restart")
  local setting = answer.settings.needs_restart[1]
  equal("io_threads", setting.setting, "setting")
  equal(SETTINGS, setting.file, "file")
  equal(3, setting.line, "line")
  write_settings()
  equal(0, #reload().settings.needs_restart, "needs_restart")
end)

test("a secret that changed is a change, told without its value", function()
  local secrets = folder .. "/secrets"
  world.shell("mkdir -p " .. secrets)
  local source = world.read_file(path_of("charlie"))
  world.write_file(path_of("charlie"), (source:gsub("secrets = {}", "secrets = { \"CHARLIE_KEY\" }")))
  local answer = reload()
  equal("kept", row(answer.kept, "charlie").fate, "a script whose secret is not there")
  assert(row(answer.kept, "charlie").because:find("secret CHARLIE_KEY is not set", 1, true), "it says which one")
  equal(true, row(status().suppliers, "charlie").enabled, "it runs as it did")
  world.write_file(secrets .. "/CHARLIE_KEY", "a-first-secret")
  equal("changed", row(reload().changed, "charlie").fate, "with its secret it moves on")
  world.write_file(secrets .. "/CHARLIE_KEY", "a-secret-of-charlie")
  answer = reload()
  equal("published", answer.outcome, "outcome")
  equal(1, #answer.changed, "changed")
  equal("secrets", row(answer.changed, "charlie").kind, "kind")
  equal(true, row(status().suppliers, "charlie").enabled, "now it is on")
  assert(not json.encode(answer):find("a-secret", 1, true), "the value is not told")
  for _, torn in ipairs({ "", "half\0\0\0" }) do
    world.write_file(secrets .. "/CHARLIE_KEY", torn)
    answer = reload()
    equal("unchanged", answer.outcome, "what is half written changes nothing")
    equal("secrets", row(answer.kept, "charlie").kind, "kind of what is kept")
    assert(row(answer.kept, "charlie").because:find("secret CHARLIE_KEY", 1, true), "it says which one")
    equal(true, row(status().suppliers, "charlie").enabled, "it goes on with the secret it has")
  end
  world.write_file(secrets .. "/CHARLIE_KEY", "a-secret-of-charlie")
  equal("unchanged", reload().outcome, "outcome")
  write_supplier("charlie", "third")
  reload()
end)

test("bad settings change nothing, and say where they are bad", function()
  write_settings("deadline: { default: soon }")
  write_supplier("acme", "with bad settings")
  local acme, generation = label("acme"), status().generation
  local answer, http = reload()
  equal(422, http, "status")
  equal("refused", answer.outcome, "outcome")
  equal(generation, answer.generation, "generation")
  assert(answer.findings[1].finding:find(SETTINGS .. ":3", 1, true), answer.findings[1].finding)
  equal(generation, status().generation, "status")
  equal(acme, label("acme"), "acme")
  local text, code = lastcall("reload")
  equal(5, code, "exit code")
  assert(text:find("Refused: generation " .. generation .. " runs on", 1, true), text)
  write_settings()
  equal("changed", row(reload().changed, "acme").fate, "acme")
end)

test("a file of settings that was emptied changes nothing", function()
  world.write_file(SETTINGS, "")
  equal("refused", reload().outcome, "outcome")
  write_settings()
  equal("unchanged", reload().outcome, "outcome")
end)

test("the command prints the answer, and its exit code says how it went", function()
  write_supplier("acme", "by command")
  local text, code = lastcall("reload --why tidying")
  equal(0, code, text)
  assert(text:find("^Generation %d+ runs, before it %d+ %("), text)
  assert(text:find("changed%s+supplier%s+acme"), text)
  text, code = lastcall("reload")
  equal(0, code, text)
  assert(text:find("^Nothing changed: generation %d+ runs on"), text)
  world.write_file(path_of("acme"), "return 5\n")
  text, code = lastcall("reload")
  equal(1, code, text)
  assert(text:find("kept%s+supplier%s+acme"), text)
  text, code = lastcall("reload --json")
  equal(1, code, text)
  local answer = json.decode(text)
  equal("kept", answer.kept[1].fate, "fate")
  assert(answer.who:find("^[^@]+@[^@]+$"), answer.who)
  write_supplier("acme", "by command")
  equal("unchanged", reload().outcome, "outcome")
end)

test("a signal gives the answer that a command gives", function()
  world.write_file(path_of("bravo"), "return\n")
  write_supplier("acme", "one more")
  local by_command = reload()
  -- The same change once more, asked for by the signal.
  write_supplier("acme", "before the signal")
  write_supplier("bravo", "before the signal")
  reload()
  world.write_file(path_of("bravo"), "return\n")
  write_supplier("acme", "one more")
  local generation = status().generation
  w:signal("HUP")
  local by_signal = wait_until("the signal's reload", function()
    local last = status().reload.last
    return last.source == "signal" and last.generation > generation and last
  end)
  equal("signal", by_signal.who, "who")
  for _, answer in ipairs { by_command, by_signal } do
    for _, each in ipairs(answer.changed) do
      each.before = nil
    end
    for _, each in ipairs(answer.kept) do
      each.running = nil
    end
  end
  same(facts(by_command), facts(by_signal), "answer")
  write_supplier("bravo", "mended")
  reload()
end)

test("a rollback runs what ran, and the disk waits until it changes", function()
  local old, number = label("acme"), status().generation
  write_supplier("acme", "to be rolled back")
  write_settings("suppliers: { charlie: { enabled: false } }")
  local newer = reload()
  equal("published", newer.outcome, "outcome")
  local text, code = lastcall("rollback " .. number .. " --why fright")
  equal(1, code, text)
  assert(status().generation > newer.generation, "a new generation")
  equal(old, label("acme"), "acme")
  local answer = reload()
  equal("unchanged", answer.outcome, "a reload does not undo it")
  local kept = row(answer.kept, "acme")
  equal(old, kept.running, "running")
  assert(kept.because:find("generation " .. number .. " was rolled back to by ", 1, true), kept.because)
  assert(row(answer.kept, "settings"), "settings are kept back, too")
  equal("answered", world.entry({ json = search { "charlie" } }, "charlie").outcome, "charlie is on")
  -- A script is tried again when its file changes or when somebody says so.
  write_supplier("acme", "after the rollback")
  equal("changed", row(reload().changed, "acme").fate, "acme")
  answer = reload { retry = "settings" }
  equal(true, answer.settings.changed, "settings")
  write_settings()
  equal(0, #reload().kept, "kept")
end)

test("a module is rolled back with all that need it, and stays so", function()
  local module = world.read_file(folder .. "/scripts/farm.lua")
  local old, number = { label("acme"), label("bravo") }, status().generation
  world.write_file(folder .. "/scripts/farm.lua", "-- another\n" .. module)
  local answer = reload()
  equal("changed", row(answer.changed, "acme").fate, "acme")
  equal("changed", row(answer.changed, "bravo").fate, "bravo")
  answer = post("/admin/v1/rollback", { generation = number }).json
  equal("published", answer.outcome, "outcome")
  same(old, { label("acme"), label("bravo") }, "labels")
  for _ = 1, 2 do
    answer = reload() -- the module itself, which nobody needs now, may move on
    equal(nil, row(answer.changed, "acme"), "acme")
    equal("kept", row(answer.kept, "acme").fate, "acme")
    same(old, { label("acme"), label("bravo") }, "labels")
  end
  equal("unchanged", answer.outcome, "outcome")
  world.write_file(folder .. "/scripts/farm.lua", module)
  equal(0, #reload().kept, "kept")
  same(old, { label("acme"), label("bravo") }, "labels")
end)

test("a supplier that a rollback brought back stays, though its file is gone", function()
  write_supplier("delta", "first")
  local number = reload().generation
  os.remove(path_of("delta"))
  equal("removed", row(reload().changed, "delta").fate, "delta")
  local answer = post("/admin/v1/rollback", { generation = number }).json
  equal("added", row(answer.changed, "delta").fate, "delta")
  answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal("kept", row(answer.kept, "delta").fate, "delta")
  equal(nil, row(answer.kept, "delta").on_disk, "on disk")
  equal("removed", row(reload { retry = "delta" }.changed, "delta").fate, "delta")
end)

test("settings that were rolled back stay so when only a comment changes", function()
  local number = status().generation
  write_settings("suppliers: { charlie: { enabled: false } }")
  equal("suppliers.charlie", reload().settings.names[1], "the setting that changed is named")
  equal("published", post("/admin/v1/rollback", { generation = number }).json.outcome, "rollback")
  write_settings("# with a comment\nsuppliers: { charlie: { enabled: false } }")
  local answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal("runs", row(answer.kept, "settings").on_restart, "a restart would run them")
  local text = lastcall("status")
  assert(text:find("those of generation %d+ run, and what is on the disk differs, since 20"), text)
  assert(text:find("a restart now would run what is held back: settings", 1, true), text)
  write_settings()
  equal(0, #reload().kept, "kept")
end)

local function events_of(kind)
  local found = {}
  for _, each in ipairs(get("/admin/v1/events").events) do
    if each.event == kind then
      found[#found + 1] = each
    end
  end
  return found
end

test("a broken module is told once, with those that it keeps back", function()
  local module = world.read_file(folder .. "/scripts/farm.lua")
  local before = #events_of("kept")
  world.write_file(folder .. "/scripts/farm.lua", module .. "\nreturn ===\n")
  local answer = reload()
  equal("kept", row(answer.kept, "acme").fate, "acme")
  equal("kept", row(answer.kept, "bravo").fate, "bravo")
  local kept = events_of("kept")
  equal(before + 1, #kept, "events")
  assert(kept[1].message:find("(keeps back acme, bravo, charlie)", 1, true), kept[1].message)
  local text = lastcall("status")
  assert(text:find("\n%s+keeps back acme, bravo, charlie\n"), text)
  assert(text:find("a restart now would not start: ", 1, true), text)
  write_supplier("charlie", "edited meanwhile")
  reload()
  equal(before + 1, #events_of("kept"), "it is not told again")
  world.write_file(folder .. "/scripts/farm.lua", module)
  equal(0, #reload().kept, "kept")
  equal(kept[1].name, events_of("mended")[1].name, "it is told when it is mended")
end)

test("a supplier that is gone is a warning by its name", function()
  write_supplier("delta", "for a moment")
  reload()
  os.remove(path_of("delta"))
  equal("published", reload { who = "ann at her desk", why = "no contract" }.outcome, "outcome")
  equal("delta", events_of("removed")[1].name, "name")
  local told = events_of("reload")[1].message
  assert(told:find(" changed=delta:removed ", 1, true), told)
  assert(told:find(" who=\"ann at her desk\" ", 1, true), told)
  assert(told:find(" why=\"no contract\"", 1, true), told)
end)

test("a rollback to what nobody keeps is refused, and says what is kept", function()
  local reply = post("/admin/v1/rollback", { generation = 4000000 })
  equal(422, reply.status, "status")
  equal("refused", reply.json.outcome, "outcome")
  assert(reply.json.findings[1].help:find("generations %d+ to %d+ are kept"), reply.json.findings[1].help)
  local _, code = lastcall("rollback 4000000")
  equal(5, code, "exit code")
end)

test("generations tell who made them of what", function()
  local list = get("/admin/v1/generations").generations
  equal(true, list[1].running, "running")
  equal(status().generation, list[1].generation, "generation")
  local found = false
  for _, each in ipairs(list[1].scripts.suppliers) do
    found = found or each == label("acme")
  end
  assert(found, "acme's label is among the scripts")
  local reasons = {}
  for _, each in ipairs(list) do
    reasons[each.reload.why or ""] = each.reload.who
  end
  assert(reasons.fright and reasons.fright:find("@", 1, true), "who rolled back, and why")
end)

test("a command lists what ran and what happened, the newest first", function()
  local text, code = lastcall("history")
  equal(0, code, text)
  local generation = status().generation
  assert(text:find("^ *" .. generation .. " %* 20%S+Z  "), text)
  assert(text:find("Z  ann at her desk +%-delta: no contract\n"), text)
  text, code = lastcall("history --events")
  equal(0, code, text)
  assert(text:find("\n *%d+   20%S+Z  removed +delta: "), text)
  text, code = lastcall("history --json")
  equal(0, code, text)
  equal(generation, json.decode(text).generations[1].generation, "generation")
end)

test("a script that fails on real answers goes back by itself, and says where and why", function()
  local good, others = label("acme"), nil
  write_supplier("acme", "on trial", FAILS)
  local answer = reload()
  equal("changed", row(answer.changed, "acme").fate, "it passed the check")
  local bad = label("acme")
  local trial = wait_until("the trial to be told", function()
    return row(status().suppliers, "acme").trial
  end)
  equal(5, trial.lost_at_errors, "errors that lose it")
  local page = lastcall("status")
  assert(page:find("\n +on trial: calls %d+, errors %d+, of_calls 200, lost_at_errors 5\n"), page)
  wait_until("acme to go back", function()
    local reply = search { "acme", "bravo", "charlie" }
    local now = { (offers(reply, "bravo")), (offers(reply, "charlie")) }
    others = others or now
    same(others, now, "the offers of others")
    return label("acme") == good
  end)
  local last = status().reload.last
  equal("trial", last.source, "source")
  equal("went_back", row(last.changed, "acme").fate, "fate")
  equal(bad, row(last.changed, "acme").before, "before")
  assert(row(last.kept, "acme").because:find(FAILS_AT, 1, true), row(last.kept, "acme").because)
  local event = wait_until("the event", function()
    return row(get("/admin/v1/events").events, "acme")
  end)
  equal("went_back", event.event, "event")
  equal(20, event.line, "line")
  assert(event.message:find("the answer is not what I thought", 1, true), event.message)
  assert(offers(search { "acme" }, "acme") > 0, "acme offers again")
  answer = reload()
  equal("unchanged", answer.outcome, "it does not run again by itself")
  equal(bad, row(answer.kept, "acme").on_disk, "on disk")
  equal("changed", row(reload { retry = { "acme" } }.changed, "acme").fate, "but when somebody says so")
  write_supplier("acme", "mended")
  equal("changed", row(reload().changed, "acme").fate, "or when it changes")
end)

test("a script whose fixtures fail is kept back as a broken one is", function()
  world.shell("mkdir -p " .. folder .. "/suppliers/charlie.test")
  world.write_file(folder .. "/suppliers/charlie.test/no.json", "{ \"about\": 3 }")
  write_supplier("charlie", "with a fixture")
  local answer = reload()
  local kept = row(answer.kept, "charlie")
  assert(kept and kept.because:find("charlie.test/no.json", 1, true), kept and kept.because or "not kept")
  world.shell("rm -rf " .. folder .. "/suppliers/charlie.test")
  equal("changed", row(reload().changed, "charlie").fate, "without it it runs")
end)

test("what cannot be understood is refused with its place", function()
  local cases = {
    { "/admin/v1/reload", "[]", 400, "not_json" },
    { "/admin/v1/reload", "{\"whi\": \"x\"}", 422, "unknown_field" },
    { "/admin/v1/reload", "{\"who\": 3}", 422, "wrong_type" },
    { "/admin/v1/reload", "{\"who\": \"a\", \"who\": \"b\"}", 422, "duplicate" },
    { "/admin/v1/reload", "{\"generation\": 1}", 422, "unknown_field" },
    { "/admin/v1/reload", "{\"retry\": [1]}", 422, "wrong_type" },
    { "/admin/v1/rollback", "{}", 422, "required" },
    { "/admin/v1/rollback", "{\"generation\": \"1\"}", 422, "wrong_type" },
    { "/admin/v1/rollback", "{\"generation\": 0}", 422, "wrong_type" },
  }
  for _, case in ipairs(cases) do
    local reply = world.http("POST", w.admin_url .. case[1],
      { body = case[2], headers = { "Content-Type: application/json" } })
    equal(case[3], reply.status, case[2])
    equal(case[4], reply.json.errors[1].code, case[2])
  end
  equal(405, world.http("GET", w.admin_url .. "/admin/v1/reload").status, "GET")
  equal("POST", world.http("GET", w.admin_url .. "/admin/v1/reload").headers.allow, "Allow")
  equal(415, world.http("POST", w.admin_url .. "/admin/v1/reload", { body = "x" }).status, "no JSON")
end)

test("a page in somebody's browser cannot reload", function()
  equal(403, post("/admin/v1/reload", nil, { "Origin: https://evil.example" }).status, "Origin")
  equal(403, post("/admin/v1/reload", nil, { "Host: evil.example:8081" }).status, "Host")
  equal(403, post("/admin/v1/reload", nil, { "Host: 127.evil.example" }).status, "Host")
  equal(200, post("/admin/v1/reload", nil, { "Host: localhost:8081", "Origin: http://localhost:8081" }).status, "own")
end)

test("many who ask at once get one answer each, and searches go on meanwhile", function()
  local command = {}
  for i = 1, 8 do
    command[i] = ("curl -sS --max-time 120 -X POST %s/admin/v1/reload &"):format(w.admin_url)
  end
  write_supplier("acme", "many ask")
  local text = world.shell(table.concat(command, " ") .. " wait")
  local _, answers = text:gsub("\"outcome\"", "")
  equal(8, answers, "answers")
  local _, published = text:gsub("\"published\"", "")
  assert(published >= 1, text)
  equal(row(status().suppliers, "acme").script, label("acme"), "acme")
end)

test("a search that runs over a reload stays on its generation", function()
  world.farm("s01", { median_ms = 1500 })
  local before, generation = label("acme"), status().generation
  local out = w.folder .. "/over.json"
  local body = json.encode { product = "flights", query = world.query, suppliers = { "acme" }, budget_ms = 9000 }
  world.write_file(w.folder .. "/over.in", body)
  world.shell(("rm -f %s; (curl -sS -X POST -H 'Content-Type: application/json' --data-binary @%s/over.in "
    .. "%s/v1/search -o %s.part && mv %s.part %s) >/dev/null 2>&1 & true"):format(out, w.folder, w.url, out, out, out))
  wait_until("the search to be under way", function()
    return w:account("acme").used.running > 0
  end)
  write_supplier("acme", "over a search")
  equal("published", reload().outcome, "outcome")
  assert(label("acme") ~= before, "the new one runs")
  wait_until("the search's reply", function()
    return world.read_file(out)
  end)
  local reply = json.decode(world.read_file(out))
  equal(generation, reply.generation, "generation")
  local entry = world.entry({ json = reply }, "acme")
  equal("answered", entry.outcome, "outcome")
  equal(before, entry.script, "script")
  world.farm("s01", { median_ms = 175 })
end)

test("a reload while the engine stops is refused, and it stops all the same", function()
  w:signal("TERM")
  local reply = post("/admin/v1/reload", nil)
  assert(reply.status == 503 or reply.status == nil, "status " .. tostring(reply.status))
  assert(w:wait_engine(60), "it ends")
end)
w:stop()

-- ---------------------------------------------------------------------------------------------- with the file watch

start("reload: { watch: true, settle: 50ms, scan: 1s }")

test("a changed file is picked up by itself, with the answer that a command gives", function()
  local old = label("acme")
  write_supplier("acme", "watched")
  wait_until("acme to change", function()
    return label("acme") ~= old
  end)
  local list = get("/admin/v1/generations").generations
  local answer = list[1].reload
  equal("watch", answer.source, "source")
  equal("file watch", answer.who, "who")
  same({ { kind = "supplier", name = "acme", file = path_of("acme"), fate = "changed", before = old,
    running = label("acme") } }, answer.changed, "changed")
  equal("unchanged", reload().outcome, "a command finds nothing more")
end)

test("a broken file is kept back by itself, and mended by itself", function()
  world.write_file(path_of("acme"), "return {\n")
  wait_until("acme to be stale", function()
    return row(status().reload.kept, "acme")
  end)
  write_supplier("acme", "watched and mended")
  wait_until("acme to be fresh", function()
    return not row(status().reload.kept, "acme")
  end)
end)

local function metric(name)
  local raw = world.http("GET", w.admin_url .. "/metrics").raw
  return tonumber(raw:match("\nlastcall_" .. name:gsub("%p", "%%%0") .. " (%d+)"))
end

test("a look of the watch that finds nothing takes the place of no answer", function()
  local answer, looks, words, tries
  for i = 1, 20 do -- the watch may be faster
    looks = metric("reloads_total{outcome=\"unchanged\"}")
    words, tries = "by ann " .. i, 0
    write_supplier("acme", words)
    answer = reload { who = "ann@desk", why = "a try" }
    if answer.outcome == "published" then
      break
    end
  end
  equal("published", answer.outcome, "outcome")
  wait_until("the watch to look", function()
    tries = tries + 1
    if tries % 60 == 0 then -- what it saw was part of the reload above: it gets something to look at
      write_supplier("acme", words)
    end
    return metric("reloads_total{outcome=\"unchanged\"}") > looks
  end)
  local told = status().reload
  equal("ann@desk", told.last.who, "last")
  equal("published", told.last.outcome, "last")
  local text, code = lastcall("status --check")
  local line = "last change [^\n]+: Generation %d+ runs, before it %d+ [^\n]+, asked for by ann@desk: a try\n"
  assert(text:find(line), text)
  equal(0, code, "nothing is stale")
end)

test("settings that are refused stand in the status until they are mended, with what waits behind them", function()
  local old = label("acme")
  write_settings("deadline: { default: soon }")
  local refused = wait_until("the settings to be refused", function()
    return row(status().reload.kept, "settings")
  end)
  equal("refused", refused.fate, "fate")
  assert(refused.because:find(SETTINGS .. ":3: ", 1, true), refused.because)
  write_supplier("acme", "behind bad settings")
  local waiting = wait_until("acme to wait", function()
    return row(status().reload.kept, "acme")
  end)
  equal("waits", waiting.fate, "fate")
  equal(old, waiting.running, "running")
  equal(422, post("/admin/v1/rollback", { generation = 4000000 }).status, "a mistyped rollback")
  local told = status().reload
  equal("refused", row(told.kept, "settings").fate, "it stands still")
  equal(refused.since, row(told.kept, "settings").since, "since")
  equal(false, told.restart.starts, "a restart would not start")
  equal(2, metric("reload_kept"), "the gauge")
  local text, code = lastcall("status --check")
  equal(1, code, "exit code")
  assert(text:find("a restart now would not start: " .. SETTINGS .. ":3: ", 1, true), text)
  assert(text:find("refused%s+settings%s+settings%s+those of generation %d+ run, and "), text)
  local log = w:engine_output()
  assert(log:find("warning event: refused generation=%d+: [^\n]+:3: settings refused: "), log:sub(-2000))
  assert(log:find("warning event: refused generation=%d+: rollback to 4000000 refused: "), log:sub(-2000))
  write_settings()
  wait_until("acme to change", function()
    return label("acme") ~= old and #status().reload.kept == 0
  end)
  local event = wait_until("it to be told", function()
    return row(get("/admin/v1/events").events, "settings")
  end)
  equal("mended", event.event, "event")
  equal("published", status().reload.last.outcome, "last")
end)

test("changed settings are picked up, and so are the files that they name", function()
  world.shell("mkdir -p " .. folder .. "/more")
  local more = io.open(path_of("acme")):read("*a"):gsub("acme", "delta"):gsub("s01", "s07")
  world.write_file(folder .. "/more/delta.lua", more)
  local settings = "suppliers_dir: [%s/suppliers, %s/more]\nscripts_dir: %s/scripts\n"
  world.write_file(SETTINGS, settings:format(folder, folder, folder))
  wait_until("delta", function()
    return label("delta")
  end)
  local old = label("delta")
  world.write_file(folder .. "/more/delta.lua", "-- once more\n" .. more)
  wait_until("delta to change", function()
    return label("delta") ~= old
  end)
end)
w:stop()

world.finish()
