-- The suppliers that come with lastcall: each passes its fixtures and the strict check, has a fixture of every class of
-- outcome, and says which documents it follows, what has to be set, and what nobody has checked against the real one.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local SETTINGS = world.folder .. "/suppliers.yaml"
world.write_file(SETTINGS, "suppliers_dir: suppliers\nscripts_dir: scripts\n")

-- What must be among the fixtures of each: outcome, or outcome and kind.
local OUTCOMES = {
  "answered", "empty", "rejected auth", "rejected quota", "rejected busy", "rejected supplier", "failed", "unparsable",
}
local AGAIN = { "confirmed", "price_changed", "sold_out", "expired", "rejected", "unparsable" }

local function names()
  local list = {}
  for path in world.shell("ls suppliers/*.lua"):gmatch("[^\n]+") do
    list[#list + 1] = path:match("([%w_]+)%.lua$")
  end
  return list
end

local function source_of(name)
  return assert(world.read_file("suppliers/" .. name .. ".lua"))
end

-- The comment at the top of the file.
local function header_of(name)
  local lines = {}
  for line in source_of(name):gmatch("([^\n]*)\n") do
    if line:sub(1, 2) ~= "--" then
      break
    end
    lines[#lines + 1] = line:sub(4)
  end
  return table.concat(lines, " ")
end

local function secrets_of(name)
  local list = {}
  local declared = source_of(name):match("\n%s*secrets%s*=%s*(%b{})") or ""
  for secret in declared:gmatch("\"([%w_]+)\"") do
    list[#list + 1] = secret
  end
  return list
end

local function fixtures_of(name)
  local list = {}
  for path in world.shell("ls suppliers/" .. name .. ".test/*.json"):gmatch("[^\n]+") do
    if not path:find("%.body%.json$") then
      list[path] = world.json.decode(assert(world.read_file(path)))
    end
  end
  return list
end

-- What one fixture expects, as words that OUTCOMES and AGAIN have.
local function words_of(expect)
  if expect.status then
    return expect.status
  end
  local is_refused = expect.outcome == "rejected" and type(expect.kind) == "string"
  return is_refused and "rejected " .. expect.kind or tostring(expect.outcome)
end

local function holds_any(text, ...)
  for _, words in ipairs { ... } do
    if text:find(words, 1, true) then
      return true
    end
  end
  return false
end

local all = names()
local environment = {}
for _, name in ipairs(all) do
  for _, secret in ipairs(secrets_of(name)) do
    environment[#environment + 1] = ("%s=a-value-that-stands-in-no-fixture"):format(secret)
  end
end

local function run(command)
  return world.shell(("%s %s/lastcall %s -c %s"):format(table.concat(environment, " "), world.build, command, SETTINGS))
end

-- What the strict check finds, by the supplier; "" has what is no supplier's.
local output, check_code = run("check --strict --json")
local report = world.json.decode(output)
local findings = {}
for _, finding in ipairs(report.findings) do
  local name = tostring(finding.file):match("^suppliers/([%w_]+)%.") or ""
  local told = ("%s:%d: %s %s"):format(tostring(finding.file), finding.line, finding.code, finding.message)
  findings[name] = (findings[name] or "") .. "\n" .. told
end

test("all of them are loaded together, and no finding is nobody's", function()
  assert(#all > 0, "there are suppliers")
  equal("", findings[""] or "", "findings of settings, products and modules")
  equal(next(findings) and 1 or 0, check_code, "exit code: " .. output:sub(1, 400))
  local text = run("check")
  assert(text:find(("suppliers  %d: %d on, 0 off"):format(#all, #all), 1, true), text)
end)

test("every folder of fixtures is a supplier's", function()
  for path in world.shell("ls -d suppliers/*.test"):gmatch("[^\n]+") do
    assert(world.read_file(path:gsub("%.test$", ".lua")), path)
  end
end)

for _, name in ipairs(all) do
  test(name .. ": the strict check finds nothing", function()
    equal("", findings[name] or "", "findings")
  end)

  test(name .. ": its fixtures pass", function()
    local text, code = run("test " .. name)
    equal(0, code, text)
    assert(text:find("%d+ fixtures of 1 supplier: %d+ passed, 0 failed; 0 findings"), text)
  end)

  test(name .. ": there is a fixture of each class of outcome", function()
    local found = {}
    for _, fixture in pairs(fixtures_of(name)) do
      found[words_of(fixture.expect)] = true
    end
    for _, words in ipairs(OUTCOMES) do
      assert(found[words], "no fixture is " .. words)
    end
  end)

  test(name .. ": there is one of each class of what becomes of an offer that is asked for again", function()
    local found = {}
    for _, fixture in pairs(fixtures_of(name)) do
      for _, again in ipairs(fixture.revalidate or {}) do
        found[words_of(again.expect):match("^%S+")] = true
      end
    end
    for _, words in ipairs(AGAIN) do
      assert(found[words], "no fixture is " .. words)
    end
  end)

  test(name .. ": its head tells the documents, what to set, and what was not checked", function()
    local header = header_of(name)
    local small = header:lower()
    assert(holds_any(small, "follows", "documents"), "no documents: " .. header)
    assert(holds_any(small, "to set", "to be set"), "nothing to set: " .. header)
    assert(holds_any(small, "live service"), "nothing about the live service: " .. header)
    for _, secret in ipairs(secrets_of(name)) do
      assert(header:find(secret, 1, true), secret .. " is not told: " .. header)
    end
  end)

  test(name .. ": it stands in the guide, in the settings of the quickstart, and has a test of real answers", function()
    assert(world.read_file("suppliers/README.md"):find("\n| `" .. name .. ".lua` |", 1, true), "the guide")
    assert(world.read_file("examples/farm/lastcall.yaml"):find("\n  " .. name .. ": {", 1, true), "the quickstart")
    assert(world.read_file("tests/e2e/" .. name .. "_test.lua"), "the test")
  end)
end

world.finish()
