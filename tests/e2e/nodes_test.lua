-- Two engines and one Redis: what one is told the other one knows, what one was refused the other one does not ask, and
-- one login does for both. The farm counts what went out.
-- variants: release asan tsan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, wait_until = world.test, world.equal, world.wait_until

local LONG_MS = 9000
local REDIS_ADDRESS, REDIS_PORT = world.network .. ".230", 6379
local REDIS_FOLDER = world.folder .. "/nodes_redis"
local SECRETS = "FARM_SECRET=farm-secret-of-all WRONG_SECRET=not-the-secret OFFER_KEY="
  .. ("00112233445566778899aabbccddeeff"):rep(4) .. " BOOKING_KEY=" .. ("0f1e2d3c4b5a69788796a5b4c3d2e1f0"):rep(2)
local OVERLAY = [[
io_threads: 2
state_dir: %s/nodes_state_%d
reload: { watch: false }
store: { backend: redis, url: "redis://%s:%d/0" }
tokens: { enabled: true, offer_keys: [OFFER_KEY], booking_keys: [BOOKING_KEY] }
suppliers_dir: [examples/farm/suppliers, examples/farm/gates]
suppliers:
  wrong_login: { uses: farm_oauth, accounts: { main: { secrets: { FARM_SECRET: WRONG_SECRET } } } }
]]

if world.shell("command -v redis-server") == "" then
  world.skip("two engines and one Redis", "redis-server is not installed")
  world.finish()
end

local redis_pid

local function redis_cli(words)
  return (world.shell(("redis-cli -h %s -p %d %s"):format(REDIS_ADDRESS, REDIS_PORT, words)))
end

local function start_redis()
  os.execute("mkdir -p " .. REDIS_FOLDER)
  redis_pid = world.spawn(("redis-server --bind %s --port %d --dir %s --save '' --appendonly no"):format(REDIS_ADDRESS,
    REDIS_PORT, REDIS_FOLDER), world.folder .. "/nodes_redis.log")
  wait_until("Redis answers", function()
    return redis_cli("ping"):match("PONG")
  end)
end

local engines = {}

local function start_engine(number)
  local folder = ("%s/node_%d"):format(world.folder, number)
  os.execute("mkdir -p " .. folder)
  engines[number] = world.start {
    without_breakers = true,
    population = "gates",
    no_farm = number > 1,
    folder = number > 1 and folder or nil,
    port = world.port + number,
    settings = { "examples/farm/gates.yaml" },
    environment = SECRETS,
    overlay = OVERLAY:format(world.folder, number, REDIS_ADDRESS, REDIS_PORT),
  }
  return engines[number]
end

os.execute(("rm -rf %s/nodes_* %s/node_*"):format(world.folder, world.folder))
start_redis()
local one, two = start_engine(1), start_engine(2)

local function ask(w, name)
  local reply = w:search { suppliers = { name }, budget_ms = LONG_MS, max_items = 10 }
  local entry = world.entry(reply, name)
  assert(entry, "no entry: " .. tostring(reply.raw):sub(1, 300))
  return entry
end

