-- Makes suppliers with one fault in one of their functions.
local words = require("words")

local faults = {}

function faults.loop()
  while true do end
end

function faults.caught_loop()
  pcall(function()
    while true do end
  end)
  return "caught"
end

function faults.loop_of_pcalls()
  while true do
    pcall(error, "again")
  end
end

function faults.recursive_pcall()
  local function again()
    pcall(again)
    pcall(again)
  end
  again()
end

function faults.endless_handler()
  local function handler()
    xpcall(error, handler)
    while true do end
  end
  xpcall(error, handler)
end

function faults.rep_bomb()
  local s = "x"
  while true do
    s = s:rep(1000)
  end
end

function faults.joined_bomb()
  local s = ("x"):rep(1000)
  while true do
    s = s .. s
  end
end

function faults.caught_bomb()
  local s = ("x"):rep(1000)
  while true do
    pcall(function()
      s = s .. s
    end)
  end
end

function faults.endless_table()
  local t = {}
  local i = 0
  while true do
    i = i + 1
    t[i] = { i }
  end
end

function faults.pattern_bomb()
  return string.find(("a"):rep(60), ("a-"):rep(60) .. "b")
end

-- Stays inside one C function, and comes back before the test ends. Only tests have it.
function faults.stuck()
  stick(700)
end

function faults.deep_gsub()
  local function again()
    return string.gsub("a", "a", again)
  end
  again()
end

function faults.write_search(search)
  search.query.thing = "stolen"
end

function faults.write_item(search)
  search.query.list[1] = "stolen"
end

function faults.insert_item(search)
  table.insert(search.query.list, words.shout("stolen"))
end

function faults.plain()
  local none
  return none.field
end

function faults.raise_table()
  error({})
end

function faults.quota()
  error(fail.quota({ retry_after = 7 }))
end

local M = {}

--- A supplier whose function `place` has the fault; the others are healthy.
function M.supplier(name, fault, place)
  local function at(here, result)
    return function(first, second)
      if here == place then
        local said = faults[fault](here == "normalise" and second or first)
        return said or result
      end
      return result
    end
  end
  return {
    name = name,
    product = "shop",
    owner = "shop@example.com",
    hosts = { "api.faulty.example" },
    options = { base_url = "https://api.faulty.example" },
    skip = at("skip", nil),
    ceiling = at("ceiling", 60000),
    build_request = at("build_request", { path = "/" }),
    normalise = at("normalise", {}),
  }
end

return M
