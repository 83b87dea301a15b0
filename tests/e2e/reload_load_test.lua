-- Reloads during steady load, some of them broken, from all sources: no search is lost, late or mixed, no answer
-- untrue, nothing grows. `tests/run --all` makes 1,000 of them, one in ten broken.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local crowd = require("tests.e2e.crowd")
local disk = require("tests.e2e.reload_disk")
local test, equal, json = world.test, world.equal, world.json

local is_long = os.getenv("LASTCALL_LONG") == "yes"
local variant = os.getenv("LASTCALL_VARIANT") or "release"
local SMALL = { release = 60, asan = 30, tsan = 20 }
local COUNT = tonumber(os.getenv("LASTCALL_RELOADS")) or is_long and 1000 or SMALL[variant]
local BROKEN_EACH = COUNT >= 100 and 10 or 4
local CONCURRENCY = ({ release = 8, asan = 4, tsan = 2 })[variant]
local USUAL = ({ release = 150, asan = 40, tsan = 15 })[variant] -- searches before the first reload
-- A sanitizer keeps what was freed; and few reloads do not fill the history, whose length is bounded.
local measures_memory = variant == "release" and COUNT >= 400
local BUDGET_MS, SHORT_MS, LATE_MS = 8000, 500, 250

disk.prepare()
local w = world.start {
  population = disk.population,
  settings = { disk.settings },
  overlay = "reload: { watch: true, settle: 300ms, scan: 1s }",
}
disk.begin(w)

-- Three that wait for everything, one of them beside one that never answers, which ends by its budget.
local function load_plan()
  local whole = crowd.body { suppliers = { "acme", "bravo", "pollux", "calm" }, budget_ms = BUDGET_MS, max_items = 1000,
    max_offers_per_item = 3 }
  local short = crowd.body { suppliers = { "calm", "stone" }, budget_ms = SHORT_MS, max_items = 5 }
  local callers = {}
  for i = 1, 4 do
    callers[i] = crowd.caller { body = i < 4 and whole or short, about = i < 4 and "whole" or "short" }
  end
  return callers
end

local function new_tally()
  return { whole = 0, short = 0, lost = 0, late = 0, partial = 0, untrue = {}, generations = {} }
end