local function on_farm(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier
    end
  end
end

local function tell(w, name, words)
  local output, code = world.shell(("%s/lastcall %s --admin %s"):format(world.build, words:format(name), w.admin_url))
  equal(0, code, output)
end

local function outcome_becomes(w, name, outcome)
  wait_until(("%s is %s"):format(name, outcome), function()
    return ask(w, name).outcome == outcome
  end)
end

-- Does it hear the other one?
local function hears(w)
  return world.http("GET", w.admin_url .. "/admin/v1/status").json.nodes.hears
end

test("what an operator tells one engine holds on the other, with who and why, and is taken back there", function()
  tell(one, "s09", "disable %s --for 30m --why 'it answers nonsense'")
  equal("disabled", ask(one, "s09").outcome)
  outcome_becomes(two, "s09", "disabled")
  local page = world.shell(("%s/lastcall suppliers --no-color --admin %s"):format(world.build, two.admin_url))
  assert(page:find("it answers nonsense", 1, true), page)
  tell(two, "s09", "enable %s")
  equal("answered", ask(two, "s09").outcome)
  outcome_becomes(one, "s09", "answered")
end)

test("so does a breaker that is held open", function()
  tell(two, "s09", "breaker %s open --for 10m --why trial")
  outcome_becomes(one, "s09", "breaker_open")
  tell(one, "s09", "breaker %s reset")
  outcome_becomes(two, "s09", "answered")
end)

test("what is said while the store is down is heard when it is back, though it has forgotten everything", function()
  world.terminate(redis_pid)
  tell(one, "s10", "disable %s --why trial")
  equal("disabled", ask(one, "s10").outcome)
  equal("answered", ask(two, "s10").outcome)
  wait_until("the other one notices", function()
    return not hears(two)
  end)
  start_redis()
  outcome_becomes(two, "s10", "disabled")
  tell(one, "s10", "enable %s")
  outcome_becomes(two, "s10", "answered")
end)

test("an engine that comes back hears what was said while it was away", function()
  two:signal("KILL")
  wait_until("it is gone", function()
    return not world.is_alive(two.engine_pid)
  end)
  tell(one, "s10", "disable %s --why trial")
  wait_until("it is told", function()
    return redis_cli("--raw get lastcall:n:switches-1"):find('"s10"', 1, true)
  end)
  two = start_engine(2)
  outcome_becomes(two, "s10", "disabled")
  tell(two, "s10", "enable %s")
  outcome_becomes(one, "s10", "answered")
end)

test("an account that is parked on one engine is parked on both", function()
  world.farm("s10", { fault = "status_429", retry_after = "40" })
  equal("quota", ask(one, "s10").kind)
  wait_until("the other one knows", function()
    return two:account("s10").blocked_until ~= nil
  end)
  local before = on_farm("s10").requests
  equal("rate_limited", ask(two, "s10").outcome)
  equal(before, on_farm("s10").requests, "requests at the farm")
  world.farm("s10", { fault = "none" })
end)

test("a login that one engine fetched does for both", function()
  equal("answered", ask(one, "s01").outcome)
  equal("answered", ask(two, "s01").outcome)
  equal(1, on_farm("s01").logins, "logins at the farm")
  equal(0, on_farm("s01").strangers, "requests without a login")
end)

test("two engines that need the same login at once fetch one", function()
  world.farm("s02", { login_ms = 1200 })
  local body = world.json.encode { product = "flights", query = world.query, suppliers = { "s02" },
    budget_ms = LONG_MS }
  world.write_file(world.folder .. "/nodes_body", body)
  world.shell(("for url in %s %s %s %s; do curl -sS --max-time 30 -o /dev/null -H 'Content-Type: application/json' "
    .. "--data-binary @%s/nodes_body $url/v1/search & done; wait"):format(one.url, two.url, one.url, two.url,
    world.folder))
  equal(4, on_farm("s02").answered, "answers of the farm")
  equal(1, on_farm("s02").logins, "logins at the farm")
end)

test("a login that the supplier has ended is fetched anew once for both", function()
  world.farm("s01", { revoke = 1 })
  local before = on_farm("s01").logins
  equal("answered", ask(one, "s01").outcome)
  equal("answered", ask(two, "s01").outcome)
  equal(before + 1, on_farm("s01").logins, "logins at the farm")
end)

test("no login stands in the store as it is", function()
  local names = redis_cli("--raw keys 'lastcall:n:login:s01:*'")
  local name = names:match("(%S+)")
  assert(name, "no login is in the store: " .. names)
  local length = tonumber((redis_cli("strlen " .. name):match("%d+")))
  assert(length > 48, "what stands there is no login")
  local value = redis_cli(("--raw get %s | strings -n 16"):format(name))
  assert(not value:match(("%x"):rep(24)), "a login can be read: " .. value)
end)

test("credentials that are refused on one engine are not tried on the other", function()
  wait_until("the account is parked", function() -- there is a pause between two logins
    if one:account("wrong_login").auth.state == "parked" then
      return true
    end
    ask(one, "wrong_login")
    return false
  end)
  wait_until("the other one knows", function()
    return two:account("wrong_login").auth.state == "parked"
  end)
  equal(0, two:account("wrong_login").calls or 0, "calls of the other one")
end)

test("without the store each engine logs in for itself, and soon", function()
  world.terminate(redis_pid)
  world.farm("s03", { login_ms = 50 })
  equal("answered", ask(one, "s03").outcome)
  equal("answered", ask(two, "s03").outcome)
  equal(2, on_farm("s03").logins, "logins at the farm")
end)

test("both end clean", function()
  for number, w in ipairs { one, two } do
    w:signal("TERM")
    assert(w:wait_engine(60), "engine " .. number .. " did not end")
    equal(0, w:exit_code(), "exit code of engine " .. number)
    assert(not w:engine_output():match("Sanitizer"), w:engine_output())
  end
end)

one:stop()
two:stop()
world.terminate(redis_pid)
os.execute(("rm -rf %s/nodes_* %s/node_*"):format(world.folder, world.folder))
world.finish()
