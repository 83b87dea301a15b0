-- An offer of Travelport priced again by its recorded answer, and by that answer as it might change. An engine does not
-- ask yet: fixtures do, which are made here.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local mutations = require("tests.e2e.mutations")
local test, equal = world.test, world.equal

local r = recorded.new { supplier = "travelport", folder = "travelport_uapi" }
local PRICED = "AirPriceRsp.IEV-PAR.xml"
r:needs(PRICED)

-- ---- a folder with the supplier and its fixtures -------------------------------------------------------------------

local ROOT = world.folder .. "/travelport-again/"
local FIXTURES = ROOT .. "travelport.test/"
local SETTINGS = ROOT .. "settings.yaml"
os.execute("rm -rf '" .. ROOT .. "' && mkdir -p '" .. FIXTURES .. "'")
world.write_file(ROOT .. "travelport.lua", assert(world.read_file("suppliers/travelport.lua")))
world.write_file(SETTINGS, "suppliers_dir: " .. ROOT:sub(1, -2) .. "\nscripts_dir: scripts\n")

-- The search of a fixture: nothing was found, and the offer is one of before.
local NOTHING = "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><Fault>"
  .. "<faultcode>Server.Business</faultcode><detail><i:ErrorInfo xmlns:i='urn:i'><i:Code>2602</i:Code></i:ErrorInfo>"
  .. "</detail></Fault></Body></Envelope>"

-- Two flights in class P, by the fare that is named.
local function ref_of(fare, departs)
  return "1G,A3;0,A3,967,KBP,ATH," .. (departs or "2016-11-10T18:35+02:00") .. ",2016-11-10T21:05+02:00,P," .. fare
    .. ",c;0,A3,614,ATH,CDG,2016-11-11T16:15+02:00,2016-11-11T18:45+01:00,P," .. fare .. ","
end

local cases = {}

