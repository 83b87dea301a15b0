-- For loading: a pattern that backtracks for longer than anybody waits, at the top of the file.
local found = ("a"):rep(40):find(("a-"):rep(40) .. "b")

return { name = "boom", product = "flights", owner = found }
