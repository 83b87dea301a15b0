-- Replies, attribution and metrics tell the same, and it is what the farm saw on the wire.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local ledger = require("tests.e2e.ledger")
local test, equal = world.test, world.equal

local count = os.getenv("LASTCALL_LONG") == "yes" and 200 or 60

local FILE = world.folder .. "/attribution.ndjson"
local MOVED = FILE .. ".1"
os.execute("mkdir -p " .. world.build .. "/e2e && rm -f " .. FILE .. " " .. MOVED)

-- Forced faults beside those of the population. Not those of kept connections that go silent: there the engine sends
-- what the farm never reads.
local FAULTS = {
  s03 = "status_500",
  s06 = "status_429",
  s08 = "hang_answer",
  s11 = "html",
  s16 = "reset_body",
  s25 = "cut_body",
  s26 = "none",
  s27 = "hang_body",
  s31 = "empty",
}

local w = world.start {
  without_breakers = true,
  population = "brief",
  overlay = "attribution: { file: " .. FILE .. " }",
  before_engine = function()
    for name, fault in pairs(FAULTS) do
      world.farm(name, { fault = fault })
    end
    world.farm("s40", { fault = "refused" })
  end,
}

local replies, in_replies = {}, {}

test(count .. " searches are answered, with faults and different budgets", function()
  for i = 1, count do
    local reply = w:search { budget_ms = ({ 150, 300, 450 })[i % 3 + 1] }
    assert(reply.status == 200 or reply.status == 504, "status " .. tostring(reply.status))
    replies[reply.json.search_id] = reply
    ledger.count(in_replies, reply.json.suppliers)
  end
end)

test("callers who leave are attributed too", function()
  local body = world.json.encode { product = "flights", query = world.query, budget_ms = 5000, suppliers = { "s08" } }
  for _ = 1, 3 do
    local reply = world.http("POST", w.url .. "/v1/search",
      { body = body, headers = { "Content-Type: application/json" }, max_time = 0.4 })
    equal(28, reply.curl, "curl's own time-out")
  end
  world.sleep_ms(300)
end)

