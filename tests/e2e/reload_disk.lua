-- Reload disk: suppliers whose files change while an engine runs, each version with its number in it, and what must be
-- true of every answer about a reload.
--
-- A version sends its number with each request, the farm gives it back, and normalise raises when it is not its own;
-- offers carry it as their brand. So a search that is mixed of two generations tells on itself.
local world = require("tests.e2e.world")
local equal, json = world.equal, world.json

local M = {}

M.folder = world.folder .. "/reload_load"
M.settings = M.folder .. "/lastcall.yaml"
M.CHANGING = { "acme", "bravo", "pollux" }
local HOSTS = { acme = "s01", bravo = "s02", pollux = "s03", calm = "s04", stone = "s05" }

M.population = M.folder .. "/population.txt"
local POPULATION = [[
# For reloads under load: two of one answer, one that is polled, one that never changes, one that never answers.
s01     1        http    a             constant   60         0      0     4000    -
s02     2        http    a             constant   140        0      0     4000    -
s03     3        http    poll_add      constant   150        0      0     4000    -           poll_after_ms=150
s04     4        http    a             constant   40         0      0     4000    -
s05     5        http    a             constant   40         0      0     4000    -           hang_answer=100%
]]

local BEFORE = [[
-- version %d
local farm = require("farm")
local VERSION = "%d"
local MARK = { ["x-mark"] = VERSION }

local offers = plan {
  each = "offers[]",
  offer = {
    id = "id",
    price = {
      total = money(up(1).currency, "price.total", "price.scale"),
      taxes = money(up(1).currency, "price.taxes", "price.scale"),
      taxes_included = const "yes",
    },
    slices = {
      each = "slices[]",
      duration_min = "minutes",
      segments = {
        each = "segments[]",
        carrier = "carrier",
        number = "number",
        origin = "from",
        destination = "to",
        departs = { ["local"] = "departs" },
        arrives = { ["local"] = "arrives" },
        duration_min = "minutes",
        cabin = up(2).cabin,
      },
    },
    brand = const("v" .. VERSION),
  },
  when = farm.refusals("offers"),
}

-- The answer in hand is one to this version's own request, or two generations were mixed.
local function check_mark(version, where)
  if version ~= VERSION then
    error("mixed generations: version " .. VERSION .. " reads " .. where .. " of version " .. tostring(version))
  end
end

---@type Supplier
return {
  name = "%s",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://%s.farm.test:8080" },
  limits = { body = "1MiB" },
]]

local ONE_ANSWER = [[

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/offers", headers = MARK, json = farm.ask(search, ctx) }
  end,

  normalise = function(response, search, ctx)
    check_mark(response.headers["x-mark"], "an answer")
    return offers(response, search, ctx)
  end,
}
]]

local POLLED = [[

  build_request = function(search, ctx)
    return { method = "POST", path = "/v1/searches", headers = MARK, json = farm.ask(search, ctx) }
  end,

  normalise = function(response, search, ctx)
    check_mark(response.headers["x-mark"], "an answer")
    check_mark(ctx.state and ctx.state.version or VERSION, "the state")
    local body = response:json { status = text, id = text, poll_after_ms = integer, offers = { { id = text } } }
    if body.status == "complete" then
      return offers(response, search, ctx)
    end
    local seen = (ctx.state and ctx.state.seen or 0) + #body.offers
    return offers(response, search, ctx), {
      complete = false,
      next = {
        after_ms = body.poll_after_ms,
        request = { method = "GET", path = "/v1/searches/" .. body.id, query = { after = seen }, headers = MARK },
        state = { seen = seen, version = VERSION },
      },
    }
  end,
}
]]

-- ------------------------------------------------------------------------------------------------------------- writing

local function path_of(name)
  return M.folder .. "/suppliers/" .. name .. ".lua"
end
M.path_of = path_of

local function source_of(name, version)
  return BEFORE:format(version, version, name, HOSTS[name]) .. (name == "pollux" and POLLED or ONE_ANSWER)
end

