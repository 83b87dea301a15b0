-- expect: unknown_word.lua:3: a search has no word budgt; did you mean budget?
scenario "a wrong play"
at(0) { search = { budgt = 800 } }
