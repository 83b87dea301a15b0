-- How an engine ends: readiness goes first, searches are finished, records and log are written, and it exits with 0,
-- whatever hangs around it.
package.path = "./?.lua;" .. package.path
local ffi = require("ffi")
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

-- Steps that the test ends itself are as long as can be; nothing here depends on how fast anything is.
local LONG = "deadline: { default: 2s, min: 100ms, max: 5min }\n"
local SETTINGS = { world.settings_without_ceilings() }
local folder = world.folder

local w = world.start { population = "hanging8", settings = SETTINGS, overlay = LONG .. "drain: 5min\n" }

-- Another engine beside the same farm. What holds it must hold it for a minute to be told from a machine that is busy.
local function again(overlay, options)
  w.options = { settings = SETTINGS, overlay = LONG .. overlay }
  for key, value in pairs(options or {}) do
    w.options[key] = value
  end
  w.options.environment = "LASTCALL__SHUTDOWN__FLUSH=1min " .. (w.options.environment or "")
  if not w:wait_engine(0) then -- a test has failed
    w:signal("KILL")
    w:exit_code()
  end
  w:start_engine()
end

local function wait_until(what, probe)
  for _ = 1, 1500 do
    if probe() then
      return
    end
    world.sleep_ms(20)
  end
  error("never: " .. what .. "\n" .. w:engine_output())
end

local function says(words)
  wait_until("the log says: " .. words, function()
    return w:engine_output():find(words, 1, true)
  end)
end

-- It ended by itself, and well.
local function expect_end()
  assert(w:wait_engine(90), "the engine does not end:\n" .. w:engine_output())
  if not w.options.log then
    local output = w:engine_output()
    assert(output:find("engine: stopped", 1, true), "the log does not say stopped: " .. output)
    assert(not output:find("Sanitizer", 1, true), output)
  end
  equal(0, w:exit_code(), "exit code")
end

-- So many searches at once in the background, each with its own files.
local function begin(count, fields, accept)
  local body = { product = "flights", query = world.query }
  for key, value in pairs(fields) do
    body[key] = value
  end
  os.execute(("rm -f %s/life.out.* %s/life.code.*"):format(folder, folder))
  world.write_file(folder .. "/life.json", world.json.encode(body))
  local curl = "curl -sS --max-time 400 -o %s/life.out.$i -w '%%{http_code}' -H 'Content-Type: application/json' "
    .. "-H 'Accept: %s' --data-binary @%s/life.json %s/v1/search >%s/life.code.$i 2>&1"
  os.execute(("for i in $(seq %d); do ( %s ; echo ' ended' >>%s/life.code.$i ) & done"):format(count,
    curl:format(folder, accept or "application/json", folder, w.url, folder), folder))
end

-- What became of them: HTTP status and body of each; it waits until all have ended.
local function ended(count)
  local list = {}
  for i = 1, count do
    local code
    wait_until("search " .. i .. " ends", function()
      code = (world.read_file(("%s/life.code.%d"):format(folder, i)) or ""):match("^(.*) ended")
      return code
    end)
    list[i] = { status = tonumber(code) or code, raw = world.read_file(("%s/life.out.%d"):format(folder, i)) or "" }
    local is_json, decoded = pcall(world.json.decode, list[i].raw)
    list[i].json = is_json and decoded or nil
  end
  return list
end

