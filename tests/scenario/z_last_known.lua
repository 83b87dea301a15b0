-- What suppliers said last: in the place of those that bring nothing, and instead of asking.

scenario "who is cut is represented by what he said last, with its age"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 20 }
at(0)     { supplier = "b", hangs = true, stored = { age = 1340000, offers = 3 } }

by(300)   { expect_reply = { status = 200, complete = false, percent = 50, answered = 1, indicative = 1, missing = 0,
                             offers = 5, reasons = { "budget" },
                             marked = { "b:0 indicative", "b:1 indicative", "b:2 indicative" },
                             outcomes = { a = "answered", b = { "cut", bound = "budget", last = 3, age = 1340000,
                                                                offers = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, kept = { a = { offers = 2, new = true },
                                                                          b = { offers = 3, new = false } } }

scenario "nobody answers: last known answers alone make a reply"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 5000, offers = 2 } }
at(0)     { supplier = "b", fails = "tls", after = 10 }

by(60)    { expect_reply = { status = 200, percent = 0, indicative = 1, missing = 1, offers = 2,
                             reasons = { "failed" }, marked = { "a:0 indicative", "a:1 indicative" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, kept = { b = false } }

scenario "last known offers are in order, items and facets like any others"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 10, item = "i", cheapest = 100 }
at(0)     { supplier = "b", hangs = true, item = "i", cheapest = 90, stored = { age = 1000, offers = 2 } }

by(300)   { expect_reply = { status = 200, order = { "b:0", "b:1", "a:0" }, items = 2,
                             facets = { "house a 1 100.00", "house b 2 90.00", "kind 0 2 90.00", "kind 1 1 91.00" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "what has expired is shown behind all others"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 10, cheapest = 100 }
at(0)     { supplier = "b", hangs = true, cheapest = 50, stored = { age = 1000, offers = 1, expired = true } }

by(300)   { expect_reply = { status = 200, order = { "a:0", "b:0" } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

scenario "a live answer in part is not mixed with what was known"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", stored = { age = 1000, offers = 5 },
            parts = { { { answers = "offers_2", after = 20 } }, { { hangs = true } } } }

by(300)   { expect_reply = { status = 200, answered = 1, indicative = 0, offers = 2, marked = {},
                             outcomes = { a = { "answered", partial = true, last = 0 } } } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, kept = { a = { offers = 5, new = false } } }

scenario "a search that wants all or nothing has no use for it"

at(0)     { store = {} }
at(0)     { search = { budget = 300, partial = false } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 5 } }

by(60)    { expect_reply = { status = 504, indicative = 0, missing = 1 } }
finally   { references = 0, memory = 0, reads = 0 }

scenario "a caller who wants none has none"

at(0)     { store = {} }
at(0)     { search = { budget = 300, indicative = "none" } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 5 } }
at(0)     { supplier = "b", answers = "offers_1", after = 10 }

by(60)    { expect_reply = { status = 200, indicative = 0, missing = 1, offers = 1 } }
finally   { references = 0, memory = 0, reads = 0 }

scenario "a private search reads nothing and leaves nothing"

at(0)     { store = {} }
at(0)     { search = { budget = 300, private = true } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 5 } }
at(0)     { supplier = "b", answers = "offers_1", after = 10 }

by(60)    { expect_reply = { status = 200, indicative = 0, missing = 1, offers = 1 } }
finally   { references = 0, memory = 0, keeps = 0, reads = 0 }

scenario "a test reads nothing and leaves nothing"

at(0)     { store = {} }
at(0)     { search = { budget = 300, test = true } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 5 } }
at(0)     { supplier = "b", answers = "offers_1", after = 10 }

by(60)    { expect_reply = { status = 200, missing = 1, offers = 1 } }
finally   { references = 0, memory = 0, keeps = 0, reads = 0 }

scenario "what was said to another query stands in for nothing"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 5, other = true } }

by(60)    { expect_reply = { status = 504, indicative = 0, missing = 1 } }
finally   { references = 0, memory = 0, reads = 0 }

