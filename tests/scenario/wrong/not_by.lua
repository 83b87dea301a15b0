-- expect: not_by.lua:5: the reply was sent after 51.100 ms, not by 40
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "a", answers = "offers_2", after = 50 }
by(40) { expect_reply = { status = 200 } }
finally { memory = 0 }
