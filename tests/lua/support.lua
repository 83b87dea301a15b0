-- Support: the helpers that the modules under test use, in plain Lua, as far as they use them. The real ones are C and
-- have tests of their own; script_offers_test runs the flights product over them.

local cjson = require("cjson")

local M = {}

local function days_of(date)
  local year, month, day = date:match("^(%d%d%d%d)-(%d%d)-(%d%d)")
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  if not year then
    return nil
  end
  local lengths = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
  local is_leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
  lengths[2] = is_leap and 29 or 28
  if month < 1 or month > 12 or day < 1 or day > lengths[month] then
    return nil
  end
  local y = month <= 2 and year - 1 or year
  local era = math.floor(y / 400)
  local year_of_era = y - era * 400
  local day_of_year = math.floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  local day_of_era = year_of_era * 365 + math.floor(year_of_era / 4) - math.floor(year_of_era / 100) + day_of_year
  return era * 146097 + day_of_era - 719468
end

function M.install()
  _G.time = {
    date = function(text)
      return days_of(text) and text:sub(1, 10) or nil
    end,
    days_between = function(from, to)
      return days_of(to) - days_of(from)
    end,
    weekday = function(date)
      return (days_of(date) + 3) % 7 + 1
    end,
    zone = function(code)
      return code ~= "XXX" and "UTC" or nil
    end,
    iso = function(epoch_s)
      return os.date("!%Y-%m-%dT%H:%M:%SZ", epoch_s)
    end,
  }
  _G.money = {
    exponent = function(currency)
      return ({ EUR = 2, GBP = 2, JPY = 0 })[currency]
    end,
  }
  _G.json = {
    array = function(list)
      return list or {}
    end,
    encode = cjson.encode,
    decode = function(text)
      local is_json, value = pcall(cjson.decode, text)
      return is_json and value or nil
    end,
  }
  _G.sorted_pairs = function(fields)
    local keys, at = {}, 0
    for key in pairs(fields) do
      keys[#keys + 1] = key
    end
    table.sort(keys, function(a, b)
      return tostring(a) < tostring(b)
    end)
    return function()
      at = at + 1
      return keys[at], fields[keys[at]]
    end
  end
  if not package.path:find("scripts/?.lua", 1, true) then
    package.path = "scripts/?.lua;" .. package.path
  end
end

return M
