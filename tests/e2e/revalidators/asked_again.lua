-- Revalidates by a second search of the farm; what it then says is an option of its account.

local farm = require("farm")

-- What is left in an offer for the day when it is asked for again; a long one is too large for a token.
local function reference(offer)
  return #offer.brand % 2 == 0 and offer.id or offer.id .. (" "):rep(3000)
end

-- The price of the offer now, of an answer of the farm.
local function price_of(response, id)
  local body = response:json {
    currency = text,
    offers = { { id = text, price = { total = decimal, scale = integer } } },
  }
  local found = first(body.offers or {}, function(offer)
    return offer.id == id
  end)
  assert(found, "the farm sells " .. id .. " no more")
  return money.scaled(found.price.total, found.price.scale, body.currency), body.currency
end

local function told(says, offer, total, currency, ctx)
  local handoff = { url = "https://book.example/" .. offer.id .. "/now" }
  if says == "confirmed" then
    assert(offer.ref:gsub(" +$", "") == offer.id, "the reference is another one")
    return { status = "confirmed", now = { total = total, currency = currency }, handoff = handoff }
  elseif says == "plain" or says == "counted" then
    return { status = "confirmed" } -- the hand-off is the one that the search left
  elseif says == "dearer" then
    local dearer = money.sum({ total, money.parse("1.00", currency) }, currency)
    return { status = "confirmed", now = { total = dearer, currency = currency }, handoff = handoff }
  elseif says == "short" then
    return { status = "confirmed", expires_at = time.iso(ctx.now.s + 60), handoff = handoff }
  elseif says == "over" then
    return { status = "confirmed", expires_at = "2020-01-01T00:00:00Z", handoff = handoff }
  elseif says == "over_elsewhere" then
    return { status = "confirmed", expires_at = "2020-01-01T02:00:00+02:00", handoff = handoff }
  elseif says == "whenever" then
    return { status = "confirmed", expires_at = "tomorrow", handoff = handoff }
  elseif says == "busy" then
    return fail.busy("not now")
  elseif says == "quota" then
    return fail.quota { retry_after = 37 }
  elseif says == "denied" then
    return fail.auth("who are you?")
  elseif says == "bug" then
    error("a bug")
  end
  return { status = says }
end

-- Another offer of the farm, whole.
local function other_offer(response, id)
  local body = response:json()
  local other = first(body.offers, function(offer)
    return offer.id ~= id
  end)
  return {
    id = other.id,
    price = {
      total = money.scaled(other.price.total, other.price.scale, body.currency),
      currency = body.currency,
      taxes_included = "yes",
    },
    slices = map(other.slices, function(slice)
      return {
        duration_min = slice.minutes,
        segments = map(slice.segments, function(segment)
          return {
            carrier = segment.carrier,
            number = segment.number,
            origin = segment.from,
            destination = segment.to,
            departs = { ["local"] = segment.departs },
            arrives = { ["local"] = segment.arrives },
            duration_min = segment.minutes,
            cabin = other.cabin,
          }
        end),
      }
    end),
    handoff = { url = "https://book.example/" .. other.id },
  }
end

local function ask_again(offer, ctx)
  local search = { query = offer.query, currency = offer.price.currency }
  return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
end

---@type Supplier
return {
  name = "asked_again",
  product = "flights",
  owner = "tests@example.com",
  hosts = {},
  options = { base_url = "http://s01.farm.test:8080", says = "confirmed" },

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end,

  normalise = plan {
    each = "offers[]",
    offer = {
      id = "id",
      price = { total = money(up(1).currency, "price.total", "price.scale"), taxes_included = const "yes" },
      slices = {
        each = "slices[]",
        duration_min = "minutes",
        segments = {
          each = "segments[]",
          carrier = "carrier",
          number = "number",
          origin = "from",
          destination = "to",
          departs = { ["local"] = "departs" },
          arrives = { ["local"] = "arrives" },
          duration_min = "minutes",
          cabin = up(2).cabin,
        },
      },
      brand = "brand",
      ref = reference,
      handoff = {
        url = function(offer)
          return "https://book.example/" .. offer.id
        end,
      },
    },
    when = farm.refusals("offers"),
  },

  revalidate = {
    build_request = function(offer, ctx)
      local request = ask_again(offer, ctx)
      return ctx.options.says == "parted" and { request, request, request } or request
    end,
    read = function(response, offer, ctx)
      local total, currency = price_of(response, offer.id)
      local seen = (ctx.state and ctx.state.seen or 0) + 1
      if ctx.part < ctx.parts then
        return { next = { state = { seen = seen } } }
      elseif ctx.options.says == "polled" and ctx.step < 3 then
        return { next = { request = ask_again(offer, ctx), after_ms = 20, state = { seen = seen } } }
      elseif ctx.options.says == "polled" or ctx.options.says == "parted" then
        assert(seen == 3, "something was forgotten on the way")
        return { status = "confirmed" }
      end
      if ctx.options.says == "other" or ctx.options.says == "swapped" then
        local status = ctx.options.says == "other" and "changed" or "confirmed" -- whatever it is called
        return { status = status, offer = other_offer(response, offer.id) }
      end
      return told(ctx.options.says, offer, total, currency, ctx)
    end,
  },
}
