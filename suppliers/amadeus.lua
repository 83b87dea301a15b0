-- Amadeus for Developers, "Self-Service": public fares of airlines out of a GDS, searched, then priced again.
--
-- It follows the OpenAPI documents of Flight Offers Search 2 and Flight Offers Price 1, the guides to authorization,
-- errors and rate limits, and messages published with them. The service is reported closed since July 2026: NOTHING
-- HERE WAS EVER RUN AGAINST A LIVE ONE, and nobody is promised one. It is kept as the example of an OAuth login, of
-- dictionaries, and of offers that go back whole; it serves whoever has a gateway of this shape.
--
-- To set: AMADEUS_CLIENT_ID and AMADEUS_CLIENT_SECRET, and the option `base_url` where the service is elsewhere. The
-- test system, https://test.api.amadeus.com, takes 10 requests a second. No tables of data. A ref is the whole offer,
-- 2 to 12 KB, and goes back as it came.
--
-- Left out, since an offer has no place for it: terminals, aircraft, stops without a change of flight, booking classes
-- and fare bases, emissions, bags for sale, refundable taxes, cities and countries of airports. `lastTicketingDate` is
-- no expiry: it says until when a booking of today can be ticketed, not how long this price stands, so there is no
-- `expires_at`. Loyalty and fare codes of a search are not passed on: only public fares are sold here.
--
-- What only a live service could confirm: that `grandTotal` lies between `total` and that plus fees and services; that
-- "No fare applicable" and a segment that cannot be sold mean that an offer is gone; what comes as `warnings`; that a
-- bag allowance by weight (25 KG) is at least one bag; that a token is refused by the codes 38190, 38192 and 38193.

local journeys = require("journeys")

local CABIN_TO_AMADEUS = { economy = "ECONOMY", premium = "PREMIUM_ECONOMY", business = "BUSINESS", first = "FIRST" }
local CABIN_FROM_AMADEUS = { ECONOMY = "economy", PREMIUM_ECONOMY = "premium", BUSINESS = "business", FIRST = "first" }
local TRAVELLER_TO_AMADEUS = {
  adult = "ADULT", child = "CHILD", infant_lap = "HELD_INFANT", infant_seat = "SEATED_INFANT",
}
local TRAVELLER_FROM_AMADEUS = {
  ADULT = "adult", SENIOR = "adult", YOUNG = "adult", STUDENT = "adult",
  CHILD = "child", HELD_INFANT = "infant_lap", SEATED_INFANT = "infant_seat",
}

local ADULT_AGE = 12 -- from here on Amadeus knows no child
local CONNECTIONS_MAX = 2 -- the most that it can be told to allow
local OFFERS_MAX = 250
local LAST_DAY = 365 -- flights later than this are not for sale

-- What an offer may say of its fare, in bytes.
local BRAND_MAX = 100

-- A month's quota is used up: somebody may buy more any time, so look again now and then.
local QUOTA_PAUSE_S = 3600

local MEDIA_TYPE = "application/vnd.amadeus+json"

-- ---- what is read ---------------------------------------------------------------------------------------------------

local ISSUE = { code = text, title = text, detail = text }
local PRICE = { currency = text, total = decimal, base = decimal }
local ALLOWANCE = { quantity = integer, weight = integer }
local STOP = { iataCode = text, at = text }

local OFFER = {
  type = text,
  id = text,
  oneWay = flag,
  numberOfBookableSeats = integer,
  itineraries = { {
    duration = text,
    segments = { {
      id = text,
      carrierCode = text,
      number = text,
      duration = text,
      departure = STOP,
      arrival = STOP,
      operating = { carrierCode = text },
    } },
  } },
  price = {
    currency = text,
    total = decimal,
    base = decimal,
    grandTotal = decimal,
    fees = { { amount = decimal } },
    additionalServices = { { amount = decimal } },
  },
  pricingOptions = { refundableFare = flag, noRestrictionFare = flag },
  validatingAirlineCodes = { text },
  travelerPricings = { {
    travelerId = text,
    travelerType = text,
    price = PRICE,
    fareDetailsBySegment = { {
      segmentId = text,
      cabin = text,
      class = text,
      fareBasis = text,
      brandedFare = text,
      includedCheckedBags = ALLOWANCE,
      includedCabinBags = ALLOWANCE,
    } },
  } },
}

