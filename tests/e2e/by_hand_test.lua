-- Every recorded answer with offers, held against values that were read from its file by hand: over HTTP where it
-- answers a search, by a fixture where it answers when an offer is asked for again. Prints how many values a file has.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")
local amadeus_reading = require("tests.e2e.amadeus_reading")
local files = require("tests.e2e.by_hand_values")
local test, equal = world.test, world.equal

local LEAST = 10 -- of a file

-- ---- the suppliers -------------------------------------------------------------------------------------------------

local ONE, FAMILY = { { type = "adult" } }, { { type = "adult" }, { type = "child", age = 9 } }
local STAY = { place = { geo = { lat = 51.5, lon = -0.16 }, radius_km = 5 }, check_in = "2030-04-02",
  check_out = "2030-04-03", rooms = { { adults = 1 } }, market = "GB", currency = "EUR" }

-- Amadeus sells a year ahead.
local SOON = os.date("!%Y-%m-%d", os.time() + 60 * 86400)

-- "AAA-BBB-AAA": there and back. The currency is the supplier's, so that nothing is converted.
local function flights(file)
  local codes, slices = {}, {}
  for code in file.query:gmatch("%u+") do
    codes[#codes + 1] = code
  end
  for i = 1, #codes - 1 do
    slices[i] = { origin = codes[i], destination = codes[i + 1], date = SOON }
  end
  local has_child = file.supplier == "ndc" or file.query == "GIG-MAD-GIG"
  return { slices = slices, travellers = has_child and FAMILY or ONE,
    currency = file.offers[1][2]["price.currency"] }
end

local SUPPLIERS = {
  duffel = { environment = { DUFFEL_TOKEN = "duffel-token-of-nobody" } },
  amadeus = { environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "amadeus-secret-of-nobody" } },
  travelport = { environment = { TRAVELPORT_USER = "us", TRAVELPORT_PASSWORD = "travelport-word-of-nobody" },
    options = { target_branch = "P1234567" } },
  ndc = { environment = { NDC_KEY = "ndc-key-of-nobody" } },
  hotelbeds = { environment = { HOTELBEDS_KEY = "hotelbeds-key-of-nobody", HOTELBEDS_SECRET = "secret-of-nobody" },
    product = "hotels" },
}
local NAMES = { "duffel", "amadeus", "travelport", "ndc", "hotelbeds" }

-- What the farm answers with a file: to which request, and its text.
local ANSWERS = {
  duffel = function(r, alias, file)
    local text = r:read(file.file)
    if file.file == "offers.show.json" then
      text = "{\"data\": {\"offers\": [" .. text:match("\"data\":%s*(%b{})") .. "]}}"
    elseif file.file == "offers.list.page.json" then
      text = "{\"data\": {\"offers\": " .. text:match("\"data\":%s*(%b[])") .. "}}"
    end
    r:answers(alias, "POST /air/offer_requests", "201 Created", text)
  end,
  amadeus = function(r, alias, file)
    r:answers(alias, "POST /v1/security/oauth2/token", "200 OK", "oauth2-token.200.json")
    r:answers(alias, "POST /v2/shopping/flight-offers", "200 OK",
      file.is_request and amadeus_reading.as_search(r:read(file.file)) or file.file)
  end,
  travelport = function(r, alias, file)
    r:answers(alias, "POST /B2BGateway/connect/uAPI/AirService", "200 OK", file.file)
    r:set_options(alias, { asynchronous = file.asynchronous })
  end,
  ndc = function(r, alias, file)
    r:answers(alias, "POST /AirShopping", "200 OK", file.file)
  end,
  hotelbeds = function(r, alias, file)
    r:answers(alias, "POST /hotel-api/1.0/hotels", "200 OK", file.file)
  end,
}

-- ---- comparing -----------------------------------------------------------------------------------------------------

-- What stands at a path such as "slices.1.segments.2.departs.utc", in the offer or in its item.
local function value_at(offer, item, path)
  local value = nil
  for _, root in ipairs { offer, item } do
    value = root
    for key in path:gmatch("[^.]+") do
      value = type(value) == "table" and value[tonumber(key) or key] or nil
    end
    if value ~= nil then
      return value
    end
  end
  return value
end

-- Compares all values of an offer; their number.
local function compare(offer, item, values, what)
  local count = 0
  for path, expected in pairs(values) do
    equal(expected, value_at(offer, item or {}, path), ("%s: %s"):format(what, path))
    count = count + 1
  end
  return count
end

local function tell(file, count)
  print(("# file %s/%s: %d values by hand"):format(file.folder, file.file, count))
  assert(count >= LEAST, file.file .. ": too few values")
end

-- ---- answers to a search -------------------------------------------------------------------------------------------

local function searched_of(name)
  local list = {}
  for _, file in ipairs(files) do
    if file.supplier == name and not file.again then
      list[#list + 1] = file
      file.alias = #list == 1 and name or ("h_%s_%d"):format(name, #list)
      file.asked = name == "hotelbeds" and STAY or flights(file)
    end
  end
  return list
end

for _, name in ipairs(NAMES) do
  local supplier, list = SUPPLIERS[name], searched_of(name)
  local r = recorded.new { supplier = name, folder = list[1].folder, any_day = name ~= "hotelbeds" or nil,
    product = supplier.product, environment = supplier.environment, options = supplier.options,
    rates = { base = "EUR", rates = { GBP = "0.8", USD = "1.25", KRW = "1250" } } }
  r:needs(list[1].file)
  for _, file in ipairs(list) do
    ANSWERS[name](r, file.alias, file)
    r:set_query(file.alias, file.asked)
  end
  r:start()
  for _, file in ipairs(list) do
    test(("%s: values that were read by hand"):format(file.file), function()
      local reply = r:search { file.alias }
      equal(200, reply.status, reply.raw:sub(1, 600))
      local offers, count = recorded.offers_of(reply, file.alias), 0
      for _, row in ipairs(file.offers) do
        local offer = assert(offers[row[1]], row[1] .. " is missing")
        count = count + compare(offer, reply.json.items[offer.item], row[2], row[1])
      end
      tell(file, count)
    end)
  end
  r:stop()
end

world.finish()
