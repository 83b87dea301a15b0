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

test("the answer that was invented is told as such, where it fails and when a real one stands beside it", function()
  project()
  passes("new inn --product hotels")
  says(read("suppliers/inn.test/ok-stay.json"), "the answer is invented")
  local fixture = world.json.decode(read("suppliers/inn.test/ok-stay.json"))
  world.write_file(FOLDER .. "/answer.json", world.json.encode(fixture.exchanges[1].response.json))
  local invented = "ok-stay.json is still the one that `lastcall new` invented: delete it, or record over it with "
    .. "--as ok-stay --force"
  local recording = "record inn suppliers/inn.test/ok-stay.json --body answer.json --as ok-real"
  says(passes(recording), invented)
  equal(FOLDER .. "/suppliers/inn.test/ok-stay.json", FOLDER .. "/" .. world.json.decode(passes(recording
    .. " --force --json")).invented, "as JSON")
  local path = FOLDER .. "/suppliers/inn.test/ok-stay.json"
  world.write_file(path, (read("suppliers/inn.test/ok-stay.json"):gsub('"offers": 1', '"offers": 7')))
  local text, code = run("test inn")
  equal(1, code, text)
  says(text, "the answer of this fixture is invented, by `lastcall new`")
  says(text, "lastcall record inn … --as ok-stay --force")
  world.shell(("rm %s/suppliers/inn.test/ok-stay*"):format(FOLDER))
  assert(not passes(recording .. " --force"):find("invented", 1, true), "there is none any more")
  passes("test inn")
end)

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
  says(script, 'type = ({ adult = "ADT", child = "CHD", infant_lap = "INF", infant_seat = "INS" })[traveller.type]')
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
  equal('<Env><Auth password="test-soapy-password" user="test-soapy-user"/><City>LON</City>'
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

-- A call in the form of SOAP, with the parts that are made anew for each request.
local function soap_call(security, body)
  return ([[
curl -X POST https://s.example/air -H 'Content-Type: text/xml' -H 'SOAPAction: "Shop"' -d '<?xml version="1.0"?>
<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/">
  <e:Header xmlns:a="http://www.w3.org/2005/08/addressing">
    <a:MessageID>6f5c0ab1-7d4b-4b8e-9f0e-8a4d3c2b1a09</a:MessageID>%s
    <Agent xmlns="urn:agent" Office="BRUX0000"><Company>TN</Company></Agent>
  </e:Header>
  <e:Body>%s</e:Body>
</e:Envelope>']]):format(security, body)
end

local WSSE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
local DIGEST = ([[<w:Security xmlns:w="%s" xmlns:u="urn:u"><w:UsernameToken u:Id="t-1"><w:Username>WSACME</w:Username>
  <w:Nonce>PZgFvh5439plJpKpIyf5ucmXhNU=</w:Nonce><w:Password Type="#PasswordDigest">ic3AOJElVpvkz9ZBKd105Siry28=</w:Password>
  <u:Created>2013-01-11T09:41:03Z</u:Created></w:UsernameToken></w:Security>]]):format(WSSE)

test("an id of the message's own and when it was sent are made anew, without being secrets", function()
  project()
  local told = paste("ota", [[curl https://o.example/avail -H 'Content-Type: text/xml' -d '<OTA_HotelAvailRQ
    EchoToken="a7b8c9d0e1f2a3b4c5d6e7" TimeStamp="2027-06-01T09:00:00Z" Version="1" xmlns="urn:o">
    <HotelRef HotelCityCode="LON"/><StayDateRange Start="2027-06-01" End="2027-06-03"/></OTA_HotelAvailRQ>']])
  says(told, "guessed  body OTA_HotelAvailRQ.@EchoToken: a new one for each request")
  says(told, "guessed  body OTA_HotelAvailRQ.@TimeStamp: a new one for each request")
  local script = read("suppliers/ota.lua")
  says(script, "EchoToken = crypto.uuid(),")
  says(script, "TimeStamp = ctx.now.iso,")
  says(script, "Start = search.query.check_in")
  says(script, "End = search.query.check_out")
  assert(not script:find("secrets = { \"", 1, true), script)
  says(passes("test ota"), "passed")
end)

test("a paste of SOAP is built by elements, its header is made anew, and its answer is read as XML", function()
  project()
  local told = paste("soap_air", soap_call(DIGEST, [[<Shop xmlns="urn:shop"><unit><n>200</n></unit>
    <itinerary><ref><segRef>1</segRef></ref><departure><point><locationId>BRU</locationId></point></departure>
    <arrival><details><locationId>LON</locationId></details></arrival>
    <timeDetails><first><date>150130</date></first></timeDetails></itinerary></Shop>]]))
  says(told, "guessed  body Header.MessageID: a new one for each request")
  says(told, "guessed  body Header.Security: soap.security makes it for each request, of the password itself")
  says(told, "guessed  body Body.Shop.itinerary.departure.point.locationId: the origin")
  says(told, "guessed  body Body.Shop.itinerary.arrival.details.locationId: the destination")
  says(told, "guessed  body Body.Shop.itinerary.timeDetails.first.date: the day of the first slice, as ddmmyy")
  says(told, "as it is body Header.Agent.@Office, whatever")
  says(told, "as it is body Header.Agent.Company, whatever")
  says(told, "as it is body Body.Shop.unit.n, whatever")
  says(told, "as it is body Body.Shop.itinerary.ref.segRef, whatever")
  says(told, "wrote suppliers/soap_air.test/odd-fault.json")
  local script = read("suppliers/soap_air.lua")
  says(script, 'secrets = { "SOAP_AIR_USERNAME", "SOAP_AIR_PASSWORD" }')
  says(script, "nonce = crypto.random(16), created = ctx.now.iso")
  says(script, 'from = "xml"')
  says(script, 'each = "Envelope.Body.Answer.Offer[]"')
  says(script, 'sells = { trip_types = { "one_way" } }')
  local body = fixture_of("soap_air").exchanges[1].expect_request.body
  for _, words in ipairs { "<w?sse:Username>test%-soap%-air%-username</", "<date>150130</date>", "<locationId>BRU</",
    '<Agent Office="BRUX0000" xmlns="urn:agent"><Company>TN</Company></Agent>', "<segRef>1</segRef>" } do
    assert(body:find((words:gsub("w%?sse", "wsse"))), words .. " expected in " .. body)
  end
  local found, code = world.shell(("cd %s && grep -rlE 'WSACME|PZgFvh5439|ic3AOJElVp|6f5c0ab1' suppliers"):format(FOLDER))
  equal(1, code, found)
  for _, secret in ipairs { "WSACME", "PZgFvh5439", "ic3AOJElVp" } do
    assert(not told:find(secret, 1, true), "a secret is on the screen")
  end
  -- Only what `new` made up is left to say.
  local strict = run("check --strict")
  says(strict, "2 findings")
  says(passes("test soap_air"), "2 passed, 0 failed")
end)

test("slices of XML become a loop, told apart by their number, and kinds of travellers are counted", function()
  project()
  local plain = DIGEST:gsub("<w:Nonce>.-</w:Nonce>", ""):gsub("<u:Created>.-</u:Created>", ""):gsub("ic3AOJ[^<]*", "S3cret-word")
  local told = paste("ota", soap_call(plain, [[<Shop>
    <Trip RPH="1" Kind="out"><When>2027-03-02T00:00:00</When><OriginLocation Code="MAD"/><DestinationLocation Code="JFK"/></Trip>
    <Trip RPH="2" Kind="home"><When>2027-03-09T00:00:00</When><OriginLocation Code="JFK"/><DestinationLocation Code="MAD"/></Trip>
    <Pax><Type Code="ADT" Quantity="2"/><Type Code="CNN" Quantity="1"/></Pax></Shop>]]))
  says(told, "guessed  body Body.Shop.Trip[].@RPH: its number, counted from the first")
  says(told, "guessed  body Body.Shop.Trip[].@Kind: differs from one to the next; each gets that of the first")
  says(told, "guessed  body Body.Shop.Pax.Type.@Quantity: how many travellers of each kind")
  local script = read("suppliers/ota.lua")
  says(script, "map(search.query.slices, function(slice, number)")
  says(script, 'count(search, "infant_seat") > 0 and { "Type", Code = "INS", Quantity = count(search, "infant_seat") }')
  assert(not script:find("nonce", 1, true), "a plain password has no nonce")
  assert(not script:find("S3cret-word", 1, true), "the password is in the script")
  local fixture = fixture_of("ota")
  local body = fixture.exchanges[1].expect_request.body
  says(body, '<Trip Kind="out" RPH="1"><When>2027-03-02T00:00:00</When><OriginLocation Code="MAD"/>')
  says(body, '<Trip Kind="out" RPH="2"><When>2027-03-09T00:00:00</When><OriginLocation Code="JFK"/>')
  says(body, '<Pax><Type Code="ADT" Quantity="2"/><Type Code="CNN" Quantity="1"/></Pax>')
  equal(3, #fixture.search.query.travellers, "travellers")
  read("suppliers/ota.test/ok-return.json")
  says(passes("check"), "0 findings")
end)

test("numbers of slices, kinds of travellers and infants with a seat of JSON are not those of the paste", function()
  project()
  local told = paste("sab", [[curl https://s.example/shop -d '{"Trips":[
    {"RPH":"1","Index":0,"Leg":"A","From":"MAD","To":"JFK","Day":"2027-03-02"},
    {"RPH":"2","Index":1,"Leg":"B","From":"JFK","To":"MAD","Day":"2027-03-09"}],
    "Pax":[{"Code":"ADT","Quantity":2},{"Code":"CNN","Quantity":1}]}']])
  says(told, "guessed  json Trips[].RPH: its number, counted from the first")
  says(told, "guessed  json Trips[].Leg: differs from one to the next; each gets that of the first")
  says(told, "guessed  json Pax[].Quantity: how many travellers of each kind")
  assert(not told:find("as it is json Trips[].RPH", 1, true), told)
  says(told, "wrote suppliers/sab.test/ok-return.json")
  local script = read("suppliers/sab.lua")
  says(script, "RPH = tostring(number),")
  says(script, "Index = number - 1,")
  says(script, "Leg = \"A\",")
  says(script, '{ Code = "INS", Quantity = count(search, "infant_seat") }')
  says(script, "return kind.Quantity > 0")
  local request = fixture_of("sab").exchanges[1].expect_request.json
  equal("2", request.Trips[2].RPH)
  equal(1, request.Trips[2].Index)
  equal(2, #request.Pax, "only kinds of whom there are any")
  equal(2, request.Pax[1].Quantity)
  equal("CNN", request.Pax[2].Code)
  says(passes("check"), "0 findings")

  paste("each", [[curl https://s.example/shop -d '{"from":"MAD","to":"LHR","pax":[{"type":"ADT"},{"type":"INS"}]}']])
  says(read("suppliers/each.lua"), 'infant_lap = "INF", infant_seat = "INS" })[traveller.type]')
  equal("INS", fixture_of("each").exchanges[1].expect_request.json.pax[2].type)
end)

test("text around elements stays as it was pasted, and what it says is told", function()
  project()
  local told = paste("mixed", [[curl https://m.example/x -H 'Content-Type: text/xml' \
    -d '<Env>from <City>LON</City> on <CheckIn>2027-06-01</CheckIn><CheckOut>2027-06-05</CheckOut><Max>7</Max></Env>']])
  says(told, "as it is body Max, whatever")
  -- Nor is anything but a tree of elements with names taken for one; an envelope of no namespace is none of SOAP.
  for index, body in ipairs { ("<a>"):rep(70) .. "x" .. ("</a>"):rep(70), '<A attrs="1"><B/></A>', "<p:A><p:B c=\"1\"/></p:A>",
    "<A><![CDATA[<x>&]]></A>", "<!DOCTYPE a><a/>", "<Envelope><Body/></Envelope>" } do
    local name = "odd_" .. index
    paste(name, ("curl https://m.example/x -H 'Content-Type: text/xml' -d '%s'"):format(body))
    says(passes("test " .. name), "2 passed")
    read(("suppliers/%s.test/odd-key-refused.json"):format(name))
  end
  equal("<Env>from <City>LON</City> on <CheckIn>2027-06-01</CheckIn><CheckOut>2027-06-05</CheckOut><Max>7</Max></Env>",
    fixture_of("mixed").exchanges[1].expect_request.body)
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
