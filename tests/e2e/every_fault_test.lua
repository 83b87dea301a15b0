-- Hundreds of searches of all kinds while every supplier goes through every fault that the farm has: replies, streams,
-- attribution and metrics tell the same, and it is what the farm saw. `tests/run --all` takes 10,000.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local crowd = require("tests.e2e.crowd")
local ledger = require("tests.e2e.ledger")
local test, equal = world.test, world.equal

local is_long = os.getenv("LASTCALL_LONG") == "yes"
local variant = os.getenv("LASTCALL_VARIANT") or "release"
local COUNT = tonumber(os.getenv("LASTCALL_SEARCHES")) or (is_long and 10000 or variant == "release" and 300 or 120)
local PHASES = is_long and 40 or 6
local BUDGETS = variant == "release" and { 200, 400, 700 } or { 500, 1000, 2000 }
local CONCURRENCY = variant == "release" and 20 or 10

local FILE = world.folder .. "/every_fault.ndjson"
os.execute("mkdir -p " .. world.build .. "/e2e && rm -f " .. FILE)

-- Suppliers of several exchanges have shapes of their own, so the farm prints its settings.
local POPULATION = "examples/farm/populations/every-fault.txt"
local SETTINGS = world.folder .. "/every_fault.yaml"
local printed, printed_code = world.shell(("%s/examples/farm/farm --population %s --print-settings"):format(world.build,
  POPULATION))
assert(printed_code == 0, printed)
world.write_file(SETTINGS, printed .. "\n")

local several = {} -- of those an outcome sums up several answers
for name, shape in world.read_file(POPULATION):gmatch("(s%d%d)%s+%d+%s+%l+%s+([%l_]+)") do
  several[name] = #shape > 1 or nil
end

-- ------------------------------------------------------------------------------------------------------------ faults

-- The farm's own list, in its order: name, where it is decided (`at`).
local names, faults, places, forced = {}, {}, {}, {}
for i = 1, 40 do
  names[i] = ("s%02d"):format(i)
end

