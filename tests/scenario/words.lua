--- The words of plays: what may stand in at(ms) {…}, by(ms) {…} and finally {…}, what the search is made of them, and
--- how its result is compared with what the play expects.
--
-- `play_once` (script.c) plays one table over the real search/ and returns what came of it.

jit.off() -- compiled traces of LuaJIT 2.1.0-beta3 crash in here; nothing of it is hot

local M = {}

--- Each play is played once on each of these machines; what it expects holds on all of them, unless it is exact.
local MACHINES = {
  { name = "an ideal machine" },
  { name = "a machine", late_us = 400, turn_us = 20, offer_ns = 1000, byte_ns = 5, script_percent = 20 },
  { name = "a busy machine", late_us = 1000, turn_us = 40, long_turn_us = 1500, offer_ns = 2000, byte_ns = 10,
    script_percent = 100, fetch_ends_first = true },
  { name = "a busy machine that streams", late_us = 1000, turn_us = 40, long_turn_us = 1500, offer_ns = 2000,
    byte_ns = 10, event_byte_ns = 20, script_percent = 50 },
}

-- ------------------------------------------------------------------------------------------------------------- words

--- Kinds of plays' values. "ms": milliseconds, fractions allowed.
local SEARCH = {
  budget = "ms", reserve = "ms", suppliers = "list", max_items = "number", max_offers_per_item = "number",
  partial = "boolean", detail = "string", sort = "string", facts = "table", test = "boolean", patience = "table",
  indicative = "string", key = "string", private = "boolean",
}
--- What the store of last known answers is like, and the settings that go with it. `faults`: one call in so many.
local STORE = {
  after = "ms", spread = "ms", reading = "ms", faults = "number", hangs = "boolean", slice = "ms", max_age = "ms",
  empty_max_age = "ms", fill = "boolean",
}
--- What a supplier said before, to this query or to an `other`; each offer so much `dearer` than now.
local STORED = {
  age = "ms", life = "ms", offers = "number", from = "number", dearer = "number", other = "boolean",
  expired = "boolean",
}
local PATIENCE = {
  early = "boolean", delay_cost = "number", least = "number", novelty = "number", held_cost = "number",
}
--- What was seen of a supplier before: of `calls` so many `percent` arrived, evenly from `from` to `to`; the others
--- were given up at `gave_up`. Each answer added so many `items`.
local PAST = { calls = "number", percent = "number", from = "ms", to = "ms", gave_up = "ms", items = "number" }
local RULE = {
  when = "table", supplier = "list", deadline = "ms", ceiling = "ms", scale = "number", max = "ms", weight = "number",
  delay_cost = "number",
}
local EXCHANGE = {
  answers = "string", after = "ms", hangs = "boolean", phase = "string", fails = "string", status = "number",
  script = "ms", from = "number", dropped = "number", warnings = "number", retry_after = "ms", code = "string",
  says = "string", refuses = "number", quota_used = "boolean", told = "boolean", connect = "ms",
  says_wait = "boolean", second = "table",
}
local KNOWN = {
  early = "ms", median = "ms", late = "ms", connect = "ms", value = "number", calls = "number", quota = "boolean",
  breaker = "boolean", running = "number", unknown = "boolean",
}
local EXTRA = { per_supplier = "number", engine = "number", overloaded = "boolean" }
local TOLD = { retry = "string", connect = "string", hedge = "string", refused = "string", loser = "ms" }
local LIMITS = { rps = "number", per_minute = "number", per_day = "number", concurrent = "number" }
local STEP = { merge = "string", complete = "boolean", next = "ms" }
local SUPPLIER = {
  supplier = "string", ceiling = "ms", rule = "ms", skips = "string", disabled = "string", starts = "string",
  item = "string", cheapest = "number", odd = "boolean", parts = "list", display = "string",
  minutes = "number", flag = "number", login = "ms", login_life = "ms", login_ends = "string", login_hangs = "boolean",
  warm = "boolean", signs = "boolean", rebuilds = "string", rebuild = "ms",
  limits = "table", used = "number", blocked = "ms", breaker = "string", lingers = "boolean",
  off = "string", off_after = "ms",
  past = "table", weight = "number", again = "list", mode = "string", account = "string", traffic = "number",
  known = "table", hedge = "boolean", call_cost = "number", retry_on = "number",
  auth_refusals = "number", tried_out = "boolean", worth = "number",
  stored = "table", fresh_for = "ms", max_age = "ms", price_guard = "number",
}
local AGAIN = { after = "ms", offers = "number", answered = "number", ceiling = "ms", fails = "boolean" }
local MODES = { live = true, dark = true, test = true }
for word, kind in pairs(EXCHANGE) do
  STEP[word] = kind
  SUPPLIER[word] = kind
