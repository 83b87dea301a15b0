-- Journeys: whether the slices of an offer of flights are what a search asked for, and whether an offer that is asked
-- for again is still what was shown. Suppliers are believed in nothing of it: a return trip told the other way round,
-- another day, another city or a lower cabin would be sold as what somebody wanted.

local M = {}

-- Codes that are cities, and nothing else.
local CITIES = {
  BAK = "GYD ZXT", BHZ = "CNF PLU", BJS = "PEK PKX NAY", BUE = "EZE AEP EPA", BUH = "OTP BBU", CHI = "ORD MDW RFD PWK",
  DTT = "DTW DET YIP", EAP = "BSL MLH", JKT = "CGK HLP", LON = "LHR LGW STN LTN LCY SEN", MIL = "MXP LIN BGY",
  MOW = "SVO DME VKO ZIA BKA", NYC = "JFK LGA EWR HPN ISP SWF", ORL = "MCO SFB", OSA = "KIX ITM UKB",
  PAR = "CDG ORY BVA LBG", QDF = "DFW DAL", QHO = "IAH HOU EFD", QLA = "LAX BUR LGB ONT SNA", QMI = "MIA FLL PBI",
  QTO = "YYZ YTZ YHM YKF", REK = "KEF RKV", RIO = "GIG SDU", ROM = "FCO CIA", SAO = "GRU CGH VCP", SEL = "ICN GMP",
  SPK = "CTS OKD", STO = "ARN BMA NYO VST", TCI = "TFN TFS", TYO = "HND NRT", WAS = "IAD DCA BWI", YEA = "YEG YXD",
  YMQ = "YUL YHU YMX", YTO = "YYZ YTZ YHM YKF",
}

-- Codes that are an airport and its city, which has more.
local CITIES_AND_AIRPORTS = {
  BER = "SXF TXL", BFS = "BHD", BKK = "DMK", BRU = "CRL", CTU = "TFU", DFW = "DAL", DUS = "NRN", DXB = "DWC",
  FRA = "HHN", GLA = "PIK", GOT = "GSE", HOU = "IAH EFD", IEV = "KBP GML", IST = "SAW ISL", JNB = "HLA QRA",
  KUL = "SZB", MDE = "EOH", MEL = "AVV MEB", MEX = "NLU TLC", NBO = "WIL", NGO = "NKM", OSL = "TRF RYG",
  PTY = "PAC BLB", SDQ = "JBQ", SHA = "PVG", THR = "IKA", TPE = "TSA", VCE = "TSF", WAW = "WMI RDO",
}

local function has_airport(airports, code)
  return airports ~= nil and code:find("^%u%u%u$") ~= nil and airports:find(code, 1, true) ~= nil
end

--- Whether a place that is told is the one that was asked for: itself, an airport of that city, or the city of that
--- airport. Another airport of the same city is another place.
function M.is_place(told, asked)
  return told == asked or has_airport(CITIES[asked], told) or has_airport(CITIES_AND_AIRPORTS[asked], told)
    or has_airport(CITIES[told], asked)
end

--- Whether a local time is on the day of a slice that was asked for, or on one of the days around it. nil: nobody can
--- tell, since it is no time.
function M.is_on_day(at, slice)
  local day = time.date(at and time.local_time(at))
  return day and math.abs(time.days_between(slice.date, day)) <= (slice.flex_days or 0)
end

-- The clock by which a flight leaves or lands as an instant; nil: nobody can tell.
local function instant_of(stop, airport)
  local utc = stop and stop["local"] and airport and time.utc_at(stop["local"], airport)
  return utc and time.epoch(utc)
end

