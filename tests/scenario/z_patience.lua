-- Searches that end early, the ceilings that nobody gave, and what is learned of answers.

scenario "it ends when the one that is out never came before"

at(0)     { search = { budget = 2000, patience = { early = true } } }
at(0)     { supplier = "dead", hangs = true, phase = "first_byte", past = { percent = 0, gave_up = 2500 } }
at(0)     { supplier = "sound", answers = "offers_3", after = 300, past = { from = 250, to = 350 } }

by(400)   { expect_reply = { status = 200, complete = false, offers = 3, missing = 1, cut_by_budget = false, early = true,
                             reasons = { "finished_early" },
                             outcomes = { dead = { "finished_early", phase = "first_byte", offers = 0 },
                                          sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { dead = { "cut", times = 1 }, sound = { "good", noted = 1, items = 3, won = true } } }
