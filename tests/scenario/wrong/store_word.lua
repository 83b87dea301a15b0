-- expect: the store has no word slise; did you mean slice?
scenario "a word of the store is misspelt"

at(0)     { store = { slise = 10 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10 }

by(60)    { expect_reply = { status = 200 } }
finally   { references = 0 }
