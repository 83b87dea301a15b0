-- Hotelbeds (HBX Group): a bed bank. One search gives hotels, their rooms, and rates that live for half an hour.
--
-- Follows the Hotel Booking API 1.0 (availability, checkrates; responses and errors) and its pages on authentication,
-- pricing models, tax breakdown, cancellation policies and best practices, as published at developer.hotelbeds.com.
--
-- To be set: the secrets HOTELBEDS_KEY and HOTELBEDS_SECRET; for the test system the option
-- `base_url: https://api.test.hotelbeds.com`; what the contract allows as `limits` of the account (a key for evaluation
-- has 50 requests a day). Options:
--   price      `selling`: the contract is commissionable, each rate tells the traveller's price. `net`: a rate tells it
--              only where the hotel insists on one. The wrong word gives no offers, and never a wrong price.
--   taxes_when_untold   an account without the tax breakdown learns nothing of what is due at the hotel, so its offers
--              are shown last. `yes` when the contract says that nothing is.
--   in_city, by_hotel, by_code   names of tables in `data`: one file with the columns city, code (theirs) and hotel
--              (ours), by the key that their names tell. Without in_city no city is asked for, without by_hotel none of
--              our hotels, and without by_code hotels are items of their own. As in
--                data: { hotelbeds_in_city: { file: hotelbeds.tsv, key: [city] }, … }
--                suppliers: { hotelbeds: { accounts: { main: { options: { in_city: hotelbeds_in_city } } } } }
--   hotels_per_request  a city with more hotels than that is several requests, side by side, up to 16. An answer of
--              2,000 rates takes most of the time that a script has.
--   rates_per_room  so many of each room at most, as Hotelbeds chooses them; 0: all.
--   packages   `true`: rates that may be sold only together with a flight are offers, too.
--
-- Left out, since an offer has no place for it: promotions, discounts that are in the price already, comments, rooms
-- that are left, fees of a cancellation that are less than everything, the amount in the hotel's currency where the
-- hotel is paid. Rooms that differ are put together from the cheapest rate of each, by board, payment and whether it
-- may be given back; RECHECK rates are no part of that, for one call checks one of them.
--
-- Not checked against the live service, but read from its documents, from recorded answers and from what its people
-- wrote: that the amounts of a rate are for all of its rooms (recorded tourist taxes are); which words mean that a rate
-- is gone; that a total of 0 without a list of hotels is nothing for sale; the codes of languages.

local RATE_LIVES_S = 1800 -- then /checkrates does not know the key any more
local HOTELS_IN_REQUEST_MAX = 2000 -- as the API has it
local PARTS_MAX = 16
local OFFERS_MAX = 1000 -- of an answer
local KINDS_MAX = 3 -- of rooms in one search: their rate keys have to fit into a hand-off
local HANDOFF_MAX = 500
local QUOTA_OF_DAY_S = 900 -- nobody tells when the day ends
local KEY_MIN = 16 -- what is shorter is no rate key

local RATE = {
  rateKey = text,
  rateType = text,
  rateClass = text,
  net = decimal,
  sellingRate = decimal,
  hotelMandatory = flag,
  paymentType = text,
  packaging = flag,
  boardCode = text,
  boardName = text,
  rooms = integer,
  adults = integer,
  childrenAges = text,
  cancellationPolicies = { { amount = decimal, from = text } },
  taxes = {
    allIncluded = flag,
    taxes = {
      { included = flag, amount = decimal, currency = text, clientAmount = decimal, clientCurrency = text },
    },
  },
}

local HOTEL = {
  code = text,
  name = text,
  categoryCode = text,
  currency = text,
  rooms = { { code = text, name = text, rates = { RATE } } },
}

local AVAILABILITY = { hotels = { total = integer, hotels = { HOTEL } } }

local CHECKED = {
  hotel = {
    code = text, name = text, categoryCode = text, currency = text, totalNet = decimal, rooms = HOTEL.rooms,
    checkIn = text, checkOut = text,
  },
}

-- Two boards on different days are the lesser of them.
local BOARDS = {
  RO = "room_only",
  SC = "room_only",
  AB = "breakfast",
  BB = "breakfast",
  BH = "breakfast",
  CB = "breakfast",
  DB = "breakfast",
  GB = "breakfast",
  IB = "breakfast",
  SB = "breakfast",
  HB = "half_board",
  FH = "half_board",
  MB = "half_board",
  FB = "full_board",
  PB = "full_board",
  AI = "all_inclusive",
  AS = "all_inclusive",
}