-- What is wrong with one slice, in words; nil when it is as asked, or when what would tell is missing: the check of
-- offers drops such an offer, and names the field.
local function wrong_with(slice, asked, is_any_day)
  local segments = slice.segments or {}
  local origin, destination = get(segments, 1, "origin"), get(segments, #segments, "destination")
  local is_elsewhere = origin and not M.is_place(origin, asked.origin)
    or destination and not M.is_place(destination, asked.destination)
  if is_elsewhere then
    return ("%s-%s, asked for %s-%s"):format(origin or "?", destination or "?", asked.origin, asked.destination)
  end
  local leaves = get(segments, 1, "departs", "local")
  if not is_any_day and leaves and M.is_on_day(leaves, asked) == false then
    return ("leaves on %s, asked for %s"):format(leaves:sub(1, 10), asked.date)
  end
  return nil
end

local function lands_before(slice, next_one)
  local segments = slice.segments or {}
  local last_one, first_one = segments[#segments] or {}, get(next_one, "segments", 1) or {}
  local lands = instant_of(last_one.arrives, last_one.destination)
  local leaves = instant_of(first_one.departs, first_one.origin)
  return not lands or not leaves or lands <= leaves
end

--- Whether a slice can be the one that was asked for.
function M.fits(slice, asked, is_any_day)
  return wrong_with(slice, asked, is_any_day) == nil
end

--- Why the slices of an offer are not what the search asked for, with `path`, which names their list in the supplier's
--- answer; nil when they are. is_any_day: whatever day they are on, as systems for tests have them that answer with
--- what was recorded once.
function M.refusal(path, slices, query, is_any_day)
  local asked = query.slices
  if #slices ~= #asked then
    return ("%s: %d, asked for %d"):format(path, #slices, #asked)
  end
  for i, slice in ipairs(slices) do
    local why = wrong_with(slice, asked[i], is_any_day)
    if why then
      return ("%s[%d]: %s"):format(path, i, why)
    end
    if i > 1 and not lands_before(slices[i - 1], slice) then
      return ("%s[%d]: leaves before the one before it has landed"):format(path, i)
    end
  end
  return nil
end

-- ---- the same offer again -----------------------------------------------------------------------------------------

--- A short text that is the same for the same flights at the same times; nil when something of them is missing.
function M.mark(slice)
  local flights = {}
  for i, segment in ipairs(slice.segments) do
    local departs, arrives = get(segment, "departs", "local"), get(segment, "arrives", "local")
    if not segment.carrier or not segment.number or not departs or not arrives then
      return nil
    end
    flights[i] = ("%s%s %s@%s %s@%s"):format(segment.carrier, segment.number, segment.origin or "", departs,
      segment.destination or "", arrives)
  end
  return #flights > 0 and crypto.hex(crypto.md5(table.concat(flights, " "))):sub(1, 12) or nil
end

local UNTOLD = ""

--- What is sold with the flights of an offer, to be kept in its `ref`: cabins, brand, bags, what may be given back and
--- changed. JSON can hold it.
function M.terms(offer)
  local cabins = {}
  for _, slice in ipairs(offer.slices) do
    for _, segment in ipairs(slice.segments or {}) do
      cabins[#cabins + 1] = segment.cabin or UNTOLD
    end
  end
  return { cabins = table.concat(cabins, " "), brand = offer.brand, cabin = get(offer, "bags", "cabin"),
    checked = get(offer, "bags", "checked"), refundable = offer.refundable, changeable = offer.changeable }
end

local COMPARED = { "brand", "cabin", "checked", "refundable", "changeable" }

local function cabins_of(terms)
  local list = {}
  for cabin in ((terms.cabins or "") .. " "):gmatch("(%S*) ") do
    list[#list + 1] = cabin
  end
  return list
end

local function have_other_cabins(was, now)
  local before, after = cabins_of(was), cabins_of(now)
  for i = 1, math.min(#before, #after) do
    if before[i] ~= UNTOLD and after[i] ~= UNTOLD and before[i] ~= after[i] then
      return true
    end
  end
  return false
end

--- Whether terms that were kept are others now. What either of them does not tell says nothing.
function M.have_changed(was, now)
  local other = first(COMPARED, function(name)
    return was[name] ~= nil and now[name] ~= nil and was[name] ~= now[name]
  end)
  return other ~= nil or have_other_cabins(was, now)
end

return M
