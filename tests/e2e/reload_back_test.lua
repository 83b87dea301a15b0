-- Ways back: many suppliers of one file at once, rates and tables with their generation, and what is asked in vain.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal = world.test, world.equal
local json = world.json

local bench = reloads.bench("reload_back", { scripts = true })
local folder, row = bench.folder, reloads.row
local SETTINGS, RATES, TABLE = bench.settings, folder .. "/rates.json", folder .. "/properties.tsv"
local TWINS = 12

local function write_supplier(...)
  bench:write(...)
end

local function write_rates(id, usd)
  local now = os.date("!%Y-%m-%dT%H:%M:%SZ")
  world.write_file(RATES, json.encode { id = id, as_of = now, base = "EUR", rates = { USD = usd, JPY = 160 } } .. "\n")
end

local function write_table(name)
  world.write_file(TABLE, "supplier\tcity\tname\nacme\tLON\t" .. name .. "\n")
end

local lines = {
  "suppliers_dir: " .. folder .. "/suppliers",
  "scripts_dir: " .. folder .. "/scripts",
  "fx: { file: " .. RATES .. ", max_age: 36h }",
  "data: { properties: { file: " .. TABLE .. ", key: [supplier, city] } }",
  "suppliers:",
}
for i = 1, TWINS do
  lines[#lines + 1] = ("  twin%d: { uses: acme }"):format(i)
end
world.write_file(SETTINGS, table.concat(lines, "\n") .. "\n")
write_supplier("acme", "s01", "first")
write_supplier("bravo", "s03", "first")
write_rates("first", 1.08)
write_table("Inn")

local w = world.start { population = "healthy", settings = { SETTINGS }, overlay = "reload: { watch: false }" }

local ask = reloads.ask(function()
  return w
end)
local get, status = ask.get, ask.status
local rollback, lastcall, wait_until = ask.rollback, ask.lastcall, ask.wait_until

-- The answer alone.
local function reload(body)
  local answer = ask.reload(body)
  return answer
end

local function nothing_kept(answer)
  equal("[]", #answer.kept == 0 and "[]" or json.encode(answer.kept), "kept")
end

local function labels()
  local found = {}
  for _, supplier in ipairs(status().suppliers) do
    found[supplier.name] = supplier.script
  end
  return found
end

-- The table of rates by which a search converts.
local function rates_id()
  local query = { slices = world.query.slices, travellers = world.query.travellers, currency = "JPY" }
  local reply = w:search { query = query, suppliers = { "acme" }, budget_ms = 8000 }
  equal(200, reply.status, "search")
  for _, offer in ipairs(reply.json.offers) do
    if offer.price.fx then
      return offer.price.fx.id
    end
  end
  return error("nothing was converted: " .. reply.raw:sub(1, 2000))
end

test("all suppliers of a file that fails go back in one generation", function()
  local good = labels()
  write_supplier("acme", "s01", "on trial", "function() error(\"not what I thought\") end")
  local answer = reload()
  equal(TWINS + 1, #answer.changed, "changed")
  -- Only one of them is asked; what it loses is lost for all.
  wait_until("acme to go back", function()
    w:search { suppliers = { "acme" }, budget_ms = 8000 }
    return labels().acme == good.acme
  end)
  local last = status().reload.last
  equal("trial", last.source, "source")
  equal(answer.generation, last.previous, "the bad one was before")
  equal(TWINS + 1, #last.changed, "rows")
  for name, label in pairs(good) do
    equal(label, labels()[name], name)
  end
  local went_back, newest = 0, get("/admin/v1/generations").generations
  for _, event in ipairs(get("/admin/v1/events").events) do
    went_back = went_back + (event.event == "went_back" and 1 or 0)
  end
  equal(TWINS + 1, went_back, "an event of each")
  equal(last.generation, newest[1].generation, "one generation")
  equal(answer.generation, newest[2].generation, "above the bad one")
  local twin = row(reload().kept, "twin3")
  assert(twin.because:find("acme, of the same file, failed: not what I thought", 1, true), twin.because)
  write_supplier("acme", "s01", "mended")
  nothing_kept(reload())
end)

test("rates and tables are rolled back, and what is on the disk waits until it changes", function()
  local number = status().generation
  write_rates("wrong", 108)
  write_table("Wrong")
  local newer = reload()
  equal("changed", row(newer.changed, "fx").fate, "fx")
  equal("changed", row(newer.changed, "properties").fate, "properties")
  equal("wrong", rates_id(), "the wrong ones run")
  local answer = rollback(number)
  equal("published", answer.outcome, "outcome")
  equal("changed", row(answer.changed, "fx").fate, "fx")
  equal("changed", row(answer.changed, "properties").fate, "properties")
  equal("first", rates_id(), "the first ones run")
  for _, each in ipairs { answer, reload() } do
    for _, name in ipairs { "fx", "properties" } do
      local kept = row(each.kept, name)
      assert(kept, name .. " is kept")
      assert(kept.because:find("generation " .. number .. " was rolled back to", 1, true), kept.because)
    end
  end
  equal("first", rates_id(), "a reload does not undo it")
  write_supplier("bravo", "s03", "beside it")
  answer = reload()
  equal("changed", row(answer.changed, "bravo").fate, "scripts move on")
  equal(nil, row(answer.changed, "fx"), "fx")
  equal("changed", row(reload { retry = "properties" }.changed, "properties").fate, "or when somebody says so")
  write_rates("mended", 1.09)
  answer = reload()
  equal("changed", row(answer.changed, "fx").fate, "or when it changes")
  nothing_kept(answer)
  equal("mended", rates_id(), "the mended ones run")
end)

test("a trial that is lost takes no tables or rates back, and none from the disk", function()
  local good = labels().bravo
  write_supplier("bravo", "s03", "on trial", "function() error(\"not what I thought\") end")
  equal("changed", row(reload().changed, "bravo").fate, "bravo")
  write_rates("beside", 1.11)
  wait_until("bravo to go back", function()
    w:search { suppliers = { "bravo" }, budget_ms = 8000 }
    return labels().bravo == good
  end)
  equal("mended", rates_id(), "rates")
  write_supplier("bravo", "s03", "mended")
  reload()
  equal("beside", rates_id(), "rates")
end)

test("a rollback to what runs changes nothing, also when a file is broken", function()
  local number = status().generation
  local file = world.read_file(RATES)
  world.write_file(RATES, "{")
  local answer = rollback(number)
  equal("unchanged", answer.outcome, "outcome")
  equal(number, status().generation, "generation")
  world.write_file(RATES, file)
  nothing_kept(reload())
end)

test("a rollback forth again stays, whatever the next reload finds", function()
  local first = status().generation
  write_supplier("bravo", "s03", "forth and back")
  local settings = world.read_file(SETTINGS)
  world.write_file(SETTINGS, settings .. "deadline: { default: 7s }\n")
  local second = reload().generation
  local newer = labels().bravo
  equal("published", rollback(first).outcome, "back")
  assert(labels().bravo ~= newer, "bravo is rolled back")
  local answer = rollback(second)
  equal("published", answer.outcome, "forth")
  nothing_kept(answer)
  equal(newer, labels().bravo, "bravo runs again")
  answer = reload()
  equal("unchanged", answer.outcome, "what runs lies on the disk")
  nothing_kept(answer)
  equal(newer, labels().bravo, "bravo stays")
  world.write_file(SETTINGS, settings)
  reload()
end)

test("a module that changes does not undo a rollback", function()
  local number, good = status().generation, labels().bravo
  write_supplier("bravo", "s03", "rolled back")
  write_supplier("delta", "s07", "rolled back")
  equal("added", row(reload().changed, "delta").fate, "delta")
  rollback(number)
  local module = world.read_file(folder .. "/scripts/farm.lua")
  world.write_file(folder .. "/scripts/farm.lua", "-- another\n" .. module)
  for _ = 1, 2 do
    local answer = reload()
    equal("kept", row(answer.kept, "bravo").fate, "bravo")
    equal("left_out", row(answer.kept, "delta").fate, "delta")
    equal(good, labels().bravo, "bravo")
    equal(nil, labels().delta, "delta")
  end
  world.write_file(folder .. "/scripts/farm.lua", module)
  write_supplier("bravo", "s03", "mended")
  os.remove(folder .. "/suppliers/delta.lua")
  nothing_kept(reload())
end)

test("two bad versions in a row go back to the good one, and neither comes back by itself", function()
  local good = labels().bravo
  write_supplier("bravo", "s03", "bad", "function() error(\"bad\") end")
  reload()
  write_supplier("bravo", "s03", "worse", "function() error(\"worse\") end")
  reload()
  local worse = labels().bravo
  wait_until("bravo to go back", function()
    w:search { suppliers = { "bravo" }, budget_ms = 8000 }
    return labels().bravo == good
  end)
  equal(worse, row(status().reload.kept, "bravo").on_disk, "on disk")
  local answer = reload()
  equal("unchanged", answer.outcome, "outcome")
  equal(worse, row(answer.kept, "bravo").on_disk, "on disk")
  equal(good, labels().bravo, "the good one runs")
  write_supplier("bravo", "s03", "mended")
  nothing_kept(reload())
end)

test("a version that fails and cannot go back is told as long as it runs", function()
  local settings = world.read_file(SETTINGS)
  local more = "  bravo: { accounts: { main: { options: { region: \"eu\" } } } }\n"
  write_supplier("bravo", "s03", "with a region", "function() error(\"not what I thought\") end")
  local path = folder .. "/suppliers/bravo.lua"
  local script = world.read_file(path):gsub("options = { ", "options = { region = \"us\", ", 1)
  world.write_file(path, script)
  world.write_file(SETTINGS, settings .. more)
  equal("changed", row(reload().changed, "bravo").fate, "bravo")
  local bad = labels().bravo
  local standing = wait_until("the row of bravo", function()
    w:search { suppliers = { "bravo" }, budget_ms = 8000 }
    return row(status().reload.kept, "bravo")
  end)
  for _, each in ipairs { standing, row(reload().kept, "bravo") or {} } do
    equal("failing", each.fate, "fate")
    equal(bad, each.running, "running")
    assert(each.because:find("bravo.lua:19: not what I thought", 1, true), each.because)
    assert(each.because:find("no option `region`", 1, true), each.because)
  end
  local text = lastcall("status")
  assert(text:find("failing +supplier +bravo"), text)
  equal("kept", row(get("/admin/v1/events").events, "bravo").event, "event")
  world.write_file(SETTINGS, settings)
  write_supplier("bravo", "s03", "mended")
  nothing_kept(reload())
end)

test("a retry of what is not held back says so", function()
  local answer = reload { retry = { "nobody", "acme" } }
  equal("unchanged", answer.outcome, "outcome")
  equal(2, #answer.remarks, "remarks")
  equal("nothing called `nobody` is held back", answer.remarks[1].remark, "remark")
  local text, code = lastcall("reload --retry nobody")
  equal(1, code, text)
  assert(text:find("nothing called `nobody` is held back", 1, true), text)
  local number = status().generation
  write_supplier("bravo", "s03", "to be rolled back")
  reload()
  rollback(number)
  equal("did you mean `bravo`?", reload { retry = "brave" }.remarks[1].help, "help")
  answer = reload { retry = "bravo" }
  equal(0, #answer.remarks, "remarks")
  equal("changed", row(answer.changed, "bravo").fate, "bravo")
end)

test("JSON that is no object is called so", function()
  for body, kind in pairs { ["[]"] = "a list", ["null"] = "null", ["1"] = "a number" } do
    local reply = world.http("POST", w.admin_url .. "/admin/v1/reload",
      { body = body, headers = { "Content-Type: application/json" } })
    equal(400, reply.status, body)
    equal("expected an object, not " .. kind, reply.json.errors[1].detail, body)
  end
end)

test("who asks the public listener is told that it is another one", function()
  local text, code = lastcall("reload", w.url)
  equal(5, code, text)
  assert(text:find("is it the admin listener?", 1, true), text)
  assert(not text:find("1,024", 1, true), text)
  text = lastcall("explain 01ARZ3NDEKTSV4RRFFQ69G5FAV")
  assert(text:find("newest 1,024", 1, true), text)
end)

w:stop()

local TRIES = 5

-- Sends its signals to the engine, which it becomes, as soon as they would wait and SIGTERM would still end it.
local EARLY = [=[
pid=$$
(
  while [ -e /proc/$pid ]; do
    blocked=$(sed -n "s/^SigBlk:.*\(........\)$/0x\1/p" /proc/$pid/status) # all of it is no number for this shell
    if [ "$(cat /proc/$pid/comm)" = lastcall ]; then
      if [ $((blocked & 0x4000)) -ne 0 ]; then
        echo late > $EARLY_OUT
        exit
      elif [ $((blocked & 1)) -ne 0 ]; then
        kill -HUP $pid; kill -USR1 $pid; kill -USR2 $pid
        echo early > $EARLY_OUT
        exit
      fi
    fi
  done
) &
exec "$@"
]=]

test("signals that come while it starts wait until it serves", function()
  local out = folder .. "/early.out"
  write_supplier("bravo", "s03", "slow\nlocal n = 0\nfor i = 1, 40000000 do\n  n = n + i % 7\nend")
  world.write_file(folder .. "/early.sh", EARLY)
  local sent
  for attempt = 1, TRIES do -- the time in which they count is short, and a busy machine may miss it
    os.remove(out)
    w = world.start { population = "healthy", settings = { SETTINGS }, overlay = "reload: { watch: false }",
      environment = ("EARLY_OUT=%s sh %s/early.sh"):format(out, folder) }
    wait_until("what the shell says", function() return (world.read_file(out) or ""):find("\n", 1, true) end)
    sent = world.read_file(out)
    if sent == "early\n" or attempt == TRIES then
      break
    end
    w:stop()
  end
  equal("early\n", sent, "when they were sent")
  wait_until("the reload that was asked for", function()
    local last = status().reload.last
    return type(last) == "table" and last.source == "signal"
  end)
end)
w:stop()

world.finish()
