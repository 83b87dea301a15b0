-- Bad requests: each gets its status, and a problem that says where and what. None of them becomes a search, and the
-- metrics count what callers saw.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start {
  population = "healthy",
  overlay = "callers: [web, app]\nhonour_deadline_headers: true\n",
}
local JSON = { "Content-Type: application/json" }
local QUERY = world.json.encode(world.query)
local seen = {} -- status -> how many refusals without a search

-- A whole body: the product, the query, and what a case adds.
local function body(more, query)
  return ('{"product":"flights","query":%s%s}'):format(query or QUERY, more and "," .. more or "")
end

local function with_slice(fields)
  return ('{"slices":[{"origin":"LHR","destination":"JFK","date":"2030-05-14"%s}],"travellers":[{"type":"adult"}]}')
    :format(fields)
end

-- name, body, status, pointer, code, headers besides the content type
local CASES = {
  -- no JSON
  { "words", "hello", 400, "", "not_json" },
  { "nothing but a blank", " ", 400, "", "not_json" },
  { "a list", "[]", 400, "", "not_json" },
  { "a string", '"flights"', 400, "", "not_json" },
  { "null", "null", 400, "", "not_json" },
  { "half a document", '{"product":"flights",', 400, "", "not_json" },
  { "something after the document", body() .. " x", 400, "", "not_json" },
  { "a comma too many", '{"product":"flights",}', 400, "", "not_json" },
  { "single quotes", "{'product':'flights'}", 400, "", "not_json" },
  { "a number that begins with 0", body('"budget_ms":0700'), 400, "", "not_json" },
  { "NaN", body('"budget_ms":NaN'), 400, "", "not_json" },
  { "a byte-order mark", "\239\187\191" .. body(), 400, "", "not_json" },
  { "invalid UTF-8", '{"product":"fl\255","query":{}}', 400, "", "not_json" },
  { "invalid UTF-8 in the query", body(nil, '{"slices":"\192\128"}'), 400, "", "not_json" },
  { "UTF-8 of half a surrogate pair", body(nil, '{"slices":"\237\160\128"}'), 400, "", "not_json" },
  { "half a surrogate pair", '{"product":"\\ud800","query":{}}', 400, "", "not_json" },
  { "half a surrogate pair in the query", body(nil, '{"slices":"\\udc00"}'), 400, "", "not_json" },
  { "half a surrogate pair in a key", body('"\\ud800x":1'), 400, "", "not_json" },
  { "a control character", '{"product":"fl\1","query":{}}', 400, "", "not_json" },
  { "deep lists", body(nil, '{"slices":' .. ("["):rep(200) .. ("]"):rep(200) .. "}"), 400, "", "not_json" },
  { "deep objects", body(nil, ('{"a":'):rep(200) .. "1" .. ("}"):rep(200)), 400, "", "not_json" },
  { "deep unknown fields", body('"x":' .. ("["):rep(100) .. ("]"):rep(100)), 400, "", "not_json" },
  -- fields
  { "an empty object", "{}", 422, "/query", "required" },
  { "no product", '{"query":' .. QUERY .. "}", 422, "/product", "required" },
  { "no query", '{"product":"flights"}', 422, "/query", "required" },
  { "an unknown field", body('"qurey":{}'), 422, "/qurey", "unknown_field" },
  { "an unknown field of odd letters", body('"a/b~c":1'), 422, "/a~1b~0c", "unknown_field" },
  { "an empty name of a field", body('"":1'), 422, "/", "unknown_field" },
  { "an unknown sort", body('"sort":"cheap"'), 422, "/sort", "unknown_value" },
  { "an unknown place for last known offers", body('"indicative":"last"'), 422, "/indicative", "unknown_value" },
  { "a mode that is for suppliers", body('"mode":"dark"'), 422, "/mode", "unknown_value" },
  -- keys that stand twice
  { "a field given twice", body('"product":"flights"'), 422, "/product", "duplicate" },
  { "a query given twice", body('"query":{}'), 422, "/query", "duplicate" },
  { "a field given twice by an escape", body('"budget_ms":900,"budget\\u005fms":900'), 422, "/budget_ms", "duplicate" },
  { "a key of the query given twice", body(nil, '{"slices":[],"slices":[]}'), 422, "/query/slices", "duplicate" },
  { "a key deep in the query given twice", body(nil, with_slice(',"date":"2030-05-15"')), 422,
    "/query/slices/0/date", "duplicate" },
  { "a key of the query given twice by an escape", body(nil, with_slice(',"d\\u0061te":"2030-05-15"')), 422,
    "/query/slices/0/date", "duplicate" },
  -- budgets
  { "a budget of 0", body('"budget_ms":0'), 422, "/budget_ms", "out_of_range" },
  { "a negative budget", body('"budget_ms":-1'), 422, "/budget_ms", "out_of_range" },
  { "a budget with a fraction", body('"budget_ms":1.5'), 422, "/budget_ms", "out_of_range" },
  { "a budget with an exponent", body('"budget_ms":1e3'), 422, "/budget_ms", "out_of_range" },
  { "a budget without an end", body('"budget_ms":' .. ("9"):rep(400)), 422, "/budget_ms", "out_of_range" },
  { "a budget of over an hour", body('"budget_ms":3600001'), 422, "/budget_ms", "out_of_range" },
  { "a budget in words", body('"budget_ms":"2s"'), 422, "/budget_ms", "wrong_type" },
  { "a budget of null", body('"budget_ms":null'), 422, "/budget_ms", "wrong_type" },
  { "a budget of true", body('"budget_ms":true'), 422, "/budget_ms", "wrong_type" },
  { "a list of budgets", body('"budget_ms":[2000]'), 422, "/budget_ms", "wrong_type" },
  -- wrong types
  { "a product that is a number", '{"product":5,"query":{}}', 422, "/product", "wrong_type" },
  { "a product without a name", '{"product":"","query":{}}', 422, "/product", "wrong_type" },
  { "a product that is null", '{"product":null,"query":{}}', 422, "/product", "wrong_type" },
  { "a query that is a list", body(nil, "[]"), 422, "/query", "wrong_type" },
  { "a query that is null", body(nil, "null"), 422, "/query", "wrong_type" },
  { "a query that is a string", body(nil, '"LHR-JFK"'), 422, "/query", "wrong_type" },
  { "suppliers in an object", body('"suppliers":{}'), 422, "/suppliers", "wrong_type" },
  { "suppliers in a string", body('"suppliers":"s01"'), 422, "/suppliers", "wrong_type" },
  { "a supplier that is a number", body('"suppliers":["s01",5]'), 422, "/suppliers/1", "wrong_type" },
  { "a supplier that is a list", body('"suppliers":[["s01"]]'), 422, "/suppliers/0", "wrong_type" },
  { "too many suppliers", body('"suppliers":[' .. ('"s01",'):rep(256) .. '"s01"]'), 422, "/suppliers/256", "too_many" },
  { "partial in words", body('"partial":"no"'), 422, "/partial", "wrong_type" },
  { "partial in numbers", body('"partial":0'), 422, "/partial", "wrong_type" },
  { "no items", body('"max_items":0'), 422, "/max_items", "out_of_range" },
  { "items in words", body('"max_items":"many"'), 422, "/max_items", "wrong_type" },
  { "too many items", body('"max_items":10001'), 422, "/max_items", "out_of_range" },
  { "no offers", body('"max_offers_per_item":0'), 422, "/max_offers_per_item", "out_of_range" },
  { "offers in a list", body('"max_offers_per_item":[]'), 422, "/max_offers_per_item", "wrong_type" },
  -- names
  { "an unknown product", '{"product":"trains","query":{}}', 422, "/product", "unknown_product" },
  { "an unknown supplier", body('"suppliers":["s01","nobody"]'), 422, "/suppliers/1", "unknown_supplier" },
  { "an unknown supplier behind one that is none", body('"suppliers":[5,"nobody"]'), 422, "/suppliers/1",
    "unknown_supplier" },
  -- headers
  { "a budget with a unit in its header", body(), 422, "", "out_of_range", "Search-Budget-Ms: 2s" },
  { "a budget of 0 in its header", body(), 422, "", "out_of_range", "Search-Budget-Ms: 0" },
  { "a budget with a fraction in its header", body(), 422, "", "out_of_range", "Search-Budget-Ms: 1.5" },
  { "a gRPC deadline without a unit", body(), 422, "", "out_of_range", "grpc-timeout: 500" },
  { "a deadline of envoy with a unit", body(), 422, "", "out_of_range", "x-envoy-expected-rq-timeout-ms: 2s" },
  { "an unknown caller", body(), 422, "", "unknown_caller", "Search-Caller: wbe" },
  { "partial false with a stream", body('"partial":false'), 422, "/partial", "not_with_a_stream",
    "Accept: text/event-stream" },
}