-- -------------------------------------------------------------------------------------------------------- not asking

scenario "a fresh answer spares asking"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 100, fresh_for = 60000, stored = { age = 59000, offers = 3 } }
at(0)     { supplier = "b", answers = "offers_1", after = 50 }

by(70)    { expect_reply = { status = 200, complete = true, percent = 100, cached = 1, answered = 1, offers = 4,
                             requests = 1, marked = { "a:0 cached", "a:1 cached", "a:2 cached" },
                             outcomes = { a = { "cached", asked = false, last = 3, age = 59000, offers = 3 } } } }
finally   { references = 0, memory = 0, kept = { a = { offers = 3, new = false } } }

scenario "a fresh answer that was empty spares asking, too"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 100, fresh_for = 60000, stored = { age = 1000 } }

by(30)    { expect_reply = { status = 200, complete = true, cached = 1, offers = 0, requests = 0 } }
finally   { references = 0, memory = 0 }

scenario "an empty answer spares asking for as long as empty ones live"

at(0)     { store = { empty_max_age = 30000 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 50, fresh_for = 60000, stored = { age = 31000 } }

by(100)   { expect_reply = { status = 200, cached = 0, answered = 1, offers = 2, requests = 1 } }
finally   { references = 0, memory = 0 }

scenario "one that is not fresh any more is asked as usual"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 50, fresh_for = 60000, stored = { age = 60000, offers = 3 } }

by(100)   { expect_reply = { status = 200, complete = true, cached = 0, answered = 1, offers = 2, requests = 1 } }
finally   { references = 0, memory = 0, kept = { a = { offers = 2, new = true } } }

scenario "a silent store is waited for no longer than its slice"

at(0)     { store = { hangs = true } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 50, fresh_for = 60000, stored = { age = 1000, offers = 3 } }

by(100)   { expect_reply = { status = 200, complete = true, cached = 0, offers = 2, requests = 1 } }
finally   { references = 0, memory = 0 }

scenario "offers that come too late do not spare asking"

