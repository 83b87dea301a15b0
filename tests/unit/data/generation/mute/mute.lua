return {
  name = "mute",
  product = "flights",
  owner = "flights@example.com",
  hosts = {},
  options = { size = "large" },

  build_request = function(_, _)
    return { method = "GET", path = "/" }
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
