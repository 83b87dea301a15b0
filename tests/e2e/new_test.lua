-- luacheck: no max line length
-- variants: release asan
-- `lastcall new`: what it writes passes check, test and luacheck as it is; a pasted curl command becomes the request,
-- and none of its secrets is in any file or on the screen.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local ROOT = world.shell("pwd"):match("[^\n]+")
local BINARY = (world.build:sub(1, 1) == "/" and world.build or ROOT .. "/" .. world.build) .. "/lastcall"
local FOLDER = world.folder .. "/new"

-- An empty project, with the scripts of this one.
local function project()
  os.execute("rm -rf " .. FOLDER .. " && mkdir -p " .. FOLDER)
  world.write_file(FOLDER .. "/lastcall.yaml", "scripts_dir: " .. ROOT .. "/scripts\n")
end

local function run(arguments)
  return world.shell(("cd %s && %s %s"):format(FOLDER, BINARY, arguments))
end

local function read(path)
  local content = world.read_file(FOLDER .. "/" .. path)
  assert(content, path .. " was not written")
  return content
end

local function says(text, words)
  assert(text:find(words, 1, true), ("`%s` expected in:\n%s"):format(words, text))
end

local function passes(arguments)
  local text, code = run(arguments)
  equal(0, code, arguments .. ":\n" .. text)
  return text
end

-- The fixture of a new supplier, decoded.
local function fixture_of(name)
  local list = world.shell(("ls %s/suppliers/%s.test/ok-*.json"):format(FOLDER, name))
  return world.json.decode(world.read_file(list:match("[^\n]+")))
end

local function paste(name, text, options)
  world.write_file(FOLDER .. "/curl.txt", text)
  return passes(("new %s --from curl.txt %s"):format(name, options or ""))
end

for _, case in ipairs { { "acme", "flights", "ok-one-way" }, { "inn", "hotels", "ok-stay" } } do
  test(("the template for %s passes check, test and luacheck"):format(case[2]), function()
    project()
    local told = passes(("new %s --product %s"):format(case[1], case[2]))
    says(told, ("wrote suppliers/%s.lua"):format(case[1]))
    says(told, ("lastcall test %s"):format(case[1]))
    says(passes("check"), "0 findings")
    local strict, code = run("check --strict")
    equal(1, code, strict)
    says(strict, "field `docs` is what `lastcall new` made up")
    says(strict, "field `owner` is what `lastcall new` made up")
    says(strict, "2 findings")
    local script = read(("suppliers/%s.lua"):format(case[1]))
    world.write_file(("%s/suppliers/%s.lua"):format(FOLDER, case[1]), (script:gsub("[%w]+@example.com", "us@example.com")
      :gsub("(docs = \"https://developer%.[%w.]+)\"", "%1/search\"")))
    says(passes("check --strict"), "0 findings")
    says(passes("test " .. case[1]), "2 passed, 0 failed; 0 findings")
    read(("suppliers/%s.test/%s.json"):format(case[1], case[3]))
    local text
    text, code = world.shell(("cd %s && luacheck --no-color ."):format(FOLDER))
    if code == 127 then
      world.skip("luacheck", "it is not installed")
    else
      equal(0, code, text)
    end
  end)
end

test("the files for editors are written once, and know what a script sees", function()
  project()
  says(passes("new acme"), "wrote .luarc.json")
  local luarc = world.json.decode(read(".luarc.json"))
  equal(ROOT .. "/scripts/types", luarc["workspace.library"][1])
  equal(0, (select(2, world.shell("test -f " .. ROOT .. "/scripts/types/supplier.lua"))))
  world.write_file(FOLDER .. "/.luarc.json", "{}")
  says(passes("new acme_two"), "left as it is .luarc.json")
  equal("{}", read(".luarc.json"))

  -- The list of globals is that of the sources.
  local function globals_of(path)
    local environment = { stds = {}, files = setmetatable({}, { __index = function() return {} end }), table = table,
      ipairs = ipairs }
    local chunk = setfenv(assert(loadfile(path)), environment)
    chunk()
    local names = environment.stds.sandbox.read_globals
    table.sort(names)
    return table.concat(names, " ")
  end
  equal(globals_of(".luacheckrc"), globals_of(FOLDER .. "/.luacheckrc"))
  world.write_file(FOLDER .. "/suppliers/acme.lua", "assert(os)\n" .. read("suppliers/acme.lua"))
  local text, code = world.shell(("cd %s && luacheck --no-color suppliers/acme.lua"):format(FOLDER))
  if code ~= 127 then
    says(text, "accessing undefined variable 'os'")
  end
end)

