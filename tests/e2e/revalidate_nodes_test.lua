-- Tokens between two engines that share a store, and whether there is any other way to a booking than a live answer:
-- a random course of searches, revalidations, faults and stores that go, of which the farm keeps count.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local SEED = tonumber(os.getenv("LASTCALL_SEED") or "1")
local TURNS = tonumber(os.getenv("LASTCALL_TURNS") or "100")
local LONG_MS = 9000
local REDIS_ADDRESS, REDIS_PORT = world.network .. ".231", 6379
local SAYS = { "confirmed", "plain", "dearer", "polled", "parted", "sold_out", "retry", "bug", "busy", "other",
  "swapped" }
local SOLD = { confirmed = true, plain = true, dearer = true, polled = true, parted = true }
local FAULTS = { "hang_answer", "status_503", "reset_body", "html", "empty", "cut_body", "status_500" }
local SECRETS = "OFFER_KEY=" .. ("00112233445566778899aabbccddeeff"):rep(4) .. " BOOKING_KEY="
  .. ("0f1e2d3c4b5a69788796a5b4c3d2e1f0"):rep(2)

if world.shell("command -v redis-server") == "" then
  world.skip("two engines and one store", "redis-server is not installed")
  world.finish()
end

local FARM, suppliers = {}, {}
for i, says in ipairs(SAYS) do
  FARM[says] = ("s%02d"):format(2 * i - 1)
  suppliers[i] = ("  re_%s: { uses: asked_again, accounts: { main: { options: { says: %s, base_url: "
    .. "\"http://%s.farm.test:8080\" } } } }"):format(says, says, FARM[says])
end
local OVERLAY = table.concat({
  "suppliers_dir: [suppliers, examples/farm/suppliers, tests/e2e/revalidators]", "io_threads: 2",
  "reload: { watch: false }",
  ("store: { backend: redis, url: \"redis://%s:%d/0\", read_slice: 500ms }"):format(REDIS_ADDRESS, REDIS_PORT),
  "tokens: { enabled: true, offer_keys: [OFFER_KEY], booking_keys: [BOOKING_KEY] }",
  "suppliers:", table.concat(suppliers, "\n"), "",
}, "\n")

local redis_pid

local function redis_cli(words)
  return (world.shell(("redis-cli -h %s -p %d %s"):format(REDIS_ADDRESS, REDIS_PORT, words)))
end

local function start_redis()
  local folder = world.folder .. "/reval_redis"
  os.execute("mkdir -p " .. folder)
  redis_pid = world.spawn(("redis-server --bind %s --port %d --dir %s --save '' --appendonly no"):format(REDIS_ADDRESS,
    REDIS_PORT, folder), world.folder .. "/reval_redis.log")
  world.wait_until("Redis answers", function()
    return redis_cli("ping"):match("PONG")
  end)
end

local function stop_redis()
  os.execute("kill -KILL " .. redis_pid)
  world.wait_until("Redis is gone", function()
    return not world.is_alive(redis_pid)
  end)
  redis_pid = nil
end

local nodes = {}

local function start_node(number)
  local folder = number > 1 and ("%s/reval_node_%d"):format(world.folder, number) or nil
  if folder then
    os.execute("mkdir -p " .. folder)
  end
  nodes[number] = world.start {
    without_breakers = true,
    population = "instant",
    no_farm = number > 1,
    folder = folder,
    port = world.port + number - 1,
    environment = SECRETS,
    overlay = OVERLAY,
  }
end

start_redis()
local is_up, why_not = xpcall(function()
  start_node(1)
  start_node(2)
end, debug.traceback)
if not is_up then
  stop_redis()
  for _, w in pairs(nodes) do
    w:stop()
  end
  error(why_not)
end

