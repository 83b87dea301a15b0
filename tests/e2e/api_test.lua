-- The public API: what is refused, how, and where the pointer points.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start { population = "healthy" }
local JSON = { "Content-Type: application/json" }

local function post(body, headers)
  return world.http("POST", w.url .. "/v1/search", { body = body, headers = headers or JSON })
end

local function expect_problem(reply, status, pointer, code)
  equal(status, reply.status, "status of " .. reply.raw)
  equal("application/problem+json", reply.headers["content-type"], "content type")
  if pointer then
    local found = {}
    for _, each in ipairs(reply.json.errors or {}) do
      if each.pointer == pointer and (not code or each.code == code) then
        return
      end
      found[#found + 1] = each.pointer .. " " .. each.code
    end
    error("no error at " .. pointer .. " but " .. table.concat(found, ", ") .. " in " .. reply.raw, 2)
  end
end

local QUERY = world.json.encode(world.query)
local CASES = {
  { "not JSON", "hello", 400, "" },
  { "an empty body", " ", 400, "" },
  { "a list", "[]", 400, "" },
  { "something after the document", '{"product":"flights","query":' .. QUERY .. "} x", 400, "" },
  { "invalid UTF-8", '{"product":"fl\255","query":{}}', 400, "" },
  { "deep nesting", '{"product":"flights","query":' .. ('{"a":'):rep(200) .. "1" .. ("}"):rep(200) .. "}", 400, "" },
  { "no query", '{"product":"flights"}', 422, "/query", "required" },
  { "an unknown field", '{"product":"flights","qurey":{},"query":' .. QUERY .. "}", 422, "/qurey", "unknown_field" },
  { "a field given twice", '{"product":"flights","product":"flights","query":' .. QUERY .. "}", 422, "/product",
    "duplicate" },
  { "a budget of 0", '{"product":"flights","budget_ms":0,"query":' .. QUERY .. "}", 422, "/budget_ms", "out_of_range" },
  { "a negative budget", '{"product":"flights","budget_ms":-1,"query":' .. QUERY .. "}", 422, "/budget_ms" },
  { "a budget in words", '{"product":"flights","budget_ms":"2s","query":' .. QUERY .. "}", 422, "/budget_ms",
    "wrong_type" },
  { "an unknown product", '{"product":"trains","query":{}}', 422, "/product", "unknown_product" },
  { "an unknown supplier", '{"product":"flights","suppliers":["s01","nobody"],"query":' .. QUERY .. "}", 422,
    "/suppliers/1" },
  { "a query without slices", '{"product":"flights","query":{"travellers":[{"type":"adult"}]}}', 422, "/query/slices" },
  { "a date that is none", '{"product":"flights","query":{"slices":[{"origin":"LHR","destination":"JFK",' ..
    '"date":"2030-02-30"}],"travellers":[{"type":"adult"}]}}', 422, "/query/slices/0/date" },
}

for _, case in ipairs(CASES) do
  test(case[1] .. " is " .. case[3], function()
    expect_problem(post(case[2]), case[3], case[4], case[5])
  end)
end

test("another content type is 415", function()
  local reply = post("{}", { "Content-Type: text/plain" })
  expect_problem(reply, 415, "", "unsupported_media_type")
  equal("send the header content-type: application/json", reply.json.errors[1].detail, "detail")
end)

test("a key without quotes is told as one", function()
  local reply = post("{bad")
  expect_problem(reply, 400, "", "not_json")
  equal("a key in quotes is expected, at byte 1", reply.json.errors[1].detail, "detail")
end)

test("a wrong name is told, with the one that was probably meant", function()
  local reply = w:search { suppliers = { "s01", "sO2" } }
  expect_problem(reply, 422, "/suppliers/1", "unknown_supplier")
  equal('there is no supplier "sO2"; did you mean "s02"?', reply.json.errors[1].detail, "detail")
  reply = w:search { product = "flihgts" }
  expect_problem(reply, 422, "/product", "unknown_product")
  equal('there is no product "flihgts"; did you mean "flights"?', reply.json.errors[1].detail, "detail")
end)

test("a second engine on the port says so, and never that it stopped", function()
  local output, code = world.shell(("%s/lastcall serve -c examples/farm/lastcall.yaml -c %s/overlay.yaml")
    :format(world.build, w.folder))
  equal(3, code, "exit code of: " .. output)
  assert(output:find("error", 1, true), output)
  assert(not output:find("stopped", 1, true), output)
end)

test("an answer that a script cannot read is in the log, once", function()
  world.farm("s08", { fault = "html" })
  for _ = 1, 3 do
    local reply = w:search { suppliers = { "s08" }, budget_ms = 3000 }
    equal("unparsable", world.entry(reply, "s08").outcome, "outcome")
  end
  world.farm("s08", { fault = "none" })
  world.sleep_ms(200)
  local output = w:engine_output()
  local _, count = output:gsub("warning script: supplier `s08`: unparsable: ", "")
  equal(1, count, "lines in " .. output)
end)

test("10 MB are 413", function()
  expect_problem(post(("x"):rep(10 * 1024 * 1024)), 413)
end)

test("an unknown path is 404, another method 405 with Allow", function()
  expect_problem(world.http("GET", w.url .. "/v2/search"), 404)
  local reply = world.http("GET", w.url .. "/v1/search")
  expect_problem(reply, 405)
  equal("POST", reply.headers.allow, "Allow")
end)

test("health and readiness answer", function()
  equal(200, world.http("GET", w.url .. "/healthz").status, "healthz")
  equal(200, world.http("GET", w.url .. "/readyz").status, "readyz")
end)

test("the smaller of body and header budget wins, and clamping is told", function()
  local reply = w:search({ budget_ms = 1500 }, { "Search-Budget-Ms: 700" })
  equal(700, reply.json.budget.requested_ms, "requested")
  equal(false, reply.json.budget.clamped, "clamped")
  reply = w:search { budget_ms = 3600000, suppliers = { "s01" } }
  equal(true, reply.json.budget.clamped, "clamped")
  equal(10000, reply.json.budget.effective_ms, "effective")
  expect_problem(w:search({}, { "Search-Budget-Ms: 2s" }), 422)
end)

test("partial false is a 504 when a supplier misses", function()
  world.farm("s02", { fault = "hang_answer" })
  local reply = w:search { budget_ms = 500, partial = false }
  expect_problem(reply, 504)
  equal("not_complete", reply.json.code, "code")
  assert(reply.json.coverage and reply.json.suppliers, "coverage and suppliers are told")
  world.farm("s02", { fault = "none" })
end)

test("the reply says how it must be cached and where its time went", function()
  local reply = w:search { budget_ms = 1000 }
  equal("no-store", reply.headers["cache-control"], "Cache-Control")
  assert(reply.headers["server-timing"]:match("total;dur=[%d.]+, reserve;dur=[%d.]+, assemble;dur=[%d.]+"))
end)

test("a caller who leaves takes its fetches along", function()
  for _, name in ipairs { "s03", "s04", "s05" } do
    world.farm(name, { fault = "hang_answer" })
  end
  local before = w:usage().descriptors
  local body = world.json.encode { product = "flights", query = world.query, budget_ms = 9000 }
  local reply = world.http("POST", w.url .. "/v1/search", { body = body, headers = JSON, max_time = 0.6 })
  equal(28, reply.curl, "curl's own time-out")
  world.sleep_ms(300)
  local after = w:usage().descriptors
  assert(after <= before + 2, "descriptors went from " .. before .. " to " .. after)
  for _, name in ipairs { "s03", "s04", "s05" } do
    world.farm(name, { fault = "none" })
  end
end)

test("a query of nothing but mistakes is the caller's fault, not the product's", function()
  local fields = {}
  for i = 1, 15000 do
    fields[i] = ('"k%05d":1'):format(i)
  end
  equal(422, post('{"product":"flights","query":{' .. table.concat(fields, ",") .. "}}").status, "status")
end)

test("SIGTERM takes readiness away, finishes what is open, and exits 0", function()
  world.farm("s06", { model = "constant", median_ms = 1200, fault = "none" })
  local body = world.json.encode { product = "flights", query = world.query, budget_ms = 3000, suppliers = { "s06" } }
  world.write_file(w.folder .. "/drain.json", body)
  local curl = "curl -sS -o %s/drain.out -H 'Content-Type: application/json' --data-binary @%s/drain.json " ..
    "%s/v1/search &"
  os.execute(curl:format(w.folder, w.folder, w.url))
  world.sleep_ms(300)
  w:signal("TERM")
  assert(w:wait_engine(10), "the engine did not end")
  world.sleep_ms(100)
  local reply = { json = world.json.decode(world.read_file(w.folder .. "/drain.out")) }
  equal("answered", world.entry(reply, "s06").outcome, "outcome")
  assert(w:engine_output():match("stopped"), "the log says stopped")
end)

w:stop()
world.finish()