at(0)     { store = { reading = 40 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 50, fresh_for = 60000, stored = { age = 1000, offers = 3 } }

by(100)   { expect_reply = { status = 200, complete = true, cached = 0, offers = 2, requests = 1 } }
finally   { references = 0, memory = 0 }

scenario "a faulty store is as good as none"

at(0)     { store = { faults = 1 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 50, fresh_for = 60000, stored = { age = 1000, offers = 3 } }
at(0)     { supplier = "b", fails = "connect", stored = { age = 1000, offers = 3 } }

by(100)   { expect_reply = { status = 200, complete = false, cached = 0, missing = 1, offers = 2, requests = 2 } }
finally   { references = 0, memory = 0, kept = { a = { offers = 3, new = false } } }

scenario "who has no fresh_for does not wait for the store"

at(0)     { store = { after = 14 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 2, stored = { age = 1000, offers = 3 } }

by(12)    { expect_reply = { status = 200, complete = true, offers = 2 } }
finally   { references = 0, memory = 0 }

scenario "the ceiling of one that waited for the store is asked again, too"

at(0)     { store = { hangs = true } }
at(0)     { search = { budget = 1000 } }
at(0)     { supplier = "a", answers = "offers_2", after = 600, ceiling = 300, fresh_for = 60000,
            stored = { age = 1000, offers = 3 }, again = { { after = 100, ceiling = 800 } } }

by(700)   { expect_reply = { status = 200, complete = true, offers = 2 } }
finally   { references = 0, memory = 0 }

-- ------------------------------------------------------------------------------------------------------------- slow

scenario "a reply waits for a slow store at most a slice"

at(0)     { store = { after = 2, reading = 100 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 3 } }

by(40)    { expect_reply = { status = 504, missing = 1 } }
finally   { references = 0, memory = 0, reads = 1 }

scenario "a reply waits for offers that are on their way"

at(0)     { store = { after = 6 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 3 } }

by(40)    { expect_reply = { status = 200, indicative = 1, offers = 3 } }
finally   { references = 0, memory = 0, reads = 1 }

scenario "those that are still out a slice before the end are read in one go"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", hangs = true, stored = { age = 1000, offers = 3 } }
at(0)     { supplier = "b", hangs = true, stored = { age = 1000, offers = 3 } }
at(0)     { supplier = "c", answers = "offers_1", after = 20, stored = { age = 1000, offers = 3 } }

by(300)   { expect_reply = { status = 200, indicative = 2, offers = 7 } }
finally   { references = 0, memory = 0, reads = 1 }

scenario "an index that comes just before the end is in time"

at(0)     { store = { after = 280, reading = 1 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", hangs = true, stored = { age = 1000, offers = 3 } }

by(300)   { expect_reply = { status = 200, indicative = 1, offers = 3 } }
finally   { references = 0, memory = 0, reads = 1 }

scenario "a caller who leaves gives the store's calls up"

at(0)     { store = { after = 50 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", hangs = true, fresh_for = 5000, stored = { age = 1000, offers = 3 } }
at(8)     { caller = "leaves" }

at(300)   { expect_no_reply = true }
finally   { references = 0, memory = 0, fetches = 0, timers = 0 }

-- ---------------------------------------------------------------------------------------------------------- keeping

scenario "whole answers are kept, empty ones for a short while"

at(0)     { store = { max_age = 50000, empty_max_age = 2000 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10 }
at(0)     { supplier = "b", answers = "empty", after = 10 }
at(0)     { supplier = "c", answers = "offers_1", after = 10, max_age = 7000 }

by(40)    { expect_reply = { status = 200 } }
finally   { references = 0, memory = 0, keeps = 3, kept = { a = { offers = 2, life = 50000, new = true },
            b = { offers = 0, life = 2000, new = true }, c = { offers = 1, life = 7000, new = true } } }

scenario "what is partial, suspicious or bad is not kept"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10,
            parts = { { { answers = "offers_2", complete = false } } } }
at(0)     { supplier = "b", answers = "offers_9", after = 10, dropped = 2 }
at(0)     { supplier = "c", answers = "unexpected", after = 10 }
at(0)     { supplier = "d", answers = "offers_2", after = 10, mode = "dark" }
at(0)     { supplier = "e", parts = { { { answers = "offers_2" } }, { { fails = "connect" } } } }
at(0)     { supplier = "f", answers = "offers_19", dropped = 2, after = 10 }

by(60)    { expect_reply = { status = 200 } }
finally   { references = 0, memory = 0, keeps = 1, kept = { f = { offers = 19 } } }

scenario "what a probe brings is kept, unless its supplier is dark"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 10, breaker = "half_open" }
at(0)     { supplier = "b", answers = "offers_2", after = 10, breaker = "half_open", mode = "dark" }
at(0)     { supplier = "c", answers = "offers_1", after = 100 }

by(200)   { expect_reply = { status = 200, outcomes = { a = "breaker_open" } } }
finally   { references = 0, memory = 0, keeps = 2, kept = { a = { offers = 2, new = true }, b = false, c = {} } }

scenario "offers that a later step replaced are not kept"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", parts = { { { answers = "offers_4", after = 20, next = 20 },
                                        { answers = "offers_3", after = 20, from = 2, merge = "replace" } } } }

by(200)   { expect_reply = { status = 200, offers = 3 } }
finally   { references = 0, memory = 0, kept = { a = { offers = 3 } } }

scenario "an attempt that the budget cut goes on for the store when nothing is known"

at(0)     { store = { fill = true } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 800 }
at(0)     { supplier = "b", answers = "offers_2", after = 800, ceiling = 100 }
at(0)     { supplier = "c", answers = "offers_2", after = 800, stored = { age = 1000, offers = 5 } }
at(0)     { supplier = "d", answers = "offers_2", after = 800, stored = { age = 9000000, offers = 5 } }
at(0)     { supplier = "e", answers = "offers_2", after = 9000 }

by(300)   { expect_reply = { status = 200, indicative = 2, missing = 3 } }
finally   { references = 0, memory = 0, fetches = 0, timers = 0, keeps = 2,
            kept = { a = { offers = 2, new = true }, b = false, c = { offers = 5, new = false },
                     d = { offers = 2, new = true }, e = false },
            late = { a = { "answered", offers = 2 }, e = { "cut" } } }

scenario "without fill nothing goes on for the store"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 800 }

by(300)   { expect_reply = { status = 504 } }
finally   { references = 0, memory = 0, keeps = 0 }

scenario "one that lingers anyway is kept when it ends well and whole"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 800, lingers = true }
at(0)     { supplier = "b", lingers = true,
            parts = { { { answers = "offers_2" } }, { { answers = "offers_1", after = 800 } } } }

by(300)   { expect_reply = { status = 200 } }
finally   { references = 0, memory = 0, keeps = 1, kept = { a = { offers = 2 }, b = false } }

-- ------------------------------------------------------------------------------------------------------------- guard

scenario "an answer whose median falls absurdly is held back"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_3", after = 20, cheapest = 10, price_guard = 50,
            stored = { age = 1000, offers = 3, dearer = 90 } }
