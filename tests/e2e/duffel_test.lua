-- Duffel's recorded answers over HTTP: every offer with all that we tell of it, pages, and the outcome of every error.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local reading = require("tests.e2e.duffel_reading")
local by_hand = require("tests.e2e.duffel_by_hand")
local test, equal, answered, ended = world.test, world.equal, recorded.answered, recorded.ended

local TOKEN = "duffel_test_not-for-anybodys-eyes"

local r = recorded.new {
  supplier = "duffel",
  any_day = true,
  environment = { DUFFEL_TOKEN = TOKEN },
  query = {
    slices = { { origin = "SYD", destination = "MEL", date = "2030-04-16" } },
    travellers = world.query.travellers,
    currency = "GBP",
  },
  rates = { base = "EUR", rates = { GBP = "0.8" } }, -- a pound is 1.25 euros, exactly
  population = "healthy",
  settings = { "examples/farm/lastcall.yaml", "examples/farm/duffel.yaml" },
}
r:needs("offers.show.json")

-- ---- what the farm answers -----------------------------------------------------------------------------------------

local function http_date(seconds)
  return os.date("!%a, %d %b %Y %H:%M:%S GMT", seconds)
end

local CREATE = "POST /air/offer_requests"
local CREATED = "{\"data\": {\"id\": \"orq_1\", \"slices\": [], \"passengers\": []}}"
local page = reading.decode("offers.list.page.json")
local cursor = page.meta.after
local shown = assert(r:read("offers.show.json"):match("\"data\":%s*(%b{})"))

local function query_of(origin, destination)
  return { slices = { { origin = origin, destination = destination, date = "2030-04-16" } },
    travellers = world.query.travellers, currency = "GBP" }
end
local ACROSS, WEST = query_of("LHR", "JFK"), query_of("CHI", "QLA")

r:answers("duffel", CREATE, "200 OK", "offer_requests.create_with_offers.json")
local SMALL = "offer_requests.create.small.json"
r:answers("d_small", CREATE, "201 Created", SMALL)
for _, name in ipairs { "d_small", "d_strict", "d_last", "d_left", "d_twice" } do
  r:set_query(name, ACROSS)
end
r:answers("d_packed", CREATE, "201 Created", "offer_requests.create_with_offers.json", { gzip = true })
local small = r:read(SMALL)
-- The same fare, but not given back.
local strict, changes = small:gsub("(\"refund_before_departure\": {%s*\"allowed\": )true", "%1false")
assert(changes == 1, "the condition of the small file is not where it was")
r:answers("d_strict", CREATE, "200 OK", strict)
r:answers("d_partial", CREATE, "200 OK", "partial_offer_request.create.json")
r:answers("d_none", CREATE, "200 OK", "{\"data\": {\"id\": \"orq_1\", \"offers\": []}}")
r:answers("d_show", CREATE, "200 OK", "offers.show.json")
r:answers("d_list", CREATE, "200 OK", "offers.list.page.json")
r:answers("d_places", CREATE, "200 OK", "airports.list.json")

local FIRST = "GET /air/offers?offer_request_id=orq_1&limit=50&sort=total_amount"
local NEXT = FIRST .. "&after=" .. cursor
local PAGED = { "d_pages", "d_shown", "d_circle", "d_lost", "d_unpaged", "d_refused" }
for _, name in ipairs(PAGED) do
  r:set_query(name, name == "d_shown" and WEST or ACROSS)
  r:set_options(name, { page_size = 50 })
  r:answers(name, CREATE .. "?return_offers=false", "201 Created", CREATED)
