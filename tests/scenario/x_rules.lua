-- Rules of the settings: the deadline of a kind of search, and the ceilings of its suppliers.

-- ------------------------------------------------------------------------------------------------------- the deadline

scenario "a rule's deadline is the budget of a search that names none"

at(0)     { search = { facts = { device = "mobile", lead_days = 3 } },
            rules = { { when = { device = "mobile", lead_days = { most = 6 } }, deadline = 1500 } } }
at(0)     { supplier = "hung", hangs = true }
at(0)     { supplier = "quick", answers = "offers_1", after = 100 }

at(1400)  { expect_outcome = { hung = "pending" } }
by(1500)  { expect_reply = { at = 1490, outcomes = { hung = { "cut", bound = "budget" }, quick = "answered" },
                             budget = { ms = 1500, requested = 1500, from = "rule", rule = "rules:1",
                                        clamped = false } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule that does not fit leaves the default"

at(0)     { search = { facts = { device = "mobile", lead_days = 7 } },
            rules = { { when = { device = "mobile", lead_days = { most = 6 } }, deadline = 1500 } } }
at(0)     { supplier = "hung", hangs = true }

by(2000)  { expect_reply = { at = 1990, budget = { ms = 2000, from = "default", rule = "" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule can give more time than the default"

at(0)     { search = { facts = { trip_type = "multi_city" } },
            rules = { { when = { trip_type = "multi_city" }, deadline = 3000 } } }
at(0)     { supplier = "slow", answers = "offers_2", after = 2500 }

at(2100)  { expect_outcome = { slow = "pending" } }
by(2700)  { expect_reply = { complete = true, offers = 2, budget = { ms = 3000, from = "rule" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a caller who waits longer than the rule gets the rule's deadline, and is told"

at(0)     { search = { budget = 2500, facts = { device = "mobile" } },
            rules = { { when = { device = "mobile" }, deadline = 900 } } }
at(0)     { supplier = "hung", hangs = true }

by(900)   { expect_reply = { at = 890, budget = { ms = 900, requested = 2500, from = "rule", rule = "rules:1",
                                                  clamped = true } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a caller who waits less than the rule keeps his own deadline"

at(0)     { search = { budget = 600, facts = { device = "mobile" } },
            rules = { { when = { device = "mobile" }, deadline = 900 } } }
at(0)     { supplier = "hung", hangs = true }

by(600)   { expect_reply = { at = 590, budget = { ms = 600, from = "caller", rule = "", clamped = false } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "the first rule that fits gives the deadline"

at(0)     { search = { facts = { device = "app", market = "GB" } },
            rules = { { when = { device = { "mobile", "tablet" } }, deadline = 300 },
                      { when = { device = { "mobile", "app" }, market = "GB" }, deadline = 700 },
                      { deadline = 400 } } }
at(0)     { supplier = "hung", hangs = true }

by(700)   { expect_reply = { at = 690, budget = { ms = 700, rule = "rules:2" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule that is known only after its deadline ends the search at once"

at(0)     { machine = { queue = 500 } }
at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, deadline = 300 } } }
at(0)     { supplier = "a", answers = "offers_1", after = 100 }

by(530)   { expect_reply = { status = 504, requests = 0, budget = { from = "rule", clamped = true },
                             outcomes = { a = { "too_late", asked = false } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "while the product has not spoken the default holds, whatever a rule would give"

at(0)     { machine = { queue = 5000 } }
at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, deadline = 9000 } } }
at(0)     { supplier = "a", answers = "offers_1", after = 100 }

by(2000)  { expect_reply = { status = 504, budget = { ms = 2000, from = "default" },
                             outcomes = { a = { "cut", bound = "budget", phase = "script_queue" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a deadline that cannot be armed leaves the search as it was"

at(0)     { machine = { refuses_timer = 2 } }
at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, deadline = 300 } } }
at(0)     { supplier = "a", answers = "offers_1", after = 500 }

by(600)   { expect_reply = { complete = true, budget = { ms = 2000, from = "default", rule = "" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "what is kept for the reply follows the deadline"

at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, deadline = 100 } } }
at(0)     { supplier = "hung", hangs = true }
at(0)     { machine = { exact = true } }

by(100)   { expect_reply = { at = 95, budget = { ms = 100, from = "rule", reserve = 5 } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a caller who leaves is not asked how long he waits"

at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, deadline = 1500 } } }
at(0)     { supplier = "hung", hangs = true }
at(200)   { caller = "leaves" }
finally   { outcomes = { hung = "cancelled" }, replies = 0, references = 0, memory = 0, fetches = 0, timers = 0 }

-- ------------------------------------------------------------------------------------------------------- the ceilings

scenario "a rule's ceiling wins over the script's, upwards and downwards"

at(0)     { search = { facts = { market = "GB" } },
            rules = { { when = { market = "GB" }, supplier = { "up" }, ceiling = 900 },
                      { when = { market = "GB" }, supplier = { "down" }, ceiling = 200 } } }
at(0)     { supplier = "down", answers = "offers_3", after = 400, ceiling = 900 }
at(0)     { supplier = "other", answers = "offers_3", after = 400, ceiling = 300 }
at(0)     { supplier = "up", answers = "offers_3", after = 400, ceiling = 200 }

by(450)   { expect_reply = { outcomes = {
              down = { "cut", bound = "ceiling", ceiling = 200, ceiling_from = "rule", rules = { "rules:2" } },
              other = { "cut", bound = "ceiling", ceiling = 300, ceiling_from = "script", rules = {} },
              up = { "answered", ceiling = 900, ceiling_from = "rule", rules = { "rules:1" } } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a supplier's own setting ranks behind every rule and before the script"

at(0)     { search = { facts = { market = "GB" } },
            rules = { { when = { market = "GB" }, supplier = { "a" }, ceiling = 500 },
                      { when = { market = "DE" }, supplier = { "b" }, ceiling = 500 } } }
at(0)     { supplier = "a", hangs = true, ceiling = 900, rule = 200 }
at(0)     { supplier = "b", hangs = true, ceiling = 900, rule = 300 }

by(510)   { expect_reply = { outcomes = { a = { ceiling = 500, ceiling_from = "rule" },
                                          b = { ceiling = 300, ceiling_from = "settings", rules = {} } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a scale shortens what the script, the settings or a rule says"

at(0)     { search = { facts = { device = "mobile" } },
            rules = { { when = { device = "mobile" }, scale = 50 },
                      { supplier = { "c" }, ceiling = 800 } } }
at(0)     { supplier = "a", hangs = true, ceiling = 600 }
at(0)     { supplier = "b", hangs = true, rule = 400 }
at(0)     { supplier = "c", hangs = true, ceiling = 100 }
at(0)     { supplier = "d", answers = "offers_1", after = 1000 }

by(1100)  { expect_reply = { outcomes = {
              a = { "cut", ceiling = 300, ceiling_from = "script", rules = { "rules:1" } },
              b = { "cut", ceiling = 200, ceiling_from = "settings", rules = { "rules:1" } },
              c = { "cut", ceiling = 400, ceiling_from = "rule", rules = { "rules:2", "rules:1" } },
              d = { "answered", rules = {} } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a limit is the ceiling of whoever has a longer one or none"

at(0)     { search = { facts = { device = "mobile" } }, rules = { { when = { device = "mobile" }, max = 300 } } }
at(0)     { supplier = "long", hangs = true, ceiling = 900 }
at(0)     { supplier = "none", hangs = true }
at(0)     { supplier = "short", hangs = true, ceiling = 200 }

by(310)   { expect_reply = { reasons = { "ceiling" }, outcomes = {
              long = { "cut", bound = "ceiling", ceiling = 300, ceiling_from = "rule", rules = { "rules:1" } },
              none = { "cut", bound = "ceiling", ceiling = 300, ceiling_from = "rule", rules = { "rules:1" } },
              short = { "cut", bound = "ceiling", ceiling = 200, ceiling_from = "script", rules = {} } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "each setting is looked for by itself: a number, a scale and a limit may come from three rules"

at(0)     { search = { facts = { device = "mobile", market = "GB", lead_days = 40 } },
            rules = { { when = { lead_days = { least = 30 } }, scale = 50 },
                      { when = { market = "GB" }, ceiling = 900, scale = 90 },
                      { when = { device = "mobile" }, ceiling = 100, max = 400 } } }
at(0)     { supplier = "a", hangs = true, ceiling = 200 }

by(410)   { expect_reply = { outcomes = { a = { "cut", bound = "ceiling", ceiling = 400, ceiling_from = "rule",
                                                rules = { "rules:3" } } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a rule for the deadline and one for a ceiling act together, and the smaller names the bound"

at(0)     { search = { facts = { device = "mobile" } },
            rules = { { when = { device = "mobile" }, deadline = 1000 },
                      { when = { device = "mobile" }, supplier = { "b" }, ceiling = 1200 },
                      { when = { device = "mobile" }, supplier = { "c" }, ceiling = 600 } } }
at(0)     { supplier = "b", hangs = true }
at(0)     { supplier = "c", hangs = true }

by(1000)  { expect_reply = { budget = { ms = 1000 }, outcomes = { b = { "cut", bound = "budget", ceiling = 1200 },
                                                                  c = { "cut", bound = "ceiling", ceiling = 600 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a fact that the search does not have fits no condition"

at(0)     { search = { budget = 1000, facts = { device = "mobile", market = "" } },
            rules = { { when = { market = { least = 0 } }, ceiling = 100 },
                      { when = { market = "GB" }, ceiling = 200 } } }
at(0)     { supplier = "a", hangs = true, ceiling = 400 }

by(410)   { expect_reply = { outcomes = { a = { "cut", ceiling = 400, ceiling_from = "script", rules = {} } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a stranger is told neither of rules nor of ceilings"

at(0)     { search = { detail = "public", facts = { device = "mobile" } },
            rules = { { when = { device = "mobile" }, deadline = 500, ceiling = 300 } } }
at(0)     { supplier = "a", hangs = true }
at(0)     { supplier = "b", answers = "offers_1", after = 50 }

by(500)   { expect_reply = { budget = { ms = 500, from = "rule", rule = "" }, seen = { a = "late", b = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
