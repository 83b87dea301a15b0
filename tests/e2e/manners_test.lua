-- The manners of every command.
-- variants: release asan
-- Help that begins with an example, --json, exit codes as its help lists them, data on standard output and errors
-- beside it, no colour and no surprise on a pipe; completion by bash and zsh; config show.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local BINARY = world.build .. "/lastcall"
local SETTINGS = world.folder .. "/manners.yaml"
local ERRORS = world.folder .. "/manners.err"
local SEARCH = world.folder .. "/manners.json"
world.write_file(SETTINGS, "suppliers_dir: [examples/farm/suppliers, suppliers]\nsuppliers:\n"
  .. "  farm_a: { enabled: false, because: \"a template\" }\n")
world.write_file(SEARCH, json.encode({ product = "flights", query = world.query, budget_ms = 2000 }))

-- Standard output, standard error and the exit code.
local function run(arguments, environment)
  local out, code = world.shell(("env %s %s %s 2>%s </dev/null"):format(environment or "LC_ALL=C.UTF-8", BINARY,
    arguments, ERRORS))
  return out, world.read_file(ERRORS), code
end

local function says(text, words)
  assert(text:find(words, 1, true), ("`%s` expected in:\n%s"):format(words, text))
end

local function is_in(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then
      return true
    end
  end
  return false
end

local commands, by_name = json.decode((run("help --json"))), {}
for _, command in ipairs(commands) do
  by_name[command.name] = command
end

local function options_of(command)
  local names = {}
  for _, option in ipairs(command.options) do
    names[#names + 1] = option.name
  end
  return names
end

-- Commands that print nothing for programs: an engine's log is JSON anyway.
local WITHOUT_JSON = { "serve", "completion" }

test("help of every command begins with an example, and all ways to ask for it say the same", function()
  assert(#commands > 10, "too few commands")
  for _, command in ipairs(commands) do
    local name = command.name
    local help, err, code = run("help " .. name)
    equal(0, code, name)
    equal("", err, name)
    for _, way in ipairs { " --help", " -h", " -h -h" } do
      local again, _, again_code = run(name .. way)
      equal(help, again, name .. way)
      equal(0, again_code, name .. way)
    end
    local first = help:match("^  ([^\n]+)\n")
    assert(first, name .. ": no example in the first line")
    says(first, "lastcall " .. name)
    says(help, "\nusage: lastcall " .. name)
    says(help, "\nExit codes: 0 fine, ")
    assert(not help:find("\27"), name .. ": colours")
    for line in help:gmatch("[^\n]+") do
      assert(#line <= 104, name .. ": a long line: " .. line)
    end
    if not is_in(WITHOUT_JSON, name) then
      equal(name, json.decode((run(name .. " --help --json"))).name)
    end
  end
end)

test("everything that prints can print JSON", function()
  for _, command in ipairs(commands) do
    equal(not is_in(WITHOUT_JSON, command.name), is_in(options_of(command), "json"), command.name)
  end
end)

test("an unknown option is told on standard error, with 2", function()
  for _, command in ipairs(commands) do
    local out, err, code = run(command.name .. " --no-such-option")
    equal(2, code, command.name)
    equal("", out, command.name)
    says(err, "error: ")
    says(err, "\nhelp: ")
  end
  for _, arguments in ipairs { "", "no-such-command", "help no-such-command", "config hide", "completion fish" } do
    local out, err, code = run(arguments)
    equal(2, code, arguments)
    equal("", out, arguments)
    assert(#err > 0, arguments)
  end
end)

-- command line, exit code; what follows is in the output
local LOCAL = {
  { "help", 0, "usage: lastcall COMMAND" },
  { "version", 0, "lastcall " },
  { "check -c " .. SETTINGS, 0, "0 findings" },
  { "check -c /nowhere.yaml", 3, "/nowhere.yaml" },
  { "test duffel", 0, "0 failed" },
  { "test no_such_supplier", 2, "no_such_supplier" },
  { "mock no_such_supplier", 2, "no_such_supplier" },
  { "mock -c /nowhere.yaml", 3, "/nowhere.yaml" },
  { "test -c /nowhere.yaml", 3, "/nowhere.yaml" },
  { "config show", 0, "deadline:" },
  { "config show --origin -c " .. SETTINGS, 0, SETTINGS .. ":1, over built-in" },
  { "config show -c /nowhere.yaml", 3 },
  { "completion bash", 0, "complete -F" },
  { "explain E0421", 0, "E0421" },
  { "explain E9999", 2 },
  { "search " .. SEARCH .. " --url http://127.0.0.1:1", 4 },
  { "search /nowhere.json", 3 },
  { "status --admin http://127.0.0.1:1", 4 },
  { "history --admin http://127.0.0.1:1", 4 },
  { "reload --admin http://127.0.0.1:1", 4 },
  { "rollback 1 --admin http://127.0.0.1:1", 4 },
  { "explain 01JDX2T6Q8 --admin http://127.0.0.1:1", 4 },
  { "new Bad", 2 },
  { "try no_such_supplier " .. SEARCH, 2 },
  { "try duffel /nowhere.json", 3 },
  { "record duffel " .. SEARCH .. " --as one-way", 2 },
  { "mock no_such_supplier", 2, "no_such_supplier" },
  { "new bad --from /nowhere.txt", 3 },
}

test("exit codes are those of the help, data and errors do not mix, and a pipe gets no colours", function()
  for _, case in ipairs(LOCAL) do
    local out, err, code = run(case[1], "CLICOLOR_FORCE=1 TERM=xterm-256color COLUMNS=200")
    equal(case[2], code, case[1] .. "\n" .. out .. err)
    local listed = by_name[case[1]:match("^%S+")].exit_codes
    assert(listed[tostring(code)], case[1] .. ": its help does not list " .. code)
    says(out, case[3] or "")
    if not case[3] then
      equal("", out, case[1])
      assert(#err > 0, case[1])
    elseif code == 0 then
      equal("", err, case[1])
    end
    assert(not (out .. err):find("\27"), case[1] .. ": colours on a pipe")
  end
end)

test("with --json standard output is one document, whatever became of it", function()
  for _, case in ipairs(LOCAL) do
    local name = case[1]:match("^%S+")
    if is_in(options_of(by_name[name]), "json") then
      local out, err, code = run(case[1] .. " --json")
      equal(case[2], code, case[1])
      local is_json, decoded = pcall(json.decode, out)
      assert(is_json and type(decoded) == "table", case[1] .. ":\n" .. out)
      if not case[3] then
        equal("", err, case[1])
        assert(#decoded.findings > 0, case[1] .. ":\n" .. out)
      end
    end
  end
end)

test("a terminal gets colours, unless NO_COLOR or --no-color says otherwise", function()
  local function on_terminal(arguments, environment)
    return (world.shell(("env TERM=xterm %s script -qec '%s %s' /dev/null </dev/null"):format(environment, BINARY,
      arguments)))
  end
  if select(2, world.shell("command -v script")) ~= 0 then
    world.skip("colours on a terminal", "util-linux's script is not installed")
    return
  end
  local failing = "check -c /nowhere.yaml"
  says(on_terminal(failing, "A=b"), "\27[31m")
  assert(not on_terminal(failing, "NO_COLOR=1"):find("\27"), "colours with NO_COLOR")
  assert(not on_terminal(failing .. " --no-color", "A=b"):find("\27"), "colours with --no-color")
  assert(not on_terminal("help", "NO_COLOR=1"):find("\27"), "colours in help")
end)

test("a pipe that is closed is no error, a disk that is full is one", function()
  for _, arguments in ipairs { "help", "help --json", "config show", "completion bash", "check -c " .. SETTINGS } do
    local text = world.shell(("bash -c '%s %s | true; echo ${PIPESTATUS[0]}'"):format(BINARY, arguments))
    equal("0\n", text, arguments)
  end
  for _, arguments in ipairs { "help", "version", "config show", "check -c " .. SETTINGS, "completion bash",
    "explain codes" } do
    local text, code = world.shell(("%s %s >/dev/full"):format(BINARY, arguments))
    equal(3, code, arguments)
    says(text, "error: the output could not be written")
    text, code = world.shell(("%s %s >&-"):format(BINARY, arguments))
    equal(3, code, arguments .. ", closed")
    says(text, "help: standard output is closed")
  end
end)

test("the settings in force can be loaded again, and say where they come from", function()
  local first = world.folder .. "/shown.yaml"
  local environment = "LASTCALL__DEADLINE__MAX=8s LASTCALL__DNS__SERVERS=10.0.0.1,10.0.0.2"
  for _, file in ipairs { "examples/farm/lastcall.yaml", "examples/lastcall.yaml", SETTINGS } do
    local shown, _, code = run("config show -c " .. file, environment)
    equal(0, code, file)
    world.write_file(first, shown)
    equal(shown, (run("config show -c " .. first)), file)
    local with_origin = run("config show --origin -c " .. file, environment)
    says(with_origin, "# LASTCALL__DEADLINE__MAX, over ")
    says(with_origin, "10s)\n")
    world.write_file(first, with_origin)
    equal(0, (select(3, run("config show -c " .. first))), file)
  end
  local later = world.folder .. "/later.yaml"
  world.write_file(later, "deadline: { default: 1500ms }\nsuppliers: { duffel: { accounts: { main: { options: "
    .. "{ page_size: 50 }, secrets: { DUFFEL_TOKEN: OUR_DUFFEL } } } } }\n")
  local list = json.decode((run(("config show --origin --json -c %s -c %s"):format(SETTINGS, later),
    "OUR_DUFFEL=duffel-secret-value LASTCALL__DEADLINE__DEFAULT=1s")))
  local found = {}
  for _, setting in ipairs(list) do
    found[setting.key] = setting
  end
  local default = found["deadline.default"]
  equal("1s", default.value)
  equal("LASTCALL__DEADLINE__DEFAULT", default.variable)
  equal(later, default.over[1].file)
  equal(1, default.over[1].line)
  equal("built-in", default.over[2].source)
  local option = found["suppliers.duffel.accounts.main.options.page_size"]
  equal("50", option.value)
  equal("suppliers/duffel.lua", option.over[1].file)
  equal("script", option.over[1].source)
  equal("OUR_DUFFEL", found["suppliers.duffel.accounts.main.secrets.DUFFEL_TOKEN"].value)
  assert(not json.encode(list):find("duffel-secret-value", 1, true), "a secret's value is shown")
end)

-- What comes when the last word is completed.
local COMPLETIONS = {
  { { "co" }, "config completion" },
  { { "test", "duf" }, "duffel" },
  { { "test", "-c", "x.yaml", "duf" }, "duffel" },
  { { "check", "--sec" }, "--secrets" },
  { { "new", "acme", "--product", "h" }, "hotels" },
  { { "reload", "--shadow", "d" }, "duffel" },
  { { "config", "" }, "show" },
  { { "config", "-c", "x.yaml", "" }, "show" },
  { { "completion", "" }, "bash zsh" },
  { { "explain", "E042" }, "E0421 E0422 E0423 E0424 E0425 E0426 E0427" },
  { { "help", "hist" }, "history" },
  { { "try", "duf" }, "duffel" },
  { { "try", "--body", "x.json", "duf" }, "duffel" },
  { { "mock", "duf" }, "duffel" },
  { { "mock", "duffel/ok-ret" }, "duffel/ok-return-two-adults" },
  { { "mock", "no_such/" }, "" },
  { { "-" }, "--help --version" },
  { { "help", "history", "" }, "" },
}

test("bash completes commands, options, suppliers and codes", function()
  local script = { ("source <(%s completion bash)"):format(BINARY), "complete -p lastcall" }
  for _, case in ipairs(COMPLETIONS) do
    script[#script + 1] = ("COMP_WORDS=(lastcall '%s'); COMP_CWORD=%d; _lastcall; echo \"${COMPREPLY[*]}\"")
      :format(table.concat(case[1], "' '"), #case[1])
  end
  local path = world.folder .. "/completion.sh"
  world.write_file(path, table.concat(script, "\n") .. "\n")
  local text, code = world.shell("bash " .. path)
  equal(0, code, text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line
  end
  equal("complete -F _lastcall lastcall", lines[1])
  for i, case in ipairs(COMPLETIONS) do
    equal(case[2], lines[i + 1], table.concat(case[1], " "))
  end
end)

test("a file's name runs nothing when bash completes", function()
  local house = world.folder .. "/named"
  os.execute(("rm -rf %s && mkdir -p %s/suppliers"):format(house, house))
  for _, name in ipairs { "$(touch pwned)", "`touch pwned`", "a;touch pwned", "-R", "plain" } do
    world.write_file(house .. "/suppliers/" .. name .. ".lua", "")
  end
  local script = { ("source <(%s completion bash)"):format(BINARY), "cd " .. house }
  for _, command in ipairs { "try", "test", "record", "mock" } do
    script[#script + 1] = ("COMP_WORDS=(lastcall %s ''); COMP_CWORD=2; _lastcall; echo \"${COMPREPLY[*]}\"")
      :format(command)
  end
  script[#script + 1] = "ls"
  world.write_file(world.folder .. "/completion.sh", table.concat(script, "\n") .. "\n")
  equal("plain\nplain\nplain\nplain\nsuppliers\n", (world.shell("bash " .. world.folder .. "/completion.sh")))
end)

test("zsh completes the same", function()
  local zsh = os.getenv("LASTCALL_ZSH") or "zsh"
  if select(2, world.shell("command -v " .. zsh)) ~= 0 then
    world.skip("zsh", "it is not installed")
    return
  end
  local script = {
    "compdef() { : }", "_files() { : }",
    "compadd() { shift; for one in \"$@\"; do [[ $one == ${words[CURRENT]}* ]] && print -rn -- \"$one \"; done }",
    ("source <(%s completion zsh)"):format(BINARY),
  }
  for _, case in ipairs(COMPLETIONS) do
    script[#script + 1] = ("words=(lastcall '%s'); CURRENT=%d; _lastcall; print")
      :format(table.concat(case[1], "' '"), #case[1] + 1)
  end
  local path = world.folder .. "/completion.zsh"
  world.write_file(path, table.concat(script, "\n") .. "\n")
  local lines = {}
  for line in world.shell(zsh .. " -f " .. path .. " 2>/dev/null"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line
  end
  for i, case in ipairs(COMPLETIONS) do
    equal(case[2], (lines[i] or "?"):gsub(" $", ""), table.concat(case[1], " "))
  end
end)

local w = world.start { population = "instant" }

test("commands that ask a running engine keep the same manners", function()
  local admin, url = " --admin " .. w.admin_url, " --url " .. w.url
  local searched = run("search " .. SEARCH .. url .. " --json")
  local id = json.decode(searched).search_id
  for _, arguments in ipairs {
    "search " .. SEARCH .. url, "explain " .. id .. admin, "status" .. admin, "history" .. admin,
    "history --events" .. admin, "reload" .. admin,
  } do
    local out, err, code = run(arguments, "TERM=xterm COLUMNS=120")
    equal(0, code, arguments .. "\n" .. out .. err)
    equal("", err, arguments)
    assert(not out:find("\27"), arguments)
    assert(#out > 0 or arguments:find("--events"), arguments) -- nothing may have happened yet
    out, err, code = run(arguments .. " --json")
    equal(0, code, arguments)
    equal("", err, arguments)
    assert(pcall(json.decode, out), arguments .. ":\n" .. out)
  end
  for _, case in ipairs {
    { "explain NOSUCHSEARCH" .. admin, 5 }, { "rollback 999" .. admin, 5 }, { "reload --retry no_such" .. admin, 1 },
  } do
    local out, err, code = run(case[1])
    equal(case[2], code, case[1] .. "\n" .. out .. err)
    assert(by_name[case[1]:match("^%S+")].exit_codes[tostring(code)], case[1])
  end
end)

w:stop()
world.finish()
