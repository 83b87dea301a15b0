-- The farm's hotels: asked for properties of its own, it prices each. The settings' tables say which it has in a city
-- and which hotel of ours each is.

local BOARDS = { RO = "room_only", BB = "breakfast", HB = "half_board" }
local PROPERTIES_MAX = 200

-- The ids that the supplier has for what is asked: all of a city, or those of our hotels that it sells.
local function properties_of(place, code)
  if place.city then
    return map(lookup("properties_in_city", code, place.city) or {}, function(row)
      return row.property
    end)
  end
  local ids = {}
  for _, hotel in ipairs(place.hotels or {}) do
    for _, row in ipairs(lookup("properties_of_hotel", code, hotel) or {}) do
      ids[#ids + 1] = row.property
    end
  end
  return ids
end

local function first_of(ids, most)
  return filter(ids, function(_, index)
    return index <= most
  end)
end

-- Every mandatory charge belongs to the total: taxes that stand apart, and fees that the hotel takes.
local function price_of(rate, taxes, currency)
  local total = rate.total
  if taxes == "excluded" then
    total = money.add(total, rate.taxes, currency)
  end
  local due_later = nil
  if rate.resort_fee then
    total = money.add(total, rate.resort_fee, currency)
    due_later = { { kind = "resort_fee", amount = rate.resort_fee, currency = currency } }
  end
  return {
    total = total,
    currency = currency,
    taxes = rate.taxes,
    taxes_included = taxes == "unknown" and "unknown" or "yes",
    due_later = due_later,
  }
end

local function read_rate(rate, property, hotel, body)
  return {
    id = rate.key,
    price = price_of(rate, body.taxes, body.currency),
    hotel_id = hotel and hotel.hotel,
    name = hotel and hotel.name,
    stars = hotel and tonumber(hotel.stars),
    supplier_hotel_id = property.id,
    room = rate.room,
    board = BOARDS[rate.board] or rate.board,
    refund = rate.free_until and { free_until = rate.free_until } or nil,
    pay = rate.pay == "hotel" and "at_property" or "now",
    beds = rate.beds,
  }
end

local function read_offers(body, code)
  local offers = {}
  for _, property in ipairs(body.properties) do
    local hotel = first(lookup("properties", code, property.id) or {})
    for _, rate in ipairs(property.rates) do
      offers[#offers + 1] = read_rate(rate, property, hotel, body)
    end
  end
  return offers
end

---@type Supplier
return {
  name = "farm_hotels",
  product = "hotels",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://h01.farm.test:8080", code = "h01" },
  limits = { body = "1MiB" },

  skip = function(search, ctx)
    local place = search.query.place
    if place.geo then
      return "no search by coordinates"
    end
    return #properties_of(place, ctx.options.code) == 0 and "no property there" or nil
  end,

  build_request = function(search, ctx)
    local query = search.query
    return {
      method = "POST",
      path = "/v2/rates",
      json = {
        check_in = query.check_in,
        check_out = query.check_out,
        rooms = map(query.rooms, function(room)
          return { adults = room.adults, children = room.child_ages }
        end),
        properties = first_of(properties_of(query.place, ctx.options.code), PROPERTIES_MAX),
      },
    }
  end,

  normalise = function(response, _, ctx)
    if response.status >= 500 then
      return {}
    end
    local body = response:json()
    if response.status ~= 200 then
      return fail.supplier { code = get(body, "error", "code"), message = get(body, "error", "message") }
    end
    if type(body.properties) ~= "table" then
      return fail.unexpected("properties")
    end
    return read_offers(body, ctx.options.code)
  end,
}
