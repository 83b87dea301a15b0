-- `lastcall try` and `lastcall record` against the farm: what is shown of each exchange, what becomes a fixture that
-- passes, and that no secret is in either.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local SECRET, FARM_SECRET = "Zq7w-K9+x/Vb2#Jt81", "farm-secret-of-all"
local SUPPLIERS = world.folder .. "/tried"
local SEARCH = world.folder .. "/try_search.json"
local OVERLAY = world.folder .. "/try_overlay.yaml"
local KEEP = world.folder .. "/kept"

os.execute(("rm -rf %s %s && mkdir -p %s"):format(SUPPLIERS, KEEP, SUPPLIERS))
os.execute("cp examples/farm/suppliers/*.lua examples/farm/gates/*.lua " .. SUPPLIERS)
world.write_file(SEARCH, json.encode { query = world.query, budget_ms = 9000 })

-- A supplier that puts its secret wherever it can, and repeats it in what it says.
world.write_file(SUPPLIERS .. "/planted.lua", [[
local farm = require("farm")

return {
  name = "planted", product = "flights", owner = "farm@example.com", hosts = {},
  secrets = { "PLANTED" }, options = { base_url = "http://s09.farm.test:8080" },
  build_request = function(search, ctx)
    local secret = ctx.secret.PLANTED
    return {
      method = "POST", path = "/v1/offers/" .. url.encode(secret), query = { plain = secret, hex = crypto.hex(secret) },
      headers = { ["x-one"] = secret, ["x-two"] = "Basic " .. crypto.base64("user:" .. secret),
        ["x-" .. crypto.hex(secret)] = "1" },
      json = { ask = farm.ask(search, ctx), inner = { secret, { said = secret } } },
    }
  end,
  sign = function(request, ctx)
    return { ["x-made"] = crypto.hex(crypto.sha256(request.url .. ctx.secret.PLANTED)) }
  end,
  normalise = function(response, search, ctx)
    return fail.supplier { code = "E-" .. ctx.secret.PLANTED, message = "no: " .. ctx.secret.PLANTED .. " "
      .. response:text() }
  end,
}
]])

-- Offers of which some are no good, and a document of which it reads little.
world.write_file(SUPPLIERS .. "/careless.lua", [[
return {
  name = "careless", product = "hotels", owner = "farm@example.com", hosts = { "api.careless.example" },
  build_request = function() return { method = "GET", url = "https://api.careless.example/rooms" } end,
  normalise = plan {
    each = "rooms[]",
    offer = {
      id = "id", supplier_hotel_id = "hotel", room = "name", board = const "room_only", pay = const "now",
      price = { total = "total", currency = "currency" },
    },
  },
  ceiling = function() return 1200 end,
}
]])
world.write_file(SUPPLIERS .. "/buggy.lua", [[
return {
  name = "buggy", product = "hotels", owner = "farm@example.com", hosts = { "api.buggy.example" },
  build_request = function() return { method = "GET", url = "https://api.buggy.example/rooms" } end,
  normalise = function(response) return response:json().rooms.nothing.here end,
}
]])
world.write_file(SUPPLIERS .. "/xml_reader.lua", [[
return {
  name = "xml_reader", product = "hotels", owner = "farm@example.com", hosts = { "api.xml.example" },
  build_request = function()
    return { method = "POST", url = "https://api.xml.example/", headers = { ["content-type"] = "text/xml" },
      body = xml.build { "Ask", { "User", "me" }, { "Password", "hunter2222" } } }
  end,
  normalise = plan {
    from = "xml", each = "Rooms.Room[]",
    offer = {
      id = "@id", supplier_hotel_id = "Hotel", room = "Name", board = const "room_only", pay = const "now",
      price = { total = "Total", currency = "Total.@currency" },
    },
  },
}
]])

local function network(names)
  return ([[
suppliers_dir: %s
scripts_dir: scripts
network: { allow_private: [%s.0/24]%s }
dns: { servers: ["%s.253:5300"] }
%s]]):format(SUPPLIERS, world.network,
    world.read_file(world.folder .. "/tls/ca.pem") and (", ca_file: " .. world.folder .. "/tls/ca.pem") or "",
    world.network, names)
end

local function settings(population, more)
  local printed = world.shell(("%s/examples/farm/farm --network %s --population examples/farm/populations/%s.txt "
    .. "--print-settings"):format(world.build, world.network, population))
  world.write_file(OVERLAY, network(printed .. (more or "")))
end

