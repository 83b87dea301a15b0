-- The kill matrix: scripts that loop, hang in C and eat memory, each in its own supplier, all at once.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local KILLERS = {
  kill_loop = "script_timeout",
  kill_pcall = "script_timeout",
  kill_bomb = "script_timeout",
  kill_bomb_build = "script_timeout",
  kill_memory = "script_memory",
  kill_strings = "script_memory",
  kill_recursion = "script_timeout",
  kill_handler = "script_timeout",
  kill_sort = "script_timeout",
  kill_callback = "script_timeout",
  kill_metamethods = "script_timeout",
  kill_caught_bomb = "script_timeout",
}

local w = world.start {
  population = "healthy",
  settings = { world.settings_without_ceilings() },
  overlay = "suppliers_dir: [examples/farm/suppliers, suppliers, tests/e2e/suppliers, tests/e2e/killers]\n"
    .. "deadline: { max: 60s }\n", -- a busy machine needs them
}

local farm_names = {}
for i = 1, 40 do
  farm_names[i] = ("s%02d"):format(i)
end

local function outcomes(reply)
  local list = {}
  for _, entry in ipairs(reply.json.suppliers) do
    if not KILLERS[entry.name] and entry.outcome ~= "disabled" then
      list[#list + 1] = entry.name .. "=" .. entry.outcome .. "/" .. tostring(entry.offers)
    end
  end
  table.sort(list)
  return table.concat(list, " ")
end

local before

test("without the killers everybody answers", function()
  local reply = w:search { budget_ms = 60000, suppliers = farm_names }
  equal(40, reply.json.coverage.answered, "answered")
  before = outcomes(reply)
end)

test("with all killers at once the others' outcomes do not change", function()
  for round = 1, 5 do
    local reply = w:search { budget_ms = 60000 }
    equal(200, reply.status, "status of round " .. round)
    equal(before, outcomes(reply), "outcomes of round " .. round)
    for name, outcome in pairs(KILLERS) do
      local entry = world.entry(reply, name)
      -- A busy machine may reach the time limit before the memory limit; from the second round on some are quarantined.
      local is_fine = entry.outcome == outcome or entry.outcome == "script_timeout"
        or (round > 1 and entry.outcome == "script_error")
      assert(is_fine, name .. ": " .. world.json.encode(entry))
    end
  end
end)

test("what used up its time again and again is quarantined", function()
  local names = { "kill_bomb", "kill_bomb_build", "kill_sort" }
  for _ = 1, 5 do -- the first rounds may have met a machine too busy to ask them all
    w:search { budget_ms = 60000, suppliers = names }
  end
  local reply = w:search { budget_ms = 60000, suppliers = names }
  for _, entry in ipairs(reply.json.suppliers) do
    equal("script_error", entry.outcome, entry.name)
    assert(entry.detail:match("quarantine"), entry.name .. " says " .. entry.detail)
  end
end)

-- Under the thread sanitizer signals wait for a call of the library: who used up its time may count as stuck.
local is_tsan = os.getenv("LASTCALL_VARIANT") == "tsan"

test("status and metrics say which scripts are in quarantine, and why", function()
  local text, code = world.shell(("%s/lastcall status --admin %s"):format(world.build, w.admin_url))
  equal(0, code, text)
  assert(text:match("kill_bomb +on +quarantined: "), text)
  local met = text:match("kill_bomb +on +quarantined: [^\n]*\n +limits met: (%a+) %d+\n")
  assert(met == "time" or is_tsan and met == "stuck", text)
  assert(not text:match("s01 +on +quarantined"), text)
  local metrics = world.http("GET", w.admin_url .. "/metrics").raw
  for name, value in pairs { kill_bomb = 1, kill_bomb_build = 1, s01 = 0 } do
    local line = ("\nlastcall_script_quarantined{supplier=\"%s\"} %d\n"):format(name, value)
    assert(metrics:find(line, 1, true), "no line" .. line)
  end
end)

test("metrics count the limits that scripts have met, by supplier and limit", function()
  local metrics = world.http("GET", w.admin_url .. "/metrics").raw
  for _, name in ipairs { "kill_bomb", "kill_bomb_build", "kill_loop", "kill_sort" } do
    local line = "\nlastcall_script_limits_total{supplier=\"%s\",limit=\"%s\"} "
    local is_stuck = is_tsan and metrics:find(line:format(name, "stuck"), 1, true)
    assert(is_stuck or metrics:find(line:format(name, "time"), 1, true), name)
  end
  assert(not metrics:find("lastcall_script_limits_total{supplier=\"s01\"", 1, true), "s01 met no limit")
end)

test("no thread was lost", function()
  local lost = world.http("GET", w.admin_url .. "/metrics").raw:match("\nlastcall_script_workers_lost (%d+)")
  assert(lost == "0" or is_tsan, lost .. " threads are lost")
  equal(200, world.http("GET", w.url .. "/readyz").status, "readyz")
end)

w:stop()
world.finish()
