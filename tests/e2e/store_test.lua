-- The store of last known answers as operators see it: opened, told of, purged, in the way of each other.
-- variants: release asan tsan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local STATE = world.folder .. "/state"
os.execute("rm -rf " .. STATE)

local SETTINGS = "io_threads: 1\nreload: { watch: false }\nbreaker: { enabled: false }\nlinger: { learn: 0% }\n"

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings() },
  overlay = SETTINGS .. "store: { read_slice: 500ms }\nstate_dir: " .. STATE .. "\n",
}

local function store()
  return world.http("GET", w.admin_url .. "/admin/v1/status").json.store
end

-- The engine once more, with other settings of which `lines` are the first; its output and its exit code.
local function once_more(what, lines)
  world.write_file(world.folder .. "/second.yaml", ("%slisten: 127.0.0.1:0\nadmin: { listen: \"\" }\n%s"):format(lines,
    ("network: { allow_private: [%s.0/24], ca_file: %s/tls/ca.pem }\n"):format(world.network, world.folder)))
  return world.shell(("timeout 60 %s/lastcall %s -c examples/farm/lastcall.yaml -c %s/second.yaml"):format(world.build,
    what, world.folder))
end

local function serve(lines)
  return once_more("serve", lines)
end

local function check(lines)
  return once_more("check", lines)
end

local function command(words)
  return world.shell(("%s/lastcall %s --admin %s"):format(world.build, words, w.admin_url))
end

test("with a state_dir there is a store in it, and the status and the metrics tell of it", function()
  local told = store()
  equal("lmdb", told.backend)
  equal(true, told.up)
  equal(1024 * 1024 * 1024, told.max_bytes)
  assert(world.read_file(STATE .. "/store/data.mdb"), "there is no file")
  equal(1, w:metric("store_up"))
  for _, row in ipairs { "entries", "bytes", "found_total", "absent_total", "faults_total", "late_total", "kept_total",
    "dropped_total", "evicted_total", "purged_total", "corrupt_total" } do
    assert(w:metric("store_" .. row), row)
  end
end)

test("a second engine with the same directory does not start, and says who has it", function()
  local said, code = serve("state_dir: " .. STATE .. "\n")
  equal(3, code, said)
  assert(said:find("another engine has it %(process %d+%)"), said)
  assert(said:find("directory of its own", 1, true), said)
  equal(true, store().up)
end)

test("check has nothing against the directory of a running engine", function()
  local said, code = check("state_dir: " .. STATE .. "\n")
  equal(0, code, said)
end)

test("where nothing can be written the engine does not start, and check says so as well", function()
  local lines = "store: { backend: lmdb, path: /dev/null/store }\n"
  local said, code = serve(lines)
  equal(3, code, said)
  assert(said:find("store.path: /dev/null/store", 1, true), said)
  said, code = check(lines)
  assert(code ~= 0, said)
  assert(said:find("second.yaml:1", 1, true), said)
  assert(said:find("cannot be written", 1, true), said)
end)

test("settings that do not say where are refused with their line", function()
  for lines, expected in pairs {
    ["store: { backend: lmdb }\n"] = "neither `store.path` nor `state_dir`",
    ["store: { backend: redis }\n"] = "`store.url` does not say where",
    ["store: { backend: mysql }\n"] = "one of: auto none lmdb redis",
    ["store: { max_size: 1KiB }\n"] = "out of range",
  } do
    local said, code = check(lines)
    assert(code ~= 0, said)
    assert(said:find("second.yaml:1", 1, true), said)
    assert(said:find(expected, 1, true), said)
  end
end)

test("a purge of what is not there changes nothing and says so", function()
  local said, code = command("purge s01")
  equal(0, code, said)
  assert(said:find("forgotten: 0 answers", 1, true), said)
  local reply = world.http("POST", w.admin_url .. "/admin/v1/suppliers/s01/purge", {
    body = world.json.encode { who = "the test", account = "main" }, headers = { "Content-Type: application/json" },
  })
  equal(200, reply.status, reply.raw)
  equal(0, reply.json.purged)
  equal(false, reply.json.changed)
end)

test("a purge of a supplier that there is not is refused", function()
  local said, code = command("purge s0l")
  assert(code ~= 0, said)
  assert(said:find("no supplier is called `s0l`", 1, true), said)
  said, code = command("purge s01 --account mian")
  assert(code ~= 0, said)
  assert(said:find("did you mean `main`", 1, true), said)
end)

-- Waits until what it says is known last is so.
local function known_of(name, is_known)
  world.wait_until(name .. (is_known and " is known" or " is forgotten"), function()
    local entry = world.entry(w:search { suppliers = { name, "s04" }, budget_ms = 1500 }, name)
    return entry ~= nil and (entry.last_known ~= nil) == is_known
  end)
end

test("what suppliers say is kept", function()
  w:search { suppliers = { "s01", "s02", "s03" }, budget_ms = 5000 }
  world.wait_until("it is in the store", function()
    return store().entries >= 3
  end)
  assert(w:metric("store_kept_total") >= 3)
end)

test("an engine that is killed finds its store again, warm", function()
  os.execute("kill -9 " .. w.engine_pid)
  world.wait_until("the engine is gone", function()
    return not world.is_alive(w.engine_pid)
  end)
  world.farm("s01", { fault = "hang_answer" })
  world.farm("s02", { fault = "hang_answer" })
  w:start_engine()
  local told = store()
  equal(true, told.up)
  assert(told.entries >= 3, told.entries)
  known_of("s01", true)
  known_of("s02", true)
  local log = world.read_file(w.engine_log)
  assert(not log:find("begun anew", 1, true), log)
end)

test("what is purged is known no more, and all else is", function()
  local said, code = command("purge s01 --why \"its prices were wrong\"")
  equal(0, code, said)
  assert(said:find("forgotten: 1 answer\n", 1, true), said)
  equal(1, w:metric("store_purged_total"))
  known_of("s01", false)
  known_of("s02", true)
  local events = world.http("GET", w.admin_url .. "/admin/v1/events").raw
  assert(events:find("its prices were wrong", 1, true), events)
end)

test("an engine whose store was damaged starts, says so and begins anew", function()
  os.execute("kill -9 " .. w.engine_pid)
  world.wait_until("the engine is gone", function()
    return not world.is_alive(w.engine_pid)
  end)
  os.execute(("dd if=/dev/urandom of=%s/store/data.mdb bs=4096 count=8 conv=notrunc 2>/dev/null"):format(STATE))
  w:start_engine()
  equal(true, store().up)
  equal(0, store().entries)
  assert(world.read_file(STATE .. "/store/data.mdb.damaged"), "it was not put aside")
  local log = world.read_file(w.engine_log)
  assert(log:find("warning store: begun anew", 1, true), log)
end)

test("without a state_dir there is none, and a purge says what to set", function()
  os.execute("kill -TERM " .. w.engine_pid)
  world.wait_until("the engine is gone", function()
    return not world.is_alive(w.engine_pid)
  end)
  w.options.overlay = SETTINGS
  w:start_engine()
  equal("none", store().backend)
  equal(nil, store().up)
  equal(0, w:metric("store_up"))
  local said, code = command("purge s01")
  assert(code ~= 0, said)
  assert(said:find("set store.backend", 1, true), said)
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
os.execute("rm -rf " .. STATE)
world.finish()
