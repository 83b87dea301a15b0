-- Travelport Universal API (uAPI): SOAP 1.1 over HTTP Basic, schema 52. One search asks the GDS for its lowest fares.
--
-- Follows the pages "Low Fare Shopping (Synchronous)" and "(Asynchronous)", "Retrieving Low Fare Search Data", "Air
-- Pricing", "Base Request and Response" and "Passenger Type Codes" of support.travelport.com/webhelp/uapi, the guide
-- to price points, and answers that users of uAPI have published.
--
-- To set: the secrets TRAVELPORT_USER (as Travelport gives it, with or without "Universal API/") and
-- TRAVELPORT_PASSWORD; the option target_branch (searches are skipped without); base_url of the region (emea, americas,
-- apac) and, for tests, of pre-production (emea.universal-api.pp.travelport.com).
--
-- An answer is lists that name each other by Key. A price point has a price and, for each leg, options that combine
-- freely: each combination is an offer, for it is an item of its own. That is why this is no plan: a plan makes an
-- offer of each element, not of each pair. At most 64 combinations of a price point become offers, of those options of
-- each leg that take the least time (8 a leg of a return trip), and 500 of an answer, in its order, where the cheapest
-- come first; a warning tells how many more there were. The option max_solutions asks for fewer prices.
--
-- Left out: membership numbers (uAPI wants to know whose they are), a wish for bags, and of answers what an offer has
-- no place for: amounts of penalties, terminals, aircraft, halts of one flight, fare rules, services for sale. Fees
-- that depend on the card are in no total. LatestTicketingTime is told as the end of an offer; a price may end before.
--
-- Not checked against the live service: the request's modifiers (cabin, connections, days around, account codes) and
-- pricing with children, beyond what the documents say; which faults mean "too many requests" (they count as trouble of
-- Travelport's: busy); the asynchronous search, which the documents end with schema 49 and a recorded answer has in 52,
-- so it is off (option asynchronous); whether later parts want a PartNumber, which the recorded answer does not tell.

local flights = require("travelport_flights")
local offers = require("travelport_offers")
local shapes = require("travelport_shapes")

local PATH = "/B2BGateway/connect/uAPI/AirService"
local USER_PREFIX = "Universal API/"

-- Milliseconds between two polls, and how many of them; messages that become warnings.
local POLL_MS = 500
local POLLS_MAX = 12
local MESSAGES_MAX = 5

local CABIN_TO_UAPI = { economy = "Economy", premium = "PremiumEconomy", business = "Business", first = "First" }
local TYPE_TO_UAPI = { adult = "ADT", child = "CNN", infant_lap = "INF", infant_seat = "INS" }

-- From here on nobody pays a child's fare.
local ADULT_AGE = 12

-- Of our `max_stops` the kinds of journeys that uAPI knows; beyond three connections it knows none.
local FLIGHT_TYPES = {
  [0] = { "NonStopDirects", "StopDirects" },
  { "SingleOnlineCon", "SingleInterlineCon" },
  { "DoubleOnlineCon", "DoubleInterlineCon" },
  { "TripleOnlineCon", "TripleInterlineCon" },
}

-- ---- requests ------------------------------------------------------------------------------------------------------

local function post(ctx, element)
  local user = ctx.secret.TRAVELPORT_USER
  if user:sub(1, #USER_PREFIX) ~= USER_PREFIX then
    user = USER_PREFIX .. user
  end
  return {
    method = "POST",
    path = PATH,
    headers = {
      ["authorization"] = "Basic " .. crypto.base64(user .. ":" .. ctx.secret.TRAVELPORT_PASSWORD),
      ["content-type"] = "text/xml; charset=utf-8",
      ["soapaction"] = "\"\"",
    },
    body = soap.envelope { body = element },
  }
end

-- A request's element: who asks, then what.
local function ask(ctx, name, attributes, ...)
  local element = { "air:" .. name, ["xmlns:air"] = shapes.AIR_NAMES, ["xmlns:com"] = shapes.COMMON_NAMES,
    TargetBranch = ctx.options.target_branch, { "com:BillingPointOfSaleInfo", OriginApplication = "UAPI" } }
  for key, value in pairs(attributes) do
    element[key] = value
  end
  for _, child in ipairs({ ... }) do
    element[#element + 1] = child
  end
  return element
end

local function place(name, code)
  return { "air:" .. name, { "com:CityOrAirport", Code = code, PreferCity = true } }
end

local function flight_type(max_stops)
  if not max_stops or not FLIGHT_TYPES[max_stops] then
    return nil
  end
  local element = { "air:FlightType" }
  for stops = 0, max_stops do
    for _, name in ipairs(FLIGHT_TYPES[stops]) do
      element[name] = true
    end
  end
  return element
end

local function leg(slice, query)
  local days = slice.flex_days > 0 and slice.flex_days or nil
  return {
    "air:SearchAirLeg",
    place("SearchOrigin", slice.origin),
    place("SearchDestination", slice.destination),
    { "air:SearchDepTime", PreferredTime = slice.date,
      days and { "com:SearchExtraDays", DaysBefore = days, DaysAfter = days } },
    { "air:AirLegModifiers",
      { "air:PreferredCabins", { "com:CabinClass", Type = CABIN_TO_UAPI[query.cabin] } },
      flight_type(query.max_stops) or false },
  }
end

-- Each traveller, as both requests want them.
local function passengers(query)
  return map(query.travellers, function(traveller, index)
    local is_child = traveller.type == "child"
    local kind = is_child and traveller.age >= ADULT_AGE and "adult" or traveller.type
    return { "com:SearchPassenger", Key = tostring(index), BookingTravelerRef = tostring(index),
      Code = TYPE_TO_UAPI[kind], Age = kind ~= "adult" and traveller.age or nil }
  end)
end

local function account_codes(query)
  local codes = map(query.fare_codes or {}, function(code)
    return { "com:AccountCode", Code = code }
  end)
  return #codes > 0 and { "air:AccountCodes", unpack(codes) } or false
end

local function build_request(search, ctx)
  local query, options = search.query, ctx.options
  local codes = account_codes(query)
  local children = map(query.slices, function(slice)
    return leg(slice, query)
  end)
  children[#children + 1] = { "air:AirSearchModifiers",
    MaxSolutions = options.max_solutions > 0 and options.max_solutions or nil,
    { "air:PreferredProviders", { "com:Provider", Code = options.provider } } }
  for _, passenger in ipairs(passengers(query)) do
    children[#children + 1] = passenger
  end
  children[#children + 1] = { "air:AirPricingModifiers", CurrencyType = search.currency,
    FaresIndicator = codes and "PublicAndPrivateFares" or nil, codes }
  local name = options.asynchronous and "LowFareSearchAsynchReq" or "LowFareSearchReq"
  return post(ctx, ask(ctx, name, { SolutionResult = false }, unpack(children)))
end

local function retrieve(ctx, state)
  local attributes = { SearchId = state.search_id, ProviderCode = state.provider }
  return { after_ms = POLL_MS, state = state, request = post(ctx, ask(ctx, "RetrieveLowFareSearchReq", attributes)) }
end

-- ---- refusals ------------------------------------------------------------------------------------------------------

-- Faults that say that there is nothing: no solutions; no seats on these flights; no more flights.
local function says_nothing(told)
  return told.code == "2602" or told.code == "3037" or told.code == "20" and told.service == "AIRSEARCH_SERVICE"
end

local function one_line(words)
  return words and words:gsub("%s+", " "):match("^ ?(.-) ?$")
end

-- The text of an element's child, whatever its namespace: faults of the gateway may name an older schema.
local function text_of(node, name)
  local child = first(node or {}, function(one)
    return one.name == name
  end)
  return child and child.text
end

-- The fault of an answer, or nil.
local function fault_of(response)
  local fault = soap.fault(response)
  if not fault then
    return nil
  end
  local detail = first(fault.detail or {}, function(one)
    return one.name:find("ErrorInfo$") ~= nil
  end)
  local short, long = one_line(text_of(detail, "Description")), one_line(fault.reason)
  return {
    code = text_of(detail, "Code") or fault.code or "unknown",
    service = text_of(detail, "Service"),
    kind = text_of(detail, "Type") or fault.code and fault.code:match("([^.:]+)$"),
    message = short ~= long and short and long and short:gsub("%.$", "") .. ": " .. long or short or long,
  }
end

local function failure(told)
  if told.kind == "Security" then
    return fail.auth(told.message)
  end
  if told.kind == "System" then
    return fail.busy(told.code .. ": " .. told.message) -- Travelport itself is in trouble, not the request
  end
  return fail.supplier({ code = told.code, message = told.message })
end

-- The element `name` of the body; or nil and a fault; or nil, nil and a failure; or nothing, where the status says
-- enough. Faults come with status 500.
local function read_body(response, shape, name)
  local status = response.status
  if status == 401 or status == 403 then
    return nil, nil, fail.auth("HTTP " .. status)
  elseif status == 429 then
    return nil, nil, fail.quota()
  elseif status >= 300 then
    return nil, fault_of(response)
  end
  local body = get(response:xml(shape), "s:Envelope", "s:Body") or {}
  if body[name] then
    return body[name]
  end
  local fault = fault_of(response)
  return nil, fault, not fault and fail.unexpected("Envelope.Body." .. name) or nil
end

-- ---- offers --------------------------------------------------------------------------------------------------------

-- What one provider said beside the offers of others, or in place of them.
local function errors_of(answer)
  return filter(answer["c:ResponseMessage"] or {}, function(message)
    return message["@Type"] == "Error"
  end)
end

-- The offers of an answer and its warnings; or a failure. A part of several may have nothing: no prices and no flights.
local function read_offers(answer, query, ctx, may_be_empty)
  local points, errors = get(answer, "a:AirPricePointList", "a:AirPricePoint"), errors_of(answer)
  local list, told = {}, {}
  if points and #points > 0 then
    list, told = offers.offers_of(answer, query, ctx.options.any_day)
    if not list then
      return fail.unexpected(told)
    end
  elseif not may_be_empty or answer["a:AirSegmentList"] then
    local message = errors[1]
    return message and failure({ code = message["@Code"], message = one_line(message["#text"]) })
      or fail.unexpected("AirPricePointList.AirPricePoint")
  end
  local warnings = {}
  for i = 1, math.min(#errors, MESSAGES_MAX) do
    warnings[i] = (errors[i]["@Code"] or "") .. ": " .. (errors[i]["#text"] or "")
  end
  for _, words in ipairs(told) do
    warnings[#warnings + 1] = words
  end
  return list, warnings
end

-- Who has more, and under which number of a search it is kept; nil when that was all.
local function more_of(answer, ctx)
  local provider = first(answer["a:AsyncProviderSpecificResponse"] or {}, function(one)
    return one["@MoreResults"] == true
  end)
  local id = answer["@SearchId"] or get(ctx, "state", "search_id")
  return provider and id and { search_id = id, provider = provider["@ProviderCode"] } or nil
end

local function normalise(response, search, ctx)
  local name = ctx.step > 1 and "RetrieveLowFareSearchRsp"
    or ctx.options.asynchronous and "LowFareSearchAsynchRsp" or "LowFareSearchRsp"
  local answer, fault, otherwise = read_body(response, shapes.FOUND, name)
  if fault then
    return says_nothing(fault) and "empty" or failure(fault)
  elseif not answer then
    return otherwise or {} -- untyped: the engine goes by the status
  end
  local more = ctx.options.asynchronous and more_of(answer, ctx)
  local list, warnings = read_offers(answer, search.query, ctx, more or ctx.step > 1)
  if not warnings then
    return list -- a failure
  end
  return list, {
    warnings = warnings,
    complete = not more,
    next = more and ctx.step <= POLLS_MAX and retrieve(ctx, more) or nil,
  }
end

-- ---- revalidation --------------------------------------------------------------------------------------------------

-- What the supplier wanted for the offer, in its own currency.
local function price_before(offer)
  return offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
end

-- The same flights in the same booking classes. The fare is not asked for by name, since children have others.
local function ask_again(offer, ctx)
  if not offer.ref then
    error(fail.unexpected("ref: the offer was told without its fare, so nobody can ask for it again"))
  end
  local kept = flights.read_ref(offer.ref)
  local itinerary, command = { "air:AirItinerary" }, { "air:AirPricingCommand" }
  for i, flight in ipairs(kept.flights) do
    itinerary[#itinerary + 1] = { "air:AirSegment", Key = tostring(i), Group = flight.group, Carrier = flight.carrier,
      FlightNumber = flight.number, Origin = flight.origin, Destination = flight.destination,
      DepartureTime = flights.long_time(flight.departs), ArrivalTime = flights.long_time(flight.arrives),
      ClassOfService = flight.class, ProviderCode = kept.provider, flight.mark == "c" and { "air:Connection" } }
    command[#command + 1] = { "air:AirSegmentPricingModifiers", AirSegmentRef = tostring(i),
      { "air:PermittedBookingCodes", { "air:BookingCode", Code = flight.class } } }
  end
  local children = { itinerary, { "air:AirPricingModifiers", InventoryRequestType = "DirectAccess",
    PlatingCarrier = kept.plating ~= "" and kept.plating or nil, CurrencyType = price_before(offer).currency } }
  for _, passenger in ipairs(passengers(offer.query)) do
    children[#children + 1] = passenger
  end
  children[#children + 1] = command
  return post(ctx, ask(ctx, "AirPriceReq", {}, unpack(children)))
end

local function cheapest(solutions)
  local best = nil
  for _, solution in ipairs(solutions) do
    local price, least_price = solution.offer.price, best and best.offer.price
    if not best or price.currency == least_price.currency and money.compare(price.total, least_price.total) == -1 then
      best = solution
    end
  end
  return best
end

-- Whether there is a price of the party and the whole journey, and all flights and fares are there that it names.
local function is_complete(solution)
  local price = solution.offer.price
  local is_known = #filter(solution.segments, function(segment)
    return segment.carrier and segment.number and segment.origin and segment.destination and segment.departs
      and segment.arrives
  end) == #solution.segments
  local is_named = #filter(solution.fares, function(fare)
    return fare["@FareBasis"] ~= nil
  end) == #solution.fares
  return solution.is_whole and is_known and is_named and price.currency ~= nil
    and money.parse(price.total, price.currency) ~= nil
end

local function is_over(expires_at, ctx)
  return (expires_at and time.epoch(expires_at) or math.huge) <= ctx.now.s
end

local function judge(solutions, offer, ctx)
  local complete = filter(solutions, is_complete)
  local found = cheapest(filter(complete, function(solution) return solution.is_same end))
  if not found then
    local other = cheapest(complete)
    return other and { status = "changed", offer = other.offer } or fail.unexpected("AirPriceResult.AirPricingSolution")
  end
  local now, was = found.offer.price, price_before(offer)
  if is_over(found.offer.expires_at, ctx) then
    return { status = "expired" }
  elseif now.taxes_included ~= offer.price.taxes_included and now.taxes_included ~= "yes" then
    return { status = "changed", offer = found.offer } -- nobody knows any more what is in the total
  end
  local is_equal = now.currency == was.currency and money.compare(now.total, was.amount) == 0
  return {
    status = is_equal and "confirmed" or "price_changed",
    now = { total = now.total, currency = now.currency },
    expires_at = found.offer.expires_at,
  }
end

-- Without the flights there is nothing to sell; after they have left there never will be.
local function read_again(response, offer, ctx)
  local kept = flights.read_ref(offer.ref)
  local answer, fault, otherwise = read_body(response, shapes.PRICED, "AirPriceRsp")
  if fault then
    local left = get(kept, "flights", 1, "departs")
    if left and time.epoch(flights.long_time(left)) < ctx.now.s then
      return { status = "expired" }
    end
    return says_nothing(fault) and { status = "sold_out" } or failure(fault)
  elseif not answer then
    return otherwise or response.status >= 500 and fail.busy("HTTP " .. response.status)
      or fail.supplier({ code = "HTTP " .. response.status, message = "not what was asked for" })
  end
  return judge(offers.solutions_of(answer, kept, #offer.query.travellers), offer, ctx)
end

-- ---- the supplier --------------------------------------------------------------------------------------------------

---@type Supplier
return {
  name = "travelport",
  product = "flights",
  owner = "flight-integrations@example.com",
  docs = "https://support.travelport.com/webhelp/uapi/uAPI.htm",
  display_name = "Travelport",
  hosts = {},
  secrets = { "TRAVELPORT_USER", "TRAVELPORT_PASSWORD" },
  options = {
    base_url = "https://emea.universal-api.travelport.com",
    target_branch = "", -- such as P1234567
    provider = "1G", -- 1G Galileo, 1V Apollo, 1P Worldspan, ACH
    max_solutions = 0, -- price points; 0: as many as uAPI finds
    asynchronous = false,
    any_day = false, -- true: flights of other days are kept, for systems that answer with what was recorded once
  },
  limits = { body = "8MiB" },

  skip = function(search, ctx)
    if ctx.options.target_branch == "" then
      return "the option target_branch is not set"
    end
    local adult = first(search.query.travellers, function(traveller)
      return traveller.type == "adult"
    end)
    return not adult and "children alone are not sold" or nil
  end,

  -- Published times of low fare searches: half of them take more than six seconds, few less than three. A one-way
  -- search is done sooner than one whose legs have to be combined.
  ceiling = function(search)
    return search.trip_type == "one_way" and 7000 or 9000
  end,

  build_request = build_request,
  normalise = normalise,
  revalidate = { build_request = ask_again, read = read_again },
}
