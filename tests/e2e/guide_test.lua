-- The guide, suppliers/README.md, taken at its word.
-- variants: release asan
-- Its files are laid out in a folder in the order in which it shows them, its commands are typed there, and what they
-- print is held against what it shows.
--
--   ```lua suppliers/acme.lua     a file; a later block of the same path takes its place
--   ```yaml lastcall.yaml more    goes to the end of that file
--   ```console                    "$ " is a command, what follows is its output; exit code 0, or `console fails`: not 0
--   ```lua fragment               is not run; there are few
--
-- A command that ends in & runs until its console ends; the next one waits until it is up. Its addresses are those of
-- this test, and what it prints is told as if they were the guide's.
-- In an output `…` stands for anything within its line, and a line of nothing else for any number of lines.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local GUIDE = "suppliers/README.md"
local FRAGMENTS_MAX = 8

-- Blocks behind fences, each with its line, the heading above it, and the words behind the fence.
local function read_blocks(text, path)
  local blocks, block, number, heading = {}, nil, 0, "the beginning"
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    local info = line:match("^```(.*)$")
    if block and info then
      blocks[#blocks + 1], block = block, nil
    elseif info then
      block = { line = number, heading = heading, words = {}, lines = {}, path = path }
      for word in info:gmatch("%S+") do
        block.words[#block.words + 1] = word
      end
    elseif block then
      block.lines[#block.lines + 1] = line
    else
      heading = line:match("^##+ (.*)$") or heading
    end
  end
  assert(not block, path .. ": a block has no end")
  return blocks
end

local function kind_of(block)
  local second = block.words[2]
  if second == "fragment" then
    return "fragment"
  end
  if block.words[1] == "console" then
    return "console"
  end
  return second and second:find("%.%a+$") and "file" or nil
end

local function content_of(block)
  return table.concat(block.lines, "\n") .. "\n"
end

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Read by an engine behind the guide's settings: a busy machine needs more time than the guide's suppliers are worth.
local PATIENCE, PATIENT_RULES = "patience.yaml", "rules: [{ ceiling: 8s }]\n"

-- The folder that a guide is laid out in: beside it only what the repository brings along.
local function make_folder(name)
  local folder = world.folder .. "/" .. name
  local root, code = world.shell("rm -rf " .. folder .. " && mkdir -p " .. folder .. "/suppliers && cp -r scripts "
    .. folder .. " && pwd")
  equal(0, code, root)
  root = root:gsub("%s+$", "")
  world.write_file(folder .. "/" .. PATIENCE, PATIENT_RULES)
  local build = world.build:find("^/") and world.build or root .. "/" .. world.build
  return {
    path = folder,
    prefix = ("cd %s && export PATH=%s:$PATH NO_COLOR=1 COLUMNS=100 LC_ALL=C.UTF-8 "
      .. "LASTCALL_FARM=%s/examples/farm/farm "
      .. "LASTCALL__LISTEN=127.0.0.1:%d LASTCALL__ADMIN__LISTEN=127.0.0.1:%d LASTCALL__RELOAD__WATCH=false "
      .. "LASTCALL__SCRIPTS__BUILD_LIMIT=1s LASTCALL__SCRIPTS__NORMALISE_LIMIT=5s "
      .. "LASTCALL__DEADLINE__DEFAULT=9s; "):format(quoted(folder), build, build, world.port, world.port + 1000),
  }
end

local function write_block(folder, block)
  local path = folder.path .. "/" .. block.words[2]
  local before = block.words[3] == "more" and world.read_file(path) or ""
  equal(0, os.execute("mkdir -p " .. quoted(path:match("^(.*)/"))), "a folder for " .. path)
  world.write_file(path, before .. content_of(block))
end

-- The commands of a console, each with the lines that it is said to print.
local function commands_of(block)
  local commands = {}
  for _, line in ipairs(block.lines) do
    local last, command = commands[#commands], line:match("^%$ (.*)$")
    if command then
      commands[#commands + 1] = { text = command, expected = {} }
    elseif last and #last.expected == 0 and last.text:find("\\$") then
      last.text = last.text .. "\n" .. line
    elseif last then
      table.insert(last.expected, line)
    end
  end
  assert(#commands > 0, GUIDE .. ":" .. block.line .. ": no command stands in this console")
  return commands
end

local function lines_of(text)
  local lines = {}
  for line in (text:gsub("%s+$", "") .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line:gsub("%s+$", "")
  end
  return #lines == 1 and lines[1] == "" and {} or lines
end

local function line_fits(expected, line)
  local pattern = expected:gsub("%s+$", ""):gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0"):gsub("…", ".-")
  return line:find("^" .. pattern .. "$") ~= nil
end

-- Do the lines from `at` on fit what is expected from `from` on?
local function fits(expected, from, lines, at)
  if from > #expected then
    return at > #lines
  end
  if expected[from]:match("^%s*…%s*$") then
    for next = at, #lines + 1 do
      if fits(expected, from + 1, lines, next) then
        return true
      end
    end
    return false
  end
  return at <= #lines and line_fits(expected[from], lines[at]) and fits(expected, from + 1, lines, at + 1)
end

-- The guide's addresses and those of this test, so that several can run at the same time.
local MOCK, GUIDE_MOCK = world.network .. ".1:9000", "127.0.0.1:9000"
local URL = "http://127.0.0.1:" .. world.port
local ADMIN = "http://127.0.0.1:" .. world.port + 1000
local WITH_ADMIN = { "status", "reload", "rollback", "history" }

local function at_our_addresses(text)
  text = text:gsub("lastcall mock ", "lastcall mock --listen " .. MOCK .. " ")
  text = text:gsub("lastcall serve [^&]*", "%0 -c " .. PATIENCE .. " ")
  text = text:gsub("lastcall search ", "lastcall search --url " .. URL .. " ")
  for _, name in ipairs(WITH_ADMIN) do
    text = text:gsub("lastcall " .. name .. "%f[%W]", "%0 --admin " .. ADMIN)
  end
  return text
end

local function at_its_addresses(output)
  return (output:gsub(MOCK:gsub("%p", "%%%0"), GUIDE_MOCK))
end

-- Runs in the background; its output once it is up.
local function start(folder, text, started)
  local log = ("%s/background-%d.log"):format(folder.path, #started + 1)
  os.remove(log) -- that of the console before says the same
  local program = text:gsub("lastcall (%a+) ", "exec lastcall %1 ")
  local pid = world.spawn("sh -c " .. quoted(folder.prefix .. program), log)
  started[#started + 1] = pid
  world.wait_for(text, 60, function()
    if text:find("lastcall serve") then
      return world.http("GET", URL .. "/readyz").status == 200
    end
    return (world.read_file(log) or ""):find("to use it")
  end, pid, log)
  return world.read_file(log), 0
end

local function type_in(folder, text, started)
  text = at_our_addresses(text)
  local background = text:match("^(.*)%s&$")
  if background then
    return start(folder, background, started)
  end
  return world.shell(folder.prefix .. text)
end

local function check_command(folder, block, command, started)
  local output, code = type_in(folder, command.text, started)
  local place = ("%s:%d: $ %s\n"):format(block.path, block.line, command.text)
  output = at_its_addresses(output)
  if (code ~= 0) ~= (block.words[2] == "fails") then
    error(place .. "exit code " .. tostring(code) .. "\n" .. output, 0)
  end
  while command.expected[#command.expected] == "" do
    table.remove(command.expected)
  end
  if #command.expected > 0 and not fits(command.expected, 1, lines_of(output), 1) then
    error(place .. "prints\n" .. output .. "\nand the guide says\n" .. table.concat(command.expected, "\n"), 0)
  end
end

local function run_console(folder, block)
  local started = {}
  local is_fine, why = pcall(function()
    for _, command in ipairs(commands_of(block)) do
      check_command(folder, block, command, started)
    end
  end)
  for i = #started, 1, -1 do
    world.terminate(started[i])
  end
  if not is_fine then
    error(why, 0)
  end
end

-- Lays a guide out and types what it says; returns how many blocks failed, and the words of the first.
local function follow(folder, blocks, report)
  for _, block in ipairs(blocks) do
    local kind = kind_of(block)
    if kind == "file" then
      write_block(folder, block)
    elseif kind == "console" then
      report(block, function()
        run_console(folder, block)
      end)
    end
  end
end

local text = assert(world.read_file(GUIDE), "run it from the project's root")
local blocks = read_blocks(text, GUIDE)
local guide = make_folder("guide")

test("each block of the guide is a file, a console or a fragment, and fragments are few", function()
  local fragments = {}
  for _, block in ipairs(blocks) do
    local kind = kind_of(block)
    assert(kind, ("%s:%d: this block says neither its path, nor `console`, nor `fragment`"):format(GUIDE, block.line))
    if kind == "fragment" then
      fragments[#fragments + 1] = tostring(block.line)
    end
  end
  assert(#blocks >= 40, "the blocks of the guide were not read")
  assert(#fragments <= FRAGMENTS_MAX, "too many fragments, at lines " .. table.concat(fragments, ", "))
end)

follow(guide, blocks, function(block, run)
  test(("the console under \"%s\" prints what the guide shows (line %d)"):format(block.heading, block.line), run)
end)

test("nothing is wrong with the suppliers of the guide", function()
  local output, code = world.shell(guide.prefix .. "lastcall check")
  equal(0, code, "exit code of check: " .. output)
  output = world.shell(guide.prefix .. "lastcall check --strict")
  assert(output:find("E0205", 1, true), "strict says nothing of suppliers without documents: " .. output)
  local unseen = output:match("[^\n]*E0212[^\n]*")
  assert(not unseen, unseen)
end)

test("each supplier of the guide has a test, and all pass", function()
  for _, block in ipairs(blocks) do
    local name = kind_of(block) == "file" and block.words[2]:match("^suppliers/([%w_]+)%.lua$")
    if name then
      local _, code = world.shell("ls " .. guide.path .. "/suppliers/" .. name .. ".test/*.json")
      equal(0, code, name .. " has a fixture")
    end
  end
  local output, code = world.shell(guide.prefix .. "lastcall test")
  equal(0, code, "exit code of test: " .. output)
end)

test("a guide with a broken example goes red", function()
  local broken, count = text:gsub("\n(%s+id = )\"(%w+)\"", "\n%1\"%2x\"")
  assert(count >= 3, "no example has an id")
  local folder, failed = make_folder("broken_guide"), 0
  follow(folder, read_blocks(broken, GUIDE), function(_, run)
    failed = failed + (pcall(run) and 0 or 1)
  end)
  local _, code = world.shell(folder.prefix .. "lastcall test")
  equal(1, code, "exit code of test")
  assert(failed > 0, "no console of it failed")
end)

-- The anchors of a page's headings, as the web makes them.
local function anchors_of(page)
  local anchors = {}
  for heading in ("\n" .. page):gmatch("\n#+ ([^\n]+)") do
    local anchor = heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")
    anchors[anchor] = true
  end
  return anchors
end

test("every link of the guide, the README and the reference leads to a heading that is there", function()
  local pages = { ["README.md"] = "", [GUIDE] = "suppliers/", ["scripts/README.md"] = "scripts/" }
  local count = 0
  for path, folder in pairs(pages) do
    for file, anchor in world.read_file(path):gmatch("%]%(([^%s%)#]*)#([^%s%)]+)%)") do
      local target = file == "" and path or (folder .. file):gsub("^%w+/%.%./", "")
      assert(anchors_of(assert(world.read_file(target), target))[anchor], ("%s: %s#%s"):format(path, target, anchor))
      count = count + 1
    end
  end
  assert(count >= 30, "the links were not read")
end)

-- ---- which fields an offer may have

-- What a field of a product may be, in words.
local function kind_of_field(field)
  local kind = field[2]
  if type(kind) == "table" or kind == "list" and type(field.of) == "table" then
    return kind == "list" and ("list of %d to %d"):format(field.min or 0, field.max) or "object"
  elseif kind == "list" then
    return "list of " .. field.of
  elseif kind == "enum" then
    return "`" .. table.concat(field.values, "`, `") .. "`"
  elseif kind == "text" and field.max then
    return ("text of at most %d bytes"):format(field.max)
  elseif kind == "integer" then
    return ("whole number, %d to %d"):format(field.min or 0, field.max)
  end
  return (kind:gsub("_", " "))
end

local function add_rows(rows, fields, before)
  for _, field in ipairs(fields) do
    local path = before .. field[1]
    rows[#rows + 1] = ("| `%s` | %s%s |"):format(path, kind_of_field(field), field.required and ", required" or "")
    local inner = type(field[2]) == "table" and field[2] or type(field.of) == "table" and field.of
    if inner then
      add_rows(rows, inner, path .. (field[2] == "list" and "[]." or "."))
    end
  end
end

-- The table of a product's file. Its modules need `json` while they are loaded.
local function table_of(product)
  local rows = { ("| of %s | is |"):format(product), "|---|---|" }
  local before = package.path
  package.path = "scripts/?.lua;" .. before
  _G.json = _G.json or { array = function(list) return list end } -- luacheck: ignore 122
  add_rows(rows, dofile(("scripts/products/%s.lua"):format(product)).offer, "")
  package.path = before
  return table.concat(rows, "\n")
end

test("the guide's tables of an offer's fields are the products'", function()
  for _, product in ipairs { "flights", "hotels" } do
    local wanted = table_of(product)
    local begin, finish = ("<!-- %s: begin -->\n"):format(product), ("\n<!-- %s: end -->"):format(product)
    local _, from = text:find(begin, 1, true)
    local to = text:find(finish, 1, true)
    assert(from and to, "no table of " .. product)
    equal(wanted, text:sub(from + 1, to - 1), "the table of " .. product)
  end
end)

test("the README's example of a supplier is the guide's", function()
  local last = {}
  for _, block in ipairs(blocks) do
    if kind_of(block) == "file" then
      last[block.words[2]] = content_of(block)
    end
  end
  local count = 0
  for _, block in ipairs(read_blocks(world.read_file("README.md"), "README.md")) do
    if kind_of(block) == "file" and last[block.words[2]] then
      count = count + 1
      equal(last[block.words[2]], content_of(block), ("README.md:%d"):format(block.line))
    end
  end
  assert(count >= 1, "the README shows no supplier of the guide")
end)

world.finish()