at(0)     { supplier = "b", answers = "offers_3", after = 20, cheapest = 60, price_guard = 50,
            stored = { age = 1000, offers = 3, dearer = 40 } }

by(100)   { expect_reply = { status = 200, answered = 1, indicative = 1, offers = 6, troubles = 1,
                             outcomes = { a = { "unparsable", last = 3,
                               detail = "price_guard: the median fell from 101.00 to 11.00 EUR; held back" },
                               b = "answered" } } }
finally   { references = 0, memory = 0, kept = { a = { offers = 3, new = false }, b = { new = true } } }

scenario "what is held back was told to a stream and is gone again"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_3", after = 20, cheapest = 10, price_guard = 50,
            stored = { age = 1000, offers = 2, dearer = 90 } }
at(0)     { supplier = "z", answers = "offers_1", after = 100 }

by(200)   { expect_events = { "search", "offers a 3", "retract 3 gone", "supplier a unparsable", "offers z 1",
                              "supplier z answered", "offers a 2", "done" } }
finally   { references = 0, memory = 0 }

-- ----------------------------------------------------------------------------------------------------------- streams

scenario "a stream has them with its end"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", fails = "connect", stored = { age = 1000, offers = 2 } }
at(0)     { supplier = "b", answers = "offers_1", after = 100 }

by(200)   { expect_events = { "search", "supplier a failed", "offers b 1", "supplier b answered",
                              "offers a 2", "done" } }
finally   { references = 0, memory = 0 }

scenario "a stream that wants them first has them at once, until live ones land"

at(0)     { store = {} }
at(0)     { search = { budget = 300, indicative = "first" } }
at(0)     { supplier = "a", answers = "offers_2", after = 100, stored = { age = 1000, offers = 4 } }
at(0)     { supplier = "b", hangs = true, stored = { age = 1000, offers = 2 } }
at(0)     { supplier = "c", answers = "empty", after = 150, stored = { age = 1000, offers = 1 } }

by(300)   { expect_events = { "search", "offers a 4", "offers b 2", "offers c 1", "retract 2 superseded", "offers a 2",
                              "supplier a answered", "retract 1 superseded", "supplier c empty", "supplier b cut",
                              "done" } }
by(300)   { expect_reply = { status = 200, answered = 1, empty = 1, indicative = 1, offers = 4,
                             marked = { "b:0 indicative", "b:1 indicative" } } }
finally   { references = 0, memory = 0 }

scenario "of what is sent with the end only what counts is sent"

at(0)     { store = {} }
at(0)     { search = { budget = 300, max_items = 2 } }
at(0)     { supplier = "a", fails = "connect", cheapest = 50, stored = { age = 1000, offers = 4 } }
at(0)     { supplier = "b", answers = "offers_1", after = 100 }

