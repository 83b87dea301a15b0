-- Itineraries out of maps: legs, segments, places and carriers are told once, by id. The supplier is polled, and each
-- poll tells the whole list as it is then. Prices are whole thousandths, times objects of numbers.

local CABINS = { economy = "ECONOMY", premium = "PREMIUM_ECONOMY", business = "BUSINESS", first = "FIRST" }
local DECIMALS = { PRICE_UNIT_WHOLE = 0, PRICE_UNIT_CENTI = 2, PRICE_UNIT_MILLI = 3, PRICE_UNIT_MICRO = 6 }
local RESULTS = "content.results."
local POLL = { sessionToken = text, status = text }

local offers = plan {
  each = RESULTS .. "itineraries{}.pricingOptions[]",
  offer = {
    id = { up(1)["{}"], "id", function(itinerary, option) return option and itinerary .. "/" .. option end },
    seller = { id = "agentIds[1]", name = ref(RESULTS .. "agents{}", "{}", "agentIds[1]").name },
    price = {
      total = money(asked "currency", "price.amount", map("price.unit", DECIMALS)),
      taxes_included = const "yes",
    },
    slices = {
      each = up(1)["legIds[]"],
      of = ref(RESULTS .. "legs{}", "{}"),
      duration_min = "durationInMinutes",
      segments = {
        each = "segmentIds[]",
        of = ref(RESULTS .. "segments{}", "{}"),
        carrier = ref(RESULTS .. "carriers{}", "{}", "marketingCarrierId").iata,
        number = "marketingFlightNumber",
        origin = ref(RESULTS .. "places{}", "{}", "originPlaceId").iata,
        destination = ref(RESULTS .. "places{}", "{}", "destinationPlaceId").iata,
        departs = { ["local"] = time "departureDateTime" },
        arrives = { ["local"] = time "arrivalDateTime" },
        duration_min = "durationInMinutes",
        cabin = asked "query.cabin",
      },
    },
  },
  when = { [429] = fail.quota, ["status:=RESULT_STATUS_FAILED"] = fail.busy "the search failed" },
}

local function query_leg(slice)
  local year, month, day = slice.date:match("(%d+)-(%d+)-(%d+)")
  return {
    originPlaceId = { iata = slice.origin }, destinationPlaceId = { iata = slice.destination },
    date = { year = tonumber(year), month = tonumber(month), day = tonumber(day) },
  }
end

---@type Supplier
return {
  name = "farm_maps", product = "flights", owner = "farm@example.com", docs = "examples/farm/README.md",
  hosts = {}, secrets = {}, options = { base_url = "http://m01.farm.test:8080" },

  build_request = function(search)
    local query, ages, travellers = search.query, json.array({}), search.query.travellers
    for _, traveller in ipairs(travellers) do
      ages[#ages + 1] = traveller.type ~= "adult" and (traveller.age or 1) or nil
    end
    return { method = "POST", path = "/v3/search/create", json = { query = {
      market = search.market or "GB", locale = "en-GB", currency = search.currency,
      queryLegs = map(query.slices, query_leg),
      adults = #travellers - #ages, childrenAges = ages,
      cabinClass = "CABIN_CLASS_" .. CABINS[query.cabin],
    } } }
  end,

  normalise = function(response, search, ctx)
    local found, details = offers(response, search, ctx), { merge = "replace" }
    local body = response.status == 200 and response:json(POLL) or {}
    if body.status == "RESULT_STATUS_INCOMPLETE" then
      details.complete = false
      details.next = { after_ms = 100, request = { method = "POST", path = "/v3/search/poll/" .. body.sessionToken } }
    end
    return found, details
  end,
}
