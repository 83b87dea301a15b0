-- Readings: a supplier's recorded answer read once more, by other code than its script, says what a reply must tell.
-- Instants come from date(1) and the system's zones, money is compared as text.
local world = require("tests.e2e.world")

local M = {}

--- Clock times at places. asked: a set whose keys are "2027-05-12T08:05:00 Europe/Madrid". Gives seconds since 1970 by
--- the same keys; date(1) is asked once.
function M.instants(asked)
  local lines, keys, instants = {}, {}, {}
  for key in pairs(asked) do
    local clock, zone = key:match("^(%S+) (%S+)$")
    keys[#keys + 1] = key
    lines[#lines + 1] = ("TZ=\"%s\" %s\n"):format(zone, clock)
  end
  local file = os.tmpname()
  world.write_file(file, table.concat(lines))
  local text, code = world.shell("date -u -f " .. file .. " +%s")
  os.remove(file)
  assert(code == 0, text)
  local index = 0
  for seconds in text:gmatch("%-?%d+") do
    index = index + 1
    instants[keys[index]] = tonumber(seconds)
  end
  assert(index == #keys, "date(1) told " .. index .. " of " .. #keys .. " instants")
  return instants
end

--- Seconds since 1970 as replies tell them.
function M.utc(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", seconds)
end

--- "PT02H05M", "P1DT1H", "PT28H" in minutes.
function M.minutes(text)
  local days = text:match("(%d+)D") or 0
  local clock = text:match("T(.*)$") or ""
  return days * 1440 + (clock:match("(%d+)H") or 0) * 60 + (clock:match("(%d+)M") or 0)
end

-- What is not the supplier's: the engine adds it.
local OURS = { id = true, supplier = true, item = true, price_status = true, observed_at = true, token = true,
  flags = true }

--- The same values at the same places, and no others.
function M.same(theirs, ours, where)
  if type(theirs) ~= "table" or type(ours) ~= "table" then
    return world.equal(theirs, ours, where)
  end
  for key, value in pairs(theirs) do
    M.same(value, ours[key], where .. "." .. key)
  end
  for key, value in pairs(ours) do
    if theirs[key] == nil then
      error(("%s.%s: nothing expected, got %s"):format(where, key, world.json.encode { value }), 0)
    end
  end
end

--- Each offer of a supplier, all that the reply tells of it and nothing else. expected: by the supplier's own ids, as
--- in the reply, with what stands in `items` (slices) beside the rest.
function M.compare(expected, reply, supplier)
  local left = 0
  for _ in pairs(expected) do
    left = left + 1
  end
  for _, offer in ipairs(reply.json.offers) do
    if offer.supplier == supplier then
      local id, told = offer.id:sub(#supplier + 2), {}
      for _, from in ipairs { offer, reply.json.items[offer.item] } do
        for key, value in pairs(from) do
          if not OURS[key] then
            told[key] = value
          end
        end
      end
      M.same(assert(expected[id], offer.id .. " is not of the file"), told, id)
      left = left - 1
    end
  end
  world.equal(0, left, "offers that are missing, or too many")
end

return M
