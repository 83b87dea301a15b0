-- The farm's recordings: which answer fits a request, and what a mistake in the file is told as.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local OUT = world.folder .. "/"
os.execute("mkdir -p " .. OUT)

local function write(name, ...)
  local path = OUT .. name .. ".answers"
  world.write_file(path, table.concat({ ... }, "\n") .. "\n")
  return path
end

local function farm_with(path)
  return world.shell(("%s/examples/farm/farm --network %s --population examples/farm/populations/instant.txt")
    :format(world.build, world.network) .. " --file r:" .. world.network .. ".41:" .. path)
end

test("a line that makes no sense is told with its place", function()
  local wrong = {
    "GET\t/a\t200 OK\ttext/plain",
    "GET\ta\t200 OK\ttext/plain\t-",
    "GET\t/a\t200 OK\ttext/plain\t-\tno header",
    "GET /a 200 OK text/plain -",
    "GET\t/a\t200 OK\ttext/plain\t-\tx: " .. ("y"):rep(1100),
  }
  for _, line in ipairs(wrong) do
    local path = write("wrong", "# a comment", "", line)
    local output, code = farm_with(path)
    equal(3, code, output)
    assert(output:find(path .. ":3: method, target, status, type, file and header lines", 1, true), output)
  end
end)

test("a body that is not there is told with its place", function()
  local path = write("lost", "GET\t/a\t200 OK\ttext/plain\t" .. OUT .. "no-such-file")
  local output, code = farm_with(path)
  equal(3, code, output)
  assert(output:find(path .. ":1: " .. OUT .. "no-such-file: No such file", 1, true), output)
end)

local BODY = OUT .. "answers-body.txt"
world.write_file(BODY, "seen")

local w = world.start {
  population = "instant",
  files = { "r:" .. world.network .. ".41:" .. write("right",
    "# the narrower one first",
    "GET\t/a?x=1&y=2\t200 OK\ttext/plain\t" .. BODY .. "\tx-first: one\tx-second: two",
    "GET\t/a\t418 I'm a teapot\ttext/plain\t-",
    "POST\t/a\t201 Created\ttext/plain\t" .. BODY) },
}

local function ask(method, target)
  return world.http(method, ("http://%s.41:8080%s"):format(world.network, target))
end

test("the first line that fits answers, with its status, headers and body", function()
  local reply = ask("GET", "/a?y=2&z=3&x=1")
  equal(200, reply.status, "status")
  equal("seen", reply.raw, "body")
  equal("one", reply.headers["x-first"], "x-first")
  equal("two", reply.headers["x-second"], "x-second")
  equal("text/plain", reply.headers["content-type"], "content-type")
  reply = ask("GET", "/a?x=1&y=22")
  equal(418, reply.status, "another query")
  equal("", reply.raw, "body")
  equal(201, ask("POST", "/a?x=1&y=2").status, "another method")
end)

test("what was not recorded is not found", function()
  equal(404, ask("GET", "/b").status, "another path")
  equal(404, ask("DELETE", "/a").status, "another method")
end)

w:stop()
world.finish()