local function read_faults()
  for _, fault in ipairs(world.http("GET", world.farm_url .. "/faults").json.faults) do
    -- Those of a field and of logins have worlds of their own: shapes_test.lua, login_test.lua.
    if fault.name ~= "none" and fault.needs ~= "field" and fault.at ~= "login" then
      faults[#faults + 1] = fault.name
      places[fault.name] = fault.at
    end
  end
  assert(#faults >= 50, "faults of the farm")
end

-- The next fault that this supplier can play: some need TLS, or sources.
local function force_next(name)
  for i, fault in ipairs(faults) do
    local change = world.json.encode { fault = fault }
    local reply = world.http("POST", world.farm_url .. "/supplier/" .. name, { body = change })
    if reply.status == 200 then
      table.remove(faults, i)
      faults[#faults + 1] = fault
      return fault
    end
  end
  error("no fault for " .. name)
end

-- Every second supplier plays one fault, each time another one; the others are as the population says.
local function play_phase(phase)
  forced = {}
  for j = 0, 39 do
    local name = names[(j + phase * 7) % 40 + 1]
    if j % 2 == 0 then
      forced[name] = force_next(name)
    else
      world.farm(name, { fault = "mix" })
    end
  end
end

local w = world.start {
  without_breakers = true,
  population = POPULATION,
  settings = { "examples/farm/lastcall.yaml", SETTINGS },
  seed = 11,
  overlay = "attribution: { file: " .. FILE .. " }",
  before_engine = function()
    read_faults()
    play_phase(1)
  end,
}

-- ----------------------------------------------------------------------------------------------------------- callers

local dice = crowd.dice(4711)

local BAD = {
  { "hello" },
  { "[]" },
  { '{"product":"flights"}' },
  { '{"product":"trains","query":{}}' },
  { crowd.body { budget_ms = 0 } },
  { crowd.body { suppliers = { "nobody" } } },
  { crowd.body {}, accept = "text" },
  { '{"product":"flights","query":' .. ('{"a":'):rep(200) .. "1" .. ("}"):rep(200) .. "}" },
}
-- Refused by the product's script: a search, so it has a record.
local BAD_QUERY = crowd.body { query = { slices = { { origin = "LHR", destination = "JFK", date = "2030-02-30" } },
  travellers = { { type = "adult" } } } }

local function some_suppliers()
  local chosen, first = {}, dice(40)
  for i = 1, dice(5) do
    chosen[i] = names[(first + i * 7) % 40 + 1]
  end
  return chosen
end

local function some_caller()
  local kind = dice(100)
  local fields = { budget_ms = BUDGETS[dice(3)], max_items = 5 }
  local accept = ({ "json", "ndjson", "sse" })[dice(3)]
  local how = dice(2) == 1 and "rst" or "fin"
  if kind <= 40 then
    return crowd.caller { body = crowd.body(fields) }
  elseif kind <= 62 then
    return crowd.caller { body = crowd.body(fields), accept = dice(2) == 1 and "sse" or "ndjson" }
  elseif kind <= 70 then
    return crowd.caller { body = crowd.body(fields), accept = accept, how = how, leave = "after:" .. 20 + dice(230) }
  elseif kind <= 78 then
    local stream = dice(2) == 1 and "sse" or "ndjson"
    return crowd.caller { body = crowd.body(fields), accept = stream, how = how, leave = "events:" .. dice(30) }
  elseif kind <= 88 then
    fields.suppliers = some_suppliers()
    return crowd.caller { body = crowd.body(fields), accept = accept }
  elseif kind <= 92 then
    fields.partial = false
    return crowd.caller { body = crowd.body(fields) }
  elseif kind <= 94 then
    return crowd.caller { body = BAD_QUERY, accept = accept }
  end
  local bad = BAD[dice(#BAD)]
  return crowd.caller { body = bad[1], accept = bad.accept, is_bad = true }
end

-- ------------------------------------------------------------------------------------------------------------ ledger

local in_replies, answered_in_file, in_file = {}, {}, {}
local totals = {
  callers = 0, answered = 0, left = 0, refused = 0, unstarted = 0, -- ends of callers
  records = 0, cancelled = 0, not_read = 0, -- not_read: its caller left while the reply was on its way
  requests = 0, on_wire = 0, unread = 0,
}
local OUTCOMES = {
  "answered", "empty", "cut", "failed", "rejected", "unparsable", "too_large", "cancelled", "too_late",
}
-- Time ends any attempt, and a kept connection may have died of the fault before this one.
local IS_OF_ANY = { cut = true, cancelled = true, too_late = true, failed = true, rate_limited = true }
local statuses, by_fault, was_forced, offset, seen_before = {}, {}, {}, 0, {}

local function bump(sums, field, value)
  sums[field] = (sums[field] or 0) + (value or 1)
end

-- What the callers of a phase were told, by search; counts those that have none.
local function read_ends(ends)
  local replies, known = {}, {}
  for i, each in ipairs(ends) do
    local caller, reply = each.caller_of, each.replies[1]
    bump(totals, "callers")
    local told = reply and crowd.read(reply) or {}
    if each["end"] == "answered" then
      assert(told.summary or told.status ~= 200, "caller " .. i .. " got a 200 without a summary")
      if caller.is_bad then
        assert(told.status >= 400 and told.status < 500, "status of a bad request: " .. tostring(told.status))
        bump(totals, "refused")
      elseif told.id then
        bump(totals, "answered")
        bump(statuses, told.status)
        replies[told.id] = told
      else
        assert(told.status == 503 or told.status == 504, "status without a search: " .. tostring(told.status))
        bump(totals, "unstarted")
      end
    else
      equal("left", each["end"], ("end of caller %d, %s %s %s"):format(i, caller.accept, caller.leave, caller.body))
      assert(caller.leave ~= "answered", "caller " .. i .. " was to wait")
      bump(totals, "left")
      known[#known + 1] = told.id
    end
  end
  return replies, known
end

-- A stream told every outcome that its summary tells, and as it does.
local function check_stream(told)
  if not told.summary.suppliers then
    return
  end
  equal(#told.summary.suppliers, told.supplier_count, "outcomes told by the stream of " .. told.id)
  for _, supplier in ipairs(told.summary.suppliers) do
    local before = assert(told.suppliers[supplier.name], supplier.name .. " was not told by " .. told.id)
    for _, field in ipairs { "outcome", "offers", "bound", "phase", "took_ms" } do
      equal(supplier[field], before[field], ("%s.%s of the stream %s"):format(supplier.name, field, told.id))
    end
  end
end

local function check_records(records, replies, known, phase_sums)
  local ids, unanswered = {}, 0
  for _, record in ipairs(records) do
    local id = record.search_id
    assert(not seen_before[id], "two records of " .. id)
    seen_before[id], ids[id] = true, true
    bump(totals, "records")
    ledger.count(in_file, record.suppliers)
    ledger.count(phase_sums, record.suppliers)
    local told = replies[id]
    if told then
      ledger.check_record(told.summary, told.status, record)
      ledger.count(in_replies, told.summary.suppliers or {})
      ledger.count(answered_in_file, record.suppliers)
      if told.is_stream then
        check_stream(told)
      end
    else
      unanswered = unanswered + 1
      bump(totals, record.cancelled and "cancelled" or "not_read")
      bump(statuses, record.cancelled and "cancelled" or record.status)
    end
  end
  for id in pairs(replies) do
    assert(ids[id], "no record of the reply " .. id)
  end
  for _, id in ipairs(known) do
    assert(ids[id], "no record of the stream that was left " .. id)
  end
  return unanswered
end

local function stats_by_name()
  local stats = {}
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    stats[supplier.name] = supplier
  end
  return stats
end

-- What the farm counts once it has read all that it will read: it may be a turn behind.
local function settled_stats()
  local stats, before
  local sum = -1
  repeat
    before, sum = sum, 0
    world.sleep_ms(25)
    stats = stats_by_name()
    for _, supplier in pairs(stats) do
      sum = sum + supplier.requests + supplier.answered + supplier.abandoned
    end
  until sum == before
  return stats
end

local function count_gone(sums)
  return (sums.cut or 0) + (sums.cancelled or 0) + (sums.finished_early or 0)
end

-- What the farm counted since: all that its counters tell, and faults by the place where they are decided.
local function delta_of(before, after)
  local delta = { at = { accept = 0, answer = 0, door = 0, name = 0 } }
  for _, field in ipairs { "requests", "answered" } do
    delta[field] = after[field] - before[field]
  end
  for fault, value in pairs(after.faults) do
    local place = places[fault]
    delta.at[place] = delta.at[place] + value - (before.faults[fault] or 0)
  end
  return delta
end

-- Outcomes that only an answer can bring about.
local function count_of_answers(sums)
  local good = (sums.answered or 0) + (sums.empty or 0)
  return good + (sums.rejected or 0) + (sums.unparsable or 0) + (sums.too_large or 0)
end

local function check_supplier(name, sums, before, after)
  local fault = forced[name]
  local delta = delta_of(before, after)
  local where = ("%s (%s): %s; the farm: %s"):format(name, fault or "mix", world.json.encode(sums),
    world.json.encode(delta))
  local extra = sums.requests - delta.requests
  -- The farm does not read on a connection that was wrong from its start, nor on one that it has just closed without a
  -- word (`failed`); and who closes one with a request on it may reset it before the farm has read.
  assert(extra >= 0 and extra <= delta.at.accept + count_gone(sums) + (sums.failed or 0), "requests of " .. where)
  totals.requests = totals.requests + sums.requests
  totals.on_wire = totals.on_wire + delta.requests
  totals.unread = totals.unread + extra
  local played, came = delta.answered + delta.at.answer, count_of_answers(sums)
  assert(played <= delta.requests, "answers of " .. where)
  if not several[name] then
    assert(came <= played and played - came - (sums.failed or 0) <= count_gone(sums), "outcomes of " .. where)
    by_fault[fault or "mix"] = by_fault[fault or "mix"] or {}
    for _, outcome in ipairs(OUTCOMES) do
      bump(by_fault[fault or "mix"], outcome, sums[outcome] or 0)
    end
  end
  if fault then
    was_forced[fault] = true
  end
end

-- ------------------------------------------------------------------------------------------------------------- tests

local warm

test(COUNT .. " searches under every fault agree, search by search and supplier by supplier", function()
  local per_phase = math.ceil(COUNT / PHASES)
  local before = stats_by_name()
  for phase = 1, PHASES do
    if phase > 1 then
      play_phase(phase)
    end
    local callers = {}
    for i = 1, per_phase do
      callers[i] = some_caller()
    end
    local replies, known = read_ends(crowd.run(w, callers, CONCURRENCY))
    crowd.wait_until_gone(w)
    local ids = {}
    for id in pairs(replies) do
      ids[id] = true
    end
    for _, id in ipairs(known) do
      ids[id] = true
    end
    local records, next_offset = ledger.read_records(w, FILE, offset, ids)
    local phase_sums = {}
    offset = next_offset
    check_records(records, replies, known, phase_sums)
    local after = settled_stats()
    for name, sums in pairs(phase_sums) do
      if after[name] then
        check_supplier(name, sums, before[name], after[name])
      end
    end
    before = after
    -- The heap of a loop keeps its highest mark, which such bursts reach late: in use it has 14 to 19 MiB between
    -- phases from the first to the last, resident 75 MiB after the first quarter and 110 after the second.
    warm = phase == PHASES / 2 and w:usage() or warm
  end
  assert(totals.left > 0 and totals.refused > 0 and totals.cancelled > 0, "callers of each kind")
end)

test("sums by supplier and outcome agree between replies, file and metrics", function()
  local metrics = ledger.read_metrics(w)
  ledger.check_same(in_replies, answered_in_file, "replies and their records")
  local attempts = ledger.check_metrics(in_file, metrics)
  for status, value in pairs(statuses) do
    equal(value, ledger.metric(metrics, "searches_total", "status", status), "searches that ended with " .. status)
  end
  equal(totals.records, ledger.metric_sum(metrics, "searches_total"), "searches")
  equal(totals.records, ledger.metric(metrics, "attribution_written_total"), "lines written")
  -- Who left within its first moments may not have been heard at all.
  local heard = totals.records - totals.answered
  assert(heard <= totals.left, ("%d records of %d callers who left"):format(heard, totals.left))
  print(("# %d callers: %d answered, %d left (%d cancelled, %d already answered), %d refused, %d not begun"):format(
    totals.callers, totals.answered, totals.left, totals.cancelled, totals.not_read, totals.refused, totals.unstarted))
  print(("# %d records, %d attempts; %d requests sent, %d read by the farm, %d on connections that were dead"):format(
    totals.records, attempts, totals.requests, totals.on_wire, totals.unread))
end)

-- Which one it is, faults_test.lua and wire_faults_test.lua say.
test("every fault was played, and what is decided at each answer came to one outcome", function()
  local order = {}
  for fault in pairs(by_fault) do
    order[#order + 1] = fault
  end
  table.sort(order)
  for _, fault in ipairs(order) do
    local told = {}
    for outcome, value in pairs(by_fault[fault]) do
      told[#told + 1] = value > 0 and outcome .. " " .. value or nil
    end
    table.sort(told)
    print(("# %-20s %s"):format(fault, table.concat(told, ", ")))
  end
  for _, fault in ipairs(faults) do
    assert(was_forced[fault], fault .. " was not played")
    local first
    for outcome, value in pairs(places[fault] == "answer" and by_fault[fault] or {}) do
      if value > 0 and not IS_OF_ANY[outcome] then
        assert(not first, ("%s comes to %s and to %s"):format(fault, outcome, tostring(first)))
        first = outcome
      end
    end
  end
end)

test("memory, threads and descriptors are flat", function()
  local after = w:usage()
  world.print_usage(warm, after)
  equal(warm.threads, after.threads, "threads")
  assert(after.descriptors <= CONCURRENCY * 40 + 100, "more descriptors than so many searches can use")
  -- Sanitizers keep freed memory, and look for leaks themselves. The newest records fill their ring first.
  if variant == "release" and is_long then
    local connections = math.max(0, after.descriptors - warm.descriptors)
    assert(after.resident_kib <= warm.resident_kib * 1.2 + connections * 300, "memory grew")
  end
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(60), "the engine did not end")
  assert(w:engine_output():match("stopped"), "the log says stopped")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
os.execute("rm -f " .. FILE .. " " .. SETTINGS)
world.finish()