end
-- The second page has one offer: the first one of the first page, under another id.
local first_offer = assert(r:read("offers.list.page.json"):match("\"data\":%s*%[%s*(%b{})"))
local again = first_offer:gsub(page.data[1].id, "off_again")
r:answers("d_pages", NEXT, "200 OK", "{\"meta\": {\"after\": null, \"limit\": 50}, \"data\": [" .. again .. "]}")
r:answers("d_shown", FIRST, "200 OK", "{\"meta\": {\"after\": null, \"limit\": 50}, \"data\": [" .. shown .. "]}")
r:answers("d_pages", FIRST, "200 OK", "offers.list.page.json")
r:answers("d_circle", FIRST, "200 OK", "offers.list.page.json")
r:answers("d_lost", NEXT, "503 Service Unavailable", "error.gateway.html")
r:answers("d_lost", FIRST, "200 OK", "offers.list.page.json")
r:answers("d_unpaged", FIRST, "200 OK", "offers.show.json")
r:answers("d_refused", FIRST, "429 Too Many Requests", "error.rate_limit_error.json")

-- How each error ends. The status decides nothing where Duffel tells the type of its error.
local NOW = os.time()
local LIMIT = "error.rate_limit_error.json"
local function limit(date, reset)
  return { "ratelimit-limit: 60", "ratelimit-remaining: 0", "date: " .. http_date(date),
    "ratelimit-reset: " .. http_date(reset) }
end

local ERRORS = {
  { "d_auth", "401 Unauthorized", "error.authentication_error.json", "rejected", kind = "auth" },
  { "d_rate", "429 Too Many Requests", LIMIT, "rejected", kind = "quota", retry_in_ms = 37000,
    headers = limit(NOW, NOW + 37) },
  -- Duffel's clock is an hour ahead of ours: its own date tells how long it is.
  { "d_rate_ahead", "429 Too Many Requests", LIMIT, "rejected", kind = "quota", retry_in_ms = 5000,
    headers = limit(NOW + 3600, NOW + 3605) },
  { "d_rate_past", "429 Too Many Requests", LIMIT, "rejected", kind = "quota", headers = limit(NOW, NOW - 60) },
  { "d_rate_odd", "429 Too Many Requests", LIMIT, "rejected", kind = "quota",
    headers = { "ratelimit-reset: soon", "ratelimit-reset: later" } },
  { "d_rate_400", "400 Bad Request", LIMIT, "rejected", kind = "quota" },
  { "d_wrong", "422 Unprocessable Entity", "error.validation_error.json", "rejected", kind = "supplier",
    is_coded = true },
  { "d_airline", "502 Bad Gateway", "error.airline_error.json", "rejected", kind = "supplier", is_coded = true },
  { "d_airline_200", "200 OK", "error.airline_error.json", "rejected", kind = "supplier", is_coded = true },
  { "d_api", "500 Internal Server Error", "error.api_error.json", "rejected", kind = "busy", prefix = true },
  { "d_api_503", "503 Service Unavailable", "error.api_error.json", "rejected", kind = "busy", prefix = true },
  { "d_api_401", "401 Unauthorized", "error.api_error.json", "rejected", kind = "supplier", is_coded = true },
  { "d_gate_502", "502 Bad Gateway", "error.gateway.html", "failed" },
  { "d_gate_503", "503 Service Unavailable", "error.gateway.html", "failed" },
  { "d_gate_504", "504 Gateway Timeout", "error.gateway.html", "failed" },
  { "d_gate_404", "404 Not Found", "error.gateway.html", "rejected", kind = "supplier" },
  { "d_gate_429", "429 Too Many Requests", "error.gateway.html", "rejected", kind = "quota" },
  { "d_gate_200", "200 OK", "error.gateway.html", "unparsable" },
  { "d_bare_500", "500 Internal Server Error", "{\"meta\": {\"status\": 500}}", "failed" },
  { "d_bare_400", "400 Bad Request", "{\"meta\": {\"status\": 400}}", "rejected", kind = "supplier" },
}
for _, row in ipairs(ERRORS) do
  r:answers(row[1], CREATE, row[2], row[3], row.headers)
