-- Each outcome with what was known before it: young, old, too old, of another query, nothing. And that only some are
-- ever filled.

local MAX_AGE = 86400000

--- How a supplier comes to each outcome that something may stand in for.
local FILLED = {
  cut = { hangs = true },
  failed = { fails = "connect", after = 20 },
  rejected = { answers = "auth", after = 20 },
  unparsable = { answers = "unexpected", after = 20 },
  too_large = { answers = "too_large", after = 20 },
  script_error = { answers = "script_error", after = 20 },
  script_timeout = { answers = "script_timeout", after = 20 },
  script_memory = { answers = "script_memory", after = 20 },
  breaker_open = { answers = "offers_1", breaker = "open" },
  rate_limited = { answers = "offers_1", limits = { per_minute = 1 }, used = 1 },
  saturated = { limits = { concurrent = 1 },
    parts = { { { answers = "empty", after = 100 } }, { { answers = "offers_1", after = 10 } } } },
  too_late = { starts = "dropped" },
  finished_early = { hangs = true, phase = "first_byte", past = { percent = 0, gave_up = 2500 } },
  shed = { answers = "offers_1", after = 20, worth = 1 },
}

--- … and to those that nothing ever stands in for.
local NEVER = {
  answered = { answers = "offers_1", after = 20 },
  empty = { answers = "empty", after = 20 },
  skipped = { skips = "not sold" },
  disabled = { disabled = "contract ended" },
}

local STORED = {
  young = { age = 1000, offers = 3 },
  old = { age = MAX_AGE, life = 2 * MAX_AGE, offers = 3 },
  too_old = { age = MAX_AGE + 1, life = 2 * MAX_AGE, offers = 3 },
  forgotten = { age = 2000, life = 2000, offers = 3 },
  empty = { age = 1000 },
  of_another_query = { age = 1000, offers = 3, other = true },
}

local function supplier_of(words, stored)
  local supplier = { supplier = "x", stored = stored }
  for word, value in pairs(words) do
    supplier[word] = value
  end
  return supplier
end

local function play(outcome, words, name, is_filled)
  local is_shed, is_early = outcome == "shed", outcome == "finished_early"

  scenario(outcome .. " with what is " .. name .. (is_filled and " is represented" or " is not represented"))
  at(0) { store = { max_age = MAX_AGE } }
  at(0) { machine = { rung = is_shed and 6 or nil } }
  at(0) { search = { budget = 300, patience = is_early and { early = true } or nil } }
  at(0) (supplier_of(words, STORED[name]))
  for index, other in ipairs { "a", "b", "c" } do
    at(0) { supplier = other, answers = "offers_1", after = 150 + index, worth = 9,
            past = is_early and { from = 100, to = 200 } or nil }
  end
  by(300) { expect_reply = {
    status = 200, indicative = is_filled and 1 or 0, cached = 0,
    outcomes = { x = { outcome, last = is_filled and 3 or 0 } },
    marked = is_filled and { "x:0 indicative", "x:1 indicative", "x:2 indicative" } or {},
  } }
  finally { references = 0, memory = 0, fetches = 0, timers = 0 }
end

for outcome, words in pairs(FILLED) do
  for name in pairs(STORED) do
    play(outcome, words, name, name == "young" or name == "old")
  end
  play(outcome, words, "unknown", false)
end
for outcome, words in pairs(NEVER) do
  play(outcome, words, "young", false)
end
