-- What a supplier's script or server says is shown plain in what `try` prints for people and for programs.
-- variants: release asan
-- Nothing that a terminal obeys, no line that it forges.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal, json = world.test, world.equal, world.json

local HOUSE = world.folder .. "/hostile"
local SETTINGS, SEARCH, BODY = HOUSE .. "/lastcall.yaml", HOUSE .. "/search.json", HOUSE .. "/body.json"

os.execute(("rm -rf %s && mkdir -p %s/suppliers"):format(HOUSE, HOUSE))
world.write_file(SETTINGS, ("suppliers_dir: %s/suppliers\nscripts_dir: scripts\n"):format(HOUSE))
world.write_file(SEARCH, json.encode { query = world.query })
world.write_file(BODY, '{"offers":[]}')

-- Runs `try` of a supplier whose normalise is that.
local function try(normalise, ...)
  world.write_file(HOUSE .. "/suppliers/hostile.lua", [[
return {
  name = "hostile", product = "flights", owner = "hostile@example.com", hosts = { "api.hostile.example" },
  build_request = function() return { method = "GET", url = "https://api.hostile.example/" } end,
  normalise = function(response)
    local doc = response:json()
]] .. normalise .. [[

  end,
}
]])
  return world.shell(table.concat({ "TMPDIR=" .. world.folder, world.build .. "/lastcall try",
    "-c", SETTINGS, "hostile", SEARCH, "--body", BODY, ... }, " "))
end

local BYTES = [["\27[31mred\nsuppliers/zz.lua:3: error[E0001]: forged\r\7 \155 \194\155 \255 \226\128\174"]]

local CASES = {
  message = "error(" .. BYTES .. ")",
  bare = "error(" .. BYTES .. ", 0)",
  unexpected = "return fail.unexpected(" .. BYTES .. ")",
  supplier = "return fail.supplier { code = " .. BYTES .. ", message = " .. BYTES .. " }",
  key = "return doc[" .. BYTES .. "].x",
  keys = "doc = { [" .. BYTES .. "] = 1 } return doc.none.x",
}

for name, normalise in pairs(CASES) do
  test("nothing of it reaches the terminal: " .. name, function()
    for _, option in ipairs { "--no-color", "--json" } do
      local output = try(normalise, option)
      if option == "--no-color" then
        assert(output:find("error[E0", 1, true), output)
      end
      for _, bad in ipairs { "[%z\1-\8\11-\31]", "\194\155", "\226\128\174", "\255", "\nsuppliers/zz" } do
        assert(not output:find(bad), ("%q is in: %s"):format(bad, output))
      end
    end
  end)
end

test("an error that is no text is a bug of the script, with its line", function()
  local output, code = try("error({ doc })", "--no-color")
  equal(1, code, output)
  assert(output:find("hostile.lua:6: error[E0401]", 1, true), output)
end)

world.finish()
