-- Amadeus' published answers to other questions, each as it might change: whatever becomes of them, they are no offer
-- of flights, and none of them counts as "nothing for sale" but one whose list has nothing in it.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local recorded = require("tests.e2e.recorded")

local SEARCH = "POST /v2/shopping/flight-offers"

local r = recorded.new {
  supplier = "amadeus",
  folder = "amadeus_selfservice",
  environment = { AMADEUS_CLIENT_ID = "us", AMADEUS_CLIENT_SECRET = "amadeus-secret-of-nobody" },
  query = {
    slices = { { origin = "SYD", destination = "BKK", date = os.date("!%Y-%m-%d", os.time() + 60 * 86400) } },
    travellers = { { type = "adult" } },
    currency = "EUR",
  },
}
r:needs("flight-destinations.200.json")
r:answers_everywhere("POST /v1/security/oauth2/token", "200 OK", "oauth2-token.200.json")

-- A file, fields of it, the list that says nothing when it is empty (where a count does not contradict it); a status.
local OTHERS = {
  { "flight-destinations.200.json", { "data[].type", "data[].price" }, "data" },
  { "hotel-list-by-city.200.Successful_Reply.json", { "data[].name", "data" }, emptied = "data" },
  { "hotel-offers.200.json", { "data[].type", "data[].offers" }, "data" },
  { "transfer-offers.200.json", { "data[].type", "data" }, "data" },
  { "flight-offers.post.request.json", { "currencyCode", "originDestinations" }, emptied = "originDestinations" },
  { "hotel-list-by-city.400.Invalid_Format.json", { "errors[].code", "errors" }, emptied = "errors",
    status = "400 Bad Request" },
}

local lists = {}
for i, row in ipairs(OTHERS) do
  lists[i] = r:mutated("o_" .. i, row[1], { fields = row[2], nothing = { row[3] }, no_offers = true,
    lists = { row.emptied } }, function(alias, body)
    r:answers(alias, SEARCH, row.status or "200 OK", body)
  end)
end

r:start()
for _, list in ipairs(lists) do
  r:never_wrong(list)
end
r:stop()
world.finish()
