-- The tables of `tests/bench/run policy`: reads its JSON object from standard input. Each figure is the mean over the
-- seeds with the half width of its 95 % interval (Student's t over seeds); differences are paired by seed.
local json = require("cjson")

local bench = json.decode(io.read("*a"))

-- 97.5 % quantiles of Student's t by degrees of freedom.
local T = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145 }

local COLUMNS = {
  { "value %", "value", 2 },
  { "worst 1 %", "value_tail", 1 },
  { "compl. %", "completeness", 2 },
  { "p5", "completeness_p5", 1 },
  { "p1", "completeness_p1", 1 },
  { "best %", "best", 2 },
  { "mean ms", "took_mean", 0 },
  { "p50", "took_p50", 0 },
  { "p95", "took_p95", 0 },
  { "p99", "took_p99", 0 },
  { "p99.9", "took_p999", 0 },
  { "late p99", "late_p99", 0 },
  { "p99.9", "late_p999", 0 },
  { "max", "late_max", 0 },
  { "conn s", "connection_s", 2 },
  { "calls", "requests", 2 },
  { "extra", "extra", 3 },
  { "retries", "retries", 3 },
  { "hedges", "hedges", 3 },
  { "early", "early", 2 },
  { "refused", "refused", 2 },
  { "back s", "recovery_s", 1 },
}

-- Mean and half width; the width is nil for fewer than two values.
local function spread(values)
  local n, sum, square = #values, 0, 0
  for _, value in ipairs(values) do
    sum = sum + value
  end
  local mean = sum / n
  for _, value in ipairs(values) do
    square = square + (value - mean) ^ 2
  end
  return mean, n > 1 and (T[n - 1] or 1.96) * math.sqrt(square / (n - 1) / n) or nil
end

local function shown(values, digits)
  local mean, width = spread(values)
  local form = "%." .. digits .. "f"
  if not width then
    return form:format(mean)
  end
  return (form .. " ±" .. form):format(mean, width)
end

-- Width in characters, of UTF-8.
local function width_of(text)
  return select(2, text:gsub("[^\128-\191]", ""))
end

local function print_lines(lines)
  local widths = {}
  for _, line in ipairs(lines) do
    for c, cell in ipairs(line) do
      widths[c] = math.max(widths[c] or 0, width_of(cell))
    end
  end
  for _, line in ipairs(lines) do
    local cells = {}
    for c, cell in ipairs(line) do
      local blank = (" "):rep(widths[c] - width_of(cell))
      cells[c] = c == 1 and cell .. blank or blank .. cell
    end
    print((table.concat(cells, "  "):gsub("%s+$", "")))
  end
end

