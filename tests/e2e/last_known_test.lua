-- What suppliers said last, kept in a real store: in the place of those that bring nothing, with its age; instead of
-- asking, while it is fresh; and had anew by attempts that go on.
-- variants: release asan tsan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local STORE = world.folder .. "/last_known"
os.execute("rm -rf " .. STORE)

local SETTINGS = ([[
store: { backend: lmdb, path: "%s", max_size: 16MiB, read_slice: 500ms }
reply: { max_age: 30s }
linger: { learn: 0%%, fill: true }
breaker: { enabled: false }
reload: { watch: false }
tokens: { enabled: true }
suppliers:
  s02: { max_age: 100s }
  s03: { fresh_for: 1h }
]]):format(STORE)

local MINE = world.folder .. "/last_known.yaml"

--- One supplier whose account has this name.
local function write_account(name)
  world.write_file(MINE, ([[
suppliers:
  mine: { uses: farm_a, ceiling: 20s, accounts: { %s: { options: { base_url: "http://s05.farm.test:8080" } } } }
]]):format(name))
end

write_account("first")
local w = world.start {
  population = "instant",
  settings = { world.settings_without_ceilings(), MINE },
  overlay = SETTINGS,
}

local function first_offer(reply)
  return reply.json.offers and reply.json.offers[1] or {}
end

local function search(fields)
  fields.budget_ms = fields.budget_ms or 3000
  local reply = w:search(fields)
  assert(reply.json, tostring(reply.status) .. " " .. reply.raw)
  return reply
end

test("whoever hangs is represented by what he said last, with its age", function()
  local before = search { suppliers = { "s01", "s04" } }
  equal("answered", world.entry(before, "s01").outcome)
  equal(true, before.json.coverage.complete)
  equal(0, before.json.coverage.indicative)
  equal("private, max-age=30", before.headers["cache-control"])
  local offers = world.entry(before, "s01").offers
  world.farm("s01", { fault = "hang_answer" })
  world.wait_until("it is in the store", function()
    local reply = search { suppliers = { "s01", "s04" }, budget_ms = 1500 }
    local entry, coverage = world.entry(reply, "s01"), reply.json.coverage
    equal(200, reply.status)
    equal("cut", entry.outcome)
    equal("budget", entry.bound)
    equal(false, coverage.complete)
    if not entry.last_known then
      return false
    end
    equal(offers, entry.last_known.offers)
    assert(entry.last_known.age_s >= 0)
    equal(50, coverage.percent)
    equal(1, coverage.indicative)
    equal(0, coverage.missing)
    equal(2, coverage.eligible)
    equal("no-store", reply.headers["cache-control"])
    return true
  end)
end)

test("its offers say that they are indicative, when they were seen, and have a token", function()
  local reply = search { suppliers = { "s01" }, budget_ms = 1500 }
  equal(200, reply.status, "nobody else answers, and yet there is a reply")
  equal(0, reply.json.coverage.percent)
  for _, offer in ipairs(reply.json.offers) do
    equal("indicative", offer.price_status)
    assert(offer.observed_at, "an offer without its time")
    assert(offer.token, "an offer without a token")
  end
  assert(#reply.json.offers > 0)
end)

test("another question has another answer", function()
  local function asks(query, what)
    local whole = {}
    for key, value in pairs(world.query) do
      whole[key] = value
    end
    for key, value in pairs(query) do
      whole[key] = value
    end
    local reply = search { suppliers = { "s01" }, budget_ms = 1000, query = whole }
    local entry = world.entry(reply, "s01")
    return entry and entry.last_known and "has one" or "has none", what
  end
  equal("has one", (asks({})))
  equal("has none", asks({ currency = "USD" }, "another currency"))
  equal("has none", asks({ market = "GB" }, "another market"))
  equal("has none", asks({ travellers = { { type = "adult" }, { type = "adult" } } }, "another party"))
  equal("has none", asks({ cabin = "business" }, "another cabin"))
end)

test("what one account was told is not another's", function()
  local function last_of()
    local entry = world.entry(search { suppliers = { "mine" }, budget_ms = 800 }, "mine")
    return entry.account, entry.last_known ~= nil
  end
  equal("answered", world.entry(search { suppliers = { "mine" } }, "mine").outcome)
  world.farm("s05", { fault = "hang_answer" })
  world.wait_until("it is in the store", function()
    local account, is_there = last_of()
    equal("first", account)
    return is_there
  end)
  write_account("second")
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 })
  equal(200, reply.status, reply.raw:sub(1, 500))
  local account, is_there = last_of()
  equal("second", account)
  equal(false, is_there)
  write_account("first")
  equal(200, world.http("POST", w.admin_url .. "/admin/v1/reload", { max_time = 120 }).status)
  account, is_there = last_of()
  equal("first", account)
  equal(true, is_there)
end)

test("who wants none has none, and all or nothing is nothing", function()
  equal(504, search({ suppliers = { "s01" }, budget_ms = 500, indicative = "none" }).status)
  equal(504, search({ suppliers = { "s01" }, budget_ms = 500, partial = false }).status)
end)

test("a stream has them at once if it wants them first, and its end knows their number", function()
  local reply = world.http("POST", w.url .. "/v1/search", {
    body = world.json.encode { product = "flights", query = world.query, suppliers = { "s01", "s04" },
      budget_ms = 1500, indicative = "first" },
    headers = { "Content-Type: application/json", "Accept: application/x-ndjson" }, max_time = 30,
  })
  local order, indicative = {}, false
  for line in reply.raw:gmatch("[^\n]+") do
    local event = world.json.decode(line)
    local offers = event.offers or (event.data and event.data.offers)
    if offers and offers[1] and offers[1].price_status == "indicative" then
      indicative = true
      order[#order + 1] = "indicative"
    elseif line:find("\"outcome\":\"cut\"", 1, true) then
      order[#order + 1] = "cut"
    end
  end
  assert(indicative, reply.raw:sub(1, 600))
  equal("indicative", order[1])
end)

test("a fresh answer spares asking", function()
  equal("answered", world.entry(search { suppliers = { "s03" } }, "s03").outcome)
  local reply, asked
  world.wait_until("it is in the store", function()
    asked = world.farm_requests("s03")
    reply = search { suppliers = { "s03" } }
    return world.entry(reply, "s03").outcome == "cached"
  end)
  equal(asked, world.farm_requests("s03"))
  equal("cached", first_offer(reply).price_status)
  equal(true, reply.json.coverage.complete)
  equal(1, reply.json.coverage.cached)
  equal("no-store", reply.headers["cache-control"])
end)

test("an attempt that is always cut goes on, and the next search has its answer", function()
  world.farm("s02", { model = "constant", median_ms = 1500 })
  equal("cut", world.entry(search { suppliers = { "s02" }, budget_ms = 400 }, "s02").outcome)
  local last
  world.wait_until("it has come", function()
    last = world.entry(search { suppliers = { "s02" }, budget_ms = 400 }, "s02").last_known
    return last ~= nil
  end)
  -- While it is young nothing is asked again for it; then one of the searches has it anew.
  world.wait_until("it is older than a tenth of what its age may be", function()
    last = world.entry(search { suppliers = { "s02" }, budget_ms = 400 }, "s02").last_known
    return last and last.age_s > 10
  end)
  local aged = last.age_s
  world.wait_until("it is new again", function()
    last = world.entry(search { suppliers = { "s02" }, budget_ms = 400 }, "s02").last_known
    return last and last.age_s < aged
  end)
end)

test("what was known is counted, and stands in the attribution", function()
  assert((w:metric("offers_indicative_total", "s01") or 0) > 0)
  assert((w:metric("attempts_indicative_total", "s01") or 0) > 0)
  assert((w:metric("offers_cached_total", "s03") or 0) > 0)
  assert((w:metric("last_known_found_total") or 0) > 0)
  assert((w:metric("last_known_absent_total") or 0) > 0)
  local id = search({ suppliers = { "s01" }, budget_ms = 1000 }).json.search_id
  local record = world.http("GET", w.admin_url .. "/admin/v1/searches/" .. id)
  equal(200, record.status)
  equal(1, record.json.coverage.indicative)
  equal(1, record.json.store.found)
  assert(world.entry(record, "s01").last_known.offers > 0)
end)

test("after the hanging nothing is indicative any more", function()
  world.farm("s01", { fault = "none" })
  local reply = search { suppliers = { "s01" } }
  equal("answered", world.entry(reply, "s01").outcome)
  equal("live", first_offer(reply).price_status)
  equal(0, reply.json.coverage.indicative)
end)

w:stop()

test("without a store nobody is told of one", function()
  local plain = world.start { population = "instant", settings = { world.settings_without_ceilings() },
    overlay = "store: { backend: none }\nbreaker: { enabled: false }\n" }
  world.farm("s01", { fault = "hang_answer" })
  local reply = plain:search { suppliers = { "s01", "s04" }, budget_ms = 800 }
  equal(200, reply.status)
  equal(nil, reply.json.coverage.indicative)
  equal(nil, reply.json.coverage.cached)
  equal(1, reply.json.coverage.missing)
  plain:stop()
end)

world.finish()
