-- A product with a field of every kind, for plans.
local offer = {
  { "id", "text", required = true, max = 64 },
  { "price", {
    { "total", "money", required = true },
    { "currency", "currency", required = true },
    { "base", "money" },
    { "taxes_included", "enum", values = { "yes", "no", "unknown" } },
  }, required = true },
  { "name", "text", item = true, key = true, max = 64, facet = "names" },
  { "count", "integer", min = -100, max = 100000 },
  { "wait_min", "integer", max = 1000 },
  { "is_open", "flag" },
  { "kind", "enum", values = { "small", "large" } },
  { "day", "date" },
  { "free_until", "utc_time" },
  { "tags", "list", of = "text", max = 3 },
  { "parts", "list", max = 5, of = {
    { "name", "text", required = true },
    { "weight", "integer" },
    { "marks", "list", max = 3, of = { { "mark", "text", required = true }, { "owner", "text" } } },
  } },
  { "box", { { "width", "integer" }, { "label", "text" } } },
  { "lid", { { "kind", "text" }, { "label", "text" } } },
}

return {
  name = "things",
  item_prefix = "th",
  key = { "query" },
  offer = offer,
  example = { word = "small", rooms = { 2, 3 } },
  query = function(request)
    return { product = "things", currency = "EUR", query = request.query }
  end,
}
