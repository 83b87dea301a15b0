-- Trips: which offers of an NDC answer are for the whole trip that was asked, and whole trips out of those that are
-- not. Some airlines price each journey by itself; such offers stand alone, so a trip of them costs their sum.

local answers = require("ndc_answers")
local journeys = require("journeys")

local M = {}

local ID_MAX = 256
local WARNINGS_MAX = 5

-- The slices that a journey may be, the surest first: by the answer's own ways, by places, by its day.
local function candidates(journey, index, slices, is_any_day)
  local slice = answers.slice(journey, index)
  local segments = slice.segments
  local origin, destination = get(segments, 1, "origin"), get(segments, #segments, "destination")
  if not origin or not destination then
    return {}
  end
  local day = (get(segments, 1, "departs", "local") or ""):sub(1, 10)
  local way = #index.ways == #slices and index.way_of[journey] or nil
  local scores = {}
  for i, asked in ipairs(slices) do
    if journeys.fits(slice, asked, is_any_day) then
      local is_exact = origin == asked.origin and destination == asked.destination
      scores[#scores + 1] = { i, (is_exact and 4 or 0) + (way == i and 2 or 0) + (asked.date == day and 1 or 0) }
    end
  end
  table.sort(scores, function(a, b)
    return a[2] > b[2] or a[2] == b[2] and a[1] < b[1]
  end)
  return map(scores, function(score)
    return score[1]
  end)
end

--- The slices that the journeys of an offer are, in order; nil when one of them was not asked for.
function M.places(ids, index, slices, is_any_day)
  local taken, places = {}, {}
  for _, journey in ipairs(ids) do
    local place = first(candidates(journey, index, slices, is_any_day), function(i)
      return not taken[i]
    end)
    if not place then
      return nil
    end
    taken[place] = true
    places[#places + 1] = place
  end
  return places
end

--- Slices where their places are.
function M.in_order(slices, places)
  local ordered = {}
  for i, place in ipairs(places) do
    ordered[place] = slices[i]
  end
  return ordered
end

local function stops_too_many(offer, max_stops)
  return max_stops and first(offer.slices, function(slice)
    return #slice.segments > max_stops + 1
  end) ~= nil
end

-- Sums of prices; there are many pairs and few prices.
local function adder(currency)
  local sums = {}
  return function(a, b)
    if not a or not b then
      return nil
    end
    local key = a .. "+" .. b
    sums[key] = sums[key] or money.add(a, b, currency)
    return sums[key]
  end
end

local function joined_travellers(a, b, add)
  if not a or not b then
    return nil
  end
  return map(a, function(traveller, i)
    return { type = traveller.type, total = add(traveller.total, b[i].total), currency = traveller.currency }
  end)
end

local function both(a, b)
  if a == false or b == false then
    return false
  end
  return a and b or nil
end

local function least(a, b)
  return a and b and math.min(a, b) or nil
end

local function joined_bags(a, b)
  local bags = a and b and { cabin = least(a.cabin, b.cabin), checked = least(a.checked, b.checked) }
  return bags and next(bags) and bags or nil
end

local function joined_names(a, b)
  local names = {}
  for i, name in ipairs(a) do
    names[i] = name
  end
  for _, name in ipairs(b) do
    if not answers.has(names, name) then
      names[#names + 1] = name
    end
  end
  return names
end

local function joined(a, b)
  local list = {}
  for i = 1, #a do
    list[i] = a[i]
  end
  for i = 1, #b do
    list[#a + i] = b[i]
  end
  return list
end

-- Two offers that stand alone as one: everything is the sum, or the worse of both.
local function join(a, b, add)
  local one, other = a.offer, b.offer
  local offer = {
    id = one.id .. "+" .. other.id,
    seller = one.seller,
    price = {
      total = add(one.price.total, other.price.total),
      currency = one.price.currency,
      base = add(one.price.base, other.price.base),
      taxes = add(one.price.taxes, other.price.taxes),
      taxes_included = one.price.taxes_included == "yes" and other.price.taxes_included or "unknown",
      per_traveller = joined_travellers(one.price.per_traveller, other.price.per_traveller, add),
    },
    expires_at = answers.earlier(one.expires_at, other.expires_at),
    slices = joined(one.slices, other.slices),
    bags = joined_bags(one.bags, other.bags),
    refundable = both(one.refundable, other.refundable),
    changeable = both(one.changeable, other.changeable),
    seats_left = least(one.seats_left, other.seats_left),
  }
  local names = joined_names(a.names, b.names)
  offer.brand = answers.brand(names)
  return {
    offer = offer, names = names, selections = joined(a.selections, b.selections), marks = joined(a.marks, b.marks),
    lands_s = b.lands_s,
  }
end

-- Offers of one journey that can be added up, the cheapest first, as many as leave room for pairs.
local function to_combine(list, currency, count)
  local priced = filter(list, function(one)
    return one.offer.price.total ~= nil and one.offer.price.currency == currency
  end)
  table.sort(priced, function(a, b)
    local order = money.compare(a.offer.price.total, b.offer.price.total)
    return order < 0 or order == 0 and a.offer.id < b.offer.id
  end)
  return filter(priced, function(_, i)
    return i <= count
  end)
end

local function second_at(stop_at, airport)
  local utc = stop_at and time.utc_at(stop_at["local"], airport)
  return utc and time.epoch(utc)
end

-- When the first flight leaves and the last one lands, in seconds; nil where a clock is not known.
local function times_of(offer)
  local segments = offer.slices[1].segments
  local last = segments[#segments]
  return second_at(segments[1].departs, segments[1].origin), second_at(last.arrives, last.destination)
end

-- The way back leaves after the way there has landed.
local function follows(one, before)
  return not one.leaves_s or not before.lands_s or one.leaves_s > before.lands_s
end

-- Every combination of one offer for each slice, and how many offers have no part in any; where there are more than
-- `trips_max`, the dearest offers are left out.
local function combine(by_slice, trips_max)
  local currency, size, left_out = get(by_slice, 1, 1, "offer", "price", "currency"), 1, 0
  for _, list in ipairs(by_slice) do
    size = size * #list
  end
  local count = size <= trips_max and size or math.floor(trips_max ^ (1 / #by_slice))
  local add, trips = adder(currency), nil
  for _, list in ipairs(by_slice) do
    local ones, longer = to_combine(list, currency, count), {}
    left_out = left_out + #list - #ones
    for _, before in ipairs(trips or {}) do
      for _, one in ipairs(ones) do
        longer[#longer + 1] = follows(one, before) and join(before, one, add) or nil
      end
    end
    trips = trips and longer or ones
  end
  return trips, left_out
end

-- A mark for each slice, or nil.
local function marks_of(offer)
  local marks = map(offer.slices, journeys.mark)
  return #marks > 0 and #marks == #offer.slices and marks or nil
end

-- What is kept of an offer for the way back: who is meant by which id, what was chosen, and which flights it was.
local function ref_of(found, answer, paxs)
  table.sort(found.marks)
  return json.encode({
    response = answer.response_id, offers = found.selections, paxs = paxs, flights = table.concat(found.marks, "-"),
    terms = journeys.terms(found.offer),
  })
end

local function finished(found, answer, paxs)
  local offer = found.offer
  offer.ref = ref_of(found, answer, paxs)
  if offer.id and #offer.id > ID_MAX then
    offer.id = crypto.hex(crypto.sha256(offer.id))
  end
  return offer
end

local function paxs_of(index)
  return map(index.pax_ids, function(pax)
    return { pax, index.paxs[pax].ptc or "ADT" }
  end)
end

-- An id of two offers names none of them.
local function without_doubles(offers)
  local count = {}
  for _, offer in ipairs(offers) do
    if offer.id then
      count[offer.id] = (count[offer.id] or 0) + 1
    end
  end
  for _, offer in ipairs(offers) do
    if offer.id and count[offer.id] > 1 then
      offer.id = nil
    end
  end
  return offers
end

-- An offer of what was not asked for is none, and tells why.
local function refuse(sorted, number, why)
  sorted.refused[#sorted.refused + 1] = fail.unexpected(("Offer[%d]: %s"):format(number, why))
end

-- Its journeys, as words.
local function ways_of(offer)
  local ways = map(offer.slices, function(slice)
    return ("%s-%s on %s"):format(get(slice.segments, 1, "origin") or "?",
      get(slice.segments, #slice.segments, "destination") or "?",
      (get(slice.segments, 1, "departs", "local") or "?"):sub(1, 10))
  end)
  return table.concat(ways, ", ")
end

-- Puts an offer where it belongs. One that lacks what every offer must have is kept as it is: the check of offers drops
-- it, and tells its path.
local function sort_in(sorted, record, number, index, query, is_any_day)
  local offer, more = answers.offer(record, index)
  local found = { offer = offer, names = more.names, selections = { more.selection }, marks = marks_of(offer) or {} }
  local places = M.places(more.journeys, index, query.slices, is_any_day)
  local is_priced = money.parse(offer.price.total or "", offer.price.currency or "") ~= nil
  if not offer.id or not is_priced or #found.marks == 0 then
    sorted.whole[#sorted.whole + 1] = found
  elseif stops_too_many(offer, query.max_stops) then
    sorted.detours = sorted.detours + 1
  elseif places and #places == #query.slices then
    offer.slices = M.in_order(offer.slices, places)
    local why = journeys.refusal("slices", offer.slices, query, is_any_day)
    if why then
      refuse(sorted, number, why)
    else
      sorted.whole[#sorted.whole + 1] = found
    end
  elseif places and #places == 1 then
    sorted.singles = sorted.singles + 1
    found.leaves_s, found.lands_s = times_of(offer)
    local list = sorted.by_slice[places[1]]
    list[#list + 1] = found
  elseif places then
    sorted.parts = sorted.parts + 1
  else
    refuse(sorted, number, ways_of(offer) .. ": not asked for")
  end
end

local function warnings_of(answer, sorted)
  local warnings = {}
  local function warn(count, words)
    if count > 0 then
      warnings[#warnings + 1] = count .. " " .. words
    end
  end
  warn(sorted.parts, "offers left out: of several journeys, but not of all")
  warn(sorted.detours, "offers left out: with more stops than asked for")
  warn(sorted.left_out, "offers left out: of single journeys, and not combined")
  -- Of several airlines one may refuse, beside the offers of the others.
  for _, list in ipairs({ answer.error or {}, answer.error_listed or {}, answer.warning or {} }) do
    for i = 1, math.min(#list, WARNINGS_MAX) do
      warnings[#warnings + 1] = (list[i].code or "unknown") .. ": " .. (list[i].message or "no message")
    end
  end
  return warnings
end

local function sort(offers, index, query, is_any_day)
  local sorted = { whole = {}, by_slice = {}, refused = {}, singles = 0, parts = 0, detours = 0 }
  for i = 1, #query.slices do
    sorted.by_slice[i] = {}
  end
  for number, record in ipairs(without_doubles(offers)) do
    sort_in(sorted, record, number, index, query, is_any_day)
  end
  return sorted
end

--- The offers of an answer that are for all travellers and the whole trip, and details; or a failure. options:
--- `trips_max` says how many trips may be made of offers of single journeys, `any_day` whether days matter.
function M.offers(answer, search, options)
  local index = answers.index(answer)
  if #index.pax_ids ~= search.party then
    return fail.unexpected(("DataLists: %d travellers, asked for %d"):format(#index.pax_ids, search.party))
  end
  local trips_max = options.trips_max
  local sorted = sort(answer.offers, index, search.query, options.any_day)
  local found, trips = sorted.whole, {}
  sorted.left_out = sorted.singles
  if trips_max > 0 and sorted.singles > 0 then
    trips, sorted.left_out = combine(sorted.by_slice, trips_max)
  end
  for _, trip in ipairs(trips) do
    found[#found + 1] = trip
  end
  if #found == 0 and sorted.detours < #answer.offers then
    return fail.unexpected("OffersGroup: no offer is for the whole trip")
  end
  local paxs = paxs_of(index)
  local offers = map(found, function(trip)
    return finished(trip, answer, paxs)
  end)
  for _, refused in ipairs(sorted.refused) do
    offers[#offers + 1] = refused
  end
  return offers, { warnings = warnings_of(answer, sorted) }
end

--- What a price answer offers now, all of it as one, with how many journeys it names, and whether it tells flights;
--- nil when it cannot be one offer for everybody.
function M.priced(answer, ref, query, is_any_day)
  local index = answers.index(answer)
  if #index.pax_ids == 0 then
    for i, pax in ipairs(ref.paxs) do
      index.pax_ids[i], index.paxs[pax[1]] = pax[1], { ptc = pax[2] }
    end
  end
  if #index.pax_ids ~= #query.travellers then
    return nil
  end
  local whole, places = nil, {}
  for _, record in ipairs(answer.offers) do
    local offer, more = answers.offer(record, index)
    local one = { offer = offer, names = more.names, selections = { more.selection }, marks = marks_of(offer) or {} }
    if whole and (not offer.id or whole.offer.price.currency ~= offer.price.currency) then
      return nil
    end
    map(more.journeys, function(journey)
      places[#places + 1] = journey
    end)
    whole = whole and join(whole, one, adder(offer.price.currency)) or one
  end
  local order = M.places(places, index, query.slices, is_any_day)
  if order and #order == #query.slices and #whole.offer.slices == #order then
    whole.offer.slices = M.in_order(whole.offer.slices, order)
  end
  return finished(whole, answer, paxs_of(index)), #places, index.has_flights
end

return M
