-- Our side fails: the name server, the network. The guard sees that many suppliers fail at once, most of them stay
-- asked, and when it is over all of them come back without anybody's help.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local SETTINGS = world.folder .. "/guard.yaml"
-- Whoever is tried out has as long as a busy machine needs.
world.write_file(SETTINGS, "breaker: { enabled: true }\nlinger: { learn: 0%, limit: 20s }\n")

local SUPPLIERS, MOST = 40, 12 -- 30 %

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), SETTINGS },
  overlay = "deadline: { max: 60s }\n",
  farm_arguments = "--ttl 1", -- names are asked for anew all the time
}

local function name_of(number)
  return ("s%02d"):format(number)
end

local function all(change)
  for number = 1, SUPPLIERS do
    world.farm(name_of(number), change)
  end
end

-- A search that waits for everybody; how many of the forty answered.
local function search()
  local reply = w:search { budget_ms = 30000, max_items = 5 }
  local answered = 0
  for number = 1, SUPPLIERS do
    local entry = assert(world.entry(reply, name_of(number)), reply.raw:sub(1, 500))
    answered = answered + (entry.outcome == "answered" and 1 or 0)
  end
  return answered
end

-- Breakers that are not closed, and how often one has opened.
local function breakers()
  local status = world.http("GET", w.admin_url .. "/admin/v1/status").json
  local open, trips, opened = 0, 0, 0
  for _, supplier in ipairs(status.suppliers) do
    for _, account in ipairs(supplier.accounts) do
      open = open + (account.breaker.state ~= "closed" and 1 or 0)
      trips = trips + account.breaker.trips
      opened = opened + (account.breaker.trips > 0 and 1 or 0)
    end
  end
  return open, trips, opened
end

-- Searches come until it is so; three minutes are for what goes wrong.
local function search_until(what, is_so)
  world.wait_for(what, 180, function()
    search()
    return is_so()
  end, w.engine_pid, w.engine_log)
end

test("a name server that is gone costs nobody anything: what was known goes on", function()
  equal(SUPPLIERS, search(), "answered")
  local before = world.farm_stats().names
  equal(200, world.http("POST", world.farm_url .. "/names", { body = "{\"mode\":\"never\"}" }).status)
  world.wait_for("the name server is asked in vain", 120, function()
    equal(SUPPLIERS, search(), "answered")
    local names = world.farm_stats().names
    return names.asked - before.asked >= SUPPLIERS and names.answered - before.answered < SUPPLIERS
  end, w.engine_pid, w.engine_log)
  for _ = 1, 10 do
    equal(SUPPLIERS, search(), "answered")
  end
  local open, trips = breakers()
  equal(0, open, "open breakers")
  equal(0, trips, "trips")
  equal(200, world.http("POST", world.farm_url .. "/names", { body = "{\"mode\":\"answer\"}" }).status)
end)

test("without a network the guard holds most of them", function()
  all { fault = "refused" }
  search_until("the guard is alarmed", function()
    return w:engine_output():find("many suppliers fail at once", 1, true)
  end)
  -- As many searches again as have opened the twelve: each of the others would have opened, too.
  for _ = 1, 10 do
    search()
    local open, _, opened = breakers()
    assert(open <= MOST and opened <= MOST, open .. " are open, " .. opened .. " have opened")
  end
  equal(MOST, (breakers()), "open breakers")
end)

test("when it is back, so is everybody, by himself", function()
  all { fault = "none" }
  search_until("all breakers are closed", function()
    local open, _, opened = breakers()
    assert(opened <= MOST, opened .. " have opened")
    return open == 0
  end)
  for _ = 1, 5 do
    equal(SUPPLIERS, search(), "answered")
  end
end)

w:stop()
world.finish()
