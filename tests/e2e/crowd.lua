-- Crowd: many callers of one engine at once (crowd.c), good ones and bad ones.
--
--   local callers = { crowd.caller { body = crowd.body { budget_ms = 300 } },
--                     crowd.caller { accept = "sse", leave = "events:3", how = "rst", body = … } }
--   local ends = crowd.run(w, callers, 20)      -- in the order of callers: what became of each
--   local load = crowd.begin(w, callers, 20)    -- again and again in the background, until load.finish(take)
local world = require("tests.e2e.world")

local M = {}

-- A draw that is the same in each run: whole numbers from 1 to `most`.
function M.dice(seed)
  local state = seed
  return function(most)
    state = (state * 16807) % 2147483647 -- Lehmer; Park and Miller 1988
    return state % most + 1
  end
end

-- A request's body around the usual query.
function M.body(fields)
  local body = { product = "flights", query = world.query }
  for key, value in pairs(fields) do
    body[key] = value
  end
  return world.json.encode(body)
end

-- accept: json, ndjson, sse, text; send, leave, how: see crowd.c. `is_bad`: it must be refused without a search.
function M.caller(fields)
  return {
    accept = fields.accept or "json",
    send = fields.send or "all",
    leave = fields.leave or "answered",
    how = fields.how or "fin",
    is_bad = fields.is_bad,
    about = fields.about,
    body = fields.body,
  }
end

-- Writes the plan; returns the command that plays it, its file and that of the report.
local function prepare(w, callers, concurrency)
  local plan, report = ("%s/crowd-%d.plan"):format(w.folder, w.port), ("%s/crowd-%d.report"):format(w.folder, w.port)
  local lines = {}
  for i, caller in ipairs(callers) do
    lines[i] = table.concat({ caller.accept, caller.send, caller.leave, caller.how, caller.body }, " ")
  end
  world.write_file(plan, table.concat(lines, "\n") .. "\n")
  return ("%s/tests/e2e/e2e_crowd --port %d --plan %s --report %s --concurrency %d"):format(world.build, w.port, plan,
    report, concurrency), plan, report
end

-- Runs them all, so many at once; returns their ends, each with its `caller`.
function M.run(w, callers, concurrency)
  local command, plan, report = prepare(w, callers, concurrency)
  local output, code = world.shell(command)
  world.equal(0, code, "exit code of the crowd: " .. output)
  local ends = {}
  for line in io.lines(report) do
    local each = world.json.decode(line)
    each.caller_of = callers[each.caller]
    ends[each.caller] = each
  end
  world.equal(#callers, #ends, "ends of callers")
  os.execute("rm -f " .. plan .. " " .. report)
  return ends
end

local under_way = {} -- stop files of crowds that come again and again

-- Ends them all, also after a test that failed in between.
function M.end_all()
  for stop in pairs(under_way) do
    world.write_file(stop, "")
  end
  under_way = {}
end

-- Lets them come again and again, so many at once, until `finish`.
function M.begin(w, callers, concurrency)
  local command, plan, report = prepare(w, callers, concurrency)
  local stop, code, log = report .. ".stop", report .. ".code", report .. ".log"
  world.shell(("rm -f %s %s %s"):format(report, stop, code))
  under_way[stop] = true
  os.execute(("( ( %s --until %s >%s 2>&1; echo $? >%s ) & ) >/dev/null 2>&1 </dev/null"):format(command, stop, log,
    code))
  local load = {}

  -- How many have come to an end.
  function load.count()
    return tonumber((world.shell(("cat %s 2>/dev/null | wc -l"):format(report))))
  end

  -- Waits for those under way and calls `take` with the end of each.
  function load.finish(take)
    world.write_file(stop, "")
    local until_s = os.time() + 150
    while not (world.read_file(code) or ""):match("%d") do
      assert(os.time() <= until_s, "the crowd does not end")
      world.sleep_ms(50)
    end
    world.equal(0, tonumber(world.read_file(code)), "exit code of the crowd: " .. world.read_file(log))
    for line in io.lines(report) do
      local each = world.json.decode(line)
      each.caller_of = callers[(each.caller - 1) % #callers + 1]
      take(each)
    end
    under_way[stop] = nil
    os.execute(("rm -f %s %s %s %s %s"):format(plan, report, stop, code, log))
  end
  return load
end

-- What a reply tells, single or stream: its id, its summary (nil: it did not come to one), outcomes told on the way.
function M.read(reply)
  local kept = type(reply.kept) == "table" and reply.kept or {}
  if not kept.events then
    local is_search = kept.search_id ~= nil
    return { id = kept.search_id, status = reply.status, summary = is_search and reply.is_whole and kept or nil }
  end
  local told = { is_stream = true, suppliers = {}, supplier_count = 0 }
  for _, each in ipairs(kept.events) do
    if each.event == "search" then
      told.id = each.data.search_id
    elseif each.event == "supplier" then
      local name = each.data.supplier.name
      assert(not told.suppliers[name], name .. " ended twice in " .. tostring(told.id))
      told.suppliers[name] = each.data.supplier
      told.supplier_count = told.supplier_count + 1
    elseif each.event == "done" then
      told.summary = each.data
      told.status = each.data.status or reply.status
    end
  end
  return told
end

-- Sockets of callers that the engine holds, out of the kernel's table: local address, remote address, state.
local function held_sockets(w)
  local port, count = (":%04X"):format(w.port), 0
  for line in (world.read_file("/proc/net/tcp") or ""):gmatch("[^\n]+") do
    local at, state, inode = line:match("^%s*%d+: %x+(:%x+) %x+:%x+ (%x%x) %x+:%x+ %x+:%x+ %x+%s+%d+%s+%d+ (%d+)")
    count = count + (at == port and state ~= "0A" and inode ~= "0" and 1 or 0)
  end
  return count
end

-- Waits until the probe counts none. What is left behind does not end by itself within the time that is waited: idle
-- connections are closed after a minute.
function M.wait_until_none(what, probe)
  local left
  local until_s = os.time() + 30
  repeat
    left = probe()
    if left == 0 then
      return
    end
    world.sleep_ms(50)
  until os.time() > until_s
  error(("%s: %d are left"):format(what, left))
end

-- Waits until the engine has seen the end of every caller.
function M.wait_until_gone(w)
  M.wait_until_none("sockets of callers", function()
    return held_sockets(w)
  end)
end

return M