-- Of a board whose code is new, by its English name, the first that fits.
local BOARD_WORDS = {
  { "ALL INCLUSIVE", "all_inclusive" },
  { "BREAKFAST", "breakfast" },
  { "HALF BOARD", "half_board" },
  { "FULL BOARD", "full_board" },
  { "ROOM ONLY", "room_only" },
  { "SELF CATERING", "room_only" },
}

local PAYS = { AT_WEB = "now", AT_HOTEL = "at_property" }

local LANGUAGES = { de = "ALE", en = "ENG", es = "CAS", fr = "FRA", it = "ITA", pt = "POR" }

-- ---- asking --------------------------------------------------------------------------------------------------------

-- The rooms of a search, equal ones together: adults, ages, how many.
local function kinds_of(rooms)
  local kinds, by_key = {}, {}
  for _, room in ipairs(rooms) do
    local key = room.adults .. "/" .. table.concat(room.child_ages, ",")
    if not by_key[key] then
      by_key[key] = { key = key, adults = room.adults, ages = room.child_ages, count = 0 }
      kinds[#kinds + 1] = by_key[key]
    end
    by_key[key].count = by_key[key].count + 1
  end
  return kinds
end

local function occupancy(kind)
  return {
    rooms = kind.count,
    adults = kind.adults,
    children = #kind.ages,
    paxes = #kind.ages > 0 and map(kind.ages, function(age)
      return { type = "CH", age = age }
    end) or nil,
  }
end

