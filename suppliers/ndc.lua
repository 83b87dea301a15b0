-- NDC: airlines by IATA's New Distribution Capability, AirShopping and OfferPrice in XML. An answer has its lists first
-- and names their elements by id; an offer is a set of priced items, each for some travellers and some of their
-- journeys.
--
-- Follows IATA's schemas 2017.2, 2018.2, 2019.2 and 2021.3 (guides.developer.iata.org) as airlines and gateways publish
-- them. What a version calls differently stands in one table, scripts/ndc_dialects.lua; ndc_requests.lua beside it
-- writes, ndc_answers.lua reads, ndc_trips.lua finds whole trips.
--
-- To set, in an account for each airline (`uses: ndc` makes another supplier of this file):
--   NDC_KEY      secret: what the header `key_header` carries, all of it ("Basic dXNlcjpwYXNz", "k-123")
--   base_url     of the airline, with shop_path and price_path as its documents say
--   dialect      17.2, 18.2, 19.2 or 21.3
--   agency_id, agency_name, iata_number, airline: who asks, and whom; left out where empty
--   codes        what this airline's errors mean, over those of CODES: "NDC_248=empty WS_1111=busy"
--   trips_max    for an airline that prices each journey by itself: how many whole trips are made of its offers, the
--                cheapest ones, each the sum of offers that stand alone. With 0 none, for half a trip is no answer.
--   any_day      true for a sandbox that answers with what was recorded once: flights of other days are kept
--
-- Left out, since an offer has no place for it: services for sale, seat maps, fare bases, penalties in money,
-- commissions, payment terms but for their time limit. Services within an item count as bags only where they name an
-- allowance. Limits of time without a zone are no instants. `taxes` is what an answer tells, else the total without
-- the base: taxes, fees and surcharges. Not passed on: loyalty and fare codes of a search (NDC wants a traveller or a
-- programme with them), bags, and with 17.2 and 21.3 what `max_stops` says, by which offers are left out instead; with
-- 17.2 the currency. SOAP envelopes are neither written nor read.
--
-- Not checked against any live service: an answer of 19.2 that a sandbox gave is read; the rest follows schemas.

local answers = require("ndc_answers")
local dialects = require("ndc_dialects")
local requests = require("ndc_requests")
local trips = require("ndc_trips")
local journeys = require("journeys")

local HANDOFF_MAX = 500

-- What codes of errors mean: PADIS 9321 as airlines use it, Hahn Air, Navitaire, IBS, ATPCO.
local CODES = {
  ["404"] = "empty", ["496"] = "empty", NDC_248 = "empty", WS_321 = "empty",
  ["401"] = "auth", ["1003"] = "auth", ["2003"] = "auth", E08 = "auth", E09 = "auth", E10 = "auth",
  AU0001 = "auth", AU0002 = "auth", AU0003 = "auth", AU0004 = "auth",
  E06 = "quota",
  ["911"] = "busy", E07 = "busy", E30 = "busy", E31 = "busy", WS_1111 = "busy",
  ["913"] = "expired", ["2009"] = "expired", OF0001 = "expired", OF0002 = "expired",
  ["493"] = "sold_out", OF0004 = "sold_out",
  E26 = "retry", OF0003 = "retry",
}

local function dialect_of(ctx)
  return dialects.of(tostring(ctx.options.dialect)) or error("options.dialect: 17.2, 18.2, 19.2 or 21.3 expected")
end

local function message(ctx, path, root)
  return {
    method = "POST",
    path = path,
    headers = {
      [ctx.options.key_header:lower()] = ctx.secret.NDC_KEY,
      ["content-type"] = "application/xml; charset=utf-8",
      ["accept"] = "application/xml",
    },
    body = xml.build(root),
  }
end

local function build_request(search, ctx)
  return message(ctx, ctx.options.shop_path, requests.shop(search, ctx, dialect_of(ctx)))
end

-- ---- errors --------------------------------------------------------------------------------------------------------

-- What a code means to this airline; IBS writes "NDC_248#No valid offers found." where others have a code.
local function meaning_of(code, ctx)
  for name, meaning in tostring(ctx.options.codes):gmatch("(%S+)=(%S+)") do
    if name == code then
      return meaning
    end
  end
  return CODES[code]
end

local function first_error(answer)
  local told = get(answer.error, 1) or get(answer.error_listed, 1)
  if not told then
    return nil
  end
  local code, message_of = told.code, told.message
  if code and code:find("#", 1, true) then
    code, message_of = code:match("^(.-)#(.*)$")
  end
  return code or "unknown", message_of or "no message"
end

-- "empty", a failure, or for an offer that is asked for again "expired", "sold_out" and "retry".
local function refusal(answer, response, ctx, is_again)
  local code, told = first_error(answer)
  if not code then
    return nil
  end
  local meaning = meaning_of(code, ctx)
  local words = code .. ": " .. told
  if meaning == "auth" then
    return fail.auth(words)
  elseif meaning == "quota" then
    return fail.quota({ message = words, retry_after = response.headers["retry-after"] })
  elseif meaning == "busy" then
    return fail.busy(words)
  elseif meaning == "empty" and not is_again then
    return "empty"
  elseif is_again and (meaning == "expired" or meaning == "sold_out" or meaning == "retry") then
    return meaning
  end
  return fail.supplier({ code = code, message = told })
end

