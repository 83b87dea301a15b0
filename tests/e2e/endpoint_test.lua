-- The public endpoint besides its offers: how much it tells and to whom, who calls, deadlines of proxies, browsers,
-- traces, and what may be kept.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local TOKEN = "a-token-that-nobody-guesses"
local PAGE = "https://www.example.com"
local function with_network(text)
  return (text:gsub("NETWORK", world.network))
end

local w = world.start {
  population = "healthy",
  environment = "LASTCALL_REPLY_TOKEN=" .. TOKEN,
  overlay = with_network [[
reply: { detail: public, token_env: LASTCALL_REPLY_TOKEN, max_age: 30s }
callers: [web, app]
honour_deadline_headers: true
cors: { origins: ["https://www.example.com", "http://localhost:3000"], max_age: 90s }
suppliers:
  s01: { display_name: "Sunny Air" }
  s07: { enabled: false, because: "a secret contract" }
]],
}
local BEARER = "Authorization: Bearer " .. TOKEN
local STREAM = "Accept: application/x-ndjson"

local function keys_of(object)
  local keys = {}
  for key in pairs(object) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return table.concat(keys, " ")
end

local function events_of(reply)
  local events = {}
  for line in reply.raw:gmatch("([^\n]+)\n") do
    events[#events + 1] = world.json.decode(line)
  end
  return events
end

local function outcomes_of(suppliers)
  local outcomes = {}
  for _, supplier in ipairs(suppliers) do
    outcomes[supplier.name] = supplier.outcome
  end
  return outcomes
end

-- What no stranger may read in a reply, wherever it stands; offers are left out, they name their supplier.
local function expect_public(json)
  local text = world.json.encode { coverage = json.coverage, suppliers = json.suppliers, supplier = json.supplier,
    detail = json.detail }
  for _, word in ipairs { "ceiling", "bound", "phase", "script", "account", "breaker", "budget", "allocated", "secret",
    "took_ms", "began_ms", "http_status", "hang", "rejected", "failed" } do
    assert(not text:find(word, 1, true), word .. " stands in " .. text)
  end
  for _, supplier in ipairs(json.suppliers or { json.supplier }) do
    equal("name outcome", keys_of(supplier), "keys of a supplier")
  end
end

test("a stranger sees names and four words", function()
  world.farm("s02", { fault = "hang_answer" })
  world.farm("s03", { fault = "status_503" })
  local reply = w:search { budget_ms = 2000 }
  equal(200, reply.status, "status of " .. reply.raw)
  expect_public(reply.json)
  local outcomes = outcomes_of(reply.json.suppliers)
  equal("answered", outcomes["Sunny Air"], "s01 by its display name")
  equal("late", outcomes.s02, "s02")
  equal("unavailable", outcomes.s03, "s03")
  equal("unavailable", outcomes.s07, "s07, which is switched off")
  equal("late unavailable", table.concat(reply.json.coverage.reasons, " "), "reasons")
end)

test("a stranger's stream tells no more, and the same at its end", function()
  local events = events_of(w:search({ budget_ms = 2000 }, { STREAM }))
  local told, offers = {}, 0
  for _, event in ipairs(events) do
    if event.event == "offers" then
      offers = offers + #event.data.offers
    end
    expect_public(event.data)
    if event.event == "supplier" then
      told[event.data.supplier.name] = event.data.supplier.outcome
    end
  end
  assert(offers > 0, "offers")
  for name, outcome in pairs(outcomes_of(events[#events].data.suppliers)) do
    equal(outcome, told[name], "what was told of " .. name)
  end
end)

-- The ids of a reply's offers, and of its items, must hold together whatever they are.
local function expect_one_name(reply)
  assert(not reply.raw:find("s01", 1, true), "s01 stands in " .. reply.raw:sub(1, 500))
  local found = 0
  for _, offer in ipairs(reply.json.offers) do
    assert(reply.json.items[offer.item], "an item of " .. offer.id)
    if offer.supplier == "Sunny Air" then
      found = found + 1
      equal("Sunny Air:", offer.id:sub(1, 10), "id")
    end
  end
  assert(found > 0, "offers of Sunny Air")
end

test("a stranger's offers have the display name, too, and their ids", function()
  local reply = w:search { budget_ms = 9000, suppliers = { "s01", "s04" } }
  expect_one_name(reply)
  local full = w:search({ budget_ms = 9000, suppliers = { "s01", "s04" } }, { BEARER })
  equal(#full.json.offers, #reply.json.offers, "offers")
  assert(full.raw:find('"id":"s01:', 1, true), "whoever has the token reads the name")
end)

test("a stranger's stream folds into such a reply", function()
  local reply = w:search({ budget_ms = 9000, suppliers = { "s01", "s04" }, max_items = 5 }, { STREAM })
  assert(not reply.raw:find("s01", 1, true), "s01 stands in the stream")
  local held, items, count = {}, {}, 0
  local events = events_of(reply)
  for _, event in ipairs(events) do
    for _, offer in ipairs(event.data.offers or {}) do
      held[offer.id] = offer
    end
    for id in pairs(event.data.items or {}) do
      items[id] = true
    end
    for _, id in ipairs(event.event == "retract" and event.data.ids or {}) do
      assert(held[id], id .. " was not told before")
      held[id] = nil
    end
  end
  for _, id in ipairs(events[#events].data.order) do
    assert(items[held[id].item], id)
    held[id] = nil
    count = count + 1
  end
  assert(count > 0, "offers")
  equal(nil, next(held), "what is held at the end is what counts")
end)

test("a stranger's 504 tells no more", function()
  local reply = w:search { budget_ms = 2000, suppliers = { "s02", "s03" } }
  equal(504, reply.status, "status of " .. reply.raw)
  equal("no_answer", reply.json.code, "code")
  expect_public(reply.json)
  equal("late unavailable", table.concat(reply.json.coverage.reasons, " "), "reasons")
  reply = w:search { budget_ms = 2000, partial = false, suppliers = { "s01", "s03" } }
  equal(504, reply.status, "status of partial: false")
  expect_public(reply.json)
end)

test("the token opens everything, another one nothing", function()
  local asked = { "s01", "s02", "s03", "s07" }
  local reply = w:search({ budget_ms = 2000, suppliers = asked }, { BEARER })
  local cut = world.entry(reply, "s02")
  equal("cut", cut.outcome, "outcome")
  equal("budget", cut.bound, "bound")
  equal("a secret contract", world.entry(reply, "s07").reason, "reason")
  equal("budget failed", table.concat(reply.json.coverage.reasons, " "), "reasons")
  for _, header in ipairs { BEARER .. "x", "Authorization: Basic " .. TOKEN, "Authorization: Bearer" } do
    expect_public(w:search({ budget_ms = 2000, suppliers = { "s01", "s07" } }, { header }).json)
  end
  local events = events_of(w:search({ budget_ms = 2000, suppliers = asked }, { BEARER, STREAM }))
  assert(world.entry({ json = events[#events].data }, "s02").bound, "a bound in the stream's end")
  world.farm("s02", { fault = "none" })
  world.farm("s03", { fault = "none" })
end)

test("only a whole reply may be kept, and only by its caller", function()
  local reply = w:search { budget_ms = 3000, suppliers = { "s01", "s02" } }
  equal("true", reply.headers["search-complete"], "Search-Complete")
  equal("private, max-age=30", reply.headers["cache-control"], "of a whole reply")
  world.farm("s02", { fault = "status_503" })
  reply = w:search { budget_ms = 3000, suppliers = { "s01", "s02" } }
  world.farm("s02", { fault = "none" })
  equal("false", reply.headers["search-complete"], "Search-Complete")
  equal("no-store", reply.headers["cache-control"], "of a reply that is not whole")
  reply = w:search({ budget_ms = 3000, suppliers = { "s01" } }, { STREAM })
  equal("no-store", reply.headers["cache-control"], "of a stream")
  equal("no-store", w:search({ query = { slices = {} } }).headers["cache-control"], "of a problem")
end)

test("the header says where the time went, and it is the time of the body", function()
  local reply = w:search({ budget_ms = 3000, suppliers = { "s01" } }, { BEARER })
  local total, reserve, assemble =
    reply.headers["server-timing"]:match("^total;dur=([%d.]+), reserve;dur=([%d.]+), assemble;dur=([%d.]+)$")
  -- The body tells its time while it is assembled.
  local after_ms = tonumber(total) - reply.json.took_ms
  assert(after_ms >= -1 and after_ms <= tonumber(assemble) + 1, "total " .. total .. " of " .. reply.json.took_ms)
  equal(reply.json.budget.reserve_ms, math.floor(tonumber(reserve)), "reserve")
  assert(tonumber(total) + 1 >= world.entry(reply, "s01").took_ms, "the total holds a supplier's time")
  local stream = w:search({ budget_ms = 3000, suppliers = { "s01" } }, { STREAM })
  assert(stream.headers["server-timing"]:match("^reserve;dur=[%d.]+$"), "of a stream")
  local refused = w:search { query = { slices = {} } }
  equal(422, refused.status, "status")
  assert(refused.headers["server-timing"]:match("^total;dur="), "of a query that is refused")
end)

-- -------------------------------------------------------------------------------------------------------- callers

local function record_of(reply)
  for _ = 1, 100 do
    local record = world.http("GET", w.admin_url .. "/admin/v1/searches/" .. reply.json.search_id)
    if record.status == 200 then
      return record.json
    end
    world.sleep_ms(50)
  end
  error("no record of " .. reply.json.search_id)
end

test("a caller's name goes into record, explanation and metrics", function()
  local reply = w:search({ budget_ms = 3000, suppliers = { "s01" } }, { "Search-Caller: app" })
  equal("app", record_of(reply).caller, "caller in the record")
  equal(nil, record_of(w:search { budget_ms = 3000, suppliers = { "s01" } }).caller, "caller of nobody")
  local told = world.shell(("%s/lastcall explain --admin %s %s"):format(world.build, w.admin_url,
    reply.json.search_id))
  assert(told:find("Caller app\n", 1, true), told)
  local metrics = world.http("GET", w.admin_url .. "/metrics").raw
  equal("1", metrics:match('\nlastcall_searches_total{caller="app",status="200"} (%d+)'), "searches of app")
  assert(tonumber(metrics:match('\nlastcall_searches_total{status="200"} (%d+)')) > 1, "searches of nobody")
  assert(not metrics:find('caller="web"', 1, true), "web has not called")
  equal(422, w:search({}, { "Search-Caller: App" }).status, "names are exact")
end)

test("a stranger's mistakes are answered without the names of callers and suppliers", function()
  local asked = { suppliers = { "sO1", "sO7" } }
  local stranger = w:search(asked, { "Search-Caller: ap" })
  local friend = w:search(asked, { "Search-Caller: ap", BEARER })
  equal(422, stranger.status, "stranger")
  equal('there is no supplier "sO1"', stranger.json.errors[1].detail, "supplier")
  equal('there is no supplier "sO7"', stranger.json.errors[2].detail, "a supplier that is off")
  equal('header Search-Caller: "ap" is no caller that is known here', stranger.json.errors[3].detail, "caller")
  equal('there is no product "flihgts"; did you mean "flights"?',
    w:search({ product = "flihgts" }).json.errors[1].detail, "products are no secret")
  equal(422, friend.status, "friend")
  equal('there is no supplier "sO1"; did you mean "s01"?', friend.json.errors[1].detail, "supplier, in full")
  equal('header Search-Caller: "ap" is none of: web, app', friend.json.errors[3].detail, "caller, in full")
end)

-- ------------------------------------------------------------------------------------------------------ deadlines

local function budget_with(fields, headers)
  headers[#headers + 1] = BEARER
  fields.suppliers = { "s05" }
  local reply = w:search(fields, headers)
  assert(reply.json and reply.json.budget, reply.raw)
  return reply.json.budget
end

test("deadlines of proxies shorten a budget and never lengthen it", function()
  equal(1700, budget_with({ budget_ms = 3000 }, { "grpc-timeout: 1700m" }).effective_ms, "gRPC")
  equal(1600, budget_with({}, { "grpc-timeout: 1700m", "x-envoy-expected-rq-timeout-ms: 1600" }).effective_ms, "both")
  equal(1500, budget_with({ budget_ms = 1500 }, { "grpc-timeout: 5S" }).effective_ms, "a longer one")
  equal(2000, budget_with({}, { "x-envoy-expected-rq-timeout-ms: 15000" }).effective_ms, "the default holds")
end)

test("of several budgets the smallest counts", function()
  equal(1600, budget_with({ budget_ms = 1900 }, { "Search-Budget-Ms: 1800", "Search-Budget-Ms: 1600" }).effective_ms,
    "two headers")
  equal(1500, budget_with({ budget_ms = 1900 }, { "Search-Budget-Ms: 1800, 1500" }).effective_ms, "one with a comma")
end)

-- ------------------------------------------------------------------------------------------------------- browsers

local EXPOSED = "Search-Complete, Server-Timing"

local function expect_page(reply, page, what)
  equal(page, reply.headers["access-control-allow-origin"], "origin of " .. what)
  equal("Origin", reply.headers.vary, "Vary of " .. what)
  equal(page and EXPOSED or nil, reply.headers["access-control-expose-headers"], "what is exposed of " .. what)
end

test("a listed page may call, and read problems and streams too", function()
  for _, page in ipairs { PAGE, "http://localhost:3000" } do
    local origin = "Origin: " .. page
    expect_page(w:search({ suppliers = { "s01" } }, { origin }), page, "a reply")
    expect_page(w:search({ suppliers = { "s01" } }, { origin, STREAM }), page, "a stream")
    expect_page(w:search({ budget_ms = 0 }, { origin }), page, "a problem")
    expect_page(world.http("GET", w.url .. "/v2/search", { headers = { origin } }), page, "a 404")
    expect_page(world.http("GET", w.url .. "/healthz", { headers = { origin } }), page, "health")
    expect_page(world.http("POST", w.url .. "/v1/search", { headers = { origin }, body = ("x"):rep(300000) }), page,
      "a body that is too large")
  end
end)

test("another page may not", function()
  for _, page in ipairs { "https://www.example.com.evil.test", "http://www.example.com", "https://www.example.com:444",
    "null", "" } do
    expect_page(w:search({ suppliers = { "s01" } }, { "Origin: " .. page }), nil, page)
  end
  expect_page(w:search({ suppliers = { "s01" } }), nil, "no page")
end)

local function preflight(page, path)
  return world.http("OPTIONS", w.url .. (path or "/v1/search"), { headers = { "Origin: " .. page,
    "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,search-caller" } })
end

test("a preflight is answered, for listed pages with what they may send", function()
  local reply = preflight(PAGE)
  equal(204, reply.status, "status")
  equal("", reply.raw, "body")
  expect_page(reply, PAGE, "the preflight")
  equal("POST", reply.headers["access-control-allow-methods"], "methods")
  equal("90", reply.headers["access-control-max-age"], "max age")
  equal("content-type, accept, search-budget-ms, search-caller, traceparent, authorization",
    reply.headers["access-control-allow-headers"], "headers")
  equal("GET", preflight(PAGE, "/readyz").headers["access-control-allow-methods"], "methods of another path")
  equal(404, preflight(PAGE, "/v2/search").status, "of an unknown path")
  reply = preflight("https://evil.test")
  equal(204, reply.status, "status for another page")
  expect_page(reply, nil, "another page's preflight")
  equal(nil, reply.headers["access-control-allow-methods"], "methods for another page")
end)

-- --------------------------------------------------------------------------------------------------------- traces

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

local function trace_of(reply)
  local id, parent, flags = (reply.headers.traceparent or ""):match("^00%-(%x+)%-(%x+)%-(%x%x)$")
  equal(32, #(id or ""), "length of the trace in " .. tostring(reply.headers.traceparent))
  equal(16, #parent, "length of the parent")
  return id, parent, flags
end

test("a trace goes on, in the reply and in the record", function()
  local header = ("traceparent: 00-%s-%s-01"):format(TRACE, PARENT)
  local reply = w:search({ suppliers = { "s01" } }, { header })
  local id, parent, flags = trace_of(reply)
  equal(TRACE, id, "trace")
  equal("01", flags, "flags")
  assert(parent ~= PARENT, "the parent is our own")
  equal(TRACE, record_of(reply).trace_id, "trace in the record")
  equal(TRACE, trace_of(w:search({ suppliers = { "s01" } }, { header, STREAM })), "of a stream")
  equal(TRACE, trace_of(w:search({ budget_ms = 0 }, { header })), "of a problem")
  equal(TRACE, trace_of(w:search({ query = { slices = {} } }, { header })), "of a query that is refused")
end)

test("without a good traceparent a new trace begins", function()
  for _, headers in ipairs { {}, { "traceparent: 00-" .. TRACE .. "-" .. PARENT },
    { ("traceparent: 00-%s-%s-01"):format(("0"):rep(32), PARENT) },
    { ("traceparent: 00-%s-%s-01"):format(TRACE, PARENT), ("traceparent: 00-%s-%s-00"):format(TRACE, PARENT) } } do
    local reply = w:search({ suppliers = { "s01" } }, headers)
    local id, _, flags = trace_of(reply)
    assert(id ~= TRACE, "a new trace")
    equal("00", flags, "flags")
    equal(id, record_of(reply).trace_id, "trace in the record")
  end
end)

w:stop()

-- ------------------------------------------------------------------------------------------------- other settings

w = world.start { population = "healthy", overlay = 'cors: { origins: "*" }\n' }

test("on a loopback listener a reply tells everything, and nothing may be kept", function()
  local reply = w:search({ budget_ms = 3000, suppliers = { "s01" } }, { "Search-Caller: whoever", "grpc-timeout: x" })
  equal(200, reply.status, "without a list of callers and without deadlines their headers mean nothing")
  equal("main", world.entry(reply, "s01").account, "account")
  equal("no-store", reply.headers["cache-control"], "Cache-Control")
end)

test("every page may call where all are listed", function()
  local reply = w:search({ suppliers = { "s01" } }, { "Origin: https://any.test" })
  equal("*", reply.headers["access-control-allow-origin"], "origin")
  equal(nil, reply.headers.vary, "Vary")
  equal("*", preflight("https://any.test").headers["access-control-allow-origin"], "origin of the preflight")
end)

w:stop()

test("a token that is too short or missing ends the start", function()
  for _, environment in ipairs { "", "LASTCALL_REPLY_TOKEN=short" } do
    local output, code = world.shell(("%s LASTCALL__REPLY__TOKEN_ENV=LASTCALL_REPLY_TOKEN %s/lastcall serve " ..
      "-c examples/farm/lastcall.yaml -c %s/overlay.yaml"):format(environment, world.build, w.folder))
    equal(3, code, "exit code of: " .. output)
    assert(output:find("LASTCALL_REPLY_TOKEN, which reply.token_env names, is", 1, true), output)
  end
end)

world.finish()