end
local MACHINE = {
  workers = "number", queue = "ms", start = "ms", exact = "boolean", product = "string", late = "ms", turn = "ms",
  refuses_call = "number", refuses_fetch = "number", refuses_timer = "number", reask = "ms", rung = "number",
}
local REPLY = {
  status = "number", complete = "boolean", percent = "number", eligible = "number", answered = "number",
  empty = "number", missing = "number", offers = "number", found = "number", items = "number", reasons = "list",
  outcomes = "table", order = "list", code = "string", at = "ms", before = "ms", odd_items = "list",
  cut_by_budget = "boolean", requests = "number", reasks = "number", troubles = "number",
  seen = "table", facets = "list", budget = "table", early = "boolean", cached = "number", indicative = "number",
  marked = "list",
}
local BUDGET = { ms = "number", from = "string", rule = "string", clamped = "boolean", requested = "number",
  reserve = "number" }
local OUTCOME = {
  [1] = "string", bound = "string", phase = "string", kind = "string", partial = "boolean", offers = "number",
  http_status = "number", requests = "number", parts = "number", ok = "number", failed = "number", code = "string",
  detail = "string", ceiling = "number", ceiling_from = "string", dropped = "number", retry = "ms", breaker = "string",
  asked = "boolean", rules = "list", mode = "string", retries = "number", hedge = "string",
  last = "number", age = "ms",
}
local FINALLY = {
  references = "number", memory = "number", fetches = "number", timers = "number", calls = "number",
  breaker = "table", outcomes = "table", replies = "number", requests = "number", logins = "number", reasks = "number",
  permits = "number", health = "table", late = "table", extra = "table", kept = "table", keeps = "number",
  reads = "number",
}
local KEPT = { offers = "number", life = "ms", new = "boolean" }
local LATE = {
  [1] = "string", line = "string", times = "number", after = "ms", bound = "string", offers = "number",
  requests = "number", new = "number", cheapest = "number", mode = "string",
}
local HEALTH = {
  [1] = "string", times = "number", pending = "ms", value = "number", refusals = "number", parks = "number",
  noted = "number", items = "number", won = "boolean",
}
local HEALTH_ENDS = { good = true, bad = true, unreachable = true, cut = true, ours = true, untold = true }
local LINES = {
  search = "table", supplier = "string", machine = "table", caller = "string", expect_outcome = "table",
  expect_reply = "table", expect_events = "list", expect_no_reply = "boolean", rules = "list", extra = "table",
  store = "table",
}

local VERDICTS = {
  empty = "empty", quota = "fail_quota", busy = "fail_busy", login = "fail_login", auth = "fail_auth",
  supplier_error = "fail_supplier", unexpected = "fail_unexpected", unparsable = "unparsable",
  too_large = "too_large", script_error = "error", script_timeout = "timeout", script_memory = "memory",
  dropped = "dropped", skipped = "skipped",
}
local FAILURES = {
  dns = { "dns", "dns" }, connect = { "connect", "connect" }, tls = { "tls", "tls" }, send = { "send", "send" },
  first_byte = { "receive", "first_byte" }, body = { "receive", "body" }, too_large = { "too_large", "body" },
  address = { "refused", "connect" }, memory = { "no_memory", "queue" },
}
local BREAKERS = {
  no_failure = { success = true, slow = true, script = true, ignored = true },
  success = { success = true }, failure = { failure = true }, slow = { slow = true }, ignored = { ignored = true },
  script = { script = true }, by_kind = { by_kind = true },
}
local PHASES = {
  login = true, queue = true, pause = true, dns = true, connect = true, tls = true, send = true, first_byte = true,
  body = true, script_queue = true, script = true,
}

-- ------------------------------------------------------------------------------------------------------------ errors

local function fail(where, format, ...)
  error({ message = where .. ": " .. string.format(format, ...) }, 0)
end

