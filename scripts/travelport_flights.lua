-- The flights of the supplier travelport: options of a leg, with the seats, bags and brands of their fares, and the
-- words by which they are priced again.

local M = {}

-- What an offer may say of its fare, in bytes.
local BRAND_MAX = 100

local CABIN_FROM_UAPI = {
  Economy = "economy", PremiumEconomy = "premium", Business = "business", First = "first", PremiumFirst = "first",
}

--- The elements of a list by their keys.
function M.by_key(list)
  local index = {}
  for _, element in ipairs(list or {}) do
    if element["@Key"] then
      index[element["@Key"]] = element
    end
  end
  return index
end

-- The clock of the airport. Its offset is not told: uAPI keeps rules of zones of its own, which may be out of date.
local function stop(told)
  return told and { ["local"] = time.local_time(told) or told }
end

-- A flight is part of many options, so what is made of it is kept: for each cabin, and the seats of each class.
local function segment_of(booking, segment)
  local cabin = booking["@CabinClass"] or ""
  local kept = segment.by_cabin or {}
  segment.by_cabin = kept
  kept[cabin] = kept[cabin] or {
    carrier = segment["@Carrier"],
    operating = get(segment, "a:CodeshareInfo", "@OperatingCarrier"),
    number = segment["@FlightNumber"],
    origin = segment["@Origin"],
    destination = segment["@Destination"],
    departs = stop(segment["@DepartureTime"]),
    arrives = stop(segment["@ArrivalTime"]),
    duration_min = segment["@FlightTime"],
    cabin = CABIN_FROM_UAPI[cabin] or booking["@CabinClass"],
  }
  return kept[cabin]
end

-- The seats of a flight by booking classes: "C4|Y9|P5|P0" lists one twice, and the first counts. 9 are nine and more.
local function seats_by_class(segment)
  local seats = {}
  for _, available in ipairs(segment["a:AirAvailInfo"] or {}) do
    for _, classes in ipairs(available["a:BookingCodeInfo"] or {}) do
      for class, count in (classes["@BookingCounts"] or ""):gmatch("(%w)(%d+)") do
        seats[class] = seats[class] or tonumber(count)
      end
    end
  end
  return seats
end

local function seats_of(booking, segment)
  segment.seats = segment.seats or seats_by_class(segment)
  return booking["@BookingCount"] or segment.seats[booking["@BookingCode"] or ""]
end

--- Pieces that may be checked in. A weight without pieces is one; an allowance that is not told is nil.
function M.pieces_of(fare)
  local allowance = fare["a:BaggageAllowance"] or {}
  local weight = get(allowance, "a:MaxWeight", "@Value")
  return allowance["a:NumberOfPieces"] or weight and (tonumber(weight) > 0 and 1 or 0) or nil
end

--- The smaller of two numbers; nil, which nobody knows, stays so.
function M.lesser(a, b)
  return a and b and math.min(a, b) or nil
end

local function brand_of(fare, names)
  local brand = fare["a:Brand"] or {}
  return brand["@Name"] or names[brand["@BrandID"] or ""]
end

--- Each name once, in order; of too long a list the first.
function M.joined_names(names)
  local list, seen = {}, {}
  for _, name in ipairs(names) do
    if not seen[name] then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  local together = table.concat(list, " / ")
  return #list > 0 and #together <= BRAND_MAX and together or list[1]
end

-- The times of a flight as the way back wants them, without what is always zero.
local function short_time(told)
  return told and (told:gsub("^(%d+%-%d+%-%d+T%d+:%d+):00%.?0*", "%1"))
end

--- And back.
function M.long_time(short)
  return (short:gsub("^(%d+%-%d+%-%d+T%d+:%d+)([Z+-].*)$", "%1:00.000%2"))
end

-- Texts with commas between them; nil when one is missing, or has what divides others.
local function packed(parts, count)
  for i = 1, count do
    if not parts[i] or parts[i]:find("[,;]") then
      return nil
    end
  end
  return table.concat(parts, ",")
end

-- What pricing again wants of a flight, but for the fare; false when something is missing.
local function flight_of(segment)
  return packed({ segment["@Carrier"], segment["@FlightNumber"], segment["@Origin"], segment["@Destination"],
    short_time(segment["@DepartureTime"]), short_time(segment["@ArrivalTime"]) }, 6) or false
end

local function ref_of(leg_number, booking, segment, fare, is_connected)
  if segment.flight == nil then
    segment.flight = flight_of(segment)
  end
  local sold = packed({ booking["@BookingCode"], fare["@FareBasis"] }, 2)
  return segment.flight and sold
    and ("%d,%s,%s,%s"):format(leg_number - 1, segment.flight, sold, is_connected and "c" or "")
end

--- One option of a leg, with all that its combinations need of it.
function M.read_option(option, leg_number, lists)
  local connected, refs = {}, {}
  for _, connection in ipairs(option["a:Connection"] or {}) do
    connected[(connection["@SegmentIndex"] or -1) + 1] = true
  end
  local read = { key = option["@Key"], minutes = time.minutes(option["@TravelTime"]), segments = {}, fares = {},
    brands = {}, seats = math.huge, pieces = math.huge, is_kept = true }
  for i, booking in ipairs(option["a:BookingInfo"] or {}) do
    local segment = lists.segments[booking["@SegmentRef"] or ""] or {}
    local fare = lists.fares[booking["@FareInfoRef"] or ""] or {}
    read.segments[i], read.fares[i] = segment_of(booking, segment), fare
    read.brands[#read.brands + 1] = brand_of(fare, lists.brands)
    read.seats = M.lesser(read.seats, seats_of(booking, segment))
    read.pieces = M.lesser(read.pieces, M.pieces_of(fare))
    refs[i] = ref_of(leg_number, booking, segment, fare, connected[i]) or ""
    read.is_kept = read.is_kept and refs[i] ~= ""
  end
  read.ref = table.concat(refs, ";")
  read.slice = { duration_min = read.minutes or option["@TravelTime"], segments = read.segments }
  return read
end

-- The fields of a flight in `ref`, in their order.
local REF_FIELDS = {
  "group", "carrier", "number", "origin", "destination", "departs", "arrives", "class", "fare", "mark",
}

--- What was left in `ref`: the provider, who issues the ticket, what is sold with the flights, the flights.
function M.read_ref(ref)
  local kept = { flights = {} }
  for part in ref:gmatch("[^;]+") do
    local fields = {}
    for field in (part .. ","):gmatch("(.-),") do
      fields[#fields + 1] = field
    end
    if not kept.provider then
      kept.provider, kept.plating = fields[1], fields[2]
      kept.terms = json.decode(url.decode(fields[3] or "") or "") or {} -- older versions kept none
    else
      local flight = {}
      for i, name in ipairs(REF_FIELDS) do
        flight[name] = fields[i]
      end
      kept.flights[#kept.flights + 1] = flight
    end
  end
  return kept
end

return M
