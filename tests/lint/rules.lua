--- The rules of the house, each a function over a tree of files that adds findings.
--
-- A tree is { root=, paths = {sorted}, text = {path -> contents} }. A finding is { path=, line=, message= }.

local layers = require("layers")

local M = {}

local function add(findings, path, line, format, ...)
  findings[#findings + 1] = { path = path, line = line, message = string.format(format, ...) }
end

local function contains(list, value)
  for _, entry in ipairs(list or {}) do
    if entry == value then
      return true
    end
  end
  return false
end

--- Calls visit(number, line) for every line of a text.
local function each_line(text, visit)
  local number = 0
  for line in (text:sub(-1) == "\n" and text or text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    visit(number, line)
  end
  return number
end

--- Replaces comments and the inside of literals by blanks, so that line numbers stay.
local function blank_comments(text)
  local out, position = {}, 1
  local function blank(from, to)
    out[#out + 1] = (text:sub(from, to):gsub("[^\n]", " "))
  end
  while true do
    local start = text:find("[/\"']", position)
    if not start then
      out[#out + 1] = text:sub(position)
      return table.concat(out)
    end
    out[#out + 1] = text:sub(position, start - 1)
    local two, stop = text:sub(start, start + 1), nil
    if two == "//" then
      stop = (text:find("\n", start, true) or #text + 1) - 1
    elseif two == "/*" then
      local _, last = text:find("*/", start + 2, true)
      stop = last or #text
    elseif two:sub(1, 1) ~= "/" then
      local quote, at = two:sub(1, 1), start + 1
      while at <= #text and text:sub(at, at) ~= quote and text:sub(at, at) ~= "\n" do
        at = at + (text:sub(at, at) == "\\" and 2 or 1)
      end
      stop = math.min(at, #text)
    end
    if stop then
      blank(start, stop)
      position = stop + 1
    else
      out[#out + 1] = "/"
      position = start + 1
    end
  end
end

local function is_c(path)
  return path:match("%.[ch]$") ~= nil
end

local function is_header(path)
  return path:match("%.h$") ~= nil
end

--- The part of the tree that a source belongs to: a folder of engine/, or a prefix of layers.sees_outside.
local function unit_of(path)
  local folder = path:match("^engine/([%w_]+)/")
  if folder then
    return folder
  end
  local best
  for prefix in pairs(layers.sees_outside) do
    if path:sub(1, #prefix) == prefix and (not best or #prefix > #best) then
      best = prefix
    end
  end
  return best
end

local function may_see(unit)
  return layers.sees[unit] or layers.sees_outside[unit]
end

--- The last folder of a prefix: includes of the farm read "farm/...".
local function own_folder(unit)
  return unit:match("([%w_]+)/?$")
end

local function check_own_include(tree, findings, path, line, unit, name)
  local folder = name:match("^([%w_]+)/")
  if not folder then
    add(findings, path, line, "#include \"%s\" must carry its folder", name)
    return
  end
  if layers.sees[folder] then
    local allowed = may_see(unit)
    if folder ~= unit and allowed ~= "*" and not contains(allowed, folder) then
      add(findings, path, line, "%s must not see %s (#include \"%s\")", unit, folder, name)
    elseif not tree.text["engine/" .. name] then
      add(findings, path, line, "#include \"%s\": there is no engine/%s", name, name)
    end
    return
  end
  local is_own = folder == own_folder(unit) or may_see(unit) == "*"
  if not is_own then
    add(findings, path, line, "%s must not see %s (#include \"%s\")", unit, folder, name)
  elseif not (tree.text["tests/" .. name] or tree.text["examples/" .. name]) then
    add(findings, path, line, "#include \"%s\": there is no such file", name)
  end
end

local function foreign_rule(name)
  for index, rule in ipairs(layers.foreign) do
    if name:match(rule.pattern) then
      return rule, index
    end
  end
end

local function is_system(name)
  for _, pattern in ipairs(layers.system) do
    if name:match(pattern) then
      return true
    end
  end
  return false
end

--- `seen` remembers, by rule and unit, the one .c that includes the foreign header.
local function check_foreign_include(findings, seen, path, line, unit, name)
  if is_system(name) or may_see(unit) == "*" then
    return
  end
  local rule, index = foreign_rule(name)
  if not rule then
    add(findings, path, line, "<%s> is not in the table of foreign headers (tests/lint/layers.lua)", name)
    return
  end
  if not contains(rule.in_folders, unit) then
    add(findings, path, line, "<%s> belongs to %s, not to %s", name, table.concat(rule.in_folders, " and "), unit)
    return
  end
  if is_header(path) then
    if not contains(rule.headers, unit) then
      add(findings, path, line, "<%s> stands in a header of ours: foreign types stay in the .c", name)
    end
    return
  end
  if contains(rule.everywhere, unit) then
    return
  end
  local key = index .. unit
  if seen[key] and seen[key] ~= path then
    add(findings, path, line, "<%s> is already included by %s: one .c of the folder owns it", name, seen[key])
  end
  seen[key] = seen[key] or path
end

--- Every #include against the layer table.
function M.includes(tree, findings)
  local seen = {}
  for _, path in ipairs(tree.paths) do
    local unit = is_c(path) and unit_of(path)
    if is_c(path) and not (unit and may_see(unit)) then
      add(findings, path, 1, "this source belongs to no part of the layer table (tests/lint/layers.lua)")
    elseif unit then
      each_line(tree.text[path], function(line, text)
        local own = text:match("^%s*#%s*include%s*\"([^\"]+)\"")
        local foreign = text:match("^%s*#%s*include%s*<([^>]+)>")
        if own then
          check_own_include(tree, findings, path, line, unit, own)
        elseif foreign then
          check_foreign_include(findings, seen, path, line, unit, foreign)
        end
      end)
    end
  end
end

local function line_of(text, position)
  local _, count = text:sub(1, position):gsub("\n", "")
  return count + 1
end

local function same_keys(a, b)
  for key in pairs(a) do
    if not b[key] then
      return false
    end
  end
  for key in pairs(b) do
    if not a[key] then
      return false
    end
  end
  return true
end

local function sorted_keys(set)
  local keys = {}
  for key in pairs(set) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return #keys > 0 and table.concat(keys, " ") or "nothing"
end

local function check_package(findings, path, line, folder, package)
  for _, rule in ipairs(layers.foreign) do
    if rule.package == package and contains(rule.in_folders, folder) then
      return
    end
  end
  add(findings, path, line, "%s links %s, which the table of foreign headers does not give it", folder, package)
end

local function reach(links, folder, into)
  for _, name in ipairs(links[folder] or {}) do
    if not into[name] then
      into[name] = true
      reach(links, name, into)
    end
  end
  return into
end

--- CMake's links are the layer table once more.
function M.links(tree, findings)
  local path = "CMakeLists.txt"
  local text = tree.text[path]
  if not text then
    return
  end
  local links, lines = {}, {}
  for position, folder, list in text:gmatch("()lastcall_library%(([%w_]+)%s+LINKS([^)]*)%)") do
    local line = line_of(text, position)
    links[folder], lines[folder] = {}, line
    for word in list:gmatch("%S+") do
      local package = word:match("^PkgConfig::(%w+)$")
      if package then
        check_package(findings, path, line, folder, package)
      elseif layers.sees[word] then
        table.insert(links[folder], word)
      end
    end
  end
  for folder, allowed in pairs(layers.sees) do
    if not links[folder] then
      add(findings, path, 1, "no lastcall_library for the folder %s of the layer table", folder)
    else
      local wanted = {}
      for _, name in ipairs(allowed) do
        wanted[name] = true
      end
      local linked = reach(links, folder, {})
      if not same_keys(wanted, linked) then
        add(findings, path, lines[folder], "%s links %s, the layer table says %s", folder, sorted_keys(linked),
          sorted_keys(wanted))
      end
    end
  end
end

--- The name before the first parenthesis of the lines above a body.
local function function_name(lines, first)
  local head = ""
  for number = first - 1, math.max(1, first - 12), -1 do
    local line = lines[number]
    if line:match("^%s*$") or line:match("[;}]%s*$") or line:match("^#") then
      break
    end
    head = line .. " " .. head
  end
  return head:match("([%a_][%w_]*)%s*%(") or "?"
end

local function check_functions(findings, path, text)
  local lines, start = {}, nil
  each_line(blank_comments(text), function(number, line)
    lines[number] = line
    if line:match("^{%s*$") then
      start = number
    elseif start and line:match("^}") then
      local length = number - start + 1
      if length > layers.limits["function"] then
        add(findings, path, start, "%s has %d lines, a function has at most %d", function_name(lines, start), length,
          layers.limits["function"])
      end
      start = nil
    end
  end)
end

--- Files and functions that are too long.
function M.sizes(tree, findings)
  for _, path in ipairs(tree.paths) do
    if is_c(path) then
      local text = tree.text[path]
      local limit = is_header(path) and layers.limits.header or layers.limits.source
      local count = each_line(text, function() end)
      if count > limit then
        add(findings, path, limit + 1, "%d lines, at most %d: the noun is two nouns", count, limit)
      end
      check_functions(findings, path, text)
    end
  end
end

--- Declarations: no typedef of a struct, a union or an enum.
function M.typedefs(tree, findings)
  for _, path in ipairs(tree.paths) do
    if is_c(path) then
      each_line(blank_comments(tree.text[path]), function(line, text)
        local kind = text:match("^%s*typedef%s+(%a+)")
        if contains({ "struct", "union", "enum" }, kind) and not text:find("(", 1, true) then
          add(findings, path, line, "typedef of a %s: write `%s name` where it is used", kind, kind)
        end
      end)
    end
  end
end

--- Headers begin with their noun, say which thread may call them, and are guarded.
function M.headers(tree, findings)
  for _, path in ipairs(tree.paths) do
    if is_header(path) then
      local text = tree.text[path]
      if not text:match("^/// %u[^\n]-: ") then
        add(findings, path, 1, "a header begins with `/// Noun: what it owns or decides.`")
      end
      if path:match("^engine/") and not text:match("\n///%s*Threads:") then
        add(findings, path, 1, "the comment at the top has no `Threads:` line")
      end
      if not text:match("\n#pragma once\n") then
        add(findings, path, 1, "no #pragma once")
      end
    end
  end
end

--- What a layer must not do, by the calls it makes.
function M.calls(tree, findings)
  for _, path in ipairs(tree.paths) do
    local forbidden = is_c(path) and layers.forbidden_calls[unit_of(path)]
    if forbidden then
      each_line(blank_comments(tree.text[path]), function(line, text)
        for before, name in text:gmatch("([%w_.>]*)%f[%w_]([%a_][%w_]*)%s*%(") do
          if contains(forbidden, name) and not before:match("[.>]$") then
            add(findings, path, line, "%s must not call %s", unit_of(path), name)
          end
        end
      end)
    end
  end
end

local function folders_of(tree)
  local folders = {}
  for _, path in ipairs(tree.paths) do
    local top, sub = path:match("^([%w_]+)/([%w_-]+)/")
    top = top or path:match("^([%w_]+)/")
    if top and contains({ "engine", "examples", "scripts", "suppliers", "tests" }, top) then
      folders[top] = true
      if sub and contains({ "engine", "examples" }, top) then
        folders[top .. "/" .. sub] = true
      end
    end
  end
  return folders
end

--- Every folder explains itself.
function M.readmes(tree, findings)
  for folder in pairs(folders_of(tree)) do
    local path = folder .. "/README.md"
    local text = tree.text[path]
    if not text then
      add(findings, path, 1, "this folder has no README.md")
    else
      local lines = 0
      each_line(text, function(_, line)
        lines = lines + (line:match("%S") and 1 or 0)
      end)
      if lines < 3 then
        add(findings, path, 1, "this README says nothing yet")
      end
    end
  end
end

local function exists(tree, path)
  if path == "" or tree.text[path] then
    return true
  end
  for _, other in ipairs(tree.paths) do
    if other:sub(1, #path + 1) == path .. "/" then
      return true
    end
  end
  return false
end

--- Resolves "." and ".." against a folder; nil when it leaves the tree.
local function resolve(folder, target)
  local parts = {}
  for part in (folder .. "/" .. target):gmatch("[^/]+") do
    if part == ".." then
      if #parts == 0 then
        return nil
      end
      table.remove(parts)
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

--- Links in Markdown lead to files that exist.
function M.markdown_links(tree, findings)
  for _, path in ipairs(tree.paths) do
    if path:match("%.md$") then
      local folder, in_code = path:match("^(.*)/") or "", false
      each_line(tree.text[path], function(line, text)
        if text:match("^%s*```") then
          in_code = not in_code
        end
        for target in (in_code and "" or text:gsub("`[^`]*`", "")):gmatch("%]%(([^)%s]+)") do
          local is_remote = target:match("^%a[%w+.-]*:") or target:match("^#")
          local resolved = not is_remote and resolve(folder, (target:gsub("#.*$", "")))
          if not is_remote and not (resolved and exists(tree, resolved)) then
            add(findings, path, line, "the link to %s leads nowhere", target)
          end
        end
      end)
    end
  end
end

local text_suffixes = { "c", "h", "lua", "md", "yaml", "yml", "sh", "txt", "cmake", "def", "" }

local function is_text(path)
  return contains(text_suffixes, path:match("%.(%w+)$") or "")
end

--- Work that was put off has no place in the tree: it is done, or it is an issue.
function M.leftovers(tree, findings)
  local words = { "TO" .. "DO", "FIX" .. "ME" }
  for _, path in ipairs(tree.paths) do
    if is_text(path) then
      each_line(tree.text[path], function(line, text)
        for _, word in ipairs(words) do
          if text:find("%f[%w_]" .. word .. "%f[^%w_]") then
            add(findings, path, line, "%s: do it, or file an issue", word)
          end
        end
      end)
    end
  end
end

--- All rules, in the order of their findings.
M.all = { "includes", "links", "sizes", "typedefs", "headers", "calls", "readmes", "markdown_links", "leftovers" }

return M