test("nothing is written over, and a bad name is refused", function()
  project()
  passes("new acme")
  local before = read("suppliers/acme.lua")
  local text, code = run("new acme")
  equal(2, code)
  says(text, "error: suppliers/acme.lua is there already\nhelp: nothing is written over")
  equal(before, read("suppliers/acme.lua"))
  for _, name in ipairs { "Acme", "1acme", "a-b", "a/b", "..", "a__b", ("x"):rep(64) } do
    text, code = run("new " .. name)
    equal(2, code, name)
    says(text, "cannot be a supplier's name")
  end
  text, code = run("new boats --product boats")
  equal(2, code)
  says(text, "help: one of: flights, hotels")
end)

test("JSON of a browser becomes a table, and a list of slices a loop", function()
  project()
  local told = paste("web", [[
curl 'https://www.web.example/api/v2/search?locale=en-GB&apiKey=AKIA99887766554433' \
  -H 'accept: application/json' \
  -H 'accept-language: en-GB,en;q=0.9' \
  -H 'authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc' \
  -H 'content-type: application/json' \
  -b 'sid=abcdef0123456789; theme=dark' \
  -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)' \
  --data-raw $'{"slices":[{"origin":"MAD","destination":"JFK","date":"2027-03-02"},{"origin":"JFK","destination":"MAD","date":"2027-03-09"}],"passengers":[{"type":"ADT"},{"type":"CHD","age":7}],"currency":"USD","note":"it\'s","none":null,"empty":[],"n":1.50}' \
  --compressed --insecure --happy-eyeballs-timeout-ms 200 | jq .
]])
  for _, secret in ipairs { "AKIA99887766554433", "eyJhbGciOiJIUzI1NiJ9", "abcdef0123456789" } do
    local found, code = world.shell(("cd %s && grep -rl '%s' . --exclude curl.txt"):format(FOLDER, secret))
    equal(1, code, "a secret is in " .. found)
    assert(not told:find(secret, 1, true), "a secret is on the screen")
  end
  says(told, "secret   WEB_TOKEN; its value is in no file")
  says(told, "guessed  json slices[].origin: the origin")
  says(told, "guessed  json passengers[].type: the kind of each traveller")
  says(told, "as it is json note")
  says(told, "left out --insecure: certificates are always checked")
  says(told, "left out --happy-eyeballs-timeout-ms: an option that is not known here")
  says(told, "left out header user-agent")
  says(told, "left out behind the command")
  local script = read("suppliers/web.lua")
  says(script, "map(search.query.slices, function(slice)")
  says(script, "date = slice.date")
  says(script, 'type = ({ adult = "ADT", child = "CHD", infant_lap = "INF" })[traveller.type]')
  local request = fixture_of("web").exchanges[1].expect_request
  equal("https://www.web.example/api/v2/search?apiKey=test-web-api-key&locale=en-GB", request.url)
  equal("Bearer test-web-token", request.headers.authorization)
  equal("it's", request.json.note)
  equal(world.json.null, request.json.none)
  equal("JFK", request.json.slices[2].origin)
  equal("2027-03-09", request.json.slices[2].date)
  equal(7, request.json.passengers[2].age)
  says(passes("check"), "0 findings")
end)

test("what stays as it was pasted is told, and so is a second command", function()
  project()
  local told = paste("fixed", "curl 'https://api.x.example/s?from=MAD&to=LHR&max=2&class=ECONOMY&day=12%2F05%2F2030' ; "
    .. "curl https://api.x.example/other\n")
  for _, name in ipairs { "max", "class", "day" } do
    says(told, ("  as it is query %s, whatever is searched for"):format(name))
  end
  assert(not told:find("as it is query from", 1, true), told)
  says(told, "a second curl command")
  says(read("suppliers/fixed.lua"), "--   query class\n")
end)

