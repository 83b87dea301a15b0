-- Duffel: one search asks many airlines; offers come complete, with prices as text and local times.
--
-- Documents: Duffel's API reference, version v2 (offer requests, offers, pagination, response handling), and the test
-- data of its client libraries.
-- To set:    DUFFEL_TOKEN, an access token, in the environment. base_url for another address; page_size where answers
--            are larger than `limits.body` or wanted cheapest first.
-- Not checked against the live service: a real account's quota headers, the codes of offers that are gone (from the
-- documents and from public tests only), and how long airlines really take.
--
-- Read by Lua over a declared shape, not by a plan: partial offers are left out, and bags are counted over four lists.
--
-- Left out, since an offer has no place for it: penalties of a change or a refund, stops without a change of flight,
-- terminals, aircraft, emissions, payment terms, services for sale. Duffel tells no price of a single traveller and no
-- seats left. Loyalty and fare codes of a search are not passed on: Duffel wants names and airlines with them. Nor are
-- days around a date and wishes for bags, which it does not know.

local journeys = require("journeys")

-- What Duffel takes, and what we keep for the way back.
local SUPPLIER_TIMEOUT_MIN_MS = 2000
local SUPPLIER_TIMEOUT_MAX_MS = 60000
local WAY_BACK_MS = 150
local PAGE_SIZE_MAX = 200

local OFFERS_MAX = 1000 -- of an answer, as the engine has it

-- What an offer may say of its fare, in bytes.
local BRAND_MAX = 100

-- What is read of an answer. Lists that are none, and amounts that are none, are nil and told.
local PLACE = { iata_code = text, time_zone = text }
local ALLOWED = { allowed = flag }
local SEGMENT = {
  marketing_carrier = { iata_code = text },
  operating_carrier = { iata_code = text },
  marketing_carrier_flight_number = text,
  origin = PLACE,
  destination = PLACE,
  departing_at = text,
  arriving_at = text,
  duration = text,
  passengers = { { passenger_id = text, cabin_class = text, baggages = { { type = text, quantity = integer } } } },
}
local OFFER = {
  id = text,
  partial = flag,
  total_amount = decimal,
  total_currency = text,
  base_amount = decimal,
  base_currency = text,
  tax_amount = decimal,
  tax_currency = text,
  expires_at = text,
  owner = { iata_code = text, name = text },
  passengers = { { id = text, type = text } },
  conditions = { refund_before_departure = ALLOWED, change_before_departure = ALLOWED },
  slices = { { duration = text, fare_brand_name = text, segments = { SEGMENT } } },
}
local FOUND = { data = { id = text, offers = { OFFER } } }
local PAGE = { data = { OFFER }, meta = { after = text } }
local AGAIN = { data = OFFER }
local REFUSED = { errors = { { type = text, code = text, title = text, message = text } } }

local CABIN_TO_DUFFEL = { economy = "economy", premium = "premium_economy", business = "business", first = "first" }
local CABIN_FROM_DUFFEL = { economy = "economy", premium_economy = "premium", business = "business", first = "first" }

local function passenger(traveller)
  if traveller.type == "adult" then
    return { type = "adult" }
  end
  if traveller.type == "infant_lap" then
    return { type = "infant_without_seat" }
  end
  if traveller.age then
    return { age = traveller.age }
  end
  return { type = "child" }
end

local function headers(ctx)
  return {
    ["authorization"] = "Bearer " .. ctx.secret.DUFFEL_TOKEN,
    ["duffel-version"] = "v2",
    ["accept"] = "application/json",
  }
end

-- 0: all offers come in the answer to the search.
local function page_size(ctx)
  return math.max(0, math.min(PAGE_SIZE_MAX, math.floor(ctx.options.page_size)))
end

local function build_request(search, ctx)
  local timeout = ctx.remaining_ms - WAY_BACK_MS
  timeout = math.max(SUPPLIER_TIMEOUT_MIN_MS, math.min(SUPPLIER_TIMEOUT_MAX_MS, math.floor(timeout)))
  return {
    method = "POST",
    path = "/air/offer_requests",
    query = { return_offers = page_size(ctx) == 0, supplier_timeout = timeout },
    headers = headers(ctx),
    json = {
      data = {
        slices = map(search.query.slices, function(slice)
          return { origin = slice.origin, destination = slice.destination, departure_date = slice.date }
        end),
        passengers = map(search.query.travellers, passenger),
        cabin_class = CABIN_TO_DUFFEL[search.query.cabin],
        max_connections = search.query.max_stops,
      },
    },
  }
