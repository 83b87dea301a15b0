-- Hotels of many sources: rooms with rates, prices by the occupancy of a room, up to 250 properties in a request, each
-- request signed by SHA-512 over key, secret and time. A property is 30007919: P0007919 of source h03.

local PART, TOTALS = 250, "occupancy_pricing{}.totals."
local ROOMS, CURRENCIES = asked "query.rooms", TOTALS .. "inclusive.request_currency.currency"
local INCLUSIVE, FEES = TOTALS .. "inclusive.request_currency.value", TOTALS .. "property_fees.request_currency.value"

local function any(values) -- of a map whose values all say the same
  return values and select(2, next(values)) or nil
end

local function occupancy(room)
  return room.adults .. (#room.child_ages > 0 and "-" .. table.concat(room.child_ages, ",") or "")
end

-- What all rooms cost together: equal ones are told once. A room without a fee has none, one without a price no total.
local function sum(rooms, currencies, prices)
  local amounts = map(rooms, function(room) return prices and prices[occupancy(room)] end)
  return any(currencies) and #amounts > 0 and money.sum(amounts, any(currencies)) or nil, #amounts == #rooms
end

local function total(rooms, currencies, inclusive, fees)
  local own, is_whole = sum(rooms, currencies, inclusive)
  return own and is_whole and money.add(own, sum(rooms, currencies, fees) or "0", any(currencies)) or nil
end

local function due_later(rooms, currencies, fees)
  return any(fees) and { { kind = "resort_fee", amount = (sum(rooms, currencies, fees)), currency = any(currencies) } }
end

local function hotel(column, convert)
  return { up(2).property_id, function(id)
    local source, number = (id or ""):match("^(%d+)(%d%d%d%d%d%d%d)$")
    local row = source and first(lookup("properties", ("h%02d"):format(tonumber(source)), "P" .. number) or {})
    return row and (convert or tostring)(row[column])
  end }
end

---@type Supplier
return {
  name = "farm_rates", product = "hotels", owner = "farm@example.com", docs = "examples/farm/README.md", hosts = {},
  secrets = { "FARM_RATES_KEY", "FARM_RATES_SECRET" }, options = { base_url = "http://r01.farm.test:8080", last = 5 },

  build_request = function(search, ctx)
    local query, ids, requests = search.query, {}, {}
    for source = 1, ctx.options.last do
      for _, row in ipairs(lookup("properties_in_city", ("h%02d"):format(source), query.place.city) or {}) do
        ids[#ids + 1] = source .. row.property:sub(2)
      end
    end
    for from = 1, #ids, PART do
      requests[#requests + 1] = { method = "GET", path = "/v3/properties/availability",
        query = { checkin = query.check_in, checkout = query.check_out, currency = search.currency, language = "en-GB",
          country_code = query.residency or "GB", occupancy = map(query.rooms, occupancy),
          property_id = { unpack(ids, from, math.min(from + PART - 1, #ids)) } } }
    end
    return requests
  end,

  sign = function(_, ctx)
    local key, now = ctx.secret.FARM_RATES_KEY, ctx.now.s
    local signature = crypto.hex(crypto.sha512(key .. ctx.secret.FARM_RATES_SECRET .. now))
    return { authorization = ("EAN APIKey=%s,Signature=%s,timestamp=%d"):format(key, signature, now) }
  end,

  normalise = plan {
    each = "[].rooms[].rates[]",
    offer = {
      id = "id", supplier_hotel_id = up(2).property_id, room = up(1).room_name, pay = const "now",
      price = { total = { ROOMS, CURRENCIES, INCLUSIVE, FEES, total }, currency = { CURRENCIES, any },
        due_later = { ROOMS, CURRENCIES, FEES, due_later }, taxes_included = const "yes" },
      hotel_id = hotel "hotel", name = hotel "name", stars = hotel("stars", tonumber),
      board = { "amenities{}.name", function(names) return any(names) and "breakfast" or "room_only" end },
      refund = { "refundable", "cancel_penalties[1].start",
        function(is, at) return is and { free_until = at } or nil end }, beds = { "bed_groups{}.description", any },
    },
    when = { [404] = "empty", [401] = fail.auth, [429] = fail.quota },
  },
}
