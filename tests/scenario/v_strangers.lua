-- What a caller is told who may not know the details: display names, and answered, none, late or unavailable.

scenario "a stranger sees four words"

at(0)     { search = { budget = 800, detail = "public" } }
at(0)     { supplier = "a", answers = "offers_3", after = 100, display = "Airline A" }
at(0)     { supplier = "b", answers = "empty", after = 100, display = "Budget B" }
at(0)     { supplier = "c", hangs = true, display = "Carrier C" }
at(0)     { supplier = "d", answers = "offers_1", after = 700, ceiling = 300 }
at(0)     { supplier = "e", fails = "connect" }
at(0)     { supplier = "f", answers = "quota", says = "account 4711 is over its quota" }
at(0)     { supplier = "g", answers = "script_error", says = "attempt to index a nil value" }
at(0)     { supplier = "h", skips = "multi-city not sold" }
at(0)     { supplier = "i", disabled = "contract ended" }
at(0)     { supplier = "j", answers = "unparsable" }
at(0)     { supplier = "k", answers = "too_large" }
at(0)     { supplier = "l", starts = "dropped" }

by(800)   { expect_reply = { status = 200, complete = false, eligible = 10, answered = 1, empty = 1, missing = 8,
                             offers = 3, reasons = { "late", "unavailable" },
                             seen = { ["Airline A"] = "answered", ["Budget B"] = "none", ["Carrier C"] = "late",
                                      d = "late", e = "unavailable", f = "unavailable", g = "unavailable",
                                      h = "none", i = "unavailable", j = "unavailable", k = "unavailable",
                                      l = "late" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0,
            outcomes = { c = { "cut", bound = "budget" }, d = { "cut", bound = "ceiling" }, f = "rejected" } }

scenario "the same search told in full"

at(0)     { search = { budget = 800, detail = "full" } }
at(0)     { supplier = "a", answers = "offers_3", after = 100, display = "Airline A" }
at(0)     { supplier = "c", hangs = true, display = "Carrier C" }
at(0)     { supplier = "e", fails = "connect" }

by(800)   { expect_reply = { status = 200, reasons = { "budget", "failed" },
                             seen = { a = "answered", c = "cut", e = "failed" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a stranger's stream tells the same four words"

at(0)     { search = { budget = 800, detail = "public" } }
at(0)     { machine = { exact = true } }
at(0)     { supplier = "a", answers = "offers_3", after = 100, display = "Airline" }
at(0)     { supplier = "b", answers = "busy", after = 200 }
at(0)     { supplier = "c", hangs = true }

by(800)   { expect_reply = { status = 200, offers = 3, reasons = { "late", "unavailable" } } }
by(800)   { expect_events = { "search", "offers Airline 3", "supplier Airline answered", "supplier b unavailable",
                              "supplier c late", "done" } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a stranger whom nobody answers gets a problem without details"

at(0)     { search = { budget = 500, detail = "public" } }
at(0)     { supplier = "a", hangs = true, display = "Airline" }
at(0)     { supplier = "b", answers = "auth", says = "key ABC is wrong" }

by(500)   { expect_reply = { status = 504, code = "no_answer", reasons = { "late", "unavailable" },
                             seen = { Airline = "late", b = "unavailable" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a stranger who wants all or nothing gets nothing, without details"

at(0)     { search = { budget = 500, detail = "public", partial = false } }
at(0)     { supplier = "a", answers = "offers_1" }
at(0)     { supplier = "b", fails = "tls" }

by(500)   { expect_reply = { status = 504, code = "not_complete", reasons = { "unavailable" },
                             seen = { a = "answered", b = "unavailable" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "an answer in part is an answer for a stranger, and the reply is not complete"

at(0)     { search = { budget = 500, detail = "public" } }
at(0)     { supplier = "a", parts = { { { answers = "offers_2", after = 50 } }, { { hangs = true } } } }

by(500)   { expect_reply = { status = 200, complete = false, percent = 100, offers = 2, reasons = { "late" },
                             seen = { a = "answered" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, outcomes = { a = { "answered", partial = true } } }

scenario "with nobody to ask a stranger is told so"

at(0)     { search = { budget = 500, detail = "public" } }
at(0)     { supplier = "a", skips = "not sold" }

by(50)    { expect_reply = { status = 200, complete = false, percent = 0, reasons = { "none_eligible" },
                             seen = { a = "none" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a product script that fails tells a stranger nothing of itself"

at(0)     { machine = { product = "script_error" } }
at(0)     { search = { budget = 2000, detail = "public" } }
at(0)     { supplier = "a", answers = "offers_1" }

by(50)    { expect_reply = { status = 500, code = "product_script_error", requests = 0 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }
