-- Streams: the same search, told as it happens; what a caller folds from it is what the single reply would say.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local w = world.start { population = "brief", seed = 3 }

local function lines_of(text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line
  end
  return lines
end

local function ndjson(reply)
  local events = {}
  for _, line in ipairs(lines_of(reply.raw)) do
    if line ~= "" then
      events[#events + 1] = world.json.decode(line)
    end
  end
  return events
end

local function sse(reply)
  local events = {}
  for block in reply.raw:gmatch("(.-)\n\n") do
    local name, data = block:match("^event: (%S+)\ndata: (.*)$")
    if name then
      events[#events + 1] = { event = name, data = world.json.decode(data) }
    else
      equal(":", block:sub(1, 1), "a comment")
    end
  end
  return events
end

-- Keeps what a caller would keep; fails on what no caller could make sense of.
local function fold(events)
  local state = { items = {}, offers = {}, suppliers = {}, count = 0 }
  for i, each in ipairs(events) do
    equal(i, each.data.seq, "seq of event " .. i)
    assert(each.data.coverage or each.event == "done", "coverage on " .. each.event)
    if each.event == "offers" then
      for id, item in pairs(each.data.items) do
        state.items[id] = item
      end
      for _, offer in ipairs(each.data.offers) do
        state.offers[offer.id] = offer
      end
    elseif each.event == "retract" then
      for _, id in ipairs(each.data.ids) do
        assert(state.offers[id], id .. " was never told")
        state.offers[id] = nil
      end
    elseif each.event == "supplier" then
      assert(not state.suppliers[each.data.supplier.name], each.data.supplier.name .. " ended twice")
      state.suppliers[each.data.supplier.name] = each.data.supplier
    elseif each.event == "done" then
      equal(#events, i, "done is the last event")
      state.done = each.data
    end
  end
  assert(state.done, "no done")
  return state
end

local function check(state)
  equal(true, #state.done.order > 0, "offers in the order")
  local held = 0
  for _ in pairs(state.offers) do
    held = held + 1
  end
  equal(#state.done.order, held, "offers held at the end")
  local last = -1
  for _, id in ipairs(state.done.order) do
    local offer = assert(state.offers[id], id .. " is not held")
    assert(state.items[offer.item], "the item of " .. id)
    assert(tonumber(offer.price.total) >= last, "the order of totals")
    last = tonumber(offer.price.total)
  end
  equal(state.done.coverage.offers_returned, #state.done.order, "offers_returned")
  local counted = 0
  for _, value in ipairs(state.done.facets.stops) do
    counted = counted + value.count
  end
  equal(state.done.coverage.offers_found, counted, "offers counted by their stops")
  for _, supplier in ipairs(state.done.suppliers) do
    local told = assert(state.suppliers[supplier.name], supplier.name .. " was not told")
    equal(supplier.outcome, told.outcome, "outcome of " .. supplier.name)
  end
end

test("lines of JSON fold to a reply", function()
  local reply = w:search({ budget_ms = 2000 }, { "Accept: application/x-ndjson" })
  equal(200, reply.status, "status")
  equal("application/x-ndjson", reply.headers["content-type"], "content type")
  check(fold(ndjson(reply)))
end)

test("server-sent events fold to a reply, and a comment comes each second", function()
  local reply = w:search({ budget_ms = 2000 }, { "Accept: text/event-stream" })
  equal("text/event-stream", reply.headers["content-type"], "content type")
  equal("no", reply.headers["x-accel-buffering"], "X-Accel-Buffering")
  check(fold(sse(reply)))
  assert(reply.raw:find("\n:\n\n", 1, true), "no comment")
end)

test("offers are told while others are still awaited", function()
  local events = ndjson(w:search({ budget_ms = 2000 }, { "Accept: application/x-ndjson" }))
  equal("search", events[1].event, "the first event")
  local first
  for _, each in ipairs(events) do
    if each.event == "offers" then
      first = each
      break
    end
  end
  assert(first.data.coverage.pending > 20, "pending at the first offers")
  equal(false, first.data.coverage.complete, "complete")
end)

test("a bad query is a plain problem, before any stream", function()
  local reply = w:search({ query = { slices = {} } }, { "Accept: text/event-stream" })
  equal(422, reply.status, "status")
  equal("application/problem+json", reply.headers["content-type"], "content type")
end)

test("partial false does not go with a stream", function()
  local reply = w:search({ partial = false }, { "Accept: text/event-stream" })
  equal(422, reply.status, "status")
  equal("/partial", reply.json.errors[1].pointer, "pointer")
end)

test("a caller who leaves in the middle leaves nothing behind", function()
  local before = w:usage().descriptors
  for _ = 1, 20 do
    local body = world.json.encode { product = "flights", query = world.query, budget_ms = 3000 }
    local reply = world.http("POST", w.url .. "/v1/search",
      { body = body, headers = { "Content-Type: application/json", "Accept: text/event-stream" }, max_time = 0.3 })
    equal(28, reply.curl, "curl's own time-out")
  end
  world.sleep_ms(300)
  local after = w:usage().descriptors
  assert(after <= before + 60, "descriptors went from " .. before .. " to " .. after)
  equal(200, world.http("GET", w.url .. "/readyz").status, "readyz")
end)

w:stop()
world.finish()
