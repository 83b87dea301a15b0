-- Rules of the settings, over the farm: which searches get which deadline and which ceilings, and that reply, record
-- and `lastcall explain` tell the line that won.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start {
  population = "instant",
  overlay = [[
rules:
  - { when: { product: flights, device: mobile, lead_days: "<7" }, deadline: 1500ms }
  - { when: { device: app }, deadline: 4s }
  - { when: { market: [GB], trip_type: multi_city }, supplier: [s01, s03], ceiling: 900ms }
  - { when: { market: [GB] }, supplier: s01, ceiling: 1300ms }
  - { when: { market: [FR] }, ceiling_scale: 50% }
  - { when: { market: [FR, DE] }, supplier: [s01, s03], ceiling_max: 700ms }
suppliers:
  s01: { ceiling: 1200ms }
  s03: { ceiling: 3s }
]],
}

local function line_of(text)
  local number = 0
  for line in world.read_file(w.folder .. "/overlay.yaml"):gmatch("([^\n]*)\n") do
    number = number + 1
    if line:find(text, 1, true) then
      return w.folder .. "/overlay.yaml:" .. number
    end
  end
  error("no line with " .. text)
end

local FIRST, APP = line_of("deadline: 1500ms"), line_of("deadline: 4s")
local MULTI, GB = line_of("ceiling: 900ms"), line_of("ceiling: 1300ms")
local SCALE, MAX = line_of("ceiling_scale"), line_of("ceiling_max")

-- A day so many days after today; UTC, as lead_days is.
local function day_in(days)
  return os.date("!%Y-%m-%d", os.time() + days * 86400)
end

local function query(changes)
  local asked = { travellers = { { type = "adult" } }, currency = "EUR" }
  for key, value in pairs(changes) do
    asked[key] = value
  end
  asked.days = nil
  asked.slices = { { origin = "LHR", destination = "JFK", date = day_in(changes.days or 60) } }
  if changes.multi then
    asked.multi = nil
    asked.slices[2] = { origin = "BOS", destination = "LHR", date = day_in((changes.days or 60) + 5) }
  end
  return asked
end

local function search(changes, fields)
  local body = { query = query(changes), suppliers = { "s01", "s03", "s02" } }
  for key, value in pairs(fields or {}) do
    body[key] = value
  end
  local reply = w:search(body)
  assert(reply.json and reply.json.budget, reply.raw:sub(1, 400))
  return reply
end

local function check_budget(reply, ms, from, rule)
  local budget = reply.json.budget
  equal(ms, budget.effective_ms, "effective_ms")
  equal(from, budget.from, "from")
  equal(rule, budget.rule, "rule")
end

local function check_ceiling(reply, name, ms, from, rules)
  local entry = world.entry(reply, name)
  equal(ms, entry.ceiling_ms, name .. "'s ceiling_ms")
  equal(from, entry.ceiling_from, name .. "'s ceiling_from")
  equal(table.concat(rules or {}, " "), table.concat(entry.rules or {}, " "), name .. "'s rules")
end

test("a mobile search that leaves within a week gets 1500 ms, by the first rule", function()
  check_budget(search { device = "mobile", days = 3 }, 1500, "rule", FIRST)
end)

test("a mobile search that leaves later, and a desktop search, get the default", function()
  check_budget(search { device = "mobile", days = 9 }, 2000, "default")
  check_budget(search { device = "desktop", days = 3 }, 2000, "default")
end)

test("the reply of a rule's deadline leaves by it, and what hangs is cut by the budget", function()
  world.farm("s02", { fault = "hang_answer" })
  local reply = w:search { query = query { device = "mobile", days = 3 }, suppliers = { "s02" } }
  equal("cut", world.entry(reply, "s02").outcome, "outcome")
  equal("budget", world.entry(reply, "s02").bound, "bound")
  check_budget(reply, 1500, "rule", FIRST)
  world.farm("s02", { fault = "none" })
end)

test("a rule can give more than the default, and a supplier then has it", function()
  world.farm("s02", { model = "constant", median_ms = 2600 })
  local reply = w:search { query = query { device = "app" }, suppliers = { "s02" } }
  check_budget(reply, 4000, "rule", APP)
  equal("answered", world.entry(reply, "s02").outcome, "outcome")
  world.farm("s02", { model = "constant", median_ms = 1 })
end)

