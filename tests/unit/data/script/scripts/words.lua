-- A helper module of the test scripts.
local M = { greeting = "hello", nested = { list = { "a", "b" } } }

function M.shout(text)
  return text:upper() .. "!"
end

return M
