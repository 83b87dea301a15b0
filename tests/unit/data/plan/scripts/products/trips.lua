-- A product for the example of scripts/README.md that goes over maps.
return {
  name = "trips",
  item_prefix = "tr",
  key = { "query" },
  offer = {
    { "id", "text", required = true, max = 64 },
    { "price", {
      { "total", "money", required = true },
      { "currency", "currency", required = true },
    }, required = true },
    { "legs", "list", required = true, min = 1, max = 5, of = {
      { "from", "text", required = true },
      { "at", "local_time", required = true },
    } },
  },
  query = function(request)
    return { product = "trips", currency = "EUR", query = request.query }
  end,
}
