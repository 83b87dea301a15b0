-- expect: wrong_events.lua:5: events is { search, offers a 2, supplier a answered, done }, not { search, done }
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "a", answers = "offers_2" }
by(40) { expect_events = { "search", "done" } }
finally { memory = 0 }
