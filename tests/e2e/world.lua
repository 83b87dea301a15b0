-- World: a farm and an engine on loopback for one test file, and the words to talk to them.
--
--   local world = require("tests.e2e.world")
--   local w = world.start { population = "healthy" }
--   local reply = w:search { suppliers = { "s01" }, budget_ms = 300 }
--   w:stop()
--
-- Run from the project's root by luajit; LASTCALL_BUILD names the build folder (default .build/release).
local json = require("cjson")

-- The interpreter of a long test has died of SIGSEGV once, beside an engine that was well. Its compiled code is the
-- suspect, and tests that wait need none.
if jit then
  jit.off()
end

local M = {}
local World = {}
World.__index = World

M.build = os.getenv("LASTCALL_BUILD") or ".build/release"
M.shared = os.getenv("LASTCALL_SHARED") or "../shared"
-- Not the quickstart's 127.0.40, so that both can run at once.
M.network = os.getenv("LASTCALL_NETWORK") or "127.0.41"
-- The engine's, and 1000 more for its admin listener: each network has its own.
M.port = 18480 + 10 * (tonumber(M.network:match("^127%.%d+%.(%d+)$")) - 41)
-- Where tests write; each network has its own, so that two of them can run at the same time.
M.folder = M.build .. "/e2e/" .. M.network
os.execute("mkdir -p " .. M.folder)
local ADMIN = "http://" .. M.network .. ".254:9999"
M.farm_url = ADMIN
M.json = json

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local content = file:read("*a")
  file:close()
  return content
end

local function write_file(path, content)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
end

M.read_file = read_file
M.write_file = write_file

-- Runs a shell command; returns its output and exit code.
function M.shell(command)
  local pipe = assert(io.popen("{ " .. command .. " ; } 2>&1; echo \"\n$?\""))
  local output = pipe:read("*a")
  pipe:close()
  local text, code = output:match("^(.*)\n(%d+)\n$")
  return text, tonumber(code)
end

local function sleep_ms(ms)
  os.execute(string.format("sleep %.3f", ms / 1000))
end
M.sleep_ms = sleep_ms

-- Starts a program in the background; returns its process id. Its exit code goes to LOG.code.
local function spawn(command, log)
  os.execute("rm -f " .. log .. ".code")
  local pipe = assert(io.popen(string.format(
    "( %s >%s 2>&1 </dev/null & echo $!; exec >/dev/null 2>&1; wait $!; echo $? >%s.code ) &", command, log, log)))
  local pid = tonumber(pipe:read("*l"))
  pipe:close()
  return pid
end

M.spawn = spawn

local function is_alive(pid)
  local stat = read_file("/proc/" .. pid .. "/stat")
  return stat ~= nil and not stat:match("%) Z ")
end
M.is_alive = is_alive

