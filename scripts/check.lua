-- Check: validators for the queries of products.
--
-- A product makes one `check.new()`, asks it about each field and looks at `errors` at the end: all mistakes are told
-- at once, each with the JSON pointer (RFC 6901) of its place in the request.

local M = {}

---@class Check
---@field errors QueryError[]
local Check = {}

local ERRORS_MAX = 50

function M.new()
  local self = { errors = {} }
  for name, method in pairs(Check) do
    self[name] = method
  end
  return self
end

--- A pointer one step further: pointer("/query", "slices") is "/query/slices"; a list's index counts from 1 here.
function M.pointer(base, step)
  if type(step) == "number" then
    return base .. "/" .. string.format("%d", step - 1)
  end
  return base .. "/" .. step:gsub("~", "~0"):gsub("/", "~1")
end

function Check:add(pointer, code, detail)
  if #self.errors < ERRORS_MAX then
    self.errors[#self.errors + 1] = { pointer = pointer, code = code, detail = detail }
  end
end

-- Letters to insert, delete or replace until `a` is `b`.
local function distance(a, b)
  local previous = {}
  for j = 0, #b do
    previous[j] = j
  end
  for i = 1, #a do
    local current = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      current[j] = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
    end
    previous = current
  end
  return previous[#b]
end

--- The candidate nearest to `word`, at most a third of its length away; nil when none is near.
function M.nearest(word, candidates)
  local best, best_distance
  if #word > 40 then
    return nil
  end
  local most = math.max(1, math.floor(#word / 3))
  for i = 1, #candidates do
    local is_possible = math.abs(#word - #candidates[i]) <= most
    local steps = is_possible and distance(word, candidates[i]) or most + 1
    if steps <= most and (not best or steps < best_distance) then
      best, best_distance = candidates[i], steps
    end
  end
  return best
end

local function is_list(value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

local function is_object(value)
  return type(value) == "table" and (#value == 0 or next(value) == nil)
end

local function kind_of(value)
  if type(value) ~= "table" then
    if type(value) == "userdata" then
      return "null"
    end
    return type(value) == "boolean" and "true or false" or type(value) == "string" and "text" or "a number"
  end
  return #value > 0 and "a list" or "an object"
end

local function wrong_type(self, pointer, expected, value)
  self:add(pointer, "wrong_type", expected .. " expected, got " .. kind_of(value))
end

--- The value, when it is an object and has no fields but `fields`; else nil.
function Check:object(pointer, value, fields)
  if not is_object(value) then
    if value == nil then
      self:add(pointer, "required", "an object is required here")
    else
      wrong_type(self, pointer, "an object", value)
    end
    return nil
  end
  for key in sorted_pairs(value) do
    if #self.errors >= ERRORS_MAX then
      break -- a caller can send more mistakes than there is time to explain
    end
    local is_known = false
    for i = 1, #fields do
      is_known = is_known or fields[i] == key
    end
    if not is_known then
      local near = M.nearest(tostring(key), fields)
      self:add(M.pointer(pointer, tostring(key)), "unknown_field",
        "unknown field" .. (near and ("; did you mean \"" .. near .. "\"?") or ""))
    end
  end
  return value
end

--- The value, when it is a list of `least` to `most` items; nil when absent or wrong.
function Check:list(pointer, value, least, most)
  if value == nil then
    if least > 0 then
      self:add(pointer, "required", "a list is required here")
    end
    return nil
  end
  if not is_list(value) then
    wrong_type(self, pointer, "a list", value)
    return nil
  end
  if #value < least or #value > most then
    self:add(pointer, "out_of_range", string.format("%d to %d items expected, got %d", least, most, #value))
    return nil
  end
  return value
end

--- A whole number within [least, most]; `default` when absent.
function Check:integer(pointer, value, least, most, default)
  if value == nil then
    return default
  end
  if type(value) ~= "number" then
    wrong_type(self, pointer, "a whole number", value)
    return nil
  end
  if value ~= math.floor(value) or value < least or value > most then
    self:add(pointer, "out_of_range", string.format("a whole number from %d to %d expected", least, most))
    return nil
  end
  return value
end

--- A whole number within [least, most]; an error when absent.
function Check:required_integer(pointer, value, least, most)
  if value == nil then
    self:add(pointer, "required", string.format("a whole number from %d to %d is required here", least, most))
    return nil
  end
  return self:integer(pointer, value, least, most)
end

--- A number within [least, most]; absent: an error when `is_required`, else nil.
function Check:number(pointer, value, least, most, is_required)
  if value == nil then
    if is_required then
      self:add(pointer, "required", string.format("a number from %g to %g is required here", least, most))
    end
    return nil
  end
  if type(value) ~= "number" then
    wrong_type(self, pointer, "a number", value)
    return nil
  end
  if not (value >= least and value <= most) then
    self:add(pointer, "out_of_range", string.format("a number from %g to %g expected", least, most))
    return nil
  end
  return value + 0 -- -0 is 0
end

--- A text of `least` to `most` bytes; `default` when absent.
function Check:text(pointer, value, least, most, default)
  if value == nil then
    return default
  end
  if type(value) ~= "string" then
    wrong_type(self, pointer, "text", value)
    return nil
  end
  if #value < least or #value > most then
    self:add(pointer, "out_of_range", string.format("text of %d to %d bytes expected", least, most))
    return nil
  end
  return value
end

--- One of a few texts; `default` when absent, an error without a default.
function Check:choice(pointer, value, choices, default)
  if value == nil then
    if default == nil then
      self:add(pointer, "required", "one of " .. table.concat(choices, ", ") .. " is required here")
    end
    return default
  end
  if type(value) ~= "string" then
    wrong_type(self, pointer, "text", value)
    return nil
  end
  for i = 1, #choices do
    if choices[i] == value then
      return value
    end
  end
  local near = M.nearest(value, choices)
  self:add(pointer, "unknown_value", "one of " .. table.concat(choices, ", ") .. " expected" ..
    (near and ("; did you mean \"" .. near .. "\"?") or ""))
  return nil
end

--- A text that matches the pattern; `what` tells what it should be. Absent: an error when `is_required`, else nil.
function Check:pattern(pointer, value, pattern, what, is_required)
  if value == nil then
    if is_required then
      self:add(pointer, "required", what .. " is required here")
    end
    return nil
  end
  if type(value) ~= "string" then
    wrong_type(self, pointer, what, value)
    return nil
  end
  if #value > 100 or not value:find(pattern) then
    self:add(pointer, "invalid", what .. " expected")
    return nil
  end
  return value
end

--- An address of IPv4 or IPv6, in numbers.
function Check:address(pointer, value)
  local address = self:pattern(pointer, value, "^[%x:.]+$", "an IP address", false)
  if address and (#address > 45 or not address:find("[.:]")) then
    self:add(pointer, "invalid", "an IP address expected")
    return nil
  end
  return address
end

--- A real date, written YYYY-MM-DD; an error when absent.
function Check:date(pointer, value)
  local date = self:pattern(pointer, value, "^%d%d%d%d%-%d%d%-%d%d$", "a date such as 2027-05-03", true)
  if date and not time.date(date) then
    self:add(pointer, "invalid", "there is no such day")
    return nil
  end
  return date
end

local COUNTRIES = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS "
  .. "BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE "
  .. "EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM "
  .. "HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC "
  .. "LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA "
  .. "NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW "
  .. "SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO "
  .. "TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"

--- A country of ISO 3166-1, two capitals.
function Check:country(pointer, value)
  local country = self:pattern(pointer, value, "^%u%u$", "a country of ISO 3166-1 such as GB", false)
  if country and not COUNTRIES:find(country, 1, true) then
    self:add(pointer, "invalid", "a country of ISO 3166-1 such as GB expected")
    return nil
  end
  return country
end

--- A currency of ISO 4217; `default` when absent.
function Check:currency(pointer, value, default)
  if value == nil then
    return default
  end
  local currency = self:pattern(pointer, value, "^%u%u%u$", "a currency of ISO 4217 such as EUR", false)
  if currency and not money.exponent(currency) then
    self:add(pointer, "invalid", "a currency of ISO 4217 such as EUR expected")
    return nil
  end
  return currency
end

return M
