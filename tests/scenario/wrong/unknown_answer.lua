-- expect: unknown_answer.lua:4: answers cannot be quotta; did you mean quota?
scenario "a wrong play"
at(0) { search = { budget = 800 } }
at(0) { supplier = "a", answers = "quotta" }
