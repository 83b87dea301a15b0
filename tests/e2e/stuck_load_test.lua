-- A file that never ends while it is loaded, in a pattern: told as a finding, and no reason to hang.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local folder = world.folder
local settings = folder .. "/stuck.yaml"
local log = folder .. "/stuck.log"

world.shell("mkdir -p " .. folder)
world.write_file(settings, table.concat({
  "listen: 127.0.0.1:0",
  "admin: { listen: '' }",
  "suppliers_dir: tests/e2e/stuck",
  "scripts_dir: scripts",
  "",
}, "\n"))

test("check tells the stuck file and all others, and exits with 3", function()
  local text, code = world.shell(("%s/lastcall check -c %s"):format(world.build, settings))
  assert(text:find("tests/e2e/stuck/boom.lua: error[E0501]: the file runs for more than 2 s", 1, true), text)
  assert(text:find("help: move the work into a function", 1, true), text)
  assert(text:find("tests/e2e/stuck/other.lua: error[E0203]: a supplier's file must return a table", 1, true), text)
  assert(text:find("2 findings", 1, true), text)
  equal(3, code, "exit code")
end)

test("serve does not start with it, and says why", function()
  local text, code = world.shell(("%s/lastcall serve -c %s"):format(world.build, settings))
  assert(text:find("boom.lua: error[E0501]: the file runs", 1, true), text)
  equal(3, code, "exit code")
end)

-- Processor time of a process, in ticks; nil: it is gone.
local function ticks(pid)
  local stat = world.read_file("/proc/" .. pid .. "/stat")
  local rest = stat and stat:match("%) (.*)")
  if not rest or rest:match("^Z") then
    return nil
  end
  local user = rest:match("^%S+" .. (" %S+"):rep(10) .. " (%d+)")
  return tonumber(user)
end

test("SIGTERM ends an engine that is loading it", function()
  local pid = world.shell(("%s/lastcall serve -c %s >%s 2>&1 </dev/null & echo $!"):format(world.build, settings, log))
    :match("%d+")
  while ticks(pid) and ticks(pid) < 20 do
    world.sleep_ms(20)
  end
  local was_loading = ticks(pid) ~= nil
  world.shell("kill -TERM " .. pid)
  for _ = 1, 3000 do
    if not ticks(pid) then
      break
    end
    world.sleep_ms(20)
  end
  equal(nil, ticks(pid), "processor time of what should be gone")
  local text = world.read_file(log)
  assert(not was_loading or not text:find("error:", 1, true), "it went on loading: " .. text)
end)

world.finish()