test("a secret in running text, or in place of a name, is in no file and not on the screen", function()
  local KEY = "S3cr3tZebra91827Quux"
  local JSON = "-H 'content-type: application/json' -d "
  for number, call in ipairs {
    "'https://api.x.example/s' " .. JSON .. "'{\"password\":\"hunter2pass\",,}'",
    "'https://api.x.example/s' " .. JSON .. "'{\"password\":\"%s\",,}'",
    "'https://api.x.example/s' " .. JSON .. "'{\"query\":\"{ s(key: \\\"%s\\\") { id } }\"}'",
    "'https://api.x.example/s' " .. JSON .. "'{\"%s\":1}'",
    "'https://api.x.example/s' " .. JSON .. "'{\"%s\":{\"from\":\"MAD\",\"max\":2}}'",
    "'https://api.x.example/s' -H 'content-type: text/plain' -d 'login %s now'",
    "'https://api.x.example/s;token=%s?from=MAD'",
    "'https://api.x.example/s?%s'",
    "'https://api.x.example/s?%s=1&from=MAD'",
    "'https://api.x.example/s' -d '%s=1&from=MAD'",
    "'https://api.x.example/s' -H '%s: 1'",
  } do
    project()
    local told = paste("hidden", "curl " .. call:gsub("%%s", KEY) .. "\n")
    local found, code = world.shell(("cd %s && grep -rliE '%s|hunter2pass' suppliers"):format(FOLDER, KEY))
    equal(1, code, ("call %d: a secret is in %s"):format(number, found))
    assert(not told:lower():find(KEY:lower(), 1, true), ("call %d: a secret is on the screen"):format(number))
    says(passes("test hidden"), "0 findings")
  end
end)

test("a query of documentation: --get, dates of several spellings, names that come twice, basic authentication", function()
  project()
  paste("doc", [[
$ curl -sSL -G "http://user1:pa%24sw@api.doc.example:8443/flights/offers" --data-urlencode "from=LHR" -d to=CDG \
  -d "departure_date=20270412" -d return_date=2027-04-20T00:00:00 -d adults=2 -d children=1 -d currencyCode=GBP -d tag=a -d tag=b
]])
  local request = fixture_of("doc").exchanges[1].expect_request
  equal("GET", request.method)
  equal("http://api.doc.example:8443/flights/offers?adults=2&children=1&currencyCode=GBP&departure_date=20270412&from=LHR"
    .. "&return_date=2027-04-20T00%3A00%3A00&tag=a&tag=b&to=CDG", request.url)
  says(read("suppliers/doc.lua"), 'sells = { trip_types = { "return" } }')
  says(read("suppliers/doc.lua"), 'crypto.base64(ctx.secret.DOC_USER .. ":" .. ctx.secret.DOC_PASSWORD)')
  local found, code = world.shell(("cd %s && grep -rlE 'user1|pa[$]sw|pa%%24sw' suppliers"):format(FOLDER))
  equal(1, code, found)
end)

