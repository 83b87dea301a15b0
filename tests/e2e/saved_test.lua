-- What `lastcall try` says of saved answers in which something is odd: no farm, no network.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local SUPPLIERS = world.folder .. "/saved"
local SETTINGS = world.folder .. "/saved.yaml"
local STAY = world.folder .. "/saved_stay.json"

os.execute(("rm -rf %s && mkdir -p %s"):format(SUPPLIERS, SUPPLIERS))
world.write_file(SETTINGS, ("suppliers_dir: %s\nscripts_dir: scripts\n"):format(SUPPLIERS))
world.write_file(STAY, json.encode {
  query = { place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } } },
})

local function supplier(name, normalise)
  world.write_file(("%s/%s.lua"):format(SUPPLIERS, name), ([[
return {
  name = "%s", product = "hotels", owner = "stays@example.com", hosts = { "api.%s.example" },
  build_request = function() return { method = "GET", url = "https://api.%s.example/rooms" } end,
  normalise = %s,
}
]]):format(name, name, name, normalise))
end

supplier("spaces", [[plan {
    from = "xml", xmlns = { v = "urn:soap", r = "urn:v51" }, each = "v:Envelope.v:Body.r:Rooms.r:Room[]",
    offer = {
      id = "@id", supplier_hotel_id = "@id", room = "@id", board = const "room_only", pay = const "now",
      price = { total = "r:Total", currency = "r:Total.@currency", taxes_included = const "yes" },
    },
  }]])

local function try(body, ...)
  local words = { world.build .. "/lastcall", "try", ... }
  words[#words + 1] = ("%s --body %s -c %s"):format(STAY, body, SETTINGS)
  return world.shell("TMPDIR=" .. world.folder .. " " .. table.concat(words, " "))
end

local function try_json(body, ...)
  local output, code = try(body, "--json", ...)
  local is_json, tried = pcall(json.decode, output)
  assert(is_json, "no JSON: " .. output)
  return tried, code
end

local function saved(name, body)
  local path = world.folder .. "/" .. name
  world.write_file(path, body)
  return path
end

local function contains(text, part)
  if not text:find(part, 1, true) then
    error(("`%s` is not in:\n%s"):format(part, text), 2)
  end
end

local function unread_of(tried)
  local paths = {}
  for _, found in ipairs(tried.exchanges[1].script.unread) do
    paths[#paths + 1] = found.path
  end
  table.sort(paths)
  return table.concat(paths, " ")
end

test("a status of which the script says nothing decides, and its body is shown", function()
  local path = saved("fault.xml", "<Fault><Code>4711</Code><Text>no such contract</Text></Fault>")
  local tried, code = try_json(path, "spaces", "--status", "500")
  equal(1, code, json.encode(tried))
  equal("failed", tried.report.outcome, "outcome")
  equal("none", tried.exchanges[1].script.verdict, "verdict")
  equal("E0706", tried.findings[1].code, tried.findings[1].message)
  contains(tried.findings[1].message, "HTTP 500, of which the script says nothing")
  local output = try(path, "spaces", "--status", "500")
  contains(output, "  <   <Text>no such contract</Text>")
  contains(output, "script   says nothing of this status")
  contains(output, "when = { [500] = fail.")
end)

test("an answer of another version of a namespace is told with both", function()
  local path = saved("other.xml", [[<s:Envelope xmlns:s="urn:soap"><s:Body>
    <q:Rooms xmlns:q="urn:v52"><q:Room/></q:Rooms></s:Body></s:Envelope>]])
  local tried, code = try_json(path, "spaces")
  equal(1, code, "exit code")
  equal("v:Envelope.v:Body.Rooms", tried.exchanges[1].script.unread[1].path, "path")
  equal("an element of urn:v52, but `r` is urn:v51", tried.exchanges[1].script.unread[1].kind, "kind")
  contains(try(path, "spaces"), "Rooms there is of urn:v52, but `r` is urn:v51")
end)

test("a name of XML that is not there is told with those that are", function()
  local path = saved("names.xml", [[<s:Envelope xmlns:s="urn:soap"><s:Body>
    <q:Rooms xmlns:q="urn:v51"><q:Romo/></q:Rooms></s:Body></s:Envelope>]])
  local output, code = try(path, "spaces")
  equal(1, code, output)
  contains(output, "body.v:Envelope.v:Body.r:Rooms is { r:Romo }")
  contains(output, "did you mean `r:Romo`?")
end)

test("what is unread of XML has the prefixes of the script", function()
  local path = saved("spaces.xml", [[<s:Envelope xmlns:s="urn:soap"><s:Body><q:Rooms xmlns:q="urn:v51" q:took="1">
    <q:Room id="a"><q:Total currency="EUR">9.00</q:Total><q:Fee/></q:Room></q:Rooms></s:Body></s:Envelope>]])
  local tried, code = try_json(path, "spaces")
  equal(0, code, json.encode(tried))
  equal("v:Envelope.v:Body.r:Rooms.@r:took v:Envelope.v:Body.r:Rooms.r:Room[].r:Fee", unread_of(tried), "unread")
end)

test("what unread paths share stands there once", function()
  local body = saved("deep.xml", [[<s:Envelope xmlns:s="urn:soap"><s:Body><q:Rooms xmlns:q="urn:v51">
    <q:Room id="a"><q:Total currency="EUR">9.00</q:Total><q:Fee/><q:Tax/><q:View/></q:Room></q:Rooms></s:Body>
    </s:Envelope>]])
  local output, code = try(body, "spaces")
  equal(0, code, output)
  contains(output, "  unread   within v:Envelope.v:Body.r:Rooms.r:Room[]:\n  unread   .r:")
  contains(output, "  unread   .r:View, ")
  equal(3, select(2, output:gsub("unread   %.r:", "")), "lines")
end)

world.finish()
