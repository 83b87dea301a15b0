-- expect: no_reserve.lua:2: the reply is late: sent after
scenario "a wrong play"
at(0) { search = { budget = 800, reserve = 0 } }
at(0) { supplier = "a", hangs = true }
by(900) { expect_reply = { status = 504 } }
finally { memory = 0 }
