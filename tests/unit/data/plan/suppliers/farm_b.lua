-- The farm's second shape, read by Lua: what the plan of examples/farm is compared with.

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

local cabins = { Y = "economy", W = "premium", C = "business", F = "first" }

local function by_id(list)
  local index = {}
  for _, entry in ipairs(list) do
    index[entry.id] = entry
  end
  return index
end

local function read_leg(leg)
  return {
    carrier = leg.flight:sub(1, 2),
    number = leg.flight:sub(3),
    origin = leg.orig,
    destination = leg.dest,
    departs = { ["local"] = time.local_time(leg.dep) },
    arrives = { ["local"] = time.local_time(leg.arr) },
    duration_min = leg.min,
    cabin = cabins[leg.class],
  }
end

local function pieces(text)
  return tonumber(text:match("^(%d+)PC$"))
end

local function read_fare(fare, journeys, legs, currency)
  return {
    id = fare.id,
    price = {
      total = money.parse(fare.total, currency),
      taxes = money.parse(fare.tax, currency),
      currency = currency,
      taxes_included = "yes",
    },
    slices = map(fare.journeys, function(id)
      return {
        duration_min = journeys[id].min,
        segments = map(journeys[id].legs, function(leg)
          return legs[leg]
        end),
      }
    end),
    brand = fare.family,
    bags = { cabin = pieces(fare.carry_on), checked = pieces(fare.checked) },
    refundable = fare.refund ~= "NO",
    changeable = fare.change ~= "NO",
    seats_left = fare.seats,
  }
end

---@type Supplier
return {
  name = "farm_b",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://s02.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = function()
    return { method = "POST", path = "/", body = "" }
  end,

  normalise = function(response)
    local body, trouble = farm.document(response, "fares")
    if not body then
      return trouble
    end
    local journeys, legs = by_id(body.journeys), {}
    for _, leg in ipairs(body.legs) do
      legs[leg.id] = read_leg(leg)
    end
    return map(body.fares, function(fare)
      return read_fare(fare, journeys, legs, body.cur)
    end)
  end,
}
