-- expect: wrong_number.lua:5: a's offers is 2, not 3
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "a", answers = "offers_2", after = 10 }
at(100) { expect_outcome = { a = { "answered", offers = 3 } } }
finally { memory = 0 }
