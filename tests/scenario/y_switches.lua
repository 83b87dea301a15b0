-- Switches of operators: who is switched off is not asked, and nothing of it goes on for nobody.

scenario "whoever is switched off is not asked, and is not missed"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "off", answers = "offers_3", after = 50, off = "by ann: it answers nonsense" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = true, percent = 100, eligible = 1, offers = 3, missing = 0,
                             requests = 1, reasons = {},
                             outcomes = { off = { "disabled", asked = false, requests = 0, breaker = "ignored",
                                                  detail = "by ann: it answers nonsense" },
                                          sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { off = "untold", sound = "good" } }

scenario "one that is switched off while its requests are built sends none"

at(0)     { machine = { start = 60 } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "off", answers = "offers_3", after = 50, off = "by ann", off_after = 20 }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(400)   { expect_reply = { status = 200, complete = true, offers = 3, eligible = 1, requests = 1,
                             outcomes = { off = { "disabled", asked = false, requests = 0, detail = "by ann" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { off = "untold" } }

scenario "what is under way when it is switched off ends as ever"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "polled", off = "by ann", off_after = 100,
            parts = { { { answers = "offers_3", after = 200, next = 200 },
                        { answers = "offers_3", after = 200, from = 3 } } } }

by(1500)  { expect_reply = { status = 200, complete = true, offers = 6,
                             outcomes = { polled = { "answered", requests = 2, offers = 6 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, health = { polled = "good" } }

scenario "an open breaker of one that is switched off sends no probe"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "tried", answers = "offers_3", after = 50, breaker = "half_open", off = "by ann" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = true, requests = 1, outcomes = { tried = "disabled" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1,
            health = { tried = "untold" } }

scenario "what would go on for nobody ends with the search that it was of"

at(0)     { search = { budget = 1500 } }
at(0)     { supplier = "late", answers = "offers_3", after = 2500, ceiling = 300, lingers = true, off = "by ann",
            off_after = 600 }
at(0)     { supplier = "later", answers = "offers_3", after = 2500, lingers = true, off = "by ann", off_after = 600 }
at(0)     { supplier = "slow", answers = "offers_3", after = 1000 }

by(1500)  { expect_reply = { status = 200, complete = false, offers = 3,
                             outcomes = { late = { "cut", bound = "ceiling" }, later = { "cut", bound = "budget" },
                                          slow = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0,
            health = { late = "cut", later = "cut", slow = "good" } }

scenario "a stranger learns nothing of who switched what"

at(0)     { search = { budget = 1000, detail = "public" } }
at(0)     { supplier = "off", answers = "offers_3", after = 50, display = "Off Air", off = "by ann: nonsense" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50, display = "Sound" }

by(200)   { expect_reply = { status = 200, complete = true,
                             seen = { ["Off Air"] = "unavailable", Sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0 }

scenario "its scripts do not run either"

at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "fails", starts = "script_timeout", off = "by ann" }
at(0)     { supplier = "skips", skips = "not sold", off = "by ann" }
at(0)     { supplier = "sound", answers = "offers_3", after = 50 }

by(200)   { expect_reply = { status = 200, complete = true, eligible = 1, troubles = 0,
                             outcomes = { fails = "disabled", skips = "disabled", sound = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, permits = 0, requests = 1 }
