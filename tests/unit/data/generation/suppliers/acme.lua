return {
  name = "acme",
  display_name = "Acme Air",
  product = "flights",
  owner = "flights@example.com",
  hosts = { "api.acme.example", "127.0.0.1:9000", "[::1]:9001", "login.acme.example:8443" },
  secrets = { "GENERATION_TEST_KEY" },
  options = { base_url = "https://api.acme.example", pages = 2, fast = false, tags = { "a", "b" } },
  limits = { per_day = 50000, concurrent = 64, body = "2MiB" },

  build_request = function(_, _)
    return { method = "GET", path = "/" }
  end,

  normalise = function(_, _, _)
    return {}
  end,
}
