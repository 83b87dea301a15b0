-- expect: unknown_supplier.lua:5: a supplier cannot be slwo; did you mean slow?
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "slow", answers = "empty" }
at(9) { expect_outcome = { slwo = "empty" } }
finally { memory = 0 }
