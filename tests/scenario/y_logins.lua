-- Logins: waited for within the allocation, one for all, made anew once when they are refused; and signatures.

scenario "a cold login is waited for, and its time comes out of the allocation"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "cold", login = 100, answers = "offers_3", after = 120 }

at(50)    { expect_outcome = { cold = { "pending", phase = "login", requests = 0 } } }
at(150)   { expect_outcome = { cold = { "pending", phase = "first_byte" } } }
by(400)   { expect_reply = { complete = true, offers = 3, outcomes = { cold = { "answered", requests = 1 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, logins = 1 }

scenario "a warm login costs nothing"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "warm", login = 100, warm = true, answers = "offers_3", after = 120 }

at(50)    { expect_outcome = { warm = { "pending", phase = "first_byte" } } }
by(300)   { expect_reply = { complete = true, offers = 3, at = 121.1 } }
finally   { references = 0, memory = 0, logins = 0 }

scenario "parts that a cold login held back are all sent"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "parts", login = 100, parts = { { { answers = "offers_3", after = 50 } },
                                                       { { answers = "offers_2", after = 60, from = 3 } },
                                                       { { answers = "empty", after = 20 } } } }

by(400)   { expect_reply = { complete = true, offers = 5,
                             outcomes = { parts = { "answered", requests = 3, parts = 3, ok = 3 } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "the budget ends while the login is waited for"

at(0)     { search = { budget = 200 } }
at(0)     { supplier = "cold", login = 500, answers = "offers_3" }
at(0)     { supplier = "quick", answers = "offers_1", after = 20 }

by(200)   { expect_reply = { status = 200, complete = false, offers = 1, cut_by_budget = true,
                             outcomes = { cold = { "cut", bound = "budget", phase = "login", requests = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, logins = 1 }

scenario "the ceiling ends while the login is waited for"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "cold", ceiling = 100, login = 500, answers = "offers_3" }

by(150)   { expect_reply = { status = 504, outcomes = { cold = { "cut", bound = "ceiling", phase = "login" } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "a login that comes with the end is of no use"

at(0)     { search = { budget = 200 } }
at(0)     { supplier = "cold", login = 188.95, rebuild = 5, answers = "offers_3" }

by(200)   { expect_reply = { status = 504, outcomes = { cold = { "cut", bound = "budget" } } } }
finally   { references = 0, memory = 0, fetches = 0, requests = 0 }

scenario "a login that hangs costs its supplier only"

at(0)     { search = { budget = 400 } }
at(0)     { supplier = "hung", login_hangs = true, answers = "offers_3" }
at(0)     { supplier = "other", answers = "offers_2", after = 100 }

by(400)   { expect_reply = { offers = 2, outcomes = { hung = { "cut", bound = "budget", phase = "login" } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, logins = 1 }

scenario "a login that fails, is denied, or is spoiled by its script says so"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "broken", login = 30, login_ends = "failed", answers = "offers_3" }
at(0)     { supplier = "denied", login = 30, login_ends = "rejected", answers = "offers_3" }
at(0)     { supplier = "spoiled", login = 30, login_ends = "script_error", answers = "offers_3" }

by(100)   { expect_reply = { status = 504, outcomes = {
              broken = { "failed", phase = "login", detail = "no login" },
              denied = { "rejected", kind = "auth", phase = "login" },
              spoiled = { "script_error", phase = "login" } } } }
finally   { references = 0, memory = 0, requests = 0, logins = 3 }

scenario "a refused login is made anew, and the request with it, once"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "stale", login = 100, warm = true, refuses = 1, answers = "offers_3", after = 50 }

at(100)   { expect_outcome = { stale = { "pending", phase = "login", requests = 1 } } }
by(400)   { expect_reply = { complete = true, offers = 3, outcomes = { stale = { "answered", requests = 2 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, logins = 1 }

scenario "a login that is refused again ends the attempt, without a third try"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "stale", login = 100, warm = true, refuses = 9, answers = "offers_3", after = 50 }

by(400)   { expect_reply = { status = 504, outcomes = { stale = { "rejected", kind = "auth", requests = 2 } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "parts that were refused the same login wait for one new login"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "stale", login = 100, warm = true, parts = {
              { { refuses = 1, answers = "offers_3", after = 50 } },
              { { refuses = 1, answers = "offers_3", after = 60, from = 3 } },
              { { refuses = 1, answers = "offers_3", after = 300, from = 6 } } } }

by(750)   { expect_reply = { complete = true, offers = 9, outcomes = { stale = { "answered", requests = 6 } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "a login that expires between two steps is made anew, and the step before asks once more"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "polls", login = 100, warm = true, parts = {
              { { answers = "offers_2", after = 50, next = 50 },
                { refuses = 1, answers = "offers_2", after = 50, from = 2, next = 50 },
                { answers = "offers_2", after = 50, from = 4 } } } }

by(900)   { expect_reply = { complete = true, offers = 6, outcomes = { polls = { "answered", requests = 4 } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "what the steps before a refused login brought stays"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "polls", login = 100, warm = true, parts = {
              { { answers = "offers_2", after = 50, next = 50 },
                { refuses = 9, answers = "offers_2", after = 50, from = 2 } } } }

by(900)   { expect_reply = { complete = false, offers = 2,
                             outcomes = { polls = { "answered", partial = true, requests = 3 } } } }
finally   { references = 0, memory = 0, logins = 1 }

scenario "a script that cannot build its request with the new login says so"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "cold", login = 50, rebuilds = "script_error", answers = "offers_3" }

by(200)   { expect_reply = { status = 504, outcomes = { cold = { "script_error", breaker = "script" } } } }
finally   { references = 0, memory = 0, requests = 0, logins = 1 }

scenario "a caller who leaves while the login is waited for leaves nothing behind"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "cold", login = 300, answers = "offers_3" }
at(100)   { caller = "leaves" }

finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, replies = 0, logins = 1,
            outcomes = { cold = { "cancelled", phase = "login" } } }

scenario "a caller who leaves while a request is built with the login leaves nothing behind"

at(0)     { search = { budget = 800 } }
at(0)     { supplier = "cold", login = 50, rebuild = 100, answers = "offers_3" }
at(100)   { caller = "leaves" }

finally   { references = 0, memory = 0, fetches = 0, timers = 0, calls = 0, replies = 0,
            outcomes = { cold = { "cancelled", phase = "script" } } }

scenario "every step is signed when it is sent, not when it is made"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "signed", signs = true, parts = {
              { { answers = "offers_2", after = 50, next = 400 },
                { answers = "offers_2", after = 50, from = 2, next = 0 },
                { answers = "offers_2", after = 50, from = 4 } },
              { { answers = "offers_1", after = 50, from = 6 } } } }

by(900)   { expect_reply = { complete = true, offers = 7, outcomes = { signed = { "answered", requests = 4 } } } }
finally   { references = 0, memory = 0 }

scenario "a signature that fails ends its part, and what came before it stays"

at(0)     { search = { budget = 2000 } }
at(0)     { supplier = "signed", signs = true, rebuilds = "script_error", parts = {
              { { answers = "offers_2", after = 50, next = 100 }, { answers = "offers_2", after = 50, from = 2 } } } }

by(900)   { expect_reply = { complete = false, offers = 2,
                             outcomes = { signed = { "answered", partial = true, requests = 1 } } } }
finally   { references = 0, memory = 0, requests = 1 }