-- Of which the product's script thinks: each of them is a search that ended with 422.
local QUERIES = {
  { "a query without slices", '{"travellers":[{"type":"adult"}]}', "/query/slices" },
  { "slices that are a string", '{"slices":"LHR","travellers":[{"type":"adult"}]}', "/query/slices" },
  { "a slice that is a number", '{"slices":[5],"travellers":[{"type":"adult"}]}', "/query/slices/0" },
  { "an origin that is a number", with_slice(',"x":1'), "/query/slices/0/x" },
  { "a date that is none", (with_slice(""):gsub("2030%-05%-14", "2030-02-30")), "/query/slices/0/date" },
  { "a traveller of an unknown type", (with_slice(""):gsub("adult", "ghost")), "/query/travellers/0/type" },
}

local function errors_of(reply)
  local found = {}
  for _, each in ipairs(reply.json and reply.json.errors or {}) do
    found[#found + 1] = ("%s %s (%s)"):format(each.pointer, each.code, each.detail)
  end
  return table.concat(found, ", ")
end

local function expect_error(reply, status, pointer, code)
  equal(status, reply.status, "status of " .. reply.raw)
  equal("application/problem+json", reply.headers["content-type"], "content type")
  equal(status, reply.json.status, "status in the body")
  equal("no-store", reply.headers["cache-control"], "Cache-Control")
  assert(type(reply.json.code) == "string" and type(reply.json.title) == "string", reply.raw)
  for _, each in ipairs(reply.json.errors or {}) do
    assert(each.pointer and each.code and each.detail and #each.detail > 5, "an error is not whole: " .. reply.raw)
    if each.pointer == pointer and (not code or each.code == code) then
      return each
    end
  end
  error(("no error %s at `%s` but %s"):format(code or "", pointer, errors_of(reply)), 2)
end

local function count(status)
  seen[status] = (seen[status] or 0) + 1
end

local function post(content, header, content_type)
  local headers = { content_type or JSON[1], header }
  return world.http("POST", w.url .. "/v1/search", { body = content, headers = headers })
end

for _, case in ipairs(CASES) do
  test(case[1] .. " is " .. case[3], function()
    count(case[3])
    expect_error(post(case[2], case[6]), case[3], case[4], case[5])
  end)
end

for _, case in ipairs(QUERIES) do
  test(case[1] .. " is 422, by the product", function()
    expect_error(post(body(nil, case[2])), 422, case[3])
  end)
end

test("all mistakes are told at once", function()
  local reply = post(body('"budget_ms":0,"suppliers":["nobody"],"max_items":"x","sort":1', '{"a":1,"a":2}'),
    "Search-Caller: wbe")
  count(422)
  for _, expected in ipairs { { "/budget_ms", "out_of_range" }, { "/suppliers/0", "unknown_supplier" },
    { "/max_items", "wrong_type" }, { "/sort", "wrong_type" }, { "/query/a", "duplicate" },
    { "", "unknown_caller" } } do
    expect_error(reply, 422, expected[1], expected[2])
  end
end)

test("an unknown caller is told whom we know", function()
  count(422)
  local found = expect_error(post(body(), "Search-Caller: wbe"), 422, "", "unknown_caller")
  equal('header Search-Caller: "wbe" is none of: web, app', found.detail, "detail")
end)

test("a caller who is named twice is nobody", function()
  count(422)
  local reply = world.http("POST", w.url .. "/v1/search",
    { body = body(), headers = { JSON[1], "Search-Caller: web", "Search-Caller: app" } })
  expect_error(reply, 422, "", "duplicate")
end)

test("a deadline that is shorter than the least budget is 504 at once", function()
  for _, header in ipairs { "grpc-timeout: 99m", "grpc-timeout: 0S", "x-envoy-expected-rq-timeout-ms: 99" } do
    count(504)
    local reply = post(body('"budget_ms":3000'), header)
    equal(504, reply.status, header)
    equal("application/problem+json", reply.headers["content-type"], "content type")
    equal("deadline_too_short", reply.json.code, "code")
  end
end)

-- The shortest is the last: it may not be overlooked.
local function repeated(name, times, value, last)
  local headers = { JSON[1] }
  for _ = 2, times do
    headers[#headers + 1] = name .. ": " .. value
  end
  headers[#headers + 1] = name .. ": " .. last
  return world.http("POST", w.url .. "/v1/search", { body = body('"budget_ms":3000'), headers = headers })
end

test("a deadline counts in whichever header it stands, and too many of them are 422", function()
  for name, values in pairs { ["grpc-timeout"] = { "2S", "50m" },
    ["x-envoy-expected-rq-timeout-ms"] = { "2000", "50" } } do
    count(504)
    equal(504, repeated(name, 16, values[1], values[2]).status, name)
    count(422)
    expect_error(repeated(name, 17, values[1], values[2]), 422, "", "too_many")
  end
  count(422)
  expect_error(repeated("Search-Budget-Ms", 17, "2000", "300"), 422, "", "too_many")
end)

test("thousands of keys given twice deep in the query are told as many as a problem holds", function()
  local key = ("~"):rep(1000)
  count(422)
  local reply = post(body(nil, ('{"' .. key .. '":'):rep(50) .. '{"a":1' .. (',"a":1'):rep(30000) .. "}"
    .. ("}"):rep(50)))
  local found = expect_error(reply, 422, "/query", "duplicate")
  equal("a field somewhere in it is given twice", found.detail, "detail")
  equal(8, #reply.json.errors, "errors")
end)

test("10 MB are 413", function()
  count(413)
  expect_error(post(("x"):rep(10 * 1024 * 1024)), 413, "", "body_too_large")
end)

test("a body of another type is 415", function()
  for _, content_type in ipairs { "Content-Type: text/plain", "Content-Type:", "Content-Type: application/jsonx" } do
    count(415)
    expect_error(post(body(), nil, content_type), 415, "", "unsupported_media_type")
  end
end)

test("unknown paths are 404, other methods 405", function()
  for _, path in ipairs { "/v2/search", "/v1/search/", "/", "/v1" } do
    count(404)
    equal(404, world.http("GET", w.url .. path).status, path)
  end
  for _, method in ipairs { "GET", "PUT", "DELETE", "OPTIONS" } do
    count(405)
    local reply = world.http(method, w.url .. "/v1/search")
    equal(405, reply.status, method)
    equal("POST", reply.headers.allow, "Allow")
  end
end)

test("what is no HTTP is counted, too", function()
  count(400)
  equal(400, world.http("POST", w.url .. "/v1/search", { body = body(), headers = { "Content-Length: many" } }).status)
end)

-- What was refused is asked for again until it is counted: it is, once its last byte is sent.
test("the metrics tell what callers saw", function()
  local metrics
  local function refused(status)
    return tonumber(metrics:match('\nlastcall_requests_refused_total{status="' .. status .. '"} (%d+)')) or -1
  end
  local function sum()
    local total = 0
    for value in metrics:gmatch("\nlastcall_requests_refused_total{[^}]*} (%d+)") do
      total = total + tonumber(value)
    end
    return total
  end
  local expected = 0
  for _, number in pairs(seen) do
    expected = expected + number
  end
  for _ = 1, 100 do
    metrics = world.http("GET", w.admin_url .. "/metrics").raw
    if sum() >= expected then
      break
    end
    world.sleep_ms(50)
  end
  for status, number in pairs(seen) do
    equal(number, refused(status), "refusals with " .. status)
  end
  equal(expected, sum(), "refusals in all")
  equal(#QUERIES, tonumber(metrics:match('\nlastcall_searches_total{status="422"} (%d+)')), "searches with 422")
  equal("0", metrics:match('\nlastcall_searches_total{status="200"} (%d+)'), "searches with 200")
end)

w:stop()
world.finish()
