-- expect: unknown_function.lua:3: there is no word finaly; did you mean finally?
scenario "a wrong play"
finaly { memory = 0 }
