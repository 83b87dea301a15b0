--- Checks the tree against the layer table and the house rules (rules.lua).
--
--   luajit tests/lint/lint.lua [ROOT]
--
-- Findings go to standard output as file:line: sentence. Exit code 0: none, 1: some, 2: the tree could not be read.

local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path

local rules = require("rules")

local function shell_quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- All files below the root except what is built, versioned or recorded.
local function read_tree(root)
  local tree = { root = root, paths = {}, text = {} }
  local command = "cd " .. shell_quote(root) .. " && find . \\( -name .git -o -name .build \\) -prune -o -type f -print"
  local pipe = assert(io.popen(command))
  for path in pipe:lines() do
    path = path:gsub("^%./", "")
    local file = io.open(root .. "/" .. path, "rb")
    if file then
      tree.text[path] = file:read("*a")
      tree.paths[#tree.paths + 1] = path
      file:close()
    end
  end
  pipe:close()
  table.sort(tree.paths)
  return tree
end

local function main(root)
  local tree = read_tree(root)
  if #tree.paths == 0 then
    io.stderr:write("lint: no files below ", root, "\n")
    return 2
  end
  local findings = {}
  for _, name in ipairs(rules.all) do
    rules[name](tree, findings)
  end
  table.sort(findings, function(a, b)
    if a.path ~= b.path then
      return a.path < b.path
    end
    if a.line ~= b.line then
      return a.line < b.line
    end
    return a.message < b.message
  end)
  for _, finding in ipairs(findings) do
    print(string.format("%s:%d: %s", finding.path, finding.line, finding.message))
  end
  print(string.format("lint: %d files, %d rules, %d findings", #tree.paths, #rules.all, #findings))
  return #findings == 0 and 0 or 1
end

os.exit(main(arg[1] or "."))
