-- Answers of an NDC airline: lists whose elements are named by id, and offers as our product wants them.

local records = require("records")

local M = {}

local BRAND_MAX = 100

local CABINS = { -- PADIS 9873, and names as airlines write them
  ["1"] = "first", ["2"] = "business", ["3"] = "economy", ["4"] = "premium", ["5"] = "economy", ["6"] = "economy",
  FIRST = "first", BUSINESS = "business", PREMIUM_ECONOMY = "premium", ECONOMY_PREMIUM = "premium", ECONOMY = "economy",
}
local TRAVELLERS = { ADT = "adult", CHD = "child", CNN = "child", INF = "infant_lap", INS = "infant_seat" }

-- Made when a dialect is first used.
local readers = {}

--- An answer as its dialect's records, or nil; and what its root should be called. `kind` is shop or price.
function M.read(response, dialect, kind)
  local root = dialect[kind] .. "RS"
  local key = dialect.version .. root
  if not readers[key] then
    local at = kind == "shop" and dialect.shopped_at or dialect.priced_at
    local offers = records.merge(dialect.offer, { at = at })
    readers[key] = records.reader(root, records.merge(dialect.top, { lists = dialect.lists, offers = offers }))
  end
  return readers[key](response), root
end

-- ---- lists ---------------------------------------------------------------------------------------------------------

local function by_id(list)
  local index = {}
  for _, record in ipairs(list or {}) do
    if record.id then
      index[record.id] = record
    end
  end
  return index
end

