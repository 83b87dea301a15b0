-- Limits of accounts over real sockets: rates, requests at once, sizes, and what the supplier says of its quota; the
-- farm counts what went out.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, requests, wait_until = world.test, world.equal, world.farm_requests, world.wait_until

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings() },
  overlay = [[
deadline: { max: 60s }
suppliers:
  s01: { accounts: { main: { limits: { per_day: 3 } } } }
  s02: { accounts: { main: { limits: { concurrent: 2 } } } }
  s03: { accounts: { main: { limits: { body: 1KiB } } } }
  s04:
    accounts:
      uk: { when: { market: GB }, limits: { per_day: 1 }, options: { base_url: "http://s04.farm.test:8080" } }
      main: { options: { base_url: "http://s04.farm.test:8080" } }
]],
}

local function ask(name, market)
  local query = { market = market }
  for key, value in pairs(world.query) do
    query[key] = value
  end
  local reply = w:search { suppliers = { name }, budget_ms = 20000, query = query }
  local entry = assert(world.entry(reply, name), reply.raw)
  return entry, world.json.encode(entry), reply
end

-- The account of a supplier as the admin listener tells it.
local function account(name, which)
  return w:account(name, which)
end

test("a rate lets so many requests out and no more", function()
  local before = requests("s01")
  for number = 1, 5 do
    local entry, told, reply = ask("s01")
    equal(number <= 3 and "answered" or "rate_limited", entry.outcome, told)
    if number > 3 then
      equal("the account's requests of a day are used", entry.detail, told)
      assert(entry.retry_in_ms > 22 * 3600 * 1000 and entry.retry_in_ms <= 26 * 3600 * 1000, told)
      equal(nil, entry.took_ms, "it was not asked")
      equal("rate_limited", reply.json.coverage.reasons[1], "reason")
      equal(504, reply.status, "status")
    end
  end
  equal(before + 3, requests("s01"), "requests that went out")
  local told = account("s01")
  equal(3, told.limits.per_day, "the limit")
  equal(3, told.used.day, "used")
  equal(2, told.kept_in, "kept in")
  equal(2, w:metric("supplier_requests_kept_in_total", "s01"), "kept in, in metrics")
end)

test("each account has limits of its own", function()
  equal("answered", (ask("s04", "GB")).outcome, "the first of uk")
  equal("rate_limited", (ask("s04", "GB")).outcome, "the second of uk")
  equal("answered", (ask("s04", "FR")).outcome, "of main")
  equal("answered", (ask("s04", "FR")).outcome, "another of main")
  equal(1, account("s04", "uk").kept_in, "kept in of uk")
  equal(0, account("s04").kept_in, "kept in of main")
end)

local function running()
  return account("s02").used.running
end

local BODY = world.folder .. "/limits.json"
world.write_file(BODY, world.json.encode { product = "flights", query = world.query, suppliers = { "s02" },
  budget_ms = 60000 })

-- Callers in the background, whose answers go into files.
local function call(number, seconds)
  os.execute(("curl -sS --max-time %s -X POST -H 'Content-Type: application/json' --data-binary @%s %s/v1/search "
    .. ">%s.%d 2>/dev/null &"):format(seconds, BODY, w.url, BODY, number))
end

test("so many requests are under way at once, and places come back", function()
  world.farm("s02", { fault = "hang_answer" })
  local before = requests("s02")
  call(1, 10)
  call(2, 10)
  wait_until("two are under way", function()
    return running() == 2 and requests("s02") == before + 2
  end)
  for _ = 1, 3 do
    local entry, told = ask("s02")
    equal("saturated", entry.outcome, told)
    equal("as many requests of the account as may be are under way", entry.detail, told)
  end
  equal(2, w:metric("supplier_requests_running", "s02"), "running, in metrics")
  equal(before + 2, requests("s02"), "requests that went out")
  world.farm("s02", { fault = "none" })
  wait_until("both callers have left, and their places are free", function()
    return running() == 0
  end)
  equal("answered", (ask("s02")).outcome, "afterwards")
end)

test("cut attempts give their places back", function()
  world.farm("s02", { fault = "hang_answer" })
  for _ = 1, 3 do
    local reply = w:search { suppliers = { "s02" }, budget_ms = 150 }
    equal("cut", world.entry(reply, "s02").outcome, reply.raw)
  end
  equal(0, running(), "running")
  world.farm("s02", { fault = "none" })
end)

test("a body over the account's size is too large", function()
  local entry, told = ask("s03")
  equal("too_large", entry.outcome, told)
end)

test("a supplier that says 429 is left alone for its Retry-After, and then asked again", function()
  local function refuse_and_ask()
    world.farm("s05", { fault = "status_429" })
    local before = requests("s05")
    local entry, told = ask("s05")
    if entry.outcome == "rate_limited" then
      return nil -- of the round before
    end
    equal("rejected", entry.outcome, told)
    equal("quota", entry.kind, told)
    equal(2000, entry.retry_in_ms, told)
    world.farm("s05", { fault = "none" })
    entry, told = ask("s05")
    if entry.outcome == "answered" then
      return nil -- two seconds are over on a machine that is busy enough
    end
    equal("rate_limited", entry.outcome, told)
    equal("the supplier asked to wait", entry.detail, told)
    assert(entry.retry_in_ms > 0 and entry.retry_in_ms <= 2000, told)
    return requests("s05") - before
  end
  local sent
  wait_until("it is left alone", function()
    sent = refuse_and_ask()
    return sent
  end)
  equal(1, sent, "requests that went out")
  assert(account("s05").kept_in >= 1, "kept in")
  local page = world.shell(("%s/lastcall status --no-color --admin %s"):format(world.build, w.admin_url))
  assert(page:match("account main: %d+ requests kept in"), page)
  wait_until("it is asked again", function()
    local outcome = ask("s05").outcome
    assert(outcome == "rate_limited" or outcome == "answered", outcome)
    return outcome == "answered"
  end)
  equal(nil, account("s05").blocked_until, "blocked")
  equal(0, w:metric("supplier_blocked_seconds", "s05"), "blocked, in metrics")
end)

w:stop()
test("the engine ended clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
