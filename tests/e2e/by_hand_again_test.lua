-- The recorded answers to an offer that is asked for again, held against values that were read from their files by
-- hand. An engine does not ask yet: fixtures do, which are made here. What an item has is not told by them (flights,
-- their times, the hotel's name): by_hand_values.lua has those values for whoever asks over HTTP.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local files = require("tests.e2e.by_hand_values")
local amadeus_reading = require("tests.e2e.amadeus_reading")
local test, equal = world.test, world.equal

local LEAST = 10 -- of a file
local OF_THE_ITEM = { slices = true, name = true, stars = true }
local ROOT = world.folder .. "/by-hand-again/"
local SETTINGS = ROOT .. "settings.yaml"

local function payload(file)
  return world.read_file(("%s/payloads/%s/%s"):format(world.shared, file.folder, file.file))
end

local function file_named(name)
  for _, file in ipairs(files) do
    if file.file == name then
      return file
    end
  end
  error("no values of " .. name)
end

local AMADEUS = file_named("flight-offers-pricing.200.json")
local TRAVELPORT = file_named("AirPriceRsp.IEV-PAR.xml")
local HOTELBEDS = file_named("checkrates.200.json")
if not payload(AMADEUS) then
  world.skip("recorded answers to offers that are asked for again", world.shared .. "/payloads is absent")
  world.finish()
end

os.execute("rm -rf '" .. ROOT .. "' && mkdir -p '" .. ROOT .. "'")
world.write_file(SETTINGS, "suppliers_dir: " .. ROOT:sub(1, -2) .. "\nscripts_dir: scripts\n")

-- ---- what is asked -------------------------------------------------------------------------------------------------

-- The values of an offer as the object that they are of, and how many; what the item has is left out.
local function offer_of(values)
  local offer, count = {}, 0
  for path, value in pairs(values) do
    local keys = {}
    for key in path:gmatch("[^.]+") do
      keys[#keys + 1] = tonumber(key) or key
    end
    if not OF_THE_ITEM[keys[1]] then
      local node = offer
      for i = 1, #keys - 1 do
        node[keys[i]] = node[keys[i]] or {}
        node = node[keys[i]]
      end
      node[keys[#keys]] = value
      count = count + 1
    end
  end
  return offer, count
end

local counts, fixtures = {}, {}

-- A fixture with one revalidation. asked: query, now, secrets, options, nothing (an answer without offers), price (of
-- before), ref, login; expected: `status` and what else, with the number of values in it.
local function ask(file, name, asked, expected, count)
  local folder = ROOT .. file.supplier .. ".test/"
  os.execute("mkdir -p '" .. folder .. "'")
  world.write_file(ROOT .. file.supplier .. ".lua", assert(world.read_file("suppliers/" .. file.supplier .. ".lua")))
  world.write_file(folder .. name .. ".body", payload(file))
  world.write_file(folder .. "odd-" .. name .. ".json", world.json.encode {
    about = name, now = asked.now, secrets = asked.secrets, options = asked.options, login = asked.login,
    search = { product = asked.product or "flights", query = asked.query },
    exchanges = { { response = asked.nothing } }, expect = { outcome = "empty" },
    revalidate = { {
      offer = { id = "o", price = asked.price, observed_at = asked.now }, ref = asked.ref,
      exchanges = { { response = { headers = { ["content-type"] = asked.type or "application/json" },
        body_file = name .. ".body" } } },
      expect = expected,
    } },
  })
  counts[file] = (counts[file] or 0) + count
  fixtures[#fixtures + 1] = name
end

local function slices(...)
  local list = {}
  for _, words in ipairs { ... } do
    local origin, destination, date = words:match("^(%u+)-(%u+) (%S+)$")
    list[#list + 1] = { origin = origin, destination = destination, date = date }
  end
  return list
end

-- Amadeus: another offer than the one that was kept, so all of it is told.
do
  local kept = file_named("flight-offers-pricing.request.json")
  local offer, count = offer_of(AMADEUS.offers[1][2])
  ask(AMADEUS, "priced", {
    now = "2020-02-01T09:00:00Z", login = "token-1", price = { total = "546.70", currency = "EUR" },
    secrets = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "test-secret" },
    query = { slices = slices("GIG-MAD 2020-03-01", "MAD-GIG 2020-03-05"), currency = "USD",
      travellers = { { type = "adult" }, { type = "child", age = 9 } } },
    nothing = { body = "{\"data\": []}" }, ref = amadeus_reading.offer_in(payload(kept)),
  }, { status = "changed", offer = offer, now = { total = offer.price.total, currency = offer.price.currency } },
    count + 3)
end

-- Travelport: each of both fares as the one that was kept, and the cheapest where that is gone.
local FAULT = "<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body><Fault>"
  .. "<faultcode>Server.Business</faultcode><detail><i:ErrorInfo xmlns:i='urn:i'><i:Code>2602</i:Code></i:ErrorInfo>"
  .. "</detail></Fault></Body></Envelope>"
local function ref_of(fare)
  return "1G,A3;0,A3,967,KBP,ATH,2016-11-10T18:35+02:00,2016-11-10T21:05+02:00,P," .. fare
    .. ",c;0,A3,614,ATH,CDG,2016-11-11T16:15+02:00,2016-11-11T18:45+01:00,P," .. fare .. ","
end
local function priced_again(name, fare, price, expected, count)
  ask(TRAVELPORT, name, {
    now = "2016-09-04T18:00:00Z", price = price, type = "text/xml",
    secrets = { TRAVELPORT_USER = "u", TRAVELPORT_PASSWORD = "test-password" }, options = { target_branch = "P1" },
    query = { slices = slices("IEV-PAR 2016-11-10"), travellers = { { type = "adult" } }, currency = "EUR" },
    nothing = { status = 500, headers = { ["content-type"] = "text/xml" }, body = FAULT }, ref = ref_of(fare),
  }, expected, count)
end
for _, row in ipairs(TRAVELPORT.offers) do
  local values = row[2]
  local now = { total = values["price.total"], currency = values["price.currency"] }
  priced_again("kept-" .. row[1], row[1], now,
    { status = "confirmed", now = now, expires_at = values["expires_at"] }, 4)
end
do
  local offer, count = offer_of(TRAVELPORT.offers[1][2])
  priced_again("gone", "PGONE", { total = "60.00", currency = "EUR" }, { status = "changed", offer = offer }, count + 1)
end

-- Hotelbeds: the rate as it was kept, and as one with another board.
local KEY = payload(HOTELBEDS):match("\"rateKey\": \"([^\"]+)\"")
local function checked(name, board, price, expected, count)
  ask(HOTELBEDS, name, {
    now = "2024-02-23T20:46:00Z", price = price, product = "hotels",
    secrets = { HOTELBEDS_KEY = "test-key", HOTELBEDS_SECRET = "test-secret" },
    query = { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2024-04-02",
      check_out = "2024-04-03", rooms = { { adults = 1 } }, market = "GB", currency = "EUR" },
    nothing = { body = "{\"auditData\": {}, \"hotels\": {\"total\": 0}}" },
    ref = world.json.encode { board = board, free_until = "2024-04-01T14:00:00+01:00", hotel = "6619",
      keys = { KEY }, pay = "now", rooms = "TWN.ST" },
  }, expected, count)
end
do
  local offer, count = offer_of(HOTELBEDS.offers[1][2])
  local now = { total = offer.price.total, currency = offer.price.currency }
  checked("same", "breakfast", { total = "300.30", currency = "EUR" }, { status = "confirmed", now = now }, 3)
  checked("dearer", "breakfast", { total = "290.10", currency = "EUR" }, { status = "price_changed", now = now }, 3)
  checked("board", "room_only", { total = "300.30", currency = "EUR" }, { status = "changed", offer = offer },
    count + 1)
end

-- ---- what comes ----------------------------------------------------------------------------------------------------

test("what the recorded answers offer again is what stands in their files", function()
  local output, code = world.shell(("%s/lastcall test -c '%s'"):format(world.build, SETTINGS))
  equal(0, code, output)
  assert(output:find(("%d passed"):format(#fixtures), 1, true), output)
end)

for _, file in ipairs { AMADEUS, TRAVELPORT, HOTELBEDS } do
  test(file.file .. " has values enough", function()
    local all = 0
    for _, row in ipairs(file.offers) do
      for _ in pairs(row[2]) do
        all = all + 1
      end
    end
    print(("# file %s/%s: %d values by hand by fixtures, %d in all"):format(file.folder, file.file, counts[file], all))
    assert(counts[file] >= LEAST and all >= LEAST, file.file)
  end)
end

os.execute("rm -rf '" .. ROOT .. "'")
world.finish()