-- Ways to break a file: its content, and what the reason must name.
local BROKEN = {
  syntax = function(name, version)
    return (source_of(name, version):gsub("local VERSION = ", "local VERSION = = ")), name .. ".lua:3:"
  end,
  raises = function(name, version)
    return source_of(name, version):gsub("local MARK = [^\n]*", "error(\"raised on purpose\")"),
      name .. ".lua:4: raised on purpose"
  end,
  half = function(name, version)
    local source = source_of(name, version)
    return source:sub(1, math.floor(#source * 4 / 5)), name .. ".lua:"
  end,
  empty = function(name)
    return "", name .. ".lua: is empty"
  end,
}
M.BROKEN = { "syntax", "raises", "half", "empty", "settings" }

-- Either over the old content or as a new file in its place.
local function write(path, content, is_renamed)
  if is_renamed then
    world.write_file(path .. ".new~", content)
    assert(os.rename(path .. ".new~", path))
  else
    world.write_file(path, content)
  end
end

local function write_settings(more)
  write(M.settings, ("suppliers_dir: %s/suppliers\nscripts_dir: scripts\n%s\n"):format(M.folder, more or ""), false)
end

-- What lies on the disk: name -> { version, reason, is_empty }; with a reason it is broken.
local disk = {}
-- Are the settings on the disk bad?
local has_bad_settings = false

function M.prepare()
  world.shell("rm -rf " .. M.folder .. " && mkdir -p " .. M.folder .. "/suppliers")
  world.write_file(M.population, POPULATION)
  write_settings()
  for name in pairs(HOSTS) do
    write(path_of(name), source_of(name, 0), false)
    disk[name] = { version = 0 }
  end
end

-- A version that passes its check and fails on every real answer; returns where and why, as an event must tell it.
function M.put_failing(name, version)
  local cause = "the answer is not what I thought"
  local source = source_of(name, version):gsub("check_mark%(response[^\n]*", ("error(%q)"):format(cause))
  write(path_of(name), source, false)
  disk[name] = { version = version }
  local _, line = source:match("^(.-)error%(\"the answer"):gsub("\n", "")
  return line + 1, cause
end

-- It went back: what lies on the disk must be told as kept, for this reason.
function M.expect_kept(name, reason)
  disk[name].reason = reason
end

local function put(name, version, broken)
  local content, reason = source_of(name, version), nil
  if broken then
    content, reason = BROKEN[broken](name, version)
  end
  write(path_of(name), content, version % 2 == 0)
  disk[name] = { version = version, reason = reason, is_empty = content == "" }
end

-- Step `version`: one supplier gets a new version; with `broken` another one, or the settings, are broken beside it.
-- All that was broken before is mended first.
function M.change(version, broken)
  if has_bad_settings then
    write_settings()
    has_bad_settings = false
  end
  for name, content in pairs(disk) do
    if content.reason then
      put(name, version)
    end
  end
  put(M.CHANGING[version % 3 + 1], version)
  if broken == "settings" then
    write_settings("deadline: { default: soon }")
    has_bad_settings = true
  elseif broken then
    put(M.CHANGING[(version + 1) % 3 + 1], version, broken)
  end
end

-- ------------------------------------------------------------------------------------------------------------- judging

-- Generations as the engine told them: number -> name -> { label, version }. Replies are judged by it.
M.generations = {}
M.newest = 0
local newest_answer -- what the history has of it

local w

local function get(path)
  local reply = world.http("GET", w.admin_url .. path, { max_time = 60 })
  equal(200, reply.status, path)
  return reply.json
end
M.get = get

-- The version that had this label when it ran last.
local function version_of(name, label)
  for number = M.newest, 1, -1 do
    local versions = M.generations[number]
    if versions and versions[name].label == label then
      return versions[name].version
    end
  end
  error(label .. " never ran")
end

local function note_generation(entry)
  local before = M.generations[M.newest]
  local versions = {}
  for _, label in ipairs(entry.scripts.suppliers) do
    local name = label:match("^(.*)@%x+$")
    versions[name] = { label = label, version = before and before[name].version or disk[name].version }
  end
  for _, row in ipairs(entry.reload.changed) do
    if row.kind == "supplier" then
      local went_back = entry.reload.source == "trial"
      equal(went_back and "went_back" or "changed", row.fate, "fate of " .. row.name)
      equal(before[row.name].label, row.before, "what ran before, of " .. row.name)
      equal(versions[row.name].label, row.running, "what runs, of " .. row.name)
      equal(path_of(row.name), row.file, "file of " .. row.name)
      equal(nil, disk[row.name].reason, "a broken file runs: " .. row.name)
      versions[row.name].version = went_back and version_of(row.name, row.running) or disk[row.name].version
    end
  end
  M.generations[entry.generation] = versions
  M.newest = entry.generation
  newest_answer = entry.reload
end

-- Takes what was published since the last time, oldest first.
local function take_generations()
  local list = get("/admin/v1/generations").generations
  for i = #list, 1, -1 do
    if list[i].generation > M.newest then
      note_generation(list[i])
    end
  end
end

M.take_generations = take_generations

function M.begin(world_of_test)
  w = world_of_test
  take_generations()
end

-- Everything that is good on the disk runs.
local function is_all_running()
  take_generations()
  for name, content in pairs(disk) do
    if not content.reason and M.generations[M.newest][name].version ~= content.version then
      return false
    end
  end
  return true
end

local function find(rows, name)
  for _, row in ipairs(rows) do
    if row.name == name then
      return row
    end
  end
  return nil
end

local function judge_kept(answer, where)
  local expected = 0
  for name, content in pairs(disk) do
    if content.reason then
      expected = expected + 1
      local row = find(answer.kept, name)
      assert(row, where .. ": " .. name .. " is broken, and not told as kept: " .. json.encode(answer))
      equal("kept", row.fate, where)
      equal(M.generations[M.newest][name].label, row.running, where .. ": what runs, of " .. name)
      -- An empty file is no version of anything.
      local on_disk = content.is_empty and "^nil$" or "^" .. name .. "@%x+$"
      assert(tostring(row.on_disk):find(on_disk), where .. ": on disk " .. tostring(row.on_disk))
      assert(row.because:find(content.reason, 1, true), where .. ": because " .. row.because)
    end
  end
  equal(expected, #answer.kept, where .. ": kept rows of " .. json.encode(answer))
end

-- Does this answer see the disk as it is now?
local function is_about_disk(answer)
  if (answer.outcome == "refused") ~= has_bad_settings then
    return false
  end
  if has_bad_settings then
    take_generations()
    return answer.generation == M.newest
  end
  for name, content in pairs(disk) do
    if (content.reason ~= nil) ~= (find(answer.kept, name) ~= nil) then
      return false
    end
  end
  return is_all_running() and answer.generation == M.newest
end

-- Judges the answer that came, by `source`; before it generation `before` ran.
local function judge(answer, source, before)
  local where = ("the answer of %s over generation %d"):format(source, before)
  if has_bad_settings then
    equal("refused", answer.outcome, where)
    take_generations()
    equal(M.newest, answer.generation, where .. ": generation")
    assert(answer.findings[1].finding:find(M.settings .. ":3", 1, true), where .. ": " .. json.encode(answer.findings))
    equal(0, #answer.changed, where .. ": changed")
    return
  end
  assert(answer.outcome ~= "refused", where .. " is a refusal: " .. json.encode(answer))
  assert(is_all_running(), where .. ": not all runs that lies on the disk: " .. json.encode(answer))
  judge_kept(answer, where)
  equal(0, #answer.findings, where .. ": findings")
  equal(0, #answer.settings.needs_restart, where .. ": needs_restart")
  local told = {}
  for _, row in ipairs(answer.changed) do
    told[row.name] = true
  end
  for name, now in pairs(M.generations[answer.generation]) do
    local is_changed = now.version ~= M.generations[answer.previous][name].version
    equal(is_changed, told[name] or false, where .. ": told as changed, " .. name)
  end
  equal(answer.outcome == "published", answer.generation > answer.previous, where .. ": outcome " .. answer.outcome)
end

local function status_agrees()
  local status = get("/admin/v1/status")
  equal(M.newest, status.generation, "generation in the status")
  for _, supplier in ipairs(status.suppliers) do
    equal(M.generations[M.newest][supplier.name].label, supplier.script, "script in the status of " .. supplier.name)
  end
  if not has_bad_settings then
    judge_kept(status.reload, "the status")
  end
end

local ASK = {}

function ASK.command()
  local text, code = world.shell(("%s/lastcall reload --json --admin %s --why load"):format(world.build, w.admin_url))
  local is_json, answer = pcall(json.decode, text)
  assert(is_json, text)
  local expected = answer.outcome == "refused" and 5 or #answer.kept > 0 and 1 or 0
  equal(expected, code, "exit code of " .. text)
  return answer
end

function ASK.admin()
  local reply = world.http("POST", w.admin_url .. "/admin/v1/reload", { body = json.encode { who = "load" },
    headers = { "Content-Type: application/json" }, max_time = 120 })
  assert(reply.json and reply.json.outcome, tostring(reply.status) .. " " .. reply.raw)
  equal(reply.json.outcome == "refused" and 422 or 200, reply.status, "status of " .. reply.raw)
  return reply.json
end

-- Nobody is answered: the last answer in the status is the one, once it sees the disk as it is. When the file watch has
-- looked since, it is no more the last, but the history has it.
local function wait_for_answer(source, before)
  local until_s = os.time() + 100
  repeat
    local last = get("/admin/v1/status").reload.last
    if type(last) == "table" and is_about_disk(last) then
      return M.newest > before and is_about_disk(newest_answer) and newest_answer or last
    end
    world.sleep_ms(30)
  until os.time() > until_s
  error(source .. " was not heard\n" .. w:engine_output():sub(-3000))
end

function ASK.signal(before)
  w:signal("HUP")
  return wait_for_answer("the signal", before)
end

function ASK.watch(before)
  return wait_for_answer("the file watch", before)
end

M.SOURCES = { "command", "signal", "admin", "watch" }

-- Asks for a reload by this source and judges the answer and the status.
function M.reload(source)
  local before = M.newest
  local answer = ASK[source](before)
  judge(answer, source, before)
  status_agrees()
  return answer
end

return M
