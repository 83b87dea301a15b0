-- Hotels of many sources: rooms with rates, prices by the occupancy of a room, up to 250 properties in a request, each
-- request signed by SHA-512 over key, secret and time. A property is 30007919: P0007919 of source h03.

local PART, PARTS_MAX, TOTALS = 250, 8, "occupancy_pricing{}.totals."

-- The value of any key: of maps whose values say the same.
local function any(values)
  return values and select(2, next(values)) or nil
end

local function occupancy(room)
  local ages = table.concat(room.child_ages or {}, ",")
  return room.adults .. (ages ~= "" and "-" .. ages or "")
end

-- What all rooms cost together: equal ones are told once. A room without a price makes it unknown.
local function sum(rooms, currencies, prices)
  local amounts = map(rooms, function(room) return prices and prices[occupancy(room)] end)
  return any(currencies) and #amounts == #rooms and money.sum(amounts, any(currencies)) or nil
end

local function total(rooms, currencies, inclusive, fees)
  local own, due = sum(rooms, currencies, inclusive), sum(rooms, currencies, fees)
  return own and due and money.add(own, due, any(currencies)) or not any(fees) and own or nil
end

local function due_later(rooms, currencies, fees)
  local amount = sum(rooms, currencies, fees)
  return amount and { { kind = "resort_fee", amount = amount, currency = any(currencies) } }
end

local function hotel(column, convert)
  return { up(2).property_id, function(id)
    local source, number = (id or ""):match("^(%d+)(%d%d%d%d%d%d%d)$")
    local row = source and first(lookup("properties", ("h%02d"):format(tonumber(source)), "P" .. number) or {})
    return row and (convert or tostring)(row[column])
  end }
end

local ROOMS, CURRENCIES = asked "query.rooms", TOTALS .. "inclusive.request_currency.currency"
local INCLUSIVE, FEES = TOTALS .. "inclusive.request_currency.value", TOTALS .. "property_fees.request_currency.value"

---@type Supplier
return {
  name = "farm_rates", product = "hotels", owner = "farm@example.com", docs = "examples/farm/README.md",
  hosts = {}, secrets = { "FARM_RATES_KEY", "FARM_RATES_SECRET" },
  options = { base_url = "http://r01.farm.test:8080", sources = "1 2 3 4 5" },

  build_request = function(search, ctx)
    local query, ids, now, key = search.query, {}, ctx.now.s, ctx.secret.FARM_RATES_KEY
    for source in ctx.options.sources:gmatch("%d+") do
      for _, row in ipairs(lookup("properties_in_city", ("h%02d"):format(source), query.place.city) or {}) do
        ids[#ids + 1] = source .. row.property:sub(2)
      end
    end
    local signature = crypto.hex(crypto.sha512(key .. ctx.secret.FARM_RATES_SECRET .. now))
    local requests = {}
    for part = 1, math.min(PARTS_MAX, math.ceil(#ids / PART)) do
      requests[part] = {
        method = "GET", path = "/v3/properties/availability",
        headers = { authorization = ("EAN APIKey=%s,Signature=%s,timestamp=%d"):format(key, signature, now) },
        query = { checkin = query.check_in, checkout = query.check_out, currency = search.currency, language = "en-GB",
          country_code = query.residency or "GB", occupancy = map(query.rooms, occupancy),
          property_id = { unpack(ids, (part - 1) * PART + 1, math.min(part * PART, #ids)) } },
      }
    end
    return requests
  end,

  normalise = plan {
    each = "[].rooms[].rates[]",
    offer = {
      id = "id",
      price = {
        total = { ROOMS, CURRENCIES, INCLUSIVE, FEES, total }, currency = { CURRENCIES, any },
        due_later = { ROOMS, CURRENCIES, FEES, due_later }, taxes_included = const "yes",
      },
      hotel_id = hotel "hotel", name = hotel "name", stars = hotel("stars", tonumber),
      supplier_hotel_id = up(2).property_id, room = up(1).room_name, pay = const "now",
      board = { "amenities{}.name", function(names) return any(names) and "breakfast" or "room_only" end },
      refund = { "refundable", "cancel_penalties[1].start", function(is, at) return is and { free_until = at } end },
      beds = { "bed_groups{}.description", any },
    },
    when = { [404] = "empty", [401] = fail.auth, [429] = fail.quota },
  },
}
