-- One supplier whose script takes too much of the processor: it waits behind the others, who do not notice.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local ROUNDS, CALLERS, SEARCHES = 8, 8, 32
local HEALTHY = { "s02", "s03", "s04", "s05", "s06" }

-- The farm's own ceilings are for machines with nothing else to do.
local PATIENT = ""
for _, name in ipairs(HEALTHY) do
  PATIENT = PATIENT .. "  " .. name .. ": { ceiling: 9s }\n"
end

local w = world.start {
  population = "healthy",
  overlay = table.concat({
    "suppliers_dir: [examples/farm/suppliers, suppliers, tests/e2e/hog]",
    "script_threads: 1",
    "scripts: { normalise_limit: 10s }", -- it is slow, not broken
    "suppliers:",
    "",
  }, "\n") .. PATIENT,
}

local function metric(text, name, supplier)
  local value = text:match(("\nlastcall_%s{supplier=\"%s\"} ([%%d.]+)\n"):format(name, supplier))
  return assert(tonumber(value), name .. " of " .. supplier .. " is not there")
end

-- Many searches at once over the hog and the healthy; their replies.
local function load_up()
  local names = { "hog" }
  for i, name in ipairs(HEALTHY) do
    names[i + 1] = name
  end
  local body = world.json.encode { product = "flights", query = world.query, suppliers = names, budget_ms = 10000 }
  local folder = w.folder .. "/share"
  world.shell("rm -rf " .. folder .. " && mkdir -p " .. folder)
  world.write_file(folder .. "/body", body)
  world.shell(("seq %d | xargs -P %d -I N curl -sS --max-time 30 -o %s/N.json --data-binary @%s/body %s %s/v1/search")
    :format(SEARCHES, CALLERS, folder, folder, "-H 'Content-Type: application/json'", w.url))
  local replies = {}
  for i = 1, SEARCHES do
    local text = assert(world.read_file(folder .. "/" .. i .. ".json"), "no reply")
    replies[i] = { json = world.json.decode(text) }
  end
  return replies
end

local function check(replies)
  for _, reply in ipairs(replies) do
    for _, name in ipairs(HEALTHY) do
      equal("answered", world.entry(reply, name).outcome, name)
    end
    local hog = world.entry(reply, "hog")
    local is_late = hog.outcome == "cut" and (hog.phase == "script_queue" or hog.phase == "script")
    assert(hog.outcome == "empty" or is_late, world.json.encode(hog))
  end
end

local put_back, metrics = 0, nil

test("beside a script that takes forty milliseconds an answer the others keep their outcomes", function()
  for _ = 1, ROUNDS do
    check(load_up())
    metrics = world.http("GET", w.admin_url .. "/metrics").raw
    put_back = metric(metrics, "script_put_back_total", "hog")
    if put_back > 0 then
      break
    end
  end
end)

if put_back > 0 then
  test("the one that was over its share had to let others pass", function()
    local used = metric(metrics, "script_cpu_seconds_total", "hog")
    for _, name in ipairs(HEALTHY) do
      assert(metric(metrics, "script_cpu_seconds_total", name) < used, name .. " took more than the hog")
      equal(0, metric(metrics, "script_put_back_total", name), "put back of " .. name)
    end
    equal(0, metric(metrics, "script_quarantined", "hog"), "a slow script is not a broken one")
  end)
else
  world.skip("the one that was over its share had to let others pass", "the machine is too busy to use up a share")
end

w:stop()
world.finish()