local DICTIONARIES = { carriers = map_of(text) }

local SEARCHED = {
  warnings = { ISSUE },
  meta = { count = integer },
  data = { OFFER },
  dictionaries = DICTIONARIES,
}

-- The same offers once more, as their bytes: Amadeus wants each back as it was, blanks at the ends of texts included.
local BYTES = { data = { raw } }

local PRICED_BYTES = { data = { flightOffers = { raw } } }
local PRICED = { data = { flightOffers = { OFFER } }, dictionaries = DICTIONARIES }

local GRANTED = {
  access_token = text,
  expires_in = integer,
  error = text,
  error_description = text,
}

-- ---- requests -------------------------------------------------------------------------------------------------------

local function headers(ctx)
  return {
    ["authorization"] = "Bearer " .. ctx.login,
    ["accept"] = MEDIA_TYPE,
    ["content-type"] = MEDIA_TYPE,
    ["x-http-method-override"] = "GET",
  }
end

-- An infant on a lap names the adult whose lap it is, each another one.
local function travellers(query)
  local laps = 0
  return map(query.travellers, function(traveller, index)
    local kind = TRAVELLER_TO_AMADEUS[traveller.type]
    if traveller.type == "child" and traveller.age >= ADULT_AGE then
      kind = TRAVELLER_TO_AMADEUS.adult
    end
    laps = traveller.type == "infant_lap" and laps + 1 or laps
    return {
      id = tostring(index),
      travelerType = kind,
      associatedAdultId = traveller.type == "infant_lap" and tostring(laps) or nil, -- adults come first
    }
  end)
end

local function journeys_of(query)
  return map(query.slices, function(slice, index)
    return {
      id = tostring(index),
      originLocationCode = slice.origin,
      destinationLocationCode = slice.destination,
      departureDateTimeRange = {
        date = slice.date,
        dateWindow = slice.flex_days > 0 and ("I%dD"):format(slice.flex_days) or nil,
      },
    }
  end)
end

local function filters(query)
  local stops = query.max_stops
  return {
    cabinRestrictions = { {
      cabin = CABIN_TO_AMADEUS[query.cabin],
      coverage = "MOST_SEGMENTS",
      originDestinationIds = map(query.slices, function(_, index)
        return tostring(index)
      end),
    } },
    connectionRestriction = stops and stops <= CONNECTIONS_MAX and { maxNumberOfConnections = stops } or nil,
  }
end

-- POST takes all that a search says; GET knows neither several journeys nor days around a date.
local function build_request(search, ctx)
  local wants_bags = get(search.query, "bags", "checked")
  return {
    method = "POST",
    path = "/v2/shopping/flight-offers",
    headers = headers(ctx),
    json = {
      currencyCode = search.currency,
      originDestinations = journeys_of(search.query),
      travelers = travellers(search.query),
      sources = { "GDS" },
      searchCriteria = {
        maxFlightOffers = math.max(1, math.min(OFFERS_MAX, math.floor(ctx.options.max_offers))),
        additionalInformation = { brandedFares = true },
        pricingOptions = wants_bags and wants_bags > 0 and { includedCheckedBagsOnly = true } or nil,
        flightFilters = filters(search.query),
      },
    },
  }
end

-- ---- errors ---------------------------------------------------------------------------------------------------------

local NOTHING_FOUND = "1797"

-- Tokens that are not known, over, or taken back: another one may do.
local LOGIN_IS_OVER = { ["38190"] = true, ["38192"] = true, ["38193"] = true }

local MONTH_IS_USED_UP = "38195"