end
-- What is left of the account's requests, on an answer with offers.
r:answers("d_last", CREATE, "201 Created", SMALL, limit(NOW, NOW + 600))
r:answers("d_left", CREATE, "201 Created", SMALL,
  { "ratelimit-remaining: 1", "ratelimit-reset: " .. http_date(NOW + 600) })
r:answers("d_twice", CREATE, "201 Created", SMALL, { "ratelimit-remaining: 0", "ratelimit-remaining: 0" })
r:answers("d_echo", CREATE, "401 Unauthorized", world.json.encode { errors = { {
  type = "authentication_error", code = "access_token_not_found", title = "Unknown token",
  message = "There is no token " .. TOKEN .. " in Bearer " .. TOKEN,
} } })

-- Each answer as Duffel might change it.
local function at_once(alias, body)
  r:answers(alias, CREATE, "200 OK", body)
end
local function by_pages(alias, body)
  r:set_options(alias, { page_size = 50 })
  r:answers(alias, CREATE .. "?return_offers=false", "201 Created", CREATED)
  r:answers(alias, NEXT, "200 OK", "{\"meta\": {\"after\": null}, \"data\": []}")
  r:answers(alias, FIRST, "200 OK", body)
end
local MUTATED = {
  r:mutated("m_all", "offer_requests.create_with_offers.json", {
    fields = { "offers[].total_amount", "offers[3].total_amount", "offers[].total_currency", "offers[2].slices",
      "segments[].departing_at", "data.offers", "data.offers[3]" },
    lists = { "offers[].slices", "slices[].segments", "segments[].passengers" }, nothing = { "data.offers" },
  }, at_once),
  r:mutated("m_small", "offer_requests.create.small.json", { query = ACROSS,
    fields = { "offers[1].total_amount", "segments[].origin", "tax_amount" }, ids = { "offers[].id" },
    lists = { "offers[].slices", "slices[].segments" }, nothing = { "data.offers" },
  }, at_once),
  r:mutated("m_page", "offers.list.page.json", { query = ACROSS,
    fields = { "data[].total_amount", "data[7].total_currency", "segments[].arriving_at", "meta.after", "data" },
    lists = { "data[].slices", "slices[].segments" },
  }, by_pages),
  r:mutated("m_show", "{\"meta\": {\"after\": null}, \"data\": [" .. shown .. "]}", {
    query = WEST, file = "offers.show.json",
    fields = { "data[].total_amount", "segments[].marketing_carrier", "data" },
    lists = { "data[].slices", "segments[].passengers" }, nothing = { "data" },
  }, by_pages),
  r:mutated("m_partial", "partial_offer_request.create.json", { no_offers = true,
    fields = { "offers[].total_amount", "offers[].slices", "data.offers" }, lists = { "slices[].segments" },
  }, at_once),
  r:mutated("m_places", "airports.list.json", { no_offers = true,
    fields = { "data[].iata_code", "data", "meta" }, lists = { "data" },
  }, at_once),
}
local STATUSES = { authentication = "401 Unauthorized", rate_limit = "429 Too Many Requests", api = "500 Oh",
  validation = "422 Unprocessable Entity", airline = "502 Bad Gateway" }
for kind, status in pairs(STATUSES) do
  MUTATED[#MUTATED + 1] = r:mutated("m_" .. kind, ("error.%s_error.json"):format(kind), { no_offers = true,
    fields = { "errors[].type", "errors", "errors[].code", "errors[].message" }, lists = { "errors" },
  }, function(alias, body)
    r:answers(alias, CREATE, status, body)
  end)
end