-- What a status says by itself, whatever the body.
local function refused_by_status(response)
  if response.status == 401 or response.status == 403 then
    return fail.auth("status " .. response.status)
  elseif response.status == 429 then
    return fail.quota({ retry_after = response.headers["retry-after"] })
  elseif response.status == 503 then
    return fail.busy("status 503")
  end
  return nil
end

-- ---- offers --------------------------------------------------------------------------------------------------------

-- No offers: nothing for sale, if the answer says so.
local function nothing(answer, ctx)
  local is_told = first(answer.warning or {}, function(warning)
    return meaning_of(warning.code, ctx) == "empty"
  end)
  if is_told then
    return "empty"
  end
  if not answer.offers then
    return fail.unexpected("OffersGroup")
  end
  return answers.index(answer).has_flights and fail.unexpected("OffersGroup: flights without an offer") or "empty"
end

local function normalise(response, search, ctx)
  local refused = refused_by_status(response)
  if refused then
    return refused
  end
  local answer, root = answers.read(response, dialect_of(ctx), "shop")
  if not answer then
    return fail.unexpected(root)
  end
  local has_offers = answer.offers and #answer.offers > 0 and response.status < 300
  refused = not has_offers and refusal(answer, response, ctx)
  if refused then
    return refused
  end
  if response.status >= 300 then
    return {} -- untyped: the engine goes by the status
  end
  if not has_offers then
    return nothing(answer, ctx)
  end
  return trips.offers(answer, search, ctx.options)
end

-- ---- revalidation --------------------------------------------------------------------------------------------------

local function ask_again(offer, ctx)
  return message(ctx, ctx.options.price_path, requests.price(json.decode(offer.ref), ctx, dialect_of(ctx)))
end

-- What an order is made with: the priced offers, and the answer that has them.
local function handoff_of(now)
  local ref = json.decode(now.ref)
  local text_of = json.encode({ response = ref.response, offers = ref.offers })
  return #text_of <= HANDOFF_MAX and { ref = text_of } or nil
end

local function is_price(price)
  return price.total and money.parse(price.total, price.currency or "") and money.compare(price.total, "0") > 0
end

-- The priced offer, or nil and what is wrong with it. A price answer need not tell flights; but where it tells some,
-- those that it names have to be among them.
local function priced(answer, ref, query, ctx)
  local now, count, has_flights = trips.priced(answer, ref, query, ctx.options.any_day)
  if not now or not is_price(now.price) or count > 0 and count < #query.slices then
    return nil, "no price of everybody for the whole trip"
  elseif count > 0 and has_flights and json.decode(now.ref).flights == "" then
    return nil, "flights that are not told"
  end
  return now
end

local function compared(now, offer, ref, ctx)
  local was = offer.price.supplier_price or { amount = offer.price.total, currency = offer.price.currency }
  local again = json.decode(now.ref)
  local flights = again.flights
  if now.expires_at and time.epoch(now.expires_at) <= ctx.now.s then
    return { status = "expired" }
  end
  local result = { expires_at = now.expires_at, handoff = handoff_of(now) }
  local are_others = flights ~= "" and flights ~= ref.flights -- a price answer need not tell them
  if are_others or journeys.have_changed(ref.terms or {}, again.terms) then
    if #now.slices == 0 then
      return fail.unexpected("PricedOffer: other terms, and flights that are not told")
    end
    result.status, result.offer = "changed", now
    return result
  end
  local is_same = now.price.currency == was.currency and money.compare(now.price.total, was.amount) == 0
  result.status = is_same and "confirmed" or "price_changed"
  result.now = { total = now.price.total, currency = now.price.currency }
  return result
end

local function read_again(response, offer, ctx)
  local refused = refused_by_status(response)
  if refused then
    return refused
  end
  local answer, root = answers.read(response, dialect_of(ctx), "price")
  if not answer then
    return fail.unexpected(root)
  end
  refused = refusal(answer, response, ctx, true)
  if refused then
    return type(refused) == "string" and { status = refused } or refused
  end
  if response.status >= 300 then
    return fail.supplier({ code = tostring(response.status), message = "no error was told" })
  end
  local ref = json.decode(offer.ref)
  if not answer.offers or #answer.offers == 0 then
    return fail.unexpected("PricedOffer")
  end
  local now, why = priced(answer, ref, offer.query, ctx)
  if not now then
    return fail.unexpected("PricedOffer: " .. why)
  end
  return compared(now, offer, ref, ctx)
end

---@type Supplier
return {
  name = "ndc",
  product = "flights",
  owner = "flight-integrations@example.com",
  docs = "https://guides.developer.iata.org",
  hosts = {}, -- the airline's own, of `base_url`
  secrets = { "NDC_KEY" },
  options = {
    base_url = "https://ndc.airline.example",
    shop_path = "/AirShopping",
    price_path = "/OfferPrice",
    key_header = "x-api-key",
    dialect = "19.2",
    agency_id = "",
    agency_name = "",
    iata_number = "",
    airline = "",
    codes = "",
    trips_max = 400,
    any_day = false, -- true: flights of other days are kept, for systems that answer with what was recorded once
  },
  limits = { body = "8MiB" },

  -- An airline's own fares are seldom found elsewhere, and it takes its time to make them: worth nearly all of it,
  -- until there is so much that one airline rarely changes what is cheapest.
  ceiling = function(_, progress)
    return progress.offers >= 300 and 5000 or 8000
  end,

  build_request = build_request,
  normalise = normalise,
  revalidate = { build_request = ask_again, read = read_again },
}
