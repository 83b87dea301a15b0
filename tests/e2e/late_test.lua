-- What goes on of a search when nobody waits for it any more, and what is told of that: lines of their own in the
-- attribution file, joined to their search; numbers; the log. And all requests together are what the farm saw.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local ledger = require("tests.e2e.ledger")
local test, equal, wait_until = world.test, world.equal, world.wait_until

local FILE = world.folder .. "/late.ndjson"
local SETTINGS = world.folder .. "/late.yaml"
os.execute("rm -f " .. FILE)
-- While little is known of a supplier, five times the share goes on: all of it.
world.write_file(SETTINGS, "breaker: { enabled: true }\nlinger: { learn: 20%, limit: 1min }\nattribution: { file: "
  .. FILE .. " }\n")

local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), SETTINGS },
  overlay = "deadline: { max: 60s }\n",
}

-- Late by so much that no busy machine brings it in time, and soon enough to be waited for.
local BUDGET_MS, LATE_MS = 1500, 4000

local function lines()
  world.http("GET", w.admin_url .. "/admin/v1/searches") -- comes back when what there is has been written
  return (ledger.read_lines(FILE))
end

local function find(line, id, name)
  for _, record in ipairs(lines()) do
    if record.line == line and record.search_id == id and record.supplier.name == name then
      return record
    end
  end
end

local function wait_for(line, id, name)
  local found
  wait_until(("a %s line of %s"):format(line, name), function()
    found = find(line, id, name)
    return found
  end)
  return found, world.json.encode(found)
end

local function search(names, budget_ms)
  local reply = w:search { suppliers = names, budget_ms = budget_ms or BUDGET_MS }
  assert(reply.json and reply.json.search_id, reply.raw)
  return reply, reply.json.search_id
end

-- The answer to one search, cut; on a busy machine it may be too late to ask at all, and then it is tried again.
local function cut(names, which)
  for _ = 1, 50 do
    local reply, id = search(names)
    if world.entry(reply, which).outcome == "cut" then
      return reply, id
    end
  end
  error(which .. " is never cut")
end

local function joined(id)
  return world.http("GET", w.admin_url .. "/admin/v1/searches/" .. id).json.afterwards
end

-- The items that only this supplier has, and those that it has for less.
local function would_have_added(name, reply)
  local own, others, new, cheapest = {}, {}, 0, 0
  for _, offer in ipairs(reply.json.offers) do
    local best, total = offer.supplier == name and own or others, tonumber(offer.price.total)
    best[offer.item] = math.min(best[offer.item] or math.huge, total)
  end
  for item, total in pairs(own) do
    new = new + (others[item] and 0 or 1)
    cheapest = cheapest + (others[item] and total < others[item] and 1 or 0)
  end
  return new, cheapest
end

test("an answer that comes too late is a line that joins its search", function()
  world.farm("s01", { model = "constant", median_ms = LATE_MS })
  local reply, id = cut({ "s01", "s02" }, "s01")
  equal(200, reply.status, reply.raw)
  local late, told = wait_for("late", id, "s01")
  equal("answered", late.supplier.outcome, told)
  equal("budget", late.supplier.bound, told)
  equal("main", late.supplier.account, told)
  assert(late.supplier.offers > 0, told)
  equal(late.supplier.took_ms >= LATE_MS, true, told)
  assert(late.late_ms >= LATE_MS - BUDGET_MS - 1 and late.late_ms < late.supplier.took_ms, told)
  -- The same answers to a search that waits tell what it would have added.
  local new, cheapest = would_have_added("s01", (search({ "s01", "s02" }, 60000)))
  assert(new + cheapest > 0, "nothing to count")
  equal(new, late.new_items, "new items")
  equal(cheapest, late.cheapest_items, "cheapest items")
  local after = joined(id)
  equal(1, #after, "joined")
  equal("late", after[1].line, "joined line")
  equal(late.late_ms, after[1].late_ms, "joined late_ms")
  equal("s01", after[1].supplier.name, "joined supplier")
  local text = world.http("GET", w.admin_url .. "/metrics").raw
  assert(text:find('lastcall_attempts_lingered_total{supplier="s01",outcome="answered"} 1\n', 1, true), "metrics")
  assert(w:metric("late_offers_total", "s01") >= late.supplier.offers, "offers in metrics")
end)

test("what nobody else had is new", function()
  local reply, id = cut({ "s01" }, "s01")
  equal(504, reply.status, reply.raw)
  local late, told = wait_for("late", id, "s01")
  equal(0, late.cheapest_items, told)
  assert(late.new_items > 0 and late.new_items <= late.supplier.offers, told)
end)

test("a script that fails on what came too late is found in the log", function()
  world.farm("s03", { model = "constant", median_ms = LATE_MS, fault = "html" })
  local _, id = cut({ "s03" }, "s03")
  local late, told = wait_for("late", id, "s03")
  equal("unparsable", late.supplier.outcome, told)
  assert(w:engine_output():find("supplier `s03`: unparsable", 1, true), "the log")
  assert(w:engine_output():find("search=" .. id, 1, true), "the log")
end)

test("a probe is a line, too, of the search that it is a copy of", function()
  world.farm("s04", { fault = "status_503" })
  local id
  wait_until("a probe", function()
    local reply, last = search({ "s04" }, 20000)
    id = last
    return world.entry(reply, "s04").detail == "failed too often; it is being tried out"
  end)
  local probe, told = wait_for("probe", id, "s04")
  equal("failed", probe.supplier.outcome, told)
  equal(503, probe.supplier.http_status, told)
  equal(1, probe.supplier.requests, told)
  equal(nil, probe.late_ms, told)
  equal("probe", joined(id)[1].line, "joined")
end)

test("a caller who leaves takes nothing of it with him", function()
  local body = world.json.encode { product = "flights", query = world.query, budget_ms = 50000, suppliers = { "s05" } }
  world.farm("s05", { model = "constant", median_ms = 30000 })
  local before = world.farm_requests("s05")
  local reply = world.http("POST", w.url .. "/v1/search",
    { body = body, headers = { "Content-Type: application/json" }, max_time = 2 })
  equal(28, reply.curl, "curl's own time-out")
  wait_until("it is attributed", function()
    return w:metric("attempts_total", "s05") ~= nil or world.farm_requests("s05") > before
  end)
end)

test("what still goes on at the end is given up and told, and all requests are what the farm saw", function()
  world.farm("s06", { fault = "hang_answer" })
  local before = world.farm_requests("s06")
  local _, id = cut({ "s06" }, "s06")
  wait_until("the farm has it", function()
    return world.farm_requests("s06") > before
  end)
  w:signal("TERM")
  assert(w:wait_engine(60), "it does not end:\n" .. w:engine_output())
  equal(0, w:exit_code(), w:engine_output())
  local requests, given_up = {}, nil
  for _, record in ipairs((ledger.read_lines(FILE))) do
    if record.line then
      ledger.add(requests, record.supplier.name, "requests", record.supplier.requests or 0)
      given_up = given_up or (record.search_id == id and record.supplier)
    else
      ledger.count(requests, record.suppliers)
    end
  end
  equal("cancelled", given_up and given_up.outcome, "what was given up")
  for _, name in ipairs { "s01", "s02", "s03", "s04", "s05", "s06" } do
    equal(world.farm_requests(name), requests[name].requests, "requests of " .. name)
  end
end)

w:stop()
os.execute("rm -f " .. FILE)
world.finish()
