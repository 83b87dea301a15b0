-- Author: one good supplier with a login, two steps and two fixtures, to be broken on purpose, and what the commands
-- say of it.
--
--   local author = require("tests.e2e.author")
--   local bench = author.bench("mistakes")
--   bench:write { script = author.with(author.script, "old", "new") }
--   local findings, code = bench:run("check")
local world = require("tests.e2e.world")

local M = {}
local Bench = {}
Bench.__index = Bench

M.script = [==[
-- One good supplier.
local function read_price(fare)
  local total = money.parse(fare.total.amount, fare.total.currency)
  return { total = total, currency = fare.total.currency, taxes_included = "yes" }
end

local function read_offer(fare)
  return {
    id = fare.id,
    price = read_price(fare),
    slices = { { segments = { {
      carrier = "ZZ",
      number = fare.number,
      origin = fare.from,
      destination = fare.to,
      departs = { ["local"] = fare.departs },
      arrives = { ["local"] = fare.arrives },
    } } } },
  }
end

return {
  name = "acme",
  product = "flights",
  owner = "flights@example.com",
  docs = "https://acme.example/docs",
  hosts = { "api.acme.example" },
  secrets = { "ACME_KEY" },
  options = { base_url = "https://api.acme.example", page_size = 50 },

  login = {
    build_request = function(ctx)
      return { method = "POST", path = "/login", form = { key = ctx.secret.ACME_KEY } }
    end,
    read = function(response)
      local granted = response:json { token = text }
      return { value = granted.token, expires_in_s = 600 }
    end,
  },

  ceiling = function(search)
    return search.query.cabin == "business" and 1500 or 1200
  end,

  build_request = function(search, ctx)
    local slice = search.query.slices[1]
    return {
      method = "POST",
      path = "/search",
      headers = { authorization = "Bearer " .. ctx.login },
      json = { from = slice.origin, to = slice.destination, day = slice.date, limit = ctx.options.page_size },
    }
  end,

  normalise = function(response, search, ctx)
    local body = response:json()
    local offers = map(body.fares, read_offer)
    if body.more then
      return offers, { next = { request = { path = "/search/" .. body.more }, state = { page = ctx.step } } }
    end
    return offers
  end,
}
]==]

local FARE = [[{ "id": "%s", "total": { "amount": "%s", "currency": "EUR" }, "number": "7", "from": "MAD", "to": "LHR",
          "departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" }]]

M.fixture = [==[
{ "about": "one way, two pages",
  "search": { "product": "flights", "budget_ms": 2000,
    "query": { "slices": [{ "origin": "MAD", "destination": "LHR", "date": "2027-05-12" }],
      "travellers": [{ "type": "adult" }], "currency": "EUR" } },
  "now": "2026-11-29T09:00:00Z",
  "secrets": { "ACME_KEY": "test-key" },
  "exchanges": [
    { "expect_request": { "method": "POST", "url": "https://api.acme.example/login", "form": { "key": "test-key" } },
      "response": { "status": 200, "after_ms": 60, "json": { "token": "token-one" } } },
    { "expect_request": { "method": "POST", "url": "https://api.acme.example/search",
        "json": { "from": "MAD", "to": "LHR", "day": "2027-05-12", "limit": 50 } },
      "response": { "status": 200, "after_ms": 400, "json": { "more": "p2", "fares": [
        FARE1,
        FARE2 ] } } },
    { "expect_request": { "url": "https://api.acme.example/search/p2" },
      "response": { "status": 200, "after_ms": 300, "json": { "fares": [
        FARE3 ] } } }
  ],
  "expect": { "outcome": "answered", "offers": 3,
    "first": { "id": "acme:f1", "price": { "total": "101.00", "currency": "EUR" } } }
}
]==]
for index = 1, 3 do
  M.fixture = M.fixture:gsub("FARE" .. index, FARE:format("f" .. index, "10" .. index .. ".00"))
end

M.odd = [==[
{ "search": { "product": "flights", "query": {
    "slices": [{ "origin": "MAD", "destination": "LHR", "date": "2027-05-12" }],
    "travellers": [{ "type": "adult" }] } },
  "now": "2026-11-29T09:00:00Z", "secrets": { "ACME_KEY": "test-key" }, "login": "token-one",
  "exchanges": [{ "response": { "status": 503 } }],
  "expect": { "outcome": "failed" } }
]==]

-- `text` with its one `old` as `new`, both as they are.
function M.with(text, old, new)
  local first, last = text:find(old, 1, true)
  assert(first, "the good one has no " .. old)
  assert(not text:find(old, last + 1, true), "the good one has several " .. old)
  return text:sub(1, first - 1) .. new .. text:sub(last + 1)
end

-- The line on which `words` stand, which stand once.
function M.line_of(text, words)
  local first, last = text:find(words, 1, true)
  assert(first, "nowhere: " .. words)
  assert(not text:find(words, last + 1, true), "more than once: " .. words)
  return select(2, text:sub(1, first):gsub("\n", "")) + 1
end

function M.show(finding)
  return ("%s:%d: %s: %s\n  help: %s"):format(finding.file, finding.line, finding.code or "no code", finding.message,
    finding.help)
end

function M.show_all(findings)
  local lines = {}
  for _, finding in ipairs(findings) do
    lines[#lines + 1] = M.show(finding)
  end
  return table.concat(lines, "\n")
end

-- Lua itself tells the last 60 bytes of a path: ours is longer, and told whole.
function M.bench(name)
  local folder = world.folder .. "/" .. name .. "/whose-path-is-longer-than-what-lua-itself-tells-of-one"
  return setmetatable({
    folder = folder,
    script = folder .. "/acme.lua",
    fixture = folder .. "/acme.test/ok-two-pages.json",
    settings = folder .. "/lastcall.yaml",
  }, Bench)
end

-- Writes script, fixture and settings; what is not given is good. `settings` go below what must be there.
function Bench:write(files)
  files = files or {}
  world.shell(("rm -rf %s && mkdir -p %s/acme.test"):format(self.folder, self.folder))
  world.write_file(self.script, files.script or M.script)
  world.write_file(self.fixture, files.fixture or M.fixture)
  if files.odd ~= false then
    world.write_file(self.folder .. "/acme.test/odd-busy.json", files.odd or M.odd)
  end
  world.write_file(self.settings,
    ("suppliers_dir: %s\nscripts_dir: scripts\n%s"):format(self.folder, files.settings or ""))
end

-- Runs the command over the supplier; what it says, and its exit code.
function Bench:say(command, environment)
  return world.shell(("env -u ACME_KEY %s %s/lastcall %s -c %s")
    :format(environment or "", world.build, command, self.settings))
end

-- The same as its findings, the exit code, and all of its JSON.
function Bench:run(command, environment)
  local said, code = self:say(command .. " --json", environment)
  -- Beside it stands what was logged.
  local is_json, answer = pcall(world.json.decode, said:match("^{.*") or said:match("\n({.*)") or said)
  assert(is_json, "no JSON: " .. said)
  return answer.findings, code, answer
end

function Bench:remove()
  world.shell("rm -rf " .. self.folder)
end

-- Whatever the case of their letters.
function M.holds(text, words)
  return text:lower():find(words:lower(), 1, true) ~= nil
end

return M
