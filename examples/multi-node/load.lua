-- Load: searches at an even rate through the balancer, and what became of each, one line of tabs a search.
--
--   luajit examples/multi-node/load.lua ADDRESS PORT RATE SECONDS BUDGET_MS OUT
--
-- It waits for no answer before it sends the next search. Columns of OUT: when it began and ended (µs since 1970), the
-- status (0: no answer), which engine served it, what the engine says that it took (ms), complete, percent, indicative.
local ffi = require("ffi")
local json = require("cjson")

ffi.cdef [[
struct mn_timeval { long sec, usec; };
int gettimeofday(struct mn_timeval *now, void *zone);
struct mn_pollfd { int fd; short events, revents; };
int poll(struct mn_pollfd *fds, unsigned long count, int timeout_ms);
struct mn_address { unsigned short family, port; unsigned char ip[4]; char zero[8]; };
int socket(int domain, int type, int protocol);
int connect(int fd, const struct mn_address *address, unsigned size);
long send(int fd, const char *bytes, size_t count, int flags);
long recv(int fd, char *bytes, size_t count, int flags);
int close(int fd);
]]

local AF_INET, STREAM_NONBLOCK, NOSIGNAL = 2, 1 + 2048, 0x4000
local POLLIN, POLLOUT = 1, 4
local PATIENCE_US = 10e6
local MOST = 512

local address, port, rate, seconds, budget_ms, out_name = unpack(arg)
port, rate, seconds, budget_ms = tonumber(port), tonumber(rate), tonumber(seconds), tonumber(budget_ms)
local out = assert(io.open(out_name, "w"))

local clock = ffi.new("struct mn_timeval")
local function now_us()
  ffi.C.gettimeofday(clock, nil)
  return tonumber(clock.sec) * 1e6 + tonumber(clock.usec)
end

local peer = ffi.new("struct mn_address", { family = AF_INET })
peer.port = bit.bor(bit.lshift(bit.band(port, 255), 8), bit.rshift(port, 8))
do
  local i = 0
  for number in address:gmatch("%d+") do
    peer.ip[i] = tonumber(number)
    i = i + 1
  end
end

-- Twenty days, so that most queries come again, and not at once.
local function request_of(number)
  local body = json.encode {
    product = "flights",
    query = {
      slices = { { origin = "LHR", destination = "JFK", date = ("2030-09-%02d"):format(number % 20 + 1) } },
      travellers = { { type = "adult" } },
      currency = "EUR",
    },
    budget_ms = budget_ms,
    max_items = 20,
  }
  return table.concat({ "POST /v1/search HTTP/1.1", "Host: searches", "Content-Type: application/json",
    "Connection: close", "Content-Length: " .. #body, "", body }, "\r\n")
end

local open = {}
local bytes = ffi.new("char[?]", 65536)

local function finish(search, status)
  local text = table.concat(search.came)
  local head, body = text:match("^(.-)\r\n\r\n(.*)$")
  local reply
  status = status or tonumber((head or ""):match("^HTTP/%S+ (%d+)")) or 0
  if status == 200 or status == 504 then
    local is_json, decoded = pcall(json.decode, body)
    reply = is_json and type(decoded) == "table" and decoded or nil
    if not reply then
      status = 0 -- it was cut
    end
  end
  local coverage = reply and reply.coverage or {}
  out:write(("%.0f\t%.0f\t%d\t%s\t%s\t%s\t%s\t%s\n"):format(search.begun_us, now_us(), status,
    (head or ""):match("\r\n[Ss]erved%-[Bb]y: ([^\r]*)") or "-", tostring(reply and reply.took_ms or "-"),
    tostring(coverage.complete), tostring(coverage.percent or "-"), tostring(coverage.indicative or 0)))
  ffi.C.close(search.fd)
  search.is_over = true
end

local function begin(number)
  local search = { begun_us = now_us(), came = {}, sent = 0, request = request_of(number) }
  search.fd = ffi.C.socket(AF_INET, STREAM_NONBLOCK, 0)
  assert(search.fd >= 0, "no descriptor")
  ffi.C.connect(search.fd, peer, ffi.sizeof(peer))
  open[#open + 1] = search
end

local function go_on(search, events)
  if search.sent < #search.request then
    local rest = search.request:sub(search.sent + 1)
    local sent = tonumber(ffi.C.send(search.fd, rest, #rest, NOSIGNAL))
    if sent < 0 and bit.band(events, bit.bnot(POLLOUT + POLLIN)) ~= 0 then
      return finish(search, 0)
    end
    search.sent = search.sent + math.max(sent, 0)
    return nil
  end
  local count = tonumber(ffi.C.recv(search.fd, bytes, 65536, 0))
  if count > 0 then
    search.came[#search.came + 1] = ffi.string(bytes, count)
  elseif count == 0 or ffi.errno() ~= 11 then
    finish(search)
  end
end

local function turn(wait_ms)
  local fds = ffi.new("struct mn_pollfd[?]", math.max(#open, 1))
  for i, search in ipairs(open) do
    fds[i - 1].fd = search.fd
    fds[i - 1].events = search.sent < #search.request and POLLOUT or POLLIN
  end
  ffi.C.poll(fds, #open, wait_ms)
  local still = {}
  for i, search in ipairs(open) do
    if fds[i - 1].revents ~= 0 then
      go_on(search, fds[i - 1].revents)
    end
    if not search.is_over and now_us() - search.begun_us > PATIENCE_US then
      finish(search, 0)
    end
    if not search.is_over then
      still[#still + 1] = search
    end
  end
  open = still
end

local start_us, number = now_us(), 0
local count = math.floor(rate * seconds)
while number < count or #open > 0 do
  local due_us = start_us + number * 1e6 / rate
  while number < count and due_us <= now_us() do
    assert(#open < MOST, "answers do not come any more")
    begin(number)
    number = number + 1
    due_us = start_us + number * 1e6 / rate
  end
  local wait_ms = number < count and math.max(0, math.ceil((due_us - now_us()) / 1000)) or 100
  turn(math.min(wait_ms, 100))
end
out:close()
