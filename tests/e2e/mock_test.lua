-- `lastcall mock`: fixtures played over HTTP by the farm program, asked by curl and by an engine.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local LASTCALL = world.build .. "/lastcall"
local FOLDER = world.folder .. "/mock"
local ADDRESS = world.network .. ".1"
local PORT = 9000
os.execute(("rm -rf %s && mkdir -p %s/suppliers/acme.test"):format(FOLDER, FOLDER))

-- ---- a mock and what it says --------------------------------------------------------------------------------------

local BASE = FOLDER .. "/base.yaml"
world.write_file(BASE, table.concat({
  ("listen: 127.0.0.1:%d"):format(world.port),
  ("admin: { listen: \"127.0.0.1:%d\" }"):format(world.port + 1000),
  "suppliers_dir: [suppliers, examples/farm/suppliers, examples/farm/gates, " .. FOLDER .. "/suppliers]",
  "scripts_dir: scripts",
  "deadline: { default: 20s, max: 60s }",
  "",
}, "\n"))

local Mock = {}
Mock.__index = Mock
local number = 0

-- The lines of JSON so far; the last one may not be whole yet.
function Mock:events()
  local events = {}
  for line in (world.read_file(self.log) or ""):gmatch("([^\n]+)\n") do
    local is_json, event = pcall(json.decode, line)
    events[#events + 1] = is_json and event or { event = "text", text = line }
  end
  return events
end

function Mock:requests()
  local requests = {}
  for _, event in ipairs(self:events()) do
    if event.event == "request" then
      requests[#requests + 1] = event
    end
  end
  return requests
end

-- The request number `index`, once it is told.
function Mock:request(index)
  world.wait_for("request " .. index, 30, function()
    return #self:requests() >= index
  end, self.pid, self.log)
  return self:requests()[index]
end

function Mock:url(supplier)
  for _, door in ipairs(self.ready.doors) do
    if door.supplier == supplier then
      return door.url
    end
  end
  error("no door for " .. supplier)
end

-- Its exit code, once it has ended.
function Mock:wait()
  for _ = 1, 1500 do
    local code = tonumber(world.read_file(self.log .. ".code") or "")
    if code then
      return code
    end
    world.sleep_ms(20)
  end
  error("the mock does not end")
end

function Mock:stop(signal)
  os.execute(("kill -%s %d"):format(signal or "TERM", self.pid))
  return self:wait()
end

local function command(arguments, files)
  return ("%s mock -c %s %s --listen %s:%d %s"):format(LASTCALL, BASE, files or "", ADDRESS, PORT, arguments)
end

local function start(arguments, files)
  number = number + 1
  local mock = setmetatable({ log = ("%s/%d.log"):format(FOLDER, number) }, Mock)
  mock.pid = world.spawn(command("--json " .. arguments, files), mock.log)
  world.wait_for("the mock", 60, function()
    local first = mock:events()[1]
    return first ~= nil and first.event == "ready"
  end, mock.pid, mock.log)
  mock.ready = mock:events()[1]
  return mock
end

-- Runs the body over a mock that ends with it.
local function with_mock(arguments, body)
  local mock = start(arguments)
  local is_fine, why = xpcall(body, debug.traceback, mock)
  local code = mock:stop()
  assert(is_fine, why)
  equal(0, code, "the mock's exit code")
end

local function fixture(path)
  return json.decode(assert(world.read_file(path)))
end

-- A fixture's search, on days to come.
local function search_of(path)
  local search = fixture(path).search
  search.budget_ms = 20000
  for index, slice in ipairs(search.query.slices) do
    slice.date = os.date("!%Y-%m-%d", os.time() + (90 + 7 * index) * 86400)
  end
  return search
end

-- A script of our own, and its fixtures; both as the author writes them.
local SCRIPT = [[
return {
  name = "acme", product = "flights", owner = "acme@example.com", docs = "https://example.com",
  hosts = {}, secrets = { "ACME_KEY" },
  options = { base_url = "https://api.acme.example/v2", login_url = "https://login.acme.example" },
  build_request = function() return { path = "/offers" } end,
  normalise = function() return {} end,
}
]]

local function acme(name, exchanges, more)
  local all = {
    search = fixture("suppliers/duffel.test/ok-one-way.json").search,
    now = "2026-11-29T09:00:00Z",
    secrets = { ACME_KEY = "key-of-acme-for-tests" },
    exchanges = exchanges,
    expect = { outcome = "empty" },
  }
  for key, value in pairs(more or {}) do
    all[key] = value
  end
  world.write_file(("%s/suppliers/acme.test/%s.json"):format(FOLDER, name), json.encode(all))
end

local function exchange(method, url, expect, response)
  expect.method, expect.url = method, url
  return { expect_request = expect, response = response }
end

local API, LOGIN = "https://api.acme.example/v2", "https://login.acme.example"
world.write_file(FOLDER .. "/suppliers/acme.lua", SCRIPT)
acme("ok-search", {
  exchange("POST", LOGIN .. "/token", { form = { grant = "key", key = "key-of-acme-for-tests" } },
    { json = { answer = "login" } }),
  exchange("POST", API .. "/offers?limit=10", {
    headers = { ["x-key"] = "key-of-acme-for-tests" },
    json = { from = "MAD", to = "LHR", day = "2027-05-12", party = { { age = 30 } } },
  }, { status = 201, headers = { ["x-more"] = { "one", "two" }, ["content-length"] = "7" },
    json = { answer = "one way" } }),
  exchange("GET", API .. "/offers/2027-05-12/1", {}, { body = "poll 1" }),
  exchange("GET", API .. "/offers/2027-05-12/1", {}, { body = "poll 2" }),
})
acme("ok-two", {
  exchange("POST", API .. "/offers?limit=10", {
    json = { from = "MAD", to = "LHR", day = "2027-05-12", party = { { age = 30 }, { age = 31 } } },
  }, { json = { answer = "two" } }),
})
acme("odd-busy", {
  exchange("POST", API .. "/offers?limit=10", { json = { from = "MAD", to = "JFK", day = "2027-05-12", party = {} } },
    { status = 429, json = { answer = "busy" } }),
}, { expect = { outcome = "rejected" } })

local function post(url, body, headers)
  local all = { "Content-Type: application/json" }
  for _, header in ipairs(headers or {}) do
    all[#all + 1] = header
  end
  return world.http("POST", url, { body = type(body) == "table" and json.encode(body) or body, headers = all })
end

local KEY = "X-Key: key-of-acme-for-tests"
local ONE = { from = "MAD", to = "LHR", day = "2027-05-12", party = { { age = 30 } } }

-- ---- an engine over it --------------------------------------------------------------------------------------------

local function with_engine(settings, body)
  local log, days = FOLDER .. "/engine.log", FOLDER .. "/days.yaml"
  -- A fixture's flights are of its own day, whatever day is asked for.
  world.write_file(days, "suppliers: { duffel: { accounts: { main: { options: { any_day: true } } } } }\n")
  local pid = world.spawn((". %s.env && exec %s serve -c %s -c %s -c %s"):format(settings, LASTCALL, BASE, settings,
    days), log)
  local url = ("http://127.0.0.1:%d"):format(world.port)
  local is_fine, why = xpcall(function()
    world.wait_for("the engine", 60, function()
      return world.http("GET", url .. "/readyz").status == 200
    end, pid, log)
    body(function(search)
      return post(url .. "/v1/search", search)
    end)
  end, debug.traceback)
  os.execute("kill -TERM " .. pid .. " 2>/dev/null")
  for _ = 1, 1500 do
    if not world.is_alive(pid) then
      break
    end
    world.sleep_ms(20)
  end
  assert(is_fine, why)
end

-- Supplier -> the fixture whose search is sent: one exchange, steps, pages, parts, logins, XML.
local SUPPLIERS = {
  duffel = "suppliers/duffel.test/ok-one-way.json",
  farm_a = "examples/farm/suppliers/farm_a.test/ok-one-way.json",
  farm_b = "examples/farm/suppliers/farm_b.test/ok-one-way.json",
  farm_maps = "examples/farm/suppliers/farm_maps.test/ok-polled-twice.json",
  farm_pages = "examples/farm/suppliers/farm_pages.test/ok-two-pages.json",
  farm_parts = "examples/farm/suppliers/farm_parts.test/ok-four-parts.json",
  farm_poll_add = "examples/farm/suppliers/farm_poll_add.test/ok-polled-twice.json",
  farm_poll_replace = "examples/farm/suppliers/farm_poll_replace.test/ok-polled-twice.json",
  farm_tables = "examples/farm/suppliers/farm_tables.test/ok-over-midnight.json",
  farm_xml = "examples/farm/suppliers/farm_xml.test/ok-polled-twice.json",
  farm_oauth = "examples/farm/gates/farm_oauth.test/ok-cold.json",
  farm_signed = "examples/farm/gates/farm_signed.test/ok-pages.json",
}

local SETTINGS = FOLDER .. "/lastcall.mock.yaml"
local names = {}
for name in pairs(SUPPLIERS) do
  names[#names + 1] = name
end
table.sort(names)
-- Its other fixtures log in, and find nothing then.
local played = table.concat(names, " "):gsub("farm_xml", "farm_xml/ok-polled-twice")

with_mock(played .. " --latency none --settings " .. SETTINGS, function(mock)
  with_engine(SETTINGS, function(search)
    for _, name in ipairs(names) do
      test("an engine over the mock finds what the fixture expects of " .. name, function()
        local expect = fixture(SUPPLIERS[name]).expect
        for round = 1, 2 do -- steps begin anew with each search
          local body = search_of(SUPPLIERS[name])
          body.suppliers = { name }
          local reply = search(body)
          local entry = assert(world.entry(reply, name), reply.raw)
          equal(expect.outcome, entry.outcome, round .. ": outcome " .. reply.raw)
          equal(expect.offers, entry.offers, round .. ": offers")
          if expect.first and expect.first.price then
            equal(expect.first.price.total, reply.json.offers[1].price.total, round .. ": first")
          end
        end
      end)
    end
  end)
  test("settings name doors and allow their address; secrets stand in a file of their own", function()
    local settings = world.read_file(SETTINGS)
    assert(settings:find('allow_private: ["' .. ADDRESS .. '/32"]', 1, true), settings)
    assert(settings:find(mock:url("duffel"), 1, true), settings)
    assert(settings:find("acme: { enabled: false", 1, true), settings)
    local output = settings .. world.read_file(mock.log)
    assert(not output:find("test-token", 1, true), "a secret's value was told")
    assert(output:find("DUFFEL_TOKEN", 1, true), "its name was not")
    assert(world.read_file(SETTINGS .. ".env"):find("export DUFFEL_TOKEN='test-token'", 1, true))
    equal("600", (world.shell("stat -c %a " .. SETTINGS .. ".env"):gsub("%s", "")), "mode")
  end)
end)

-- ---- which exchange answers ---------------------------------------------------------------------------------------

with_mock("acme", function(mock)
  local first, second = mock.ready.doors[1], mock.ready.doors[2]
  local api = (first.in_place_of == "https://api.acme.example" and first or second).url
  local login = (first.in_place_of == LOGIN and first or second).url
  local told = 0
  local function next_request()
    told = told + 1
    return mock:request(told)
  end

  test("an exact request gets its exchange: status, headers, body", function()
    local reply = post(api .. "/v2/offers?limit=10", ONE, { KEY })
    equal(201, reply.status, reply.raw)
    equal("one way", reply.json.answer)
    equal("application/json", reply.headers["content-type"])
    assert(reply.headers["x-more"] == "two" or reply.headers["x-more"] == "one", "the header is missing")
    local line = next_request()
    equal(0, line.differences)
    equal("exchanges[1]", line.exchange)
    assert(line.fixture:find("acme.test/ok-search.json", 1, true), line.fixture)
    equal(201, line.status)
  end)

  test("another day gets the nearest answer, and the difference is told", function()
    local reply = post(api .. "/v2/offers?limit=10", { from = "MAD", to = "LHR", day = "2030-01-01",
      party = { { age = 30 }, { age = 31 } } })
    equal("two", reply.json.answer)
    local line = next_request()
    equal(1, line.differences)
    assert(line.told[1]:find("json.day", 1, true), line.told[1])
  end)

  test("what is odd answers only word for word", function()
    local reply = post(api .. "/v2/offers?limit=10", { from = "MAD", to = "JFK", day = "2027-05-12", party = {} })
    equal(429, reply.status)
    next_request()
    reply = post(api .. "/v2/offers?limit=10", { from = "MAD", to = "JFK", day = "2027-05-13", party = {} })
    assert(reply.status ~= 429, "an odd answer for another day")
    next_request()
  end)

  test("each origin has a door of its own, and values of headers are nobody's business", function()
    local reply = world.http("POST", login .. "/token", { body = "grant=key&key=secret-of-somebody-else" })
    equal("login", reply.json.answer)
    next_request()
    post(api .. "/v2/offers?limit=10", ONE, { "X-Key: another-secret-of-somebody" })
    local line = next_request()
    equal("headers.x-key differs", line.told[1])
    assert(not world.read_file(mock.log):find("another-secret-of-somebody", 1, true), "the value was told")
    assert(not world.read_file(mock.log):find("key-of-acme-for-tests", 1, true), "the test value was told")
  end)

  test("pieces of a path with digits may differ, and equal requests get their answers in order", function()
    for index, answer in ipairs { "poll 1", "poll 2", "poll 2" } do
      equal(answer, world.http("GET", api .. "/v2/offers/2031-02-03/1").raw, "poll " .. index)
      next_request()
    end
    post(api .. "/v2/offers?limit=10", ONE, { KEY })
    next_request()
    equal("poll 1", world.http("GET", api .. "/v2/offers/2031-02-03/1").raw, "after a new search")
    next_request()
  end)

  test("what nothing fits gets 404, the nearest exchange and what differs", function()
    local reply = post(api .. "/v2/offer?limit=10", ONE, { KEY })
    equal(404, reply.status)
    equal("no_exchange", reply.json.error.code)
    local nearest = reply.json.error.nearest
    assert(nearest.fixture:find("acme.test/ok-search.json", 1, true), nearest.fixture)
    equal("exchanges[1]", nearest.exchange)
    assert(nearest.differences[1]:find("url", 1, true), nearest.differences[1])
    local line = next_request()
    equal(false, line.found)
    equal("exchanges[1]", line.nearest_exchange)
    equal(404, line.status)
    equal(404, world.http("DELETE", api .. "/v2/offers?limit=10").status, "another method")
    next_request()
  end)

  test("a connection is kept", function()
    local curl = "curl -s -o /dev/null -w '%%{num_connects} ' %s/v2/x -o /dev/null %s/v2/y"
    local text = world.shell(curl:format(api, api))
    local connects = {}
    for count in text:gmatch("%d+") do
      connects[#connects + 1] = count
    end
    equal("1 0", table.concat(connects, " "))
    next_request()
    next_request()
  end)
end)

with_mock("acme --strict", function(mock)
  test("--strict answers only what fits exactly", function()
    local api = mock:url("acme")
    equal(201, post(api .. "/v2/offers?limit=10", ONE, { KEY }).status)
    equal(404, post(api .. "/v2/offers?limit=11", ONE, { KEY }).status)
    equal(404, post(api .. "/v2/offers?limit=10", ONE).status)
    equal(404, world.http("GET", api .. "/v2/offers/2027-05-13/1").status)
  end)
end)

with_mock("acme/odd-busy acme", function(mock)
  test("a fixture that is named answers before all others, which are still there", function()
    local api = mock:url("acme")
    equal(429, post(api .. "/v2/offers?limit=10", ONE, { KEY }).status)
    equal("poll 1", world.http("GET", api .. "/v2/offers/2027-05-12/1").raw)
  end)
end)

-- ---- faults, time, TLS --------------------------------------------------------------------------------------------

with_mock("farm_a/ok-one-way --latency lognormal,median_ms=1,sigma=0.1 --fault status_503 --settings " .. SETTINGS,
  function(mock)
    with_engine(SETTINGS .. "", function(search)
      test("a fault becomes its outcome, and is told", function()
        local body = search_of(SUPPLIERS.farm_a)
        body.suppliers = { "farm_a" }
        equal("failed", world.entry(search(body), "farm_a").outcome)
        equal("status_503", mock:request(1).fault)
      end)
    end)
  end)

test("faults of all kinds come over the wire", function()
  for _, fault in ipairs { "reset_body", "cut_body", "length_long", "reset_accept", "chunked_no_end" } do
    with_mock("acme --fault " .. fault, function(mock)
      local reply = world.http("POST", mock:url("acme") .. "/v2/offers?limit=10", { body = json.encode(ONE) })
      assert(reply.curl ~= 0, fault .. " came as a whole answer: " .. tostring(reply.status))
      world.wait_for(fault, 30, function()
        return (world.read_file(mock.log) or ""):find('"fault":"' .. fault, 1, true) ~= nil
      end, mock.pid, mock.log)
    end)
  end
end)

test("a share of the answers is drawn by the seed", function()
  local function faults(seed)
    local seen = {}
    with_mock("acme --fault status_500=50% --seed " .. seed, function(mock)
      for index = 1, 12 do
        seen[index] = world.http("GET", mock:url("acme") .. "/v2/offers/2027-05-12/1").status
      end
    end)
    return table.concat(seen, " ")
  end
  local one = faults(1)
  equal(one, faults(1), "the same seed")
  assert(one:find("200") and one:find("500"), one)
  assert(one ~= faults(2), "another seed draws the same")
end)

test("--tls speaks TLS, by an authority of its own", function()
  with_mock("acme --tls " .. FOLDER .. "/tls --settings " .. FOLDER .. "/tls.yaml", function(mock)
    local text, code = world.shell(("curl -s --cacert %s/tls/ca.pem %s/v2/offers/2027-05-12/1"):format(FOLDER,
      mock:url("acme")))
    equal(0, code, text)
    equal("poll 1", text)
    assert(world.read_file(FOLDER .. "/tls.yaml"):find("ca_file: \"" .. FOLDER .. "/tls/ca.pem\"", 1, true))
  end)
end)

-- ---- its end ------------------------------------------------------------------------------------------------------

-- Does somebody listen at the mock's first port?
local function listens()
  return world.http("GET", ("http://%s:%d/"):format(ADDRESS, PORT)).status ~= nil
end

local function wait_shut()
  for _ = 1, 1500 do
    if not listens() then
      return
    end
    world.sleep_ms(20)
  end
  error("the farm is still there")
end

test("SIGTERM and SIGINT end it with 0, and the farm with it", function()
  for _, signal in ipairs { "TERM", "INT" } do
    equal(0, start("acme"):stop(signal), signal)
    assert(not listens(), "the farm is still there after " .. signal)
  end
end)

test("a mock that is killed takes its farm along", function()
  local mock = start("acme")
  assert(listens(), "nobody listens")
  mock:stop("KILL")
  wait_shut()
end)

test("a farm that does not move keeps nobody", function()
  local mock = start("acme")
  local farm = world.shell("pgrep -P " .. mock.pid):match("%d+")
  os.execute("kill -STOP " .. farm)
  equal(0, mock:stop())
  assert(not world.is_alive(farm), "the farm is still there")
end)

test("--once ends after so many requests, when the last is answered", function()
  local mock = start("acme --once 2")
  local api = mock:url("acme")
  equal(200, world.http("GET", api .. "/v2/offers/2027-05-12/1").status)
  equal(200, world.http("GET", api .. "/v2/offers/2027-05-12/1").status)
  equal(0, mock:wait())
  equal(2, #mock:requests())
end)

test("for people it prints a line for each request, and what to put into the settings", function()
  local log = FOLDER .. "/people.log"
  local pid = world.spawn(command("acme --once 1"), log)
  world.wait_for("the mock", 60, function()
    return (world.read_file(log) or ""):find("secrets that the engine needs", 1, true) ~= nil
  end, pid, log)
  world.http("GET", ("http://%s:%d/v2/offers/2027-05-12/1"):format(ADDRESS, PORT))
  equal(0, setmetatable({ log = log }, Mock):wait())
  local text = world.read_file(log)
  assert(text:find("acme  ok-search exchanges[2]  GET /v2/offers/2027-05-12/1  200  ", 1, true), text)
  assert(text:find("base_url: \"http://" .. ADDRESS, 1, true), text)
  assert(not text:find("key-of-acme-for-tests", 1, true), "a secret's value was told")
end)

test("a supplier whose fixtures are all of days that are over is told, so that later ones are asked for", function()
  local folder = FOLDER .. "/suppliers/"
  world.write_file(folder .. "yore.lua", (SCRIPT:gsub('"acme"', '"yore"'):gsub("ACME_KEY", "YORE_KEY")))
  world.shell(("mkdir -p %syore.test"):format(folder))
  local function write(name, day)
    local search = { product = "flights", query = { slices = { { origin = "MAD", destination = "LHR", date = day } },
      travellers = { { type = "adult" } } } }
    world.write_file(("%syore.test/%s.json"):format(folder, name), json.encode { search = search,
      now = "2015-01-01T09:00:00Z", secrets = { YORE_KEY = "key-of-yore-for-tests" }, expect = { outcome = "empty" },
      exchanges = { { expect_request = { url = API .. "/offers" }, response = { json = {} } } } })
  end
  write("ok-old", "2015-08-08")
  write("odd-new", os.date("!%Y-%m-%d", os.time() + 90 * 86400))
  with_mock("yore", function(mock)
    equal("yore", mock.ready.over)
  end)
  write("ok-new", os.date("!%Y-%m-%d", os.time() + 90 * 86400))
  with_mock("yore", function(mock)
    equal("", mock.ready.over)
  end)
  world.shell(("rm -r %syore.test/ok-new.json"):format(folder))
  local log = FOLDER .. "/yore.log"
  local pid = world.spawn(command("yore"), log)
  world.wait_for("the mock", 60, function()
    return (world.read_file(log) or ""):find("the days of their searches are over, so ask for later", 1, true) ~= nil
  end, pid, log)
  os.execute("kill -TERM " .. pid)
  equal(0, setmetatable({ log = log }, Mock):wait())
  world.shell(("rm -r %syore.lua %syore.test"):format(folder, folder))
end)

-- ---- other ways to send a body --------------------------------------------------------------------------------------

test("a body in chunks is one like any other, and who waits to be wanted is told so", function()
  with_mock("acme --strict", function(mock)
    local function ask(how)
      return (world.shell("curl -s --max-time 20 -o /dev/null -w '%{http_code}\n' "
        .. "-H 'Content-Type: application/json' -H '" .. KEY .. "' -d '" .. json.encode(ONE) .. "' '"
        .. mock:url("acme") .. "/v2/offers?limit=10' " .. how))
    end
    local waits, chunked = "-H 'Expect: 100-continue' --expect100-timeout 15", "-H 'Transfer-Encoding: chunked'"
    for _, how in ipairs { "", chunked, waits, waits .. " " .. chunked } do
      equal("201\n", ask(how), how)
    end
    -- What the server said of waiting stands in curl's own words, so that no clock is asked.
    local talk = ask("-v " .. waits)
    assert(talk:find("< HTTP/1.1 100 Continue", 1, true), talk)
  end)
end)

-- ---- what is wrong ------------------------------------------------------------------------------------------------

local function refused(arguments, code, ...)
  local text, got = world.shell(arguments)
  equal(code, got, text)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), part .. " is missing in: " .. text)
  end
end

test("bad arguments are told with a remedy", function()
  refused(command("acmee"), 2, "there is no supplier `acmee`", "did you mean `acme`?")
  refused(command("acme/odd-lazy"), 1, "there is no fixture `odd-lazy`")
  refused(command("farm_a --fault drop"), 3, "\"drop=1\"", "did you mean `drip`?")
  refused(command("farm_a --fault nxdomain"), 3, "nxdomain: this supplier has no name")
  refused(command("farm_a --latency slow"), 3, "slow", "lognormal")
  refused(command("farm_a --latency slow,fast"), 2, "is no value for --latency")
  refused(LASTCALL .. " mock --listen localhost", 2, "`localhost` is no value for --listen")
  refused(command("acme --settings " .. BASE), 2, "was not written by the mock")
  local beside = world.folder .. "/mock_beside.yaml"
  world.write_file(beside .. ".env", "export MINE=1\n")
  refused(command("acme --settings " .. beside), 2, "mock_beside.yaml.env` was not written by the mock")
  equal("export MINE=1\n", world.read_file(beside .. ".env"), "what was there")
  refused(LASTCALL .. " mock -c " .. FOLDER .. "/nothing.yaml", 3, "nothing.yaml")
end)

test("a port that is taken, a farm that is not there", function()
  local mock = start("acme")
  refused(command("farm_a"), 3, ("%s:%d: Address already in use"):format(ADDRESS, PORT), "--listen")
  refused(command("farm_a --json"), 3, "\"findings\":[", "Address already in use")
  mock:stop()
  refused("LASTCALL_FARM=/nowhere/farm " .. command("acme"), 3, "/nowhere/farm", "LASTCALL_FARM")
  refused("LASTCALL_FARM=/bin/true " .. command("acme"), 3, "the farm program ended before it was ready")
end)

test("a farm that dies is told, and is no success", function()
  local mock = start("acme")
  os.execute("kill -KILL " .. (world.shell("pgrep -P " .. mock.pid):match("%d+")))
  equal(70, mock:wait())
  assert(world.read_file(mock.log):find("the farm program ended by itself", 1, true))
end)

test("a bad fixture, none, and a script whose requests cannot be led here", function()
  local path = FOLDER .. "/suppliers/acme.test/odd-bad.json"
  world.write_file(path, "{\n  \"search\": {},\n  \"now\": \"today\",\n  \"exchanges\": [ { \"respond\": {} } ]\n}\n")
  refused(command("acme"), 1, "odd-bad.json:3:", "odd-bad.json:4:", "unknown field `respond`")
  refused(command("acme --json"), 1, "\"findings\":[", "odd-bad.json")
  os.execute("rm " .. path)
  world.write_file(FOLDER .. "/suppliers/bare.lua", (SCRIPT:gsub("acme\"", "bare\"", 1)))
  refused(command("bare"), 1, "`bare` has no fixtures")
  local alone = (SCRIPT:gsub("acme\"", "bare\"", 1):gsub("options = %b{},", "options = {},"))
  world.write_file(FOLDER .. "/suppliers/bare.lua", alone:gsub("hosts = {}", "hosts = { \"api.acme.example\" }"))
  os.execute(("cp -r %s/suppliers/acme.test %s/suppliers/bare.test"):format(FOLDER, FOLDER))
  refused(command("bare"), 1, "`bare` has no option that is a URL")
  os.execute(("rm -r %s/suppliers/bare.lua %s/suppliers/bare.test"):format(FOLDER, FOLDER))
end)

world.finish()