local function words(issue)
  local title, detail = issue.title or "no title", issue.detail
  return detail and title .. ": " .. detail or title
end

-- The status says which class of error it is, its code which of that class.
local function failure(issue, response)
  local status, code = response.status, issue.code or "unknown"
  if status == 401 and LOGIN_IS_OVER[code] then
    return fail.login(words(issue))
  end
  if status == 401 or status == 403 then
    return fail.auth(words(issue))
  end
  if status == 429 then
    -- A header Retry-After is read by the engine.
    local pause = code == MONTH_IS_USED_UP and not response.headers["retry-after"] and QUOTA_PAUSE_S or nil
    return fail.quota({ retry_after = pause, message = words(issue) })
  end
  if status >= 500 then
    return fail.busy(code .. " " .. words(issue)) -- the airlines' systems, or Amadeus itself
  end
  return fail.supplier({ code = code, message = words(issue) })
end

local function text_of(value)
  return (type(value) == "string" or type(value) == "number") and tostring(value) or nil
end

-- The first error of an answer, or nil. Codes come as numbers and as texts.
local function issue_of(response)
  local told = get(response:json(), "errors", 1)
  return type(told) == "table" and {
    code = text_of(told.code),
    title = text_of(told.title),
    detail = text_of(told.detail),
  } or nil
end

-- The answer, or an error in place of it. A status below 300 need not mean that there is none.
local function document_of(response, shape)
  local body = response.status < 300 and response:json(shape) or {}
  return body, not body.data and issue_of(response) or nil
end

-- A refusal of us without an error that could be read, such as the gateway's own; nil when it is none.
local function unexplained_refusal(response)
  local is_refusal = response.status == 401 or response.status == 403
  return is_refusal and fail.auth(("HTTP status %d"):format(response.status)) or nil
end

-- ---- login ----------------------------------------------------------------------------------------------------------

local login = {
  build_request = function(ctx)
    return {
      method = "POST",
      path = "/v1/security/oauth2/token",
      form = {
        grant_type = "client_credentials",
        client_id = ctx.secret.AMADEUS_CLIENT_ID,
        client_secret = ctx.secret.AMADEUS_CLIENT_SECRET,
      },
    }
  end,

  -- Refusals of a login have a form of their own, {error, error_description}; too many requests and trouble have not.
  read = function(response)
    local granted = response:json(GRANTED) or {}
    if granted.access_token and response.status == 200 then
      return { value = granted.access_token, expires_in_s = granted.expires_in }
    end
    local issue = issue_of(response)
    if issue then
      return failure(issue, response)
    end
    if granted.error and response.status < 500 then
      return fail.auth(granted.error_description or granted.error)
    end
    return response.status >= 500 and fail.busy("no token") or fail.unexpected("access_token")
  end,
}

-- ---- offers ---------------------------------------------------------------------------------------------------------

-- Fares of a segment by its id, one for each traveller with a seat.
local function fares_by_segment(offer)
  local fares = {}
  for _, traveller in ipairs(offer.travelerPricings or {}) do
    if traveller.travelerType ~= TRAVELLER_TO_AMADEUS.infant_lap then
      for _, fare in ipairs(traveller.fareDetailsBySegment or {}) do
        if fare.segmentId then
          fares[fare.segmentId] = fares[fare.segmentId] or {}
          table.insert(fares[fare.segmentId], fare)
        end
      end
    end
  end
  return fares
end

-- How many bags an allowance is; one by weight is at least one. nil: nothing is said.
local function pieces(allowance)
  if not allowance then
    return nil
  end
  return allowance.quantity or allowance.weight and math.min(allowance.weight, 1)
end

-- What every traveller with a seat may take on every flight; nil where that is not said of each.
local function least_bags(offer, fares, field)
  local least
  for _, itinerary in ipairs(offer.itineraries or {}) do
    for _, segment in ipairs(itinerary.segments or {}) do
      local told = fares[segment.id or ""]
      if not told then
        return nil
      end
      for _, fare in ipairs(told) do
        local count = pieces(fare[field])
        if not count then
          return nil
        end
        least = math.min(least or count, count)
      end
    end
  end
  return least
