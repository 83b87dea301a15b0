-- Ledger: the sums of what replies, the attribution file, /metrics and the farm tell of the same searches.
local world = require("tests.e2e.world")
local equal = world.equal

local M = {}

-- What a reply and its record both say of a supplier.
local FIELDS = { "name", "outcome", "bound", "phase", "kind", "detail", "reason", "offers", "took_ms", "partial" }
local COVERAGE = {
  "complete", "percent", "eligible", "answered", "empty", "missing", "offers_found", "offers_returned",
}

function M.add(sums, name, field, value)
  sums[name] = sums[name] or {}
  sums[name][field] = (sums[name][field] or 0) + value
end

-- Lines of JSON, decoded; `from` is the offset to begin at. Returns them and the offset behind the last whole one.
function M.read_lines(path, from)
  local file = io.open(path, "rb")
  local lines, offset = {}, from or 0
  if file then
    file:seek("set", offset)
    for line in (file:read("*a") or ""):gmatch("[^\n]*\n") do
      lines[#lines + 1] = world.json.decode(line)
      offset = offset + #line
    end
    file:close()
  end
  return lines, offset
end

-- The records behind `offset` and the offset behind them, once those of all `ids` are there: a record is made when the
-- engine has seen that its reply is out, which the caller may know first.
function M.read_records(w, path, offset, ids)
  local records, behind
  for _ = 1, 100 do
    world.http("GET", w.admin_url .. "/admin/v1/searches") -- comes back when what there is has been written
    records, behind = M.read_lines(path, offset)
    local found, missing = {}, 0
    for _, record in ipairs(records) do
      found[record.search_id] = true
    end
    for id in pairs(ids) do
      missing = missing + (found[id] and 0 or 1)
    end
    if missing == 0 then
      break
    end
    world.sleep_ms(50)
  end
  return records, behind
end

-- The value of every line of /metrics, by name and labels as they stand.
function M.read_metrics(w)
  local reply = world.http("GET", w.admin_url .. "/metrics")
  equal(200, reply.status, "status of /metrics")
  local metrics = {}
  for line in reply.raw:gmatch("[^\n]+") do
    local name, value = line:match("^lastcall_(%S+) (%S+)$")
    if name then
      metrics[name] = tonumber(value)
    end
  end
  return metrics
end

-- metric(metrics, "attempts_total", "supplier", "s01", "outcome", "cut"); 0 when there is no such line.
function M.metric(metrics, name, ...)
  local labels = {}
  for i = 1, select("#", ...), 2 do
    labels[#labels + 1] = ("%s=\"%s\""):format((select(i, ...)), (select(i + 1, ...)))
  end
  return metrics[name .. (#labels > 0 and "{" .. table.concat(labels, ",") .. "}" or "")] or 0
end

-- The sum of all lines of a metric.
function M.metric_sum(metrics, name)
  local sum = 0
  for key, value in pairs(metrics) do
    sum = sum + ((key == name or key:sub(1, #name + 1) == name .. "{") and value or 0)
  end
  return sum
end

-- Adds the suppliers of a reply or a record: outcomes, offers, requests, and where they were cut.
function M.count(sums, suppliers)
  for _, supplier in ipairs(suppliers) do
    M.add(sums, supplier.name, supplier.outcome, 1)
    M.add(sums, supplier.name, "offers", supplier.offers or 0)
    M.add(sums, supplier.name, "requests", supplier.requests or 0)
    if supplier.outcome == "cut" then
      M.add(sums, supplier.name, supplier.bound .. "/" .. supplier.phase, 1)
    end
  end
end

-- A reply and its record tell the same.
function M.check_record(reply, status, record)
  local id = record.search_id
  equal(status, record.status, "status of " .. id)
  equal(true, record.sent, "sent of " .. id)
  assert(record.took_ms >= (reply.took_ms or 0), "the record is made when the reply is written: " .. record.took_ms)
  if not reply.coverage then
    equal(0, #record.suppliers, "suppliers of " .. id .. ", which was refused")
    return
  end
  for _, field in ipairs(COVERAGE) do
    equal(reply.coverage[field], record.coverage[field], field .. " of " .. id)
  end
  equal(#reply.suppliers, #record.suppliers, "suppliers of " .. id)
  for i, supplier in ipairs(reply.suppliers) do
    for _, field in ipairs(FIELDS) do
      equal(supplier[field], record.suppliers[i][field], ("%s.%s of %s"):format(supplier.name, field, id))
    end
  end
end

-- The sums of the file are those of /metrics; returns how many attempts there were.
function M.check_metrics(in_file, metrics)
  local attempts = 0
  for name, sums in pairs(in_file) do
    for field, value in pairs(sums) do
      local bound, phase = field:match("^(%a+)/(.+)$")
      local told
      if bound then
        told = M.metric(metrics, "attempts_cut_total", "supplier", name, "bound", bound, "phase", phase)
      elseif field == "requests" then
        told = M.metric(metrics, "supplier_requests_total", "supplier", name)
      elseif field == "offers" then
        told = M.metric(metrics, "offers_total", "supplier", name)
      else
        attempts = attempts + value
        told = M.metric(metrics, "attempts_total", "supplier", name, "outcome", field)
      end
      equal(value, told, name .. " " .. field .. " in /metrics")
    end
  end
  equal(attempts, M.metric_sum(metrics, "attempts_total"), "attempts in all")
  equal(0, M.metric(metrics, "attribution_dropped_total"), "lines dropped")
  equal(0, M.metric(metrics, "attribution_failed_total"), "lines that the disk did not take")
  return attempts
end

-- Two ledgers agree in everything but requests, which replies do not tell.
function M.check_same(expected, actual, what)
  for _, pair in ipairs { { expected, actual }, { actual, expected } } do
    for name, sums in pairs(pair[1]) do
      for field in pairs(sums) do
        if field ~= "requests" then
          local one, other = expected[name] or {}, actual[name] or {}
          equal(one[field] or 0, other[field] or 0, what .. ": " .. name .. " " .. field)
        end
      end
    end
  end
end

return M
