-- Accounts with a client certificate or a proxy of their own, from the settings to the wire: who passes, how everything
-- else ends, and that no connection of one account is ever another's.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local LOG = world.folder .. "/gate.log"
local pid = tonumber((world.shell(("%s/tests/e2e/e2e_gate >%s 2>&1 </dev/null & echo $!"):format(world.build, LOG))))

local function gate_log()
  return world.read_file(LOG) or ""
end

for _ = 1, 400 do
  if gate_log():find("\nready\n", 1, true) then
    break
  end
  world.sleep_ms(50)
end
assert(gate_log():find("\nready\n", 1, true), "the gate did not come up: " .. gate_log())

local function port(name)
  return assert(gate_log():match("at " .. name .. " (%d+)\n"), name)
end

local function tls(name)
  local certificate, key = gate_log():match("file " .. name .. " (%S+) (%S+)\n")
  return (", tls: { cert: %s, key: %s }"):format(certificate, key)
end

local function proxy(name)
  return (", proxy: \"http://127.0.0.1:%s\""):format(port(name))
end

-- NAME -> where it asks, and how.
local ASKS = {
  acme = { "https", "closed", tls("acme") },
  beta = { "https", "closed", tls("beta") },
  nobody = { "https", "closed", "" },
  stranger = { "https", "closed", tls("stranger") },
  acme_1_2 = { "https", "closed_1_2", tls("acme") },
  nobody_1_2 = { "https", "closed_1_2", "" },
  stranger_1_2 = { "https", "closed_1_2", tls("stranger") },
  plain_by_a = { "http", "plain", proxy("proxy_a") },
  plain_by_b = { "http", "plain", proxy("proxy_b") },
  plain_straight = { "http", "plain", "" },
  tls_by_a = { "https", "open", proxy("proxy_a") },
  tls_by_b = { "https", "open", proxy("proxy_b") },
  acme_by_a = { "https", "closed", tls("acme") .. proxy("proxy_a") },
  beta_by_a = { "https", "closed", tls("beta") .. proxy("proxy_a") },
}
for _, fault in ipairs { "407", "403", "silent", "dead" } do
  ASKS["plain_" .. fault] = { "http", "plain", proxy("proxy_" .. fault) }
  ASKS["tls_" .. fault] = { "https", "open", proxy("proxy_" .. fault) }
end

