-- The prices of the supplier travelport: amounts glued to their currencies, a price of each kind of traveller, and the
-- terms of a fare.

local M = {}

local TYPE_FROM_UAPI = { ADT = "adult", CNN = "child", CHD = "child", INF = "infant_lap", INS = "infant_seat" }

local function count_travellers(pricing)
  local count = 0
  for _, info in ipairs(pricing) do
    count = count + #(info["a:PassengerType"] or {})
  end
  return count
end

-- An amount for each traveller; nil when they do not add up to the total.
local function per_traveller(pricing, total, currency)
  local list, amounts = {}, {}
  for _, info in ipairs(pricing) do
    local amount, of = money.split(info["@TotalPrice"])
    for _, passenger in ipairs(info["a:PassengerType"] or {}) do
      local kind = TYPE_FROM_UAPI[passenger["@Code"] or ""]
      if not kind or of ~= currency then
        return nil
      end
      list[#list + 1] = { type = kind, total = amount, currency = currency }
      amounts[#amounts + 1] = amount
    end
  end
  local sum = #amounts > 0 and money.sum(amounts, currency) or nil
  return sum and money.compare(sum, total) == 0 and list or nil
end

-- All charges are in the total. Where its parts contradict that, nobody knows what it is.
local function is_whole(total, currency, base, taxes, others)
  if not base then
    return taxes ~= nil
  end
  local amounts = { base, taxes or "0", unpack(others) }
  local sum = money.sum(amounts, currency)
  return sum ~= nil and money.compare(sum, total) == 0
end

--- The price of everybody. One for fewer travellers than were asked is none, and its words tell why.
function M.price_of(priced, pricing, party)
  local total, currency = money.split(priced["@TotalPrice"])
  if not total or not money.exponent(currency or "") or money.compare(total, "0") < 0 then
    return { total = priced["@TotalPrice"] }
  end
  local function part(name)
    local amount, of = money.split(priced[name])
    return of == currency and amount or nil
  end
  local count = count_travellers(pricing)
  if count ~= party then
    return { total = ("%s for %d of %d travellers"):format(priced["@TotalPrice"], count, party), currency = currency }
  end
  local base, taxes = part("@EquivalentBasePrice") or part("@BasePrice"), part("@Taxes")
  local is_known = is_whole(total, currency, base, taxes, { part("@Fees") or "0", part("@Services") or "0" })
  return {
    total = total,
    currency = currency,
    base = base,
    taxes = taxes,
    taxes_included = is_known and "yes" or "unknown",
    per_traveller = per_traveller(pricing, total, currency),
  }
end

-- Until when the ticket has to be issued. A date alone is over when it is where the journey begins.
local function ticketing_end(info, origin)
  local told = info["@LatestTicketingTime"]
  if told and not told:find("T", 1, true) then
    told = told .. "T23:59:00"
  end
  return told and (time.utc(told) or origin and time.utc_at(told, origin) or told)
end

--- The first of these ends; it is kept, for all journeys of a price begin in few places.
function M.earliest_end(terms, origin)
  local kept = terms.ends[origin or ""]
  if kept ~= nil then
    return kept or nil
  end
  local earliest = nil
  for _, info in ipairs(terms.pricing) do
    local at = ticketing_end(info, origin)
    earliest = at and (not earliest or at < earliest) and at or earliest
  end
  terms.ends[origin or ""] = earliest or false
  return earliest
end

local function costs_all(penalty)
  local share = penalty["a:Percentage"]
  return share ~= nil and (tonumber(share) or 0) >= 100
end

local function is_told(penalty)
  return penalty["a:Amount"] ~= nil or penalty["a:Percentage"] ~= nil
end

-- Whether it may be done, though for a penalty: false when that is all of the fare, nil when nothing is told.
local function may(penalties)
  local told = filter(penalties or {}, is_told)
  if #told == 0 then
    return nil
  end
  return #filter(told, costs_all) < #told
end

-- uAPI marks fares that can be given back; without the mark only a penalty of everything is an answer.
local function is_refundable(info)
  if info["@Refundable"] then
    return info["@Refundable"] == "true"
  end
  if may(info["a:CancelPenalty"]) == false then
    return false
  end
  return nil
end

local function is_changeable(info)
  return may(info["a:ChangePenalty"])
end

-- True for everybody, or false for somebody.
local function for_all(pricing, holds)
  local all = #pricing > 0 or nil
  for _, info in ipairs(pricing) do
    local one = holds(info)
    if one == false then
      return false
    end
    all = one and all
  end
  return all or nil
end

--- May the fare be given back, or changed? nil: nobody says.
function M.refundable(pricing)
  return for_all(pricing, is_refundable)
end

function M.changeable(pricing)
  return for_all(pricing, is_changeable)
end

return M
