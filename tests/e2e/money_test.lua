-- Money over the wire: the farm sells in euros whatever exotic currency is asked for, so searches in others need the
-- table of exchange rates; and the clocks of airports, by which each flight's times become instants.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local RATES = world.folder .. "/rates.json"
os.execute("mkdir -p " .. world.folder)

local function write_rates(as_of)
  world.write_file(RATES, world.json.encode {
    id = "e2e", as_of = os.date("!%Y-%m-%dT%H:%M:%SZ", as_of), base = "EUR",
    rates = { USD = "1.25", JPY = "160", KWD = "0.3" },
  })
end

local function start(as_of)
  write_rates(as_of)
  return world.start { population = "healthy", overlay = "fx: { file: " .. RATES .. ", max_age: 36h }" }
end

local function search(w, currency)
  local query = { slices = world.query.slices, travellers = world.query.travellers, currency = currency }
  local reply = w:search { query = query, suppliers = { "s01", "s02" }, budget_ms = 5000, max_items = 10000,
    max_offers_per_item = 1000 }
  equal(200, reply.status, "status")
  assert(#reply.json.offers > 0, "no offers")
  return reply
end

-- Whole numbers of the last digit, so that nothing here is a float either.
local function units(amount)
  return tonumber((amount:gsub("%.", "")))
end

local w = start(os.time() - 3600)

test("offers in euros are shown in yen, by the table, and keep their own price", function()
  for _, offer in ipairs(search(w, "JPY").json.offers) do
    local price = offer.price
    equal("JPY", price.currency, "currency")
    equal("EUR", price.supplier_price.currency, "the supplier's")
    equal("e2e", price.fx.id, "the table")
    -- 160 yen a euro: a cent is 1.6 yen
    equal(math.floor(units(price.supplier_price.amount) * 1.6 + 0.5), units(price.total), "total")
    equal(nil, offer.flags, "flags")
  end
end)

test("dinars have three decimals", function()
  for _, offer in ipairs(search(w, "KWD").json.offers) do
    assert(offer.price.total:match("^%d+%.%d%d%d$"), offer.price.total)
    equal(units(offer.price.supplier_price.amount) * 3, units(offer.price.total), "total")
  end
end)

test("what needs no conversion gets none", function()
  for _, offer in ipairs(search(w, "EUR").json.offers) do
    equal(nil, offer.price.supplier_price, "supplier_price")
    equal(nil, offer.price.fx, "fx")
  end
end)

test("a currency without a rate stays as the supplier has it, flagged", function()
  for _, offer in ipairs(search(w, "AUD").json.offers) do
    equal("EUR", offer.price.currency, "currency")
    assert(offer.flags, "no flag")
    equal(nil, offer.price.supplier_price, "supplier_price")
  end
end)

test("every time is an instant, and durations are those between them", function()
  local reply = search(w, "EUR")
  local function instant(text)
    local year, month, day, hour, minute = text:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):%d+Z$")
    return os.time { year = year, month = month, day = day, hour = hour, min = minute, isdst = false } / 60
  end
  for id, item in pairs(reply.json.items) do
    for _, slice in ipairs(item.slices) do
      local first, last = slice.segments[1], slice.segments[#slice.segments]
      equal("Europe/London", first.departs.zone, id)
      equal("America/New_York", last.arrives.zone, id)
      equal(instant(last.arrives.utc) - instant(first.departs.utc), slice.duration_min, id .. " duration")
      for _, segment in ipairs(slice.segments) do
        equal(instant(segment.arrives.utc) - instant(segment.departs.utc), segment.duration_min, id .. " segment")
      end
    end
  end
end)

test("no offer of the farm was dropped", function()
  local reply = search(w, "EUR")
  for _, supplier in ipairs(reply.json.suppliers) do
    equal("answered", supplier.outcome, supplier.name)
  end
  equal(60, #reply.json.offers, "offers of two suppliers")
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  for name, dropped in text:gmatch("lastcall_offers_dropped_total{supplier=\"(s%d+)\"} (%d+)") do
    equal("0", dropped, name)
  end
end)

test("an airport that nobody knows is refused with its pointer", function()
  local reply = w:search { query = { slices = { { origin = "LHR", destination = "QQQ", date = "2030-05-14" } },
    travellers = world.query.travellers } }
  equal(422, reply.status, "status")
  equal("/query/slices/0/destination", reply.json.errors[1].pointer, "pointer")
  equal("unknown_airport", reply.json.errors[1].code, "code")
end)

test("the metrics tell that the table is young", function()
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  assert(text:find("lastcall_fx_table_stale 0", 1, true), "fx_table_stale")
  assert(text:find("\nlastcall_fx_table_age_seconds 3[67]", 1), "fx_table_age_seconds")
end)

w:stop()
w = start(os.time() - 40 * 3600)

test("by a table that is too old nothing is converted, and that is said once", function()
  for _ = 1, 3 do
    for _, offer in ipairs(search(w, "JPY").json.offers) do
      equal("EUR", offer.price.currency, "currency")
      assert(offer.flags, "no flag")
    end
  end
  local _, warnings = w:engine_output():gsub("are out of date: no price is converted", "")
  equal(1, warnings, "warnings")
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  assert(text:find("lastcall_fx_table_stale 1", 1, true), "fx_table_stale")
end)

test("check warns of it, and is not against it", function()
  local overlay = world.folder .. "/fx.yaml"
  world.write_file(overlay, "suppliers_dir: suppliers\nfx: { file: " .. RATES .. " }\n")
  local output, code = world.shell(world.build .. "/lastcall check -c " .. overlay)
  equal(0, code, output)
  assert(output:find("warning: older than `fx.max_age`", 1, true), output)
end)

test("a table with a mistake is told with its place, and nothing starts", function()
  local overlay = world.folder .. "/fx.yaml"
  world.write_file(RATES, [[
{ "id": "a", "as_of": "2026-11-29", "base": "EUR",
  "rates": { "USD": 1.5e3 } }
]])
  world.write_file(overlay, "suppliers_dir: suppliers\nfx: { file: " .. RATES .. " }\n")
  local output, code = world.shell(world.build .. "/lastcall check -c " .. overlay)
  equal(1, code, output)
  assert(output:find(RATES .. ":2:26: error[E0108]: `rates.USD`: a plain decimal number expected", 1, true), output)
end)

w:stop()
world.finish()