test("a form, a body of XML, and what Windows makes of quotes", function()
  project()
  paste("formed", "curl https://f.example/login -d 'grant_type=password&username=joe.bloggs&password=hunter2222&x=a+b%26c'")
  local request = fixture_of("formed").exchanges[1].expect_request
  equal("a b&c", request.form.x)
  equal("test-formed-password", request.form.password)

  paste("soapy", [[
curl -X POST https://s.example/rates -u agency:S3cret99 -H "Content-Type: text/xml" -H 'SOAPAction: "Search"' \
 -d '<Env><Auth user="agency" password="S3cret99"/><City>LON</City><CheckIn>2027-06-01</CheckIn><CheckOut>2027-06-05</CheckOut></Env>'
]])
  request = fixture_of("soapy").exchanges[1].expect_request
  equal('<Env><Auth user="test-soapy-user" password="test-soapy-password"/><City>LON</City>'
    .. "<CheckIn>2027-06-01</CheckIn><CheckOut>2027-06-05</CheckOut></Env>", request.body)
  says(read("suppliers/soapy.lua"), 'product = "hotels"')

  paste("windows", 'curl ^"https://w.example/api^" ^\r\n  -H ^"x-api-key: k1234567^" ^\r\n'
    .. '  --data-raw ^"^{^\\^"cityCode^\\^":^\\^"PAR^\\^",^\\^"checkIn^\\^":^\\^"2027-06-01^\\^",^\\^"checkOut^\\^":'
    .. '^\\^"2027-06-03^\\^",^\\^"rooms^\\^":2,^\\^"adults^\\^":3^}^"\r\n')
  request = fixture_of("windows").exchanges[1].expect_request
  equal("PAR", request.json.cityCode)
  equal(3, request.json.adults)
  equal("test-windows-api-key", request.headers["x-api-key"])

  paste("guests", [[curl https://g.example/hotels -d '{"dest":"LON","occupancy":"2","from":"2027-06-01","to":"2027-06-03"}']])
  local script = read("suppliers/guests.lua")
  for _, words in ipairs { "dest = search.query.place.city", "occupancy = tostring(search.query.rooms[1].adults)",
    "from = search.query.check_in", "to = search.query.check_out" } do
    says(script, words)
  end
  says(passes("check"), "0 findings")
  local found, code = world.shell(("cd %s && grep -rlE 'hunter2222|joe.bloggs|S3cret99|k1234567' suppliers"):format(FOLDER))
  equal(1, code, found)
end)

test("a search that is over, or none of ours, gets a fixture of its own", function()
  project()
  paste("past", "curl 'https://p.example/s?from=XQX&to=XQX&date=2027-02-31&adults=9&children=4'")
  says(passes("check"), "0 findings")
  says(read("suppliers/past.lua"), "date = search.query.slices[1].date")
end)

test("what cannot be taken over is told, and nothing is written", function()
  project()
  for _, case in ipairs {
    { "curl -F file=@x https://a.example", "no multipart form" },
    { "curl https://a.example https://b.example", "several URLs" },
    { "curl https://a.example --next https://b.example", "several requests" },
    { "wget https://a.example", "this is no curl command" },
    { "curl 'https://a.example", "never closed" },
    { "curl -s", "the command has no URL" },
    { "curl ftp://a.example", "neither http nor https" },
    { "curl -X 'GE T' https://a.example", "suppliers/bad.lua:" },
    { "curl 'https://a b.example/x'", "`bad` can ask nobody" },
    { "curl https://a.example -d @/nowhere/body.json", "/nowhere/body.json" },
    { "curl -H 'Authorization Bearer zzzzzzzz' https://a.example", "a header of the command has no colon" },
  } do
    world.write_file(FOLDER .. "/curl.txt", case[1])
    local text, code = run("new bad --from curl.txt")
    equal(3, code, case[1])
    says(text, case[2])
    assert(text:find("curl.txt:", 1, true) or text:find("nothing was written; change the pasted", 1, true), text)
    assert(not text:find("/lastcall-new-", 1, true), "a path of the trial is told: " .. text)
    assert(not text:find("zzzzzzzz", 1, true), "a secret is on the screen")
    equal(nil, world.read_file(FOLDER .. "/suppliers/bad.lua"))
  end
  local text, code = run("new bad --from nowhere.txt")
  equal(3, code)
  says(text, "cannot open nowhere.txt")
end)

test("it reads standard input, and tells all of it as JSON", function()
  project()
  local text, code = world.shell(("cd %s && echo 'curl https://a.example/x?key=abc123' | %s new piped --from - --json")
    :format(FOLDER, BINARY))
  equal(0, code, text)
  local told = world.json.decode(text)
  equal("piped", told.name)
  equal("PIPED_KEY", told.secrets[1])
  equal("suppliers/piped.test/ok-one-way.json", told.files[1].path)
  equal("lastcall test piped", told.next[1])
end)

world.finish()
