return {
  name = "plain",
  product = "flights",
  owner = "flights@example.com",
  hosts = { "127.0.0.1:9002" },

  build_request = function(_, _)
    return { method = "GET", url = "http://127.0.0.1:9002/" }
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
