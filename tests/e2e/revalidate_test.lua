-- Tokens of offers, revalidations, booking tokens: the one way from an offer to a booking.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local LONG_MS = 9000
local SAYS = { "confirmed", "plain", "dearer", "short", "over", "sold_out", "expired", "retry", "busy", "bug",
  "over_elsewhere", "whenever", "quota", "denied", "polled", "parted", "counted" }

local overlay = { "suppliers_dir: [suppliers, examples/farm/suppliers, tests/e2e/revalidators]", "io_threads: 2",
  "tokens: { enabled: true, offer_keys: [OFFER_NEW, OFFER_OLD], booking_keys: [BOOKING_KEY] }", "suppliers:" }
local FARM = {} -- the farm's supplier behind each; those of even numbers are asked otherwise
for i, says in ipairs(SAYS) do
  FARM["re_" .. says] = ("s%02d"):format(2 * i - 1)
  overlay[#overlay + 1] = ("  re_%s: { uses: asked_again, accounts: { main: { options: { says: %s, base_url: "
    .. "\"http://%s.farm.test:8080\" } } } }"):format(says, says, FARM["re_" .. says])
end
local KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-PQ=="
local OLD = ("00112233445566778899aabbccddeeff"):rep(4)
local BOOKING = ("0f1e2d3c4b5a69788796a5b4c3d2e1f0"):rep(2)

local w = world.start {
  population = "instant",
  overlay = table.concat(overlay, "\n") .. "\n",
  environment = ("OFFER_NEW=%s OFFER_OLD=%s BOOKING_KEY=%s"):format(KEY, OLD, BOOKING),
}

