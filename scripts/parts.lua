-- Parts: what the queries and the offers of all products have in common.

local check = require("check")

local M = {}

local DEFAULT_CURRENCY = "EUR"
local DEFAULT_LOCALE = "en"
local DEFAULT_DEVICE = "desktop"
local DEVICES = { "mobile", "desktop", "app" }

M.QUERY_FIELDS = { "market", "locale", "currency", "device", "client" }

-- What makes two searches the same one. The locale changes words only; `client` is nobody's key.
M.KEY = { "currency", "device", "market", "query" }

-- The facts of every search that rules of the settings may ask for, and what they can be.
M.SEGMENTS = {
  currency = "text",
  device = DEVICES,
  lead_days = "integer",
  locale = "text",
  market = "country",
  nights = "integer",
  party = "integer",
  weekend = "flag",
}

--- Those, and more of one product.
function M.segments(more)
  local segments = {}
  for name, kind in pairs(M.SEGMENTS) do
    segments[name] = kind
  end
  for name, kind in pairs(more) do
    segments[name] = kind
  end
  return segments
end

--- One list of both lists' values.
function M.join(a, b)
  local both = {}
  for i = 1, #a do
    both[i] = a[i]
  end
  for i = 1, #b do
    both[#a + i] = b[i]
  end
  return both
end

-- Only scripts that declare `wants = { "client" }` see it.
local function read_client(c, query)
  local client = query.client ~= nil and c:object("/query/client", query.client, { "ip", "user_agent" })
  return client and {
    ip = c:address("/query/client/ip", client.ip),
    user_agent = c:text("/query/client/user_agent", client.user_agent, 1, 500),
  } or nil
end

--- The search with what every query may say; `query` is the object that was asked.
function M.read(c, product, query)
  return {
    product = product,
    market = c:country("/query/market", query.market),
    locale = c:pattern("/query/locale", query.locale, "^%a%a%a?[%w-]*$", "a language tag such as en-GB", false)
      or DEFAULT_LOCALE,
    currency = c:currency("/query/currency", query.currency, DEFAULT_CURRENCY),
    device = c:choice("/query/device", query.device, DEVICES, DEFAULT_DEVICE),
    client = read_client(c, query),
  }
end

--- The first day that is not over everywhere: a day ends last at UTC-12.
function M.earliest(arrival)
  return time.date(time.iso(arrival.s - 12 * 3600))
end

--- Whole days from the arrival to `date`; 0 for a day that is over in some places only.
function M.lead_days(arrival, date)
  return math.max(0, time.days_between(time.date(arrival.iso), date))
end

--- A copy of the list without what is there twice, in order: other spellings of one set are equal.
function M.as_set(list)
  local set, seen = json.array({}), {}
  for i = 1, list and #list or 0 do
    if list[i] ~= nil and not seen[list[i]] then
      seen[list[i]] = true
      set[#set + 1] = list[i]
    end
  end
  table.sort(set)
  return set
end

local due_later = {
  { "kind", "text", required = true, max = 40 },
  { "amount", "money", required = true },
  { "currency", "currency", required = true },
}

--- The field `price` of an offer. `per_traveller`, where a product has it, lists the fields of one entry.
function M.price(per_traveller)
  local price = {
    { "total", "money", required = true },
    { "currency", "currency", required = true },
    { "base", "money" },
    { "taxes", "money" },
    { "taxes_included", "enum", values = { "yes", "no", "unknown" } },
    { "due_later", "list", of = due_later, max = 20 },
  }
  if per_traveller then
    price[#price + 1] = { "per_traveller", "list", of = per_traveller, max = 9 }
  end
  return { "price", price, required = true }
end

-- The head and the tail of every offer.
M.ID = { "id", "text", required = true, max = 256 }
M.SELLER = { "seller", { { "id", "text", max = 64 }, { "name", "text", max = 128 } } }
M.EXPIRES_AT = { "expires_at", "utc_time" }
-- Some suppliers want a whole offer back, so as much as a revalidation may keep.
M.REF = { "ref", "text", max = 65536, hidden = true }
M.HANDOFF = { "handoff", { { "url", "text", max = 2000 }, { "ref", "text", max = 500 } }, hidden = true }

--- Pointers of entries; see check.lua.
M.pointer = check.pointer

return M
