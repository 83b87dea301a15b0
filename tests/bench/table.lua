-- Prints the rows of a benchmark as a table. Reads the JSON object of `tests/bench/run` from standard input.
local json = require("cjson")

local bench = json.decode(io.read("*a"))

local function us(value)
  return string.format("%.2f", value / 1000)
end

local LATENESS = {
  { "variant", function(row) return row.variant end },
  { "load", function(row) return row.load .. " %" end },
  { "rate/s", function(row) return string.format("%.1f", row.rate) end },
  { "searches", function(row) return row.searches end },
  { "lost", function(row) return row.lost end },
  { "late", function(row) return row.late end },
  { "late %", function(row) return string.format("%.3f", row.late_share * 100) end },
  { "excused", function(row) return row.excused end },
  { "slow", function(row) return row.client_slow end },
  { "streams", function(row) return row.streams end },
  { "eng p99.9", function(row) return us(row.engine_p999_us) end },
  { "eng max", function(row) return us(row.engine_max_us) end },
  { "cli p99.9", function(row) return us(row.client_p999_us) end },
  { "str p99.9", function(row) return us(row.stream_p999_us) end },
  { "tmr p99", function(row) return us(row.timer_p99_us) end },
  { "tmr p99.9", function(row) return us(row.timer_p999_us) end },
  { "unused", function(row) return us(row.unused_median_us) end },
  { "reserve", function(row) return us(row.reserve_median_us) end },
  { "cpu %", function(row) return string.format("%.0f", row.engine_share * 100) end },
  { "farm %", function(row) return string.format("%.0f", row.farm_share * 100) end },
  { "slow readers", function(row) return row.slow_asked .. "/" .. row.slow_timed .. "/" .. row.slow_waited end },
  { "witness", function(row) return row.witness .. "/" .. us(row.witness_worst_us) end },
}

local OVERLOAD = {
  { "variant", function(row) return row.variant end },
  { "load", function(row) return row.load .. " %" end },
  { "offered/s", function(row) return string.format("%.1f", row.searches / bench.seconds) end },
  { "admitted/s", function(row)
    return string.format("%.1f", (row.searches - row.refused) / bench.seconds)
  end },
  { "refused", function(row) return row.refused end },
  { "ref p50", function(row) return us(row.refusal_p50_us) end },
  { "ref p99", function(row) return us(row.refusal_p99_us) end },
  { "ref max", function(row) return us(row.refusal_max_us) end },
  { "on time %", function(row)
    local admitted = row.searches - row.refused
    return string.format("%.2f", admitted > 0 and 100 * row.on_time / admitted or 100)
  end },
  { "goodput/s", function(row) return string.format("%.1f", row.goodput / bench.seconds) end },
  { "coverage %", function(row) return string.format("%.1f", row.coverage * 100) end },
  { "504", function(row) return row.status_504 end },
  { "lost", function(row) return row.lost end },
  { "late", function(row) return row.late end },
  { "excused", function(row) return row.excused end },
  { "slow", function(row) return row.client_slow end },
  { "eng max", function(row) return us(row.engine_max_us) end },
  { "cli p99.9", function(row) return us(row.client_p999_us) end },
  { "start p99", function(row) return us(row.start_late_p99_us) end },
  { "cpu %", function(row) return string.format("%.0f", row.engine_share * 100) end },
  { "farm %", function(row) return string.format("%.0f", row.farm_share * 100) end },
}

local COST = {
  { "program", function(row) return row.variant end },
  { "searches", function(row) return row.searches end },
  { "per second", function(row) return string.format("%.1f", row.searches / bench.seconds) end },
  { "CPU us", function(row) return row.engine_cpu_us_per_search end },
  { "core %", function(row) return string.format("%.0f", row.engine_share * 100) end },
  { "farm %", function(row) return string.format("%.0f", row.farm_share * 100) end },
  { "reply bytes", function(row) return row.body_bytes end },
}

local DECODE = {
  { "document", function(row) return row.variant end },
  { "bytes", function(row) return row.bytes end },
  { "whole", function(row) return us(row.whole_us) end },
  { "shape", function(row) return row.shape_us and us(row.shape_us) or "-" end },
  { "cjson", function(row) return us(row.cjson_us) end },
  { "check", function(row) return us(row.check_us) end },
  { "whole / cjson", function(row) return string.format("%.2f", row.whole_us / row.cjson_us) end },
}

