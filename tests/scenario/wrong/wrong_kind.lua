-- expect: wrong_kind.lua:3: budget of a search must be a number of milliseconds, not soon
scenario "a wrong play"
at(0) { search = { budget = "soon" } }
