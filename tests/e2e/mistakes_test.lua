-- Mistakes: what authors get wrong, each seeded into one good supplier with a login, two steps and a fixture.
-- variants: release asan
-- `check` or `test` finds it at its line, under its code, and says what to do about it. No socket is opened.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal
local author = require("tests.e2e.author")

local bench = author.bench("mistakes")

-- One finding that is what the case says of it.
local function is_found(case, finding, file, line)
  if finding.file ~= file or finding.line ~= line or (finding.code ~= case.code) then
    return false
  end
  for _, words in ipairs(case.says) do
    if not author.holds(finding.message, words) then
      return false
    end
  end
  for _, words in ipairs(case.help) do
    if not author.holds(finding.help, words) then
      return false
    end
  end
  return true
end

-- name, what finds it, the patch of the script (or `fixture_…` of its fixture), where it is found (words of that line),
-- its code, words of the message and of the help
local MISTAKES = {
  {
    "a misspelt function", by = "check", code = "E0411",
    old = "money.parse(", new = "money.prase(", at = "money.prase(",
    says = { "money.prase" }, help = { "did you mean", "money.parse" },
  },
  {
    "a missing return", by = "test", code = "E0451",
    old = "    return offers\n  end,\n}", new = "  end,\n}", at = "  normalise = function",
    says = { "normalise", "returned nothing" }, help = { "return" },
  },
  {
    "a wrong type", by = "check", code = "E0206",
    old = 'hosts = { "api.acme.example" }', new = 'hosts = "api.acme.example"', at = "hosts = ",
    says = { "hosts", "a table", "string" }, help = { 'hosts = { "api.acme.example" }' },
  },
  {
    "an unknown key", by = "check", code = "E0204",
    old = "  ceiling = function", new = "  celing = function", at = "celing = ",
    says = { "unknown field", "celing" }, help = { "did you mean", "ceiling" },
  },
  {
    "a global that is written", by = "check", code = "E0412",
    old = "    local body = response:json()", new = "    body = response:json()",
    at = "    body = response:json()", says = { "body", "global" }, help = { "local" },
  },
  {
    "a field that only the second offer lacks", by = "test", code = "E0421",
    at = "money.parse(",
    fixture_old = '"total": { "amount": "102.00", "currency": "EUR" }, ', fixture_new = "",
    says = { "total" }, help = { "fail.unexpected" },
  },
  {
    "money that is a float", by = "test", code = "E0432",
    old = "money.parse(fare.total.amount,", new = "money.parse(fare.total.amount * 1.1,",
    at = "money.parse(", says = { "float" }, help = { "decimal", "text" },
  },
  {
    "an unknown currency", by = "test", code = "E0433",
    fixture_old = '"amount": "102.00", "currency": "EUR"',
    fixture_new = '"amount": "102.00", "currency": "EURO"',
    fixture_at = '"expect": {',
    says = { "EURO", "currency" }, help = { "ISO 4217" },
  },
  {
    "an airport that nobody knows", by = "test", code = "E0436",
    fixture_old = '"total": { "amount": "102.00", "currency": "EUR" }, "number": "7", "from": "MAD"',
    fixture_new = '"total": { "amount": "102.00", "currency": "EUR" }, "number": "7", "from": "QQQ"',
    fixture_at = '"expect": {',
    says = { "origin", "QQQ" }, help = { "IATA", "airports.txt" },
  },
  {
    "a date in a wrong format", by = "test", code = "E0435",
    fixture_old = '"departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" },\n'
      .. "        " .. '{ "id": "f2"',
    fixture_new = '"departs": "12/05/2027 08:05", "arrives": "2027-05-12T09:35" },\n        { "id": "f2"',
    fixture_at = '"expect": {',
    says = { "departs", "12/05/2027 08:05" }, help = { "time." },
  },
  {
    "a host that is not allowed", by = "test", code = "E0601",
    old = 'path = "/search",', new = 'url = "https://api2.acme.example/search",',
    at = "build_request = function(search", says = { "api2.acme.example" }, help = { "hosts" },
  },
  {
    "a secret that is missing", by = "check --secrets", code = "E0602",
    at = "secrets = {", says = { "ACME_KEY" },
    help = { "ACME_KEY", "secrets_dir" },
  },
  {
    "an endless loop", by = "test", code = "E0501",
    old = "    local offers = map(body.fares, read_offer)",
    new = "    local offers = map(body.fares, read_offer)\n    while ctx.options.page_size do end",
    at = "    while ctx.options.page_size do", needs_signals = true,
    says = { "more than 1000 ms" }, help = { "loop" },
  },
  {
    "a bad path of a shape", by = "check", code = "E0212",
    old = "response:json { token = text }", new = 'response:json { token = "txt" }',
    at = "response:json {", says = { "shape at `token`" }, help = { "leaves" },
  },
  {
    "a syntax error", by = "check", code = "E0202",
    old = "local function read_offer(fare)", new = "local function read_offer(fare",
    at = "  return {\n    id = fare.id", says = { "')' expected near" }, help = { "line above" },
  },
  {
    "a string that is returned", by = "test", code = "E0451",
    old = "    return offers\n  end,\n}",
    new = '    return "nothing found"\n  end,\n}',
    at = "normalise = function", says = { "normalise", "list of offers", "string" }, help = { "return" },
  },
  {
    "a search that is changed", by = "test", code = "E0402",
    old = "    local slice = search.query.slices[1]",
    new = '    local slice = search.query.slices[1]\n    search.query.cabin = "first"',
    at = "    search.query.cabin = ",
    says = { "read-only" }, help = { "copy" },
  },
  {
    "a next step without end", by = "test", code = "E0606",
    old = "    if body.more then", new = "    if true then",
    old2 = '"/search/" .. body.more', new2 = '"/search/" .. (body.more or "p2")', fixture_at = '"exchanges": [',
    says = { "request 4 was sent" }, help = { "next", "exchange" },
  },
  {
    "a login that fails", by = "test", code = "E0605",
    fixture_old = '"status": 200, "after_ms": 60, "json": { "token": "token-one" }',
    fixture_new = '"status": 401, "after_ms": 60, "json": { "error": "no" }',
    fixture_at = "https://api.acme.example/login",
    says = { "login failed", "401" }, help = { "secrets", "fail.auth" },
  },
  {
    "a huge state", by = "test", code = "E0503",
    old = "state = { page = ctx.step }", new = 'state = { page = ("x"):rep(70000) }',
    at = "normalise = function", says = { "state", "64 KiB" }, help = { "cursor", "page" },
  },
  {
    "a field of the query that another part of the search has", by = "test", code = "E0413",
    old = "day = slice.date,", new = "day = slice.date, currency = search.query.currency,",
    at = "currency = search.query.currency,",
    says = { "there is no search.query.currency", "search.currency has it" }, help = { "mend the name" },
  },
  {
    "a misspelt field of a slice", by = "test", code = "E0413",
    old = "day = slice.date,", new = "day = slice.date, near = slice.orgin,", at = "near = slice.orgin,",
    says = { "there is no search.query.slices[1].orgin" }, help = { "did you mean", "origin" },
  },
  {
    "an option that is not declared", by = "test", code = "E0413",
    old = "day = slice.date,", new = "day = slice.date, direct = ctx.options.nonstop,",
    at = "direct = ctx.options.nonstop,",
    says = { "there is no ctx.options.nonstop" }, help = { "mend the name" },
  },
  {
    "a misspelt field of ctx", by = "test", code = "E0413",
    old = "state = { page = ctx.step }", new = "state = { page = ctx.stepp }", at = "state = { page = ctx.stepp }",
    says = { "there is no ctx.stepp" }, help = { "did you mean", "step" },
  },
  {
    "a field that no response has", by = "test", code = "E0413",
    old = "    local body = response:json()",
    new = "    local ok = response.code == 200\n    local body = response:json()",
    at = "    local ok = response.code", says = { "there is no response.code", "status" }, help = { "mend the name" },
  },
  {
    "a path that is a whole URL", by = "test", code = "E0603",
    old = 'path = "/search",', new = 'path = "https://api.acme.example/search",',
    at = "build_request = function(search", says = { "`path` is a whole URL" }, help = { "url" },
  },
  {
    "a word of Lua as a name", by = "check", code = "E0202",
    old = 'departs = { ["local"] = fare.departs }', new = "departs = { local = fare.departs }",
    at = "departs = { local =", says = { "near 'local'" }, help = { '["local"] =' },
  },
  {
    "a word of Lua as a name of its own line", by = "check", code = "E0202",
    old = "    id = fare.id,", new = "    id = fare.id,\n    end = fare.to,", at = "    end = fare.to,",
    says = { "near" }, help = { '["end"] =' },
  },
  {
    "a regular expression", by = "check", code = "E0202",
    old = "number = fare.number,", new = [[number = fare.number:match("\d+"),]], at = "number = fare.number:match",
    says = { "escape" }, help = { "`%d`, not `\\d`" },
  },
  {
    "a global of Lua that scripts do not have", by = "check", code = "E0411",
    old = "    local offers = map(", new = '    print("here")\n    local offers = map(', at = '    print("here")',
    says = { '"print" is not available to scripts' }, help = { "use log.info" },
  },
  {
    "another name than the file's", by = "check", code = "E0217",
    old = 'name = "acme"', new = 'name = "acmee"', at = 'name = "acmee"',
    says = { "the file says" }, help = { "rename" },
  },
  {
    "an airport in small letters", by = "test", code = "E0305", fixture_at = '"expect": {',
    old = "origin = fare.from,", new = "origin = fare.from:lower(),",
    says = { "airports are capitals" }, help = {},
  },
  {
    "a module that is not there", by = "check", code = "E0208",
    old = "-- One good supplier.", new = 'local parts = require("prats")',
    at = 'require("prats")', says = { "prats" }, help = { "did you mean", "parts" },
  },
}

