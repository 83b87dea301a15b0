-- expect: unknown_line.lua:3: a line has no word expect_outcomes; did you mean expect_outcome?
scenario "a wrong play"
at(0) { expect_outcomes = {} }