--- The lists of an answer, each by its ids.
function M.index(answer)
  local lists = answer.lists or {}
  local index = { ways = lists.ways or {}, pax_ids = {}, slices = {} }
  for _, name in ipairs({ "paxs", "journeys", "segments", "marketed", "operated", "fares", "allowances", "penalties",
    "definitions" }) do
    index[name] = by_id(lists[name])
  end
  for _, pax in ipairs(lists.paxs or {}) do
    index.pax_ids[#index.pax_ids + 1] = pax.id
  end
  index.has_bag_services = first(lists.definitions or {}, function(definition)
    return definition.allowances
  end) ~= nil
  index.has_flights = next(index.journeys) ~= nil or next(index.segments) ~= nil
  index.way_of = {}
  for i, way in ipairs(index.ways) do
    for _, journey in ipairs(way.journeys or {}) do
      index.way_of[journey] = index.way_of[journey] or i
    end
  end
  return index
end

-- ---- flights -----------------------------------------------------------------------------------------------------

local function clock(record, name)
  local at = record[name]
  if not at and record[name .. "_day"] and record[name .. "_time"] then
    at = record[name .. "_day"] .. "T" .. record[name .. "_time"]
  end
  return time.local_time(at) -- an offset is of no use: the clock is the airport's
end

-- A place in the first record that has it: a segment, its marketing flight, or the legs that it is made of.
local function stop(records_of, place, name)
  for _, record in ipairs(records_of) do
    if record[place] then
      return record[place], { ["local"] = clock(record, name), zone = record[name .. "_zone"] }
    end
  end
  return nil, nil
end

-- Some write the flight number with its carrier in front.
local function flight_number(number, carrier)
  if number and carrier and number:sub(1, #carrier) == carrier and number:match("^%d+%a?$", #carrier + 1) then
    return number:sub(#carrier + 1)
  end
  return number
end

local function cabin_of(record)
  local name = record.cabin and record.cabin:upper():gsub("[%s-]+", "_")
  return CABINS[name or ""] or CABINS[record.cabin_code or ""]
end

local function segment_of(segment, index)
  local marketed = index.marketed[segment.marketing] or {}
  local operated = index.operated[marketed.operated] or {}
  local legs = segment.legs or {}
  local carrier = segment.carrier or marketed.carrier
  local origin, departs = stop({ segment, marketed, legs[1] }, "from", "leaves")
  local destination, arrives = stop({ segment, marketed, legs[#legs] }, "to", "lands")
  return {
    carrier = carrier,
    operating = segment.operating or operated.operating,
    number = flight_number(segment.number or marketed.number, carrier),
    origin = origin,
    destination = destination,
    departs = departs,
    arrives = arrives,
    duration_min = time.minutes(segment.duration or operated.duration),
    cabin = cabin_of(segment),
  }
end

--- The slice of a journey, made once: most offers of an answer share it. An id that leads nowhere gives a slice that
-- lacks its flights, so that the offer is dropped with its path.
function M.slice(id, index)
  local slice = index.slices[id]
  if not slice then
    local journey = index.journeys[id] or {}
    slice = { duration_min = time.minutes(journey.duration), ids = journey.segments or {}, segments = {} }
    for i, segment in ipairs(slice.ids) do
      slice.segments[i] = segment_of(index.segments[segment] or {}, index)
    end
    index.slices[id] = slice
  end
  return slice
end

-- With the cabins that an offer sells; `cabins` by ids of segments.
local function told_slice(id, index, cabins)
  local slice = M.slice(id, index)
  local told = { duration_min = slice.duration_min, segments = slice.segments }
  if next(cabins) then
    told.segments = {}
    for i, segment in ipairs(slice.segments) do
      local copy = {}
      for name, value in pairs(segment) do
        copy[name] = value
      end
      copy.cabin = cabins[slice.ids[i]] or copy.cabin
      told.segments[i] = copy
    end
  end
  return told
end

-- ---- money and terms ---------------------------------------------------------------------------------------------

-- The items that an offer is bought with.
local function mandatory(offer)
  return filter(offer.items or {}, function(item)
    return item.mandatory ~= false
  end)
end

local function sum_of(items, name, currency)
  local amounts = {}
  for i, item in ipairs(items) do
    amounts[i] = money.parse(item[name] or "", currency) -- nil as well for what is no amount of it
    if not amounts[i] or money.compare(amounts[i], "0") < 0 then -- less than nothing would hide in the sum
      return nil
    end
  end
  local total = #amounts > 0 and money.sum(amounts, currency) or nil
  return total
end

local function currency_of(offer, items)
  local currency = offer.currency or get(items, 1, "currency")
  if not money.exponent(currency) then
    return nil
  end
  for _, item in ipairs(items) do
    if item.currency and item.currency ~= currency then
      return nil
    end
  end
  return currency
end

-- Whether two items have one id: nobody knows whether it is bought once or twice.
local function has_doubles(items)
  local seen = {}
  return first(items, function(item)
    local is_double = item.id ~= nil and seen[item.id]
    seen[item.id or ""] = true
    return is_double
  end) ~= nil
end

-- Whether the base is told in the currency of the total, or in none.
local function is_base_in(currency, offer, items)
  return (offer.base_currency or currency) == currency and first(items, function(item)
    return item.base_currency and item.base_currency ~= currency
  end) == nil
end

-- What each traveller pays, where every item is of one traveller.
local function per_traveller(items, index, currency)
  local totals, list = {}, {}
  for _, item in ipairs(items) do
    if item.pax_count ~= 1 or not item.total then
      return nil
    end
    local pax = next(item.paxs)
    totals[pax] = totals[pax] and money.add(totals[pax], item.total, currency) or item.total
  end
  for i, pax in ipairs(index.pax_ids) do
    local kind = TRAVELLERS[index.paxs[pax].ptc or ""]
    if not kind or not totals[pax] then
      return nil
    end
    list[i] = { type = kind, total = totals[pax], currency = currency }
  end
  return list
end

-- Total, base and taxes for everybody. Without a total, or one that is not of all travellers, the offer is lost.
local function price_of(offer, items, index)
  local currency = currency_of(offer, items)
  if not currency or has_doubles(items) then
    return {}
  end
  local total = offer.total or sum_of(items, "total", currency) -- the check of offers tells one that is no amount
  local base = is_base_in(currency, offer, items) and (money.parse(offer.base or "", currency)
    or sum_of(items, "base", currency)) or nil
  local taxes = money.parse(offer.taxes or "", currency) or sum_of(items, "taxes", currency)
  local are_told = base and money.parse(total or "", currency) ~= nil
  local is_less = are_told and money.compare(total, base) < 0 -- nobody knows what is in such a total
  if not taxes and are_told and not is_less then
    taxes = money.sub(total, base, currency)
  end
  return {
    total = offer.is_for_all and total or nil,
    currency = currency,
    base = base,
    taxes = taxes,
    taxes_included = is_less and "unknown" or "yes",
    per_traveller = total and not offer.total and per_traveller(items, index, currency) or nil,
  }
end

local function add_all(set, list)
  for _, name in ipairs(list or {}) do
    set[name] = true
  end
end

-- Who is in each item; whether all items together are for all travellers.
local function mark_travellers(offer, items, index)
  local covered = {}
  for _, item in ipairs(items) do
    item.paxs, item.pax_count = {}, 0
    add_all(item.paxs, item.travellers)
    for _, fare in ipairs(item.fares or {}) do
      add_all(item.paxs, fare.paxs)
    end
    for pax in pairs(item.paxs) do
      covered[pax] = true
      item.pax_count = item.pax_count + 1
    end
  end
  offer.is_for_all = first(index.pax_ids, function(pax)
    return not covered[pax]
  end) == nil
end

-- Its journeys in their order, each once.
local function journeys_of(offer, items)
  local ids, seen = {}, {}
  local function take(id)
    if id and not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
    end
  end
  for _, item in ipairs(items) do
    for _, id in ipairs(item.journeys or {}) do
      take(id)
    end
  end
  if #ids == 0 then
    for _, way in ipairs(offer.overview or {}) do
      take(way.journey)
    end
  end
  return ids
end

-- All values told, but one false makes it false.
local function all_of(values)
  if #values == 0 then
    return nil
  end
  for _, value in ipairs(values) do
    if value == false then
      return false
    end
  end
  return true
end

-- What may be given back and changed. A fee says that it costs something, not that it is possible; no fee says both.
local function terms_of(offer, items, index)
  local cancel, change = {}, {}
  local function hear(penalty)
    cancel[#cancel + 1] = penalty.refundable
    change[#change + 1] = penalty.changeable
    if penalty.refundable == nil and penalty.cancel_fee == false then
      cancel[#cancel + 1] = true
    end
    if penalty.changeable == nil and penalty.change_fee == false then
      change[#change + 1] = true
    end
  end
  local function hear_listed(ids)
    for _, id in ipairs(ids or {}) do
      hear(index.penalties[id] or {})
    end
  end
  hear_listed(offer.penalties)
  for _, item in ipairs(items) do
    for _, value in ipairs(item.cancel or {}) do
      cancel[#cancel + 1] = value
    end
    for _, value in ipairs(item.change or {}) do
      change[#change + 1] = value
    end
    for _, fare in ipairs(item.fares or {}) do
      hear_listed(fare.penalties)
      for _, part_of in ipairs(fare.parts or {}) do
        hear_listed(part_of.penalties)
        hear({ cancel_fee = get(part_of.cancel_fee, 1), change_fee = get(part_of.change_fee, 1) })
      end
    end
  end
  return all_of(cancel), all_of(change)
end

-- Names of fares, each once, in order; seats that are left in the scarcest of them; cabins by ids of segments.
local function fares_of(offer, items, index)
  local names, seen, cabins, seats = {}, {}, {}, nil
  local function take(id)
    local fare = index.fares[id] or {}
    if fare.name and not seen[fare.name] then
      seen[fare.name] = true
      names[#names + 1] = fare.name
    end
    seats = fare.seats and math.min(seats or fare.seats, fare.seats) or seats
  end
  for _, way in ipairs(offer.overview or {}) do
    take(way.fare)
  end
  for _, item in ipairs(items) do
    for _, fare in ipairs(item.fares or {}) do
      for _, part_of in ipairs(fare.parts or {}) do
        take(part_of.fare)
        for _, segment in ipairs(part_of.segments or {}) do
          cabins[segment] = cabins[segment] or cabin_of(part_of)
        end
      end
    end
  end
  return names, seats, cabins
end

--- The names of fares as one, which an offer has room for.
function M.brand(names)
  local joined = table.concat(names, " / ")
  return #names > 0 and #joined <= BRAND_MAX and joined or names[1]
end

-- ---- bags --------------------------------------------------------------------------------------------------------

-- "Checked", "CarryOn", "Carry-on baggage": where it goes, or nil.
local function bag_kind(allowance)
  local kind = (allowance.kind or ""):lower()
  return kind:find("check", 1, true) and "checked" or kind:find("carry", 1, true) and "cabin" or nil
end

-- Pieces; a weight alone is one at least.
local function pieces_of(allowance)
  local pieces = get(allowance.pieces, 1)
  local weight = tonumber(get(allowance.weights, 1) or "0")
  return pieces or weight > 0 and 1 or 0
end

-- Everything that allows bags: { allowance, paxs, journeys, segments }, each list nil when it is for all.
local function bag_grants(offer, items, index)
  local grants = {}
  for _, bags in ipairs(offer.bags or {}) do
    grants[#grants + 1] = bags
  end
  for _, item in ipairs(items) do
    for _, service in ipairs(index.has_bag_services and item.services and item.services() or {}) do
      local definition = index.definitions[service.definition] or {}
      for _, allowance in ipairs(definition.allowances or {}) do
        grants[#grants + 1] = { allowance = allowance, paxs = service.paxs, segments = service.segments }
      end
    end
  end
  return grants
end

--- Whether a list of texts has that one.
function M.has(list, name)
  return first(list, function(value)
    return value == name
  end) ~= nil
end

local function grants_it(grant, pax, journey, segment)
  if grant.paxs and #grant.paxs > 0 and not M.has(grant.paxs, pax) then
    return false
  end
  if not grant.journeys and not grant.segments then
    return true
  end
  return M.has(grant.journeys or {}, journey) or M.has(grant.segments or {}, segment)
end

-- What everybody with a seat may take on every flight; a kind of which nothing is said is left out.
local function bags_of(offer, items, index, journeys)
  local grants, least = bag_grants(offer, items, index), {}
  for _, grant in ipairs(grants) do
    grant.kind = bag_kind(index.allowances[grant.allowance] or {})
    if grant.kind then
      grant.pieces = pieces_of(index.allowances[grant.allowance])
      least[grant.kind] = math.huge
    end
  end
  for _, pax in ipairs(next(least) and index.pax_ids or {}) do
    for _, journey in ipairs(index.paxs[pax].ptc ~= "INF" and journeys or {}) do
      for _, segment in ipairs(M.slice(journey, index).ids) do
        local count = { cabin = 0, checked = 0 }
        for _, grant in ipairs(grants) do
          if grant.kind and grants_it(grant, pax, journey, segment) then
            count[grant.kind] = count[grant.kind] + grant.pieces
          end
        end
        for kind, pieces in pairs(least) do
          least[kind] = math.min(pieces, count[kind])
        end
      end
    end
  end
  local is_told = least.cabin ~= math.huge and least.checked ~= math.huge and next(least)
  return is_told and least or nil
end

-- ---- offers ------------------------------------------------------------------------------------------------------

-- An instant; a time without a zone is none.
local function instant(at)
  return at and (at:match("[Zz]$") or at:match("[+-]%d%d:?%d%d$")) and time.utc(at) or nil
end

--- The earlier of two instants, either of which may be absent.
function M.earlier(a, b)
  if a and b then
    return time.epoch(a) <= time.epoch(b) and a or b
  end
  return a or b
end

local function expiry_of(offer, items)
  local at = instant(offer.expires)
  for _, item in ipairs(items) do
    at = M.earlier(M.earlier(at, instant(item.guaranteed)), instant(item.pay_by))
  end
  return at
end

-- What OfferPrice wants to see: { offer, owner, { item, travellers … } … }.
local function selection_of(offer, items)
  local selection = { offer.id or "", offer.owner or "" }
  for _, item in ipairs(items) do
    local entry = { item.id or "" }
    for pax in sorted_pairs(item.paxs) do
      entry[#entry + 1] = pax
    end
    selection[#selection + 1] = entry
  end
  return selection
end

--- An offer as the product wants it, and what is needed to put it together with others.
function M.offer(offer, index)
  local items = mandatory(offer)
  mark_travellers(offer, items, index)
  local journeys = journeys_of(offer, items)
  local names, seats, cabins = fares_of(offer, items, index)
  local refundable, changeable = terms_of(offer, items, index)
  return {
    id = offer.id,
    seller = offer.owner and { id = offer.owner } or nil,
    price = price_of(offer, items, index),
    expires_at = expiry_of(offer, items),
    slices = map(journeys, function(journey)
      return told_slice(journey, index, cabins)
    end),
    brand = M.brand(names),
    bags = bags_of(offer, items, index, journeys),
    refundable = refundable,
    changeable = changeable,
    seats_left = seats,
  }, { journeys = journeys, names = names, selection = selection_of(offer, items) }
end

return M
