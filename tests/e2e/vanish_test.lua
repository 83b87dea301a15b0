-- Callers that connect, send and vanish at every state leave nothing behind: hundreds of them, and 1,000 in
-- `tests/run --all`.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local crowd = require("tests.e2e.crowd")
local ledger = require("tests.e2e.ledger")
local test, equal = world.test, world.equal

local is_long = os.getenv("LASTCALL_LONG") == "yes"
local variant = os.getenv("LASTCALL_VARIANT") or "release"
local COUNT = tonumber(os.getenv("LASTCALL_CALLERS")) or is_long and 1000 or variant == "release" and 500 or 200
local CONCURRENCY = variant == "release" and 50 or 10

local FILE = world.folder .. "/vanish.ndjson"
os.execute("mkdir -p " .. world.build .. "/e2e && rm -f " .. FILE)

-- A search that nobody ends goes on for five minutes, and so would the drain: what is left behind is seen.
local w = world.start {
  without_breakers = true,
  population = "hanging8",
  overlay = "attribution: { file: " .. FILE .. " }\ndeadline: { default: 2s, min: 100ms, max: 5min }\ndrain: 5min\n"
    .. "reply: { max_items: 10000, max_offers_per_item: 1000 }",
}

local HANGING = { "s05", "s10", "s15", "s20", "s25", "s30", "s35", "s40" }

-- ----------------------------------------------------------------------------------------------------------- callers

local ENDLESS = crowd.body { budget_ms = 300000 }
local QUICK_ONES = { "s01", "s02", "s03", "s04" }
-- Six slices in each offer: more than the kernel holds for a reader that does not read.
local function large_query()
  local slices = {}
  for i = 1, 6 do
    slices[i] = { origin = i % 2 == 1 and "LHR" or "JFK", destination = i % 2 == 1 and "JFK" or "LHR",
      date = "2030-05-" .. 10 + i }
  end
  return { slices = slices, travellers = world.query.travellers, currency = "EUR" }
