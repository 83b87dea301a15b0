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

local SOAP_NAMES = "http://schemas.xmlsoap.org/soap/envelope/"
local AIR_NAMES = "http://www.travelport.com/schema/air_v52_0"
local COMMON_NAMES = "http://www.travelport.com/schema/common_v52_0"

local PATH = "/B2BGateway/connect/uAPI/AirService"
local USER_PREFIX = "Universal API/"

-- Offers of a price point, and of an answer; milliseconds between two polls, and how many of them.
local COMBINATIONS_MAX = 64
local OFFERS_MAX = 500
local POLL_MS = 500
local POLLS_MAX = 12
local MESSAGES_MAX = 5
local LEGS_MAX = 6

-- What an offer may say, in bytes.
local BRAND_MAX = 100

local CABIN_TO_UAPI = { economy = "Economy", premium = "PremiumEconomy", business = "Business", first = "First" }
local CABIN_FROM_UAPI = {
  Economy = "economy", PremiumEconomy = "premium", Business = "business", First = "first", PremiumFirst = "first",
}
local TYPE_TO_UAPI = { adult = "ADT", child = "CNN", infant_lap = "INF", infant_seat = "INS" }
local TYPE_FROM_UAPI = { ADT = "adult", CNN = "child", CHD = "child", INF = "infant_lap", INS = "infant_seat" }

-- Of our `max_stops` the kinds of journeys that uAPI knows; beyond three connections it knows none.
local FLIGHT_TYPES = {
  [0] = { "NonStopDirects", "StopDirects" },
  { "SingleOnlineCon", "SingleInterlineCon" },
  { "DoubleOnlineCon", "DoubleInterlineCon" },
  { "TripleOnlineCon", "TripleInterlineCon" },
}

-- ---- what is read of an answer -------------------------------------------------------------------------------------

local PENALTIES = { { ["a:Amount"] = text, ["a:Percentage"] = decimal } }
local FARES = { {
  ["@Key"] = text, ["@FareBasis"] = text,
  ["a:BaggageAllowance"] = { ["a:NumberOfPieces"] = integer, ["a:MaxWeight"] = { ["@Value"] = decimal } },
  ["a:Brand"] = { ["@BrandID"] = text, ["@Name"] = text },
} }
local SEGMENTS = { {
  ["@Key"] = text, ["@Group"] = integer, ["@Carrier"] = text, ["@FlightNumber"] = text, ["@Origin"] = text,
  ["@Destination"] = text, ["@DepartureTime"] = text, ["@ArrivalTime"] = text, ["@FlightTime"] = integer,
  ["a:CodeshareInfo"] = { ["@OperatingCarrier"] = text },
  ["a:AirAvailInfo"] = { { ["a:BookingCodeInfo"] = { { ["@BookingCounts"] = text } } } },
} }
local BOOKINGS = { {
  ["@BookingCode"] = text, ["@BookingCount"] = integer, ["@CabinClass"] = text, ["@FareInfoRef"] = text,
  ["@SegmentRef"] = text,
} }
local MESSAGES = { { ["@Code"] = text, ["@Type"] = text, ["#text"] = text } }
-- One traveller's price of a kind; `more` is where its flights are, which differs.
local function infos(more)
  local info = {
    ["@TotalPrice"] = text, ["@LatestTicketingTime"] = text, ["@Refundable"] = text, ["@PlatingCarrier"] = text,
    ["@ProviderCode"] = text, ["a:PassengerType"] = { { ["@Code"] = text } },
    ["a:ChangePenalty"] = PENALTIES, ["a:CancelPenalty"] = PENALTIES,
  }
  for name, shape in pairs(more) do
    info[name] = shape
  end
  return { info }
end

-- The price of all travellers; `more` has its parts.
local function prices(more)
  local price = {
    ["@Key"] = text, ["@TotalPrice"] = text, ["@BasePrice"] = text, ["@EquivalentBasePrice"] = text, ["@Taxes"] = text,
    ["@Fees"] = text, ["@Services"] = text, ["@CompleteItinerary"] = text,
  }
  for name, shape in pairs(more) do
    price[name] = shape
  end
  return { price }
end