end

-- The cheapest come first, so that a search which is cut has them.
local function page_request(ctx, request_id, after)
  return {
    method = "GET",
    path = "/air/offers",
    query = { offer_request_id = request_id, limit = page_size(ctx), sort = "total_amount", after = after },
    headers = headers(ctx),
  }
end

-- ---- errors --------------------------------------------------------------------------------------------------------

-- The seconds of an HTTP date, or nil.
local function seconds_of(date)
  return type(date) == "string" and time.http(date) or nil
end

-- How long a quota is used up. Duffel says until when, by its own clock, which `date` tells; ours may differ.
local function retry_after(response, ctx)
  local reset = seconds_of(response.headers["ratelimit-reset"])
  local now = seconds_of(response.headers["date"]) or ctx.now.s
  return reset and reset > now and reset - now or nil
end

-- Duffel's `type` decides; its status does not (a rate limit says 400 in its body).
local function failure(errors, response, ctx)
  local kind = get(errors, 1, "type")
  local code = tostring(get(errors, 1, "code") or kind or "unknown")
  local message = tostring(get(errors, 1, "message") or get(errors, 1, "title") or "no message")
  if kind == "authentication_error" then
    return fail.auth(message)
  end
  if kind == "rate_limit_error" then
    return fail.quota({ retry_after = retry_after(response, ctx), message = message })
  end
  if kind == "api_error" and response.status >= 500 then
    return fail.busy(code .. ": " .. message) -- Duffel itself is in trouble, not one of its airlines
  end
  return fail.supplier({ code = code, message = message })
end

-- ---- offers --------------------------------------------------------------------------------------------------------

local function is_lap_infant(offer, passenger_id)
  local told = first(offer.passengers or {}, function(traveller)
    return traveller.id == passenger_id
  end)
  return get(told, "type") == "infant_without_seat"
end

local function count_bags(baggages)
  local count = { carry_on = 0, checked = 0 }
  for _, baggage in ipairs(baggages) do
    if count[baggage.type] then
      count[baggage.type] = count[baggage.type] + (baggage.quantity or 1)
    end
  end
  return count
end

-- What every traveller with a seat may take on every flight; nil when Duffel says nothing.
local function bags(offer)
  local least = nil
  for _, slice in ipairs(offer.slices or {}) do
    for _, segment in ipairs(slice.segments or {}) do
      for _, traveller in ipairs(segment.passengers or {}) do
        if traveller.baggages and not is_lap_infant(offer, traveller.passenger_id) then
          local count = count_bags(traveller.baggages)
          least = least or { cabin = count.carry_on, checked = count.checked }
          least.cabin = math.min(least.cabin, count.carry_on)
          least.checked = math.min(least.checked, count.checked)
        end
      end
    end
  end
  return least
end

-- The fare's name; of slices with several, each once, in order.
local function brand(offer)
  local names, seen = {}, {}
  for _, slice in ipairs(offer.slices or {}) do
    local name = slice.fare_brand_name
    if name and not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  local joined = table.concat(names, " / ")
  return #names > 0 and #joined <= BRAND_MAX and joined or names[1]
end

local function stop(place, at)
  return { ["local"] = at, zone = get(place, "time_zone") }
end

local function segment_of(segment)
  return {
    carrier = get(segment, "marketing_carrier", "iata_code"),
    operating = get(segment, "operating_carrier", "iata_code"),
    number = segment.marketing_carrier_flight_number,
    origin = get(segment, "origin", "iata_code"),
    destination = get(segment, "destination", "iata_code"),
    departs = stop(segment.origin, segment.departing_at),
    arrives = stop(segment.destination, segment.arriving_at),
    duration_min = time.minutes(segment.duration),
    cabin = CABIN_FROM_DUFFEL[get(segment, "passengers", 1, "cabin_class") or ""],
  }
end

local function slice_of(slice)
  return { duration_min = time.minutes(slice.duration), segments = map(slice.segments or {}, segment_of) }
end

-- Base and tax are told in the currency of the total; anything else is left out.
local function part_of_total(offer, amount, currency)
  return currency == offer.total_currency and amount or nil
end

