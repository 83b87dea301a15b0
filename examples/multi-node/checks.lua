-- Checks: what one engine says, all of them know. Appends lines "what, how many, of how many" for judge.lua.
--
--   luajit examples/multi-node/checks.lua OUT
local json = require("cjson")

local out_name = unpack(arg)
local NAMES = { "one", "two", "three" }
local HOSTS = { one = "127.0.39.201", two = "127.0.39.202", three = "127.0.39.203" }
local PATIENCE = 100 -- tries, a tenth of a second each

local function shell(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("*a")
  pipe:close()
  return text
end

local function ask(path, body)
  local data = body and (" -H 'content-type: application/json' -d '%s'"):format(json.encode(body)) or ""
  local text = shell(("curl --silent --noproxy '*' --max-time 20 '%s'%s"):format(path, data))
  local is_json, decoded = pcall(json.decode, text)
  return is_json and decoded or {}
end

local function tell(what, count, of)
  local out = assert(io.open(out_name, "a"))
  out:write(("%s\t%d\t%d\n"):format(what, count, of))
  out:close()
end

local function eventually(probe)
  for _ = 1, PATIENCE do
    if probe() then
      return true
    end
    os.execute("sleep 0.1")
  end
  return false
end

local function search(engine, supplier, day)
  return ask(("http://%s:8080/v1/search"):format(HOSTS[engine]), {
    product = "flights",
    query = {
      slices = { { origin = "LHR", destination = "JFK", date = ("2030-10-%02d"):format(day) } },
      travellers = { { type = "adult" } },
      currency = "EUR",
    },
    suppliers = { supplier },
    budget_ms = 4000,
    max_items = 60,
  })
end

-- A token with its reference inside, and one whose reference is in the store.
local function tokens_of(engine)
  local short, long
  for _, offer in ipairs(search(engine, "s01", 11).offers or {}) do
    if #(offer.brand or "") % 2 == 0 then
      short = short or offer.token
    else
      long = long or offer.token
    end
  end
  return short, long
end

local function is_confirmed(engine, token)
  local reply = token and ask(("http://%s:8080/v1/revalidate"):format(HOSTS[engine]), { token = token }) or {}
  return reply.status == "confirmed" or reply.status == "price_changed"
end

local confirmed, tried, confirmed_long, tried_long = 0, 0, 0, 0
for _, maker in ipairs(NAMES) do
  local short, long = tokens_of(maker)
  for _, reader in ipairs(NAMES) do
    tried = tried + 1
    confirmed = confirmed + (is_confirmed(reader, short) and 1 or 0)
    tried_long = tried_long + 1
    confirmed_long = confirmed_long + (is_confirmed(reader, long) and 1 or 0)
  end
end
tell("offers confirmed by any engine, whichever found them", confirmed, tried)
tell("likewise with references that are in the store", confirmed_long, tried_long)

-- What an operator says to one engine.
local function is_off(engine, supplier)
  for _, one in ipairs(search(engine, supplier, 12).suppliers or {}) do
    if one.name == supplier then
      return one.outcome == "disabled"
    end
  end
  return false
end

local function switch(engine, supplier, action)
  ask(("http://%s:8081/admin/v1/suppliers/%s/%s"):format(HOSTS[engine], supplier, action), { why = "a check" })
end

local heard = 0
local function all_hear(probe)
  for _, engine in ipairs(NAMES) do
    heard = heard + (eventually(function()
      return probe(engine)
    end) and 1 or 0)
  end
end

switch("one", "s05", "disable")
all_hear(function(engine)
  return is_off(engine, "s05")
end)
switch("three", "s05", "enable")
all_hear(function(engine)
  return not is_off(engine, "s05")
end)
tell("engines that heard what an operator told one of them", heard, 2 * #NAMES)