local function post(w, path, body, headers)
  local all = { "Content-Type: application/json" }
  for _, header in ipairs(headers or {}) do
    all[#all + 1] = header
  end
  return world.http("POST", w.url .. path, { body = json.encode(body), headers = all, max_time = 60 })
end

local function search(w, says)
  local reply = w:search { suppliers = { "re_" .. says }, budget_ms = LONG_MS, max_items = 50 }
  equal(200, reply.status, reply.raw)
  return reply
end

-- Offers whose brand is odd have a reference that is too large for a token.
local function large_offer(w)
  for _, offer in ipairs(search(w, "plain").json.offers) do
    if #offer.brand % 2 == 1 then
      return offer
    end
  end
  error("no offer with a large reference")
end

local function becomes(what, offer, node, field, wanted)
  world.wait_until(what, function()
    return post(node, "/v1/revalidate", { token = offer.token }).json[field] == wanted
  end)
end

test("a reference that is too large for a token is found by every node of the store", function()
  local offer = large_offer(nodes[1])
  becomes("the other node finds it", offer, nodes[2], "status", "confirmed")
  local told = post(nodes[2], "/v1/revalidate", { token = offer.token }).json
  equal("https://book.example/" .. offer.id:match(":(.*)$"), told.handoff.url)
  local keys = redis_cli("--raw keys '*'")
  local name = keys:match("(%S+:n:hidden/%x+)")
  assert(name, "no note in the store: " .. keys)
  local kept = redis_cli("--raw get " .. name)
  assert(#kept > 1000 and not kept:find("book.example", 1, true), "it lies in the store for everybody to read")
  assert(tonumber(redis_cli("pttl " .. name)) > 0, "it lies in the store for ever")
end)

test("one that is lost is a retry, and one that nobody can ask for is another", function()
  local offer = large_offer(nodes[1])
  becomes("the other node finds it", offer, nodes[2], "status", "confirmed")
  redis_cli("flushall")
  local told = post(nodes[2], "/v1/revalidate", { token = offer.token }).json
  equal("retry", told.status)
  equal("forgotten", told.because)
  equal("confirmed", post(nodes[1], "/v1/revalidate", { token = offer.token }).json.status) -- who made it has it still
  stop_redis()
  becomes("nobody can tell", offer, nodes[2], "because", "store_unavailable")
  equal("confirmed", post(nodes[1], "/v1/revalidate", { token = large_offer(nodes[1]).token }).json.status)
  start_redis()
end)

test("what was said last is booked by nobody before it is said anew", function()
  world.wait_until("it is in the store", function() -- which has been away
    search(nodes[1], "dearer")
    return redis_cli("--raw keys '*:a:re_dearer:*'"):find("re_dearer", 1, true)
  end)
  world.farm(FARM.dearer, { fault = "hang_answer" })
  local old
  world.wait_until("it is shown as indicative by the other node", function()
    local reply = nodes[2]:search { suppliers = { "re_dearer" }, budget_ms = 1500, max_items = 50 }
    old = reply.json and reply.json.offers and reply.json.offers[1]
    return old and old.price_status == "indicative"
  end)
  assert(not old.handoff, "a hand-off is shown")
  local told = post(nodes[1], "/v1/revalidate", { token = old.token }, { "Search-Budget-Ms: 500" }).json
  equal("retry", told.status)
  equal(nil, told.booking_token)
  equal(nil, told.handoff)
  world.farm(FARM.dearer, { fault = "none" })
  told = post(nodes[1], "/v1/revalidate", { token = old.token }).json
  equal("price_changed", told.status)
  assert(told.booking_token, "no booking token")
  local record = world.http("GET", nodes[1].admin_url .. "/admin/v1/searches/" .. told.revalidation_id).json
  assert(record.offer_age_s >= 0, "no age")
end)

-- ---- a random course

local random = math.random
math.randomseed(SEED)

local pool = {} -- offers that were shown: {says, token, id, total, currency}
local fault_of, counts = {}, { sold = 0, refused = 0, failed = 0, changed = 0, mixed = 0, old = 0, old_asked = 0,
  old_sold = 0 }

local function keep(says, offers)
  for _ = 1, math.min(4, #offers) do
    local offer = offers[random(#offers)]
    if type(offer.token) == "string" then
      pool[#pool + 1] = { says = says, token = offer.token, id = offer.id:match(":(.*)$"), total = offer.price.total,
        currency = offer.price.currency, is_old = offer.price_status == "indicative" }
      counts.old = counts.old + (offer.price_status == "indicative" and 1 or 0)
    end
  end
  while #pool > 60 do
    table.remove(pool, random(#pool))
  end
end

local function cents(total)
  local whole, part = total:match("^(%d+)%.(%d%d)$")
  return tonumber(whole) * 100 + tonumber(part)
end

-- The one rule: whoever gets a way to book has the live answer of that very offer behind it, at the price that it had.
local function hold(told, of, before, what)
  local after = world.farm_requests(FARM[of.says])
  counts.old_asked = counts.old_asked + (of.is_old and 1 or 0)
  local has_way = told.booking_token ~= nil or told.handoff ~= nil or told.now ~= nil
  if not has_way then
    counts.failed = counts.failed + (fault_of[of.says] and 1 or 0)
    counts.refused = counts.refused + 1
    if told.status == "changed" then
      counts.changed = counts.changed + 1
      assert(told.offer and told.offer.id ~= "re_" .. of.says .. ":" .. of.id, what)
    end
    return
  end
  counts.sold = counts.sold + 1
  counts.old_sold = counts.old_sold + (of.is_old and 1 or 0)
  assert(SOLD[of.says], what .. ": nobody sold it: " .. json.encode(told))
  assert(not fault_of[of.says], what .. ": the farm did not answer: " .. json.encode(told))
  assert(after > before, what .. ": nobody was asked: " .. json.encode(told))
  assert(told.booking_token and told.now, what .. ": half a way to book: " .. json.encode(told))
  local verified = post(nodes[random(2)], "/v1/verify", { booking_token = told.booking_token }).json
  equal(true, verified.valid, what)
  equal("re_" .. of.says, verified.supplier, what)
  equal(of.id, verified.offer, what)
  equal(told.now.total, verified.price.total, what)
  equal(of.currency, verified.price.currency, what)
  equal(cents(of.total) + (of.says == "dearer" and 100 or 0), cents(verified.price.total), what)
  equal(of.says == "dearer" and "price_changed" or "confirmed", told.status, what)
end

local turns = {}

function turns.search()
  local says = SAYS[random(#SAYS)]
  local w = nodes[random(2)]
  local budget_ms = fault_of[says] and 1500 or LONG_MS
  local reply = w:search { suppliers = { "re_" .. says }, budget_ms = budget_ms, max_items = 30 }
  assert(reply.status == 200 or (reply.status == 504 and fault_of[says]), reply.raw)
  assert(not reply.raw:find("book.example", 1, true) and not reply.raw:find("booking_token", 1, true), reply.raw)
  keep(says, reply.json.offers or {})
end

function turns.fault()
  local says = SAYS[random(#SAYS)]
  local fault = random(3) > 1 and FAULTS[random(#FAULTS)] or nil
  fault_of[says] = fault
  world.farm(FARM[says], { fault = fault or "none" })
end

function turns.revalidate()
  local of = pool[random(#pool)]
  local before = world.farm_requests(FARM[of.says])
  local reply = post(nodes[random(2)], "/v1/revalidate", { token = of.token },
    fault_of[of.says] and { "Search-Budget-Ms: 400" } or nil)
  equal(200, reply.status, reply.raw)
  hold(reply.json, of, before, "a token")
end

-- Halves of two tokens, or one with another end: no offer at all.
function turns.mix()
  local a, b = pool[random(#pool)].token, pool[random(#pool)].token
  local at = random(8, math.min(#a, #b) - 1)
  local token = random(2) == 1 and a:sub(1, at) .. b:sub(at + 1) or a:sub(1, at)
  if token ~= a and token ~= b then
    local reply = post(nodes[random(2)], "/v1/revalidate", { token = token })
    equal(422, reply.status, reply.raw)
    equal(nil, reply.json.booking_token)
    counts.mixed = counts.mixed + 1
  end
end

-- Booking tokens are no tokens of offers, nor the other way round.
function turns.swap()
  local of = pool[random(#pool)]
  equal(false, post(nodes[random(2)], "/v1/verify", { booking_token = of.token }).json.genuine)
end

-- Silent for a while, with all that it has, or gone and back at once with nothing.
local is_silent = false

function turns.store()
  if is_silent then
    os.execute("kill -CONT " .. redis_pid)
    is_silent = false
  elseif random(3) > 1 then
    os.execute("kill -STOP " .. redis_pid)
    is_silent = true
  else
    stop_redis()
    start_redis()
  end
end

local WEIGHTS = { { "search", 30 }, { "revalidate", 47 }, { "fault", 10 }, { "mix", 6 }, { "swap", 2 },
  { "store", 5 } }

test(("no course of seed %d leads to a booking without a live answer"):format(SEED), function()
  for _, says in ipairs(SAYS) do
    keep(says, search(nodes[1], says).json.offers)
  end
  for turn = 1, TURNS do
    local at, name = random(100), nil
    for _, weighed in ipairs(WEIGHTS) do
      at = at - weighed[2]
      name = name or (at <= 0 and weighed[1])
    end
    local is_fine, why = xpcall(turns[name], debug.traceback)
    assert(is_fine, ("turn %d of seed %d (%s): %s"):format(turn, SEED, name, tostring(why)))
  end
  for _, kind in ipairs { "sold", "refused", "failed", "changed", "mixed", "old_asked" } do
    assert(counts[kind] > 0, ("a course without one that is %s shows nothing: %s"):format(kind, json.encode(counts)))
  end
  print("# " .. json.encode(counts))
end)

for number, w in ipairs(nodes) do
  test(("node %d ends as it should"):format(number), function()
    w:signal("TERM")
    w:wait_engine(60)
    equal(0, w:exit_code(), w:engine_output())
    assert(not w:engine_output():match("Sanitizer"), w:engine_output())
  end)
end

for _, w in ipairs(nodes) do
  w:stop()
end
if redis_pid then
  stop_redis()
end
world.finish()
