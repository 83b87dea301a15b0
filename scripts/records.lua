-- Records: reads an XML answer by a table of names, so that the dialects of one standard differ in data only.
--
-- A record is `{ field = "path", … }`; a field that is a record itself has its place in `at`, and with `is_lazy` is a
-- function that reads it. Paths go from the element in hand by names with dots between: "Price.TotalAmount.@CurCode". A
-- name with [] is a list, and lists within lists are joined. What stands behind a bar is tried when there is nothing
-- before it; behind a colon stands the kind of value: text unless said, decimal, integer, flag, or refs (names with
-- blanks between, which become a list). What is empty is absent.

local M = {}

local LEAVES = { text = text, decimal = decimal, integer = integer, flag = flag, refs = text }

-- "A.B[].@c" as { { name = "A" }, { name = "B", is_list = true }, { name = "@c" } }.
local function steps_of(path)
  local steps = {}
  for step in path:gmatch("[^%.]+") do
    local name = step:match("^(.*)%[%]$")
    steps[#steps + 1] = { name = name or step, is_list = name ~= nil }
  end
  return steps
end

-- The node of the shape at the end of the steps; `leaf` is put there, or it is an element with more below.
local function declare(node, steps, leaf)
  for i, step in ipairs(steps) do
    local is_leaf = leaf and i == #steps
    local below = node[step.name]
    if is_leaf then
      below = leaf
    elseif below and step.is_list then
      below = below[1]
    else
      below = below or {}
    end
    if is_leaf or not node[step.name] then
      node[step.name] = step.is_list and { below } or below
    end
    node = below
  end
  return node
end

local function keep(found, value)
  if value ~= "" then
    found[#found + 1] = value
  end
end

-- Appends what stands at the end of the steps; false when there is nothing, not even an empty list.
local function collect(node, steps, at, found)
  local step = steps[at]
  local value = node[step.name]
  if value == nil then
    return false
  end
  if not step.is_list then
    if at < #steps then
      return collect(value, steps, at + 1, found)
    end
    keep(found, value)
    return true
  end
  if at == #steps then
    for i = 1, #value do
      keep(found, value[i])
    end
    return true
  end
  local is_there = #value == 0
  for i = 1, #value do
    is_there = collect(value[i], steps, at + 1, found) or is_there
  end
  return is_there
end

local function has_list(steps)
  return first(steps, function(step)
    return step.is_list
  end) ~= nil
end

local function split(value)
  local names = {}
  for name in value:gmatch("%S+") do
    names[#names + 1] = name
  end
  return names
end

-- One way to a value: a function of the element.
local function way_of(node, path)
  local names, kind = path:match("^(.*):(%l+)$")
  local steps = steps_of(names or path)
  declare(node, steps, LEAVES[kind or "text"])
  if has_list(steps) then
    return function(element)
      local found = {}
      if not collect(element, steps, 1, found) then
        return nil
      end
      return kind == "refs" and split(table.concat(found, " ")) or found
    end
  end
  return function(element)
    for i = 1, #steps do
      element = element[steps[i].name]
      if element == nil then
        return nil
      end
    end
    if element == "" then
      return nil
    end
    return kind == "refs" and split(element) or element
  end
end

local function field_of(node, paths)
  local ways = {}
  for path in paths:gmatch("[^|]+") do
    ways[#ways + 1] = way_of(node, path)
  end
  if #ways == 1 then
    return ways[1]
  end
  return function(element)
    for i = 1, #ways do
      local value = ways[i](element)
      if value ~= nil then
        return value
      end
    end
    return nil
  end
end

local function record_of(node, fields)
  local names, readers = {}, {} -- lists: an answer has thousands of elements
  local function add(name, reader)
    names[#names + 1], readers[#names + 1] = name, reader
  end
  for name, field in sorted_pairs(fields) do
    if name ~= "at" and name ~= "is_lazy" then
      if type(field) == "string" then
        add(name, field_of(node, field))
      elseif field then
        local steps = steps_of(field.at)
        local record = record_of(declare(node, steps), field)
        local is_list = has_list(steps)
        local function below(element)
          local found = {}
          if not collect(element, steps, 1, found) then
            return nil
          elseif not is_list then
            return record(found[1])
          end
          for i = 1, #found do
            found[i] = record(found[i])
          end
          return found
        end
        add(name, not field.is_lazy and below or function(element)
          return function()
            return below(element)
          end
        end)
      end
    end
  end
  return function(element)
    local record = {}
    for i = 1, #readers do
      record[names[i]] = readers[i](element)
    end
    return record
  end
end

--- One table of both, deep; what `changes` says counts. A field that is false is none.
function M.merge(base, changes)
  local merged = {}
  for name, value in pairs(base) do
    merged[name] = value
  end
  for name, value in pairs(changes) do
    local was = merged[name]
    merged[name] = type(was) == "table" and type(value) == "table" and M.merge(was, value) or value
  end
  return merged
end

--- A function of a response that gives the record of its root element, or nil when the root has another name.
function M.reader(root, fields)
  local below = {}
  local record = record_of(below, fields)
  local shape = { [root] = below }
  return function(response)
    local element = response:xml(shape)[root]
    return element and record(element)
  end
end

return M