local function print_table(columns, rows)
  local widths = {}
  local lines = { {} }
  for c, column in ipairs(columns) do
    lines[1][c] = column[1]
  end
  for r, row in ipairs(rows) do
    lines[r + 1] = {}
    for c, column in ipairs(columns) do
      lines[r + 1][c] = tostring(column[2](row))
    end
  end
  for _, line in ipairs(lines) do
    for c, cell in ipairs(line) do
      widths[c] = math.max(widths[c] or 0, #cell)
    end
  end
  for _, line in ipairs(lines) do
    local cells = {}
    for c, cell in ipairs(line) do
      cells[c] = c == 1 and cell .. (" "):rep(widths[c] - #cell) or (" "):rep(widths[c] - #cell) .. cell
    end
    print(table.concat(cells, "  "))
  end
end

-- CPU times of a program, round by round.
local function costs_of(variant)
  local costs = {}
  for _, row in ipairs(bench.rows) do
    if row.variant == variant then
      costs[#costs + 1] = row.engine_cpu_us_per_search
    end
  end
  return costs
end

local function spread(name, form, values)
  local sorted = { unpack(values) }
  table.sort(sorted)
  local median = sorted[math.ceil(#sorted / 2)]
  return ("%s = " .. form .. " (" .. form .. " to " .. form .. ")"):format(name, median, sorted[1], sorted[#sorted])
end

-- A run that says nothing must say so (performance.md).
local function print_voids()
  for _, row in ipairs(bench.rows) do
    local name = row.variant .. " at " .. (row.load or 100) .. " %"
    if (row.farm_share or 0) > 0.8 then
      print(name .. ": VOID, the farm used " .. string.format("%.0f", row.farm_share * 100) .. " % of its core")
    end
    if (row.client_slow_share or 0) > 0.001 then
      print(name .. string.format(": VOID, %.2f %% of the replies met a slow client", row.client_slow_share * 100))
    end
    if (row.excused_share or 0) > 0.001 then
      print(name .. string.format(": VOID, %.2f %% excused by the witness", row.excused_share * 100))
    end
    if bench.bench == "lateness" and row.searches < 1000 then
      print(name .. ": only " .. row.searches .. " searches, p99.9 is their maximum")
    end
  end
end

if bench.bench == "lateness" then
  print("times in ms; eng: sent - deadline, cli: last byte - intended start - budget, str: cli of the streams,")
  print("tmr: timer after its plan; slow readers: searches sent in advance / known to the engine / with a full socket")
  print_table(LATENESS, bench.rows)
elseif bench.bench == "overload" then
  print("times in ms; ref: a refusal from its intended start, as the client saw it; goodput: whole searches' worth of")
  print("answers within replies that came in time; late: sent after the deadline, as the engine says; start: how late")
  print("the load itself sent")
  print_table(OVERLOAD, bench.rows)
  local peak, last = 0, nil
  for _, row in ipairs(bench.rows) do
    if row.variant == "admission" then
      peak, last = math.max(peak, row.goodput), row
    end
  end
  if last then
    local share = peak > 0 and 100 * last.goodput / peak or 0
    print(string.format("goodput at %d %%: %.0f %% of its peak", last.load, share))
  end
elseif bench.bench == "policies" then
  print_table(COST, bench.rows)
  local bare = costs_of("bare")
  for _, name in ipairs { "usual", "all" } do
    local more = {}
    for round, cost in ipairs(costs_of(name)) do
      more[round] = 100 * (cost / bare[round] - 1)
    end
    print(spread(name .. ": more CPU a search than bare", "%.1f %%", more))
  end
elseif bench.bench == "decode" then
  print("times in ms of CPU, medians; whole, shape: our decoder, which checks UTF-8 and the grammar; cjson: lua-cjson,")
  print("which does not; check: our reader alone")
  print_table(DECODE, bench.rows)
else
  print_table(COST, bench.rows)
  local engine, floor, ratio = costs_of("engine"), costs_of("floor"), {}
  for round = 1, #floor do
    ratio[round] = engine[round] / floor[round]
  end
  print(spread("engine", "%.0f us", engine) .. "; " .. spread("floor", "%.0f us", floor))
  print(spread("engine / floor", "%.1f", ratio))
end
print_voids()
