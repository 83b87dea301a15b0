-- Judge: what the load met while engines and store came and went, as a table; exit code 1 when a number is wrong.
--
--   luajit examples/multi-node/judge.lua SEARCHES EVENTS CHECKS BUDGET_MS
--
-- EVENTS has lines "time in µs, what, who", CHECKS "what, how many, of how many", which `run` writes.
local searches_name, events_name, checks_name, budget_ms = unpack(arg)
budget_ms = tonumber(budget_ms)

-- What a caller's clock may show beyond the budget on a machine that balancer, engines, farm and load share.
local SLACK_MS = 400

local function rows_of(name)
  local rows = {}
  for line in io.lines(name) do
    local row = {}
    for field in (line .. "\t"):gmatch("([^\t]*)\t") do
      row[#row + 1] = field
    end
    rows[#rows + 1] = row
  end
  return rows
end

local events, searches = {}, {}
for _, row in ipairs(rows_of(events_name)) do
  events[#events + 1] = { at_us = tonumber(row[1]), what = row[2], who = row[3] }
end
for _, row in ipairs(rows_of(searches_name)) do
  searches[#searches + 1] = { begun_us = tonumber(row[1]), ended_us = tonumber(row[2]), status = tonumber(row[3]),
    engine = row[4], took_ms = tonumber(row[5]), is_complete = row[6] == "true", indicative = tonumber(row[8]) or 0 }
end

-- The last thing that had happened when the search began.
local function phase_of(search)
  local phase = "begin"
  for _, event in ipairs(events) do
    if event.at_us <= search.begun_us then
      phase = event.what .. " " .. event.who
    end
  end
  return phase
end

-- Was it under way at an engine that was killed?
local function is_of_the_killed(search)
  for _, event in ipairs(events) do
    if event.what == "killed" and search.begun_us <= event.at_us and search.ended_us >= event.at_us
      and (search.engine == event.who or search.engine == "-") then
      return true
    end
  end
  return false
end

local ENGINES = { "one", "two", "three" }
local phases, order = {}, {}
local lost, late, excused = 0, 0, 0

local function table_row(name)
  if not phases[name] then
    phases[name] = { count = 0, ok = 0, lost = 0, excused = 0, late = 0, one = 0, two = 0, three = 0, worst_ms = 0,
      complete = 0, indicative = 0 }
    order[#order + 1] = name
  end
  return phases[name]
end

table.sort(searches, function(a, b)
  return a.begun_us < b.begun_us
end)
for _, search in ipairs(searches) do
  local row = table_row(phase_of(search))
  local took_ms = (search.ended_us - search.begun_us) / 1000
  row.count = row.count + 1
  row[search.engine] = (row[search.engine] or 0) + 1
  row.indicative = row.indicative + search.indicative
  if search.status == 200 then
    row.ok = row.ok + 1
    row.complete = row.complete + (search.is_complete and 1 or 0)
    row.worst_ms = math.max(row.worst_ms, took_ms)
    if (search.took_ms or budget_ms + 1) > budget_ms or took_ms > budget_ms + SLACK_MS then
      row.late = row.late + 1
      late = late + 1
    end
  elseif is_of_the_killed(search) then
    row.excused = row.excused + 1
    excused = excused + 1
  else
    row.lost = row.lost + 1
    lost = lost + 1
  end
end

print(("%-18s %8s %6s %8s %6s %6s %5s %9s  %5s %5s %5s"):format("since", "searches", "ok", "complete", "killed", "lost",
  "late", "worst_ms", ENGINES[1], ENGINES[2], ENGINES[3]))
for _, name in ipairs(order) do
  local row = phases[name]
  print(("%-18s %8d %6d %8d %6d %6d %5d %9.0f  %5d %5d %5d"):format(name, row.count, row.ok, row.complete, row.excused,
    row.lost, row.late, row.worst_ms, row.one, row.two, row.three))
end
print("")

local wrong = {}
local function expect(is_so, sentence)
  print((is_so and "ok    " or "WRONG ") .. sentence)
  if not is_so then
    wrong[#wrong + 1] = sentence
  end
end

expect(#searches > 0, ("%d searches in all"):format(#searches))
expect(lost == 0, ("%d lost that were not under way at the engine that was killed (%d were)"):format(lost, excused))
expect(late == 0, ("%d late: more than %d ms by the engine, or %d more by the caller"):format(late, budget_ms,
  SLACK_MS))
for _, row in ipairs(rows_of(checks_name)) do
  expect(row[2] == row[3], ("%s: %s of %s"):format(row[1], row[2], row[3]))
end
os.exit(#wrong == 0 and 0 or 1)
