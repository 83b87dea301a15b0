-- A script that repeats its secret on purpose, in every place and spelling: no sink ever shows it.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local SECRET = "Zq7/w \"K9\"+%41x Vb2#Jt"
local ATTRIBUTION = world.folder .. "/secrets.ndjson"
local CREDENTIALS = world.folder .. "/credentials"
os.execute(("rm -rf %s %s && mkdir -p %s"):format(ATTRIBUTION, CREDENTIALS, CREDENTIALS))
world.write_file(CREDENTIALS .. "/LEAKY_SECRET", SECRET .. "\n")
world.write_file(CREDENTIALS .. "/ADMIN_TOKEN", "a token of sixteen letters\n")
os.execute("chmod 600 " .. CREDENTIALS .. "/*")

local BUILDS = { "error", "fail", "host", "field" }
local ANSWERS = { "error", "supplier", "auth", "unexpected", "warning", "dropped", "field", "quota", "log", "place" }
local SPELLINGS = { "plain", "url", "hex", "upper_hex", "base64", "json" }
-- Where a text is cut: within the first words, and at the 40, 64, 200, 256 and 1000 bytes that somebody keeps of it.
local PADS = { 0, 10, 25, 170, 210, 235, 950 }

local lines, names = { "suppliers:", "  leaky: { enabled: false, because: \"a template\" }" }, {}
local function add(where, what, spelling, pad)
  local name = ("%s_%s_%s_%d"):format(where, what, spelling, pad)
  names[#names + 1] = name
  local line = "  %s: { uses: leaky, ceiling: 50s, accounts: { main: { options: { %s: %s, spelling: %s, pad: %d } } } }"
  lines[#lines + 1] = line:format(name, where, what, spelling, pad)
end
for _, spelling in ipairs(SPELLINGS) do
  for _, what in ipairs(BUILDS) do
    add("build", what, spelling, 0)
  end
  for _, what in ipairs(ANSWERS) do
    add("answer", what, spelling, 0)
  end
end
for number, pad in ipairs(PADS) do
  for _, what in ipairs(ANSWERS) do
    add("answer", what, SPELLINGS[number % #SPELLINGS + 1], pad + 1)
  end
end


local SETTINGS = world.folder .. "/secrets.yaml"
world.write_file(SETTINGS, ([[
suppliers_dir: tests/e2e/leaky
scripts_dir: scripts
secrets_dir: %s
attribution: { file: %s }
admin: { token_env: ADMIN_TOKEN }
deadline: { max: 60s }
]]):format(CREDENTIALS, ATTRIBUTION) .. table.concat(lines, "\n") .. "\n")

local w = world.start { population = "instant", settings = { SETTINGS } }

local QUERY = {
  place = { city = "LON" }, check_in = "2030-09-03", check_out = "2030-09-06", rooms = { { adults = 2 } },
  currency = "EUR",
}
local ASKED = { product = "hotels", query = QUERY, budget_ms = 60000, suppliers = names }
local TOKEN = { headers = { "Authorization: Bearer a token of sixteen letters" } }

-- ---- the spellings, by other means than the engine's ----------------------------------------------------------------

local function base64(text)
  local path = world.folder .. "/plain"
  world.write_file(path, text)
  return (world.shell("base64 -w0 " .. path):gsub("%s", ""))
end

local function each_byte(text, format)
  return (text:gsub(".", function(byte)
    return format:format(byte:byte())
  end))
end

local spelled = {
  { SECRET, 6 },
  { each_byte(SECRET, "%%%02X"), 9 }, { each_byte(SECRET, "%%%02x"), 9 },
  { each_byte(SECRET, "%02X"), 14 }, { each_byte(SECRET, "%02x"), 14 },
  { SECRET:gsub("[^%w]", function(byte) return ("%%%02X"):format(byte:byte()) end), 6 },
}
for before = 0, 2 do
  spelled[#spelled + 1] = { base64(("user:"):sub(1, before) .. SECRET .. "!"):sub(3, -5), 12 }
end

-- Every stretch of a spelling that is long enough not to stand there by chance.
local windows = {}
for _, spelling in ipairs(spelled) do
  local text, length = spelling[1], spelling[2]
  for from = 1, #text - length + 1 do
    windows[#windows + 1] = text:sub(from, from + length - 1)
  end
end

local function clean(sink, text)
  assert(text and #text > 0, sink .. " is empty")
  local unescaped = text:gsub('\\(["\\/])', "%1")
  for _, each in ipairs({ text, unescaped, unescaped:gsub('\\(["\\/])', "%1") }) do
    for _, window in ipairs(windows) do
      local found = tostring(each):find(window, 1, true)
      if found then
        error(("%s shows `%s`: %s"):format(sink, window, each:sub(math.max(1, found - 200), found + 100)))
      end
    end
  end
end

-- ---- the sinks ------------------------------------------------------------------------------------------------------

test("what is looked for would be found", function()
  for _, spelling in ipairs(spelled) do
    assert(not pcall(clean, "a sink", "before " .. spelling[1] .. " after"), spelling[1])
    assert(not pcall(clean, "a sink", "before " .. spelling[1]:sub(1, spelling[2])), spelling[1])
  end
  assert(not pcall(clean, "a sink", world.json.encode({ SECRET })), "in JSON")
  assert(not pcall(clean, "a sink", world.json.encode({ world.json.encode({ SECRET }) })), "in JSON within JSON")
  clean("a sink", "nothing at all")
end)

local reply

test("no reply shows the secret, but where it was is told", function()
  reply = w:search(ASKED)
  clean("the reply", reply.raw)
  local without = {}
  for _, name in ipairs(names) do
    local entry = assert(world.entry(reply, name), name)
    local words = world.json.encode(entry)
    assert(entry.outcome ~= "disabled" and entry.outcome ~= "cut", words)
    local is_told = words:find("***", 1, true) or words:find('<<[^>]*\\"') -- or it was cut
    if name:match("_0$") and not name:match("^answer_log") and not name:match("^build_host") and not is_told then
      without[#without + 1] = words
    end
  end
  equal("", table.concat(without, "\n"), "entries in which no secret was")
end)

test("no event of a stream shows it", function()
  local body = world.json.encode(ASKED)
  local stream = world.http("POST", w.url .. "/v1/search", { body = body, max_time = 90,
    headers = { "Content-Type: application/json", "Accept: application/x-ndjson" } })
  equal(true, stream.raw:find("\"done\"", 1, true) ~= nil, "the stream's end")
  clean("the stream", stream.raw)
end)

test("no page of the admin listener shows it", function()
  equal(401, world.http("GET", w.admin_url .. "/admin/v1/status").status, "without the token")
  for _, page in ipairs { "/admin/v1/status", "/admin/v1/searches", "/admin/v1/searches/" .. reply.json.search_id,
    "/metrics" } do
    local answer = world.http("GET", w.admin_url .. page, TOKEN)
    equal(200, answer.status, page)
    clean(page, answer.raw)
  end
end)

test("no line of the log shows it, though the script wrote some", function()
  local log = w:engine_output()
  assert(log:find("noted x*<<", 1, false), "the script's lines")
  clean("the log", log)
  assert(not log:find("a token of sixteen", 1, true), "the admin token is in the log")
end)

test("no line of the attribution shows it", function()
  local line
  for _ = 1, 200 do
    line = world.read_file(ATTRIBUTION)
    if line and line:find(reply.json.search_id, 1, true) then
      break
    end
    world.sleep_ms(50)
  end
  assert(line:find("***", 1, true), "what was redacted")
  clean("the attribution", line)
end)

test("check tells where a secret is missed, and that a file is no secret", function()
  local check = ("%s/lastcall check --secrets -c %s -c %s/overlay.yaml"):format(world.build, SETTINGS, world.folder)
  local output, code = world.shell(check)
  equal(0, code, output)
  clean("check", output)
  world.shell("mv " .. CREDENTIALS .. "/LEAKY_SECRET " .. CREDENTIALS .. "/away")
  output, code = world.shell(check)
  equal(1, code, output)
  assert(output:find("account `main`: secret LEAKY_SECRET is not set", 1, true), output)
  assert(output:find("write it to the file " .. CREDENTIALS .. "/LEAKY_SECRET", 1, true), output)
  world.shell("mkfifo " .. CREDENTIALS .. "/LEAKY_SECRET")
  output, code = world.shell("timeout 60 " .. check)
  equal(1, code, output)
  assert(output:find("it is not a regular file", 1, true), output)
  world.shell("rm " .. CREDENTIALS .. "/LEAKY_SECRET")
  world.write_file(CREDENTIALS .. "/LEAKY_SECRET", "\255\254secret")
  output, code = world.shell(check)
  equal(1, code, output)
  assert(output:find("account `main`: secret LEAKY_SECRET is not UTF-8", 1, true), output)
  world.shell("rm " .. CREDENTIALS .. "/LEAKY_SECRET " .. CREDENTIALS .. "/ADMIN_TOKEN")
  output, code = world.shell(check)
  equal(1, code, output)
  assert(output:find("ADMIN_TOKEN, which admin.token_env names, is not set", 1, true), output)
  output, code = world.shell("LEAKY_SECRET=abcdefgh ADMIN_TOKEN=0123456789abcdef " .. check)
  equal(0, code, "the environment wins: " .. output)
end)

w:stop()
test("the engine ended clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
