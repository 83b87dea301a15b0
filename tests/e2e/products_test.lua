-- Products: what a caller may ask, and which offer wins. Suppliers here offer what the settings tell them to.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local folder = world.folder
os.execute("mkdir -p " .. folder)

local DAY_S = 86400
local function rates_file(name, age_s)
  local path = folder .. "/" .. name
  local file = assert(io.open(path, "w"))
  file:write(world.json.encode {
    id = name, as_of = os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() - age_s), base = "EUR",
    rates = { JPY = "160.00", KWD = "0.3300", USD = "1.10" },
  })
  file:close()
  return path
end

local function offer(id, hotel, board, price)
  return { id = id, hotel_id = hotel, room = "A room", board = board, pay = "now", price = price }
end

local function price(total, currency, fields)
  local all = { total = total, currency = currency, taxes_included = "yes" }
  for key, value in pairs(fields or {}) do
    all[key] = value
  end
  return all
end

local function fee(amount)
  return { { kind = "resort_fee", amount = amount, currency = "EUR" } }
end

local unmapped = offer("1", nil, "room_only", price("170.00", "EUR"))
unmapped.supplier_hotel_id = "77"
local no_currency = offer("2", "H1", "breakfast", price("1.00", nil))
local four_star = offer("1", "H1", "breakfast", price("150.00", "EUR", { due_later = fee("30.00") }))
four_star.stars = 4

local TOLD = {
  honest = { four_star },
  hider = { offer("1", "H1", "breakfast", price("120.00", "EUR", { taxes_included = "no" })) },
  silent = { offer("1", "H1", "room_only", price("110.00", "EUR", { taxes_included = "unknown" })) },
  feeless = { offer("1", "H1", "breakfast", price("25.00", "EUR", { due_later = fee("30.00") })) },
  yen = { offer("1", "H2", "breakfast", price("20000", "JPY")) },
  dinar = { offer("1", "H3", "half_board", price("46.200", "KWD")), no_currency },
  peso = { offer("1", "H3", "room_only", price("1.00", "MXN")) },
  stranger = { unmapped },
}

local function settings(rates)
  local lines = {
    "suppliers_dir: tests/e2e/suppliers",
    "scripts_dir: scripts",
    ("fx: { file: %s, max_age: 36h }"):format(rates),
    "suppliers:",
    "  told: { enabled: false, because: \"a template\" }",
  }
  for _, name in ipairs { "kill_bomb", "kill_bomb_build", "kill_loop", "kill_memory", "kill_pcall", "kill_strings" } do
    lines[#lines + 1] = ("  %s: { enabled: false, because: \"not for this test\" }"):format(name)
  end
  for name, offers in pairs(TOLD) do
    local text = world.json.encode(offers):gsub("'", "''")
    lines[#lines + 1] = ("  %s: { uses: told, accounts: { main: { options: { offers: '%s' } } } }"):format(name, text)
  end
  return table.concat(lines, "\n")
end

local QUERY = {
  place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } },
}

local w

local function search(fields, query)
  local body = { product = "hotels", budget_ms = 10000, query = {} }
  for _, from in ipairs { QUERY, query or {} } do
    for key, value in pairs(from) do
      body.query[key] = value
    end
  end
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  return w:search(body)
end

local EVERYBODY = { "honest", "hider", "silent", "feeless", "yen", "dinar", "peso", "stranger" }

local function ids_of(reply)
  local ids = {}
  for i, each in ipairs(reply.json.offers) do
    ids[i] = each.id
  end
  return table.concat(ids, " ")
end

local function by_id(reply, id)
  for _, each in ipairs(reply.json.offers) do
    if each.id == id then
      return each
    end
  end
  error("no offer " .. id)
end

w = world.start { population = "instant", overlay = settings(rates_file("fresh.json", 3600)), settings = {} }

test("the right one wins: converted totals compare, hidden charges and unknown currencies come last", function()
  local reply = search { suppliers = EVERYBODY }
  equal(200, reply.status, "status")
  -- 20,000 / 160 = 125.00; 46.2 / 0.33 = 140.00
  equal("yen:1 dinar:1 honest:1 stranger:1 silent:1 hider:1 peso:1", ids_of(reply), "order")
  equal("125.00", by_id(reply, "yen:1").price.total, "the yen's total")
  equal("EUR", by_id(reply, "yen:1").price.currency, "the yen's currency")
  equal("20000", by_id(reply, "yen:1").price.supplier_price.amount, "what the supplier said")
  equal("140.00", by_id(reply, "dinar:1").price.total, "the dinar's total")
  equal("46.200", by_id(reply, "dinar:1").price.supplier_price.amount, "what the supplier said")
  equal("taxes_excluded", table.concat(by_id(reply, "hider:1").flags, ","), "flags of the hider")
  equal("taxes_unknown", table.concat(by_id(reply, "silent:1").flags, ","), "flags of the silent one")
  equal("other_currency", table.concat(by_id(reply, "peso:1").flags, ","), "flags of the peso")
  equal(nil, by_id(reply, "yen:1").flags, "flags of the yen")
end)

test("offers without a currency, or whose total leaves out a fee, are dropped with their path", function()
  local reply = search { suppliers = EVERYBODY }
  local feeless, dinar = world.entry(reply, "feeless"), world.entry(reply, "dinar")
  equal("unparsable", feeless.outcome, "outcome of the one with the hidden fee")
  assert(feeless.first_dropped or feeless.detail, "where it was wrong")
  local where = (feeless.first_dropped or "") .. (feeless.detail or "")
  assert(where:find("[1].price.due_later", 1, true), where)
  equal(1, dinar.offers_dropped, "dropped of the dinar")
  assert(dinar.first_dropped:find("[2].price", 1, true), dinar.first_dropped)
end)

