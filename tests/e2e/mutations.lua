-- Mutations: a supplier's answer, changed as suppliers change theirs. The text is edited where a test names a place;
-- everything else keeps its bytes.
--
--   local list = mutations.of(text, { fields = { "offers[].total_amount" }, lists = { "offers[].slices" } })
--   list[1].name, list[1].text          -- "offers[].total_amount renamed", the whole answer
--
-- A place is the tail of a path. JSON: `offers[].price`, `[]` is any element and `[2]` the second one. XML, by local
-- names: `Offer/Price`, `Offer[2]/Price` (the second Offer of its parent), `Price/@Currency`.
local json = require("cjson")

local M = {}

-- ---- where things stand --------------------------------------------------------------------------------------------

local function skip_space(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

-- The last byte of the string that begins here.
local function end_of_string(text, from)
  local at = from + 1
  while true do
    local found = assert(text:find("[\"\\]", at), "a string without an end")
    if text:sub(found, found) == "\"" then
      return found
    end
    at = found + 2
  end
end

local walk_value

local function walk_members(text, from, path, visit)
  local at = skip_space(text, from + 1)
  while text:sub(at, at) ~= "}" do
    local name_to = end_of_string(text, at)
    local name = text:sub(at + 1, name_to - 1)
    local colon = skip_space(text, name_to + 1)
    assert(text:sub(colon, colon) == ":", "a colon is expected at byte " .. colon)
    local value_from = skip_space(text, colon + 1)
    local below = path .. "." .. name
    local value_to = walk_value(text, value_from, below, visit)
    visit(below, { from = at, name_from = at + 1, name_to = name_to - 1, value_from = value_from, to = value_to })
    at = skip_space(text, value_to + 1)
    at = text:sub(at, at) == "," and skip_space(text, at + 1) or at
  end
  return at
end

local function walk_elements(text, from, path, visit)
  local at, index = skip_space(text, from + 1), 0
  while text:sub(at, at) ~= "]" do
    index = index + 1
    local below = ("%s[%d]"):format(path, index)
    local to = walk_value(text, at, below, visit)
    visit(below, { from = at, value_from = at, to = to })
    at = skip_space(text, to + 1)
    at = text:sub(at, at) == "," and skip_space(text, at + 1) or at
  end
  return at
end

-- Visits all that is below; returns the last byte of the value.
function walk_value(text, from, path, visit)
  local first = text:sub(from, from)
  if first == "{" then
    return walk_members(text, from, path, visit)
  elseif first == "[" then
    return walk_elements(text, from, path, visit)
  elseif first == "\"" then
    return end_of_string(text, from)
  end
  local _, to = text:find("^[%w.+-]+", from)
  return assert(to, "a value is expected at byte " .. from)
end

local function walk_attributes(text, from, to, path, visit)
  local tag, at = text:sub(from, to), 1 -- a search would go on behind the tag
  local before = from - 1
  while true do
    local name_from, name_to, quote = tag:find("[^%s=/<>]+%s*=%s*([\"'])", at)
    if not name_from then
      return
    end
    local value_to = assert(tag:find(quote, name_to + 1, true))
    local name = tag:match("^[^%s=]+", name_from)
    local begin = name_from -- with the spaces before it
    while begin > 1 and tag:find("^%s", begin - 1) do
      begin = begin - 1
    end
    visit(path .. "/@" .. name:match("[^:]+$"), { from = before + begin, to = before + value_to,
      name_from = before + name_from, name_to = before + name_from + #name - 1, value_from = before + name_to + 1,
      value_to = before + value_to - 1 })
    at = value_to + 1
  end
end

local SKIPPED = { { "<!--", "-->" }, { "<![CDATA[", "]]>" }, { "<?", "?>" }, { "<!", ">" } }

-- Behind a comment, CDATA, instruction or declaration that begins here; nil when it is a tag.
local function behind_skipped(text, at)
  for _, pair in ipairs(SKIPPED) do
    if text:sub(at, at + #pair[1] - 1) == pair[1] then
      local _, to = assert(text:find(pair[2], at + #pair[1], true))
      return to + 1
    end
  end
  return nil
end

local function close(text, stack, at, to, visit)
  local element = assert(table.remove(stack), "an end without a begin at byte " .. at)
  visit(element.path, { from = element.from, to = to, name_from = element.name_from, name_to = element.name_to,
    end_name_from = at + 2, end_name_to = at + 1 + #text:match("^[^%s>]+", at + 2), value_from = element.inner,
    value_to = at - 1 })
end

local function walk_xml(text, visit)
  local stack, counts = {}, { [0] = {} }
  local at = text:find("<", 1, true)
  while at do
    local next_at = behind_skipped(text, at)
    local to = not next_at and assert(text:find(">", at, true))
    if to and text:sub(at + 1, at + 1) == "/" then
      close(text, stack, at, to, visit)
    elseif to then
      local name = text:match("^[^%s/>]+", at + 1)
      local plain, seen = name:match("[^:]+$"), counts[#stack]
      seen[plain] = (seen[plain] or 0) + 1
      local path = ("%s/%s[%d]"):format(#stack > 0 and stack[#stack].path or "", plain, seen[plain])
      walk_attributes(text, at + 1 + #name, to, path, visit)
      if text:sub(to - 1, to - 1) == "/" then
        visit(path, { from = at, to = to, name_from = at + 1, name_to = at + #name })
      else
        stack[#stack + 1] = { path = path, from = at, name_from = at + 1, name_to = at + #name, inner = to + 1 }
        counts[#stack] = {}
      end
    end
    at = text:find("<", next_at or to + 1, true)
  end
  assert(#stack == 0, "an element without an end")
end

local function is_xml(text)
  return text:match("^%s*<") ~= nil or text:match("^\239\187\191%s*<") ~= nil
end

-- Does the path end in the place?
local function pattern_of(place, xml)
  local pattern = place:gsub("[%%%-%+%*%?%^%$%(%)%.]", "%%%0")
  if xml then
    local steps = {}
    for step in pattern:gmatch("[^/]+") do
      local indexed = step:gsub("%[(%d+)%]$", "%%[%1%%]")
      steps[#steps + 1] = (step:find("^@") or indexed ~= step) and indexed or step .. "%[%d+%]"
    end
    return "/" .. table.concat(steps, "/") .. "$"
  end
  pattern = pattern:gsub("%[(%d*)%]", function(index)
    return "%[" .. (index == "" and "%d+" or index) .. "%]"
  end)
  return (place:sub(1, 1) == "[" and "" or "%.") .. pattern .. "$"
end

-- The spans of all places at once, in their order in the text.
local function find_spans(text, places)
  local xml, spans, patterns = is_xml(text), {}, {}
  for _, place in ipairs(places) do
    spans[place], patterns[place] = {}, pattern_of(place, xml)
  end
  local function visit(path, span)
    for place, pattern in pairs(patterns) do
      if path:find(pattern) then
        table.insert(spans[place], span)
      end
    end
  end
  if xml then
    walk_xml(text, visit)
  else
    walk_value(text, skip_space(text, 1), "", visit)
  end
  for _, place in ipairs(places) do
    assert(#spans[place] > 0, "there is no " .. place .. " in the answer")
  end
  return spans
end

-- ---- what is changed -----------------------------------------------------------------------------------------------

-- Each edit is { from, to, new }; what lies within an edit before it is passed over.
local function apply(text, edits)
  table.sort(edits, function(a, b)
    return a[1] < b[1]
  end)
  local pieces, at = {}, 1
  for _, edit in ipairs(edits) do
    if edit[1] >= at then
      pieces[#pieces + 1] = text:sub(at, edit[1] - 1)
      pieces[#pieces + 1] = edit[3]
      at = edit[2] + 1
    end
  end
  pieces[#pieces + 1] = text:sub(at)
  return table.concat(pieces)
end

local JSON = {}

function JSON.renamed(_, span)
  return { { span.name_to + 1, span.name_to, "_v2" } }
end

function JSON.null(_, span)
  return { { span.value_from, span.to, "null" } }
end

-- With the comma behind it, or else the one before it.
function JSON.absent(text, span)
  local comma = text:match("^%s*,()", span.to + 1)
  if comma then
    return { { span.from, comma - 1, "" } }
  end
  local from = span.from
  while text:sub(from - 1, from - 1):find("[%s,]") do
    from = from - 1
    if text:sub(from, from) == "," then
      return { { from, span.to, "" } }
    end
  end
  return { { span.from, span.to, "" } }
end

-- A number for a string, a string for a number or a word, a number for a list or an object.
function JSON.retyped(text, span)
  local value = text:sub(span.value_from, span.to)
  local inner = value:match("^\"(.*)\"$")
  local new = "\"" .. value .. "\""
  if inner or value:find("^[%[{]") then
    new = inner and inner:match("^[1-9]%d*%.?%d+$") or "7"
  end
  return { { span.value_from, span.to, new } }
end

function JSON.emptied(text, span)
  local first = text:sub(span.value_from, span.value_from)
  assert(first == "[" or first == "{", "no list at byte " .. span.value_from)
  return { { span.value_from, span.to, first == "[" and "[]" or "{}" } }
end

local XML = {}

function XML.renamed(_, span)
  return { { span.name_to + 1, span.name_to, "V2" },
    span.end_name_to and { span.end_name_to + 1, span.end_name_to, "V2" } or nil }
end

-- XML has no null: the element or attribute is there and has nothing in it.
function XML.null(_, span)
  return span.value_from and { { span.value_from, span.value_to, "" } } or {}
end

function XML.absent(_, span)
  return { { span.from, span.to, "" } }
end

-- XML has no types: a word where a number or a time was.
function XML.retyped(_, span)
  return span.value_from and { { span.value_from, span.value_to, "n/a" } } or {}
end

XML.emptied = XML.null

local FIELD_KINDS = { "renamed", "null", "absent", "retyped" }

local function change(text, spans, kind)
  local edits = {}
  local edit = (is_xml(text) and XML or JSON)[kind]
  for _, span in ipairs(spans) do
    if span.name_from or kind ~= "renamed" and kind ~= "absent" then -- nobody can miss an element of a list
      for _, one in ipairs(edit(text, span)) do
        edits[#edits + 1] = one
      end
    end
  end
  return apply(text, edits)
end

--- places: fields (renamed, null, absent, of another type), ids (likewise, of fields that ids of offers come from),
--- lists (emptied), nothing (lists that are empty when there is nothing for sale: emptied too, and the answer then
--- says "empty"), whole (true: all of it emptied, for an answer without lists). The last one is cut in half. Each has
--- `name`, `text`, `says_nothing`, `is_of_ids`. What is the same as before is left out.
function M.of(text, places)
  local all, list = {}, {}
  for _, kind in ipairs { "fields", "ids", "lists", "nothing" } do
    for _, place in ipairs(places[kind] or {}) do
      all[#all + 1] = place
    end
  end
  local spans = find_spans(text, all)
  local function add(place, kind, more)
    local changed = change(text, spans[place], kind)
    if changed ~= text then
      if not is_xml(text) then
        json.decode(changed) -- it is still JSON
      end
      local mutation = { name = place .. " " .. kind, text = changed }
      if more then
        mutation[more] = true
      end
      list[#list + 1] = mutation
    end
  end
  for _, kind in ipairs(FIELD_KINDS) do
    for _, place in ipairs(places.fields or {}) do
      add(place, kind)
    end
    for _, place in ipairs(places.ids or {}) do
      add(place, kind, "is_of_ids")
    end
  end
  for _, place in ipairs(places.lists or {}) do
    add(place, "emptied")
  end
  for _, place in ipairs(places.nothing or {}) do
    add(place, "emptied", "says_nothing")
  end
  if places.whole then
    list[#list + 1] = { name = "all emptied", text = "{}" }
  end
  list[#list + 1] = { name = "cut in half", text = text:sub(1, math.floor(#text / 2)) }
  return list
end

-- What every file has: a name in place of another, nothing, another type, a list without elements, half of it.
local NEEDED = { "renamed", "null", "retyped", "emptied", "cut in half" }

--- Prints how many mutations of each kind there are of a file; raises when one of the five kinds is missing.
function M.tell(file, list)
  local counts, words = {}, {}
  for _, mutation in ipairs(list) do
    local kind = mutation.name:match("(cut in half)$") or mutation.name:match("%S+$")
    counts[kind] = (counts[kind] or 0) + 1
  end
  for _, kind in ipairs { "renamed", "null", "absent", "retyped", "emptied", "cut in half" } do
    words[#words + 1] = ("%d %s"):format(counts[kind] or 0, kind)
  end
  print(("# file %s: %d mutations: %s"):format(file, #list, table.concat(words, ", ")))
  for _, kind in ipairs(NEEDED) do
    assert(counts[kind], ("%s: nothing is %s"):format(file, kind))
  end
end

return M
