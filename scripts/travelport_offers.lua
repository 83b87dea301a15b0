-- The offers of the supplier travelport: a price point for each combination of the options of its legs, a solution of a
-- pricing for itself.

local flights = require("travelport_flights")
local journeys = require("journeys")
local prices = require("travelport_prices")

local M = {}

-- Offers of a price point, and of an answer.
local COMBINATIONS_MAX = 64
local OFFERS_MAX = 500
local LEGS_MAX = 6

-- What all offers of a price point have in common.
local function terms_of(priced, lists, party)
  local pricing = priced["a:AirPricingInfo"] or {}
  local pieces = math.huge -- of those who do not fly by the first price, but for infants on a lap
  for i, info in ipairs(pricing) do
    local kind = get(info, "a:PassengerType", 1, "@Code")
    for _, named in ipairs(i > 1 and kind ~= "INF" and info["a:FareInfoRef"] or {}) do
      pieces = flights.lesser(pieces, flights.pieces_of(lists.fares[named["@Key"] or ""] or {}))
    end
  end
  local lead = pricing[1] or {}
  return {
    pricing = pricing,
    price = prices.price_of(priced, pricing, party),
    pieces = pieces,
    ends = {},
    seller = lead["@PlatingCarrier"] and { id = lead["@PlatingCarrier"] } or nil,
    ref = ("%s,%s"):format(lead["@ProviderCode"] or "", lead["@PlatingCarrier"] or ""),
    refundable = prices.refundable(pricing),
    changeable = prices.changeable(pricing),
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

-- What is kept of an offer: who sells it, what is sold with the flights, and these.
local function ref_of(offer, terms, refs)
  return ("%s,%s;%s"):format(terms.ref, url.encode(json.encode(journeys.terms(offer))), table.concat(refs, ";"))
end

-- `chosen`: an option for each leg.
local function offer_of(chosen, terms)
  local keys, slices, refs, is_kept = {}, {}, {}, true
  local seats, pieces = math.huge, terms.pieces
  for i, option in ipairs(chosen) do
    keys[i], slices[i], refs[i] = option.key or "", option.slice, option.ref
    is_kept = is_kept and option.is_kept
    seats, pieces = flights.lesser(seats, option.seats), flights.lesser(pieces, option.pieces)
  end
  local id = table.concat(keys, ".")
  local offer = {
    id = not first(keys, is_empty) and id or nil,
    seller = terms.seller,
    price = terms.price,
    expires_at = prices.earliest_end(terms, get(chosen, 1, "segments", 1, "origin")),
    slices = slices,
    brand = flights.joined_names(joined(chosen, "brands")),
    bags = known(pieces) and { checked = pieces } or nil,
    refundable = terms.refundable,
    changeable = terms.changeable,
    seats_left = known(seats),
  }
  offer.ref = is_kept and ref_of(offer, terms, refs) or nil
  return offer
end

-- The options of a leg, those with more stops than were asked for left out, at most `most`: the quickest.
local function options_of(flight_option, leg_number, lists, max_stops, most)
  local options = map(flight_option["a:Option"] or {}, function(option)
    return flights.read_option(option, leg_number, lists)
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

-- The offers of a price point, added to `offers`. What was not asked for is none, and tells why.
local function add_offers(offers, point, lists, query, is_any_day)
  local path = ("AirPricePoint[%d]"):format(point.place)
  local terms = terms_of(point, lists, #query.travellers)
  local told = get(terms.pricing, 1, "a:FlightOptionsList", "a:FlightOption") or {}
  if #told ~= #query.slices or #filter(told, function(one) return #(one["a:Option"] or {}) > 0 end) < #told then
    offers[#offers + 1] = fail.unexpected(("%s: %d legs with options, asked for %d"):format(path, #filter(told,
      function(one)
        return #(one["a:Option"] or {}) > 0
      end), #query.slices))
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
      local offer = offer_of(chosen, terms)
      local why = journeys.refusal(path .. ".slices", offer.slices, query, is_any_day)
      offers[#offers + 1] = why and fail.unexpected(why) or offer
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
    segments = flights.by_key(get(answer, "a:AirSegmentList", "a:AirSegment")),
    fares = flights.by_key(get(answer, "a:FareInfoList", "a:FareInfo")),
    brands = names,
    left_out = 0,
    too_many_stops = 0,
  }
end

local function warn(warnings, count, words)
  if count > 0 then
    warnings[#warnings + 1] = ("left out, %s: %d"):format(words, count)
  end
end

--- The offers of price points, and what there is to warn of; or nil and what is wrong with all of them.
function M.offers_of(answer, query, is_any_day)
  local points = answer["a:AirPricePointList"]["a:AirPricePoint"]
  local lists, offers, warnings = lists_of(answer), {}, {}
  local whole = filter(points, function(point, place)
    point.place = place
    return point["@CompleteItinerary"] ~= "false"
  end)
  if #whole == 0 then
    return nil, "AirPricePointList: nothing but parts of journeys"
  end
  for _, point in ipairs(whole) do
    add_offers(offers, point, lists, query, is_any_day)
  end
  warn(warnings, #points - #whole, "prices of a part of the journey")
  warn(warnings, lists.left_out, "combinations beyond what is told")
  warn(warnings, lists.too_many_stops, "options with too many stops")
  return offers, warnings
end

-- ---- solutions of a pricing ---------------------------------------------------------------------------------------

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
    return flights.read_option(option, i, lists)
  end)
end

local SAME_TEXTS = { "carrier", "number", "origin", "destination", "class", "fare" }
local SAME_CLOCKS = { "departs", "arrives" } -- offsets may be told otherwise: uAPI's zones may be out of date

local function is_same_flight(flight, kept)
  local is_told = not first(SAME_TEXTS, function(name)
    return flight[name] ~= kept[name]
  end)
  return is_told and not first(SAME_CLOCKS, function(name)
    return time.local_time(flights.long_time(flight[name])) ~= time.local_time(flights.long_time(kept[name]))
  end)
end

-- The same flights between the same places at the same times, in the same classes by the same fares.
local function is_same(chosen, kept)
  local refs = map(chosen, function(option)
    return option.is_kept and option.ref or nil
  end)
  local found = flights.read_ref(",,;" .. table.concat(refs, ";")).flights
  if #refs ~= #chosen or #found ~= #kept.flights then
    return false
  end
  for i, flight in ipairs(kept.flights) do
    if not is_same_flight(found[i], flight) then
      return false
    end
  end
  return true
end

--- Each solution as an offer, told whether it is the one that was kept. They bring their fares along.
function M.solutions_of(answer, kept, party)
  local lists = lists_of(answer)
  lists.segments = flights.by_key(get(answer, "a:AirItinerary", "a:AirSegment"))
  return map(get(answer, "a:AirPriceResult", "a:AirPricingSolution") or {}, function(solution)
    lists.fares = {}
    for _, info in ipairs(solution["a:AirPricingInfo"] or {}) do
      for key, fare in pairs(flights.by_key(info["a:FareInfo"])) do
        lists.fares[key] = fare
      end
    end
    local chosen = legs_of(solution, lists)
    local segments, fares = joined(chosen, "segments"), joined(chosen, "fares")
    local offer = offer_of(chosen, terms_of(solution, lists, party))
    return { offer = offer, segments = segments, fares = fares, is_whole = solution["@CompleteItinerary"] ~= "false",
      is_same = is_same(chosen, kept) and not journeys.have_changed(kept.terms, journeys.terms(offer)) }
  end)
end

return M
