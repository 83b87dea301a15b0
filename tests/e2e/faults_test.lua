-- Each fault of the farm becomes its outcome, and the others do not notice.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

-- fault, supplier (s01 to s20 speak http, s21 to s40 https), outcome, phase or kind
local CASES = {
  { "refused", "s01", "failed", phase = "connect" },
  { "hang_accept", "s03", "cut", phase = "first_byte" },
  { "reset_accept", "s04", "failed" },
  { "hang_answer", "s05", "cut", phase = "first_byte" },
  { "hang_headers", "s06", "cut" },
  { "hang_body", "s07", "cut", phase = "body" },
  { "drip", "s08", "cut", phase = "body" },
  { "reset_headers", "s09", "failed" },
  { "reset_body", "s10", "failed", phase = "body" },
  { "cut_body", "s11", "failed", phase = "body" },
  { "status_429", "s12", "rejected", kind = "quota" },
  { "status_500", "s13", "failed" },
  { "status_503", "s14", "failed" },
  { "html", "s15", "unparsable" },
  { "empty", "s16", "unparsable" },
  { "hang_tls", "s21", "cut", phase = "tls" },
  { "hang_accept", "s22", "cut", phase = "tls" },
  { "reset_accept", "s23", "failed" },
}

-- What never ends takes this long; everybody else must be through by then, with sanitizers too.
local CUT_MS = (os.getenv("LASTCALL_VARIANT") or "release") == "release" and 1200 or 3000
local SETTINGS = { world.settings_without_ceilings() }
local w = world.start { population = "healthy", settings = SETTINGS }

local function is_faulty(name)
  for _, case in ipairs(CASES) do
    if case[2] == name then
      return true
    end
  end
  return false
end

test("a healthy farm answers whole", function()
  local reply = w:search { budget_ms = 5000 }
  equal(200, reply.status, "status")
  equal(40, reply.json.coverage.answered, "answered")
  equal(true, reply.json.coverage.complete, "complete")
  equal("true", reply.headers["search-complete"], "Search-Complete")
end)

-- Faults at the door need new connections: a new engine has no kept ones.
w:stop()
w = world.start {
  without_breakers = true,
  population = "healthy",
  settings = SETTINGS,
  before_engine = function()
    for _, case in ipairs(CASES) do
      world.farm(case[2], { fault = case[1] })
    end
  end,
}

for round = 1, 2 do
  w:wait_until_free("s12") -- its 429 says how long it wants to be left alone
  local reply = w:search { budget_ms = CUT_MS }
  for _, case in ipairs(CASES) do
    test(string.format("%s at %s is %s (round %d)", case[1], case[2], case[3], round), function()
      local entry = world.entry(reply, case[2])
      equal(case[3], entry.outcome, "outcome of " .. world.json.encode(entry))
      equal(case.kind, entry.kind, "kind")
      if case.phase then
        equal(case.phase, entry.phase, "phase of " .. world.json.encode(entry))
      end
    end)
  end
  test("the others are unharmed (round " .. round .. ")", function()
    for _, entry in ipairs(reply.json.suppliers) do
      if not is_faulty(entry.name) and entry.outcome ~= "disabled" then
        equal("answered", entry.outcome, entry.name .. " " .. world.json.encode(entry))
      end
    end
  end)
end

w:stop()

-- Names: fault and outcome; the phase is always dns.
local NAMES = {
  s30 = { "never_resolves", "cut" },
  s31 = { "nxdomain", "failed" },
  s32 = { "name_servfail", "failed" },
  s33 = { "name_garbled", "cut" }, -- no answer at all: another server might give one
  s34 = { "name_wrong", "failed" }, -- an address at which no supplier may live
}

local names = world.start {
  without_breakers = true,
  population = "healthy",
  settings = SETTINGS,
  before_engine = function()
    for name, case in pairs(NAMES) do
      world.farm(name, { fault = case[1] })
    end
    world.farm("s35", { name_delay_ms = 700 })
    world.farm("s18", { fault = "silent_kept" })
  end,
}

test("a name server that is silent, fails or lies costs its own supplier only", function()
  local reply = names:search { budget_ms = CUT_MS }
  for name, case in pairs(NAMES) do
    local entry = world.entry(reply, name)
    equal(case[2], entry.outcome, case[1] .. ": outcome of " .. world.json.encode(entry))
    equal("dns", entry.phase, case[1] .. ": phase of " .. world.json.encode(entry))
  end
  for _, entry in ipairs(reply.json.suppliers) do
    if not NAMES[entry.name] and entry.name ~= "s35" and entry.outcome ~= "disabled" then
      equal("answered", entry.outcome, entry.name .. " " .. world.json.encode(entry))
    end
  end
end)

test("a name that comes late is known afterwards", function()
  for _ = 1, 100 do
    local entry = world.entry(names:search { budget_ms = CUT_MS, suppliers = { "s35" } }, "s35")
    if entry.outcome == "answered" then
      return
    end
    equal("dns", entry.phase, "phase of " .. world.json.encode(entry))
  end
  error("never answered")
end)

test("a kept connection that goes silent is cut, not failed, and costs nobody else", function()
  local reply = names:search { budget_ms = CUT_MS }
  local entry = world.entry(reply, "s18")
  equal("cut", entry.outcome, "outcome")
  equal("first_byte", entry.phase, "phase")
  equal(34, reply.json.coverage.answered, "answered")
end)

names:stop()
world.finish()