local function complain(tally, sentence, ...)
  tally.untrue[#tally.untrue + 1] = sentence:format(...)
end

-- Offers of a reply are those of the version that its generation has.
local function judge_offers(tally, reply, versions)
  local counts = {}
  for _, offer in ipairs(reply.offers) do
    counts[offer.supplier] = (counts[offer.supplier] or 0) + 1
    local version = "v" .. versions[offer.supplier].version
    if offer.brand ~= version then
      complain(tally, "search %s of generation %d: an offer of %s is of %s, not of %s", reply.search_id,
        reply.generation, offer.supplier, tostring(offer.brand), version)
    end
  end
  return counts
end

-- A version that is meant to fail does so; is this entry of it?
local function is_failing(tally, entry, versions)
  local failing = tally.failing
  if not failing or entry.name ~= failing.name or versions[entry.name].version ~= failing.version then
    return false
  end
  failing.count = failing.count + 1
  return entry.outcome ~= "answered"
end

local function judge_whole(tally, reply, versions)
  local is_complete = true
  for _, entry in ipairs(reply.suppliers) do
    local is_whole = entry.outcome == "answered" and not entry.partial and entry.offers == 30
      or is_failing(tally, entry, versions)
    is_complete = is_complete and is_whole
    -- What time cut is counted; whatever else went wrong is the reload's.
    if not is_whole and entry.outcome ~= "timeout" and entry.bound == nil then
      complain(tally, "search %s of generation %d: %s", reply.search_id, reply.generation, json.encode(entry))
    end
    if entry.script ~= versions[entry.name].label then
      complain(tally, "search %s of generation %d: %s ran %s, but it is %s", reply.search_id, reply.generation,
        entry.name, tostring(entry.script), versions[entry.name].label)
    end
  end
  local counts = judge_offers(tally, reply, versions)
  for name, version in pairs(is_complete and versions or {}) do
    local may_fail = tally.failing and tally.failing.version == version.version
    if name ~= "stone" and not counts[name] and not may_fail then
      complain(tally, "search %s: no offers of %s", reply.search_id, name)
    end
  end
  tally.partial = tally.partial + (is_complete and 0 or 1)
end

local function judge_search(tally, each)
  local about, reply = each.caller_of.about, each.replies[1]
  tally[about] = tally[about] + 1
  if each["end"] ~= "answered" or reply.status ~= 200 or not reply.is_whole or type(reply.kept) ~= "table" then
    tally.lost = tally.lost + 1
    complain(tally, "caller %d: %s, status %s", each.caller, each["end"], tostring(reply and reply.status))
    return
  end
  local versions = disk.generations[reply.kept.generation]
  if not versions then
    complain(tally, "search %s is of generation %s, which nobody told of", reply.kept.search_id,
      tostring(reply.kept.generation))
    return
  end
  tally.generations[reply.kept.generation] = true
  if about == "whole" then
    judge_whole(tally, reply.kept, versions)
  elseif each.took_us > (SHORT_MS + LATE_MS) * 1000 then
    tally.late = tally.late + 1
  end
end

local function count_keys(set)
  local count = 0
  for _ in pairs(set) do
    count = count + 1
  end
  return count
end

local function print_tally(name, tally)
  print(("# %s: %d searches, %d lost, %d of %d cut by time, %d of %d late, of %d generations"):format(name,
    tally.whole + tally.short, tally.lost, tally.partial, tally.whole, tally.late, tally.short,
    count_keys(tally.generations)))
end

local function assert_true(tally)
  local first = {}
  for i = 1, math.min(10, #tally.untrue) do
    first[i] = tally.untrue[i]
  end
  assert(#tally.untrue == 0, ("%d are untrue, the first:\n%s"):format(#tally.untrue, table.concat(first, "\n")))
end

-- Descriptors that are no sockets: connections come and go with the load.
local function descriptors()
  return tonumber((world.shell(("ls -l /proc/%d/fd | grep -c -v socket:"):format(w.engine_pid))))
end

local function resident_kib()
  return tonumber((world.read_file("/proc/" .. w.engine_pid .. "/status") or ""):match("VmRSS:%s*(%d+)"))
end

local function mean(samples, from, to)
  local sum = 0
  for i = from, to do
    sum = sum + samples[i]
  end
  return sum / (to - from + 1)
end

local function wait_until(what, probe)
  local until_s = os.time() + 60
  while not probe() do
    assert(os.time() <= until_s, "waited in vain for " .. what)
    world.sleep_ms(50)
  end
end

-- The engine remembers its last searches, a bounded number; with fewer before it, a long load alone lets it grow.
local REMEMBERED = 1200

local function fill_memory()
  local callers, body = {}, crowd.body { suppliers = { "acme", "bravo", "pollux", "calm" }, budget_ms = BUDGET_MS }
  for i = 1, REMEMBERED do
    callers[i] = crowd.caller { body = body }
  end
  for _, each in ipairs(crowd.run(w, callers, 2 * CONCURRENCY)) do
    equal("answered", each["end"], "a search of those before it all")
  end
end

local usual, busy = new_tally(), new_tally()
local at_rest = {}

test("without a reload all searches are answered, all of one generation", function()
  if measures_memory then
    fill_memory()
  end
  local load = crowd.begin(w, load_plan(), CONCURRENCY)
  wait_until("searches", function()
    return load.count() >= USUAL
  end)
  load.finish(function(each)
    judge_search(usual, each)
  end)
  print_tally("usual", usual)
  assert_true(usual)
  equal(1, count_keys(usual.generations), "generations")
  at_rest = w:usage()
  at_rest.others = descriptors()
end)

local resident, answers, load = {}, {}, nil

test(("%d reloads during load, one in %d broken: every answer is true"):format(COUNT, BROKEN_EACH), function()
  load = crowd.begin(w, load_plan(), CONCURRENCY)
  local broken = 0
  for step = 1, COUNT do
    local how = nil
    if step % BROKEN_EACH == 0 then
      broken = broken + 1
      how = disk.BROKEN[(broken - 1) % #disk.BROKEN + 1]
    end
    local source = disk.SOURCES[(step + math.floor(step / BROKEN_EACH)) % #disk.SOURCES + 1]
    disk.change(step, how)
    local is_fine, answer = xpcall(disk.reload, debug.traceback, source)
    assert(is_fine, ("step %d by %s, broken: %s\n%s"):format(step, source, tostring(how), tostring(answer)))
    local key = ("by %s: %s (%s)"):format(source, answer.outcome, answer.source)
    answers[key] = (answers[key] or 0) + 1
    resident[step] = resident_kib()
  end
end)

test("none of the searches meanwhile is lost, mixed or wrong", function()
  load.finish(function(each)
    judge_search(busy, each)
  end)
  print_tally("with reloads", busy)
  for key, count in pairs(answers) do
    print(("# %d asked for %s"):format(count, key))
  end
  assert_true(busy)
  equal(0, busy.lost, "lost")
  assert(count_keys(busy.generations) > 5, "the load saw hardly a reload")
end)

-- How fast a machine is does not matter here: both were measured on it, one right after the other.
test("no more of them are late, or cut by time, than without reloads", function()
  local function share(count, all)
    return count / math.max(1, all)
  end
  if variant ~= "release" then
    return
  end
  local late, usual_late = share(busy.late, busy.short), share(usual.late, usual.short)
  assert(late <= usual_late + 0.05, ("late: %.3f, without reloads %.3f"):format(late, usual_late))
  local cut, usual_cut = share(busy.partial, busy.whole), share(usual.partial, usual.whole)
  assert(cut <= usual_cut + 0.02, ("cut by time: %.3f, without reloads %.3f"):format(cut, usual_cut))
end)

test("no script went back: none of them did anything wrong", function()
  for _, event in ipairs(disk.get("/admin/v1/events").events) do
    assert(event.event ~= "went_back" and event.event ~= "quarantine", json.encode(event))
  end
end)

test("a version that fails on real answers is back by itself, and nobody else's offers move", function()
  disk.change(COUNT + 1, nil) -- what the last reload left broken is mended
  disk.reload("admin")
  local good = disk.generations[disk.newest].bravo
  local tally = new_tally()
  tally.failing = { name = "bravo", version = COUNT + 2, count = 0 }
  load = crowd.begin(w, load_plan(), CONCURRENCY)
  local line, cause = disk.put_failing("bravo", COUNT + 2)
  local passed = disk.reload("admin")
  local seen = load.count()
  wait_until("bravo to go back", function()
    disk.take_generations()
    return disk.newest > passed.generation
  end)
  equal(good.label, disk.generations[disk.newest].bravo.label, "what runs")
  wait_until("searches after it", function()
    return load.count() >= seen + 6 * CONCURRENCY
  end)
  load.finish(function(each)
    judge_search(tally, each)
  end)
  print_tally("while one goes back", tally)
  print(("# %d searches met the failing version"):format(tally.failing.count))
  assert_true(tally)
  assert(tally.failing.count >= 5, "searches that met it: " .. tally.failing.count)
  disk.expect_kept("bravo", ("bravo.lua:%d: %s"):format(line, cause))
  local found
  for _, event in ipairs(disk.get("/admin/v1/events").events) do
    found = found or event.event == "went_back" and event
  end
  assert(found, "there is no event")
  equal("bravo", found.name, "name")
  equal(line, found.line, "line")
  assert(found.message:find(cause, 1, true), found.message)
end)

test("one generation is left, and memory, threads and descriptors are as they were", function()
  wait_until("the last old generation to end", function()
    return disk.get("/admin/v1/generations").live == 1
  end)
  local after, others = w:usage(), descriptors()
  world.print_usage(at_rest, after)
  equal(at_rest.threads, after.threads, "threads")
  equal(at_rest.others, others, "descriptors that are no sockets")
  assert(after.descriptors <= at_rest.descriptors + 4 * CONCURRENCY, "descriptors: " .. after.descriptors)
  equal(COUNT, #resident, "reloads")
  local part = math.max(1, math.floor(COUNT / 20))
  local quarter = math.floor(COUNT / 4)
  local then_kib, end_kib = mean(resident, quarter, quarter + part), mean(resident, COUNT - part, COUNT)
  local course = {}
  for tenth = 1, 10 do
    local from, to = math.floor(COUNT * (tenth - 1) / 10) + 1, math.floor(COUNT * tenth / 10)
    course[tenth] = ("%.0f"):format(mean(resident, from, to))
  end
  print("# resident KiB, tenth by tenth: " .. table.concat(course, " "))
  print(("# resident after a quarter of the reloads %.0f KiB, at the end %.0f KiB"):format(then_kib, end_kib))
  if measures_memory then
    assert(end_kib <= then_kib * 1.05, "memory grew")
  end
end)

test("a reload that finds nothing changed says so", function()
  equal("unchanged", disk.reload("admin").outcome, "outcome")
  equal("unchanged", disk.reload("command").outcome, "outcome")
end)

crowd.end_all()
test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(60), "the engine did not end")
  equal(0, w:exit_code(), "exit code")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
