return {
  name = "extra",
  product = "flights",
  owner = "flights@example.com",
  hosts = { "api.extra.example" },

  build_request = function(_, _)
    return { method = "GET", url = "http://127.0.0.1:9002/" }
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