local function quote(word)
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- Runs a command of the program; gives what it printed (both streams) and its exit code.
local function lastcall(command, ...)
  local words = { ("PLANTED=%s FARM_SECRET=%s TMPDIR=%s %s/lastcall %s -c %s"):format(quote(SECRET), FARM_SECRET,
    world.folder, world.build, command, OVERLAY) }
  for _, word in ipairs { ... } do
    words[#words + 1] = quote(word)
  end
  return world.shell(table.concat(words, " "))
end

local function try_json(...)
  local output, code = lastcall("try", "--json", ...)
  local is_json, decoded = pcall(json.decode, output)
  assert(is_json, "no JSON: " .. output)
  return decoded, code
end

local function contains(text, part, what)
  if not text:find(part, 1, true) then
    error(("%s: `%s` is not in:\n%s"):format(what or "output", part, text), 2)
  end
end

-- ---- secrets, in the spellings of other means than the engine's -----------------------------------------------------

local function each_byte(text, format)
  return (text:gsub(".", function(byte)
    return format:format(byte:byte())
  end))
end

local function base64(text)
  world.write_file(world.folder .. "/plain", text)
  return (world.shell("base64 -w0 " .. world.folder .. "/plain"):gsub("%s", ""))
end

-- The inner part of base64, which does not depend on what stands before and behind the secret.
local SPELLINGS = {
  FARM_SECRET, SECRET, each_byte(SECRET, "%02x"), each_byte(SECRET, "%%%02X"), base64(SECRET):sub(2, -5),
  base64("user:" .. SECRET):sub(9, -5), (SECRET:gsub("[^%w]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end)),
}

local function no_secret(text, what)
  for number, spelling in ipairs(SPELLINGS) do
    if text:find(spelling, 1, true) then
      error(("%s has the secret, spelling %d:\n%s"):format(what, number, text), 2)
    end
  end
end

local function no_secret_in(folder)
  local list = world.shell("find " .. folder .. " -type f -not -name '*.lua'")
  for path in list:gmatch("[^\n]+") do
    no_secret(world.read_file(path), path)
  end
end

local function record(name, as, ...)
  local output, code = lastcall("record", name, SEARCH, "--as", as, ...)
  no_secret(output, "record")
  return output, code
end

local function passes(name)
  local output, code = lastcall("test", name)
  equal(0, code, "tests of " .. name .. ": " .. output)
end

-- ---- logins and signatures ------------------------------------------------------------------------------------------

-- Suppliers that no search of a caller would get to.
local NOT_LIVE = [[
  quiet_dark: { uses: farm_a, mode: dark, accounts: { main: { options: { base_url: "http://s09.farm.test:8080" } } } }
  quiet_test: { uses: farm_a, mode: test, accounts: { main: { options: { base_url: "http://s09.farm.test:8080" } } } }
  quiet_off: { uses: farm_a, enabled: false,
    accounts: { main: { options: { base_url: "http://s09.farm.test:8080" } } } }
]]

local w = world.start { population = "gates", no_engine = true }
settings("gates", NOT_LIVE)

test("a live call shows login, request, answer, times, offers", function()
  local output, code = lastcall("try", "s01", SEARCH, "--keep", KEEP)
  equal(0, code, output)
  no_secret(output, "try")
  contains(output, "login: POST http://s01.farm.test:8080/oauth/token")
  contains(output, "client_secret=***")
  contains(output, "authorization: Bearer ***")
  contains(output, "first byte")
  contains(output, "outcome    answered")
  contains(output, "LHR 05-14")
  local saved = world.read_file(KEEP .. "/01-login.json")
  contains(saved, "\"access_token\":\"***\"", "saved login")
  equal("600", (world.shell("stat -c %a " .. KEEP .. "/02.json"):gsub("%s", "")), "mode of a saved body")
  no_secret_in(KEEP)
end)

test("the same as one object of JSON", function()
  local tried, code = try_json("s01", SEARCH)
  equal(0, code, "exit code")
  equal(2, #tried.exchanges, "exchanges")
  equal("login", tried.exchanges[1].kind, "the first")
  equal(200, tried.exchanges[2].response.status, "status")
  equal("answered", tried.report.outcome, "outcome")
  equal(tried.report.offers, #tried.offers, "offers")
  equal(true, tried.exchanges[2].times_ms.total > 0, "a time")
  equal(9000, tried.budget_ms, "budget")
  equal(true, tried.ceiling.of_ms <= 9000, "what it could have taken")
  no_secret(json.encode(tried), "JSON")
end)

test("headers that `sign` made are told by name and length only", function()
  local tried = try_json("s07", SEARCH)
  local signed = {}
  for _, header in ipairs(tried.exchanges[1].request.headers) do
    signed[header.name] = header.signed and header.value .. header.length
  end
  equal("***64", signed["x-signature"], "signature")
end)

for name, file in pairs { s01 = "farm_oauth", s05 = "farm_session", s07 = "farm_signed", s08 = "farm_signed" } do
  test("a recorded call of " .. name .. " is a fixture that passes: " .. file, function()
    local output, code = record(name, "ok-" .. name)
    equal(0, code, output)
    passes(file)
    no_secret_in(SUPPLIERS)
    local fixture = world.read_file(("%s/%s.test/ok-%s.json"):format(SUPPLIERS, file, name))
    contains(fixture, "\"FARM_SECRET\": \"test-farm-secret\"", "fixture")
    contains(fixture, "\"after_ms\"", "fixture")
  end)
end

test("a fixture that is there is not overwritten, but with --force", function()
  local output, code = record("s01", "ok-s01")
  equal(2, code, output)
  contains(output, "--force")
  output, code = record("s01", "ok-s01", "--force")
  equal(0, code, output)
end)

test("a recorded fixture notices a changed script", function()
  local path = SUPPLIERS .. "/farm_oauth.lua"
  local before = world.read_file(path)
  world.write_file(path, (before:gsub("Bearer ", "Bear ")))
  local output, code = lastcall("test", "farm_oauth")
  world.write_file(path, before)
  equal(1, code, output)
  contains(output, "Bear ")
end)

test("secrets in URL, headers, body, signature and what a script says are nowhere", function()
  local output = lastcall("try", "planted", SEARCH, "--all", "--keep", KEEP)
  no_secret(output, "try")
  contains(output, "POST http://s09.farm.test:8080/v1/offers/***")
  contains(output, "x-one: ***")
  contains(output, "x-made: *** (64 bytes, by sign)")
  local tried = try_json("planted", SEARCH, "--keep", KEEP)
  no_secret(json.encode(tried), "JSON")
  output = record("planted", "odd-planted")
  contains(output, "it passes")
  no_secret_in(SUPPLIERS)
  no_secret_in(KEEP)
  passes("planted")
end)

test("secrets that an answer repeats are neither shown nor kept", function()
  local path = world.folder .. "/echo.json"
  world.write_file(path, json.encode {
    error = "bad key " .. SECRET, hex = each_byte(SECRET, "%02x"), packed = base64("user:" .. SECRET),
    access_token = "abcdef0123456789", nested = { { session_id = "fedcba9876543210" } },
  })
  local options = { "--body", path, "--status", "403", "--header", "Set-Cookie: sid=c0ffee123456; Path=/",
    "--header", "X-Echo: " .. SECRET, "--header", "Authorization: Bearer 99887766554433" }
  local output = lastcall("try", "planted", SEARCH, "--keep", KEEP, unpack(options))
  no_secret(output, "try")
  no_secret_in(KEEP)
  local said, code = record("planted", "odd-echo", unpack(options))
  equal(0, code, said)
  no_secret_in(SUPPLIERS)
  local kept = world.read_file(SUPPLIERS .. "/planted.test/odd-echo.json")
    .. world.read_file(SUPPLIERS .. "/planted.test/odd-echo.body.json")
  for _, value in ipairs { "abcdef0123456789", "fedcba9876543210", "c0ffee123456", "99887766554433" } do
    if (output .. kept):find(value, 1, true) then
      error(value .. " is shown or kept:\n" .. output .. kept)
    end
  end
  contains(kept, "sid=test-cookie-", "the name of a cookie stays")
  passes("planted")
end)

test("a call that fails is shown all the same", function()
  world.farm("s09", { fault = "refused" })
  local output, code = lastcall("try", "s09", SEARCH)
  equal(7, code, output)
  contains(output, "POST http://s09.farm.test:8080/v1/offers")
  contains(output, "no answer: connect_failed, phase connect")
  contains(output, "outcome    failed")
  output, code = record("s09", "odd-refused")
  equal(7, code, output)
  contains(output, "has no answer that could be kept")
  world.farm("s09", { fault = "status_503" })
  output, code = lastcall("try", "s09", SEARCH)
  equal(7, code, output)
  contains(output, "< 503")
  output, code = record("s09", "ok-busy")
  equal(1, code, output)
  contains(output, "odd-busy")
  output, code = record("s09", "odd-busy")
  equal(0, code, output)
  world.farm("s09", { fault = "html" })
  output, code = lastcall("try", "s09", SEARCH)
  equal(1, code, output)
  contains(output, "unparsable")
  world.farm("s09", { fault = "none" })
  passes("farm_a")
end)

test("an answer that never comes is shown as cut, and becomes a fixture", function()
  world.farm("s10", { fault = "hang_answer" })
  local short = world.folder .. "/short.json"
  world.write_file(short, json.encode { query = world.query, budget_ms = 600 })
  local output, code = lastcall("try", "s10", short)
  equal(7, code, output)
  contains(output, "no answer: cut, phase first_byte")
  contains(output, "outcome    cut")
  output, code = lastcall("record", "s10", short, "--as", "odd-too-slow")
  equal(0, code, output)
  world.farm("s10", { fault = "none" })
  passes("farm_b")
end)

for _, name in ipairs { "quiet_dark", "quiet_test", "quiet_off" } do
  test("a supplier that no caller would get to is asked: " .. name, function()
    local tried, code = try_json(name, SEARCH)
    equal(0, code, json.encode(tried))
    equal("answered", tried.report.outcome, "outcome")
    equal(true, tried.live, "live")
  end)
end

test("a supplier that is switched off is tried, and it is said", function()
  local output, code = lastcall("try", "farm_a", SEARCH, "--body", SEARCH)
  equal(1, code, output)
  contains(output, "searches do not ask it: a template")
end)

w:stop()

-- ---- steps, parts, other shapes -------------------------------------------------------------------------------------

local function record_all(population, kinds)
  settings(population)
  local farm = world.start { population = population, no_engine = true }
  settings(population)
  for name, file in pairs(kinds) do
    test(("a recorded call of %s in %s is a fixture that passes: %s"):format(name, population, file), function()
      local output, code = record(name, "ok-" .. population .. "-" .. name)
      equal(0, code, output)
      passes(file)
      no_secret_in(SUPPLIERS)
    end)
  end
  farm:stop()
end

record_all("steps", { s01 = "farm_poll_add", s05 = "farm_poll_replace", s09 = "farm_pages", s13 = "farm_parts" })
record_all("shapes", { m01 = "farm_maps", t01 = "farm_tables", x01 = "farm_xml" })

-- ---- saved answers, without a network -------------------------------------------------------------------------------

world.write_file(OVERLAY, ("suppliers_dir: %s\nscripts_dir: scripts\n"):format(SUPPLIERS))
local STAY = world.folder .. "/stay.json"
world.write_file(STAY, json.encode {
  query = { place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } },
    currency = "EUR" },
})
local ROOMS = world.folder .. "/rooms.json"
world.write_file(ROOMS, json.encode {
  took = 12,
  rooms = {
    { id = "a", hotel = "h1", name = "Double", total = "120.50", currency = "EUR", extras = { "wifi" } },
    { id = "b", hotel = "h2", name = "Twin", total = "abc", currency = "EUR" },
    { id = "c", hotel = "h3", name = "Suite", total = "300.00", currency = "EUR", extras = {} },
  },
})

test("a saved answer shows offers, those that were dropped and why, and what is never read", function()
  local tried, code = try_json("careless", STAY, "--body", ROOMS)
  equal(1, code, "exit code: an offer was dropped")
  equal(false, tried.live, "nothing was sent")
  equal(2, #tried.offers, "offers")
  local script = tried.exchanges[1].script
  equal(1, #script.dropped, "dropped")
  contains(script.dropped[1], "price.total")
  local unread = {}
  for _, path in ipairs(script.unread) do
    unread[path.path] = path.count
  end
  equal(1, unread.took, "took")
  equal(2, unread["rooms[].extras"], "extras")
  equal(nil, unread["rooms[].total"], "what is read")
  equal(1200, tried.ceiling.of_ms, "ceiling")
  equal("script", tried.ceiling.from, "ceiling")
  local output = lastcall("try", "careless", STAY, "--body", ROOMS)
  contains(output, "rooms[].extras, a list, 2")
  contains(output, "120.50 EUR")
  contains(output, "2 of 2 offers flagged taxes_unknown: they come last and never win")
end)

test("a script that takes the whole body is told so", function()
  local tried, code = try_json("buggy", STAY, "--body", ROOMS)
  equal(1, code, "exit code")
  equal("script_error", tried.report.outcome, "outcome")
  contains(tried.report.detail, "buggy.lua:4", "the line")
  equal(true, tried.exchanges[1].script.reads_all, "reads all")
end)

test("a saved answer in XML, and a password in the request", function()
  local path = world.folder .. "/rooms.xml"
  world.write_file(path, [[<Rooms took="3"><Room id="a" floor="2"><Hotel>h1</Hotel><Name>Double</Name>
    <Total currency="EUR">99.00</Total><Extra><Kind>wifi</Kind></Extra></Room></Rooms>]])
  local tried, code = try_json("xml_reader", STAY, "--body", path)
  equal(0, code, json.encode(tried))
  equal(1, #tried.offers, "offers")
  local unread = {}
  for _, found in ipairs(tried.exchanges[1].script.unread) do
    unread[#unread + 1] = found.path
  end
  table.sort(unread)
  equal("Rooms.@took Rooms.Room[].@floor Rooms.Room[].Extra", table.concat(unread, " "), "unread")
  contains(tried.exchanges[1].request.body, "<Password>***</Password>", "the request")
  local output
  output, code = lastcall("record", "xml_reader", STAY, "--body", path, "--as", "ok-room")
  equal(0, code, output)
  passes("xml_reader")
end)

test("a saved answer becomes a fixture, also one with a dropped offer", function()
  local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", "ok-rooms")
  equal(0, code, output)
  passes("careless")
end)

test("a name that does not fit is refused before anything is asked", function()
  for _, name in ipairs { "rooms", "ok-../x", "ok/rooms", "odd-", "odd-..", "odd-a.json" } do
    local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", name)
    equal(2, code, output)
    contains(output, "no name for a fixture")
  end
end)

test("a body of somebody else's is not written over, and no link is written through", function()
  local tests, precious = SUPPLIERS .. "/careless.test/", world.folder .. "/precious"
  world.write_file(tests .. "odd-hand.body.json", "by hand")
  world.write_file(precious, "precious")
  os.execute(("ln -sf ../../precious %sodd-link.body.json && ln -sf nowhere %sodd-nowhere.json"):format(tests, tests))
  for _, name in ipairs { "odd-hand", "odd-link", "odd-nowhere" } do
    local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", name)
    equal(2, code, output)
    contains(output, "of that name already")
  end
  equal("by hand", world.read_file(tests .. "odd-hand.body.json"), "the body")
  local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", "odd-link", "--force")
  equal(0, code, output)
  equal("precious", world.read_file(precious), "what the link leads to")
  equal(world.read_file(ROOMS), world.read_file(tests .. "odd-link.body.json"), "the new body")
  equal("", world.shell("ls " .. tests .. " | grep before"):gsub("%s", ""), "what was set aside")
  os.execute(("rm %sodd-hand.body.json %sodd-nowhere.json"):format(tests, tests))
  passes("careless")
end)

test("a fixture that cannot be made leaves the one that was there", function()
  local tests = SUPPLIERS .. "/careless.test/"
  local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", "odd-full")
  equal(0, code, output)
  local fixture, body = world.read_file(tests .. "odd-full.json"), world.read_file(tests .. "odd-full.body.json")
  local large = world.folder .. "/large.json"
  world.write_file(large, json.encode { rooms = {}, filling = ("x"):rep(200000) })
  output, code = world.shell(("ulimit -f 100; trap '' XFSZ; %s/lastcall record careless %s --body %s --as odd-full "
    .. "--force -c %s"):format(world.build, STAY, large, OVERLAY))
  equal(1, code, output)
  contains(output, "cannot be written")
  equal(fixture, world.read_file(tests .. "odd-full.json"), "fixture")
  equal(body, world.read_file(tests .. "odd-full.body.json"), "body")
end)

test("answers are played to the requests in their order, a login's first", function()
  local login, offers = world.folder .. "/login.json", world.folder .. "/offers.json"
  world.write_file(login, "{\"access_token\": \"0123456789abcdef\", \"expires_in\": 60}")
  world.write_file(offers, "{\"currency\": \"EUR\", \"offers\": []}")
  local tried, code = try_json("farm_oauth", SEARCH, "--body", login, "--body", offers)
  equal(0, code, json.encode(tried))
  equal("login", tried.exchanges[1].kind, "the first")
  equal("empty", tried.report.outcome, "outcome")
  if json.encode(tried):find("0123456789abcdef", 1, true) then
    error("the login is shown: " .. json.encode(tried))
  end
  tried = try_json("farm_oauth", SEARCH, "--body", offers, "--login", "\"0123456789abcdef\"")
  equal(1, #tried.exchanges, "no login is fetched")
  equal("empty", tried.report.outcome, "outcome")
end)

test("a request without a saved answer is told as such", function()
  local login = world.folder .. "/login.json"
  local tried, code = try_json("farm_oauth", SEARCH, "--body", login)
  equal(1, code, "exit code")
  equal("no_saved_answer", tried.exchanges[2].result, "result")
end)

-- ---- the clock of saved answers ------------------------------------------------------------------------------------

local OLD_STAY = world.folder .. "/old_stay.json"
world.write_file(OLD_STAY, json.encode {
  query = { place = { city = "LON" }, check_in = "2021-11-01", check_out = "2021-11-04", rooms = { { adults = 2 } },
    currency = "EUR" },
})

test("a saved answer of long ago is played on the day before its search's first date", function()
  local tried, code = try_json("careless", OLD_STAY, "--body", ROOMS)
  equal(1, code, json.encode(tried))
  equal("answered", tried.report.outcome, "outcome")
  equal("2021-10-31T12:00:00.000Z", tried.now, "clock")
  contains(lastcall("try", "careless", OLD_STAY, "--body", ROOMS), "the day before the search's first date")
  local output
  output, code = lastcall("record", "careless", OLD_STAY, "--body", ROOMS, "--as", "ok-old")
  equal(0, code, output)
  contains(output, "2021-10-31T12:00:00.000Z")
  passes("careless")
end)

test("a fixture that is tried brings its own clock", function()
  local path = world.folder .. "/old_fixture.json"
  world.write_file(path, json.encode { now = "2021-10-05T08:00:00Z", search = json.decode(world.read_file(OLD_STAY)) })
  local tried, code = try_json("careless", path, "--body", ROOMS)
  equal(1, code, json.encode(tried))
  equal("answered", tried.report.outcome, "outcome")
  equal("2021-10-05T08:00:00.000Z", tried.now, "clock")
  equal("fixture", tried.now_from, "whose")
end)

test("a saved answer of a search to come is played now", function()
  equal(nil, try_json("careless", STAY, "--body", ROOMS).now, "clock")
end)

-- ---- what an author has to know ------------------------------------------------------------------------------------

local LOGIN, OFFERS = world.folder .. "/login.json", world.folder .. "/offers.json"

test("a search that the product refuses is told with its reason", function()
  local output, code = lastcall("record", "careless", SEARCH, "--as", "ok-refused", "--body", ROOMS)
  equal(2, code, output)
  contains(output, "error[E0803]")
  contains(output, "/query/")
end)

test("an answer that the script cannot read is told with its cause, and is no fixture of trouble", function()
  local output, code = lastcall("record", "buggy", STAY, "--as", "ok-stay", "--body", ROOMS)
  equal(1, code, output)
  contains(output, "buggy.lua:4: error[E0421]")
  contains(output, "nothing to keep as ok-stay")
  equal(nil, output:find("odd-stay", 1, true), output)
end)

test("a saved answer that is larger than the script's cap is told as such", function()
  local path = world.folder .. "/wide.json"
  world.write_file(path, "{\"rooms\": []" .. (" "):rep(9000000) .. "}")
  local output, code = lastcall("try", "careless", STAY, "--body", path)
  equal(1, code, output)
  contains(output, "error[E0505]")
  contains(output, "the body is larger than its cap")
  contains(output, "limits.body")
end)

test("the answer to a login is kept without what tells whose account it is", function()
  local path = world.folder .. "/whose.json"
  world.write_file(path, json.encode {
    access_token = "0123456789abcdef", expires_in = 60, token_type = "Bearer", until_then = "2030-01-01T00:00:00Z",
    client_id = "Hs0sNkpTXeu0", username = "me@mydomain.example", number = "AG-4711",
    refresh = { value = "REFRESHED" }, user = { pin = "4711" },
  })
  local output, code = lastcall("record", "farm_oauth", SEARCH, "--body", path, "--body", OFFERS, "--as", "odd-whose")
  equal(0, code, output)
  local kept = world.read_file(SUPPLIERS .. "/farm_oauth.test/odd-whose.1.body.json")
  for _, value in ipairs { "0123456789abcdef", "Hs0sNkpTXeu0", "me@mydomain.example", "4711", "REFRESHED" } do
    equal(nil, kept:find(value, 1, true), value .. " is kept: " .. kept)
  end
  contains(kept, "Bearer", "a word")
  contains(kept, "2030-01-01T00:00:00Z", "a time")
  passes("farm_oauth")
end)

test("offers of another day than was asked are told", function()
  world.write_file(SUPPLIERS .. "/airline.lua", [[
return {
  name = "airline", product = "flights", owner = "farm@example.com", hosts = { "api.airline.example" },
  build_request = function() return { method = "GET", url = "https://api.airline.example/" } end,
  normalise = plan {
    each = "offers[]",
    offer = {
      id = "id", price = { total = "total", currency = const "EUR", taxes_included = const "yes" },
      slices = { each = "slices[]", segments = { each = "segments[]", carrier = const "QF", number = "number",
        origin = const "SYD", destination = const "BKK", departs = { ["local"] = "from" },
        arrives = { ["local"] = "to" } } },
    },
  },
}
]])
  local function offer(id, day)
    return { id = id, total = "10" .. id .. ".00", slices = { { segments = { { number = id,
      from = day .. "T08:00:00", to = day .. "T18:00:00" } } } } }
  end
  local body, search = world.folder .. "/days.json", world.folder .. "/day_search.json"
  world.write_file(body, json.encode { offers = { offer("1", "2030-11-01"), offer("2", "2030-11-02") } })
  world.write_file(search, json.encode { query = { slices = { { origin = "SYD", destination = "BKK",
    date = "2030-11-01" } }, travellers = { { type = "adult" } }, currency = "EUR" } })
  local tried, code = try_json("airline", search, "--body", body)
  equal(0, code, json.encode(tried))
  equal(2, #tried.offers, json.encode(tried))
  equal(1, tried.offers_of_other_days, "of another day")
  contains(lastcall("try", "airline", search, "--body", body), "1 of 2 offers leave on another day")
end)

test("offers of other slices, in another order, or to other places than were asked are told", function()
  local body, search = world.folder .. "/fit.json", world.folder .. "/fit_search.json"
  local function slice(number, day, hour)
    return { segments = { { number = number, from = day .. "T" .. hour .. ":00:00",
      to = day .. "T" .. (hour + 5) .. ":00:00" } } }
  end
  local function play(slices, ...)
    local offers = {}
    for index, list in ipairs { ... } do
      offers[index] = { id = tostring(index), total = "10" .. index .. ".00", slices = list }
    end
    world.write_file(body, json.encode { offers = offers })
    world.write_file(search, json.encode { query = { slices = slices, travellers = { { type = "adult" } },
      currency = "EUR" } })
    local tried, code = try_json("airline", search, "--body", body)
    equal(0, code, json.encode(tried))
    return tried, lastcall("try", "airline", search, "--body", body)
  end
  local there = { origin = "SYD", destination = "BKK", date = "2030-11-01" }
  local tried, output = play({ there }, { slice("1", "2030-11-01", 10) },
    { slice("2", "2030-11-01", 12), slice("3", "2030-11-01", 10) })
  equal(1, tried.offers_of_other_slices, "slices")
  equal(1, tried.offers_of_other_orders, "order")
  equal(nil, tried.offers_of_other_places, "places")
  contains(output, "1 of 2 offers have another number of slices than the search, 1: the first has 2")
  contains(output, "1 of 2 offers have a slice that leaves before the one before it has arrived")
  -- An airport of a city is a remark only: nobody here knows which cities there are.
  there.destination = "LON"
  tried, output = play({ there }, { slice("1", "2030-11-01", 10) })
  equal(1, tried.offers_of_other_places, "places")
  equal(nil, tried.offers_of_other_slices, "slices")
  contains(output, "1 of 1 offers go from or to other places, the first SYD-BKK where SYD-LON was asked")
  output = lastcall("record", "airline", search, "--body", body, "--as", "ok-fit")
  contains(output, "1 of 1 offers go from or to other places")
  -- A search that is open by a day is answered by the next one.
  there.destination, there.flex_days = "BKK", 1
  tried, output = play({ there }, { slice("1", "2030-11-02", 10) })
  equal(nil, tried.offers_of_other_days, output)
  equal(nil, tried.fit, output)
  tried = play({ there }, { slice("1", "2030-11-03", 10) })
  equal(1, tried.offers_of_other_days, "days")
end)

test("a leaf's function that comes upon nothing is told with where its paths lead", function()
  local function play(cabin)
    world.write_file(SUPPLIERS .. "/upper.lua", ([[
return {
  name = "upper", product = "flights", owner = "farm@example.com", hosts = { "api.upper.example" },
  build_request = function() return { method = "GET", url = "https://api.upper.example/" } end,
  normalise = plan {
    each = "offers[]",
    offer = {
      id = "id", price = { total = "total", currency = const "EUR", taxes_included = const "yes" },
      slices = { each = ".", segments = { each = "legs[]", of = ref("flights", "key"), carrier = const "QF",
        number = "number", cabin = %s, origin = const "SYD", destination = const "BKK",
        departs = { ["local"] = "from" }, arrives = { ["local"] = "to" } } },
    },
  },
}
]]):format(cabin))
    local body, search = world.folder .. "/upper.json", world.folder .. "/upper_search.json"
    world.write_file(body, json.encode { flights = { { key = "f", number = "7", from = "2030-11-01T08:00:00",
      to = "2030-11-01T18:00:00" } },
    offers = { { id = "1", total = "10.00", legs = { "f" }, cabins = { one = "economy" } } } })
    world.write_file(search, json.encode { query = { slices = { { origin = "SYD", destination = "BKK",
      date = "2030-11-01" } }, travellers = { { type = "adult" } }, currency = "EUR" } })
    return lastcall("try", "upper", search, "--body", body)
  end
  contains(play("{ up(3).cabins, function(cabins) return cabins.one end }"), "economy", "the offer is up(3)")
  local output = play("{ up(3).cabbins, function(cabins) return cabins.one end }")
  contains(output, "E0421")
  contains(output, "the leaf's path 1 found nothing at body.offers[1].cabbins")
  contains(output, "did you mean `cabins`?")
  output = play("{ up(3).id, up(4).cabins, up(4).x, function(_, cabins) return cabins.one end }")
  contains(output, "the leaf's path 2 found nothing at body.cabins")
  contains(output, "the leaf's path 3 found nothing at body.x")
  contains(output, "body is { ")
  contains(output, "help: guard what may be missing")
end)

test("of a long request its front and its end are shown", function()
  world.write_file(SUPPLIERS .. "/wordy.lua", [[
return {
  name = "wordy", product = "hotels", owner = "farm@example.com", hosts = { "api.wordy.example" },
  build_request = function()
    local lines = {}
    for index = 1, 60 do
      lines[index] = "line-" .. index
    end
    return { method = "POST", url = "https://api.wordy.example/", json = lines }
  end,
  normalise = function() return {} end,
}
]])
  local output = lastcall("try", "wordy", STAY, "--body", ROOMS)
  contains(output, '"line-1"')
  contains(output, '"line-60"')
  contains(output, "  > … (22 lines; --all shows them)")
  assert(not output:find('"line-30"', 1, true), output)
  output = lastcall("try", "wordy", STAY, "--body", ROOMS, "--all")
  contains(output, '"line-30"')
  assert(not output:find("--all shows them", 1, true), output)
end)

test("a signature that an answer repeats is neither shown nor kept", function()
  local signed = "692672e46ff8354a"
  world.write_file(SUPPLIERS .. "/signing.lua", ([[
return {
  name = "signing", product = "hotels", owner = "farm@example.com", hosts = { "api.signing.example" },
  build_request = function() return { method = "GET", url = "https://api.signing.example/" } end,
  sign = function() return { ["x-sig"] = "%s" } end,
  normalise = function() return {} end,
}
]]):format(signed))
  local path = world.folder .. "/signed.json"
  world.write_file(path, json.encode { said = signed, where = "/l/" .. signed .. "/x" })
  local output = lastcall("try", "signing", STAY, "--body", path, "--header", "location: /l/" .. signed, "--keep", KEEP)
  equal(nil, (output .. world.read_file(KEEP .. "/01.json")):find(signed, 1, true), output)
  local code
  output, code = lastcall("record", "signing", STAY, "--body", path, "--header", "location: /l/" .. signed, "--as",
    "odd-signed")
  equal(0, code, output)
  local folder = SUPPLIERS .. "/signing.test/odd-signed"
  equal(nil, world.read_file(folder .. ".body.json"):find(signed, 1, true), "body")
  passes("signing")
end)

test("a header of two lines, and a folder that cannot be written to, are told", function()
  local output, code = lastcall("try", "xml_reader", STAY, "--body", ROOMS, "--header", "x: 1\nb: c")
  equal(2, code, output)
  contains(output, "is no header")
  local path = world.folder .. "/room.xml"
  world.write_file(path, "<Rooms><Room id=\"a\"><Hotel>h1</Hotel><Name>Double</Name>"
    .. "<Total currency=\"EUR\">9.00</Total></Room></Rooms>")
  output, code = lastcall("try", "xml_reader", STAY, "--body", path, "--keep", "/dev/null")
  equal(3, code, output)
  contains(output, "--keep DIR")
end)

test("one --body too few is told with the request that has none", function()
  local output, code = lastcall("try", "farm_oauth", SEARCH, "--body", LOGIN)
  equal(1, code, output)
  contains(output, "no --body is left for request 2")
  output, code = lastcall("record", "farm_oauth", SEARCH, "--body", LOGIN, "--as", "ok-short")
  equal(1, code, output)
  contains(output, "no --body is left for request 2")
end)

test("one --body too many is told", function()
  local tried, code = try_json("farm_oauth", SEARCH, "--body", LOGIN, "--body", OFFERS, "--body", OFFERS)
  equal(0, code, json.encode(tried))
  equal(1, tried.unused_answers, "unused")
  contains(lastcall("try", "farm_oauth", SEARCH, "--body", LOGIN, "--body", OFFERS, "--body", OFFERS),
    "1 --body was not asked for")
end)

test("a status and headers are of the --body before them", function()
  local refused = world.folder .. "/refused.json"
  world.write_file(refused, "{\"error\": \"expired\"}")
  local over = { "--body", LOGIN, "--body", refused, "--status", "401", "--header", "x-which: second", "--body", LOGIN,
    "--header", "x-which: third", "--header", "x-more: 1", "--body", OFFERS, "--status", "200" }
  local tried, code = try_json("farm_oauth", SEARCH, unpack(over))
  equal(0, code, json.encode(tried))
  local statuses, headers = {}, {}
  for i, exchange in ipairs(tried.exchanges) do
    statuses[i] = exchange.response.status
    for _, header in ipairs(exchange.response.headers) do
      if header.name:find("^x%-") then
        headers[#headers + 1] = i .. header.name .. header.value
      end
    end
  end
  equal("200 401 200 200", table.concat(statuses, " "), "a login that is over, a new one, the search again")
  equal("2x-whichsecond 3x-whichthird 3x-more1", table.concat(headers, " "), "headers")
  equal("empty", tried.report.outcome, "outcome")
  -- What is recorded of it has them, too.
  local output
  output, code = lastcall("record", "farm_oauth", SEARCH, "--as", "odd-login-is-over", unpack(over))
  equal(0, code, output)
  contains(output, "4 exchanges")
end)

test("a status that could be of several answers, and a second one, are refused", function()
  local output, code = lastcall("try", "farm_oauth", SEARCH, "--status", "401", "--body", LOGIN, "--body", OFFERS)
  equal(2, code, output)
  contains(output, "--status 401 stands before all --body")
  contains(output, "--body FILE --status")
  output, code = lastcall("try", "farm_oauth", SEARCH, "--header", "x: 1", "--body", LOGIN, "--body", OFFERS)
  equal(2, code, output)
  contains(output, "--header x: 1 stands before all --body")
  output, code = lastcall("try", "farm_oauth", SEARCH, "--body", LOGIN, "--status", "401", "--status", "403")
  equal(2, code, output)
  contains(output, "--status 403 is the second one")
  output, code = lastcall("try", "farm_oauth", SEARCH, "--body", LOGIN, "--status", "4000")
  equal(2, code, output)
  contains(output, "`4000` is no value for --status")
  -- With one answer there is no doubt.
  local tried = try_json("farm_oauth", SEARCH, "--status", "403", "--body", LOGIN)
  equal(403, tried.exchanges[1].response.status, "status")
end)

test("the answer to a search in place of the login's is told as such", function()
  local output, code = lastcall("try", "farm_oauth", SEARCH, "--body", OFFERS)
  equal(1, code, output)
  contains(output, "the first --body answers the login")
end)

test("a login of a test is not taken out of everything else", function()
  local output = lastcall("try", "farm_oauth", SEARCH, "--body", OFFERS, "--login", "\"test\"")
  contains(output, ".farm.test")
  output = lastcall("try", "farm_oauth", SEARCH, "--body", OFFERS, "--login", "\"0123456789abcdef\"")
  equal(nil, output:find("0123456789abcdef", 1, true), output)
end)

test("a recorded fixture expects all that an offer says, and notices when it says something else", function()
  local output, code = lastcall("record", "careless", STAY, "--body", ROOMS, "--as", "odd-whole")
  equal(0, code, output)
  local first = json.decode(world.read_file(SUPPLIERS .. "/careless.test/odd-whole.json")).expect.first
  equal("careless:a", first.id, "id")
  equal("120.50", first.price.total, "price")
  equal("now", first.pay, "pay")
  equal(nil, first.observed_at, "what the engine adds")
  equal("h1", first.supplier_hotel_id, "hotel")
  equal("Double", first.room, "room")
  equal("room_only", first.board, "board")
  local path = SUPPLIERS .. "/careless.lua"
  local before = world.read_file(path)
  world.write_file(path, (before:gsub("const \"room_only\"", "const \"breakfast\"")))
  output, code = lastcall("test", "careless")
  world.write_file(path, before)
  equal(1, code, output)
  contains(output, "expect.first.board")
  world.shell(("rm -f %s/careless.test/odd-whole*"):format(SUPPLIERS))
end)

test("of offers at one price none is expected as the first", function()
  local rooms = json.decode(world.read_file(ROOMS)).rooms
  local path = world.folder .. "/same.json"
  rooms[2].total, rooms[3].total = "120.50", "120.50"
  world.write_file(path, json.encode { rooms = rooms })
  local output, code = lastcall("record", "careless", STAY, "--body", path, "--as", "ok-same")
  equal(0, code, output)
  local fixture = json.decode(world.read_file(SUPPLIERS .. "/careless.test/ok-same.json"))
  equal(nil, fixture.expect.first.id, "id")
  equal("120.50", fixture.expect.first.price.total, "price")
  equal("now", fixture.expect.first.pay, "what all of them say")
  equal("room_only", fixture.expect.first.board, "what all of them are")
  output, code = lastcall("test", "careless")
  equal(0, code, output)
end)

test("who keeps the answer to a login is asked to look at it", function()
  local output, code = lastcall("record", "farm_oauth", SEARCH, "--body", LOGIN, "--body", OFFERS, "--as", "odd-none")
  equal(0, code, output)
  contains(output, "look at the bodies")
end)

test("what is wrong before the call has its code, place and remedy", function()
  local output, code = lastcall("try", "carelss", STAY)
  equal(2, code, output)
  contains(output, "did you mean `careless`?")
  output, code = lastcall("try", "careless", "no-such-file.json")
  equal(3, code, output)
  contains(output, "cannot be read")
  output, code = lastcall("try", "careless", SEARCH, "--body", ROOMS)
  equal(2, code, output)
  contains(output, "refused")
  output, code = lastcall("try", "careless", STAY, "--status", "429")
  equal(2, code, output)
  contains(output, "--body")
  output, code = world.shell(("%s/lastcall try farm_oauth %s -c %s"):format(world.build, SEARCH, OVERLAY))
  equal(3, code, output)
  contains(output, "error[E0602]")
  contains(output, "FARM_SECRET")
end)

test("a redirect is told as one", function()
  local path = world.folder .. "/moved.html"
  world.write_file(path, "<html>moved</html>")
  local tried = try_json("buggy", STAY, "--body", path, "--status", "302", "--header", "Location: /elsewhere")
  equal("E0706", tried.findings[1].code, tried.findings[1].message)
  contains(tried.findings[1].message, "a redirect (302)")
end)

test("the path of the file is a name, and a fixture is a search", function()
  local fixture = SUPPLIERS .. "/careless.test/ok-rooms.json"
  local tried, code = try_json(SUPPLIERS .. "/careless.lua", fixture, "--body", ROOMS)
  equal(1, code, "exit code")
  equal("careless", tried.supplier, "supplier")
end)

world.finish()