end

local function bags_of(offer, fares)
  local cabin = least_bags(offer, fares, "includedCabinBags")
  local checked = least_bags(offer, fares, "includedCheckedBags")
  return (cabin or checked) and { cabin = cabin, checked = checked } or nil
end

-- The fare's name; of flights with several, each once, in order.
local function brand_of(offer, fares)
  local names, seen = {}, {}
  for _, itinerary in ipairs(offer.itineraries or {}) do
    for _, segment in ipairs(itinerary.segments or {}) do
      local name = get(fares, segment.id or "", 1, "brandedFare")
      if name and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  local joined = table.concat(names, " / ")
  return #names > 0 and #joined <= BRAND_MAX and joined or names[1]
end

local function slices_of(offer, fares)
  return map(offer.itineraries or {}, function(itinerary)
    local segments = map(itinerary.segments or {}, function(segment)
      return {
        carrier = segment.carrierCode,
        operating = get(segment, "operating", "carrierCode"),
        number = segment.number,
        origin = get(segment, "departure", "iataCode"),
        destination = get(segment, "arrival", "iataCode"),
        departs = { ["local"] = get(segment, "departure", "at") },
        arrives = { ["local"] = get(segment, "arrival", "at") },
        duration_min = time.minutes(segment.duration),
        cabin = CABIN_FROM_AMADEUS[get(fares, segment.id or "", 1, "cabin") or ""],
      }
    end)
    return { duration_min = time.minutes(itinerary.duration), segments = segments }
  end)
end

-- Who it is that we asked for, and where Amadeus names somebody else, what it says.
local function kind_of(traveller, query)
  local asked = query.travellers[tonumber(traveller.travelerId) or 0]
  local told = TRAVELLER_FROM_AMADEUS[traveller.travelerType or ""]
  return asked and (asked.type == told or told == "adult") and asked.type or told
end

local function is_currency(code)
  return code and money.exponent(code) ~= nil
end

local function amounts(list)
  return map(list or {}, function(entry)
    return entry.amount
  end)
end

