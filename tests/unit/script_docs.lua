-- Reads scripts/types/ and scripts/README.md for script_docs_test.c, which gives it a sandbox: `run`, `globals`,
-- `response`, `context`. Each function returns what is wrong, a line each.

local sandbox = ...

local M = {}

local TYPES = { "helpers", "supplier", "product", "flights", "hotels" }

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

local function sorted(set)
  local names = {}
  for name in pairs(set) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- ---- what is declared ---------------------------------------------------------------------------------------------

-- The type at the beginning of an annotation's words: `fun(a: b): c?`, `table<string, x|y>[]`, `"a"|"b"`.
local function type_of(words)
  local depth, at = 0, 1
  while at <= #words do
    local c = words:sub(at, at)
    if c:find("[%(<{%[]") then
      depth = depth + 1
    elseif c:find("[%)>}%]]") then
      depth = depth - 1
    elseif c == " " and depth == 0 and not words:sub(1, at - 1):find(":$") then
      break
    end
    at = at + 1
  end
  return words:sub(1, at - 1)
end

local declared, classes = {}, {} -- by name; the fields of classes

local function declare(name, entry)
  assert(declared[name] == nil, name .. " is declared twice")
  declared[name] = entry
end

local function new_block()
  return { params = {}, order = {}, has_overload = false, fields = {} }
end