-- A total that is less than its base contradicts it: nobody knows what it has in it. (More may differ: an example of
-- Duffel's own documents has a total that is less than base and taxes together.)
local function price_of(offer)
  local currency = offer.total_currency
  local base = part_of_total(offer, offer.base_amount, offer.base_currency)
  local are_told = money.parse(offer.total_amount or "", currency or "") and money.parse(base or "", currency)
  return {
    total = offer.total_amount,
    currency = currency,
    base = base,
    taxes = part_of_total(offer, offer.tax_amount, offer.tax_currency),
    taxes_included = are_told and money.compare(offer.total_amount, base) < 0 and "unknown" or "yes",
  }
end

-- What is kept for the way back: the id, what is sold under it, and which flights.
local function ref_of(offer)
  local flights = map(offer.slices, function(slice)
    return journeys.mark(slice) or ""
  end)
  local kept = { id = offer.id, terms = journeys.terms(offer), flights = table.concat(flights, " ") }
  return offer.id and json.encode(kept)
end

-- And back. A bare id is what older versions left.
local function read_ref(ref)
  local kept = json.decode(ref)
  return type(kept) == "table" and kept or { id = ref }
end

local function offer_of(offer)
  local read = {
    id = offer.id,
    seller = { id = get(offer, "owner", "iata_code"), name = get(offer, "owner", "name") },
    price = price_of(offer),
    expires_at = offer.expires_at,
    slices = map(offer.slices or {}, slice_of),
    brand = brand(offer),
    bags = bags(offer),
    refundable = get(offer, "conditions", "refund_before_departure", "allowed"),
    changeable = get(offer, "conditions", "change_before_departure", "allowed"),
    handoff = { ref = offer.id }, -- what an order names
  }
  read.ref = ref_of(read)
  return read
end

-- As numbers they are only compared.
local function is_cheaper(one, other)
  return (tonumber(one.price.total) or math.huge) < (tonumber(other.price.total) or math.huge)
end

-- Why an offer is not for what was asked, by the path of the field that says so; nil when it is. Lists that are not
-- told say nothing: an offer without slices is dropped anyway.
local function refusal(path, told, offer, query, options)
  local people = told.passengers
  if people and #people ~= #query.travellers then
    return ("%s.passengers: %d, asked for %d"):format(path, #people, #query.travellers)
  end
  return told.slices and journeys.refusal(path .. ".slices", offer.slices, query, options.any_day)
end

-- Offers that can be sold, and what else there is to say. Partial ones are a slice each, to be combined by hand. Of
-- more than an answer may give, the cheapest stay, and those that were not asked for come last.
local function offers_of(list, path, query, ctx)
  local whole, refused, partial, details = {}, {}, 0, { warnings = {} }
  for i, told in ipairs(list) do
    local offer = offer_of(told)
    local why = refusal(("%s[%d]"):format(path, i), told, offer, query, ctx.options)
    if told.partial then
      partial = partial + 1
    elseif why then
      refused[#refused + 1] = fail.unexpected(why)
    else
      whole[#whole + 1] = offer
    end
  end
  if partial > 0 and partial == #list then
    return fail.unexpected(path .. ": nothing but partial offers")
  elseif partial > 0 then
    table.insert(details.warnings, partial .. " partial offers left out")
  end
  if #whole > OFFERS_MAX then
    table.insert(details.warnings, #whole - OFFERS_MAX .. " dear offers left out: see page_size")
    table.sort(whole, is_cheaper)
    details.complete = false
  end
  local offers = { unpack(whole, 1, math.min(#whole, OFFERS_MAX)) }
  for _, failure_of in ipairs(refused) do
    offers[#offers + 1] = failure_of
  end
  return offers, details
end

-- A page of offers; Duffel's cursor names the next.
local function read_page(body, ctx, query)
  local list = get(body, "data")
  if type(list) ~= "table" then
    return fail.unexpected("data")
  end
  local offers, details = offers_of(list, "data", query, ctx)
  local id, after = ctx.state.offer_request_id, get(body, "meta", "after")
  if details then
    details.complete = after == nil
    if after and after ~= ctx.state.after then -- the same cursor again would lead round and round
      details.next = { request = page_request(ctx, id, after), state = { offer_request_id = id, after = after } }
    end
  end
  return offers, details
end

local function read_found(body, ctx, query)
  local offers, id = get(body, "data", "offers"), get(body, "data", "id")
  if type(offers) == "table" then
    return offers_of(offers, "data.offers", query, ctx)
  end
  if page_size(ctx) > 0 and type(id) == "string" then
    return {}, { complete = false, next = { request = page_request(ctx, id), state = { offer_request_id = id } } }
  end
  return fail.unexpected("data.offers")
end

-- Every answer tells what is left of the account's requests; with nothing left the engine asks no more until the reset.
local function quota(response, ctx)
  local remaining = response.headers["ratelimit-remaining"]
  return type(remaining) == "string" and { remaining = remaining, reset_at = retry_after(response, ctx) } or nil
end

local function normalise(response, search, ctx)
  local is_page = ctx.step > 1
  local body = response.status < 300 and response:json(is_page and PAGE or FOUND)
  if not get(body, "data") then
    local errors = get(response:json(REFUSED), "errors")
    if errors then
      return failure(errors, response, ctx)
    elseif response.status >= 300 then
      return {} -- untyped: the engine goes by the status
    end
  end
  local read = is_page and read_page or read_found
  local offers, details = read(body, ctx, search.query)
  if details then
    details.quota = quota(response, ctx)
  end
  return offers, details
end

-- ---- revalidation --------------------------------------------------------------------------------------------------

-- What Duffel says of an offer that cannot be had any more. One that it does not know it has forgotten.
local GONE = {
  offer_expired = "expired",
  not_found = "expired",
  offer_no_longer_available = "sold_out",
  offer_request_already_booked = "sold_out",
}

local function ask_again(offer, ctx)
  return {
    method = "GET",
    path = "/air/offers/" .. url.encode(read_ref(offer.ref).id),
    query = { return_available_services = false },
    headers = headers(ctx),
  }
end

-- Why an answer is not about the offer that was asked for; nil when it is. What is not told says nothing.
local function not_the_same(now, read, kept, offer, ctx)
  if now.id ~= kept.id then
    return ("data.id: %s for %s"):format(now.id or "nothing", kept.id)
  elseif now.partial then
    return "data.partial: an offer of a part"
  elseif not money.parse(now.total_amount, now.total_currency) or money.compare(now.total_amount, "0") < 0 then
    return "data: no total_amount in a total_currency"
  end
  return refusal("data", now, read, offer.query, ctx.options)
end

local function read_again(response, offer, ctx)
  local errors = get(response:json(REFUSED), "errors")
  local gone = GONE[get(errors, 1, "code") or ""]
  if gone then
    return { status = gone }
  elseif errors then
    return failure(errors, response, ctx)
  elseif response.status >= 500 then
    return fail.busy("HTTP " .. response.status)
  elseif response.status >= 300 then
    return fail.supplier({ code = "HTTP " .. response.status, message = "no error was told" })
  end
  local now = get(response:json(AGAIN), "data") or {}
  local kept, read = read_ref(offer.ref), offer_of(now)
  local why = not_the_same(now, read, kept, offer, ctx)
  if why then
    return fail.unexpected(why)
  end
  local expires_at = time.utc(now.expires_at)
  if expires_at and time.epoch(expires_at) <= ctx.now.s then
    return { status = "expired" }
  end
  local again = read_ref(read.ref)
  local are_others = again.flights ~= "" and kept.flights ~= nil and kept.flights ~= again.flights
  if are_others or journeys.have_changed(kept.terms or {}, again.terms) then
    return { status = "changed", offer = read }
  end
  local was = offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
  local is_same = now.total_currency == was.currency and money.compare(now.total_amount, was.amount) == 0
  return {
    status = is_same and "confirmed" or "price_changed",
    now = { total = now.total_amount, currency = now.total_currency },
    expires_at = expires_at,
  }
end

---@type Supplier
return {
  name = "duffel",
  product = "flights",
  owner = "flight-integrations@example.com",
  docs = "https://duffel.com/docs/api/v2/offer-requests",
  hosts = { "api.duffel.com" },
  secrets = { "DUFFEL_TOKEN" },
  options = {
    base_url = "https://api.duffel.com",
    page_size = 0, -- of offers, up to 200: more than one answer can hold come in pages, the cheapest first
    any_day = false, -- true: flights of other days are kept, for systems that answer with what was recorded once
  },

  skip = function(search)
    for _, traveller in ipairs(search.query.travellers) do
      if traveller.type == "infant_seat" then
        return "infants with a seat of their own are not sold"
      end
    end
    return nil
  end,

  -- Duffel waits for airlines up to `supplier_timeout`; with many legs they need longer.
  ceiling = function(search)
    return search.trip_type == "multi_city" and 8000 or 6000
  end,

  build_request = build_request,
  normalise = normalise,
  revalidate = { build_request = ask_again, read = read_again },
}