-- Adds the codes of these rows, each once.
local function add_codes(rows, codes, seen)
  for _, row in ipairs(rows or {}) do
    local code = tonumber(row.code)
    if code and not seen[code] then
      seen[code] = true
      codes[#codes + 1] = code
    end
  end
end

-- Their codes of what is asked for; nil for a place by coordinates.
local function hotel_codes(place, options)
  if place.geo then
    return nil
  end
  local codes, seen = {}, {}
  if place.city and options.in_city ~= "" then
    add_codes(lookup(options.in_city, place.city), codes, seen)
  end
  for _, hotel in ipairs(options.by_hotel ~= "" and place.hotels or {}) do
    add_codes(lookup(options.by_hotel, hotel), codes, seen)
  end
  return codes
end

local function skip(search, ctx)
  local place = search.query.place
  if place.city and ctx.options.in_city == "" then
    return "no table of cities: see the option in_city"
  end
  if place.hotels and ctx.options.by_hotel == "" then
    return "no table of hotels: see the option by_hotel"
  end
  local codes = hotel_codes(place, ctx.options)
  if codes and #codes == 0 then
    return "no hotel there"
  end
  return #kinds_of(search.query.rooms) > KINDS_MAX and "more than " .. KINDS_MAX .. " kinds of rooms" or nil
end

local function post(path, ctx, body)
  return {
    method = "POST",
    path = path,
    headers = { ["api-key"] = ctx.secret.HOTELBEDS_KEY, ["accept"] = "application/json" },
    json = body,
  }
end

-- The same request for each slice of the codes.
local function slices_of(codes, options)
  local size = math.max(1, math.min(HOTELS_IN_REQUEST_MAX, math.floor(options.hotels_per_request)))
  size = math.max(size, math.ceil(#codes / PARTS_MAX))
  local slices = {}
  for from = 1, #codes, size do
    local slice = {}
    for i = from, math.min(#codes, from + size - 1) do
      slice[#slice + 1] = codes[i]
    end
    slices[#slices + 1] = slice
  end
  return slices
end

local function around(geo, radius_km)
  return { latitude = geo.lat, longitude = geo.lon, radius = radius_km, unit = "km" }
end

local function build_request(search, ctx)
  local query = search.query
  local function ask(hotels)
    local geo = query.place.geo
    return post("/hotel-api/1.0/hotels", ctx, {
      stay = { checkIn = query.check_in, checkOut = query.check_out },
      occupancies = map(kinds_of(query.rooms), occupancy),
      hotels = hotels and { hotel = hotels } or nil,
      geolocation = geo and around(geo, query.place.radius_km),
      filter = ctx.options.rates_per_room > 0 and { maxRatesPerRoom = ctx.options.rates_per_room } or nil,
      sourceMarket = query.residency,
      language = LANGUAGES[(search.locale or ""):sub(1, 2)],
    })
  end
  local codes = hotel_codes(query.place, ctx.options)
  return codes and map(slices_of(codes, ctx.options), ask) or ask(nil)
end

-- The digest is over key, secret and the second in which it is sent.
local function sign(_, ctx)
  local signed = ("%s%s%d"):format(ctx.secret.HOTELBEDS_KEY, ctx.secret.HOTELBEDS_SECRET, math.floor(ctx.now.s))
  return { ["x-signature"] = crypto.hex(crypto.sha256(signed)) }
end

-- ---- errors --------------------------------------------------------------------------------------------------------

local function is_any(message, words)
  return first(words, function(word)
    return message:find(word, 1, true) ~= nil
  end) ~= nil
end

local OVER_DAY = { "over rate", "over_rate" }
local OVER_QUOTA = { "over qps", "over rate", "over_qps", "over_rate", "quota", "rate limit", "too many" }
local NOT_LET_IN = { "inactive", "not authorized", "not_authorized", "authorization", "disallowed", "signature" }

local function words_of(told)
  return (type(told) == "string" or type(told) == "number") and tostring(told) or nil
end

-- What the answer says of an error: the API by an object whose code ends in an id of the request, the gateway by a text
-- in JSON, or in a page and a header. nil: an answer of status 200 that tells none.
local function fault_of(response)
  local body = response.body:match("^%s*{") and response:json() or nil
  local told = get(body, "error")
  if told == nil and response.status < 300 then
    return nil
  end
  if type(told) == "table" then
    local code = words_of(told.code) or "unknown"
    return { code = code:match("^[A-Z_]+") or code, message = words_of(told.message) or "no message" }
  end
  local message = words_of(told) or response.body:sub(1, 200)
  return { message = message, header = tostring(response.headers["x-mashery-error-code"] or "") }
end

-- How long depends on which quota; the engine reads the answer's own Retry-After, where there is one.
local function quota_failure(fault, said, response)
  local is_of_day = is_any(said, OVER_DAY) and response.headers["retry-after"] == nil
  return fail.quota({ retry_after = is_of_day and QUOTA_OF_DAY_S or nil, message = fault.message })
end

local function gateway_failure(fault, response)
  local said = (fault.header .. " " .. fault.message):lower()
  if response.status == 429 or is_any(said, OVER_QUOTA) then
    return quota_failure(fault, said, response)
  end
  if response.status == 401 or response.status == 403 and is_any(said, NOT_LET_IN) then
    return fail.auth(fault.message)
  end
  return response.status == 403 and quota_failure(fault, said, response) or nil -- without a reason it is the quota
end

-- nil: nothing typed, the engine goes by the status.
local function failure(fault, response)
  if not fault.code then
    return gateway_failure(fault, response)
  end
  if fault.code == "SYSTEM_ERROR" or fault.code == "SERVICE_OVERLOAD" then
    return fail.busy(fault.code .. ": " .. fault.message)
  end
  if fault.code == "CONFIGURATION_ERROR" and is_any(fault.message:lower(), { "apikey", "api-key" }) then
    return fail.auth(fault.message)
  end
  return fail.supplier({ code = fault.code, message = fault.message })
end

-- ---- a rate --------------------------------------------------------------------------------------------------------

local function board_of(rate)
  local name = (rate.boardName or ""):upper()
  local word = first(BOARD_WORDS, function(words)
    return name:find(words[1], 1, true) ~= nil
  end)
  return BOARDS[rate.boardCode or ""] or get(word, 2)
end

-- "4EST", "5LUX", and "H4_5" for four and a half; keys, and what is no class, have none.
local function stars_of(code)
  local told = code or ""
  return tonumber(told:match("^([1-5])EST$") or told:match("^([1-5])LUX$") or told:match("^H([1-5])_5$"))
end

-- An amount with the decimals of its currency; what is none stays as it is, so that the offer's check tells it.
local function rounded(amount, currency)
  return money.round(amount, currency) or amount
end

local function key_of(rate)
  local key = rate.rateKey
  return key and #key >= KEY_MIN and key or nil
end

-- Whether it can be reckoned with: JSON has numbers such as 1e999.
local function is_amount(told)
  return told ~= nil and money.round(told, "EUR") ~= nil
end

-- What the rate costs without what is due at the hotel; nil when the contract's price is not told. Nothing is given
-- away: 0, or less, is a price that is not told.
local function price_told(rate, options)
  local is_net = options.price == "net" and not rate.hotelMandatory
  local amount = is_net and rate.net or not is_net and rate.sellingRate or nil
  return is_amount(amount) and money.compare(amount, "0") > 0 and amount or nil
end

-- The amount of a tax in the rate's currency; nil when it is told in another one, or not at all.
local function tax_amount(tax, currency)
  if tax.clientCurrency == currency and tax.clientAmount then
    return (money.round(tax.clientAmount, currency))
  end
  return tax.currency == currency and tax.amount and money.round(tax.amount, currency) or nil
end

-- Taxes of a rate: what is due at the hotel, what is included (nil when not all of it is told), and whether with these
-- the price is everything.
local function taxes_of(rate, currency, options)
  local told = rate.taxes or {}
  if not told.taxes and told.allIncluded == nil then
    return { due = {}, word = options.taxes_when_untold }
  end
  local taxes = { due = {}, included = {}, word = told.allIncluded == nil and "unknown" or "yes" }
  local due_count, included_count = 0, 0
  for _, tax in ipairs(told.taxes or {}) do
    local amount = tax_amount(tax, currency)
    if tax.included then
      included_count = included_count + 1
      taxes.included[#taxes.included + 1] = amount
    elseif tax.included == false then
      due_count = due_count + 1
      taxes.due[#taxes.due + 1] = amount
    else
      taxes.word = "unknown"
    end
  end
  if included_count ~= #taxes.included then
    taxes.included = nil
  end
  if due_count ~= #taxes.due or told.allIncluded == false and due_count == 0 then
    taxes.word = "no" -- something is due that cannot be counted
  end
  return taxes
end

-- Until when nothing is kept of the money: the beginning of the first fee. One that is over by now is no such time, and
-- neither is none.
local function free_until(rate, now_s)
  local earliest, earliest_s = nil, nil
  for _, policy in ipairs(rate.cancellationPolicies or {}) do
    local is_fee = not is_amount(policy.amount) or money.compare(policy.amount, "0") ~= 0
    if is_fee then
      local from_s = policy.from and time.epoch(policy.from)
      if not from_s then
        return policy.from -- no time that can be read: the offer's check tells it
      end
      if not earliest_s or from_s < earliest_s then
        earliest, earliest_s = policy.from, from_s
      end
    end
  end
  return rate.rateClass ~= "NRF" and earliest_s and earliest_s > now_s and earliest or nil
end

-- ---- offers --------------------------------------------------------------------------------------------------------

-- Nothing makes 0.
local function sum(amounts, currency)
  return money.sum(#amounts > 0 and amounts or { "0" }, currency)
end

local function append(list, more)
  for _, one in ipairs(more) do
    list[#list + 1] = one
  end
end

local WORDS = { yes = 1, unknown = 2, no = 3 }

-- The parts of a price: the rates' own amounts, what is due at the hotel, what is included; `is_open`: not all of what
-- is included is told, or not of this price: where there is a commission, taxes are told of the net.
local function parts_of(rates, currency, options)
  local parts = { amounts = {}, due = {}, included = {}, word = "yes", is_open = false }
  for _, rate in ipairs(rates) do
    local amount = price_told(rate, options)
    local taxes = taxes_of(rate, currency, options)
    parts.amounts[#parts.amounts + 1] = amount and rounded(amount, currency)
    append(parts.due, taxes.due)
    append(parts.included, taxes.included or {})
    local is_net = amount and is_amount(rate.net) and money.compare(amount, rate.net) == 0
    parts.is_open = parts.is_open or not taxes.included or not is_net
    parts.word = (WORDS[taxes.word] or 4) > (WORDS[parts.word] or 4) and taxes.word or parts.word
  end
  return parts
end

-- Base and taxes are told together, and add up to the total.
local function price_of(rates, currency, options)
  local parts = parts_of(rates, currency, options)
  if #parts.amounts < #rates then
    return { currency = currency } -- without a total the offer is dropped, and told
  end
  if not money.exponent(currency or "") then
    return { total = parts.amounts[1], currency = currency } -- no currency: dropped as well
  end
  local amount, due = sum(parts.amounts, currency), sum(parts.due, currency)
  local included = not parts.is_open and sum(parts.included, currency) or nil
  return {
    total = money.add(amount, due, currency),
    currency = currency,
    base = money.sub(amount, included, currency),
    taxes = money.add(included, due, currency),
    taxes_included = parts.word,
    due_later = #parts.due > 0 and map(parts.due, function(tax)
      return { kind = "tax", amount = tax, currency = currency }
    end) or nil,
  }
end

-- The earliest end, and none as soon as one room has none.
local function refund_of(rates, now_s)
  local earliest = nil
  for _, rate in ipairs(rates) do
    local free = free_until(rate, now_s)
    if not free then
      return nil
    end
    local is_earlier = earliest and (time.epoch(free) or 0) < (time.epoch(earliest) or 0)
    earliest = (not earliest or is_earlier) and free or earliest
  end
  return earliest and { free_until = earliest } or nil
end

local function lives_until(now_s)
  return time.iso(math.floor(now_s) + RATE_LIVES_S)
end

-- A digest names the offer: the rate key is what books it, and stays in the hidden part.
local function id_of(keys)
  return crypto.base64url(crypto.sha256(table.concat(keys, "\n"))):sub(1, 22)
end

-- The codes of the rooms, in an order that does not depend on the answer's.
local function codes_of(chosen)
  local codes = map(chosen, function(one)
    return one.room.code or ""
  end)
  table.sort(codes)
  return table.concat(codes, ",")
end

-- What is asked for again, and the terms that were told: other ones are another offer.
local function ref_of(keys, offer, chosen)
  return json.encode({
    keys = json.array(keys),
    hotel = offer.supplier_hotel_id,
    rooms = codes_of(chosen),
    board = offer.board,
    pay = offer.pay,
    free_until = get(offer, "refund", "free_until"),
  })
end

local function our_hotel(code, options)
  local rows = options.by_code ~= "" and code and lookup(options.by_code, code)
  return get(rows or {}, 1, "hotel")
end

local function room_of(chosen)
  local names, seen = {}, {}
  for _, one in ipairs(chosen) do
    local name = one.room.name or one.room.code
    if name and not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  return #names > 0 and table.concat(names, " + ") or nil
end

-- One offer of the chosen rates, a rate for each kind of room: {rate, room} of one hotel.
local function offer_of(chosen, hotel, ctx)
  local rates = map(chosen, function(one)
    return one.rate
  end)
  local keys = map(rates, key_of)
  local offer = {
    id = #keys == #rates and id_of(keys) or nil,
    price = price_of(rates, hotel.currency, ctx.options),
    expires_at = lives_until(ctx.now.s),
    hotel_id = our_hotel(hotel.code, ctx.options),
    name = hotel.name,
    stars = stars_of(hotel.categoryCode),
    supplier_hotel_id = hotel.code,
    room = room_of(chosen),
    board = board_of(rates[1]) or rates[1].boardCode,
    refund = refund_of(rates, ctx.now.s),
    pay = PAYS[rates[1].paymentType or ""] or rates[1].paymentType,
  }
  offer.ref = ref_of(keys, offer, chosen)
  return offer
end

-- ---- reading an answer ---------------------------------------------------------------------------------------------

-- Where something stands in the answer: a hotel, a room of it, a rate of that.
local function place_of(one)
  local place = ("hotels.hotels[%d]"):format(one.h)
  place = one.r and ("%s.rooms[%d]"):format(place, one.r) or place
  return one.n and ("%s.rates[%d]"):format(place, one.n) or place
end

-- What is no offer, and why: counted, with the place of the first.
local function leave_out(left, why, one)
  left[why] = left[why] or { count = 0, place = place_of(one) }
  left[why].count = left[why].count + 1
end

local function warnings_of(left)
  local warnings = {}
  for why, what in sorted_pairs(left) do
    warnings[#warnings + 1] = ("%d %s left out: %s"):format(what.count, why, what.place)
  end
  return #warnings > 0 and { warnings = warnings } or nil
end

local FOR_PACKAGES = "rates for packages"
local FOR_OTHERS = "rates for other rooms than asked"
local INCOMPLETE = "rates without a price, key or type"
local WITHOUT_RATES = "hotels without rates"
local EMPTY_ROOMS = "rooms without rates"

-- What no rate at all tells, by the option `price`.
local NO_PRICE = {
  net = "hotels.hotels[].rooms[].rates[].net",
  selling = "hotels.hotels[].rooms[].rates[].sellingRate: where the contract has none, the option is `price: net`",
}

local function kind_of(rate, kinds)
  local ages = {}
  for age in (rate.childrenAges or ""):gmatch("%d+") do
    ages[#ages + 1] = tonumber(age)
  end
  table.sort(ages)
  local key = ("%s/%s"):format(rate.adults or "", table.concat(ages, ","))
  return first(kinds, function(kind)
    return kind.key == key and kind.count == rate.rooms
  end)
end

-- kind_of, once for all rates that say the same: `known` has what was found.
local function known_kind(rate, kinds, known)
  local said = (rate.rooms or "") .. "/" .. (rate.adults or "") .. "/" .. (rate.childrenAges or "")
  if known[said] == nil then
    known[said] = kind_of(rate, kinds) or false
  end
  return known[said]
end

-- The rates of the hotel by the kind of room that they are for.
local function rates_by_kind(hotel, h, kinds, known, left, ctx)
  local by_kind, is_empty = {}, true
  for r, room in ipairs(hotel.rooms or {}) do
    if #(room.rates or {}) == 0 then
      leave_out(left, EMPTY_ROOMS, { h = h, r = r })
    end
    for n, rate in ipairs(room.rates or {}) do
      local kind = known_kind(rate, kinds, known)
      local one = { rate = rate, room = room, hotel = hotel, h = h, r = r, n = n }
      is_empty = false
      if rate.packaging and not ctx.options.packages then
        leave_out(left, FOR_PACKAGES, one)
      elseif not kind then
        leave_out(left, FOR_OTHERS, one)
      else
        by_kind[kind.key] = by_kind[kind.key] or {}
        table.insert(by_kind[kind.key], one)
      end
    end
  end
  if is_empty then
    leave_out(left, WITHOUT_RATES, { h = h })
  end
  return by_kind
end

-- Rates of different rooms go together when they are alike in what an offer says once.
local function likeness(rate, now_s)
  local is_free = free_until(rate, now_s) ~= nil
  return ("%s/%s/%s"):format(board_of(rate) or "", rate.paymentType or "", is_free and "free" or "fee")
end

-- The cheapest rate of a kind by its likeness; RECHECK rates cannot be checked together.
local function cheapest_by_likeness(ones, left, ctx)
  local cheapest = {}
  for _, one in ipairs(ones or {}) do
    local price = price_told(one.rate, ctx.options)
    if one.rate.rateType == "RECHECK" then
      leave_out(left, "RECHECK rates of rooms that differ", one)
    elseif one.rate.rateType ~= "BOOKABLE" or not price or not key_of(one.rate) then
      leave_out(left, INCOMPLETE, one)
    else
      local alike = likeness(one.rate, ctx.now.s)
      local best = cheapest[alike]
      if not best or money.compare(price, price_told(best.rate, ctx.options)) < 0 then
        cheapest[alike] = one
      end
    end
  end
  return cheapest
end

local function is_empty(map_of_rates)
  return next(map_of_rates) == nil
end

-- Offers of rooms that differ: for each likeness that all kinds have.
local function combine(by_kind, kinds, hotel, left, ctx)
  local by_likeness = map(kinds, function(kind)
    return cheapest_by_likeness(by_kind[kind.key], left, ctx)
  end)
  local offers = {}
  for alike in sorted_pairs(by_likeness[1]) do
    local chosen = map(by_likeness, function(cheapest)
      return cheapest[alike]
    end)
    if #chosen == #kinds then
      offers[#offers + 1] = offer_of(chosen, hotel, ctx)
    end
  end
  local one = get(by_kind, kinds[1].key, 1)
  if #offers == 0 and one and not first(by_likeness, is_empty) then
    leave_out(left, "hotels whose rooms have no board, payment and refund in common", { h = one.h })
  end
  return offers
end

-- An answer may have more rates than it may have offers: the cheapest stay. As numbers they are only compared.
local function cheapest_of(ones, left, ctx)
  if #ones <= OFFERS_MAX then
    return ones
  end
  for i, one in ipairs(ones) do
    one.order, one.number = tonumber(price_told(one.rate, ctx.options)) or math.huge, i
  end
  table.sort(ones, function(a, b)
    return a.order < b.order or a.order == b.order and a.number < b.number
  end)
  for i = OFFERS_MAX + 1, #ones do
    leave_out(left, ("rates beyond the %d cheapest"):format(OFFERS_MAX), ones[i])
    ones[i] = nil
  end
  return ones
end

-- Why hotels with rates give no offer when that cannot be: nil when it can.
local function nothing_because(left)
  for _, why in ipairs { FOR_OTHERS, INCOMPLETE, WITHOUT_RATES, EMPTY_ROOMS } do
    if left[why] then
      return ("%s: %s"):format(left[why].place, why)
    end
  end
  return nil
end

local function has_price(offer)
  return offer.price.total ~= nil
end

local function offers_of(hotels, search, ctx)
  local kinds = kinds_of(search.query.rooms)
  local offers, ones, left, known = {}, {}, {}, {}
  for h, hotel in ipairs(hotels) do
    local by_kind = rates_by_kind(hotel, h, kinds, known, left, ctx)
    if #kinds > 1 then
      append(offers, combine(by_kind, kinds, hotel, left, ctx))
    else
      append(ones, by_kind[kinds[1].key] or {})
    end
  end
  append(offers, map(cheapest_of(ones, left, ctx), function(one)
    return offer_of({ one }, one.hotel, ctx)
  end))
  local why = #offers == 0 and nothing_because(left) or nil
  if #offers > 0 and not first(offers, has_price) then
    why = NO_PRICE[ctx.options.price] or NO_PRICE.selling
  end
  if why then
    return fail.unexpected(why)
  end
  return offers, warnings_of(left)
end

local function normalise(response, search, ctx)
  if response.status >= 300 then
    return failure(fault_of(response), response) or {}
  end
  local found = get(response:json(AVAILABILITY), "hotels")
  if not found then
    local fault = fault_of(response)
    return fault and failure(fault, response) or fail.unexpected("hotels")
  end
  local hotels = found.hotels or {}
  if #hotels > 0 then
    return offers_of(hotels, search, ctx)
  end
  if found.total == 0 then
    return "empty"
  end
  return fail.unexpected(("hotels.hotels: none, with a total of %s"):format(tostring(found.total)))
end

-- ---- revalidation --------------------------------------------------------------------------------------------------

-- What is said of a rate that cannot be had any more; it is for the caller to search again when its key is too old.
local EXPIRED = { "expired", "does not exist", "invalid ratekey", "price has" }
local SOLD_OUT = { "allotment", "not available", "no availability", "stop sale", "release violated", "is closed" }

local function gone(fault)
  local said = fault.code and fault.message:lower() or ""
  if is_any(said, EXPIRED) then
    return { status = "expired" }
  end
  return is_any(said, SOLD_OUT) and { status = "sold_out" } or nil
end

local function ask_again(offer, ctx)
  return post("/hotel-api/1.0/checkrates", ctx, {
    rooms = map(json.decode(offer.ref).keys, function(key)
      return { rateKey = key }
    end),
  })
end

-- All rates of a checked hotel, with their rooms.
local function checked_rates(hotel)
  local chosen = {}
  for _, room in ipairs(hotel.rooms or {}) do
    for _, rate in ipairs(room.rates or {}) do
      chosen[#chosen + 1] = { rate = rate, room = room }
    end
  end
  return chosen
end

-- Hotelbeds tells the sum beside the rates: another one means that they are read wrongly.
local function is_sum(chosen, hotel)
  if not hotel.totalNet then
    return true
  end
  local nets = map(chosen, function(one)
    return one.rate.net and money.round(one.rate.net, hotel.currency) or nil
  end)
  return #nets == #chosen and is_amount(hotel.totalNet)
    and money.compare(sum(nets, hotel.currency), hotel.totalNet) == 0
end

local function is_same_time(a, b)
  return a == b or a and b and time.epoch(a) == time.epoch(b)
end

local function is_value(map_of_words, word)
  for _, value in pairs(map_of_words) do
    if value == word then
      return true
    end
  end
  return false
end

-- What a checked rate does not tell, or not in words that are known: such an answer confirms nothing.
local function lacks(offer)
  local free = get(offer, "refund", "free_until")
  return not offer.price.total and "price"
    or not offer.id and "rateKey"
    or not offer.room and "name of the room"
    or not is_value(BOARDS, offer.board) and "board that is known"
    or not is_value(PAYS, offer.pay) and "paymentType that is known"
    or free and not time.epoch(free) and "time from which a fee is due"
    or nil
end

-- Whether the terms are those that were told: the rooms, what is eaten, who is paid, until when it can be given back,
-- and whether the price is still all that is to be paid.
local function are_same_terms(new, asked_for, offer)
  local told = json.decode(new.ref)
  local now, before = WORDS[new.price.taxes_included] or 3, WORDS[offer.price.taxes_included] or 3
  return new.board == asked_for.board and new.pay == asked_for.pay and told.rooms == asked_for.rooms
    and is_same_time(get(new, "refund", "free_until"), asked_for.free_until) and now <= before
end

local function compared(chosen, hotel, asked_for, offer, ctx)
  local new = offer_of(chosen, hotel, ctx)
  local now = { total = new.price.total, currency = new.price.currency }
  local lacking = lacks(new)
  if lacking then
    return fail.unexpected("hotel.rooms[].rates[]: no " .. lacking)
  end
  if not are_same_terms(new, asked_for, offer) then
    return { status = "changed", offer = new }
  end
  local was = offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
  local is_same = now.currency == was.currency and money.compare(now.total, was.amount) == 0
  local keys = table.concat(json.decode(new.ref).keys, "\n")
  local is_old_key = keys == table.concat(asked_for.keys, "\n")
  return {
    status = is_same and "confirmed" or "price_changed",
    now = now,
    expires_at = is_old_key and lives_until(time.epoch(offer.observed_at)) or new.expires_at,
    handoff = #keys <= HANDOFF_MAX and { ref = keys } or nil,
  }
end

local function refused(response)
  local fault = fault_of(response)
  if not fault then
    return fail.unexpected("hotel")
  end
  local code = fault.code or tostring(response.status)
  return gone(fault) or failure(fault, response) or fail.supplier({ code = code, message = fault.message })
end

-- Why an answer is about another hotel or other days than were asked for; nil when it is not. Days that are not told
-- say nothing.
local function of_another(hotel, asked_for, query)
  local days = (hotel.checkIn or query.check_in) .. " to " .. (hotel.checkOut or query.check_out)
  if hotel.code ~= asked_for.hotel then
    return ("code: %s for %s"):format(hotel.code or "nothing", asked_for.hotel or "nothing")
  elseif days ~= query.check_in .. " to " .. query.check_out then
    return "checkIn: the days are " .. days
  end
  return not money.exponent(hotel.currency or "") and "currency" or nil
end

-- What has become of the rates.
local function judge(chosen, hotel, asked_for, offer, ctx)
  if #chosen ~= #asked_for.keys then
    return fail.unexpected(("hotel.rooms[].rates[]: %d rates for %d keys"):format(#chosen, #asked_for.keys))
  end
  if not is_sum(chosen, hotel) then
    return fail.unexpected("hotel.totalNet: it is not the sum of the rates")
  end
  local kinds = kinds_of(offer.query.rooms)
  local other = first(chosen, function(one)
    return not kind_of(one.rate, kinds)
  end)
  if other then
    return fail.unexpected("hotel.rooms[].rates[]: " .. FOR_OTHERS)
  end
  local is_package = not ctx.options.packages and first(chosen, function(one)
    return one.rate.packaging
  end)
  if is_package then
    return fail.unexpected("hotel.rooms[].rates[]: " .. FOR_PACKAGES)
  end
  local unsure = first(chosen, function(one)
    return one.rate.rateType ~= "BOOKABLE"
  end)
  return unsure and { status = "retry" } or compared(chosen, hotel, asked_for, offer, ctx)
end

local function read_again(response, offer, ctx)
  local hotel, asked_for = nil, json.decode(offer.ref)
  if response.status < 300 then
    hotel = get(response:json(CHECKED), "hotel")
  end
  if not hotel then
    return refused(response)
  end
  if not next(hotel) and not next(response:json().hotel) then
    return { status = "sold_out" } -- an answer about no hotel: there is no such rate any more
  end
  local why = of_another(hotel, asked_for, offer.query)
  if why then
    return fail.unexpected("hotel." .. why)
  end
  return judge(checked_rates(hotel), hotel, asked_for, offer, ctx)
end

---@type Supplier
return {
  name = "hotelbeds",
  product = "hotels",
  owner = "hotel-integrations@example.com",
  docs = "https://developer.hotelbeds.com/documentation/hotels/booking-api/api-reference/",
  hosts = { "api.hotelbeds.com" },
  secrets = { "HOTELBEDS_KEY", "HOTELBEDS_SECRET" },
  options = {
    base_url = "https://api.hotelbeds.com",
    price = "selling",
    taxes_when_untold = "unknown",
    in_city = "",
    by_hotel = "",
    by_code = "",
    hotels_per_request = 60,
    rates_per_room = 0,
    packages = false,
  },
  limits = { body = "8MiB" },

  skip = skip,

  -- A few hotels are answered at once. A whole city takes its time; after five seconds Hotelbeds gives up itself.
  ceiling = function(search)
    return search.query.place.hotels and 1500 or 4000
  end,

  build_request = build_request,
  sign = sign,
  normalise = normalise,
  revalidate = { build_request = ask_again, read = read_again },
}
