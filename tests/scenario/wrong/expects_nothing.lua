-- expect: expects_nothing.lua:2: the play expects nothing
scenario "a wrong play"
at(0) { search = { budget = 800 } }
finally { memory = 0 }
