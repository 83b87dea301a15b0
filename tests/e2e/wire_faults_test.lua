-- Every fault that the farm can play while it runs, one at a time: its own outcome, the other 39 unharmed, and its own
-- supplier well again afterwards. LASTCALL_LONG=yes plays ten thousand of them and looks at what is left behind.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local QUICK_MS = 6000 -- for what ends by itself, also on a machine that does other things
local CUT_MS = (os.getenv("LASTCALL_VARIANT") or "release") == "release" and 1500 or 3000 -- for what never ends

-- Outcome, phase, kind and offers (thirty is all). `tls`: played by a supplier that speaks HTTPS.
local CASES = {
  refused = { "failed", phase = "connect" },
  hang_connect = { "cut", phase = "connect" },
  hang_accept = { "cut", phase = "first_byte" },
  hang_tls = { "cut", phase = "tls", tls = true },
  slow_tls = { "answered", offers = 30, tls = true },
  cert_unknown = { "failed", phase = "tls", tls = true },
  cert_name = { "failed", phase = "tls", tls = true },
  cert_expired = { "failed", phase = "tls", tls = true },
  reset_accept = { "failed" },
  silent_kept = { "cut", phase = "first_byte" },
  hang_answer = { "cut", phase = "first_byte" },
  hang_headers = { "cut", phase = "body" },
  hang_body = { "cut", phase = "body" },
  drip = { "cut", phase = "body" },
  reset_headers = { "failed", phase = "body" },
  reset_body = { "failed", phase = "body" },
  cut_body = { "failed", phase = "body" },
  status_429 = { "rejected", kind = "quota" },
  status_500 = { "failed" },
  status_503 = { "failed" },
  html = { "unparsable" },
  empty = { "unparsable" },
  gzip_cut_length = { "unparsable" },
  gzip_cut_chunked = { "unparsable" },
  gzip_cut_close = { "unparsable" },
  gzip_cut_record = { "unparsable" },
  gzip_plain = { "unparsable" },
  gzip_members = { "answered", offers = 30 },
  gzip_bomb = { "too_large" },
  json_cut_close = { "unparsable" },
  chunked_no_end = { "failed", phase = "body" },
  chunked_broken = { "failed", phase = "body" },
  length_long = { "failed", phase = "body" },
  length_short = { "unparsable" },
  status_204_body = { "unparsable" },
  head_huge = { "too_large" },
  head_line_huge = { "too_large" },
  informational = { "answered", offers = 30 },
  informational_flood = { "too_large" },
  no_status_line = { "failed", phase = "first_byte" },
  redirect_host = { "rejected", kind = "supplier" },
  redirect_file = { "rejected", kind = "supplier" },
  bom = { "answered", offers = 30 },
  utf16 = { "answered", offers = 30 },
  cp1252 = { "answered", offers = 30, brand = "^€" },
  charset_lie = { "answered", offers = 30, brand = "^\239\191\189", warnings = 1 }, -- U+FFFD
}

local ADMIN = "http://" .. world.network .. ".254:9999"
local PLAIN, OVER_TLS, FIRST = "s05", "s25", "s01"

local w = world.start {
  without_breakers = true,
  population = "instant",
  settings = { world.settings_without_ceilings() },
  -- So that what AddressSanitizer keeps of freed memory does not look like growth.
  environment = "ASAN_OPTIONS=quarantine_size_mb=4:${ASAN_OPTIONS:-}",
}

