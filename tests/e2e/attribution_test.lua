-- Replies, attribution and metrics tell the same, and it is what the farm saw on the wire.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local variant = os.getenv("LASTCALL_VARIANT") or "release"
local count = variant == "release" and 200 or 60

local FILE = world.build .. "/e2e/attribution.ndjson"
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
  population = "brief",
  overlay = "attribution: { file: " .. FILE .. " }",
  before_engine = function()
    for name, fault in pairs(FAULTS) do
      world.farm(name, { fault = fault })
    end
    world.farm("s40", { fault = "refused" })
  end,
}

local function add(sums, name, field, value)
  sums[name] = sums[name] or {}
  sums[name][field] = (sums[name][field] or 0) + value
end

local function read_lines(path)
  local lines = {}
  for line in (world.read_file(path) or ""):gmatch("[^\n]+") do
    lines[#lines + 1] = world.json.decode(line)
  end
  return lines
end

-- The value of every line of a metric, by its labels as they stand.
local function read_metrics()
  local reply = world.http("GET", w.admin_url .. "/metrics")
  equal(200, reply.status, "status of /metrics")
  local metrics = {}
  for line in reply.raw:gmatch("[^\n]+") do
    local name, value = line:match("^(lastcall_%S+) (%S+)$")
    if name then
      metrics[name] = tonumber(value)
    end
  end
  return metrics
end

local function metric(metrics, name, labels)
  return metrics["lastcall_" .. name .. (labels and "{" .. labels .. "}" or "")] or 0
end

local replies, in_replies = {}, {}

test(count .. " searches are answered, with faults and different budgets", function()
  for i = 1, count do
    local reply = w:search { budget_ms = ({ 150, 300, 450 })[i % 3 + 1] }
    assert(reply.status == 200 or reply.status == 504, "status " .. tostring(reply.status))
    replies[reply.json.search_id] = reply
    for _, supplier in ipairs(reply.json.suppliers) do
      add(in_replies, supplier.name, supplier.outcome, 1)
      add(in_replies, supplier.name, "offers", supplier.offers or 0)
    end
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

local FIELDS = { "name", "outcome", "bound", "phase", "kind", "detail", "reason", "offers", "took_ms" }
local records
test("the attribution file has one line for each search, as its reply was", function()
  world.http("GET", w.admin_url .. "/admin/v1/searches") -- comes back when everything is written
  records = read_lines(FILE)
  equal(count + 3, #records, "lines")
  local cancelled = 0
  for _, record in ipairs(records) do
    local reply = replies[record.search_id]
    if record.cancelled then
      cancelled = cancelled + 1
      equal("cancelled", record.suppliers[1].outcome, "outcome of who was open")
    else
      assert(reply, "a record without a reply: " .. record.search_id)
      equal(reply.status, record.status, "status")
      equal(true, record.sent, "sent")
      assert(record.took_ms >= reply.json.took_ms, "the record is made when the reply is written: " .. record.took_ms)
      equal(reply.json.coverage.percent, record.coverage.percent, "percent")
      equal(reply.json.coverage.offers_found, record.coverage.offers_found, "offers_found")
      equal(reply.json.coverage.offers_returned, record.coverage.offers_returned, "offers_returned")
      equal(#reply.json.suppliers, #record.suppliers, "suppliers")
      for i, supplier in ipairs(reply.json.suppliers) do
        local told = record.suppliers[i]
        for _, field in ipairs(FIELDS) do
          equal(supplier[field], told[field], supplier.name .. "." .. field)
        end
      end
    end
  end
  equal(3, cancelled, "cancelled searches")
end)

local in_file = {}
test("sums by supplier and outcome agree between replies, file and metrics", function()
  local metrics = read_metrics()
  local attempts, kinds = 0, 0
  for _, record in ipairs(records) do
    for _, supplier in ipairs(record.suppliers) do
      add(in_file, supplier.name, supplier.outcome, 1)
      add(in_file, supplier.name, "requests", supplier.requests or 0)
      add(in_file, supplier.name, "offers", supplier.offers or 0)
      if supplier.outcome == "cut" then
        add(in_file, supplier.name, supplier.bound .. "/" .. supplier.phase, 1)
      end
      attempts = attempts + 1
    end
  end
  for name, sums in pairs(in_file) do
    for field, value in pairs(sums) do
      local labels = ("supplier=\"%s\""):format(name)
      local bound, phase = field:match("^(%a+)/(.+)$")
      if bound then
        labels = ("%s,bound=\"%s\",phase=\"%s\""):format(labels, bound, phase)
        equal(value, metric(metrics, "attempts_cut_total", labels), name .. " cut by " .. field)
      elseif field == "requests" then
        equal(value, metric(metrics, "supplier_requests_total", labels), name .. " requests")
      elseif field == "offers" then
        equal(value, metric(metrics, "offers_total", labels), name .. " offers")
        equal(value, in_replies[name].offers, name .. " offers in replies")
      else
        kinds = kinds + 1
        local in_reply = (in_replies[name][field] or 0) + (field == "cancelled" and 3 or 0)
        labels = ("%s,outcome=\"%s\""):format(labels, field)
        equal(value, metric(metrics, "attempts_total", labels), name .. " " .. field)
        equal(value, in_reply, name .. " " .. field .. " in replies")
      end
    end
  end
  assert(kinds > 43, "more than one outcome for some suppliers")
  local counted = 0
  for name, value in pairs(metrics) do
    counted = counted + (name:match("^lastcall_attempts_total{") and value or 0)
  end
  equal(attempts, counted, "attempts in all")
  local searches = 0
  for _, status in ipairs { "200", "504", "cancelled" } do
    searches = searches + metric(metrics, "searches_total", ("status=\"%s\""):format(status))
  end
  equal(count + 3, searches, "searches")
  equal(count, metric(metrics, "search_duration_seconds_count"), "durations")
  equal(count + 3, metric(metrics, "attribution_written_total"), "lines written")
  equal(0, metric(metrics, "attribution_dropped_total"), "lines dropped")
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
  local id = records[#records - 4].search_id
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
  local before = #read_lines(FILE)
  assert(os.rename(FILE, MOVED))
  w:signal("USR1")
  world.sleep_ms(200)
  local reply = w:search { budget_ms = 300, suppliers = { "s10" } }
  equal(200, reply.status, "status")
  world.http("GET", w.admin_url .. "/admin/v1/searches")
  equal(before, #read_lines(MOVED), "lines of the old file")
  local lines = read_lines(FILE)
  equal(1, #lines, "lines of the new file")
  equal(reply.json.search_id, lines[1].search_id, "search_id")
end)

test("the engine ends clean, and the last record is on disk", function()
  local reply = w:search { budget_ms = 300, suppliers = { "s10" } }
  w:signal("TERM")
  assert(w:wait_engine(20), "the engine did not end")
  local lines = read_lines(FILE)
  equal(reply.json.search_id, lines[#lines].search_id, "search_id")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()

test("an admin listener beyond loopback does not start without a token", function()
  local file = world.build .. "/e2e/beyond.yaml"
  world.write_file(file, "listen: 127.0.0.1:0\nadmin: { listen: \"0.0.0.0:0\" }\n")
  local text, code = world.shell(("%s/lastcall serve -c examples/farm/lastcall.yaml -c %s/overlay.yaml -c %s"):format(
    world.build, w.folder, file))
  equal(3, code, "exit code: " .. text)
  assert(text:find("beyond loopback and has no token", 1, true), text)
end)

os.execute("rm -f " .. FILE .. " " .. MOVED)
world.finish()