local FOUND = {
  ["@SearchId"] = text,
  ["c:ResponseMessage"] = MESSAGES,
  ["a:AirSegmentList"] = { ["a:AirSegment"] = SEGMENTS },
  ["a:FareInfoList"] = { ["a:FareInfo"] = FARES },
  ["a:BrandList"] = { ["a:Brand"] = { { ["@BrandID"] = text, ["@Name"] = text } } },
  ["a:AirPricePointList"] = { ["a:AirPricePoint"] = prices { ["a:AirPricingInfo"] = infos {
    ["a:FareInfoRef"] = { { ["@Key"] = text } },
    ["a:FlightOptionsList"] = { ["a:FlightOption"] = { { ["a:Option"] = { {
      ["@Key"] = text, ["@TravelTime"] = text, ["a:BookingInfo"] = BOOKINGS,
      ["a:Connection"] = { { ["@SegmentIndex"] = integer } },
    } } } } },
  } } },
  ["a:AsyncProviderSpecificResponse"] = { { ["@ProviderCode"] = text, ["@MoreResults"] = flag } },
}

local PRICED = {
  ["c:ResponseMessage"] = MESSAGES,
  ["a:AirItinerary"] = { ["a:AirSegment"] = SEGMENTS },
  ["a:AirPriceResult"] = {
    ["a:AirPricingSolution"] = prices {
      ["a:AirPricingInfo"] = infos { ["a:FareInfo"] = FARES, ["a:BookingInfo"] = BOOKINGS },
    },
  },
}

-- What stands in the body, by its name: a search has three ways to be answered.
local function shape_of(answer)
  return {
    xmlns = { s = SOAP_NAMES, a = AIR_NAMES, c = COMMON_NAMES },
    ["s:Envelope"] = { ["s:Body"] = map_of(answer) },
  }
end

