-- A product as small as can be: things with a price.
local offer = {
  { "id", "text", required = true, max = 64 },
  { "price", {
    { "total", "money", required = true },
    { "currency", "currency", required = true },
    { "taxes_included", "enum", values = { "yes", "no", "unknown" } },
  }, required = true },
  { "thing", "text", item = true, key = true, required = true },
}

local function query(request, arrival)
  local asked = request.query
  if type(asked) ~= "table" or type(asked.thing) ~= "string" then
    return nil, { { pointer = "/query/thing", code = "missing", detail = "name a thing" } }
  end
  if asked.thing == "loop" then
    while true do end
  end
  if asked.thing == "stuck" then
    stick(700) -- only tests have it
  end
  if asked.thing == "broken" then
    return 42
  end
  return {
    product = "shop",
    currency = "EUR",
    day = arrival.iso:sub(1, 10),
    query = { thing = asked.thing, list = { "one", "two", "three" }, none = json.array({}) },
  }
end

return { name = "shop", item_prefix = "th", offer = offer, query = query }