-- Why the amounts of a price contradict each other; nil when they agree, as far as they are told. What is missing is
-- told by its path when the offer is dropped.
local function contradiction(offer)
  local price = offer.price or {}
  local currency = price.currency
  if not is_currency(currency) or not price.total or not price.grandTotal then
    return nil
  end
  local told = { price.total, price.grandTotal, price.base or "0", unpack(amounts(price.fees)) }
  for _, amount in ipairs(amounts(price.additionalServices)) do
    told[#told + 1] = amount
  end
  for _, traveller in ipairs(offer.travelerPricings or {}) do
    told[#told + 1] = get(traveller, "price", "total")
  end
  local odd = first(told, function(amount)
    return not money.parse(amount, currency)
  end)
  if odd then
    return ("%s is no amount of %s"):format(odd, currency)
  end
  local travellers_total = money.sum(map(offer.travelerPricings or {}, function(traveller)
    return get(traveller, "price", "currency") == currency and get(traveller, "price", "total") or nil
  end), currency)
  if travellers_total and money.compare(travellers_total, price.total) ~= 0 then
    return ("the total is %s, of the travellers %s"):format(price.total, travellers_total)
  end
  local fees = money.sum(amounts(price.fees), currency)
  local services = money.sum(amounts(price.additionalServices), currency)
  local most = money.add(price.total, money.add(fees, services, currency), currency)
  if money.compare(price.grandTotal, price.total) < 0 or most and money.compare(price.grandTotal, most) > 0 then
    return ("the grand total is %s, of the parts %s"):format(price.grandTotal, most)
  end
  return nil
end

local function price_of(offer, query)
  local price = offer.price or {}
  local currency = price.currency
  local is_told = is_currency(currency) and price.total and price.base
    and money.parse(price.total, currency) and money.parse(price.base, currency)
  return {
    total = price.grandTotal,
    currency = price.currency,
    base = price.base,
    taxes = is_told and money.sub(price.total, price.base, price.currency) or nil,
    taxes_included = "yes",
    per_traveller = map(offer.travelerPricings or {}, function(traveller)
      return {
        type = kind_of(traveller, query),
        total = get(traveller, "price", "total"),
        currency = get(traveller, "price", "currency"),
      }
    end),
  }
end

-- Why an offer cannot be sold as what was asked for, by the path of the field that says so; nil when it can. `read` is
-- what is made of it.
local function refusal(path, offer, read, query, options)
  if offer.type ~= "flight-offer" then
    return ("%s.type: %s is no flight-offer"):format(path, offer.type or "nothing")
  end
  local people = #(offer.travelerPricings or {})
  if offer.oneWay and #query.slices > 1 then
    return ("%s.oneWay: a part of the trip"):format(path)
  end
  if people ~= #query.travellers then
    return ("%s.travelerPricings: for %d travellers, %d were asked for"):format(path, people, #query.travellers)
  end
  local why = journeys.refusal(path .. ".itineraries", read.slices, query, options.any_day)
  if why then
    return why
  end
  why = contradiction(offer)
  return why and ("%s.price: %s"):format(path, why)
end

local function offer_of(offer, query, carriers, bytes)
  local fares = fares_by_segment(offer)
  local options = offer.pricingOptions or {}
  local seller = get(offer, "validatingAirlineCodes", 1)
  return {
    id = offer.id,
    seller = { id = seller, name = carriers[seller or ""] },
    price = price_of(offer, query),
    slices = slices_of(offer, fares),
    brand = brand_of(offer, fares),
    bags = bags_of(offer, fares),
    refundable = (options.refundableFare or options.noRestrictionFare) and true or nil, -- false: it was not asked for
    changeable = options.noRestrictionFare and true or nil,
    seats_left = offer.numberOfBookableSeats,
    ref = bytes,
  }
end

-- ---- the answer -----------------------------------------------------------------------------------------------------

local function normalise(response, search, ctx)
  local body, issue = document_of(response, SEARCHED)
  if issue then
    return issue.code == NOTHING_FOUND and response.status == 404 and "empty" or failure(issue, response)
  end
  local refused = unexplained_refusal(response)
  if refused then
    return refused
  end
  if response.status >= 300 then
    return {} -- untyped: the engine goes by the status
  end
  if not body.data then
    return fail.unexpected("data")
  end
  local count = get(body, "meta", "count")
  if #body.data == 0 and count and count > 0 then
    return fail.unexpected(("data: empty, though meta.count is %d"):format(count))
  end
  local carriers = get(body, "dictionaries", "carriers") or {}
  local bytes = response:json(BYTES).data
  local warnings = map(body.warnings or {}, function(warning)
    return (warning.code or "unknown") .. " " .. words(warning)
  end)
  local offers = map(body.data, function(offer, index)
    local read = offer_of(offer, search.query, carriers, bytes[index])
    local why = refusal(("data[%d]"):format(index), offer, read, search.query, ctx.options)
    return why and fail.unexpected(why) or read
  end)
  return offers, { warnings = warnings }
end

-- ---- revalidation ---------------------------------------------------------------------------------------------------

-- The offer goes back byte by byte, within an envelope of ours.
local function ask_again(offer, ctx)
  return {
    method = "POST",
    path = "/v1/shopping/flight-offers/pricing",
    headers = headers(ctx),
    body = "{\"data\":{\"type\":\"flight-offers-pricing\",\"flightOffers\":[" .. offer.ref .. "]}}",
  }
end

local INVALID_DATE = "425"
local INVALID_DATA = "4926"
local SOLD = { [NOTHING_FOUND] = true, ["34651"] = true } -- not found any more; a segment could not be sold

-- What Amadeus says of an offer that cannot be had any more.
local function gone(issue)
  local detail = (issue.detail or ""):lower()
  if SOLD[issue.code] or issue.code == INVALID_DATA and detail:find("no fare applicable", 1, true) then
    return "sold_out"
  end
  return issue.code == INVALID_DATE and "expired" or nil -- its day is over
end

-- What makes an offer the same one: flights, times, and the fares of each traveller. What is sold with them is compared
-- apart from it, since an answer need not tell all of that.
local function fingerprint(offer)
  local parts = {}
  local function add(...)
    for index = 1, select("#", ...) do
      parts[#parts + 1] = tostring((select(index, ...)))
    end
  end
  for _, itinerary in ipairs(offer.itineraries or {}) do
    for _, segment in ipairs(itinerary.segments or {}) do
      add(segment.carrierCode, segment.number, get(segment, "departure", "iataCode"), get(segment, "departure", "at"),
        get(segment, "arrival", "iataCode"), get(segment, "arrival", "at"))
    end
    add("/")
  end
  for _, traveller in ipairs(offer.travelerPricings or {}) do
    for _, fare in ipairs(traveller.fareDetailsBySegment or {}) do
      add(fare.cabin, fare.class, fare.fareBasis)
    end
    add("/")
  end
  return table.concat(parts, " ")
end

local function read_again(response, offer, ctx)
  local body, issue = document_of(response, PRICED)
  if issue then
    local status = gone(issue)
    return status and { status = status } or failure(issue, response)
  end
  local refused = unexplained_refusal(response)
  if refused then
    return refused
  end
  local now = get(body, "data", "flightOffers", 1)
  if not money.parse(get(now, "price", "grandTotal") or "", get(now, "price", "currency") or "") then
    return fail.unexpected("data.flightOffers[1].price")
  end
  local bytes = get(response:json(PRICED_BYTES), "data", "flightOffers", 1)
  local read = offer_of(now, offer.query, get(body, "dictionaries", "carriers") or {}, bytes)
  local why = refusal("data.flightOffers[1]", now, read, offer.query, ctx.options)
  if why then
    return fail.unexpected(why)
  end
  local total = { total = now.price.grandTotal, currency = now.price.currency }
  local kept = json.decode(offer.ref) or {}
  local before = journeys.terms(offer_of(kept, offer.query, {}, offer.ref))
  if fingerprint(now) ~= fingerprint(kept) or journeys.have_changed(before, journeys.terms(read)) then
    return { status = "changed", now = total, offer = read }
  end
  local was = offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
  local is_same = total.currency == was.currency and money.compare(total.total, was.amount) == 0
  return { status = is_same and "confirmed" or "price_changed", now = total }
end

---@type Supplier
return {
  name = "amadeus",
  product = "flights",
  owner = "flight-integrations@example.com",
  docs = "https://developers.amadeus.com/self-service/category/flights/api-doc/flight-offers-search",
  hosts = { "api.amadeus.com" },
  secrets = { "AMADEUS_CLIENT_ID", "AMADEUS_CLIENT_SECRET" },
  options = {
    base_url = "https://api.amadeus.com",
    max_offers = OFFERS_MAX, -- of one answer, the cheapest first; up to 250
    any_day = false, -- true: flights of other days are kept, for systems that answer with what was recorded once
  },
  limits = { rps = 40, body = "8MiB" },

  skip = function(search)
    local last_day = search.lead_days + (search.nights or 0)
    return last_day > LAST_DAY and "flights more than a year ahead are not sold" or nil
  end,

  -- Low-fare searches of this kind took two to six seconds, longer with many journeys. These are public fares that
  -- others have as well: once there is a choice, half of that.
  ceiling = function(search, progress)
    if search.trip_type == "multi_city" then
      return 8000
    end
    return progress.offers >= 100 and 3000 or 6000
  end,

  login = login,
  build_request = build_request,
  normalise = normalise,
  revalidate = { build_request = ask_again, read = read_again },
}