-- What the farm itself says that it can play; names are played by faults_test.lua, sources by steps_test.lua,
-- logins by login_test.lua, fields by shapes_test.lua.
local playable = {}
for _, fault in ipairs(world.http("GET", ADMIN .. "/faults").json.faults) do
  local is_elsewhere = fault.needs == "sources" or fault.needs == "field" or fault.at == "login"
  if fault.at ~= "name" and not is_elsewhere then
    playable[#playable + 1] = fault.name
  end
end

local function requests_of(name)
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    if supplier.name == name then
      return supplier.requests
    end
  end
end

local function others_answered(reply, name)
  for _, entry in ipairs(reply.json.suppliers) do
    if entry.name ~= name and entry.outcome ~= "disabled" then
      equal("answered", entry.outcome, entry.name .. " " .. world.json.encode(entry))
      equal(30, entry.offers, "offers of " .. entry.name)
    end
  end
end

test("the farm can play at least forty faults while it runs, and each has a case", function()
  assert(#playable >= 40, "only " .. #playable)
  for _, name in ipairs(playable) do
    assert(CASES[name], name .. " has no case")
  end
end)

test("all forty are well", function()
  equal(40, w:search({ budget_ms = QUICK_MS }).json.coverage.answered, "answered")
end)

-- After a 429 the account is left alone for the two seconds of its Retry-After.
local function search_when_free(name)
  local reply
  for _ = 1, 200 do
    reply = w:search { budget_ms = QUICK_MS, suppliers = { name } }
    if world.entry(reply, name).outcome ~= "rate_limited" then
      break
    end
    world.sleep_ms(100)
  end
  return reply
end

for _, fault in ipairs(playable) do
  local case = CASES[fault] or {}
  local name = case.tls and OVER_TLS or PLAIN
  test(("%s is %s"):format(fault, tostring(case[1])), function()
    local asked = requests_of(FIRST)
    world.farm(name, { fault = fault })
    local reply = w:search { budget_ms = case[1] == "cut" and CUT_MS or QUICK_MS, max_items = 10000,
      max_offers_per_item = 1000 }
    local entry = world.entry(reply, name)
    local told = world.json.encode(entry)
    equal(case[1], entry.outcome, "outcome of " .. told)
    equal(case.kind, entry.kind, "kind of " .. told)
    equal(case.offers, entry.offers, "offers of " .. told)
    if case.phase then
      equal(case.phase, entry.phase, "phase of " .. told)
    end
    equal(case.warnings, entry.warnings, "warnings of " .. told)
    local odd_brands = 0
    for _, offer in ipairs(case.brand and reply.json.offers or {}) do
      odd_brands = odd_brands + (offer.supplier == name and offer.brand:find(case.brand) and 1 or 0)
    end
    equal(case.brand and 30 or 0, odd_brands, "brands with the odd letter")
    others_answered(reply, name)
    equal(asked + 1, requests_of(FIRST), "requests to another supplier: nothing is followed")
    world.farm(name, { fault = "none" })
    local well = search_when_free(name)
    equal("answered", world.entry(well, name).outcome, "afterwards: " .. world.json.encode(world.entry(well, name)))
  end)
end

-- Ten thousand of them: every supplier has another fault, and gets the next one every few searches.
local PLAYED, SEARCHES_EACH, LONG_CUT_MS = 10000, 4, 150

local function played()
  local sum = 0
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    for _, count in pairs(supplier.faults) do
      sum = sum + count
    end
  end
  return sum
end

-- One turn of all faults; afterwards everybody is well.
local function play_turn(turn)
  for number = 1, 40 do
    local fault = playable[(turn + number) % #playable + 1]
    local needs_tls = CASES[fault].tls and number <= 20 -- these speak plain HTTP
    world.farm(("s%02d"):format(number), { fault = needs_tls and "none" or fault })
  end
  for _ = 1, SEARCHES_EACH do
    local reply = w:search { budget_ms = LONG_CUT_MS }
    assert(reply.status == 200 or reply.status == 504, "status " .. tostring(reply.status) .. reply.curl_text)
  end
end

-- A kept connection that went silent costs one more attempt of its supplier, nobody else's.
local function heal()
  equal(200, world.http("POST", ADMIN .. "/reset", { body = "{}" }).status, "reset")
  world.sleep_ms(200) -- what was cut is told to the farm
  local reply
  for _ = 1, 50 do
    reply = w:search { budget_ms = QUICK_MS }
    if reply.json.coverage.answered == 40 then
      return w:usage()
    end
    world.sleep_ms(100) -- a 429 keeps its supplier out for two seconds
  end
  error("not all are well: " .. reply.raw:sub(1, 2000))
end

if os.getenv("LASTCALL_LONG") == "yes" then
  test(PLAYED .. " faults leave no descriptor, no thread and no memory behind", function()
    local before, sum, turn = nil, 0, 0
    while sum < PLAYED do
      for _ = 1, #playable do
        play_turn(turn)
        turn = turn + 1
      end
      sum = sum + played()
      local usage = heal()
      before = before or usage -- after the first round everything has grown to what it needs
      print(("# %d faults: %d descriptors, %d threads, %d MiB"):format(sum, usage.descriptors, usage.threads,
        usage.resident_kib / 1024))
      assert(usage.descriptors <= before.descriptors + 40, "descriptors " .. usage.descriptors)
      equal(before.threads, usage.threads, "threads")
      assert(usage.resident_kib <= before.resident_kib * 1.25 + 16384, "resident KiB " .. usage.resident_kib)
    end
  end)
end

w:stop()
test("the engine ends clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
