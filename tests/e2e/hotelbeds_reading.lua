-- Hotelbeds' availability read once more, by other code than the supplier's script: what the reply must say of each
-- rate. Ids come from openssl(1), instants from date(1), money is compared as text.
local world = require("tests.e2e.world")

local M = {}

local BOARDS = { ["ROOM ONLY"] = "room_only", ["BED AND BREAKFAST"] = "breakfast" }
local PAYS = { AT_WEB = "now", AT_HOTEL = "at_property" }

-- One line of output for each line of input.
local function lines_of(command, lines)
  local file = os.tmpname()
  world.write_file(file, table.concat(lines, "\n") .. "\n")
  local text, code = world.shell((command):gsub("FILE", file))
  os.remove(file)
  assert(code == 0, text)
  local out = {}
  for line in text:gmatch("[^\n]+") do
    out[#out + 1] = line
  end
  assert(#out == #lines, ("%d lines of %d: %s"):format(#out, #lines, text))
  return out
end

-- The ids of offers: digests of their rate keys.
function M.ids(keys)
  local digest = "while IFS= read -r key; do printf %s \"$key\" | openssl dgst -sha256 -binary | base64; done <FILE"
  local ids = lines_of(digest, keys)
  for i, id in ipairs(ids) do
    ids[i] = id:gsub("%+", "-"):gsub("/", "_"):sub(1, 22)
  end
  return ids
end

local function instants(times)
  return lines_of("date -u -f FILE +%Y-%m-%dT%H:%M:%SZ", times)
end

-- "300.3" as "300.30": no arithmetic.
local function with_cents(literal)
  local whole, cents = literal:match("^(%d+)%.?(%d*)$")
  assert(#cents <= 2, literal)
  return whole .. "." .. cents .. ("0"):rep(2 - #cents)
end

-- cjson makes floats of the amounts, so their literals are taken from the text: in the order of the rates.
local function literals(text, field)
  local list = {}
  for literal in text:gmatch("\"" .. field .. "\"%s*:%s*\"?([%d.]+)") do
    list[#list + 1] = with_cents(literal)
  end
  return list
end

-- What the reply must say, by id. price: the field that is the total; now: seconds since 1970.
function M.read(text, price, now)
  local hotel = world.json.decode(text).hotels.hotels[1]
  local rates, keys, froms = {}, {}, {}
  for _, room in ipairs(hotel.rooms) do
    for _, rate in ipairs(room.rates) do
      assert(#rate.cancellationPolicies == 1, "one fee each")
      rates[#rates + 1] = { room = room.name, board = BOARDS[rate.boardName], pay = PAYS[rate.paymentType],
        is_refundable = rate.rateClass == "NOR", currency = hotel.currency }
      keys[#keys + 1], froms[#froms + 1] = rate.rateKey, rate.cancellationPolicies[1].from
    end
  end
  local totals, ids, ends = literals(text, price), M.ids(keys), instants(froms)
  assert(#totals == #rates, "an amount for each rate")
  local by_id, today = {}, os.date("!%Y-%m-%dT%H:%M:%SZ", now)
  for i, rate in ipairs(rates) do
    rate.total, rate.key = totals[i], keys[i]
    rate.free_until = rate.is_refundable and ends[i] > today and ends[i] or nil
    by_id[ids[i]] = rate
  end
  return by_id, #rates
end

-- Each rate of the file, all that is told of it, and nothing else.
function M.compare(by_id, reply, supplier, taxes_included)
  local equal, count = world.equal, 0
  for _, offer in ipairs(reply.json.offers) do
    local id = offer.id:sub(#supplier + 2)
    local rate = assert(by_id[id], offer.id .. " is not of the file")
    equal(rate.total .. " " .. rate.currency, offer.price.total .. " " .. offer.price.currency, id .. " total")
    equal(taxes_included, offer.price.taxes_included, id .. " taxes_included")
    for _, part in ipairs { "base", "taxes", "due_later", "supplier_price" } do
      equal(nil, offer.price[part], id .. " " .. part)
    end
    for _, field in ipairs { "room", "board", "pay" } do
      equal(rate[field], offer[field], id .. " " .. field)
    end
    equal(rate.free_until, offer.refund and offer.refund.free_until, id .. " free_until")
    equal(rate.free_until ~= nil, offer.refund ~= nil, id .. " refund")
    equal(nil, offer.beds, id .. " beds")
    assert(not world.json.encode(offer):find(rate.key, 1, true), "a rate key is shown")
    count = count + 1
  end
  for _ in pairs(by_id) do
    count = count - 1
  end
  equal(0, count, "offers that are too many, or missing")
end

return M
