std = "luajit"
max_line_length = 120
codes = true

-- What a script sees in its sandbox, beside a part of Lua's own library.
local helpers = {
  "json", "url", "crypto", "time", "money", "log", "fail", "map", "filter", "first", "get", "lookup", "sorted_pairs",
  "xml", "soap", "form",
  "text", "decimal", "integer", "flag", "raw", "map_of", "plan", "up", "const", "ref", "asked",
}

local sandbox = {
  globals = {},
  read_globals = {
    "assert", "error", "ipairs", "next", "pairs", "pcall", "xpcall", "rawequal", "rawget", "require", "select",
    "tonumber", "tostring", "type", "unpack", "string", "table", "math", "bit", "setmetatable", "getmetatable",
  },
}
for _, name in ipairs(helpers) do
  table.insert(sandbox.read_globals, name)
end

stds.sandbox = sandbox

files["scripts"] = { std = "sandbox" }
files["suppliers"] = { std = "sandbox" }
files["examples/farm/suppliers"] = { std = "sandbox" }
files["examples/farm/hotels"] = { std = "sandbox" }
files["examples/farm/gates"] = { std = "sandbox" }
files["examples/multi-node/suppliers"] = { std = "sandbox" }
files["tests/unit/data"] = { std = "sandbox", read_globals = { "stick" } }
files["tests/unit/data/**/faulty.lua"] = { std = "sandbox", read_globals = { "stick" }, ignore = { "2" } } -- broken on purpose
files["tests/e2e/suppliers"] = { std = "sandbox", ignore = { "2" } } -- some are broken on purpose
files["tests/e2e/killers"] = { std = "sandbox", ignore = { "2", "511" } } -- broken on purpose
files["tests/bench/decode_shapes.lua"] = { std = "sandbox" }
files["tests/e2e/hog"] = { std = "sandbox" }
files["tests/e2e/revalidators"] = { std = "sandbox" }
files["tests/e2e/logins"] = { std = "sandbox" }
files["tests/e2e/strained"] = { std = "sandbox" }
files["tests/e2e/stuck"] = { std = "sandbox" }
files["tests/e2e/leaky"] = { std = "sandbox" }
files["tests/e2e/gate"] = { std = "sandbox" }
files["tests/lint"] = { ignore = { "631" } } -- tables and whole sources as texts
files["scripts/types"] = { std = "sandbox", ignore = { "111", "112", "113", "131", "121", "122", "212" } }
files["tests/scenario"] = { read_globals = { "scenario", "at", "by", "finally", "play_once" } }
files["tests/scenario/wrong"] = { read_globals = { "finaly" } } -- broken on purpose
files["tests/lua"] = { std = "luajit+busted", globals = helpers }
