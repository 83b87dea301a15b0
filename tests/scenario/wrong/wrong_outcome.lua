-- expect: wrong_outcome.lua:5: a is answered, not cut
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "a", answers = "offers_2", after = 10 }
by(800) { expect_reply = { outcomes = { a = "cut" } } }
finally { memory = 0 }