local lines = {
  "suppliers_dir: tests/e2e/gate", "scripts_dir: scripts", "deadline: { max: 60s }", "suppliers:",
  "  gate: { enabled: false, because: \"a template\" }",
}
for name, ask in pairs(ASKS) do
  local account = ("options: { base_url: \"%s://127.0.0.1:%s\" }%s"):format(ask[1], port(ask[2]), ask[3])
  lines[#lines + 1] = ("  %s: { uses: gate, ceiling: 50s, accounts: { main: { %s } } }"):format(name, account)
end
-- One supplier, two accounts: by market.
local closed = ("options: { base_url: \"https://127.0.0.1:%s\" }"):format(port("closed"))
lines[#lines + 1] = "  markets:\n    uses: gate\n    ceiling: 50s\n    accounts:"
lines[#lines + 1] = ("      uk: { when: { market: GB }, %s%s }"):format(closed, tls("acme"))
lines[#lines + 1] = ("      main: { %s%s }"):format(closed, tls("beta"))
local SETTINGS = world.folder .. "/identity.yaml"
world.write_file(SETTINGS, table.concat(lines, "\n") .. "\n")

local w = world.start {
  no_farm = true,
  settings = { SETTINGS },
  environment = "LASTCALL__NETWORK__ALLOW_PRIVATE=127.0.0.0/8 LASTCALL__NETWORK__CA_FILE="
    .. gate_log():match("authority (%S+)\n"),
}

local function ask(name, market, budget_ms)
  local reply = w:search {
    product = "hotels", suppliers = { name }, budget_ms = budget_ms or 20000,
    query = {
      place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } },
      currency = "EUR", market = market,
    },
  }
  local entry = world.entry(reply, name)
  assert(entry, reply.raw)
  return entry, reply.json.offers and reply.json.offers[1] and reply.json.offers[1].room, world.json.encode(entry)
end

-- Whom the server took us for, and on which of its connections.
local function taken_for(name, market)
  local entry, room, told = ask(name, market)
  equal("answered", entry.outcome, told)
  local client, connection = room:match("^(%S+) on (%d+)$")
  return client, tonumber(connection)
end

local function failed(name, phases)
  local entry, _, told = ask(name)
  equal("failed", entry.outcome, told)
  assert((" " .. phases .. " "):find(" " .. entry.phase .. " ", 1, true), told)
  return entry
end

test("the right certificate passes, under TLS 1.3 and 1.2", function()
  equal("acme", (taken_for("acme")))
  equal("beta", (taken_for("beta")))
  equal("acme", (taken_for("acme_1_2")))
end)

test("none and a stranger's fail in phase tls", function()
  failed("nobody_1_2", "tls")
  failed("stranger_1_2", "tls")
  -- Under TLS 1.3 the refusal comes after our side is done; when the server's reset is faster than its words, the
  -- request was being sent, or waited for its answer.
  local entry = failed("nobody", "tls send first_byte")
  assert(entry.phase ~= "tls" or entry.detail:find("alert", 1, true), entry.detail)
  failed("stranger", "tls send first_byte")
end)

test("accounts of one supplier keep to their own certificates and connections", function()
  local of = {}
  for round = 1, 3 do
    for _, market in ipairs { "GB", "FR" } do
      local client, connection = taken_for("markets", market)
      equal(market == "GB" and "acme" or "beta", client, "round " .. round)
      of[market] = of[market] or connection
      equal(of[market], connection, "the kept connection of " .. market)
    end
  end
  assert(of.GB ~= of.FR, "both on connection " .. of.GB)
end)

local function proxied(name)
  local count = 0
  for _ in gate_log():gmatch("\n" .. name .. " %d+ %S+ %S+") do
    count = count + 1
  end
  return count
end

test("requests go through the account's proxy: whole for http, in a tunnel for https", function()
  local before_a, before_b = proxied("proxy_a"), proxied("proxy_b")
  equal("nobody", (taken_for("plain_by_a")))
  assert(gate_log():find(("\nproxy_a %%d+ POST http://127.0.0.1:%s/rates\n"):format(port("plain"))), gate_log())
  equal("nobody", (taken_for("tls_by_a")))
  assert(gate_log():find(("\nproxy_a %%d+ CONNECT 127.0.0.1:%s\n"):format(port("open"))), gate_log())
  equal(before_a + 2, proxied("proxy_a"), "through a")
  equal(before_b, proxied("proxy_b"), "through b")
  equal("nobody", (taken_for("plain_straight")))
  equal(before_a + 2, proxied("proxy_a"), "a, when no proxy is named")
end)

test("accounts with different proxies, or certificates behind one, never share a connection", function()
  local of, owner = {}, {}
  for _ = 1, 3 do
    for _, name in ipairs { "tls_by_a", "tls_by_b" } do
      local _, connection = taken_for(name)
      assert(not owner[connection] or owner[connection] == name, "connection " .. connection .. " is shared")
      owner[connection] = name
    end
    for _, name in ipairs { "acme_by_a", "beta_by_a", "acme" } do
      local client, connection = taken_for(name)
      equal(name:match("^%a+"), client, name)
      assert(not of[connection] or of[connection] == name, "connection " .. connection .. " is shared")
      of[connection] = name
    end
  end
  assert(proxied("proxy_b") > 0, "proxy b was never asked")
end)

test("a proxy that refuses is a failed connect for a tunnel, and the answer of a plain request", function()
  for _, code in ipairs { "407", "403" } do
    local entry = failed("tls_" .. code, "connect")
    assert(entry.detail:find(code, 1, true), entry.detail)
    local plain, _, told = ask("plain_" .. code)
    equal("rejected", plain.outcome, told)
    equal(tonumber(code), plain.http_status, told)
  end
end)

test("a proxy that says nothing costs the budget, and nothing more", function()
  local entry, _, told = ask("tls_silent", nil, 400)
  equal("cut", entry.outcome, told)
  equal("budget", entry.bound, told)
  equal("connect", entry.phase, told)
  entry, _, told = ask("plain_silent", nil, 400)
  equal("cut", entry.outcome, told)
  equal("first_byte", entry.phase, told)
end)

test("a dead proxy is a failed connect", function()
  failed("tls_dead", "connect")
  failed("plain_dead", "connect")
end)

test("an account whose certificate is gone keeps the engine from starting, and check says where", function()
  local path = world.folder .. "/broken.yaml"
  local broken = world.read_file(SETTINGS):gsub("cert: %S+,", "cert: /nowhere/cert.pem,", 1)
  world.write_file(path, broken)
  local output, code = world.shell(("LASTCALL__NETWORK__CA_FILE=%s %s/lastcall check -c %s"):format(
    gate_log():match("authority (%S+)\n"), world.build, path))
  equal(1, code, output)
  assert(output:find("/nowhere/cert.pem cannot be read: No such file", 1, true), output)
end)

w:stop()
os.execute("kill -TERM " .. pid)
os.execute("rm -f " .. gate_log():gsub("[^\n]*\n", function(line)
  return line:match("^file ") and line:match("^file %S+ (.*)\n") .. " " or ""
end))
test("the engine ended clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
  assert(not gate_log():match("Sanitizer"), gate_log())
end)
world.finish()