local function search(name)
  local reply = w:search { suppliers = { name }, budget_ms = LONG_MS, max_items = 50 }
  equal(200, reply.status, reply.raw)
  assert(#reply.json.offers > 0, "no offers")
  return reply
end

local function post(path, body)
  return world.http("POST", w.url .. path, { body = type(body) == "table" and json.encode(body) or body,
    headers = { "Content-Type: application/json" }, max_time = 60 })
end

local function revalidate(token)
  return post("/v1/revalidate", { token = token })
end

-- An offer of the supplier, asked for again.
local function again(name, nth)
  local offer = search(name).json.offers[nth or 1]
  local reply = revalidate(offer.token)
  equal(200, reply.status, reply.raw)
  return reply.json, offer
end

-- ---- tokens

test("every offer that is returned has a token, and nothing else to book by", function()
  local reply = search("re_confirmed")
  local seen = {}
  for _, offer in ipairs(reply.json.offers) do
    assert(type(offer.token) == "string" and #offer.token > 100, "no token: " .. json.encode(offer))
    assert(not seen[offer.token], "a token comes twice")
    seen[offer.token] = true
    assert(offer.ref == nil and offer.handoff == nil, "a hand-off is shown")
  end
  assert(not reply.raw:find("book.example", 1, true), "the hand-off is in the reply")
end)

test("a stream tells the tokens at its end", function()
  local body = json.encode { product = "flights", query = world.query, suppliers = { "re_confirmed" },
    budget_ms = LONG_MS }
  local reply = world.http("POST", w.url .. "/v1/search", { body = body,
    headers = { "Content-Type: application/json", "Accept: application/x-ndjson" } })
  local done
  for line in reply.raw:gmatch("[^\n]+") do
    local event = json.decode(line)
    done = event.data and event.data.tokens and event.data or done
  end
  assert(done, "no tokens: " .. reply.raw:sub(-300))
  for _, id in ipairs(done.order) do
    assert(done.tokens[id], "no token of " .. id)
  end
  equal("confirmed", revalidate(done.tokens[done.order[1]]).json.status)
  assert(not reply.raw:find("book.example", 1, true), "the hand-off is in the stream")
end)

-- ---- the six

test("confirmed gives the hand-off and a booking token", function()
  local told, offer = again("re_confirmed")
  equal("confirmed", told.status)
  equal(offer.price.total, told.was.total)
  equal(offer.price.total, told.now.total)
  assert(told.handoff.url:find("/now$"), json.encode(told))
  local verified = post("/v1/verify", { booking_token = told.booking_token }).json
  equal(true, verified.valid)
  equal("re_confirmed", verified.supplier)
  equal(told.now.total, verified.price.total)
  equal(told.expires_at, verified.expires_at)
end)

local has_openssl = os.execute("command -v openssl >/dev/null") == 0
local test_offline = has_openssl and test or function(name)
  world.skip(name, "there is no openssl")
end

test_offline("a booking system verifies a booking token offline", function()
  local told = again("re_confirmed")
  local keys = world.http("GET", w.url .. "/.well-known/jwks.json").json.keys
  equal(1, #keys)
  equal("Ed25519", keys[1].crv)
  local head, payload, signature = told.booking_token:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  local folder = world.folder .. "/offline"
  os.execute("mkdir -p " .. folder)
  world.write_file(folder .. "/signed", head .. "." .. payload)
  local function bytes_of(letters, name)
    local spelt = letters:gsub("-", "+"):gsub("_", "/") .. ("="):rep(-#letters % 4)
    local output, code = world.shell(("printf %%s '%s' | base64 -d >%s/%s"):format(spelt, folder, name))
    equal(0, code, output)
  end
  bytes_of(signature, "signature")
  bytes_of(keys[1].x, "key")
  -- What stands before the bytes of an Ed25519 key in DER (RFC 8410).
  local der = "\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000"
  local verify = ("cd %s && (printf '" .. der .. "'; cat key) >key.der && "
    .. "openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in signed -sigfile signature"):format(folder)
  local output, code = world.shell(verify)
  equal(0, code, output)
  world.write_file(folder .. "/signed", head .. "." .. payload .. "x")
  output, code = world.shell(verify)
  assert(code ~= 0, "it verifies something else: " .. output)
end)

test("a reference that is too large for a token is kept", function()
  local reply = search("re_confirmed")
  local done = { [0] = 0, [1] = 0 }
  for _, offer in ipairs(reply.json.offers) do
    local kind = #offer.brand % 2
    if done[kind] < 2 then
      done[kind] = done[kind] + 1
      equal("confirmed", revalidate(offer.token).json.status, "brand " .. offer.brand)
    end
  end
  assert(done[0] > 0 and done[1] > 0, "only one kind of reference was tried")
end)

test("the hand-off of the search comes when the script gives none", function()
  local told, offer = again("re_plain")
  equal("confirmed", told.status)
  equal("https://book.example/" .. offer.id:match(":(.*)$"), told.handoff.url)
end)

test("another price is no confirmation, whatever it is called", function()
  local told, offer = again("re_dearer")
  equal("price_changed", told.status)
  equal(offer.price.total, told.was.total)
  assert(told.now.total ~= told.was.total, "the price is the same")
  equal(told.now.total, post("/v1/verify", { booking_token = told.booking_token }).json.price.total)
end)

test("what the supplier says ends a booking token", function()
  local told = again("re_short")
  equal("confirmed", told.status)
  assert(told.expires_at <= os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() + 61), told.expires_at)
  equal("expired", again("re_over").status)
end)

for _, says in ipairs { "over", "sold_out", "expired", "retry", "busy", "bug", "over_elsewhere", "whenever" } do
  test("re_" .. says .. " gives no way to a booking", function()
    local told = again("re_" .. says)
    assert(told.status ~= "confirmed" and told.status ~= "price_changed", told.status)
    equal(nil, told.booking_token)
    equal(nil, told.handoff)
    equal(nil, told.now)
  end)
end

for _, says in ipairs { "polled", "parted" } do
  test("re_" .. says .. " is confirmed by the last of three exchanges", function()
    local name = "re_" .. says
    local offer = search(name).json.offers[1]
    local before = world.farm_requests(FARM[name])
    local told = revalidate(offer.token).json
    equal("confirmed", told.status, json.encode(told))
    equal(before + 3, world.farm_requests(FARM[name]), "requests")
    assert(told.booking_token, "no booking token")
  end)
end

-- Several callers at once with one body; their replies, decoded.
local function at_once(count, body)
  local folder = world.folder .. "/at_once"
  os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
  world.write_file(folder .. "/body", body)
  local calls = {}
  for i = 1, count do
    local words = "curl -s -m 60 -H 'Content-Type: application/json' -d @%s/body -o %s/reply%d %s/v1/revalidate &"
    calls[i] = words:format(folder, folder, i, w.url)
  end
  world.shell(table.concat(calls, "\n") .. "\nwait")
  local replies = {}
  for i = 1, count do
    replies[i] = json.decode(world.read_file(("%s/reply%d"):format(folder, i)))
  end
  return replies
end

test("callers who want the same at once share one exchange, and each has a booking token of his own", function()
  local offer = search("re_counted").json.offers[1]
  local before = world.farm_requests(FARM.re_counted)
  world.farm(FARM.re_counted, { model = "constant", median_ms = 3000, fault = "none" })
  local replies = at_once(8, json.encode { token = offer.token })
  world.farm(FARM.re_counted, { model = "constant", median_ms = 1, fault = "none" })
  local ids, requests = {}, world.farm_requests(FARM.re_counted) - before
  for _, told in ipairs(replies) do
    equal("confirmed", told.status, json.encode(told))
    local id = post("/v1/verify", { booking_token = told.booking_token }).json.id
    assert(not ids[id], "two booking tokens with one id")
    ids[id] = true
  end
  equal(1, requests, "requests")
end)

test("who leaves does not end what another one waits for", function()
  local offer = search("re_counted").json.offers[1]
  local before = world.farm_requests(FARM.re_counted)
  world.farm(FARM.re_counted, { model = "constant", median_ms = 4000, fault = "none" })
  local folder = world.folder .. "/leaves"
  os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
  world.write_file(folder .. "/body", json.encode { token = offer.token })
  local words = "curl -s -m %s -H 'Content-Type: application/json' -d @" .. folder .. "/body -o " .. folder .. "/%s "
    .. w.url .. "/v1/revalidate"
  os.execute("(" .. words:format("60", "first") .. "; touch " .. folder .. "/over) &")
  world.wait_until("it has been asked", function()
    return world.farm_requests(FARM.re_counted) == before + 1
  end)
  for _ = 1, 4 do -- on whichever loop
    world.shell(words:format("0.2", "gone"))
  end
  os.execute("(" .. words:format("60", "second") .. "; touch " .. folder .. "/over_too) &")
  world.wait_until("both are over", function()
    return world.read_file(folder .. "/over") and world.read_file(folder .. "/over_too")
  end)
  world.farm(FARM.re_counted, { model = "constant", median_ms = 1, fault = "none" })
  for _, name in ipairs { "first", "second" } do
    equal("confirmed", json.decode(world.read_file(folder .. "/" .. name)).status, name)
  end
  equal(before + 1, world.farm_requests(FARM.re_counted), "requests")
end)

test("each revalidation is written down, and explained by its id", function()
  local told, offer = again("re_dearer")
  local reply = world.http("GET", w.admin_url .. "/admin/v1/searches/" .. told.revalidation_id)
  equal(200, reply.status, reply.raw)
  equal("revalidation", reply.json.line)
  equal("price_changed", reply.json.status)
  equal("answered", reply.json.because)
  equal(offer.price.total .. " " .. offer.price.currency, reply.json.was)
  equal(told.now.total .. " " .. told.now.currency, reply.json.now)
  equal("re_dearer", reply.json.supplier)
  equal("main", reply.json.account)
  equal(1, reply.json.requests)
  local printed, code = world.shell(
    ("%s/lastcall explain %s --admin %s 2>&1"):format(world.build, told.revalidation_id, w.admin_url))
  equal(0, code, printed)
  assert(printed:find("Status price_changed", 1, true) and printed:find("requests 1", 1, true), printed)
end)

test("what goes wrong is a retry, and says why", function()
  local told = again("re_busy")
  equal("retry", told.status)
  equal("rejected", told.because)
  told = again("re_bug")
  equal("retry", told.status)
  equal("script_error", told.because)
end)

local function metric(name)
  local lines = world.http("GET", w.admin_url .. "/metrics").raw
  return tonumber(lines:match("lastcall_" .. name:gsub("[{}]", "%%%0") .. " (%d+)")) or 0
end

test("an end in another zone is an end, and one that nobody can read confirms nothing", function()
  equal("expired", again("re_over_elsewhere").status)
  local told = again("re_whenever")
  equal("retry", told.status)
  equal("unparsable", told.because)
end)

test("the supplier's word on its quota holds for searches, too", function()
  local told = again("re_quota")
  equal("rejected", told.because)
  assert(told.retry_in_ms > 30000 and told.retry_in_ms <= 37000, json.encode(told))
  local reply = w:search { suppliers = { "re_quota" }, budget_ms = LONG_MS }
  equal("rate_limited", reply.json.suppliers[1].outcome, reply.raw)
end)

test("refused credentials park the account, and nobody is asked then", function()
  local offer = search("re_denied").json.offers[1]
  for _ = 1, 3 do
    equal("rejected", revalidate(offer.token).json.because)
  end
  local before = world.farm_requests(FARM.re_denied)
  local told = revalidate(offer.token).json
  equal("rejected", told.because)
  assert(told.retry_in_ms > 30000, json.encode(told))
  equal(before, world.farm_requests(FARM.re_denied), "requests")
end)

test("a supplier that cannot be asked again is told apart from one whose script is wrong", function()
  local offer = search("s30").json.offers[1]
  local errors = metric("script_errors_total")
  local told = revalidate(offer.token).json
  equal("retry", told.status)
  equal("not_revalidated", told.because)
  equal(errors, metric("script_errors_total"), "errors of scripts")
end)

test("revalidations and their requests are counted, and told in the log", function()
  local offer = search("re_plain").json.offers[1]
  local confirmed = metric("revalidations_total{status=\"confirmed\"}")
  local requests = metric("supplier_requests_total{supplier=\"re_plain\"}")
  equal("confirmed", revalidate(offer.token).json.status)
  equal(confirmed + 1, metric("revalidations_total{status=\"confirmed\"}"))
  equal(requests + 1, metric("supplier_requests_total{supplier=\"re_plain\"}"))
  world.wait_until("it is in the log", function()
    return w:engine_output():find("supplier=re_plain account=main status=confirmed because=answered", 1, true)
  end)
  assert(not w:engine_output():find("book.example", 1, true), "a hand-off is in the log")
end)

test("a supplier that hangs ends with the budget, one that refuses at once", function()
  local offer = search("re_plain").json.offers[1]
  world.farm(FARM.re_plain, { fault = "hang_answer" })
  local reply = world.http("POST", w.url .. "/v1/revalidate", { body = json.encode { token = offer.token },
    headers = { "Content-Type: application/json", "Search-Budget-Ms: 300" }, max_time = 60 })
  equal("retry", reply.json.status, reply.raw)
  equal("cut", reply.json.because)
  world.farm(FARM.re_plain, { fault = "status_503" })
  equal("retry", revalidate(offer.token).json.status)
  world.farm(FARM.re_plain, { fault = "none" })
end)

test("a supplier that an operator has switched off is not asked again either", function()
  local offer = search("re_plain").json.offers[1]
  local before = world.farm_requests(FARM.re_plain)
  local function switch(action)
    return world.http("POST", w.admin_url .. "/admin/v1/suppliers/re_plain/" .. action,
      { body = '{"why":"by hand"}', headers = { "Content-Type: application/json" }, max_time = 60 }).status
  end
  equal(200, switch("disable"))
  local reply = revalidate(offer.token)
  equal("retry", reply.json.status, reply.raw)
  equal("disabled", reply.json.because, reply.raw)
  assert(not reply.raw:find("by hand", 1, true), "strangers are not told why")
  equal(before, world.farm_requests(FARM.re_plain), "requests")
  equal(200, switch("enable"))
  assert(revalidate(offer.token).json.because ~= "disabled")
end)

test("nobody is asked for a token whose time is over", function()
  local settings = world.folder .. "/overlay.yaml"
  local before = world.read_file(settings)
  world.write_file(settings, (before:gsub("tokens: { ", "%0offer_life: 1s, ")))
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
  local offer = search("re_confirmed").json.offers[1]
  local asked = world.farm_requests(FARM.re_confirmed)
  world.wait_until("its time is over", function()
    return revalidate(offer.token).json.status == "expired"
  end)
  local asked_then = world.farm_requests(FARM.re_confirmed)
  equal("expired", revalidate(offer.token).json.status)
  equal(asked_then, world.farm_requests(FARM.re_confirmed), "asked, though its time was over")
  assert(asked_then >= asked, "the farm counts")
  world.write_file(settings, before)
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
end)

-- ---- what is refused

local function refused(token, status, code)
  local reply = revalidate(token)
  equal(status, reply.status, reply.raw)
  equal(code, reply.json.code)
end

test("tampered, cut and foreign tokens are refused, each with its code", function()
  local token = search("re_confirmed").json.offers[1].token
  local middle = math.floor(#token / 2)
  local other = token:sub(middle, middle) == "A" and "B" or "A"
  refused(token:sub(1, middle - 1) .. other .. token:sub(middle + 1), 422, "token_tampered")
  refused(token:sub(1, 40), 422, "token_malformed")
  refused("", 422, "token_malformed")
  refused("no token at all!", 422, "token_malformed")
  refused(token:sub(1, 2) .. (token:sub(3, 3) == "x" and "y" or "x") .. token:sub(4), 422, "token_unknown_key")
end)

test("a booking token that was changed is not genuine", function()
  local told = again("re_confirmed")
  local token = told.booking_token
  local head, payload, signature = token:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  local changed = payload:sub(1, 20) .. (payload:sub(21, 21) == "A" and "B" or "A") .. payload:sub(22)
  for _, bad in ipairs { head .. "." .. changed .. "." .. signature, token:sub(1, -3), "x", head .. "." .. payload } do
    local verified = post("/v1/verify", { booking_token = bad })
    equal(200, verified.status)
    equal(false, verified.json.valid, bad)
    equal(false, verified.json.genuine)
  end
end)

test("a booking token whose time is over is genuine, and says that it is over", function()
  local told = again("re_short") -- the supplier's word: a minute
  local settings = world.folder .. "/overlay.yaml"
  local before = world.read_file(settings)
  world.write_file(settings, (before:gsub("tokens: { ", "%0booking_life: 1s, ")))
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
  local short = again("re_confirmed")
  local verified
  world.wait_until("its time is over", function()
    verified = post("/v1/verify", { booking_token = short.booking_token }).json
    return not verified.valid
  end)
  equal(true, verified.genuine)
  equal("token_expired", verified.because)
  equal(true, post("/v1/verify", { booking_token = told.booking_token }).json.valid)
  world.write_file(settings, before)
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
end)

test("bad requests say where", function()
  equal(400, post("/v1/revalidate", "{").status)
  equal("missing", post("/v1/revalidate", {}).json.errors[1].code)
  equal("not_a_text", post("/v1/revalidate", { token = 1 }).json.errors[1].code)
  equal("/token", post("/v1/revalidate", { token = 1 }).json.errors[1].pointer)
  equal("unknown_field", post("/v1/revalidate", { token = "x", tokn = 1 }).json.errors[1].code)
  equal(405, world.http("GET", w.url .. "/v1/revalidate").status)
end)

test("callers who leave take their revalidations with them", function()
  local offer = search("re_plain").json.offers[1]
  world.farm(FARM.re_plain, { fault = "hang_answer" })
  for _ = 1, 5 do
    world.http("POST", w.url .. "/v1/revalidate", { body = json.encode { token = offer.token },
      headers = { "Content-Type: application/json" }, max_time = 0.2 })
  end
  world.farm(FARM.re_plain, { fault = "none" })
  equal("confirmed", revalidate(offer.token).json.status)
end)

-- Four callers who ask again and again, while scripts change and suppliers go, until the engine ends under them.
test("revalidations go on over reloads and switches, and end with the engine", function()
  local token = search("re_plain").json.offers[1].token
  local asks = {}
  for number = 1, 4 do
    local folder = ("%s/again%d"):format(world.folder, number)
    asks[number] = folder
    os.execute("rm -rf " .. folder .. " && mkdir -p " .. folder)
    world.write_file(folder .. "/body", json.encode { token = token })
    world.write_file(folder .. "/run", ([[i=0
while [ ! -e %s/stop ] && [ $i -lt 3000 ]; do
  i=$((i + 1))
  curl -s -m 60 -H 'Content-Type: application/json' -d @%s/body -w '\n' %s/v1/revalidate >>%s/replies ||
    echo gone >>%s/replies
done
touch %s/over
]]):format(folder, folder, w.url, folder, folder, folder))
    os.execute("sh " .. folder .. "/run &")
  end
  local function said()
    local all = ""
    for _, folder in ipairs(asks) do
      all = all .. (world.read_file(folder .. "/replies") or "")
    end
    return all
  end
  local function post_admin(path, body)
    return world.http("POST", w.admin_url .. "/admin/v1/" .. path, { body = body or "{}",
      headers = { "Content-Type: application/json" }, max_time = 120 })
  end
  local settings = world.folder .. "/overlay.yaml"
  local before = world.read_file(settings)
  for round = 1, 2 do
    if round == 2 then -- another generation, while they ask
      world.write_file(settings, (before:gsub("tokens: { ", "%0offer_life: 23s, ")))
      equal(200, post_admin("reload").status) -- unless the watch over the files was quicker
    end
    equal(200, post_admin("suppliers/re_plain/disable", '{"why":"by hand"}').status)
    world.wait_until("somebody is refused", function()
      local all = said()
      os.execute(("for f in %s; do : >$f/replies; done"):format(table.concat(asks, " ")))
      return all:find('"because":"disabled"', 1, true)
    end)
    equal(200, post_admin("suppliers/re_plain/enable").status)
    world.wait_until("somebody is confirmed", function()
      return said():find('"status":"confirmed"', 1, true)
    end)
  end
  w:signal("TERM")
  for _, folder in ipairs(asks) do
    os.execute("touch " .. folder .. "/stop")
  end
  world.wait_until("they are over", function()
    for _, folder in ipairs(asks) do
      if not world.read_file(folder .. "/over") then
        return false
      end
    end
    return true
  end)
  for line in said():gmatch("[^\n]+") do
    local told = line ~= "gone" and json.decode(line) or { status = "gone" }
    assert(told.status == "confirmed" or told.status == "retry" or told.status == 503 or told.status == "gone", line)
    assert((told.booking_token ~= nil) == (told.status == "confirmed"), line)
  end
end)

test("it ends as it should", function()
  w:wait_engine(60)
  equal(0, w:exit_code(), w:engine_output())
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