test("facets count everything found, and only what can win has a lowest total", function()
  local reply = search { suppliers = EVERYBODY, max_items = 1, max_offers_per_item = 1 }
  equal(1, #reply.json.offers, "offers returned")
  equal(7, reply.json.coverage.offers_found, "offers found")
  local told = {}
  for _, value in ipairs(reply.json.facets.board) do
    told[#told + 1] = ("%s %d %s"):format(value.value, value.count, value.lowest or "-")
  end
  equal("breakfast 3 125.00, half_board 1 140.00, room_only 3 170.00", table.concat(told, ", "), "boards")
  equal(1, #reply.json.facets.stars, "values of stars")
  equal(4, reply.json.facets.stars[1].value, "stars")
end)

test("sellers of one hotel are grouped, never merged; what nobody could map is its supplier's own item", function()
  local reply = search { suppliers = EVERYBODY }
  equal(by_id(reply, "honest:1").item, by_id(reply, "hider:1").item, "item of two sellers")
  equal("H1", reply.json.items[by_id(reply, "honest:1").item].hotel_id, "the item's hotel")
  equal("stranger:77", by_id(reply, "stranger:1").item, "item of the unknown hotel")
  equal(1, world.entry(reply, "stranger").offers_unmapped, "unmapped offers of the stranger")
  equal(nil, world.entry(reply, "honest").offers_unmapped, "unmapped offers of the honest one")
end)

test("only a script that wants it sees who asks", function()
  local reply = search({ suppliers = { "curious" } }, { client = { ip = "192.0.2.9" } })
  equal("192.0.2.9", reply.json.offers[1].room, "what it saw")
  equal("nobody", search({ suppliers = { "curious" } }).json.offers[1].room, "what it saw of nobody")
  local records = world.http("GET", w.admin_url .. "/admin/v1/searches").raw
  equal(nil, records:find("192.0.2.9", 1, true), "the address in the records")
end)

local function refused(fields, query, pointer, code)
  local reply = search(fields, query)
  equal(422, reply.status, "status for " .. pointer)
  for _, mistake in ipairs(reply.json.errors) do
    if mistake.pointer == pointer then
      equal(code, mistake.code, "code of " .. pointer)
      return
    end
  end
  error("no error at " .. pointer .. ": " .. reply.raw)
end

test("bad queries for hotels are refused with the place of the mistake", function()
  local rooms = {}
  for i = 1, 10 do
    rooms[i] = { adults = 1 }
  end
  refused({}, { check_in = "2030-02-30" }, "/query/check_in", "invalid")
  refused({}, { check_out = "2030-09-01" }, "/query/check_out", "out_of_order")
  refused({}, { rooms = rooms }, "/query/rooms", "out_of_range")
  refused({}, { rooms = { { adults = 1, child_ages = { world.json.null } } } }, "/query/rooms/0/child_ages/0",
    "wrong_type")
  refused({}, { check_in = "2020-01-01" }, "/query/check_in", "in_the_past")
  refused({}, { guests = 2 }, "/query/guests", "unknown_field")
  refused({ sort = "cheapest" }, {}, "/sort", "unknown_value")
  refused({ sort = 1 }, {}, "/sort", "wrong_type")
end)

test("bad queries for flights are refused with the place of the mistake", function()
  local function flights(changes, pointer, code)
    local query = {
      slices = { { origin = "LHR", destination = "JFK", date = "2030-05-12" } }, travellers = { { type = "adult" } },
    }
    for key, value in pairs(changes) do
      query[key] = value
    end
    local reply = w:search { query = query }
    equal(422, reply.status, "status for " .. pointer)
    equal(pointer, reply.json.errors[1].pointer, "pointer")
    equal(code, reply.json.errors[1].code, "code of " .. pointer)
  end
  local seven = {}
  for i = 1, 7 do
    seven[i] = { origin = i % 2 == 0 and "JFK" or "LHR", destination = i % 2 == 0 and "LHR" or "JFK",
      date = "2030-05-0" .. i }
  end
  flights({ slices = { { origin = "LHR", destination = "JFK", date = "2030-02-30" } } }, "/query/slices/0/date",
    "invalid")
  flights({ slices = { { origin = "LHR", destination = "QQQ", date = "2030-05-12" } } },
    "/query/slices/0/destination", "unknown_airport")
  flights({ slices = seven }, "/query/slices", "out_of_range")
  flights({ travellers = { { type = "adult" }, { type = "child" } } }, "/query/travellers/1/age", "required")
  flights({ travellers = { { type = "infant_lap" } } }, "/query/travellers", "invalid")
end)

w:stop()
w = world.start { population = "instant", overlay = settings(rates_file("stale.json", 3 * DAY_S)), settings = {} }

test("a stale table converts nothing: other currencies are shown, flagged, and win nothing", function()
  local reply = search { suppliers = EVERYBODY }
  equal("honest:1 stranger:1 silent:1 hider:1 peso:1 dinar:1 yen:1", ids_of(reply), "order")
  equal("20000", by_id(reply, "yen:1").price.total, "the yen's total")
  equal("JPY", by_id(reply, "yen:1").price.currency, "the yen's currency")
  equal("other_currency", table.concat(by_id(reply, "yen:1").flags, ","), "flags of the yen")
  equal(nil, by_id(reply, "yen:1").price.fx, "rate of the yen")
end)

w:stop()
world.finish()