local records
local in_file, answered_in_file = {}, {}
test("the attribution file has one line for each search, as its reply was", function()
  records = ledger.read_records(w, FILE, 0, replies)
  equal(count + 3, #records, "lines")
  local cancelled = 0
  for _, record in ipairs(records) do
    ledger.count(in_file, record.suppliers)
    if record.cancelled then
      cancelled = cancelled + 1
      equal("cancelled", record.suppliers[1].outcome, "outcome of who was open")
    else
      local reply = assert(replies[record.search_id], "a record without a reply: " .. record.search_id)
      ledger.check_record(reply.json, reply.status, record)
      ledger.count(answered_in_file, record.suppliers)
    end
  end
  equal(3, cancelled, "cancelled searches")
end)

test("sums by supplier and outcome agree between replies, file and metrics", function()
  local metrics = ledger.read_metrics(w)
  ledger.check_metrics(in_file, metrics)
  ledger.check_same(in_replies, answered_in_file, "replies and their records")
  local kinds = 0
  for _, sums in pairs(in_file) do
    for field in pairs(sums) do
      kinds = kinds + (field ~= "offers" and field ~= "requests" and not field:find("/", 1, true) and 1 or 0)
    end
  end
  assert(kinds > 43, "more than one outcome for some suppliers")
  equal(count + 3, ledger.metric_sum(metrics, "searches_total"), "searches")
  equal(3, ledger.metric(metrics, "searches_total", "status", "cancelled"), "cancelled searches")
  equal(count, ledger.metric(metrics, "search_duration_seconds_count"), "durations")
  equal(count + 3, ledger.metric(metrics, "attribution_written_total"), "lines written")
end)

test("requests are those that the farm saw on the wire", function()
  local in_all, unread_in_all = 0, 0
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    local sums = in_file[supplier.name]
    -- A connection that is reset or silent from the start takes a request that the farm never reads.
    local unread = (supplier.faults.reset_accept or 0) + (supplier.faults.silent_kept or 0)
    local extra = sums.requests - supplier.requests
    assert(extra >= 0 and extra <= unread,
      ("%s: %d requests; the farm: %s"):format(supplier.name, sums.requests, world.json.encode(supplier)))
    unread_in_all = unread_in_all + unread
    in_all = in_all + supplier.requests
  end
  assert(in_all > count * 20 and unread_in_all < in_all / 100, "requests in all: " .. in_all)
  equal(0, in_file.s40.requests, "requests to who refuses connections")
  -- On a busy machine the budget may end before the refusal is seen.
  assert((in_file.s40.failed or 0) > 0 and not in_file.s40.answered, "s40 failed")
end)

test("lastcall explain draws the record, and prints it as it is", function()
  local id
  for _, record in ipairs(records) do -- on a busy machine not in each of them
    for _, supplier in ipairs(record.suppliers) do
      id = supplier.name == "s40" and supplier.outcome == "failed" and record.search_id or id
    end
  end
  assert(id, "s40 failed in none")
  local explain = world.build .. "/lastcall explain %s --admin " .. w.admin_url
  local text, code = world.shell(explain:format(id) .. " --width 120")
  equal(0, code, "exit code: " .. text)
  assert(text:find("Search " .. id, 1, true), text)
  assert(text:find("s40", 1, true) and text:find("failed", 1, true), text)
  local raw
  raw, code = world.shell(explain:format(id) .. " --json")
  equal(0, code, "exit code: " .. raw)
  equal(id, world.json.decode(raw).search_id, "search_id")
  text, code = world.shell(explain:format(records[#records].search_id))
  equal(0, code, "exit code: " .. text)
  assert(text:find("The caller left before the reply", 1, true), text)
  text, code = world.shell(explain:format("01NOBODY"))
  equal(5, code, "exit code: " .. text)
end)

test("lastcall status says how the engine is", function()
  local text, code = world.shell(("%s/lastcall status --admin %s"):format(world.build, w.admin_url))
  equal(0, code, "exit code: " .. text)
  assert(text:find("ready", 1, true) and text:find("generation 1", 1, true), text)
  assert(text:find("farm_a", 1, true) and text:find("a template", 1, true), text)
  text, code = world.shell(("%s/lastcall status --admin %s"):format(world.build, "http://127.0.0.1:1"))
  equal(4, code, "exit code: " .. text)
end)

test("after SIGUSR1 records go into a new file", function()
  local before = #ledger.read_lines(FILE)
  assert(os.rename(FILE, MOVED))
  w:signal("USR1")
  world.sleep_ms(200)
  local reply = w:search { budget_ms = 5000, suppliers = { "s10" } }
  equal(200, reply.status, "status")
  world.http("GET", w.admin_url .. "/admin/v1/searches")
  equal(before, #ledger.read_lines(MOVED), "lines of the old file")
  local lines = ledger.read_lines(FILE)
  equal(1, #lines, "lines of the new file")
  equal(reply.json.search_id, lines[1].search_id, "search_id")
end)

test("the engine ends clean, and the last record is on disk", function()
  local reply = w:search { budget_ms = 300, suppliers = { "s10" } }
  w:signal("TERM")
  assert(w:wait_engine(20), "the engine did not end")
  local lines = ledger.read_lines(FILE)
  equal(reply.json.search_id, lines[#lines].search_id, "search_id")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()

test("an admin listener beyond loopback does not start without a token", function()
  local file = world.folder .. "/beyond.yaml"
  world.write_file(file, "listen: 127.0.0.1:0\nadmin: { listen: \"0.0.0.0:0\" }\n")
  for round = 1, 10 do -- what was under way must end, wherever the refusal meets it
    local text, code = world.shell(("%s/lastcall serve -c examples/farm/lastcall.yaml -c %s/overlay.yaml -c %s"):format(
      world.build, w.folder, file))
    equal(3, code, "exit code of round " .. round .. ": " .. text)
    assert(text:find("beyond loopback and has no token", 1, true), text)
  end
end)

os.execute("rm -f " .. FILE .. " " .. MOVED)
world.finish()
