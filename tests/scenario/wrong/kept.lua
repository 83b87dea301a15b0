-- expect: offers of what is kept of a is 2, not 9
scenario "another answer is kept than the play says"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10 }

by(60)    { expect_reply = { status = 200 } }
finally   { kept = { a = { offers = 9 } } }
