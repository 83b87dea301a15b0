-- Mistakes: what authors get wrong, each seeded into one good supplier with a login, two steps and a fixture. `check` or
-- `test` finds it at its line, under its code, and says what to do about it. No socket is opened.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local FOLDER = world.folder .. "/mistakes"
local FILE = FOLDER .. "/acme.lua"
local LASTCALL = world.build .. "/lastcall"

local GOOD = [==[
-- One good supplier.
local function read_price(fare)
  local total = money.parse(fare.total.amount, fare.total.currency)
  return { total = total, currency = fare.total.currency, taxes_included = "yes" }
end

local function read_offer(fare)
  return {
    id = fare.id,
    price = read_price(fare),
    slices = { { segments = { {
      carrier = "ZZ",
      number = fare.number,
      origin = fare.from,
      destination = fare.to,
      departs = { ["local"] = fare.departs },
      arrives = { ["local"] = fare.arrives },
    } } } },
  }
end

return {
  name = "acme",
  product = "flights",
  owner = "flights@example.com",
  docs = "https://acme.example/docs",
  hosts = { "api.acme.example" },
  secrets = { "ACME_KEY" },
  options = { base_url = "https://api.acme.example", page_size = 50 },

  login = {
    build_request = function(ctx)
      return { method = "POST", path = "/login", form = { key = ctx.secret.ACME_KEY } }
    end,
    read = function(response)
      local granted = response:json { token = text }
      return { value = granted.token, expires_in_s = 600 }
    end,
  },

  ceiling = function(search)
    return search.query.cabin == "business" and 1500 or 1200
  end,

  build_request = function(search, ctx)
    local slice = search.query.slices[1]
    return {
      method = "POST",
      path = "/search",
      headers = { authorization = "Bearer " .. ctx.login },
      json = { from = slice.origin, to = slice.destination, day = slice.date, limit = ctx.options.page_size },
    }
  end,

  normalise = function(response, search, ctx)
    local body = response:json()
    local offers = map(body.fares, read_offer)
    if body.more then
      return offers, { next = { request = { path = "/search/" .. body.more }, state = { page = ctx.step } } }
    end
    return offers
  end,
}
]==]

local FARE = [[{ "id": "%s", "total": { "amount": "%s", "currency": "EUR" }, "number": "7", "from": "MAD", "to": "LHR",
          "departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" }]]

local FIXTURE = [==[
{ "about": "one way, two pages",
  "search": { "product": "flights", "budget_ms": 2000,
    "query": { "slices": [{ "origin": "MAD", "destination": "LHR", "date": "2027-05-12" }],
      "travellers": [{ "type": "adult" }], "currency": "EUR" } },
  "now": "2026-11-29T09:00:00Z",
  "secrets": { "ACME_KEY": "test-key" },
  "exchanges": [
    { "expect_request": { "method": "POST", "url": "https://api.acme.example/login", "form": { "key": "test-key" } },
      "response": { "status": 200, "after_ms": 60, "json": { "token": "token-one" } } },
    { "expect_request": { "method": "POST", "url": "https://api.acme.example/search",
        "json": { "from": "MAD", "to": "LHR", "day": "2027-05-12", "limit": 50 } },
      "response": { "status": 200, "after_ms": 400, "json": { "more": "p2", "fares": [
        FARE1,
        FARE2 ] } } },
    { "expect_request": { "url": "https://api.acme.example/search/p2" },
      "response": { "status": 200, "after_ms": 300, "json": { "fares": [
        FARE3 ] } } }
  ],
  "expect": { "outcome": "answered", "offers": 3,
    "first": { "id": "acme:f1", "price": { "total": "101.00", "currency": "EUR" } } }
}
]==]
for index = 1, 3 do
  FIXTURE = FIXTURE:gsub("FARE" .. index, FARE:format("f" .. index, "10" .. index .. ".00"))
end

local ODD = [==[
{ "search": { "product": "flights", "query": { "slices": [{ "origin": "MAD", "destination": "LHR", "date": "2027-05-12" }],
    "travellers": [{ "type": "adult" }] } },
  "now": "2026-11-29T09:00:00Z", "secrets": { "ACME_KEY": "test-key" }, "login": "token-one",
  "exchanges": [{ "response": { "status": 503 } }],
  "expect": { "outcome": "failed" } }
]==]

local SETTINGS = ("suppliers_dir: %s\nscripts_dir: scripts\n"):format(FOLDER)

