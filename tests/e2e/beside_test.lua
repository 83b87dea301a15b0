-- What is broken beside a supplier: nobody who works on this one is stopped by it, and whoever works on all of them is.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local author = require("tests.e2e.author")
local test, equal = world.test, world.equal

local bench = author.bench("beside")
local SCRIPTS = bench.folder .. "_scripts"
local SEARCH = world.folder .. "/beside_search.json"
local BODY = world.folder .. "/beside_body.json"

world.write_file(SEARCH, [[{ "product": "flights", "query": { "slices": [{ "origin": "MAD", "destination": "LHR",
  "date": "2027-05-12" }], "travellers": [{ "type": "adult" }], "currency": "EUR" } }]])
world.write_file(BODY, [[{ "fares": [{ "id": "f1", "total": { "amount": "101.00", "currency": "EUR" }, "number": "7",
  "from": "MAD", "to": "LHR", "departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" }] }]])

-- The good supplier, over scripts of its own, with files beside it: { ["suppliers/zz.lua"] = text }.
local function lay(files, settings)
  bench:write { settings = settings }
  world.shell(("rm -rf %s && cp -r scripts %s"):format(SCRIPTS, SCRIPTS))
  world.write_file(bench.settings, world.read_file(bench.settings)
    :gsub("scripts_dir: scripts\n", "scripts_dir: " .. SCRIPTS .. "\n"))
  for path, text in pairs(files) do
    local scripts = path:match("^scripts/(.*)")
    world.write_file(scripts and SCRIPTS .. "/" .. scripts or bench.folder .. "/" .. path, text)
  end
end

local TRY = ("try acme %s --body %s --login '\"x\"'"):format(SEARCH, BODY)
local RECORD = ("record acme %s --body %s --login '\"x\"' --as ok-new"):format(SEARCH, BODY)


-- Each command for acme goes its way and tells of `file` in a line; those for all find it.
local function is_beside(file, code)
  local head = file:gsub("%p", "%%%0") .. ".*warning%[" .. code .. "%]: not needed here"
  for _, command in ipairs { TRY, RECORD, "test acme" } do
    local said, exit = bench:say(command)
    equal(exit, 0, command .. ":\n" .. said)
    assert(said:find(head), command .. " is silent about " .. file .. ":\n" .. said)
    assert(not said:find("error[", 1, true), said)
  end
  for _, command in ipairs { "test", "check", "mock --listen " .. world.network .. ".9:9700" } do
    local said, exit = bench:say(command)
    assert(exit == 1 or exit == 3, command .. " exits with " .. exit .. ":\n" .. said)
    assert(said:find(code, 1, true) and not said:find("not needed", 1, true), command .. ":\n" .. said)
  end
end

test("a supplier that is cut off stops nobody else", function()
  lay { ["zz.lua"] = "return {" }
  is_beside("zz.lua", "E0202")
end)

test("whoever names a supplier by its file is stopped by nobody else, too", function()
  lay { ["zz.lua"] = "return {" }
  local by_file = author.with(TRY, "try acme", "try " .. bench.script)
  local said, exit = bench:say(by_file)
  equal(exit, 0, said)
  lay { ["acme.lua"] = "return {" }
  said, exit = bench:say(by_file)
  equal(exit, 3, said)
  assert(said:find("error[E0202]", 1, true), said)
end)

test("a supplier that breaks the contract, and one of a product that nobody has", function()
  lay { ["zz.lua"] = [[return { name = "zz", product = "fligths", owner = "a@example.com", hosts = { "a.example" },
    build_request = function() end, normalise = function() end }]] }
  is_beside("zz.lua", "E0210")
end)

test("a module that only others reach", function()
  lay {
    ["scripts/odd.lua"] = "local = 1",
    ["zz.lua"] = [[local odd = require("odd")
      return { name = "zz", product = "flights", owner = "a@example.com", hosts = { "a.example" },
        build_request = function() return odd end, normalise = function() end }]],
  }
  is_beside("odd.lua", "E0202")
end)

test("a product that this one does not sell", function()
  lay({ ["scripts/products/hotels.lua"] = "return {" },
    'rules:\n  - { when: { product: hotels }, deadline: 900ms }\n')
  is_beside("hotels.lua", "E0202")
end)

test("a file whose name is no supplier's, and an option of another that it does not know", function()
  lay({ ["Not-A-Name.lua"] = "return {}", ["zz.lua"] = author.script:gsub('name = "acme"', 'name = "zz"') },
    "suppliers: { zz: { accounts: { main: { options: { no_such: 1 } } } } }\n")
  is_beside("Not-A-Name.lua", "E0217")
  local said = bench:say("test acme")
  assert(said:find("lastcall.yaml:%d+:.*not needed here.*no_such"), said)
end)

test("its own file, its own module and its own product stop it", function()
  for path, text in pairs { ["acme.lua"] = "return {", ["scripts/products/flights.lua"] = "return {" } do
    lay { [path] = text, ["zz.lua"] = "return }" }
    for _, command in ipairs { TRY, RECORD, "test acme" } do
      local said, exit = bench:say(command)
      equal(exit, 3, path .. ": " .. command .. ":\n" .. said)
      assert(said:find("error[E0202]", 1, true), said)
    end
  end
  lay { ["scripts/odd.lua"] = "local = 1", ["acme.lua"] = 'local odd = require("odd")\n' .. author.script }
  local said, exit = bench:say("test acme")
  equal(exit, 3, said)
  assert(said:find("odd.lua:1:", 1, true) and said:find("error[E0202]", 1, true), said)
end)

test("with --json the answer is alone on standard output", function()
  lay { ["zz.lua"] = "return {" }
  local findings, code = bench:run("test acme")
  equal(code, 0)
  equal(#findings, 0)
end)

test("mock of one supplier plays it", function()
  lay({ ["zz.lua"] = "return {" }, nil)
  local log = bench.folder .. "/mock.log"
  local pid = world.spawn(("%s/lastcall mock acme --listen %s.9:9700 -c %s"):format(world.build, world.network,
    bench.settings), log)
  world.wait_for("the mock", 60, function()
    return (world.read_file(log) or ""):find("mock: 1 supplier", 1, true)
  end, pid, log)
  local said = world.read_file(log)
  world.terminate(pid)
  assert(said:find("mock: 1 supplier", 1, true) and said:find("zz.lua.*not needed here"), said)
end)

bench:remove()
world.shell(("rm -rf %s %s %s"):format(SCRIPTS, SEARCH, BODY))
world.finish()