-- What is asked of an answer: `file` or `text`, the price of before, the fare.
local function ask(name, asked)
  local body = asked.text or r:read(asked.file)
  world.write_file(FIXTURES .. name .. ".body.xml", body)
  local headers = { ["Content-Type"] = "text/xml" }
  local currency = asked.currency or "EUR"
  world.write_file(FIXTURES .. "odd-" .. name .. ".json", world.json.encode {
    about = name,
    search = { product = "flights", query = {
      slices = { { origin = "IEV", destination = "PAR", date = asked.date or "2016-11-10" } },
      travellers = { { type = "adult" } }, currency = "EUR",
    } },
    now = asked.now or "2016-09-04T18:00:00Z",
    secrets = { TRAVELPORT_USER = "u", TRAVELPORT_PASSWORD = "p" },
    options = { target_branch = "P1" },
    exchanges = { { response = { status = 500, headers = headers, body = NOTHING } } },
    expect = { outcome = "empty" },
    revalidate = { {
      offer = { id = "o", price = { total = asked.was or "67.51", currency = currency }, ref = asked.ref },
      exchanges = { { response = { status = asked.status or 200, headers = headers,
        body_file = name .. ".body.xml" } } },
      expect = { status = "?", outcome = "?", kind = "?", code = "?", detail = "?", expires_at = "?",
        now = { total = "?", currency = "?" }, offer = { price = { total = "?", currency = "?" } } },
    } },
  })
  cases[#cases + 1] = name
end

ask("same", { file = PRICED, ref = ref_of("P0BAGTI") })
ask("dearer", { file = PRICED, ref = ref_of("P0BAGTI"), was = "60.00" })
ask("dollars", { file = PRICED, ref = ref_of("P0BAGTI"), currency = "USD" })
ask("flexible", { file = PRICED, ref = ref_of("PA3TI"), was = "112.51" })
ask("other_fare", { file = PRICED, ref = ref_of("PGONE") })
ask("other_time", { file = PRICED, ref = ref_of("P0BAGTI", "2016-11-10T18:30+02:00") })
ask("gone", { file = "fault.price.no-availability.xml", ref = ref_of("P0BAGTI"), status = 500 })
ask("left", { file = "fault.price.no-availability.xml", ref = ref_of("P0BAGTI"), status = 500,
  now = "2016-11-10T16:35:01Z" })
ask("no_agreement", { file = "fault.security.no-agreement.xml", ref = ref_of("P0BAGTI"), status = 500 })
ask("not_valid", { file = "fault.validation.xml", ref = ref_of("P0BAGTI"), status = 500 })
ask("seats", { file = "AvailabilitySearchRsp.xml", ref = ref_of("P0BAGTI") })
ask("money", { file = "CurrencyConversionRsp.xml", ref = ref_of("P0BAGTI") })

local changed = mutations.of((r:read(PRICED)), {
  fields = { "AirPricingSolution/@TotalPrice", "AirPricingSolution[1]/@TotalPrice", "AirPricingSolution/@Key",
    "AirSegment/@Key", "AirSegment/@DepartureTime", "FareInfo/@FareBasis", "BookingInfo/@SegmentRef", "PassengerType",
    "AirPricingSolution", "AirPriceRsp" },
  lists = { "AirPriceResult", "AirItinerary", "AirPricingInfo[1]" },
})
for i, mutation in ipairs(changed) do
  mutation.name_of_case = "changed_" .. i
  ask(mutation.name_of_case, { text = mutation.text, ref = ref_of("P0BAGTI") })
end

-- The first run writes what came; what nothing came of is taken away.
local output = world.shell(world.build .. "/lastcall test travelport -c '" .. SETTINGS .. "' --update")
local function result_of(name)
  local fixture = world.json.decode((world.read_file(FIXTURES .. "odd-" .. name .. ".json")))
  local came = fixture.revalidate[1].expect
  assert(came.status ~= "?" and came.outcome ~= "?", name .. ": nothing came of it:\n" .. output)
  return came, name .. ": " .. world.json.encode(came)
end

-- ---- what must come of each ----------------------------------------------------------------------------------------

-- By eye: 23.00 and 44.51 make 67.51; 68.00 and 44.51 make 112.51.
local function priced(name, status, total)
  local came, told = result_of(name)
  equal(status, came.status, told)
  equal(total and total .. " EUR", came.now and came.now.total .. " " .. came.now.currency, told)
  return came, told
end

test("the same price, and until when: 23:59 on 10 November in Kyiv", function()
  local came, told = priced("same", "confirmed", "67.51")
  equal("2016-11-10T21:59:00Z", came.expires_at, told)
end)

test("another price, or the same number in another currency, is told", function()
  priced("dearer", "price_changed", "67.51")
  priced("dollars", "price_changed", "67.51")
end)

test("of two fares for the same flights it is the one that was offered", function()
  priced("flexible", "confirmed", "112.51")
end)

test("another fare, or another time, is another offer: the cheapest of them", function()
  for _, name in ipairs { "other_fare", "other_time" } do
    local came, told = priced(name, "changed")
    equal("67.51 EUR", came.offer.price.total .. " " .. came.offer.price.currency, told)
  end
end)

test("no seats: sold out, or over when the flight has left", function()
  priced("gone", "sold_out")
  priced("left", "expired")
end)

test("a refusal is one here, too, and an answer to another question is none", function()
  for name, expected in pairs { no_agreement = "rejected auth", not_valid = "rejected supplier",
    seats = "unparsable nil", money = "unparsable nil" } do
    local came, told = result_of(name)
    equal(expected, tostring(came.outcome) .. " " .. tostring(came.kind), told)
  end
end)

test(PRICED .. ": mutations of each kind", function()
  mutations.tell(PRICED, changed)
end)
for _, mutation in ipairs(changed) do
  test(PRICED .. ": " .. mutation.name .. " confirms no wrong price", function()
    local came, told = result_of(mutation.name_of_case)
    if came.status == "confirmed" or came.status == "price_changed" then
      equal("67.51 EUR", came.now.total .. " " .. came.now.currency, told)
    elseif came.status == "changed" then
      assert(came.offer.price.total == "67.51" or came.offer.price.total == "112.51", told)
    else
      equal("unparsable", came.outcome, told)
    end
  end)
end

os.execute("rm -rf '" .. ROOT .. "'")
world.finish()