end
-- All who answer: it ends when they have, on a slow machine too.
local function answering()
  local is_hanging, list = {}, {}
  for _, name in ipairs(HANGING) do
    is_hanging[name] = true
  end
  for i = 1, 40 do
    local name = ("s%02d"):format(i)
    list[#list + 1] = not is_hanging[name] and name or nil
  end
  return list
end
local LARGE = crowd.body { budget_ms = 20000, query = large_query(), suppliers = answering() }
local QUICK = crowd.body { budget_ms = 10000, suppliers = QUICK_ONES }

-- Every state at which a caller can vanish.
local function states()
  local list = {}
  local function add(fields)
    for _, how in ipairs { "fin", "rst" } do
      fields.how = how
      list[#list + 1] = crowd.caller(fields)
    end
  end
  for _, ms in ipairs { 5, 50, 200 } do
    for _, send in ipairs { "nothing", "line", "head", "headers", "body", "twice" } do
      add { send = send, leave = "after:" .. ms, body = ENDLESS }
    end
    add { leave = "kept:" .. ms, body = QUICK }
  end
  for _, ms in ipairs { 0, 5, 50, 200 } do
    add { leave = "after:" .. ms, body = ENDLESS }
    add { leave = "after:" .. ms, body = ENDLESS, accept = "sse" }
  end
  for _, events in ipairs { 1, 3, 10, 30 } do
    add { leave = "events:" .. events, body = ENDLESS, accept = "sse" }
    add { leave = "events:" .. events, body = ENDLESS, accept = "ndjson" }
  end
  for _, bytes in ipairs { 1, 20000 } do
    add { leave = "slow:" .. bytes, body = LARGE }
    add { leave = "slow:" .. bytes, body = LARGE, accept = "sse" }
  end
  add { leave = "slow:1", body = QUICK, send = "twice" }
  add { leave = "answered", body = QUICK, send = "twice" }
  return list
end

local function callers_of(count)
  local list, callers, dice = states(), {}, crowd.dice(99)
  for i = 1, count do
    callers[i] = list[(i - 1) % #list + 1]
  end
  for i = count, 2, -1 do -- in no order
    local j = dice(i)
    callers[i], callers[j] = callers[j], callers[i]
  end
  return callers, #list
end

-- -------------------------------------------------------------------------------------------------------- what is left

-- Requests that the farm still holds for somebody: neither answered nor abandoned.
local function held_requests()
  local held = 0
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    held = held + math.max(0, supplier.requests - supplier.answered - supplier.refused - supplier.abandoned)
  end
  return held
end

local offset, ids, totals = 0, {}, { records = 0, cancelled = 0, unsent = 0, sent = 0 }

-- Reads new records, those of `known` for sure; returns how many.
local function read_records(known)
  local records
  records, offset = ledger.read_records(w, FILE, offset, known)
  for _, record in ipairs(records) do
    assert(not ids[record.search_id], "two records of " .. record.search_id)
    ids[record.search_id] = record
    local kind = record.cancelled and "cancelled" or record.sent and "sent" or "unsent"
    totals[kind] = totals[kind] + 1
  end
  totals.records = totals.records + #records
  return #records
end

-- Runs them; what is known of their searches must be on record. Returns the least and the most that there can be.
local function vanish(count)
  local least, most, ends = 0, 0, { answered = 0, left = 0, lost = 0, stuck = 0 }
  local told = crowd.run(w, (callers_of(count)), CONCURRENCY)
  local known = {}
  for _, each in ipairs(told) do
    for _, reply in ipairs(each.replies) do
      known[crowd.read(reply).id or ""] = true
    end
  end
  known[""] = nil
  crowd.wait_until_gone(w)
  read_records(known)
  for i, each in ipairs(told) do
    local caller = each.caller_of
    ends[each["end"]] = ends[each["end"]] + 1
    assert(each["end"] == "answered" or each["end"] == "left",
      ("caller %d (%s %s %s) is %s"):format(i, caller.send, caller.leave, caller.how, each["end"]))
    if each.was_sent then
      most = most + (caller.send == "twice" and 2 or 1)
    end
    for _, reply in ipairs(each.replies) do
      local seen = crowd.read(reply)
      if seen.id then
        least = least + 1
        local record = assert(ids[seen.id], "no record of " .. seen.id)
        -- What was not read may still have been sent: the kernel has it.
        assert(record.sent or not (seen.summary and reply.is_whole), seen.id .. " was read and not sent")
      end
    end
  end
  return least, most, ends
end

-- ------------------------------------------------------------------------------------------------------------- tests

local before

test("callers vanish at every state, and nothing of theirs is left", function()
  local _, state_count = callers_of(1)
  vanish(is_long and 4 * COUNT or 2 * state_count) -- connections, threads and the heap come to what they need
  before = w:usage()
  local records = totals.records
  local least, most, ends = vanish(COUNT)
  crowd.wait_until_none("requests at suppliers", held_requests)
  records = totals.records - records
  print(("# %d callers at %d states: %d left, %d answered; %d searches (%d known, at most %d)"):format(
    COUNT, state_count, ends.left, ends.answered, records, least, most))
  print(("# in all %d records: %d cancelled, %d sent, %d not sent whole"):format(totals.records, totals.cancelled,
    totals.sent, totals.unsent))
  assert(least <= records and records <= most, "searches")
  -- How many are not sent whole depends on what the kernel takes.
  assert(totals.cancelled > 0 and totals.sent > 0, "callers of each kind")
end)

-- Bytes and end come in one piece: who is told of it by edges sees one event.
test("callers who are gone before the engine looks leave nothing either", function()
  local callers = {}
  for _, send in ipairs { "nothing", "line", "head", "headers", "body", "all", "twice" } do
    for _, how in ipairs { "fin", "rst" } do
      callers[#callers + 1] = crowd.caller { send = send, leave = "after:0", how = how, body = ENDLESS }
    end
  end
  w:signal("STOP")
  local is_fine, why = pcall(crowd.run, w, callers, #callers)
  w:signal("CONT")
  assert(is_fine, why)
  crowd.wait_until_gone(w)
  crowd.wait_until_none("requests at suppliers", held_requests)
  print(("# %d callers, %d searches"):format(#callers, read_records({})))
end)

test("every search that began is on record once, and in the metrics", function()
  local metrics = ledger.read_metrics(w)
  local in_file = {}
  equal(totals.records, ledger.metric_sum(metrics, "searches_total"), "searches")
  equal(totals.cancelled, ledger.metric(metrics, "searches_total", "status", "cancelled"), "cancelled")
  equal(totals.unsent, ledger.metric(metrics, "replies_lost_total"), "replies that were not sent whole")
  for _, record in pairs(ids) do
    ledger.count(in_file, record.suppliers)
  end
  ledger.check_metrics(in_file, metrics)
  for _, name in ipairs(HANGING) do
    assert(not in_file[name].answered and in_file[name].cancelled > 0, name .. " was cancelled")
  end
  equal(0, ledger.metric(metrics, "script_queued"), "script calls that wait")
  equal(0, ledger.metric(metrics, "script_workers_lost"), "lost workers")
end)

test("memory, threads and descriptors are as before", function()
  local after = w:usage()
  world.print_usage(before, after)
  equal(before.threads, after.threads, "threads")
  -- What is held now are kept connections to suppliers, and each of them is idle.
  assert(after.descriptors <= CONCURRENCY * 40 + 100, "more descriptors than so many searches can use")
  if variant == "release" and is_long then -- sanitizers keep freed memory, and look for leaks themselves
    local connections = math.max(0, after.descriptors - before.descriptors)
    assert(after.resident_kib <= before.resident_kib * 1.2 + connections * 300, "memory grew")
  end
end)

test("the next search is fine", function()
  local reply = w:search { budget_ms = 4000, suppliers = QUICK_ONES }
  equal(200, reply.status, "status")
  equal(4, reply.json.coverage.answered, "answered")
  equal(1, read_records({ [reply.json.search_id] = true }), "records of it")
end)

test("SIGTERM finds nothing to wait for", function()
  w:signal("TERM")
  assert(w:wait_engine(60), "the engine waits for somebody")
  assert(w:engine_output():match("stopped"), "the log says stopped")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
os.execute("rm -f " .. FILE)
world.finish()