local GATEWAY = r:read("error.gateway.html")
MUTATED[#MUTATED + 1] = r:mutated("m_gateway", "error.gateway.html", { no_offers = true, made = {
  { name = "h1 renamed", text = (GATEWAY:gsub("h1>", "b>")) },
  { name = "h1 null", text = (GATEWAY:gsub("<h1>.-</h1>", "<h1></h1>")) },
  { name = "all retyped", text = "[502]" },
  { name = "all emptied", text = "" },
  { name = "cut in half", text = GATEWAY:sub(1, math.floor(#GATEWAY / 2)) },
} }, function(alias, body)
  r:answers(alias, CREATE, "502 Bad Gateway", body, { type = "text/html" })
end)

local w = r:start()

-- ---- offers --------------------------------------------------------------------------------------------------------

local source = reading.decode("offer_requests.create_with_offers.json").data
local expected, corrected = reading.read(source.offers)

test("each of the 68 offers of a search is told in full, beside those of the farm", function()
  local everybody = { "duffel" } -- but those that refuse by quota: they would be left alone for a while
  for number = 1, 40 do
    everybody[#everybody + 1] = ("s%02d"):format(number)
  end
  local reply = r:search(everybody)
  answered(reply, "duffel", #source.offers, corrected)
  equal(68, #source.offers, "offers of the file")
  reading.compare(expected, reply, "duffel")
  assert(reply.json.coverage.offers_found > 68 + 1000, "the farm's offers are there too")
end)

test("an answer that comes packed says the same", function()
  local reply = r:search { "d_packed" }
  answered(reply, "d_packed", #source.offers, corrected)
  reading.compare(expected, reply, "d_packed")
end)

-- Read from the file by eye, so that a mistake made twice cannot hide.
test("ten values read by hand", function()
  local HAND = {
    [1] = { "off_0000AEatBxAp5iMWXnIwuf", "627.00 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [2] = { "off_0000AEatBxAT724wWh8fMW", "395.25 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [3] = { "off_0000AEatBxA78LnMVayNoV", "327.17 GBP", "2022-04-16T20:00:00", "2022-04-16T21:35:00" },
    [8] = { "off_0000AEatBx9l9fVmUUo6G3", "79.62 GBP", "2022-04-16T19:00:00", "2022-04-16T20:35:00" },
    [14] = { "off_0000AEatBx93CIwcSITX9S", "627.00 GBP", "2022-04-16T17:00:00", "2022-04-16T18:35:00" },
    [21] = { "off_0000AEatBx8LEwNSQ68y2r", "79.62 GBP", "2022-04-16T16:00:00", "2022-04-16T17:35:00" },
    [32] = { "off_0000AEatBx6vKDF8LhTppz", "79.62 GBP", "2022-04-16T13:00:00", "2022-04-16T14:35:00" },
    [45] = { "off_0000AEatBx5rOAOOIOyzB8", "79.62 GBP", "2022-04-16T10:00:00", "2022-04-16T11:35:00" },
    [56] = { "off_0000AEatBx45UkyUCu9ZQ7", "79.62 GBP", "2022-04-16T08:00:00", "2022-04-16T09:35:00" },
    [68] = { "off_0000AEatBx31Yi7k9beiky", "129.51 GBP", "2022-04-16T06:30:00", "2022-04-16T08:05:00" },
  }
  local reply = r:search { "duffel" }
  local offers = {}
  for _, offer in ipairs(reply.json.offers) do
    offers[offer.id] = offer
  end
  for index, values in pairs(HAND) do
    local ours = assert(offers["duffel:" .. values[1]], "offer " .. index .. " is missing")
    local segment = reply.json.items[ours.item].slices[1].segments[1]
    equal(values[2], ours.price.total .. " " .. ours.price.currency, "offer " .. index)
    equal("SYD-MEL", segment.origin .. "-" .. segment.destination, "airports of offer " .. index)
    equal(values[3], segment.departs["local"], "departure of offer " .. index)
    equal(values[4], segment.arrives["local"], "arrival of offer " .. index)
    equal(95, segment.duration_min, "duration of offer " .. index)
  end
end)

test("offers of each file read by hand, line by line", function()
  local files = { duffel = { by_hand.all }, d_small = { by_hand.small }, d_pages = { by_hand.page },
    d_shown = { by_hand.show } }
  for name, lists in pairs(files) do
    local reply = r:search { name }
    local offers = recorded.offers_of(reply, name)
    for _, list in ipairs(lists) do
      for id, lines in pairs(list) do
        local offer = assert(offers[id], id .. " is missing")
        local told = by_hand.told(offer, reply.json.items[offer.item])
        for i = 1, math.max(#lines, #told) do
          equal(lines[i], told[i], id)
        end
      end
    end
  end
end)

test("a search in euros has every total converted to the cent, and Duffel's own beside it", function()
  local reply = r:search({ "duffel" }, { currency = "EUR" })
  answered(reply, "duffel", #source.offers, corrected)
  for _, ours in ipairs(reply.json.offers) do
    local theirs = assert(expected[ours.id:match(":(.*)$")])
    equal(theirs.total .. " " .. theirs.currency,
      ours.price.supplier_price.amount .. " " .. ours.price.supplier_price.currency, ours.id)
    local pence = tonumber((theirs.total:gsub("%.", "")))
    local cents = tonumber((ours.price.total:gsub("%.", "")))
    equal(math.floor((pence * 5 + 2) / 4), cents, ours.id .. " of " .. theirs.total)
    equal("EUR", ours.price.currency, ours.id)
    equal("duffel-test", ours.price.fx.id, ours.id)
  end
end)

test("a fare that may be changed and given back for a fee; a flight whose duration its times contradict", function()
  local offers = reading.decode("offer_requests.create.small.json").data.offers
  local by_id, wrong = reading.read(offers)
  local reply = r:search { "d_small" }
  local entry = answered(reply, "d_small", 1, wrong)
  reading.compare(by_id, reply, "d_small")
  equal(true, reply.json.offers[1].refundable, "refundable")
  equal(true, reply.json.offers[1].changeable, "changeable")
  equal(2, wrong, "a segment and a slice")
  equal(false, r:search { "d_strict" }.json.offers[1].refundable, "refundable where it is not allowed")
  assert(entry.first_warning:find("146 minutes are told", 1, true), entry.first_warning)
end)

for _, list in ipairs(MUTATED) do
  r:never_wrong(list)
end

-- ---- pages ---------------------------------------------------------------------------------------------------------

test("pages: times across zones, journeys of more than a day, one stop each", function()
  local offers = {}
  for i, offer in ipairs(page.data) do
    offers[i] = offer
  end
  offers[#offers + 1] = world.json.decode(again)
  local by_id, wrong = reading.read(offers)
  local reply = r:search { "d_pages" }
  local entry = answered(reply, "d_pages", #offers, wrong)
  equal(51, #offers, "offers of the files")
  equal(nil, entry.partial, "partial")
  reading.compare(by_id, reply, "d_pages")
  local long, stops = 0, 0
  for _, item in pairs(reply.json.items) do
    long = long + (item.slices[1].duration_min > 1440 and 1 or 0)
  end
  for _, offer in pairs(by_id) do
    stops = math.max(stops, #offer.slices[1].segments - 1)
  end
  assert(long > 0, "no journey takes more than a day")
  equal(1, #reply.json.facets.stops, "kinds of stops")
  equal(stops, tonumber(reply.json.facets.stops[1].value), "stops")
  equal(#offers, reply.json.facets.stops[1].count, "offers with a stop")
end)

test("a cursor that leads in a circle ends there, and the answer is partial", function()
  local reply = r:search { "d_circle" }
  local entry = world.entry(reply, "d_circle")
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(#page.data, entry.offers, "offers")
  equal(true, entry.partial, "partial")
  equal(false, reply.json.coverage.complete, "complete")
end)

test("a page that fails leaves those before it, and the answer is partial", function()
  local reply = r:search { "d_lost" }
  local entry = world.entry(reply, "d_lost")
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(#page.data, entry.offers, "offers")
  equal(true, entry.partial, "partial")
end)

test("without any page there is no answer, and it is not an empty one", function()
  ended(r:search { "d_refused" }, "d_refused", "rejected", "quota")
  ended(r:search { "d_unpaged" }, "d_unpaged", "unparsable")
end)

-- ---- how many requests are left ---------------------------------------------------------------------------------

test("the last request of a quota is answered; the next one waits until Duffel's reset", function()
  answered(r:search { "d_last" }, "d_last", 1, 2)
  local entry = world.entry(r:search { "d_last" }, "d_last")
  equal("rate_limited", entry.outcome, world.json.encode(entry))
  assert(entry.retry_in_ms > 300000 and entry.retry_in_ms <= 600000, "retry_in_ms " .. entry.retry_in_ms)
end)

test("as long as one is left, or nobody can read what is left, all are sent", function()
  for _ = 1, 2 do
    answered(r:search { "d_left" }, "d_left", 1, 2)
    answered(r:search { "d_twice" }, "d_twice", 1, 2)
  end
end)

-- ---- what is no offer to sell --------------------------------------------------------------------------------------

test("offers that cannot be booked as they are, and answers to other questions, are no answer", function()
  local told_of = { d_partial = "partial", d_show = "data.offers", d_list = "data.offers", d_places = "data.offers" }
  for name, told in pairs(told_of) do
    local entry = ended(r:search { name }, name, "unparsable")
    assert(entry.detail:find(told, 1, true), entry.detail)
  end
end)

test("nothing for sale is empty, and nothing else is", function()
  local reply = r:search { "d_none" }
  ended(reply, "d_none", "empty")
  equal(true, reply.json.coverage.complete, "complete")
end)

for _, row in ipairs(ERRORS) do
  local name, status, file, outcome = row[1], row[2], row[3], row[4]
  test(("%s: %s with %s is %s%s"):format(name, file, status, outcome, row.kind and ", " .. row.kind or ""), function()
    local told = file:match("%.json$") and reading.decode(file).errors[1] or {}
    local reply = r:search { name }
    local entry = ended(reply, name, outcome, row.kind)
    -- An account whose supplier does not say how long is left alone for a second.
    equal(row.retry_in_ms or (row.kind == "quota" and 1000 or nil), entry.retry_in_ms, "retry_in_ms")
    equal(row.is_coded and told.code or nil, entry.code, "code")
    local http = tonumber(status:match("^%d+"))
    equal(http >= 400 and http or nil, entry.http_status, "http_status")
    if told.message then
      local message = row.prefix and told.code .. ": " .. told.message or told.message
      equal(message:sub(1, #entry.detail), entry.detail, "detail")
      assert(#entry.detail >= math.min(#message, 60), entry.detail)
    end
    assert(not reply.raw:find(TOKEN, 1, true), "the token is in the reply")
  end)
end

test("a token that Duffel repeats is in no reply, no record and no line of the log", function()
  local reply = r:search { "d_echo" }
  equal("auth", world.entry(reply, "d_echo").kind)
  assert(not reply.raw:find(TOKEN, 1, true), reply.raw)
  local record = world.http("GET", w.admin_url .. "/admin/v1/searches")
  equal(200, record.status, "records")
  assert(not record.raw:find(TOKEN, 1, true), record.raw)
  assert(not w:engine_output():find(TOKEN, 1, true), "the log")
end)

-- The last test: from now on the farm answers so.
test("a field that no offer needs, and that has another name by now, is told as drift", function()
  for _ = 1, 50 do
    answered(r:search { "d_small" }, "d_small", 1, 2)
  end
  world.farm("duffel", { fault = "rename_field", field = "expires_at" })
  local told = {}
  for _ = 1, 6 do
    local entry = world.entry(r:search { "d_small" }, "d_small")
    equal("answered", entry.outcome, world.json.encode(entry))
    told[#told + 1] = entry.first_warning
  end
  assert(table.concat(told, "\n"):find("drift: data.offers[].expires_at has stopped appearing", 1, true),
    table.concat(told, "\n"))
end)

r:stop()
world.finish()
