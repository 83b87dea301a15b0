-- An error of a script in the running engine: its log tells place, line, table, exchange, remedy, once; the reply has
-- one line. No value of an answer, no header's value and no secret is told.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local FOLDER = world.folder
local SUPPLIERS, CREDENTIALS, SETTINGS = FOLDER .. "/errors", FOLDER .. "/credentials", FOLDER .. "/errors.yaml"
local SECRET = "open-sesame-1234567"
os.execute(("rm -rf %s %s && mkdir -p %s %s"):format(SUPPLIERS, CREDENTIALS, SUPPLIERS, CREDENTIALS))
world.write_file(CREDENTIALS .. "/NILLY_KEY", SECRET .. "\n")
os.execute("chmod 600 " .. CREDENTIALS .. "/*")

local SCRIPT = [==[
return {
  name = "NAME", product = "hotels", owner = "tests@example.com", docs = "https://example.com",
  hosts = { "s01.farm.test:8080" },
  secrets = { "NILLY_KEY" },
  options = { base_url = "http://s01.farm.test:8080" },
  build_request = function(search, ctx)
BUILD
    return {
      method = "POST", path = "/v1/offers", query = { page = "page-seven" },
      headers = { ["x-key"] = ctx.secret.NILLY_KEY },
      json = {
        trip = { { from = "LHR", to = "JFK", date = "2030-05-12" } }, travellers = { adult = 1 }, cabin = "economy",
        currency = "EUR", timeout_ms = 1000,
      },
    }
  end,
  normalise = function(response, search, ctx)
    local body = response:json()
NORMALISE
  end,
}
]==]

local function line_of(source, words)
  local before = source:sub(1, assert(source:find(words, 1, true), words))
  return select(2, before:gsub("\n", "")) + 1
end

local sources = {}
local function add(name, build, normalise)
  local source = SCRIPT:gsub("NAME", name):gsub("BUILD", function() return build end)
    :gsub("NORMALISE", function() return normalise end)
  sources[name] = source
  world.write_file(SUPPLIERS .. "/" .. name .. ".lua", source)
end

add("nilly", "", [[
    local rows = { list = { { id = "value-of-a" }, { id = "value-of-b", [ctx.secret.NILLY_KEY] = 1, zone = "z" } } }
    for i, row in ipairs(rows.list) do
      body.rows = rows
      local total = i == 2 and row.total.amount or 0
    end]])
add("builder", "    local way = search.query.way.out", "    return {}")
add("speaker", "", "    error(\"no luck with \" .. ctx.secret.NILLY_KEY)")

world.write_file(SETTINGS, ([[
suppliers_dir: %s
scripts_dir: scripts
secrets_dir: %s
deadline: { max: 60s }
suppliers:
  nilly: { ceiling: 50s }
  builder: { ceiling: 50s }
  speaker: { ceiling: 50s }
]]):format(SUPPLIERS, CREDENTIALS))

local w = world.start { population = "instant", settings = { SETTINGS } }

local function ask(name)
  return w:search {
    product = "hotels", budget_ms = 50000, suppliers = { name },
    query = { place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } },
      currency = "EUR" },
  }
end

-- The log once it holds these words; it is written by a thread of its own.
local function log_with(words)
  local log
  for _ = 1, 500 do
    log = w:engine_output()
    if log:find(words, 1, true) then
      return log
    end
    world.sleep_ms(20)
  end
  error(("the log has no `%s`:\n%s"):format(words, log))
end

local function count_of(text, words)
  local count, from = 0, 1
  while text:find(words, from, true) do
    count, from = count + 1, text:find(words, from, true) + 1
  end
  return count
end

local function holds(log, words)
  assert(log:find(words, 1, true), ("`%s` is not in\n%s"):format(words, log))
end

test("a nil field in an answer is told with its table, its exchange and a remedy", function()
  local entry = world.entry(ask("nilly"), "nilly")
  equal("script_error", entry.outcome, "outcome")
  holds(entry.detail, "attempt to index field 'total' (a nil value)")
  local log = log_with("help: guard it, or return fail.unexpected(\"rows.list[2].total\")")
  local line = line_of(sources.nilly, "row.total.amount")
  holds(log, ("%s/nilly.lua:%d: error[E0421]: field `total` is missing here"):format(SUPPLIERS, line))
  holds(log, ("%5d |       local total = i == 2 and row.total.amount or 0"):format(line))
  holds(log, "   = row is body.rows.list[2]: { ***, id, zone }")
  holds(log, "   = request   POST http://s01.farm.test:8080/v1/offers?page=***")
  holds(log, "x-key: ***")
  holds(log, "   = response  200 application/json")
end)

test("the same error again is not told again", function()
  for _ = 1, 3 do
    equal("script_error", world.entry(ask("nilly"), "nilly").outcome, "outcome")
  end
  equal("script_error", world.entry(ask("speaker"), "speaker").outcome, "outcome")
  local log = log_with("error[E0401]") -- of a later search: what came before it is written
  equal(1, count_of(log, "error[E0421]: field `total`"), "times that it was told")
end)

test("an error of build_request is told without an exchange", function()
  equal("script_error", world.entry(ask("builder"), "builder").outcome, "outcome")
  local log = log_with("guard it: `search.query.way and search.query.way.out`")
  holds(log, ("%s/builder.lua:%d: error[E0421]: field `way` is missing here"):format(SUPPLIERS,
    line_of(sources.builder, "search.query.way.out")))
  holds(log, "   = search.query is { check_in, check_out")
end)

test("neither values nor secrets are told", function()
  local log = w:engine_output()
  for _, words in ipairs { SECRET, "value-of-", "page-seven", "2030-09-03", "LON" } do
    equal(0, count_of(log, words), words)
  end
  holds(log, "no luck with ***")
end)

w:stop()
test("the engine ended clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
