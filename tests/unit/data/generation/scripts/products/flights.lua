return {
  name = "flights",

  query = function(request, _)
    return request
  end,

  offer = {
    { "id", "text", required = true, max = 64 },
    {
      "price",
      {
        { "total", "money", required = true },
        { "currency", "currency", required = true },
      },
      required = true,
    },
    { "flight", "text", item = true, max = 16 },
  },
}
