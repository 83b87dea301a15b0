-- Duffel's files read once more, by other code than the supplier's script: what the reply must say of each offer. Money
-- is compared as text; instants come from date(1) and the system's zones.
local world = require("tests.e2e.world")
local readings = require("tests.e2e.readings")

local M = {}

local CABINS = { economy = "economy", premium_economy = "premium", business = "business", first = "first" }

M.folder = world.shared .. "/payloads/duffel/"

-- A path within a decoded document; null counts as absent.
local function at(value, ...)
  for i = 1, select("#", ...) do
    if type(value) ~= "table" then
      return nil
    end
    value = value[select(i, ...)]
  end
  if value == world.json.null then
    return nil
  end
  return value
end
M.at = at

-- Every clock time of the file: seconds since 1970 by "TIME ZONE".
local function read_instants(offers)
  local asked = {}
  for _, offer in ipairs(offers) do
    for _, slice in ipairs(offer.slices) do
      for _, segment in ipairs(slice.segments) do
        asked[segment.departing_at .. " " .. segment.origin.time_zone] = true
        asked[segment.arriving_at .. " " .. segment.destination.time_zone] = true
      end
    end
  end
  return readings.instants(asked)
end

-- Milliseconds are kept, unless they are none.
local function instant_told(text)
  local second, thousandths = text:match("^(%d+%-%d+%-%d+T%d+:%d+:%d+)%.(%d%d%d)%d*Z$")
  return thousandths == "000" and second .. "Z" or second .. "." .. thousandths .. "Z"
end

local function bags_of(segments)
  local cabin, checked
  for _, segment in ipairs(segments) do
    for _, traveller in ipairs(segment.passengers) do
      local has = { carry_on = 0, checked = 0 }
      for _, baggage in ipairs(traveller.baggages) do
        has[baggage.type] = has[baggage.type] + baggage.quantity
      end
      cabin = math.min(cabin or has.carry_on, has.carry_on)
      checked = math.min(checked or has.checked, has.checked)
    end
  end
  return { cabin = cabin, checked = checked }
end

local function read_offer(offer, instants)
  local read, all = { slices = {}, corrected = 0 }, {}
  local brands = {}
  for s, slice in ipairs(offer.slices) do
    local segments = {}
    for g, segment in ipairs(slice.segments) do
      local departs = instants[segment.departing_at .. " " .. segment.origin.time_zone]
      local arrives = instants[segment.arriving_at .. " " .. segment.destination.time_zone]
      segments[g] = {
        carrier = segment.marketing_carrier.iata_code,
        operating = at(segment, "operating_carrier", "iata_code"),
        number = (segment.marketing_carrier_flight_number:gsub("^0+", "")),
        origin = segment.origin.iata_code,
        destination = segment.destination.iata_code,
        departs_local = segment.departing_at,
        departs_zone = segment.origin.time_zone,
        departs_utc = readings.utc(departs),
        arrives_local = segment.arriving_at,
        arrives_zone = segment.destination.time_zone,
        arrives_utc = readings.utc(arrives),
        cabin = CABINS[segment.passengers[1].cabin_class],
        duration_min = (arrives - departs) / 60,
        departs_s = departs,
        arrives_s = arrives,
      }
      all[#all + 1] = segment
      read.corrected = read.corrected + (readings.minutes(segment.duration) == segments[g].duration_min and 0 or 1)
    end
    local took = (segments[#segments].arrives_s - segments[1].departs_s) / 60
    read.slices[s] = { duration_min = took, segments = segments }
    read.corrected = read.corrected + (readings.minutes(slice.duration) == took and 0 or 1)
    brands[#brands + 1] = at(slice, "fare_brand_name")
  end
  read.bags = bags_of(all)
  read.brand = brands[1] -- the files have one slice an offer
  return read
end

-- What the reply must say: by offer id, in the file's order; the durations that their times contradict are counted.
function M.read(offers)
  local instants, by_id, corrected = read_instants(offers), {}, 0
  for _, offer in ipairs(offers) do
    local read = read_offer(offer, instants)
    corrected = corrected + read.corrected
    read.total, read.currency = offer.total_amount, offer.total_currency
    read.base, read.taxes = at(offer, "base_amount"), at(offer, "tax_amount")
    read.seller_id, read.seller_name = offer.owner.iata_code, offer.owner.name
    read.expires_at = instant_told(offer.expires_at)
    read.refundable = at(offer, "conditions", "refund_before_departure", "allowed")
    read.changeable = at(offer, "conditions", "change_before_departure", "allowed")
    by_id[offer.id] = read
  end
  return by_id, corrected
end

function M.decode(name)
  local content = assert(world.read_file(M.folder .. name), name)
  return world.json.decode(content)
end

local function compare_segment(theirs, ours, what)
  local equal = world.equal
  for _, field in ipairs { "carrier", "operating", "number", "origin", "destination", "cabin", "duration_min" } do
    equal(theirs[field], ours[field], what .. " " .. field)
  end
  for _, stop in ipairs { "departs", "arrives" } do
    for _, field in ipairs { "local", "zone", "utc" } do
      equal(theirs[stop .. "_" .. field], ours[stop][field], what .. " " .. stop .. "." .. field)
    end
  end
end

local function compare_offer(id, theirs, ours, item)
  local equal = world.equal
  for _, field in ipairs { "total", "currency", "base", "taxes" } do
    equal(theirs[field], ours.price[field], id .. " " .. field)
  end
  equal("yes", ours.price.taxes_included, id .. " taxes_included")
  equal(nil, ours.price.per_traveller, id .. " per_traveller")
  equal(theirs.seller_id, ours.seller.id, id .. " seller.id")
  equal(theirs.seller_name, ours.seller.name, id .. " seller.name")
  for _, field in ipairs { "expires_at", "brand", "refundable", "changeable" } do
    equal(theirs[field], ours[field], id .. " " .. field)
  end
  equal(theirs.bags.cabin, ours.bags.cabin, id .. " bags.cabin")
  equal(theirs.bags.checked, ours.bags.checked, id .. " bags.checked")
  equal(#theirs.slices, #item.slices, id .. " slices")
  for s, slice in ipairs(theirs.slices) do
    equal(slice.duration_min, item.slices[s].duration_min, id .. " duration of slice " .. s)
    equal(#slice.segments, #item.slices[s].segments, id .. " segments")
    for g, segment in ipairs(slice.segments) do
      compare_segment(segment, item.slices[s].segments[g], id .. " segment " .. g)
    end
  end
end

-- Each offer of the file, all fields of it, and nothing else.
function M.compare(by_id, reply, supplier)
  local count = 0
  for _, ours in ipairs(reply.json.offers) do
    if ours.supplier == supplier then
      local id = ours.id:match("^" .. supplier .. ":(.*)$")
      compare_offer(id, assert(by_id[id], ours.id .. " is not of the file"), ours, reply.json.items[ours.item])
      count = count + 1
    end
  end
  for _ in pairs(by_id) do
    count = count - 1
  end
  world.equal(0, count, "offers that are too many, or missing")
end

return M
