scenario "the smaller of ceiling and budget names the bound"

at(0)    { search = { budget = 800, suppliers = { "quick", "slow", "hung" } } }
at(0)    { supplier = "quick", answers = "offers_3", after = 120 }
at(0)    { supplier = "slow",  answers = "offers_5", after = 700, ceiling = 400 }
at(0)    { supplier = "hung",  hangs = true }

at(400)  { expect_outcome = { slow = { "cut", bound = "ceiling", phase = "first_byte" } } }
by(800)  { expect_reply = { offers = 3, complete = false, reasons = { "budget", "ceiling" },
                            outcomes = { quick = "answered", slow = "cut", hung = { "cut", bound = "budget" } } } }
finally  { breaker = { hung = "no_failure" }, references = 0, memory = 0 }