local function read_types(text)
  local block = new_block()
  for line in text:gmatch("[^\n]+") do
    local class = line:match("^%-%-%-@class (%w+)")
    local field, may_miss, words = line:match("^%-%-%-@field ([%w_%.]+)(%??)%s+(.+)$")
    local param, optional, param_words = line:match("^%-%-%-@param ([%w_%.]+)(%??)%s+(.+)$")
    local path, arguments = line:match("^function ([%w_%.:]+)%((.-)%) end")
    local assigned = line:match("^([%w_]+) = ")
    if class then
      block.class, block.fields = class, {}
      classes[class] = {}
    elseif field then
      block.fields[field] = type_of(words)
      if block.class then
        classes[block.class][field] = { kind = type_of(words), may_miss = may_miss == "?" }
      end
    elseif param then
      local kind = type_of(param_words)
      block.params[param] = { kind = kind, is_optional = optional == "?" or kind:find("%?$") ~= nil
        or ("|" .. kind .. "|"):find("|nil|", 1, true) ~= nil, may_be_left_out = optional == "?" }
    elseif line:find("^%-%-%-@overload") then
      block.has_overload = true
    elseif path then
      local entry = { kind = "function", parameters = {}, has_overload = block.has_overload }
      for name in arguments:gmatch("[%w_%.]+") do
        entry.parameters[#entry.parameters + 1] = { name = name, about = block.params[name] }
        entry.is_variadic = entry.is_variadic or name == "..."
      end
      declare(path, entry)
      block = new_block()
    elseif assigned then
      declare(assigned, { kind = "table" })
      for name, kind in pairs(block.fields) do
        declare(assigned .. "." .. name, { kind = "field", type = kind })
      end
      block = new_block()
    elseif not line:find("^%-%-%-") then
      block = new_block()
    end
  end
end

for _, name in ipairs(TYPES) do
  read_types(read("scripts/types/" .. name .. ".lua"))
end

-- ---- what there is ------------------------------------------------------------------------------------------------

-- What plain Lua has as well is not ours to declare.
local function is_lua(name)
  local value = _G
  for part in name:gmatch("[^.]+") do
    value = type(value) == "table" and rawget(value, part) or nil
  end
  return value ~= nil
end

local there = {}
for name, kind in sandbox.globals():gmatch("(%S+) (%S+)\n") do
  if not is_lua(name) then
    there[name] = kind
  end
end

local PLAIN_KINDS = { ["function"] = true, table = true, userdata = true }

function M.check_globals()
  local wrong = {}
  for _, name in ipairs(sorted(there)) do
    local entry = declared[name]
    if not entry then
      wrong[#wrong + 1] = name .. " is in the sandbox, but not in scripts/types"
    elseif (entry.kind == "function") ~= (there[name] == "function") then
      wrong[#wrong + 1] = name .. " is a " .. there[name] .. ", but declared a " .. entry.kind
    end
    assert(PLAIN_KINDS[there[name]] or not entry or entry.kind == "field", name)
  end
  for _, name in ipairs(sorted(declared)) do
    if not there[name] then
      wrong[#wrong + 1] = name .. " is declared, but not in the sandbox"
    end
  end
  assert(#sorted(there) > 60, "the sandbox was not listed")
  return table.concat(wrong, "\n")
end

-- The fields of a thing that scripts are given, held against those of a class.
local function compare_fields(thing, class, fields)
  local wrong = {}
  for _, name in ipairs(sorted(fields)) do
    local about = classes[class][name]
    if not about then
      wrong[#wrong + 1] = thing .. "." .. name .. " is there, but not declared"
    elseif (fields[name] == "function") ~= (about.kind:find("^fun") ~= nil) then
      wrong[#wrong + 1] = thing .. "." .. name .. " is a " .. fields[name] .. ", but declared " .. about.kind
    end
  end
  for _, name in ipairs(sorted(classes[class])) do
    if not fields[name] and not classes[class][name].may_miss then
      wrong[#wrong + 1] = thing .. "." .. name .. " is declared, but not there"
    end
  end
  return table.concat(wrong, "\n")
end

local function members(lines, fields)
  for name, kind in lines:gmatch("(%S+) (%S+)\n") do
    fields[name] = kind
  end
  return fields
end

function M.check_response()
  return compare_fields("response", "Response", members(sandbox.response(), { body = "string" }))
end

function M.check_context()
  return compare_fields("ctx", "Context", members(sandbox.context(), {}))
end

-- The rows of the check of suppliers' tables, as its source has them.
local CHECK = "engine/script/script_check.c"
local CHECKED_TYPES = { LUA_TSTRING = "^string", LUA_TFUNCTION = "^fun", LUA_TTABLE = "" }

function M.check_supplier()
  local wrong, checked = {}, {}
  local rows = assert(read(CHECK):match("supplier_fields%[%] = {(.-)\n};"), "the table was not found")
  for name, kind, need in rows:gmatch('{ "([%w_]+)", (LUA_T%u+), (CHECK_%u+) }') do
    local about = classes.Supplier[name]
    checked[name] = true
    if need == "CHECK_UNSUPPORTED" then
      wrong[#wrong + 1] = about and name .. " is declared, but not supported" or nil
    elseif not about then
      wrong[#wrong + 1] = name .. " is checked, but not declared"
    elseif not about.kind:find(CHECKED_TYPES[kind]) then
      wrong[#wrong + 1] = name .. " is checked as " .. kind .. ", but declared " .. about.kind
    elseif about.may_miss == (need == "CHECK_REQUIRED") then
      wrong[#wrong + 1] = name .. " is required in one of both only"
    end
  end
  for _, name in ipairs(sorted(classes.Supplier)) do
    wrong[#wrong + 1] = not checked[name] and name .. " is declared, but an unknown field" or nil
  end
  assert(#sorted(checked) > 15, "the table was not read")
  return table.concat(wrong, "\n")
end

-- ---- misuse -------------------------------------------------------------------------------------------------------

local function functions()
  local names = {}
  for _, name in ipairs(sorted(declared)) do
    if declared[name].kind == "function" and there[name] then
      names[#names + 1] = name
    end
  end
  assert(#names > 50, "the functions were not read")
  return names
end

local function last_name(name)
  return name:match("[%w_]+$")
end

-- The call stands in line 3, and is no tail call.
local function call(name, arguments)
  local source = "\n\nlocal result = %s(%s)\nreturn result"
  return sandbox.run("misuse", source:format(name, table.concat(arguments, ", ")))
end

-- What is wrong with the error, or nil.
local function judge(name, arguments, ok, message, place)
  local spelled = name .. "(" .. table.concat(arguments, ", ") .. ")"
  if ok then
    return spelled .. " raises nothing"
  elseif not message:find("misuse:3: ", 1, true) then
    return spelled .. " does not name the caller's line: " .. message
  elseif not message:find(last_name(name), 1, true) and not message:find(": " .. name:match("^%a+") .. ": ", 1, true)
  then
    return spelled .. " does not name the function: " .. message
  elseif place and not message:find("#" .. place, 1, true) then
    return spelled .. " does not name argument " .. place .. ": " .. message
  end
  return nil
end

function M.check_too_many()
  local wrong = {}
  for _, name in ipairs(functions()) do
    local entry = declared[name]
    local arguments = {}
    for i = 1, #entry.parameters + (entry.has_overload and 2 or 1) do
      arguments[i] = "nil"
    end
    if not entry.is_variadic then
      local ok, message = call(name, arguments)
      wrong[#wrong + 1] = judge(name, arguments, ok, message)
      if not ok and not entry.has_overload and not message:find("at most", 1, true) then
        wrong[#wrong + 1] = name .. " does not say how many it takes: " .. message
      end
      table.remove(arguments)
      ok, message = call(name, arguments)
      if not ok and message:find("at most, got", 1, true) then
        wrong[#wrong + 1] = name .. " is declared with more arguments than it takes: " .. message
      end
    end
  end
  return table.concat(wrong, "\n")
end

function M.check_too_few()
  local wrong = {}
  for _, name in ipairs(functions()) do
    local parameter = declared[name].parameters[1]
    if parameter and not parameter.about then
      wrong[#wrong + 1] = name .. " has no @param for " .. parameter.name
    elseif parameter and not parameter.about.is_optional and parameter.about.kind ~= "any" then
      local ok, message = call(name, {})
      wrong[#wrong + 1] = judge(name, {}, ok, message)
    end
  end
  return table.concat(wrong, "\n")
end

-- Values that are right enough to come past, by the name of the parameter, else by its type.
local GOOD_NAMES = {
  airport = '"MAD"', algorithm = '"sha256"', amount = '"1.00"', a = '"1.00"', b = '"1.00"', amounts = '{ "1.00" }',
  clock = '"10:00"', currency = '"EUR"', date = '"2027-05-03"', duration = '"PT1H"', from = '"2027-05-03"',
  to = '"2027-05-03"', element = '{ "A" }', levels = "1", base = '"https://x.example"',
}
local GOOD_TYPES = {
  { "^string", '"1"' }, { "^integer", "1" }, { "^number", "1" }, { "^fun", "function() end" }, { "^table", "{}" },
  { "%[%]%??$", "{}" }, { "^{", "{}" },
}

local function good_value(parameter)
  if GOOD_NAMES[parameter.name] then
    return GOOD_NAMES[parameter.name]
  end
  local literal = parameter.about.kind:match('^"[^"]*"')
  if literal then
    return literal
  end
  for _, pair in ipairs(GOOD_TYPES) do
    if parameter.about.kind:find(pair[1]) then
      return pair[2]
    end
  end
  return "nil"
end

-- Of no type that is declared; nil when every type would do.
local function bad_value(kind)
  if kind:find("any", 1, true) or kind:find("Plan", 1, true) or kind:find("^[TR]$") or kind:find("Shape", 1, true) then
    return nil
  elseif kind:find("fun(", 1, true) or kind:find("table", 1, true) or kind:find("[]", 1, true)
    or kind:find("{", 1, true) or kind:find("Element", 1, true) or kind:find("Pieces", 1, true) then
    return "true"
  end
  return "{}"
end

function M.check_types()
  local wrong, tried = {}, 0
  for _, name in ipairs(functions()) do
    local entry = declared[name]
    for i, parameter in ipairs(entry.parameters) do
      local about = parameter.about
      local bad = about and not entry.has_overload and bad_value(about.kind)
      if bad and parameter.name ~= "..." then
        local arguments = {}
        for j = 1, i - 1 do
          arguments[j] = good_value(entry.parameters[j])
        end
        arguments[i] = bad
        for j = i + 1, #entry.parameters do
          arguments[j] = good_value(entry.parameters[j])
        end
        local ok, message = call(name, arguments)
        wrong[#wrong + 1] = judge(name, arguments, ok, message, i)
        tried = tried + 1
      end
    end
  end
  assert(tried > 50, "hardly anything was tried")
  return table.concat(wrong, "\n")
end

-- ---- what examples stand in: an answer of their kind --------------------------------------------------------------

local JSON_BODY = '{"currency":"EUR","offers":[{"id":"o1","total":412.30,"seats":4,"refundable":true,'
  .. '"legs":[{"from":"MAD"}]}]}'
local XML_BODY = '<Answer xmlns="http://acme.example/air"><Offer id="o1"><Price currency="EUR">412.30</Price>'
  .. "<Seats>4</Seats></Offer></Answer>"
local FAULT_BODY = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault>'
  .. "<faultcode>s:Client</faultcode><faultstring>no such session</faultstring></s:Fault></s:Body></s:Envelope>"

local function run_example(name, code)
  local body = code:find("soap", 1, true) and FAULT_BODY or code:find("xml", 1, true) and XML_BODY or JSON_BODY
  return sandbox.run(name, "local response, ctx = ... " .. code, body)
end

-- ---- the reference ------------------------------------------------------------------------------------------------

local README = "scripts/README.md"

-- The cells of a table's row; a bar within backticks is none.
local function cells_of(line)
  local cells, cell, in_code = {}, "", false
  for c in line:sub(2):gmatch(".") do
    if c == "`" then
      in_code = not in_code
    end
    if c == "|" and not in_code then
      cells[#cells + 1] = cell:match("^%s*(.-)%s*$")
      cell = ""
    else
      cell = cell .. c
    end
  end
  return cells
end

-- Rows of the tables that are headed "call | gives", each with its line.
local function rows()
  local list, in_table, number = {}, false, 0
  for line in (read(README) .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if line:find("^| call | gives |") then
      in_table = true
    elseif not line:find("^|") then
      in_table = false
    elseif in_table and not line:find("^|%-") then
      local cells = cells_of(line)
      list[#list + 1] = { line = number, call = cells[1], gives = cells[2] }
    end
  end
  assert(#list > 60, "the tables of the reference were not read")
  return list
end

local function code_of(cell)
  local code = {}
  for piece in cell:gmatch("`(.-)`") do
    code[#code + 1] = piece
  end
  return code
end

-- The results that the cell begins with, `a`, `b`: words after a colon or a semicolon explain.
local function expected_of(cell)
  local results, rest = {}, cell
  while true do
    local code, behind = rest:match("^`(.-)`(.*)$")
    if not code then
      return results
    end
    results[#results + 1] = code
    rest = behind:match("^,%s+(`.*)$") or ""
  end
end

-- The call as a chunk.
local function chunk_of(code)
  return loadstring("return " .. code) and "return " .. code or code
end

local function canonical(code)
  local ok, results = sandbox.run("expected", "return " .. code)
  return ok and results[1].kind == "table" and results[1].text or nil
end

local function same(expected, result)
  if result.kind == "table" then
    return canonical(expected) == result.text
  end
  return expected == result.text:gsub("\n", "\\n") -- a table's row has no line of its own
end

-- A row of words in italics is run, not compared; there are few of them.
local NOT_COMPARED_MAX = 12

function M.check_rows()
  local wrong, not_compared = {}, 0
  for _, row in ipairs(rows()) do
    local codes, expected = code_of(row.call), expected_of(row.gives)
    local place = README .. ":" .. row.line .. ": "
    if #codes ~= 1 then
      wrong[#wrong + 1] = place .. "a row has one call, in backticks"
    else
      local ok, results = run_example("README", chunk_of(codes[1]))
      if not ok then
        if not row.gives:find("^%*raises") then
          wrong[#wrong + 1] = place .. codes[1] .. ": " .. results
        end
      elseif row.gives:find("^%*") then
        not_compared = not_compared + 1
        if row.gives:find("^%*raises") then
          wrong[#wrong + 1] = place .. codes[1] .. " raises nothing"
        end
      elseif #expected == 0 then
        wrong[#wrong + 1] = place
          .. "what it gives stands first, in backticks, or in italics where it cannot be compared"
      else
        for i, text in ipairs(expected) do
          local result = results[i] or { kind = "nil", text = "nil" }
          if not same(text, result) then
            wrong[#wrong + 1] = place .. codes[1] .. " gives " .. result.text .. ", not " .. text
          end
        end
      end
    end
  end
  if not_compared > NOT_COMPARED_MAX then
    wrong[#wrong + 1] = not_compared .. " rows are not compared; " .. NOT_COMPARED_MAX .. " are the most"
  end
  return table.concat(wrong, "\n")
end

-- Loads each block of Lua in the file that begins with that fence; how many there were.
local function load_blocks(path, fence, wrong)
  local count, number, block, first = 0, 0, nil, 0
  for line in (read(path) .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    if line == fence then
      block, first = {}, number
    elseif line == "```" and block then
      local source = table.concat(block, "\n")
      -- Fields of a supplier's table stand alone in the text.
      local chunk = source:find("^%s*[%a_]+ = ") and "return {\n" .. source .. "\n}" or source
      local ok, message = run_example("block", chunk)
      if not ok then
        wrong[#wrong + 1] = path .. ":" .. first .. ": " .. message
      end
      block, count = nil, count + 1
    elseif block then
      block[#block + 1] = line
    end
  end
  return count
end

function M.check_blocks()
  local wrong = {}
  assert(load_blocks(README, "```lua", wrong) >= 3, "the blocks of the reference were not read")
  -- The files of the guide are run by tests/e2e/guide_test.lua, which leaves fragments out.
  assert(load_blocks("suppliers/README.md", "```lua fragment", wrong) >= 1, "the fragments of the guide were not read")
  return table.concat(wrong, "\n")
end

-- Called with parentheses, a table or a text, in a row or in a block; terms of plans in their own table.
local function is_called(text, name)
  local spelled = name:gsub("%.", "%%.")
  return text:find("%f[%w_.]" .. spelled .. "%s*[%({\"]") ~= nil
end

function M.check_examples()
  local wrong, text = {}, {}
  for row in ("\n" .. read(README)):gmatch("\n(|[^\n]*)") do
    text[#text + 1] = table.concat(code_of(row), "\n")
  end
  for block in read(README):gmatch("```lua\n(.-)```") do
    text[#text + 1] = block
  end
  local examples = table.concat(text, "\n")
  for _, name in ipairs(sorted(there)) do
    if there[name] == "function" and not is_called(examples, name) then
      wrong[#wrong + 1] = name .. " has no example in " .. README
    end
  end
  return table.concat(wrong, "\n")
end

return M
