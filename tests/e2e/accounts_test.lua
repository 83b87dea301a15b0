-- Accounts by market: the first that fits a search is used, and what fits none is skipped.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start {
  population = "instant",
  overlay = [[
suppliers:
  s01:
    accounts:
      uk: { when: { market: [GB, IE] }, options: { base_url: "http://s07.farm.test:8080" } }
      de: { when: { market: [DE] }, options: { base_url: "http://s03.farm.test:8080" } }
      main: { options: { base_url: "http://s01.farm.test:8080" } }
  s05:
    accounts:
      main: { when: { market: [GB] } }
]],
}

local function requests()
  local counts = {}
  for _, supplier in ipairs(world.farm_stats().suppliers) do
    counts[supplier.name] = supplier.requests
  end
  return counts
end

-- Searches with the market; returns the reply and who was asked.
local function search(market)
  local query = {}
  for key, value in pairs(world.query) do
    query[key] = value
  end
  query.market = market
  local before = requests()
  local reply = w:search { query = query, suppliers = { "s01", "s05" }, budget_ms = 8000 }
  equal(200, reply.status, "status: " .. reply.raw:sub(1, 300))
  local asked = {}
  for name, count in pairs(requests()) do
    if count > before[name] then
      asked[#asked + 1] = name .. "x" .. count - before[name]
    end
  end
  table.sort(asked)
  return reply, table.concat(asked, " ")
end

for _, case in ipairs {
  { market = "GB", account = "uk", asked = "s05x1 s07x1" },
  { market = "IE", account = "uk", asked = "s07x1" },
  { market = "DE", account = "de", asked = "s03x1" },
  { market = "FR", account = "main", asked = "s01x1" },
  { account = "main", asked = "s01x1" },
} do
  test("market " .. (case.market or "none") .. " uses account " .. case.account, function()
    local reply, asked = search(case.market)
    equal(case.account, world.entry(reply, "s01").account, "account")
    equal("answered", world.entry(reply, "s01").outcome, "outcome")
    equal(case.asked, asked, "who was asked")
  end)
end

test("a search that no account is for skips the supplier, which then is not eligible", function()
  local reply = search("FR")
  local entry = world.entry(reply, "s05")
  equal("skipped", entry.outcome, "outcome")
  equal("no account for market FR", entry.reason, "reason")
  equal(nil, entry.account, "account")
  equal(1, reply.json.coverage.eligible, "eligible")
  equal(true, reply.json.coverage.complete, "complete")
  equal("no account for a search without a market", world.entry(search(nil), "s05").reason, "reason")
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(30), "the engine did not end")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