local FOUND_SHAPE, PRICED_SHAPE = shape_of(FOUND), shape_of(PRICED)

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
  local element = { "air:" .. name, ["xmlns:air"] = AIR_NAMES, ["xmlns:com"] = COMMON_NAMES,
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
    local is_young = traveller.type ~= "adult"
    return { "com:SearchPassenger", Key = tostring(index), BookingTravelerRef = tostring(index),
      Code = TYPE_TO_UAPI[traveller.type], Age = is_young and traveller.age or nil }
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

-- What one provider said beside the offers of others, or in place of them.
local function errors_of(answer)
  return filter(answer["c:ResponseMessage"] or {}, function(message)
    return message["@Type"] == "Error"
  end)
end

-- ---- parts of an offer ---------------------------------------------------------------------------------------------

local function by_key(list)
  local index = {}
  for _, element in ipairs(list or {}) do
    if element["@Key"] then
      index[element["@Key"]] = element
    end
  end
  return index
end

-- The clock of the airport. Its offset is not told: uAPI keeps rules of zones of its own, which may be out of date.
local function stop(told)
  return told and { ["local"] = time.local_time(told) or told }
end

-- A flight is part of many options, so what is made of it is kept: for each cabin, and the seats of each class.
local function segment_of(booking, segment)
  local cabin = booking["@CabinClass"] or ""
  local kept = segment.by_cabin or {}
  segment.by_cabin = kept
  kept[cabin] = kept[cabin] or {
    carrier = segment["@Carrier"],
    operating = get(segment, "a:CodeshareInfo", "@OperatingCarrier"),
    number = segment["@FlightNumber"],
    origin = segment["@Origin"],
    destination = segment["@Destination"],
    departs = stop(segment["@DepartureTime"]),
    arrives = stop(segment["@ArrivalTime"]),
    duration_min = segment["@FlightTime"],
    cabin = CABIN_FROM_UAPI[cabin] or booking["@CabinClass"],
  }
  return kept[cabin]
end

-- The seats of a flight by booking classes: "C4|Y9|P5|P0" lists one twice, and the first counts. 9 are nine and more.
local function seats_by_class(segment)
  local seats = {}
  for _, available in ipairs(segment["a:AirAvailInfo"] or {}) do
    for _, classes in ipairs(available["a:BookingCodeInfo"] or {}) do
      for class, count in (classes["@BookingCounts"] or ""):gmatch("(%w)(%d+)") do
        seats[class] = seats[class] or tonumber(count)
      end
    end
  end
  return seats
end

local function seats_of(booking, segment)
  segment.seats = segment.seats or seats_by_class(segment)
  return booking["@BookingCount"] or segment.seats[booking["@BookingCode"] or ""]
end

-- Pieces that may be checked in. A weight without pieces is one; an allowance that is not told is nil.
local function pieces_of(fare)
  local allowance = fare["a:BaggageAllowance"] or {}
  local weight = get(allowance, "a:MaxWeight", "@Value")
  return allowance["a:NumberOfPieces"] or weight and (tonumber(weight) > 0 and 1 or 0) or nil
end

-- The smaller of two numbers; nil, which nobody knows, stays so.
local function lesser(a, b)
  return a and b and math.min(a, b) or nil
end

local function brand_of(fare, names)
  local brand = fare["a:Brand"] or {}
  return brand["@Name"] or names[brand["@BrandID"] or ""]
end

-- Each name once, in order; of too long a list the first.
local function joined_names(names)
  local list, seen = {}, {}
  for _, name in ipairs(names) do
    if not seen[name] then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  local together = table.concat(list, " / ")
  return #list > 0 and #together <= BRAND_MAX and together or list[1]
end

-- The times of a flight as the way back wants them, without what is always zero.
local function short_time(told)
  return told and (told:gsub("^(%d+%-%d+%-%d+T%d+:%d+):00%.?0*", "%1"))
end

local function long_time(short)
  return (short:gsub("^(%d+%-%d+%-%d+T%d+:%d+)([Z+-].*)$", "%1:00.000%2"))
end

-- Texts with commas between them; nil when one is missing, or has what divides others.
local function packed(parts, count)
  for i = 1, count do
    if not parts[i] or parts[i]:find("[,;]") then
      return nil
    end
  end
  return table.concat(parts, ",")
end

-- What pricing again wants of a flight, but for the fare; false when something is missing.
local function flight_of(segment)
  return packed({ segment["@Carrier"], segment["@FlightNumber"], segment["@Origin"], segment["@Destination"],
    short_time(segment["@DepartureTime"]), short_time(segment["@ArrivalTime"]) }, 6) or false
end

local function ref_of(leg_number, booking, segment, fare, is_connected)
  if segment.flight == nil then
    segment.flight = flight_of(segment)
  end
  local sold = packed({ booking["@BookingCode"], fare["@FareBasis"] }, 2)
  return segment.flight and sold
    and ("%d,%s,%s,%s"):format(leg_number - 1, segment.flight, sold, is_connected and "c" or "")
end

-- One option of a leg, with all that its combinations need of it.
local function read_option(option, leg_number, lists)
  local connected, refs = {}, {}
  for _, connection in ipairs(option["a:Connection"] or {}) do
    connected[(connection["@SegmentIndex"] or -1) + 1] = true
  end
  local read = { key = option["@Key"], minutes = time.minutes(option["@TravelTime"]), segments = {}, fares = {},
    brands = {}, seats = math.huge, pieces = math.huge, is_kept = true }
  for i, booking in ipairs(option["a:BookingInfo"] or {}) do
    local segment = lists.segments[booking["@SegmentRef"] or ""] or {}
    local fare = lists.fares[booking["@FareInfoRef"] or ""] or {}
    read.segments[i], read.fares[i] = segment_of(booking, segment), fare
    read.brands[#read.brands + 1] = brand_of(fare, lists.brands)
    read.seats = lesser(read.seats, seats_of(booking, segment))
    read.pieces = lesser(read.pieces, pieces_of(fare))
    refs[i] = ref_of(leg_number, booking, segment, fare, connected[i]) or ""
    read.is_kept = read.is_kept and refs[i] ~= ""
  end
  read.ref = table.concat(refs, ";")
  read.slice = { duration_min = read.minutes or option["@TravelTime"], segments = read.segments }
  return read
end

-- ---- prices --------------------------------------------------------------------------------------------------------

local function count_travellers(pricing)
  local count = 0
  for _, info in ipairs(pricing) do
    count = count + #(info["a:PassengerType"] or {})
  end
  return count
end

-- An amount for each traveller; nil when they do not add up to the total.
local function per_traveller(pricing, total, currency)
  local list, amounts = {}, {}
  for _, info in ipairs(pricing) do
    local amount, of = money.split(info["@TotalPrice"])
    for _, passenger in ipairs(info["a:PassengerType"] or {}) do
      local kind = TYPE_FROM_UAPI[passenger["@Code"] or ""]
      if not kind or of ~= currency then
        return nil
      end
      list[#list + 1] = { type = kind, total = amount, currency = currency }
      amounts[#amounts + 1] = amount
    end
  end
  local sum = #amounts > 0 and money.sum(amounts, currency) or nil
  return sum and money.compare(sum, total) == 0 and list or nil
end

-- All charges are in the total. Where its parts contradict that, nobody knows what it is.
local function is_whole(total, currency, base, taxes, others)
  if not base then
    return taxes ~= nil
  end
  local amounts = { base, taxes or "0", unpack(others) }
  local sum = money.sum(amounts, currency)
  return sum ~= nil and money.compare(sum, total) == 0
end

-- The price of everybody. One for fewer travellers than were asked is none, and its words tell why.
local function price_of(priced, pricing, party)
  local total, currency = money.split(priced["@TotalPrice"])
  if not total or not money.exponent(currency or "") then
    return { total = priced["@TotalPrice"] }
  end
  local function part(name)
    local amount, of = money.split(priced[name])
    return of == currency and amount or nil
  end
  local count = count_travellers(pricing)
  if count ~= party then
    return { total = ("%s for %d of %d travellers"):format(priced["@TotalPrice"], count, party), currency = currency }
  end
  local base, taxes = part("@EquivalentBasePrice") or part("@BasePrice"), part("@Taxes")
  local is_known = is_whole(total, currency, base, taxes, { part("@Fees") or "0", part("@Services") or "0" })
  return {
    total = total,
    currency = currency,
    base = base,
    taxes = taxes,
    taxes_included = is_known and "yes" or "unknown",
    per_traveller = per_traveller(pricing, total, currency),
  }
end

-- Until when the ticket has to be issued. A date alone is over when it is where the journey begins.
local function ticketing_end(info, origin)
  local told = info["@LatestTicketingTime"]
  if told and not told:find("T", 1, true) then
    told = told .. "T23:59:00"
  end
  return told and (time.utc(told) or origin and time.utc_at(told, origin) or told)
end

-- The first of these ends; it is kept, for all journeys of a price begin in few places.
local function earliest_end(terms, origin)
  local kept = terms.ends[origin or ""]
  if kept ~= nil then
    return kept or nil
  end
  local earliest = nil
  for _, info in ipairs(terms.pricing) do
    local at = ticketing_end(info, origin)
    earliest = at and (not earliest or at < earliest) and at or earliest
  end
  terms.ends[origin or ""] = earliest or false
  return earliest
end

local function costs_all(penalty)
  local share = penalty["a:Percentage"]
  return share ~= nil and money.compare(share, "100") >= 0
end

local function is_told(penalty)
  return penalty["a:Amount"] ~= nil or penalty["a:Percentage"] ~= nil
end

-- Whether it may be done, though for a penalty: false when that is all of the fare, nil when nothing is told.
local function may(penalties)
  local told = filter(penalties or {}, is_told)
  if #told == 0 then
    return nil
  end
  return #filter(told, costs_all) < #told
end

-- uAPI marks fares that can be given back; without the mark only a penalty of everything is an answer.
local function is_refundable(info)
  if info["@Refundable"] then
    return info["@Refundable"] == "true"
  end
  if may(info["a:CancelPenalty"]) == false then
    return false
  end
  return nil
end

local function is_changeable(info)
  return may(info["a:ChangePenalty"])
end

-- True for everybody, or false for somebody.
local function for_all(pricing, holds)
  local all = #pricing > 0 or nil
  for _, info in ipairs(pricing) do
    local one = holds(info)
    if one == false then
      return false
    end
    all = one and all
  end
  return all or nil
end

-- ---- offers --------------------------------------------------------------------------------------------------------

-- What all offers of a price point have in common.
local function terms_of(priced, lists, party)
  local pricing = priced["a:AirPricingInfo"] or {}
  local pieces = math.huge -- of those who do not fly by the first price, but for infants on a lap
  for i, info in ipairs(pricing) do
    local kind = get(info, "a:PassengerType", 1, "@Code")
    for _, named in ipairs(i > 1 and kind ~= "INF" and info["a:FareInfoRef"] or {}) do
      pieces = lesser(pieces, pieces_of(lists.fares[named["@Key"] or ""] or {}))
    end
  end
  local lead = pricing[1] or {}
  return {
    pricing = pricing,
    price = price_of(priced, pricing, party),
    pieces = pieces,
    ends = {},
    seller = lead["@PlatingCarrier"] and { id = lead["@PlatingCarrier"] } or nil,
    ref = ("%s,%s"):format(lead["@ProviderCode"] or "", lead["@PlatingCarrier"] or ""),
    refundable = for_all(pricing, is_refundable),
    changeable = for_all(pricing, is_changeable),
  }
end

-- What all options have under a name, as one list.
local function joined(chosen, name)
  local list = {}
  for _, option in ipairs(chosen) do
    for _, element in ipairs(option[name]) do
      list[#list + 1] = element
    end
  end
  return list
end

local function is_empty(words)
  return words == ""
end

local function known(number)
  return number and number < math.huge and number or nil
end

-- `chosen`: an option for each leg.
local function offer_of(chosen, terms)
  local keys, slices, refs, is_kept = {}, {}, { terms.ref }, true
  local seats, pieces = math.huge, terms.pieces
  for i, option in ipairs(chosen) do
    keys[i], slices[i], refs[i + 1] = option.key or "", option.slice, option.ref
    is_kept = is_kept and option.is_kept
    seats, pieces = lesser(seats, option.seats), lesser(pieces, option.pieces)
  end
  local id = table.concat(keys, ".")
  return {
    id = not first(keys, is_empty) and id or nil,
    seller = terms.seller,
    price = terms.price,
    expires_at = earliest_end(terms, get(chosen, 1, "segments", 1, "origin")),
    slices = slices,
    brand = joined_names(joined(chosen, "brands")),
    bags = known(pieces) and { checked = pieces } or nil,
    refundable = terms.refundable,
    changeable = terms.changeable,
    seats_left = known(seats),
    ref = is_kept and table.concat(refs, ";") or nil,
  }
end

-- The options of a leg, those with more stops than were asked for left out, at most `most`: the quickest.
local function options_of(flight_option, leg_number, lists, max_stops, most)
  local options = map(flight_option["a:Option"] or {}, function(option)
    return read_option(option, leg_number, lists)
  end)
  local few = filter(options, function(option)
    return not max_stops or #option.segments - 1 <= max_stops
  end)
  lists.too_many_stops = lists.too_many_stops + #options - #few
  if #few <= most then
    return few, #few
  end
  for i, option in ipairs(few) do
    option.place = i
  end
  table.sort(few, function(a, b)
    if a.minutes ~= b.minutes then
      return (a.minutes or math.huge) < (b.minutes or math.huge)
    end
    return a.place < b.place
  end)
  return { unpack(few, 1, most) }, #few
end

-- Every choice of one option a leg, as lists; the last leg changes first.
local function combinations(legs)
  local list = { {} }
  for _, options in ipairs(legs) do
    local longer = {}
    for _, chosen in ipairs(list) do
      for _, option in ipairs(options) do
        local more = { unpack(chosen) }
        more[#more + 1] = option
        longer[#longer + 1] = more
      end
    end
    list = longer
  end
  return list
end

-- A whole root of it, by counting: 64 is 8 x 8, 4 x 4 x 4, …
local function options_a_leg(legs)
  local most = COMBINATIONS_MAX
  while most ^ legs > COMBINATIONS_MAX do
    most = most - 1
  end
  return most
end

local function count_combinations(told)
  local all = 1
  for _, flight_option in ipairs(told) do
    all = all * #(flight_option["a:Option"] or {})
  end
  return all
end

-- The offers of a price point, added to `offers`. One without a leg that was asked for has no slices, which loses it.
local function add_offers(offers, point, lists, query)
  local terms = terms_of(point, lists, #query.travellers)
  local told = get(terms.pricing, 1, "a:FlightOptionsList", "a:FlightOption") or {}
  if #told ~= #query.slices or #filter(told, function(one) return #(one["a:Option"] or {}) > 0 end) < #told then
    offers[#offers + 1] = { id = point["@Key"], price = terms.price, slices = {} }
    return
  end
  if #offers >= OFFERS_MAX then
    lists.left_out = lists.left_out + count_combinations(told)
    return
  end
  local legs, all, most = {}, 1, options_a_leg(#told)
  for i, flight_option in ipairs(told) do
    local count
    legs[i], count = options_of(flight_option, i, lists, query.max_stops, most)
    all = all * count
  end
  for _, chosen in ipairs(combinations(legs)) do
    if #offers < OFFERS_MAX then
      offers[#offers + 1] = offer_of(chosen, terms)
      all = all - 1
    end
  end
  lists.left_out = lists.left_out + all
end

local function lists_of(answer)
  local names = {}
  for _, brand in ipairs(get(answer, "a:BrandList", "a:Brand") or {}) do
    names[brand["@BrandID"] or ""] = brand["@Name"]
  end
  return {
    segments = by_key(get(answer, "a:AirSegmentList", "a:AirSegment")),
    fares = by_key(get(answer, "a:FareInfoList", "a:FareInfo")),
    brands = names,
    left_out = 0,
    too_many_stops = 0,
  }
end

local function warn(warnings, count, words)
  if count > 0 then
    warnings[#warnings + 1] = count .. " " .. words
  end
end

-- The offers of an answer and its warnings; or a failure. A part of several may have nothing: no prices and no flights.
local function offers_of(answer, query, may_be_empty)
  local points = get(answer, "a:AirPricePointList", "a:AirPricePoint")
  local errors, warnings = errors_of(answer), {}
  for i, message in ipairs(errors) do
    warnings[#warnings + 1] = i <= MESSAGES_MAX and (message["@Code"] or "") .. ": " .. (message["#text"] or "") or nil
  end
  if not points or #points == 0 then
    if may_be_empty and not answer["a:AirSegmentList"] then
      return {}, warnings
    end
    local message = errors[1]
    return message and failure({ code = message["@Code"], message = one_line(message["#text"]) })
      or fail.unexpected("AirPricePointList.AirPricePoint")
  end
  local lists, offers = lists_of(answer), {}
  local whole = filter(points, function(point)
    return point["@CompleteItinerary"] ~= "false"
  end)
  if #whole == 0 then
    return fail.unexpected("AirPricePointList: nothing but parts of journeys")
  end
  for _, point in ipairs(whole) do
    add_offers(offers, point, lists, query)
  end
  warn(warnings, #points - #whole, "prices of a part of the journey left out")
  warn(warnings, lists.left_out, "combinations left out")
  warn(warnings, lists.too_many_stops, "options with too many stops left out")
  return offers, warnings
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
  local answer, fault, otherwise = read_body(response, FOUND_SHAPE, name)
  if fault then
    return says_nothing(fault) and "empty" or failure(fault)
  elseif not answer then
    return otherwise or {} -- untyped: the engine goes by the status
  end
  local more = ctx.options.asynchronous and more_of(answer, ctx)
  local offers, warnings = offers_of(answer, search.query, more or ctx.step > 1)
  if not warnings then
    return offers
  end
  return offers, {
    warnings = warnings,
    complete = not more,
    next = more and ctx.step <= POLLS_MAX and retrieve(ctx, more) or nil,
  }
end

-- ---- revalidation --------------------------------------------------------------------------------------------------

-- The fields of a flight in `ref`, in their order.
local REF_FIELDS = {
  "group", "carrier", "number", "origin", "destination", "departs", "arrives", "class", "fare", "mark",
}

-- What was left in `ref`: the provider, who issues the ticket, the flights.
local function read_ref(ref)
  local kept = { flights = {} }
  for part in ref:gmatch("[^;]+") do
    local fields = {}
    for field in (part .. ","):gmatch("(.-),") do
      fields[#fields + 1] = field
    end
    if not kept.provider then
      kept.provider, kept.plating = fields[1], fields[2]
    else
      local flight = {}
      for i, name in ipairs(REF_FIELDS) do
        flight[name] = fields[i]
      end
      kept.flights[#kept.flights + 1] = flight
    end
  end
  return kept
end

-- What the supplier wanted for the offer, in its own currency.
local function price_before(offer)
  return offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
end

-- The same flights in the same booking classes. The fare is not asked for by name, since children have others.
local function ask_again(offer, ctx)
  local kept = read_ref(offer.ref)
  local itinerary, command = { "air:AirItinerary" }, { "air:AirPricingCommand" }
  for i, flight in ipairs(kept.flights) do
    itinerary[#itinerary + 1] = { "air:AirSegment", Key = tostring(i), Group = flight.group, Carrier = flight.carrier,
      FlightNumber = flight.number, Origin = flight.origin, Destination = flight.destination,
      DepartureTime = long_time(flight.departs), ArrivalTime = long_time(flight.arrives), ClassOfService = flight.class,
      ProviderCode = kept.provider, flight.mark == "c" and { "air:Connection" } }
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

-- A solution as an option for each leg, whose bookings stand in the order of the flights.
local function legs_of(solution, lists)
  local legs = {}
  for _, booking in ipairs(get(solution, "a:AirPricingInfo", 1, "a:BookingInfo") or {}) do
    local group = get(lists.segments[booking["@SegmentRef"] or ""] or {}, "@Group") or 0
    local number = group >= 0 and group < LEGS_MAX and group + 1 or 1
    for i = #legs + 1, number do
      legs[i] = { ["a:BookingInfo"] = {}, ["@Key"] = ("%s-%d"):format(solution["@Key"] or "", i) }
    end
    table.insert(legs[number]["a:BookingInfo"], booking)
  end
  return map(legs, function(option, i)
    return read_option(option, i, lists)
  end)
end

-- The same flights at the same times, by the same fares.
local function is_same(segments, fares, kept)
  if #segments ~= #kept.flights then
    return false
  end
  for i, flight in ipairs(kept.flights) do
    local segment = segments[i]
    if segment.carrier ~= flight.carrier or segment.number ~= flight.number or fares[i]["@FareBasis"] ~= flight.fare
      or get(segment, "departs", "local") ~= time.local_time(long_time(flight.departs)) then
      return false
    end
  end
  return true
end

-- Each solution as an offer, told whether it is the one that was kept. They bring their fares along.
local function solutions_of(answer, kept, party)
  local lists = lists_of(answer)
  lists.segments = by_key(get(answer, "a:AirItinerary", "a:AirSegment"))
  return map(get(answer, "a:AirPriceResult", "a:AirPricingSolution") or {}, function(solution)
    lists.fares = {}
    for _, info in ipairs(solution["a:AirPricingInfo"] or {}) do
      for key, fare in pairs(by_key(info["a:FareInfo"])) do
        lists.fares[key] = fare
      end
    end
    local chosen = legs_of(solution, lists)
    local segments, fares = joined(chosen, "segments"), joined(chosen, "fares")
    return { offer = offer_of(chosen, terms_of(solution, lists, party)), segments = segments, fares = fares,
      is_same = is_same(segments, fares, kept) }
  end)
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

-- Whether there is a price of the party, and all flights and fares are there that it names.
local function is_complete(solution)
  local price = solution.offer.price
  local is_known = #filter(solution.segments, function(segment)
    return segment.carrier and segment.number and segment.origin and segment.destination and segment.departs
      and segment.arrives
  end) == #solution.segments
  local is_named = #filter(solution.fares, function(fare)
    return fare["@FareBasis"] ~= nil
  end) == #solution.fares
  return is_known and is_named and price.currency ~= nil and money.parse(price.total, price.currency) ~= nil
end

local function judge(solutions, offer)
  local complete = filter(solutions, is_complete)
  local found = cheapest(filter(complete, function(solution) return solution.is_same end))
  if not found then
    local other = cheapest(complete)
    return other and { status = "changed", offer = other.offer } or fail.unexpected("AirPriceResult.AirPricingSolution")
  end
  local now, was = found.offer.price, price_before(offer)
  local is_equal = now.currency == was.currency and money.compare(now.total, was.amount) == 0
  return {
    status = is_equal and "confirmed" or "price_changed",
    now = { total = now.total, currency = now.currency },
    expires_at = found.offer.expires_at,
  }
end

-- Without the flights there is nothing to sell; after they have left there never will be.
local function read_again(response, offer, ctx)
  local kept = read_ref(offer.ref)
  local answer, fault, otherwise = read_body(response, PRICED_SHAPE, "AirPriceRsp")
  if fault then
    local left = get(kept, "flights", 1, "departs")
    if left and time.epoch(long_time(left)) < ctx.now.s then
      return { status = "expired" }
    end
    return says_nothing(fault) and { status = "sold_out" } or failure(fault)
  elseif not answer then
    return otherwise or response.status >= 500 and fail.busy("HTTP " .. response.status)
      or fail.supplier({ code = "HTTP " .. response.status, message = "not what was asked for" })
  end
  return judge(solutions_of(answer, kept, #offer.query.travellers), offer)
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