--- Levenshtein's distance.
local function distance(a, b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local corner = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = a:sub(i, i) == b:sub(j, j) and 0 or 1
      corner, row[j] = row[j], math.min(row[j] + 1, row[j - 1] + 1, corner + cost)
    end
  end
  return row[#b]
end

local function suggestion(word, known)
  local best, least = nil, 1 + #word / 2
  for candidate in pairs(known) do
    if type(candidate) == "string" then
      local far = distance(word, candidate)
      if far < least or (far == least and best and candidate < best) then
        best, least = candidate, far
      end
    end
  end
  return best and "; did you mean " .. best .. "?" or ""
end

local function is_kind(value, kind)
  if kind == "ms" then
    return type(value) == "number" and value >= 0
  elseif kind == "list" then
    return type(value) == "table"
  end
  return type(value) == kind
end

--- Every key of `table` is one of `words`, its value of that kind.
local function check_words(where, what, given, words)
  for word, value in pairs(given) do
    local kind = words[word]
    if not kind then
      fail(where, "%s has no word %s%s", what, tostring(word), suggestion(tostring(word), words))
    elseif not is_kind(value, kind) then
      fail(where, "%s of %s must be a %s, not %s", word, what, kind == "ms" and "number of milliseconds" or kind,
        tostring(value))
    end
  end
end

local function one_of(where, what, value, known)
  if value ~= nil and known[value] == nil then
    fail(where, "%s cannot be %s%s", what, tostring(value), suggestion(tostring(value), known))
  end
  return known[value]
end

local function copy(from, into)
  for key, value in pairs(from) do
    into[key] = value
  end
  return into
end

local function us(ms)
  return ms and math.floor(ms * 1000 + 0.5)
end

-- ---------------------------------------------------------------------------------------------------------- suppliers

--- "offers_3", "offers_0" is refused: a script that finds nothing says so.
local function read_answer(where, answers, step)
  local count = answers:match("^offers_(%d+)$")
  if count then
    step.offers = tonumber(count)
    if step.offers == 0 then
      fail(where, "answers with no offers are \"empty\"")
    end
    return
  end
  local known = copy(VERDICTS, { offers_1 = true })
  step.verdict = one_of(where, "answers", answers, known)
end

local read_exchange
function read_exchange(where, given, part, number)
  local step = {
    part = part, step = number, after_us = us(given.after), hangs = given.hangs, phase = given.phase,
    status = given.status, script_us = us(given.script), first_id = given.from, dropped = given.dropped,
    warnings = given.warnings, retry_ms = given.retry_after, code = given.code, message = given.says,
    refused_logins = given.refuses,
    merge = given.merge, is_incomplete = given.complete == false, next_us = us(given.next),
    is_told_empty = given.told, is_quota_used = given.quota_used, connect_us = us(given.connect),
    says_wait = given.says_wait,
  }
  if given.second then
    check_words(where, "a second request", given.second, EXCHANGE)
    step.second = read_exchange(where, given.second, part, number)
  end
  one_of(where, "phase", given.phase, PHASES)
  one_of(where, "merge", given.merge, { add = true, replace = true, keep = true })
  if given.fails then
    local failure = one_of(where, "fails", given.fails, FAILURES)
    step.result, step.phase = failure[1], failure[2]
  end
  if given.answers then
    read_answer(where, given.answers, step)
  elseif not given.fails and not given.hangs then
    fail(where, "an exchange answers, fails or hangs")
  end
  return step
end

local function read_parts(where, parts)
  local steps = {}
  for part, list in ipairs(parts) do
    for number, given in ipairs(list) do
      check_words(where, "a step", given, STEP)
      steps[#steps + 1] = read_exchange(where, given, part, number)
    end
    if #list == 0 then
      fail(where, "part %d has no steps", part)
    end
  end
  return steps
end

--- What a ceiling says when it is asked again.
local function read_again(where, given)
  local again = {}
  for index, entry in ipairs(given or {}) do
    check_words(where, "a ceiling asked again", entry, AGAIN)
    again[index] = {
      after_us = us(entry.after), offers = entry.offers, answered = entry.answered, ceiling_us = us(entry.ceiling),
      fails = entry.fails,
    }
  end
  return again
end

local function read_past(where, given)
  if not given then
    return nil
  end
  check_words(where, "a past", given, PAST)
  return {
    calls = given.calls, percent = given.percent, from_us = us(given.from), to_us = us(given.to or given.from),
    gave_up_us = us(given.gave_up), items = given.items,
  }
end

--- What is known of a supplier when the play begins.
local function read_known(where, known)
  if not known then
    return nil
  end
  check_words(where, "what is known", known, KNOWN)
  return copy(known, {
    early_us = us(known.early), median_us = us(known.median), late_us = us(known.late), connect_us = us(known.connect),
  })
end

local function read_stored(where, given)
  if not given then
    return nil
  end
  check_words(where, "what it said before", given, STORED)
  return {
    age_ms = given.age, life_ms = given.life, offers = given.offers, from = given.from, dearer = given.dearer,
    other = given.other, expired = given.expired,
  }
end

local function read_supplier(play, where, given)
  check_words(where, "a supplier", given, SUPPLIER)
  one_of(where, "mode", given.mode, MODES)
  one_of(where, "account", given.account, MODES)
  local supplier = {
    name = given.supplier, ceiling_us = us(given.ceiling), rule_us = us(given.rule), item = given.item,
    cheapest = given.cheapest, minutes = given.minutes, flag = given.flag, display = given.display,
    breaker = given.breaker, lingers = given.lingers, limits = given.limits, used = given.used,
    blocked_us = us(given.blocked), off = given.off, off_after_us = us(given.off_after),
    past = read_past(where, given.past), weight = given.weight,
    auth_refusals = given.auth_refusals, is_tried_out = given.tried_out, worth = given.worth,
    is_odd = given.odd, is_disabled = given.disabled ~= nil,
    because = given.disabled or given.skips, again = read_again(where, given.again), mode = given.mode,
    account = given.account, traffic = given.traffic and given.traffic * 10000,
    logs_in = given.login ~= nil or given.login_hangs, login_us = us(given.login), login_hangs = given.login_hangs,
    login_life_us = us(given.login_life), login_outcome = given.login_ends, has_login = given.warm, signs = given.signs,
    rebuild_us = us(given.rebuild),
    rebuilt = given.rebuilds and one_of(where, "rebuilds", given.rebuilds, VERDICTS),
    known = read_known(where, given.known), hedge = given.hedge, call_cost = given.call_cost,
    retry_on = given.retry_on,
    stored = read_stored(where, given.stored), fresh_for_ms = given.fresh_for, max_age_ms = given.max_age,
    price_guard = given.price_guard,
  }
  check_words(where, "limits", given.limits or {}, LIMITS)
  one_of(where, "breaker", given.breaker, { open = true, half_open = true })
  one_of(where, "login_ends", given.login_ends, { failed = true, rejected = true, script_error = true })
  if given.skips then
    supplier.start = "skipped"
  elseif given.starts then
    supplier.start = one_of(where, "starts", given.starts, VERDICTS)
  end
  if given.parts then
    supplier.steps = read_parts(where, given.parts)
  elseif supplier.start or supplier.is_disabled then
    supplier.steps = { { part = 1, step = 1 } }
  else
    supplier.steps = { read_exchange(where, given, 1, 1) }
  end
  for _, other in ipairs(play.suppliers) do
    if other.name == supplier.name then
      fail(where, "the supplier %s stands there twice", supplier.name)
    end
  end
  table.insert(play.suppliers, supplier)
end

-- -------------------------------------------------------------------------------------------------------------- lines

local function read_search(play, where, given)
  check_words(where, "a search", given, SEARCH)
  check_words(where, "patience", given.patience or {}, PATIENCE)
  one_of(where, "detail", given.detail, { full = true, public = true })
  one_of(where, "indicative", given.indicative, { ["end"] = true, first = true, none = true })
  if play.search then
    fail(where, "a play has one search")
  end
  play.search = given
end

--- The rules of the settings; a rule's place is "rules:NUMBER".
local function read_rules(play, where, given)
  for number, rule in ipairs(given) do
    check_words(where, "rule " .. number, rule, RULE)
  end
  play.rules = given
end

local function read_machine(play, where, given)
  check_words(where, "a machine", given, MACHINE)
  play.machine = given
  one_of(where, "product", given.product, { bad_query = true, script_error = true, script_timeout = true })
end

local function check_outcomes(where, outcomes)
  for name, expected in pairs(outcomes) do
    if type(expected) == "table" then
      check_words(where, "the outcome of " .. name, expected, OUTCOME)
      one_of(where, "breaker", expected.breaker, BREAKERS)
    end
  end
end

local function expect(play, ms, where, kind, given)
  table.insert(play.expected, { us = us(ms), where = where, kind = kind, given = given })
end

local function read_line(play, ms, where, given)
  if given.supplier then
    return read_supplier(play, where, given)
  end
  check_words(where, "a line", given, LINES)
  if given.search then
    read_search(play, where, given.search)
  end
  if given.extra then
    check_words(where, "extra calls", given.extra, EXTRA)
    play.extra = given.extra
  end
  if given.store then
    check_words(where, "the store", given.store, STORE)
    play.store = given.store
  end
  if given.rules then
    read_rules(play, where, given.rules)
  end
  if given.machine then
    read_machine(play, where, given.machine)
  end
  if given.caller then
    one_of(where, "caller", given.caller, { leaves = true })
    play.leaves_us = us(ms)
  end
  if given.expect_outcome then
    check_outcomes(where, given.expect_outcome)
    expect(play, ms, where, "outcome", given.expect_outcome)
  end
  if given.expect_reply then
    check_words(where, "a reply", given.expect_reply, REPLY)
    check_outcomes(where, given.expect_reply.outcomes or {})
    check_words(where, "a budget", given.expect_reply.budget or {}, BUDGET)
    expect(play, ms, where, "reply", given.expect_reply)
  end
  if given.expect_events then
    expect(play, ms, where, "events", given.expect_events)
  end
  if given.expect_no_reply then
    expect(play, ms, where, "no_reply", true)
  end
end

-- -------------------------------------------------------------------------------------------------------------- table

local function contains(list, value)
  for _, entry in ipairs(list) do
    if entry == value then
      return true
    end
  end
  return false
end

local function moments_of(play)
  local moments, seen = {}, {}
  for _, expected in ipairs(play.expected) do
    if expected.kind == "outcome" and not seen[expected.us] then
      seen[expected.us] = true
      moments[#moments + 1] = expected.us
    end
  end
  table.sort(moments)
  return moments
end

--- Facts as {name, value}, in the order of their names; every fact is a segment.
local function facts_of(search)
  local facts, numbers = {}, {}
  for name, value in pairs(search.facts or {}) do
    facts[#facts + 1] = { name = name, value = tostring(value) }
  end
  table.sort(facts, function(a, b)
    return a.name < b.name
  end)
  for number, fact in ipairs(facts) do
    numbers[fact.name] = number
  end
  return facts, numbers
end

--- "mobile", 7, { least = 0, most = 6 }, or a list of these.
local function values_of(given)
  if type(given) ~= "table" or given.least or given.most then
    given = { given }
  end
  local values = {}
  for index, value in ipairs(given) do
    if type(value) == "number" then
      values[index] = { least = value, most = value }
    else
      values[index] = type(value) == "table" and value or { text = value }
    end
  end
  return values
end

local function rules_of(play, numbers)
  local rules = {}
  for number, given in ipairs(play.rules or {}) do
    local conditions = {}
    for name, value in pairs(given.when or {}) do
      one_of(play.where, "a condition", name, numbers)
      conditions[#conditions + 1] = { segment = numbers[name], values = values_of(value) }
    end
    rules[number] = {
      place = "rules:" .. number, conditions = conditions, suppliers = given.supplier, deadline_us = us(given.deadline),
      ceiling_us = us(given.ceiling), scale_millionths = given.scale and given.scale * 10000, max_us = us(given.max),
      weight_millionths = given.weight and given.weight * 1e6,
      delay_cost_millionths = given.delay_cost and given.delay_cost * 1e6,
    }
  end
  return rules
end

local function store_of(play)
  local given = play.store
  if not given then
    return nil
  end
  return {
    key = not play.search.private and (play.search.key or "q") or nil, after_us = us(given.after),
    spread_us = us(given.spread), reading_us = us(given.reading), faults = given.faults, hangs = given.hangs,
    slice_us = us(given.slice), max_age_ms = given.max_age, empty_max_age_ms = given.empty_max_age, fill = given.fill,
  }
end

--- What script.c takes.
local function table_of(play, machine)
  local search, own = play.search, play.machine
  local suppliers = {}
  for _, supplier in ipairs(play.suppliers) do
    suppliers[#suppliers + 1] = copy(supplier, {
      is_left_out = search.suppliers ~= nil and not contains(search.suppliers, supplier.name),
    })
  end
  local products = { bad_query = "fail_unexpected", script_error = "error", script_timeout = "timeout" }
  local full = {
    budget_us = us(search.budget), reserve_us = us(search.reserve), max_items = search.max_items,
    max_offers_per_item = search.max_offers_per_item, sort = search.sort, whole_or_nothing = search.partial == false,
    has_choice = search.suppliers ~= nil,
    is_public = search.detail == "public", is_test = search.test, reask_us = us(own.reask),
    leaves_us = play.leaves_us, suppliers = suppliers, patience = search.patience,
    moments = play.moments, start_us = us(own.start), queue_us = us(own.queue), product = products[own.product],
  }
  local numbers
  local extra = play.extra or {}
  full.has_extra, full.is_overloaded = play.extra ~= nil, extra.overloaded
  full.extra_per_supplier, full.extra_engine = extra.per_supplier, extra.engine
  full.has_default_budget = search.budget == nil
  full.facts, numbers = facts_of(search)
  full.rules = rules_of(play, numbers)
  full.store, full.indicative = store_of(play), search.indicative
  copy(machine, full)
  full.seed = machine.seed or 1
  full.workers = own.workers
  full.rung = own.rung
  full.refused_call, full.refused_fetch, full.refused_timer = own.refuses_call, own.refuses_fetch, own.refuses_timer
  full.late_us = us(own.late) or machine.late_us
  full.turn_us = us(own.turn) or machine.turn_us
  return full
end

-- ---------------------------------------------------------------------------------------------------------- comparing

--- Where a run does not keep to what was expected. `differ` collects sentences.
local function compare(differ, where, what, actual, expected)
  if actual ~= expected then
    differ[#differ + 1] = string.format("%s: %s is %s, not %s", where, what, tostring(actual), tostring(expected))
  end
end

local function list_text(list)
  local texts = {}
  for index, value in ipairs(list or {}) do
    texts[index] = tostring(value)
  end
  return "{ " .. table.concat(texts, ", ") .. " }"
end

local function compare_outcome(differ, where, name, entry, expected, is_over)
  if not entry then
    differ[#differ + 1] = string.format("%s: there is no outcome of %s", where, name)
    return
  end
  expected = type(expected) == "table" and expected or { expected }
  local outcome = entry.outcome
  if outcome == "cancelled" and not is_over then
    outcome = "pending"
  end
  for word, value in pairs(expected) do
    local what = name .. "'s " .. tostring(word)
    if word == 1 then
      compare(differ, where, name, outcome, value)
    elseif word == "breaker" then
      compare(differ, where, what, BREAKERS[value][entry.breaker] and value or entry.breaker, value)
    elseif word == "retry" then
      compare(differ, where, what, entry.retry_ms, value)
    elseif word == "rules" then
      compare(differ, where, what, list_text(entry.rules), list_text(value))
    else
      compare(differ, where, what, entry[word], value)
    end
  end
end

local function compare_outcomes(differ, where, entries, expected, is_over)
  for name, outcome in pairs(expected) do
    compare_outcome(differ, where, name, entries and entries[name], outcome, is_over)
  end
end

local function sorted(list)
  local result = {}
  for index, value in ipairs(list or {}) do
    result[index] = value
  end
  table.sort(result)
  return result
end

--- The ids in the order of the reply: of a stream its `order`, else of the offers themselves.
local function order_of(body)
  if body.order then
    return body.order
  end
  local ids = {}
  for index, offer in ipairs(body.offers or {}) do
    ids[index] = offer.id
  end
  return ids
end

local function count(map)
  local total = 0
  for _ in pairs(map or {}) do
    total = total + 1
  end
  return total
end

local function odd_items(body)
  local odd = {}
  for name, item in pairs(body.items or {}) do
    if item.odd then
      odd[#odd + 1] = name
    end
  end
  return odd
end

--- What the reply itself says of all suppliers, name by name.
local function compare_seen(differ, where, body, expected)
  local seen = {}
  for _, supplier in ipairs(body.suppliers or {}) do
    seen[supplier.name] = supplier.outcome
  end
  for name, outcome in pairs(expected) do
    compare(differ, where, name .. " as it is seen", seen[name], outcome)
    seen[name] = nil
  end
  for name in pairs(seen) do
    differ[#differ + 1] = string.format("%s: %s is seen too", where, name)
  end
end

--- "NAME VALUE COUNT LOWEST", in the order of the reply but for the names.
local function facet_texts(body)
  local names, texts = {}, {}
  for name in pairs(body.facets or {}) do
    names[#names + 1] = name
  end
  for _, name in ipairs(sorted(names)) do
    for _, value in ipairs(body.facets[name]) do
      texts[#texts + 1] = string.format("%s %s %d %s", name, value.value, value.count, value.lowest or "-")
    end
  end
  return texts
end

local function compare_budget(differ, where, body, expected)
  local budget = body.budget or {}
  local actual = {
    ms = budget.effective_ms, from = budget.from, rule = budget.rule, clamped = budget.clamped,
    requested = budget.requested_ms, reserve = budget.reserve_ms,
  }
  for word, value in pairs(expected) do
    if value == "" then
      value = nil -- the field is absent
    end
    compare(differ, where, "the budget's " .. word, actual[word], value)
  end
end

--- "ID STATUS" of the offers that say how their price came about.
local function marked_of(body)
  local marked = {}
  for _, offer in ipairs(body.offers or {}) do
    if offer.price_status then
      marked[#marked + 1] = offer.id .. " " .. offer.price_status
    end
  end
  return marked
end

local function compare_word(differ, where, run, word, value)
  local body = run.result.body
  local coverage = body.coverage or {}
  if word == "offers" then
    compare(differ, where, "offers", coverage.offers_returned, value)
  elseif word == "found" then
    compare(differ, where, "found", coverage.offers_found, value)
  elseif word == "reasons" then
    compare(differ, where, "reasons", list_text(sorted(coverage.reasons)), list_text(sorted(value)))
  elseif word == "order" then
    compare(differ, where, "order", list_text(order_of(body)), list_text(value))
  elseif word == "facets" then
    compare(differ, where, "facets", list_text(facet_texts(body)), list_text(value))
  elseif word == "items" and not run.is_stream then
    compare(differ, where, "items", count(body.items), value)
  elseif word == "marked" then
    if not run.is_stream then
      compare(differ, where, "marked", list_text(marked_of(body)), list_text(value))
    end
  elseif word == "odd_items" and not run.is_stream then
    compare(differ, where, "odd_items", list_text(sorted(odd_items(body))), list_text(sorted(value)))
  elseif word == "code" then
    compare(differ, where, "code", body.code, value)
  elseif word == "outcomes" then
    compare_outcomes(differ, where, run.result.entries, value, true)
  elseif word == "budget" then
    compare_budget(differ, where, body, value)
  elseif word == "seen" then
    compare_seen(differ, where, body, value)
  elseif word == "at" and run.machine.name == MACHINES[1].name then
    compare(differ, where, "time of the reply", run.result.sent_us, us(value))
  elseif word == "before" then
    compare(differ, where, "a reply before " .. value .. " ms", run.result.sent_us < us(value), true)
  elseif word == "status" or word == "requests" or word == "reasks" or word == "troubles" then
    compare(differ, where, word, run.result[word], value)
  elseif word == "early" then
    compare(differ, where, "early", run.result.early, value)
  elseif word == "cut_by_budget" then
    compare(differ, where, word, run.result.was_cut_by_budget, value)
  elseif word ~= "items" and word ~= "odd_items" and word ~= "at" then
    compare(differ, where, word, coverage[word], value)
  end
end

local function compare_reply(differ, expected, run)
  local result = run.result
  if result.replies ~= 1 or not result.body then
    differ[#differ + 1] = expected.where .. ": there is no reply"
    return
  end
  if expected.is_by and result.sent_us > expected.us then
    differ[#differ + 1] = string.format("%s: the reply was sent after %.3f ms, not by %g", expected.where,
      result.sent_us / 1000, expected.us / 1000)
  end
  for word, value in pairs(expected.given) do
    compare_word(differ, expected.where, run, word, value)
  end
end

--- "search", "offers NAME COUNT", "items COUNT", "retract COUNT REASON", "supplier NAME OUTCOME".
local function event_text(event)
  local data = event.data
  if event.name == "offers" and data.offers[1] then
    return string.format("offers %s %d", data.offers[1].id:match("^[^:]+"), #data.offers)
  elseif event.name == "offers" then
    return "items " .. count(data.items)
  elseif event.name == "retract" then
    return string.format("retract %d %s", #data.ids, data.reason)
  elseif event.name == "supplier" then
    return string.format("supplier %s %s", data.supplier.name, data.supplier.outcome)
  end
  return event.name
end

local function compare_events(differ, expected, run)
  if not run.is_stream then
    return
  end
  local told = {}
  for index, event in ipairs(run.result.events) do
    told[index] = event_text(event)
  end
  told[#told + 1] = "done"
  compare(differ, expected.where, "events", list_text(told), list_text(expected.given))
end

local function compare_moment(differ, play, expected, run)
  local entries = run.result.entries
  local is_over = true
  for index, at_us in ipairs(play.moments) do
    if at_us == expected.us and run.result.moments[index] then
      entries, is_over = run.result.moments[index], false
    end
  end
  compare_outcomes(differ, expected.where, entries, expected.given, is_over)
end

--- What was told last of a supplier's health.
local function compare_health(differ, where, name, told, wanted)
  check_words(where, "the health of " .. name, wanted, HEALTH)
  one_of(where, "health", wanted[1], HEALTH_ENDS)
  compare(differ, where, "health of " .. name, told and told["end"] or "untold", wanted[1])
  for _, word in ipairs { "times", "value", "refusals", "parks", "noted", "items", "won" } do
    if wanted[word] ~= nil then
      compare(differ, where, word .. " of the health of " .. name, told and told[word], wanted[word])
    end
  end
  if wanted.pending and not (told and told.pending_us >= us(wanted.pending)) then
    differ[#differ + 1] = ("%s: the fetch of %s was out for less than %s ms"):format(where, name, wanted.pending)
  end
end

--- The record of what went on of a supplier, the last one.
local function compare_late(differ, where, name, told, wanted)
  check_words(where, "what went on of " .. name, wanted, LATE)
  compare(differ, where, "outcome of what went on of " .. name, told and told.outcome or "none", wanted[1])
  for word, value in pairs(wanted) do
    if word == "after" then
      if not (told and told.late_us >= us(value)) then
        differ[#differ + 1] = ("%s: what went on of %s was late by less than %s ms"):format(where, name, value)
      end
    elseif word ~= 1 then
      compare(differ, where, word .. " of what went on of " .. name, told and told[word], value)
    end
  end
end

--- What became of extra calls, and why the last one was refused; words that are not there are nil.
local function compare_extra(differ, where, name, told, wanted)
  check_words(where, "the extra calls of " .. name, wanted, TOLD)
  for _, word in ipairs { "retry", "connect", "hedge", "refused" } do
    compare(differ, where, word .. " of the extra calls of " .. name, told[word], wanted[word])
  end
  if wanted.loser and told.loser_us < us(wanted.loser) then
    differ[#differ + 1] = ("%s: the loser of %s was out for less than %s ms"):format(where, name, wanted.loser)
  end
end

--- What the store has of a supplier in the end; false: nothing.
local function compare_kept(differ, where, name, kept, wanted)
  if wanted == false or not kept then
    compare(differ, where, "an answer of " .. name .. " that is kept", kept ~= nil, wanted ~= false)
    return
  end
  check_words(where, "what is kept of " .. name, wanted, KEPT)
  for word, value in pairs(wanted) do
    compare(differ, where, word .. " of what is kept of " .. name, kept[word], value)
  end
end

local function compare_finally(differ, play, run, memory)
  local where, given, result = play.finally_where, play.finally, run.result
  for word, value in pairs(given) do
    if word == "memory" then
      compare(differ, where, "memory", memory, value)
    elseif word == "breaker" then
      for name, wanted in pairs(value) do
        compare_outcome(differ, where, name, result.entries and result.entries[name], { breaker = wanted }, true)
      end
    elseif word == "outcomes" then
      compare_outcomes(differ, where, result.entries, value, true)
    elseif word == "extra" then
      for name, wanted in pairs(value) do
        compare_extra(differ, where, name, result.extra[name], wanted)
      end
    elseif word == "health" then
      for name, wanted in pairs(value) do
        compare_health(differ, where, name, result.health[name], type(wanted) == "table" and wanted or { wanted })
      end
    elseif word == "kept" then
      for name, wanted in pairs(value) do
        compare_kept(differ, where, name, result.kept[name], wanted)
      end
    elseif word == "late" then
      for name, wanted in pairs(value) do
        compare_late(differ, where, name, result.late[name], type(wanted) == "table" and wanted or { wanted })
      end
    else
      compare(differ, where, word, result[word], value)
    end
  end
end

local function check_run(play, run, memory)
  local differ = {}
  for line in run.result.violations:gmatch("[^\n]+") do
    differ[#differ + 1] = play.where .. ": " .. line
  end
  for _, expected in ipairs(play.expected) do
    if expected.kind == "reply" then
      compare_reply(differ, expected, run)
    elseif expected.kind == "events" then
      compare_events(differ, expected, run)
    elseif expected.kind == "outcome" then
      compare_moment(differ, play, expected, run)
    else
      compare(differ, expected.where, "replies", run.result.replies, 0)
    end
  end
  compare_finally(differ, play, run, memory)
  return differ
end

-- ------------------------------------------------------------------------------------------------------------ playing

local function check_play(play)
  if not play.search then
    fail(play.where, "the play has no search")
  elseif not play.finally then
    fail(play.where, "the play has no finally")
  elseif #play.expected == 0 and not play.finally.outcomes then
    fail(play.where, "the play expects nothing")
  end
  local names = {}
  for _, supplier in ipairs(play.suppliers) do
    names[supplier.name] = true
  end
  for _, name in ipairs(play.search.suppliers or {}) do
    one_of(play.where, "a supplier of the search", name, names)
  end
  for _, expected in ipairs(play.expected) do
    local outcomes = expected.kind == "outcome" and expected.given
      or expected.kind == "reply" and expected.given.outcomes or {}
    for name in pairs(outcomes) do
      one_of(expected.where, "a supplier", name, names)
    end
  end
  table.sort(play.suppliers, function(a, b)
    return a.name < b.name
  end)
  play.moments = moments_of(play)
end

local function run_on(play, machine, differ)
  local single, stream, memory = play_once(table_of(play, machine))
  for _, run in ipairs({
    { result = single, machine = machine },
    { result = stream, machine = machine, is_stream = true },
  }) do
    for _, sentence in ipairs(check_run(play, run, memory)) do
      differ[#differ + 1] = string.format("%s (%s%s)", sentence, run.is_stream and "a stream on " or "", machine.name)
    end
  end
end

--- All that does not hold, on every machine.
local function run_play(play)
  local differ = {}
  check_play(play)
  for number, machine in ipairs(MACHINES) do
    if number == 1 or not play.machine.exact then
      run_on(play, copy(machine, { seed = 7 * number }), differ)
    end
  end
  return differ
end

--- Reads the scenarios of a file.
local function read_file(path)
  local plays, current = {}, nil

  local function where()
    return path .. ":" .. debug.getinfo(3, "l").currentline
  end
  local function line_of(is_by)
    return function(ms)
      local at = where()
      return function(given)
        if not current then
          fail(at, "a scenario comes first")
        elseif type(ms) ~= "number" or ms < 0 then
          fail(at, "a time is a number of milliseconds")
        elseif type(given) ~= "table" then
          fail(at, "a line is a table")
        end
        local before = #current.expected
        read_line(current, ms, at, given)
        for index = before + 1, #current.expected do
          current.expected[index].is_by = is_by
        end
      end
    end
  end
  local words = {
    scenario = function(sentence)
      current = { name = sentence, where = where(), suppliers = {}, expected = {}, machine = {} }
      plays[#plays + 1] = current
    end,
    at = line_of(false),
    by = line_of(true),
    finally = function(given)
      local at = where()
      check_words(at, "finally", given, FINALLY)
      for _, wanted in pairs(given.breaker or {}) do
        one_of(at, "breaker", wanted, BREAKERS)
      end
      check_outcomes(at, given.outcomes or {})
      current.finally, current.finally_where = given, at
    end,
    ipairs = ipairs,
    pairs = pairs,
  }
  setmetatable(words, {
    __index = function(_, word)
      fail(path .. ":" .. debug.getinfo(2, "l").currentline, "there is no word %s%s", word, suggestion(word, words))
    end,
  })
  local chunk, message = loadfile(path)
  if not chunk then
    error({ message = message }, 0)
  end
  setfenv(chunk, words)()
  return plays
end

local function message_of(problem)
  return type(problem) == "table" and problem.message or tostring(problem)
end

--- Prints a line for each play; returns how many were not ok.
function M.play_file(path)
  local fine, plays = pcall(read_file, path)
  if not fine then
    print("not ok " .. path .. "\n# " .. message_of(plays))
    return 1
  end
  local failed = 0
  local letter = path:match("([%w_]+)%.lua$")
  for _, play in ipairs(plays) do
    local ran, differ = pcall(run_play, play)
    if not ran then
      differ = { message_of(differ) }
    end
    local name = letter .. ": " .. play.name
    print((#differ == 0 and "ok " or "not ok ") .. name:gsub("#", ""))
    for index, sentence in ipairs(differ) do
      if index <= 12 then
        print("# " .. sentence)
      end
    end
    failed = failed + (#differ == 0 and 0 or 1)
  end
  return failed
end

--- A play that must fail; its first line, `-- expect: TEXT`, says what the first complaint has in it.
function M.check_error(path)
  local file = assert(io.open(path))
  local expected = file:read("*l"):match("^%-%- expect: (.+)$")
  file:close()
  local complaint = "nothing"
  local fine, plays = pcall(read_file, path)
  if not fine then
    complaint = message_of(plays)
  else
    for _, play in ipairs(plays) do
      local ran, differ = pcall(run_play, play)
      if not ran or #differ > 0 then
        complaint = ran and table.concat(differ, "\n") or message_of(differ)
        break
      end
    end
  end
  local is_fine = expected ~= nil and complaint:find(expected, 1, true) ~= nil
  print((is_fine and "ok " or "not ok ") .. "a_wrong_play_is_refused: " .. path:match("([%w_]+)%.lua$"))
  if not is_fine then
    print("# expected: " .. tostring(expected) .. "\n# but: " .. complaint)
  end
  return is_fine and 0 or 1
end

return M
