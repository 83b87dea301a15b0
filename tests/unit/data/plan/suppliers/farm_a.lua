-- The farm's first shape, read by Lua: what the plan of examples/farm is compared with.

local farm = {}

-- The document of a good answer, in which `list` is there; or nil and what normalise has to return.
function farm.document(response, list)
  local status = response.status
  if status == 429 then
    return nil, fail.quota { retry_after = tonumber(response.headers["retry-after"]) }
  end
  if status >= 500 then
    return nil, {} -- nothing to add: a 5xx without a typed failure is `failed`
  end
  local body = response:json()
  if status ~= 200 then
    return nil, fail.supplier { code = get(body, "error", "code"), message = get(body, "error", "message") }
  end
  if type(get(body, list)) ~= "table" then
    return nil, fail.unexpected(list)
  end
  return body
end

local function stop(at)
  return { ["local"] = time.local_time(at), utc = time.utc(at) }
end

local function read_segment(segment, cabin)
  return {
    carrier = segment.carrier,
    number = segment.number,
    origin = segment.from,
    destination = segment.to,
    departs = stop(segment.departs),
    arrives = stop(segment.arrives),
    duration_min = segment.minutes,
    cabin = cabin,
  }
end

local function read_slice(slice, cabin)
  return {
    duration_min = slice.minutes,
    segments = map(slice.segments, function(segment)
      return read_segment(segment, cabin)
    end),
  }
end

local function read_offer(offer, currency)
  local price = offer.price
  return {
    id = offer.id,
    price = {
      total = money.scaled(price.total, price.scale, currency),
      taxes = money.scaled(price.taxes, price.scale, currency),
      currency = currency,
      taxes_included = "yes",
    },
    slices = map(offer.slices, function(slice)
      return read_slice(slice, offer.cabin)
    end),
    brand = offer.brand,
    bags = { cabin = offer.bags.cabin, checked = offer.bags.checked },
    refundable = offer.refundable,
    seats_left = offer.seats,
  }
end

-- Offers nested as offers[].slices[].segments[], money in hundredths, times with their offset.
function farm.offers(body)
  return map(body.offers, function(offer)
    return read_offer(offer, body.currency)
  end)
end

---@type Supplier
return {
  name = "farm_a",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s01.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = function()
    return { method = "POST", path = "/", body = "" }
  end,

  normalise = function(response)
    local body, trouble = farm.document(response, "offers")
    if not body then
      return trouble
    end
    return farm.offers(body)
  end,
}