test("a caller who names less keeps it, one who names more gets the rule's and is told", function()
  check_budget(search({ device = "mobile", days = 3 }, { budget_ms = 1200 }), 1200, "caller")
  local reply = search({ device = "mobile", days = 3 }, { budget_ms = 5000 })
  check_budget(reply, 1500, "rule", FIRST)
  equal(5000, reply.json.budget.requested_ms, "requested_ms")
  equal(true, reply.json.budget.clamped, "clamped")
  check_budget(search({ device = "desktop" }, { budget_ms = 5000 }), 5000, "caller")
end)

test("a multi-city search of GB gets the first rule's ceiling, a return of GB the second's", function()
  local reply = search { market = "GB", multi = true }
  check_ceiling(reply, "s01", 900, "rule", { MULTI })
  check_ceiling(reply, "s03", 900, "rule", { MULTI })
  check_ceiling(reply, "s02", world.entry(reply, "s02").ceiling_ms, world.entry(reply, "s02").ceiling_from)
  reply = search { market = "GB" }
  check_ceiling(reply, "s01", 1300, "rule", { GB })
  check_ceiling(reply, "s03", 3000, "settings")
end)

test("scale, then limit", function()
  local reply = search { market = "FR" }
  check_ceiling(reply, "s01", 600, "settings", { SCALE })
  check_ceiling(reply, "s03", 700, "rule", { MAX })
  reply = search { market = "DE" }
  check_ceiling(reply, "s01", 700, "rule", { MAX })
end)

test("a rule's ceiling cuts", function()
  world.farm("s01", { fault = "hang_answer" })
  local reply = w:search { query = query { market = "GB", multi = true }, suppliers = { "s01" }, budget_ms = 8000 }
  local entry = world.entry(reply, "s01")
  equal("cut", entry.outcome, "outcome")
  equal("ceiling", entry.bound, "bound")
  world.farm("s01", { fault = "none" })
end)

test("the record and lastcall explain tell the rules that won", function()
  local reply = search { device = "mobile", days = 3, market = "GB", multi = true }
  local id = reply.json.search_id
  local text, code
  for _ = 1, 100 do
    text, code = world.shell(("%s/lastcall explain %s --width 200 --admin %s"):format(world.build, id, w.admin_url))
    if code == 0 then
      break
    end
    world.sleep_ms(50)
  end
  equal(0, code, "exit code: " .. text)
  assert(text:find(FIRST .. "  deadline 1,500 ms", 1, true), text)
  local line = text:match("\n([^\n]*ceiling of [^\n]*)") or ""
  for _, part in ipairs { MULTI, "s01 (900 ms)", "s03 (900 ms)" } do -- in the order in which they ended
    assert(line:find(part, 1, true), text)
  end
  local record = world.http("GET", w.admin_url .. "/admin/v1/searches/" .. id)
  equal("rule", record.json.budget.from, "from")
  equal(FIRST, record.json.budget.rule, "rule")
  for _, name in ipairs { "s01", "s03" } do
    local entry = world.entry(record, name)
    equal("rule", entry.ceiling_from, "ceiling_from")
    equal(MULTI, entry.rules[1], "rule")
  end
end)

test("a stream is told the same", function()
  local reply = w:search({ query = query { device = "mobile", days = 3 }, suppliers = { "s01" } },
    { "Accept: application/x-ndjson" })
  local done = world.json.decode(reply.raw:match("([^\n]+)\n*$"))
  local budget = (done.data or done).budget
  equal(1500, budget.effective_ms, "effective_ms")
  equal(FIRST, budget.rule, "rule")
end)

test("check prints the rules and warns of ceilings that cannot cut", function()
  local path = w.folder .. "/never.yaml"
  world.write_file(path, "rules:\n  - { when: { device: app }, supplier: s01, ceiling: 10s }\n")
  -- The authority of this farm, not of one that was started by hand.
  local text, code = world.shell(("LASTCALL__NETWORK__CA_FILE=%s/tls/ca.pem %s/lastcall check " ..
    "-c examples/farm/lastcall.yaml -c %s"):format(w.folder, world.build, path))
  equal(0, code, text)
  assert(text:find("rules      1", 1, true), text)
  assert(text:find("warning: " .. path .. ":2: this rule's ceiling is not below deadline.max", 1, true), text)
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