by(200)   { expect_events = { "search", "supplier a failed", "offers b 1", "supplier b answered", "offers a 2",
                              "retract 1 over_limit", "done" } }
by(200)   { expect_reply = { found = 5, offers = 2, order = { "a:0", "a:1" } } }
finally   { references = 0, memory = 0 }

scenario "a stream is told of fresh ones as of any answer"

at(0)     { store = {} }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_2", after = 100, fresh_for = 60000, stored = { age = 1000, offers = 3 } }

by(60)    { expect_events = { "search", "offers a 3", "supplier a cached", "done" } }
finally   { references = 0, memory = 0 }

scenario "strangers see the offers, and four words of their suppliers"

at(0)     { store = {} }
at(0)     { search = { budget = 300, detail = "public" } }
at(0)     { supplier = "a", hangs = true, stored = { age = 1000, offers = 4 } }
at(0)     { supplier = "b", answers = "offers_1", fresh_for = 60000, stored = { age = 1000, offers = 3 } }

by(300)   { expect_reply = { status = 200, indicative = 1, cached = 1, seen = { a = "late", b = "answered" },
                             offers = 7 } }
finally   { references = 0, memory = 0 }

-- ---------------------------------------------------------------------------------------------------------- decisions

scenario "what would stand in counts as held: a search is sooner content"

at(0)     { store = {} }
at(0)     { search = { budget = 2000, patience = { early = true, delay_cost = 3 } } }
at(0)     { supplier = "a", answers = "offers_2", after = 20, past = { calls = 400, from = 10, to = 30, items = 2 } }
at(0)     { supplier = "b", answers = "offers_9", after = 1500,
            past = { calls = 400, from = 1000, to = 1600, items = 9 },
            stored = { age = 1000, offers = 9 } }

by(200)   { expect_reply = { status = 200, early = true, indicative = 1,
                             outcomes = { b = { "finished_early", last = 9 } } } }
finally   { references = 0, memory = 0 }

scenario "of whom nothing is known the same search waits"

at(0)     { store = {} }
at(0)     { search = { budget = 2000, patience = { early = true, delay_cost = 3 } } }
at(0)     { supplier = "a", answers = "offers_2", after = 20, past = { calls = 400, from = 10, to = 30, items = 2 } }
at(0)     { supplier = "b", answers = "offers_9", after = 1500,
            past = { calls = 400, from = 1000, to = 1600, items = 9 } }

by(1600)  { expect_reply = { status = 200, early = false, answered = 2 } }
finally   { references = 0, memory = 0 }

scenario "an overloaded engine leaves those out first of whom something young is known"

at(0)     { store = {} }
at(0)     { machine = { rung = 6 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20, worth = 1 }
at(0)     { supplier = "b", answers = "offers_1", after = 20, worth = 1 }
at(0)     { supplier = "c", answers = "offers_1", after = 20, worth = 3, stored = { age = 1000, offers = 4 } }
at(0)     { supplier = "d", answers = "offers_1", after = 20, worth = 2 }

by(200)   { expect_reply = { status = 200, indicative = 1, answered = 3,
                             outcomes = { c = { "shed", last = 4 } } } }
finally   { references = 0, memory = 0 }

scenario "an overloaded engine whose store is silent sheds as it does without one"

at(0)     { store = { hangs = true } }
at(0)     { machine = { rung = 6 } }
at(0)     { search = { budget = 300 } }
at(0)     { supplier = "a", answers = "offers_1", after = 20, worth = 1 }
at(0)     { supplier = "b", answers = "offers_1", after = 20, worth = 4 }
at(0)     { supplier = "c", answers = "offers_1", after = 20, worth = 6, stored = { age = 1000, offers = 4 } }
at(0)     { supplier = "d", answers = "offers_1", after = 20, worth = 4 }

by(200)   { expect_reply = { status = 200, answered = 3, missing = 1, outcomes = { a = "shed" } } }
finally   { references = 0, memory = 0 }
