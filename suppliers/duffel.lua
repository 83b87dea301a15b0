-- Duffel: one search asks many airlines; offers come complete, with prices as text and local times.

-- What Duffel takes, and what we keep for the way back.
local SUPPLIER_TIMEOUT_MIN_MS = 2000
local SUPPLIER_TIMEOUT_MAX_MS = 60000
local WAY_BACK_MS = 150

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

local function build_request(search, ctx)
  local timeout = ctx.remaining_ms - WAY_BACK_MS
  timeout = math.max(SUPPLIER_TIMEOUT_MIN_MS, math.min(SUPPLIER_TIMEOUT_MAX_MS, math.floor(timeout)))
  return {
    method = "POST",
    path = "/air/offer_requests",
    query = { return_offers = true, supplier_timeout = timeout },
    headers = {
      ["authorization"] = "Bearer " .. ctx.secret.DUFFEL_TOKEN,
      ["duffel-version"] = "v2",
      ["accept"] = "application/json",
    },
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

-- ---- errors --------------------------------------------------------------------------------------------------------

-- The reset time is a date; without a clock that agrees there is no telling how long it is.
local function seconds_until(date, now)
  local at = type(date) == "string" and time.http(date)
  return at and at > now and at - now or nil
end

-- Duffel's `type` decides; its status does not (a rate limit says 400 in its body).
local function failure(errors, response, ctx)
  local kind = get(errors, 1, "type")
  local message = tostring(get(errors, 1, "message") or get(errors, 1, "title") or "no message")
  if kind == "authentication_error" then
    return fail.auth(message)
  end
  if kind == "rate_limit_error" then
    local wait = seconds_until(response.headers["ratelimit-reset"], ctx.now.s)
    return fail.quota({ retry_after = wait, message = message })
  end
  if kind == "api_error" and response.status >= 500 then
    return fail.busy(message)
  end
  return fail.supplier({ code = tostring(get(errors, 1, "code") or kind), message = message })
end

-- ---- offers --------------------------------------------------------------------------------------------------------

-- What every traveller may take on every flight; nil when Duffel says nothing.
local function bags(offer)
  local least, is_told = { cabin = 99, checked = 99 }, false
  for _, slice in ipairs(offer.slices or {}) do
    for _, segment in ipairs(slice.segments or {}) do
      for _, traveller in ipairs(segment.passengers or {}) do
        if traveller.baggages then
          local cabin, checked = 0, 0
          for _, baggage in ipairs(traveller.baggages) do
            local quantity = baggage.quantity or 1
            if baggage.type == "carry_on" then
              cabin = cabin + quantity
            elseif baggage.type == "checked" then
              checked = checked + quantity
            end
          end
          is_told = true
          least.cabin, least.checked = math.min(least.cabin, cabin), math.min(least.checked, checked)
        end
      end
    end
  end
  return is_told and least or nil
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

local function offer_of(offer)
  if type(offer) ~= "table" then
    return offer -- no offer: it is dropped and reported like any bad one
  end
  return {
    id = offer.id,
    seller = { id = get(offer, "owner", "iata_code"), name = get(offer, "owner", "name") },
    price = {
      total = offer.total_amount,
      currency = offer.total_currency,
      base = part_of_total(offer, offer.base_amount, offer.base_currency),
      taxes = part_of_total(offer, offer.tax_amount, offer.tax_currency),
      taxes_included = "yes",
    },
    expires_at = offer.expires_at,
    slices = map(offer.slices or {}, slice_of),
    brand = get(offer, "slices", 1, "fare_brand_name"),
    bags = bags(offer),
    refundable = get(offer, "conditions", "refund_before_departure", "allowed"),
    changeable = get(offer, "conditions", "change_before_departure", "allowed"),
    ref = offer.id,
  }
end

local function normalise(response, _, ctx)
  local body = response:json()
  if type(body) ~= "table" then
    return fail.unexpected("body")
  end
  if body.errors then
    return failure(body.errors, response, ctx)
  end
  local offers = get(body, "data", "offers")
  if type(offers) ~= "table" then
    return fail.unexpected("data.offers")
  end
  return map(offers, offer_of)
end

---@type Supplier
return {
  name = "duffel",
  product = "flights",
  owner = "flight-integrations@example.com",
  docs = "https://duffel.com/docs/api/v2/offer-requests",
  hosts = { "api.duffel.com" },
  secrets = { "DUFFEL_TOKEN" },
  options = { base_url = "https://api.duffel.com" },
  limits = { body = "8MiB" },

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
}