-- Requests that a supplier holds, neither answered nor given up by us.
local function held(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier.requests - supplier.answered - supplier.refused - supplier.abandoned
    end
  end
  error("no supplier " .. name)
end

local function wait_until_held(name, count)
  wait_until(count .. " requests at " .. name, function()
    return held(name) >= count
  end)
end

local function ready()
  return world.http("GET", w.url .. "/readyz")
end

-- ------------------------------------------------------------------------------------------------------------- drain

test("50 suspended searches are answered", function()
  begin(50, { budget_ms = 8000, suppliers = { "s05" } })
  wait_until_held("s05", 50)
  w:signal("TERM")
  says("draining signal=Terminated notice_ms=0")
  for i, reply in ipairs(ended(50)) do
    equal(504, reply.status, "status of search " .. i)
    equal("no_answer", reply.json and reply.json.code, "code of search " .. i)
  end
  expect_end()
end)

test("streams go on to their end", function()
  again("drain: 5min\n")
  begin(5, { budget_ms = 8000, suppliers = { "s01", "s05" } }, "text/event-stream")
  wait_until_held("s05", 5)
  w:signal("INT")
  says("draining signal=Interrupt")
  for i, reply in ipairs(ended(5)) do
    equal(200, reply.status, "status of stream " .. i)
    assert(reply.raw:find("\nevent: done\n", 1, true), "stream " .. i .. " is whole")
  end
  expect_end()
end)

-- The records of searches that asked s05.
local function records()
  local list = {}
  for line in (world.read_file(folder .. "/life.ndjson") or ""):gmatch("[^\n]+") do
    if line:find('"s05"', 1, true) then
      list[#list + 1] = world.json.decode(line)
    end
  end
  os.execute(("rm -f %s/life.ndjson"):format(folder))
  return list
end

-- Searches that were ended before their time: the record tells by whom, and not that their callers had left.
local function expect_records(count, status)
  local list = records()
  equal(count, #list, "records")
  for _, record in ipairs(list) do
    equal(status, record.status, "status of a record")
    equal("shutdown", record.budget.from, "who decided the budget")
    assert(not record.cancelled, "nobody had left")
    for _, supplier in ipairs(record.suppliers) do
      assert(supplier.outcome ~= "cancelled", "outcome of " .. supplier.name)
    end
  end
end

local RECORDS = "attribution: { file: " .. folder .. "/life.ndjson }\n"

-- Each has an answer of s01 and waits for s05.
local function expect_partial(count)
  for i, reply in ipairs(ended(count)) do
    equal(200, reply.status, "status of search " .. i)
    equal("shutdown", reply.json.budget.from, "who decided the budget")
    equal("answered", world.entry(reply, "s01").outcome, "outcome of s01")
    equal("cut", world.entry(reply, "s05").outcome, "outcome of s05")
    equal("budget", world.entry(reply, "s05").bound, "bound of s05")
    assert(#reply.json.offers > 0, "it has offers")
  end
end

-- Searches that have all of s01 and wait for s05.
local function begin_half(count)
  local before = world.farm_stats().suppliers
  begin(count, { budget_ms = 300000, suppliers = { "s01", "s05" } })
  wait_until_held("s05", count)
  for _, supplier in ipairs(before) do
    if supplier.name == "s01" then
      wait_until("s01 has answered", function()
        for _, now in ipairs(world.farm_stats().suppliers) do
          if now.name == "s01" then
            return now.answered >= supplier.answered + count
          end
        end
      end)
    end
  end
  for _ = 1, 3 do -- what came before these has been read by the script, too
    equal(200, w:search({ budget_ms = 60000, suppliers = { "s01" } }).status, "a search behind them")
  end
end

test("what does not end within `drain` replies with what it has", function()
  again("drain: 5s\n" .. RECORDS)
  begin_half(3)
  w:signal("TERM")
  expect_partial(3)
  expect_end()
  assert(w:engine_output():find("draining took too long", 1, true), "the log says so")
  expect_records(3, 200)
end)

test("a stream that does not end within `drain` is done with what it has", function()
  again("drain: 200ms\n" .. RECORDS)
  begin(3, { budget_ms = 300000, suppliers = { "s01", "s05" } }, "text/event-stream")
  wait_until_held("s05", 3)
  w:signal("TERM")
  for i, reply in ipairs(ended(3)) do
    equal(200, reply.status, "status of stream " .. i)
    assert(reply.raw:find("\nevent: done\n", 1, true), "stream " .. i .. " is whole:\n" .. reply.raw)
    assert(reply.raw:find('"from":"shutdown"', 1, true), "stream " .. i .. " says why")
  end
  expect_end()
  equal(3, #records(), "records")
end)

test("who has no answer by then is told that nobody has answered", function()
  again("drain: 200ms\n" .. RECORDS)
  begin(3, { budget_ms = 300000, suppliers = { "s05" } })
  wait_until_held("s05", 3)
  w:signal("TERM")
  for i, reply in ipairs(ended(3)) do
    equal(504, reply.status, "status of search " .. i)
    equal("no_answer", reply.json and reply.json.code, "code of search " .. i)
  end
  expect_end()
  expect_records(3, 504)
end)

test("a second signal means now, while searches are finished", function()
  again("drain: 5min\n" .. RECORDS)
  begin_half(3)
  w:signal("TERM")
  wait_until("without a notice new connections are refused at once", function()
    return ready().curl == 7
  end)
  assert(not w:wait_engine(0), "it is still there")
  w:signal("TERM")
  expect_partial(3)
  expect_end()
  assert(w:engine_output():find("second signal: open searches end", 1, true), "the log says so")
  expect_records(3, 200)
end)

-- ------------------------------------------------------------------------------------------------------------ notice

test("a notice takes readiness away, and nothing else", function()
  again("drain: 5min\nshutdown: { notice: 10min }\nattribution: { file: " .. folder .. "/life.ndjson }\n")
  w:signal("TERM")
  wait_until("it is not ready", function()
    return ready().status == 503
  end)
  local reply = ready()
  equal("draining\n", reply.raw, "why it is not ready")
  equal("close", reply.headers.connection, "Connection")
  equal(200, world.http("GET", w.url .. "/healthz").status, "health")
  reply = w:search { budget_ms = 20000, suppliers = { "s01" } }
  equal(200, reply.status, "a search on a new connection")
  equal("answered", world.entry(reply, "s01").outcome, "outcome")
  equal("close", reply.headers.connection, "Connection of a reply")
  local status = world.http("GET", w.admin_url .. "/admin/v1/status").json
  equal(true, status.draining, "draining, as the operators see it")
end)

test("other signals mean what they mean meanwhile", function()
  os.execute(("mv %s/life.ndjson %s/life.ndjson.1"):format(folder, folder))
  w:signal("USR1")
  w:signal("HUP")
  wait_until("the file is opened again", function()
    return world.read_file(folder .. "/life.ndjson")
  end)
  local reply = w:search { budget_ms = 20000, suppliers = { "s01" } }
  equal(200, reply.status, "a search")
  equal(503, ready().status, "readiness")
end)

test("a second signal means now, while the notice runs", function()
  begin(1, { budget_ms = 300000, suppliers = { "s05" } })
  wait_until_held("s05", 1)
  w:signal("INT")
  equal(504, ended(1)[1].status, "status")
  expect_end()
  assert((world.read_file(folder .. "/life.ndjson") or ""):find('"product":"flights"', 1, true), "records are written")
end)

test("after its notice it ends by itself, and a search of that time is answered", function()
  again("drain: 5min\nshutdown: { notice: 3s }\n")
  w:signal("TERM")
  says("draining signal=Terminated notice_ms=3000")
  begin(1, { budget_ms = 8000, suppliers = { "s05" } })
  -- On a machine that is very busy it may come after the notice: then nobody is there.
  local reply = ended(1)[1]
  assert(reply.status == 504 or reply.raw == "", "status " .. tostring(reply.status))
  expect_end()
end)

-- ---------------------------------------------------------------------------------------------------- what may hang

ffi.cdef [[
int socket(int domain, int type, int protocol);
int bind(int fd, const void *address, unsigned length);
int connect(int fd, const void *address, unsigned length);
long send(int fd, const void *bytes, size_t length, int flags);
int close(int fd);
struct life_address { uint16_t family; uint8_t port[2], host[4], zero[8]; };
]]

local function address(host, port)
  local a, b, c, d = host:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  local made = ffi.new("struct life_address")
  made.family = 2
  made.port[0], made.port[1] = math.floor(port / 256), port % 256
  made.host[0], made.host[1], made.host[2], made.host[3] = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  return made
end

test("name servers that say nothing hold nobody", function()
  local server = world.network .. ".252"
  local silent = ffi.C.socket(2, 2, 0)
  local place = address(server, 5399)
  equal(0, ffi.C.bind(silent, place, ffi.sizeof(place)), "a socket that nobody reads")
  again("drain: 5min\n", { environment = ("LASTCALL__DNS__SERVERS=%s:5399"):format(server) })
  begin(2, { budget_ms = 5000, suppliers = { "s01" } })
  w:signal("TERM")
  for _, reply in ipairs(ended(2)) do
    -- A busy machine may take the signal first.
    local entry = reply.json and world.entry(reply, "s01")
    assert(reply.status == 504 and entry.phase == "dns" or reply.raw == "" or reply.status == 503, reply.raw)
  end
  expect_end()
  ffi.C.close(silent)
end)

test("scripts that never end by themselves hold nobody", function()
  again("drain: 5min\nsuppliers_dir: [examples/farm/suppliers, suppliers, tests/e2e/killers]\n")
  begin(10, { budget_ms = 8000, suppliers = { "kill_handler", "kill_metamethods", "s05" } })
  wait_until_held("s05", 10)
  w:signal("TERM")
  for i, reply in ipairs(ended(10)) do
    equal(504, reply.status, "status of search " .. i)
  end
  expect_end()
end)

-- Connections that have sent so much of a request.
local function callers(port, count, bytes)
  local list = {}
  for i = 1, count do
    local place = address("127.0.0.1", port)
    list[i] = ffi.C.socket(2, 1, 0)
    equal(0, ffi.C.connect(list[i], place, ffi.sizeof(place)), "connection")
    equal(#bytes, tonumber(ffi.C.send(list[i], bytes, #bytes, 0x4000)), "sent")
  end
  return list
end

test("callers who rest hold nobody: nothing sent, half a head, half a body, operators too", function()
  again("drain: 300ms\n")
  local head = "POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
  local open = {}
  for _, bytes in ipairs { "", "GET /re", head } do
    open[#open + 1] = callers(w.port, 5, bytes)
    open[#open + 1] = callers(w.port + 1000, 5, bytes)
  end
  equal(200, world.http("GET", w.admin_url .. "/admin/v1/status").status, "the status")
  w:signal("TERM")
  expect_end()
  for _, list in ipairs(open) do
    for _, fd in ipairs(list) do
      ffi.C.close(fd)
    end
  end
end)

local holders = {} -- of pipes, by the path

-- A pipe that is full, with somebody at its other end who does not read.
local function full_pipe(path)
  os.execute(("rm -f %s && mkfifo %s"):format(path, path))
  local fill = "sh -c 'exec 3<>%s; head -c 65536 /dev/zero >&3; echo full; exec sleep 600'"
  holders[path] = world.spawn(fill:format(path), folder .. "/life.holder")
  wait_until("the pipe is full", function()
    return (world.read_file(folder .. "/life.holder") or ""):find("full", 1, true)
  end)
end

test("records that go into a pipe which nobody reads hold nobody", function()
  local path = folder .. "/life.pipe"
  full_pipe(path)
  again("drain: 5min\nattribution: { file: " .. path .. " }\n")
  equal(200, w:search({ budget_ms = 20000, suppliers = { "s01" } }).status, "a search")
  begin(20, { budget_ms = 5000, suppliers = { "s05" } })
  wait_until_held("s05", 20)
  w:signal("TERM")
  for _, reply in ipairs(ended(20)) do
    equal(504, reply.status, "status")
  end
  expect_end()
end)

test("records that go onto a full disk hold nobody", function()
  again("drain: 5min\nattribution: { file: /dev/full }\n")
  equal(200, w:search({ budget_ms = 20000, suppliers = { "s01" } }).status, "a search")
  w:signal("TERM")
  expect_end()
  assert(w:engine_output():find("a record could not be written", 1, true), "the log says so")
end)

test("a log that nobody reads holds nobody", function()
  local path = folder .. "/life.log"
  full_pipe(path)
  again("drain: 5min\nlog_level: debug\n", { log = path })
  equal(200, w:search({ budget_ms = 20000, suppliers = { "s01" } }).status, "a search")
  begin(3, { budget_ms = 5000, suppliers = { "s05" } })
  wait_until_held("s05", 3)
  w:signal("TERM")
  for _, reply in ipairs(ended(3)) do
    equal(504, reply.status, "status")
  end
  expect_end()
end)

w:stop()
for _, holder in pairs(holders) do
  world.terminate(holder)
end
os.execute(("rm -f %s/life.*"):format(folder))
world.finish()