-- The rows of a population by their names: { group, knob, seeds = { [seed] = figures } }, and the names in order.
local function by_name(population)
  local rows, names = {}, {}
  for _, figures in ipairs(population.rows) do
    local row = rows[figures.row]
    if not row then
      row = { name = figures.row, group = figures.group, knob = figures.knob, seeds = {} }
      rows[figures.row] = row
      names[#names + 1] = figures.row
    end
    row.seeds[figures.seed] = figures
  end
  return rows, names
end

-- One value for each seed.
local function values_of(row, field)
  local values = {}
  for _, seed in ipairs(bench.seeds) do
    values[#values + 1] = row.seeds[seed][field]
  end
  return values
end

local function print_rows(rows, names, group)
  local lines = { { group == "table" and "row" or "grid" } }
  for _, column in ipairs(COLUMNS) do
    table.insert(lines[1], column[1])
  end
  for _, name in ipairs(names) do
    if rows[name].group == group then
      local line = { name }
      for _, column in ipairs(COLUMNS) do
        line[#line + 1] = shown(values_of(rows[name], column[2]), column[3])
      end
      lines[#lines + 1] = line
    end
  end
  if #lines > 1 then
    print_lines(lines)
    print("")
  end
end

-- The rows of the table whose names begin so, each less the row `base` or the other way round.
local function print_differences(rows, names, base, begin, is_base_first)
  local fields = {
    { "value", 2 }, { "value_tail", 1 }, { "completeness", 2 }, { "best", 2 }, { "took_mean", 0 },
    { "connection_s", 2 }, { "extra", 3 },
  }
  local title = is_base_first and base .. " less …" or "… less " .. base
  local lines = { { title, "value %", "worst 1 %", "compl. %", "best %", "mean ms", "conn s", "extra" } }
  for _, name in ipairs(names) do
    if rows[name].group == "table" and name ~= base and rows[base] and name:sub(1, #begin) == begin then
      local line = { name }
      for _, field in ipairs(fields) do
        local differences = {}
        for _, seed in ipairs(bench.seeds) do
          local difference = rows[name].seeds[seed][field[1]] - rows[base].seeds[seed][field[1]]
          table.insert(differences, is_base_first and -difference or difference)
        end
        line[#line + 1] = shown(differences, field[2])
      end
      lines[#lines + 1] = line
    end
  end
  if #lines > 1 then
    print_lines(lines)
    print("")
  end
end

-- What the grid's rows of a group would show of `field` where `by` is `target`, for one seed; nil: beyond the grid.
local function interpolate(rows, group, seed, by, target, field)
  local points = {}
  for _, row in pairs(rows) do
    if row.group == group then
      points[#points + 1] = row.seeds[seed]
    end
  end
  table.sort(points, function(a, b)
    if a[by] ~= b[by] then
      return a[by] < b[by]
    end
    return a[field] > b[field] -- of those that take equally long, the best is the rival
  end)
  for i, right in ipairs(points) do
    if right[by] >= target then
      local left = points[i - 1]
      if not left then
        return right[by] - target <= 1 and right[field] or nil
      end
      local share = right[by] > left[by] and (target - left[by]) / (right[by] - left[by]) or 1
      return left[field] + share * (right[field] - left[field])
    end
  end
  local last = points[#points]
  return last and target - last[by] <= 1 and last[field] or nil -- within a millisecond it is the same
end

-- Differences of a row from a group of the grid at equal `by`, one for each seed; nil where the grid does not reach.
local function at_equal(rows, row, group, by, field)
  local differences = {}
  for _, seed in ipairs(bench.seeds) do
    local figures = rows[row].seeds[seed]
    local other = interpolate(rows, group, seed, by, figures[by], field)
    if not other then
      return nil
    end
    differences[#differences + 1] = figures[field] - other
  end
  return differences
end

-- Shown: the whole interval is on the right side. Failed: the whole of it is not. Else the seeds do not say.
local function tell(what, values, least, digits, unit)
  if not values then
    print(what .. ": NOT MEASURED, the grid does not reach there")
    return
  end
  local mean, width = spread(values)
  local low, high = mean - (width or 0), mean + (width or 0)
  local verdict = low >= least and "SHOWN" or high < least and "FAILED" or mean >= least and "NOT SHOWN" or "FAILED"
  print(("%s: %s%s, wanted %s or more: %s"):format(what, shown(values, digits), unit, tostring(least), verdict))
end

local function negated(values)
  local others = {}
  for i, value in ipairs(values or {}) do
    others[i] = -value
  end
  return values and others
end

local CLAIMS = {}

function CLAIMS.healthy(rows)
  local above = at_equal(rows, "ours", "cut", "took_p95", "value")
  tell("at equal p95, value above the uniform cut", above, 1, 2, " points")
  local spare = {}
  for _, seed in ipairs(bench.seeds) do
    local figures = rows.ours.seeds[seed]
    spare[#spare + 1] = 5 - 100 * figures.extra / (figures.requests - figures.extra)
  end
  tell("extra calls below 5 % of the ordinary ones, by", spare, 0, 2, " points")
  -- Ours is the grid here, the rival the row.
  for _, field in ipairs({ { "value", "value" }, { "complete_tail", "completeness of the worst 1 %" } }) do
    for _, group in ipairs({ "delay", "delay_without_ceilings" }) do
      local differences = at_equal(rows, "90 % answered", group, "took_mean", field[1])
      local what = "at equal mean, early finish (" .. group .. ") above 90 % answered in " .. field[2]
      tell(what, negated(differences), 0, 2, " points")
    end
  end
end

CLAIMS["hanging-8"] = function(rows)
  local fewer, value = {}, {}
  for _, seed in ipairs(bench.seeds) do
    local ours, cut = rows.ours.seeds[seed], rows["cut at 2 s"].seeds[seed]
    fewer[#fewer + 1] = 100 * (1 - ours.connection_s / cut.connection_s)
    value[#value + 1] = ours.value - cut.value
  end
  tell("fewer connection-seconds than the uniform cut", fewer, 15, 1, " %")
  tell("at a value above the uniform cut's, by", value, 0, 2, " points")
end

function CLAIMS.dead(rows)
  local spare = {}
  for _, seed in ipairs(bench.seeds) do
    local figures = rows.ours.seeds[seed]
    if figures.watched_s < 30 then
      print("back within 30 s: NOT MEASURED, too few searches: they end before it could be seen")
      return
    end
    spare[#spare + 1] = 30 - figures.recovery_s
  end
  tell("asked by every search within 30 s of being back; seconds to spare", spare, 0, 1, " s")
end

print("value: of all there is to be found, in replies whose last byte left by 2 s; worst 1 %: mean of the poorest")
print("searches; late: past 2 s, in ms; of a search: conn s, calls, extra, early (not waited for), refused (breaker")
print("open); ±: 95 % over " .. #bench.seeds .. " seeds")
for _, population in ipairs(bench.populations) do
  local rows, names = by_name(population)
  print(("\n== %s (%d searches a seed)\n"):format(population.name, population.rows[1].searches))
  for _, group in ipairs({ "table", "cut", "answered", "delay", "delay_without_ceilings", "held" }) do
    print_rows(rows, names, group)
  end
  print_differences(rows, names, "ours", "", true)
  print_differences(rows, names, "cut at 2 s", "ours", false)
  if CLAIMS[population.name] and rows.ours and rows["cut at 2 s"] then
    CLAIMS[population.name](rows)
  end
end