test("the good supplier has no finding", function()
  bench:write()
  for _, command in ipairs { "check", "check --strict", "test" } do
    local findings, code = bench:run(command)
    equal("", author.show_all(findings), command)
    equal(0, code, command)
  end
  local findings = bench:run("check --secrets", "ACME_KEY=there")
  equal("", author.show_all(findings), "check --secrets")
end)

test("a field that is only absent this time is no finding", function()
  bench:write { script = author.with(author.script, "day = slice.date,",
    "day = slice.date, stops = search.query.max_stops, age = search.query.travellers[1].age, back = search.nights,\n"
      .. "        second = search.query.slices[2], key = ctx.state, ip = search.client, market = search.market,") }
  local findings, code = bench:run("test")
  equal("", author.show_all(findings))
  equal(0, code)
end)

-- Finds one.
local function seed(case)
  test(case[1] .. " is found by " .. case.by, function()
    local script = case.old and author.with(author.script, case.old, case.new) or author.script
    script = case.old2 and author.with(script, case.old2, case.new2) or script
    local fixture = author.fixture
    if case.fixture_old then
      fixture = author.with(fixture, case.fixture_old, case.fixture_new)
    end
    bench:write { script = script, fixture = fixture }
    local file = case.fixture_at and bench.fixture or bench.script
    local line = case.fixture_at and author.line_of(fixture, case.fixture_at) or author.line_of(script, case.at)
    local findings, code = bench:run(case.by)
    equal(true, code == 1 or code == 3, case.by .. " fails")
    for _, finding in ipairs(findings) do
      if is_found(case, finding, file, line) then
        return
      end
    end
    error(("not found at %s:%d under %s\n%s"):format(file, line, case.code, author.show_all(findings)), 0)
  end)
end

for _, case in ipairs(MISTAKES) do
  if case.needs_signals and os.getenv("LASTCALL_VARIANT") == "tsan" then
    world.skip(case[1] .. " is found by " .. case.by, "ThreadSanitizer delivers the signal too late")
  else
    seed(case)
  end
end

bench:remove()
world.finish()