-- HTTP through curl: status, headers (lower case), body (decoded when JSON), raw body.
function M.http(method, url, options)
  options = options or {}
  local id = os.tmpname()
  local parts = { "curl -sS -o " .. id .. ".out -D " .. id .. ".head -X " .. method }
  parts[#parts + 1] = "--max-time " .. (options.max_time or 20)
  for _, header in ipairs(options.headers or {}) do
    parts[#parts + 1] = "-H '" .. header .. "'"
  end
  if options.body then
    write_file(id .. ".in", options.body)
    parts[#parts + 1] = "--data-binary @" .. id .. ".in"
  end
  parts[#parts + 1] = "'" .. url .. "'"
  local text, code = M.shell(table.concat(parts, " "))
  local head, body = read_file(id .. ".head") or "", read_file(id .. ".out") or ""
  os.execute("rm -f " .. id .. " " .. id .. ".*")
  local headers = {}
  for name, value in head:gmatch("\n([^:\r\n]+):%s*([^\r\n]*)") do
    headers[name:lower()] = value
  end
  local reply = {
    curl = code,
    curl_text = text,
    status = tonumber(head:match("^HTTP/%S+ (%d+)")),
    headers = headers,
    raw = body,
  }
  local is_json, decoded = pcall(json.decode, body)
  reply.json = is_json and type(decoded) == "table" and decoded or nil
  return reply
end

-- One supplier's entry of a reply.
function M.entry(reply, name)
  for _, supplier in ipairs(reply.json and reply.json.suppliers or {}) do
    if supplier.name == name then
      return supplier
    end
  end
  return nil
end

M.query = {
  slices = { { origin = "LHR", destination = "JFK", date = "2030-05-14" } },
  travellers = { { type = "adult" } },
  currency = "EUR",
}

-- Of a log that is a pipe nothing is told: to read it would be to wait.
local function log_of(log)
  return os.execute("test -f " .. log) == 0 and read_file(log) or ""
end

local function wait_for(what, seconds, probe, pid, log)
  local deadline = os.time() + seconds
  while os.time() <= deadline do
    if not is_alive(pid) then
      error(what .. " ended at once:\n" .. log_of(log))
    end
    if probe() then
      return
    end
    sleep_ms(50)
  end
  error(what .. " did not come up:\n" .. log_of(log))
end
M.wait_for = wait_for

-- options: population (name under examples/farm/populations, or a path), seed, overlay (YAML text read last),
-- settings (list of files instead of examples/farm/lastcall.yaml), files (farm --file arguments), environment, no_farm,
-- no_engine, farm_arguments (more words for the farm's command line),
-- without_breakers (for tests of something else whose suppliers fail again and again),
-- before_engine (called between the two), log (where the engine's output goes),
-- folder (of a second engine in one test),
function M.start(options)
  local w = setmetatable({ options = options, port = options.port or M.port }, World)
  w.folder = options.folder or M.folder
  w.url = "http://127.0.0.1:" .. w.port
  w.admin_url = "http://127.0.0.1:" .. w.port + 1000
  if M.http("GET", w.url .. "/healthz").status then
    error("something answers at " .. w.url .. " already")
  end
  if not options.no_farm then
    w:start_farm()
  end
  local is_fine, why = xpcall(function()
    if options.before_engine then
      options.before_engine(w)
    end
    if not options.no_engine then
      w:start_engine()
    end
  end, debug.traceback)
  if not is_fine then
    w:stop()
    error(why)
  end
  return w
end

function World:start_farm()
  local options = self.options
  local population = options.population or "brief"
  if not population:find("/", 1, true) then
    population = "examples/farm/populations/" .. population .. ".txt"
  end
  local command = {
    M.build .. "/examples/farm/farm --network " .. M.network .. " --population " .. population,
    "--seed " .. (options.seed or 1),
    "--tls-dir " .. self.folder .. "/tls",
    options.farm_arguments,
  }
  for _, file in ipairs(options.files or {}) do
    command[#command + 1] = "--file " .. file
  end
  self.farm_log = self.folder .. "/farm.log"
  self.farm_pid = spawn(table.concat(command, " "), self.farm_log)
  wait_for("the farm", 20, function()
    return M.http("GET", ADMIN .. "/stats").status == 200
  end, self.farm_pid, self.farm_log)
end

function World:start_engine()
  local options = self.options
  local overlay = self.folder .. "/overlay.yaml"
  -- A farm without TLS makes no authority.
  local authority = ""
  if read_file(M.folder .. "/tls/ca.pem") then
    authority = ", ca_file: " .. M.folder .. "/tls/ca.pem"
  end
  local without = options.without_breakers and "breaker: { enabled: false }\nlinger: { learn: 0% }\n" or ""
  local settings = {
    ("listen: 127.0.0.1:%d"):format(self.port),
    ("admin: { listen: \"127.0.0.1:%d\" }"):format(self.port + 1000),
    ("network: { allow_private: [%s.0/24]%s }"):format(M.network, authority),
    ("dns: { servers: [\"%s.253:5300\"] }"):format(M.network),
    without .. (options.overlay or ""),
    "",
  }
  write_file(overlay, table.concat(settings, "\n"))
  local command = { (options.environment or "") .. " " .. M.build .. "/lastcall serve" }
  for _, file in ipairs(options.settings or { "examples/farm/lastcall.yaml" }) do
    command[#command + 1] = "-c " .. file
  end
  command[#command + 1] = "-c " .. overlay
  self.engine_log = options.log or self.folder .. "/engine.log"
  self.engine_pid = spawn(table.concat(command, " "), self.engine_log)
  wait_for("the engine", 60, function()
    return M.http("GET", self.url .. "/readyz").status == 200
  end, self.engine_pid, self.engine_log)
end

-- The example's settings in a file, with ceilings so high that only budgets end what is slow on a busy machine.
function M.settings_without_ceilings()
  local path = M.folder .. "/without_ceilings.yaml"
  local settings = read_file("examples/farm/lastcall.yaml"):gsub("    ceiling: %d+ms\n", "")
  write_file(path, (settings:gsub("    uses: farm_%l\n", "%0    ceiling: 20s\n")))
  return path
end

-- A search with the given body fields over the default query.
function World:search(fields, headers)
  local body = { product = "flights", query = M.query }
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  local all = { "Content-Type: application/json" }
  for _, header in ipairs(headers or {}) do
    all[#all + 1] = header
  end
  return M.http("POST", self.url .. "/v1/search", { body = json.encode(body), headers = all,
    max_time = 20 + math.max(0, math.ceil((tonumber(body.budget_ms) or 0) / 1000)) })
end

-- Changes a supplier of the farm while it runs.
function M.farm(name, change)
  local reply = M.http("POST", ADMIN .. "/supplier/" .. name,
    { body = json.encode(change), headers = { "Content-Type: application/json" } })
  assert(reply.status == 200, "the farm refused: " .. tostring(reply.status) .. " " .. reply.raw)
end

function M.farm_stats()
  return M.http("GET", ADMIN .. "/stats").json
end

-- How many requests the farm has had for a supplier.
function M.farm_requests(name)
  for _, supplier in ipairs(M.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier.requests
    end
  end
end

-- A line of the metrics as a number: a supplier's, or of a row without labels; nil: there is none.
function World:metric(row, supplier)
  local text = M.http("GET", self.admin_url .. "/metrics").raw
  if not supplier then
    return tonumber(text:match(("\nlastcall_%s (%%S+)\n"):format(row)))
  end
  return tonumber(text:match(("\nlastcall_%s{supplier=\"%s\"} (%%S+)\n"):format(row, supplier)))
end

-- Until `probe` says so; an error after a minute, which is for what goes wrong.
function M.wait_until(what, probe)
  for _ = 1, 1200 do
    if probe() then
      return
    end
    sleep_ms(50)
  end
  error("never: " .. what)
end

-- One account of a supplier, as the status tells it.
function World:account(name, which)
  local status = M.http("GET", self.admin_url .. "/admin/v1/status").json
  for _, supplier in ipairs(status.suppliers) do
    for _, account in ipairs(supplier.name == name and supplier.accounts or {}) do
      if account.name == (which or "main") then
        return account
      end
    end
  end
  error("no account of " .. name)
end

-- Waits until a supplier that said 429 may be asked again.
function World:wait_until_free(name)
  for _ = 1, 600 do
    if not self:account(name).blocked_until then
      return
    end
    sleep_ms(50)
  end
  error(name .. " stays blocked")
end

-- What the engine's process holds: resident KiB, threads, descriptors, the room and the limit for them.
function World:usage()
  local status = read_file("/proc/" .. self.engine_pid .. "/status") or ""
  local limits = read_file("/proc/" .. self.engine_pid .. "/limits") or ""
  local count = M.shell("ls /proc/" .. self.engine_pid .. "/fd | wc -l")
  return {
    resident_kib = tonumber(status:match("VmRSS:%s*(%d+)")),
    threads = tonumber(status:match("Threads:%s*(%d+)")),
    descriptors = tonumber(count),
    descriptor_room = tonumber(status:match("FDSize:%s*(%d+)")),
    descriptor_limit = tonumber(limits:match("Max open files%s+(%d+)")),
  }
end

function M.print_usage(before, after)
  print(("# resident %d -> %d KiB, threads %d -> %d, descriptors %d -> %d"):format(before.resident_kib,
    after.resident_kib, before.threads, after.threads, before.descriptors, after.descriptors))
end

function World:signal(name)
  os.execute(string.format("kill -%s %d", name, self.engine_pid))
end

-- Waits for the engine to end; true when it did within the seconds.
function World:wait_engine(seconds)
  for _ = 1, seconds * 50 do
    if not is_alive(self.engine_pid) then
      return true
    end
    sleep_ms(20)
  end
  return not is_alive(self.engine_pid)
end

-- The exit code of an engine that has ended; 128 and more: of a signal.
function World:exit_code()
  for _ = 1, 500 do
    local code = tonumber(read_file(self.engine_log .. ".code") or "")
    if code then
      return code
    end
    sleep_ms(20)
  end
  error("the engine has no exit code")
end

function World:engine_output()
  return log_of(self.engine_log)
end

-- Ends a program that was spawned: first as asked, then for good.
function M.terminate(pid)
  if not is_alive(pid) then
    return
  end
  os.execute("kill -TERM " .. pid)
  for _ = 1, 600 do
    if not is_alive(pid) then
      return
    end
    sleep_ms(20)
  end
  os.execute("kill -KILL " .. pid)
end

function World:stop()
  for _, pid in ipairs { self.engine_pid or false, self.farm_pid or false } do
    if pid then
      M.terminate(pid)
    end
  end
end

-- The test protocol: `ok NAME`, `not ok NAME` with the reason behind #, `skip NAME why`; exit code by M.finish.
local failed = 0

function M.test(name, body)
  local is_fine, why = xpcall(body, debug.traceback)
  if is_fine then
    print("ok " .. name)
  else
    failed = failed + 1
    print("not ok " .. name)
    print("# " .. tostring(why):gsub("\n", "\n# "))
  end
  io.stdout:flush()
end

function M.skip(name, why)
  print("skip " .. name .. " # " .. why)
  io.stdout:flush()
end

function M.equal(expected, actual, what)
  if expected ~= actual then
    error(string.format("%s: expected %s, got %s", what or "value", tostring(expected), tostring(actual)), 2)
  end
end

function M.finish()
  os.exit(failed == 0 and 0 or 1)
end

return M