-- `text` with its one `old` as `new`, both as they are.
local function with(text, old, new)
  local first, last = text:find(old, 1, true)
  assert(first, "the good one has no " .. old)
  assert(not text:find(old, last + 1, true), "the good one has several " .. old)
  return text:sub(1, first - 1) .. new .. text:sub(last + 1)
end

-- The line on which `words` stand, which stand once.
local function line_of(text, words)
  local first, last = text:find(words, 1, true)
  assert(first, "nowhere: " .. words)
  assert(not text:find(words, last + 1, true), "more than once: " .. words)
  return select(2, text:sub(1, first):gsub("\n", "")) + 1
end

local function show(finding)
  return ("%s:%d: %s: %s\n  help: %s"):format(finding.file, finding.line, finding.code or "no code", finding.message,
    finding.help)
end

local function show_all(findings)
  local lines = {}
  for _, finding in ipairs(findings) do
    lines[#lines + 1] = show(finding)
  end
  return table.concat(lines, "\n")
end

-- Runs the command over the supplier; its findings, exit code, and all that it said.
local function run(command, environment)
  local said, code = world.shell(("env -u ACME_KEY %s LSAN_OPTIONS=detect_leaks=1 %s %s --json -c %s/lastcall.yaml")
    :format(environment or "", LASTCALL, command, FOLDER))
  local is_json, answer = pcall(world.json.decode, said)
  assert(is_json, "no JSON: " .. said)
  return answer.findings, code, answer
end

local function write(script, fixture, settings)
  world.shell(("rm -rf %s && mkdir -p %s/acme.test"):format(FOLDER, FOLDER))
  world.write_file(FILE, script)
  world.write_file(FOLDER .. "/acme.test/ok-two-pages.json", fixture)
  world.write_file(FOLDER .. "/acme.test/odd-busy.json", ODD)
  world.write_file(FOLDER .. "/lastcall.yaml", settings)
end

local function holds(text, words)
  return text:lower():find(words:lower(), 1, true) ~= nil
end

-- One finding that is what the case says of it.
local function is_found(case, finding, file, line)
  if finding.file ~= file or finding.line ~= line or (case.code and finding.code ~= case.code) then
    return false
  end
  for _, words in ipairs(case.says) do
    if not holds(finding.message, words) then
      return false
    end
  end
  for _, words in ipairs(case.help) do
    if not holds(finding.help, words) then
      return false
    end
  end
  return true
end

-- name, what finds it, the patch of the script (or `fixture_…` of its fixture), where it is found (words of that line),
-- its code, words of the message and of the help
local MISTAKES = {
  {
    "a misspelt function", by = "check", old = "money.parse(", new = "money.prase(", at = "money.prase(",
    says = { "money.prase" }, help = { "did you mean", "money.parse" },
  },
  {
    "a missing return", by = "test", old = "    return offers\n  end,\n}", new = "  end,\n}", at = "  normalise = function",
    says = { "normalise", "returned nothing" }, help = { "return offers", "{}" },
  },
  {
    "a wrong type", by = "check", old = 'hosts = { "api.acme.example" }', new = 'hosts = "api.acme.example"', at = "hosts = ",
    says = { "hosts", "a table", "string" }, help = { 'hosts = { "api.acme.example" }' },
  },
  {
    "an unknown key", by = "check", old = "  ceiling = function", new = "  celing = function", at = "celing = ",
    says = { "unknown field", "celing" }, help = { "did you mean", "ceiling" },
  },
  {
    "a global that is written", by = "check", old = "    local body = response:json()", new = "    body = response:json()",
    at = "    body = response:json()", says = { "body", "global" }, help = { "local" },
  },
  {
    "a field that only the second offer lacks", by = "test", at = "money.parse(",
    fixture_old = '"total": { "amount": "102.00", "currency": "EUR" }, ', fixture_new = "",
    says = { "total" }, help = { "fail.unexpected" },
  },
  {
    "money that is a float", by = "test", old = "money.parse(fare.total.amount,", new = "money.parse(fare.total.amount * 1.1,",
    at = "money.parse(", says = { "number" }, help = { "text", "json" },
  },
  {
    "an unknown currency", by = "test", fixture_old = '"amount": "102.00", "currency": "EUR"',
    fixture_new = '"amount": "102.00", "currency": "EURO"', fixture_at = '"expect": {',
    says = { "EURO", "currency" }, help = { "ISO 4217" },
  },
  {
    "a date in a wrong format", by = "test", fixture_old = '"departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" },\n'
      .. "        " .. '{ "id": "f2"',
    fixture_new = '"departs": "12/05/2027 08:05", "arrives": "2027-05-12T09:35" },\n        { "id": "f2"', fixture_at = '"expect": {',
    says = { "departs", "12/05/2027 08:05" }, help = { "time." },
  },
  {
    "a host that is not allowed", by = "test", old = 'path = "/search",', new = 'url = "https://api2.acme.example/search",',
    at = "build_request = function(search", says = { "api2.acme.example" }, help = { "hosts" },
  },
  {
    "a secret that is missing", by = "check --secrets", at = "secrets = {", says = { "ACME_KEY" },
    help = { "ACME_KEY", "secrets_dir" },
  },
  {
    "an endless loop", by = "test", old = "    local offers = map(body.fares, read_offer)",
    new = "    local offers = map(body.fares, read_offer)\n    while body do\n    end", at = "    while body do",
    says = { "more than" }, help = { "loop" },
  },
  {
    "a bad path of a shape", by = "check", old = "response:json { token = text }", new = 'response:json { token = "txt" }',
    at = "response:json {", says = { "txt" }, help = { "text" },
  },
  {
    "a syntax error", by = "check", old = "local function read_offer(fare)", new = "local function read_offer(fare",
    at = "local function read_offer(fare", says = { "expected near" }, help = { ")" },
  },
  {
    "a string that is returned", by = "test", old = "    return offers\n  end,\n}", new = '    return "nothing found"\n  end,\n}',
    at = "normalise = function", says = { "normalise", "nothing found" }, help = { '"empty"', "list" },
  },
  {
    "a search that is changed", by = "test", old = "    local slice = search.query.slices[1]",
    new = '    local slice = search.query.slices[1]\n    search.query.cabin = "first"', at = "    search.query.cabin = ",
    says = { "read-only" }, help = { "local", "copy" },
  },
  {
    "a next step without end", by = "test", old = "    if body.more then", new = "    if true then",
    old2 = '"/search/" .. body.more', new2 = '"/search/" .. (body.more or "p2")', fixture_at = '"exchanges": [',
    says = { "request 4 was sent" }, help = { "next", "exchange" },
  },
  {
    "a login that fails", by = "test", fixture_old = '"status": 200, "after_ms": 60, "json": { "token": "token-one" }',
    fixture_new = '"status": 401, "after_ms": 60, "json": { "error": "no" }', fixture_at = '"expect": {',
    says = { "login" }, help = { "secret" },
  },
  {
    "a huge state", by = "test", old = "state = { page = ctx.step }", new = 'state = { page = ("x"):rep(70000) }',
    at = "normalise = function", says = { "state", "64 KiB" }, help = { "cursor" },
  },
  {
    "a module that is not there", by = "check", old = "-- One good supplier.", new = 'local parts = require("prats")',
    at = 'require("prats")', says = { "prats" }, help = { "did you mean", "parts" },
  },
}

test("the good supplier has no finding", function()
  write(GOOD, FIXTURE, SETTINGS)
  for _, command in ipairs { "check", "check --strict", "test" } do
    local findings, code = run(command)
    equal("", show_all(findings), command)
    equal(0, code, command)
  end
  local findings = run("check --secrets", "ACME_KEY=there")
  equal("", show_all(findings), "check --secrets")
end)

for _, case in ipairs(MISTAKES) do
  test(case[1] .. " is found by " .. case.by, function()
    local script = case.old and with(GOOD, case.old, case.new) or GOOD
    script = case.old2 and with(script, case.old2, case.new2) or script
    local fixture = case.fixture_old and with(FIXTURE, case.fixture_old, case.fixture_new) or FIXTURE
    write(script, fixture, SETTINGS)
    local file = case.fixture_at and FOLDER .. "/acme.test/ok-two-pages.json" or FILE
    local line = case.fixture_at and line_of(fixture, case.fixture_at) or line_of(script, case.at)
    local findings, code = run(case.by)
    equal(true, code == 1 or code == 3, case.by .. " fails")
    for _, finding in ipairs(findings) do
      if is_found(case, finding, file, line) then
        return
      end
    end
    error(("not found at %s:%d\n%s"):format(file, line, show_all(findings)), 0)
  end)
end

world.shell("rm -rf " .. FOLDER)
world.finish()
