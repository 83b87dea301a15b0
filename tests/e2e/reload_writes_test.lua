-- However a file is written, three times in a row, the running engine picks it up by itself; and what was written
-- without a change is told as nothing.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal, json = world.test, world.equal, world.json

local folder = world.folder .. "/reload_writes"
local SETTINGS = folder .. "/lastcall.yaml"
local PLAIN, MOUNTED = folder .. "/plain", folder .. "/mounted"

local function source_of(name, version)
  return reloads.source(name, "s01", "version " .. version)
end

local function run(line, ...)
  local output, code = world.shell(line:format(...))
  equal(0, code, line .. ": " .. output)
end

-- A folder as Kubernetes mounts one: files are links into `..data`, which is a link to a folder of its own.
local function swap_data(version)
  local now = ("..data-%s"):format(version)
  run("mkdir -p %s/%s", MOUNTED, now)
  world.write_file(("%s/%s/kube.lua"):format(MOUNTED, now), source_of("kube", version))
  run("cd %s && old=$(readlink ..data); ln -s %s ..data_tmp && mv -T ..data_tmp ..data && rm -rf \"${old:-none}\"",
    MOUNTED, now)
end

run("rm -rf %s && mkdir -p %s %s %s/elsewhere", folder, PLAIN, MOUNTED, folder)
world.write_file(SETTINGS, ("suppliers_dir: [%s, %s]\nscripts_dir: scripts\n"):format(PLAIN, MOUNTED))
world.write_file(PLAIN .. "/acme.lua", source_of("acme", "first"))
world.write_file(PLAIN .. "/bravo.lua", source_of("bravo", "first"))
swap_data("first")
run("cd %s && ln -s ..data/kube.lua kube.lua", MOUNTED)

local w = world.start {
  population = "healthy",
  settings = { SETTINGS },
  overlay = "reload: { watch: true, settle: 200ms, scan: 1s }",
}

local ask = reloads.ask(function()
  return w
end)
local get, label, reload, wait_until = ask.get, ask.label, ask.reload, ask.wait_until

-- Events of a kind so far, of this name if one is given.
local function count_events(kind, name)
  local count = 0
  for _, event in ipairs(get("/admin/v1/events").events) do
    count = count + (event.event == kind and (not name or event.name == name) and 1 or 0)
  end
  return count
end

local function row(rows, name)
  return assert(reloads.row(rows, name), name .. " is not told: " .. json.encode(rows))
end

local ACME = PLAIN .. "/acme.lua"

-- name, how; each writes `content` so that ACME has it.
local WAYS = {
  { "in place, in one piece", function(content)
    world.write_file(ACME, content)
  end },
  { "in place, piece by piece with pauses while it is open", function(content)
    local file = assert(io.open(ACME, "wb"))
    for from = 1, #content, math.ceil(#content / 4) do
      file:write(content:sub(from, from + math.ceil(#content / 4) - 1))
      file:flush()
      world.sleep_ms(60)
    end
    file:close()
  end },
  { "by sed -i", function(_, version)
    run("sed -i 's/^-- version .*/-- version %s/' %s", version, ACME)
  end },
  { "as vim does: the old one moved away, a new one created, the old one deleted", function(content)
    assert(os.rename(ACME, ACME .. "~"))
    world.write_file(ACME, content)
    os.remove(ACME .. "~")
  end },
  { "by a rename over it", function(content)
    world.write_file(PLAIN .. "/.acme.lua.new", content)
    assert(os.rename(PLAIN .. "/.acme.lua.new", ACME))
  end },
  { "by a rename from another folder", function(content)
    world.write_file(folder .. "/elsewhere/acme.lua", content)
    assert(os.rename(folder .. "/elsewhere/acme.lua", ACME))
  end },
  { "by delete and create", function(content)
    os.remove(ACME)
    world.write_file(ACME, content)
  end },
  { "by appending", function(_, version)
    local file = assert(io.open(ACME, "ab"))
    file:write("-- version " .. version .. "\n")
    file:close()
  end },
  { "through another name of the same file, of which the folder hears nothing", function(content)
    run("ln -f %s %s/elsewhere/twin.lua", ACME, folder)
    world.write_file(folder .. "/elsewhere/twin.lua", content)
  end },
  { "with the whole folder moved away and back", function(content)
    run("mv %s %s/away", PLAIN, folder)
    world.write_file(folder .. "/away/acme.lua", content)
    run("mv %s/away %s", folder, PLAIN)
  end },
  { "as an archive with an old date", function(content)
    world.write_file(folder .. "/elsewhere/acme.lua", content)
    run("touch -d 2001-01-01 %s/elsewhere/acme.lua && cp -p %s/elsewhere/acme.lua %s", folder, folder, ACME)
  end },
}

-- One write of `name`'s file by `how`, and all that must be true when it was picked up.
local function write_once(name, version, how)
  local before, generation = label(name), get("/admin/v1/status").generation
  how(source_of(name, version), version)
  wait_until(name .. " to change", function()
    local now = label(name)
    return now and now ~= before
  end)
  -- It runs before it is noted.
  local newest
  wait_until("the history to have it", function()
    newest = get("/admin/v1/generations").generations[1]
    return newest.generation > generation
  end)
  equal("watch", newest.reload.source, "source")
  equal(label(name), row(newest.reload.changed, name).running, "what runs")
  local answer = reload()
  equal("unchanged", answer.outcome, "what runs is what lies on the disk: " .. json.encode(answer))
  equal(0, #answer.kept, "nothing was kept: " .. json.encode(answer))
end

for number, way in ipairs(WAYS) do
  test(("a file written three times %s is picked up each time"):format(way[1]), function()
    for time = 1, 3 do
      write_once("acme", number .. "." .. time, way[2])
    end
  end)
end

test("a mounted folder whose data are swapped three times is picked up each time", function()
  for time = 1, 3 do
    write_once("kube", "k." .. time, function(_, version)
      swap_data(version)
    end)
  end
end)

test("settings written three times, also by a rename, are picked up each time", function()
  for time = 1, 3 do
    local before = get("/admin/v1/status").generation
    local content = ("suppliers_dir: [%s, %s]\nscripts_dir: scripts\nsuppliers: { bravo: { because: \"%d\" } }\n")
      :format(PLAIN, MOUNTED, time)
    local path = time == 2 and SETTINGS .. ".new" or SETTINGS
    world.write_file(path, content)
    if path ~= SETTINGS then
      assert(os.rename(path, SETTINGS))
    end
    local newest
    wait_until("other settings", function()
      local entry = get("/admin/v1/generations").generations[1]
      newest = entry.reload
      return entry.generation > before
    end)
    equal("watch", newest.source, "source")
    equal(true, newest.settings.changed, "settings")
    equal(0, #newest.changed, "scripts that changed")
  end
end)

test("nothing half-written was ever tried", function()
  equal(0, count_events("kept", "acme") + count_events("kept", "kube"), "events of what was kept")
end)

test("what is written without a change is told as nothing", function()
  local events, generation, before = count_events("reload"), get("/admin/v1/status").generation, label("bravo")
  for _ = 1, 3 do
    run("touch %s %s", ACME, SETTINGS)
    world.write_file(ACME, world.read_file(ACME))
    run("cp %s %s/elsewhere/same.lua && mv %s/elsewhere/same.lua %s", ACME, folder, folder, ACME)
  end
  equal("unchanged", reload().outcome, "a command says so")
  -- What comes after it is the next thing that the engine tells.
  world.write_file(PLAIN .. "/bravo.lua", source_of("bravo", "second"))
  wait_until("bravo to change", function()
    return label("bravo") ~= before
  end)
  wait_until("the history to have it", function()
    return get("/admin/v1/generations").generations[1].generation > generation
  end)
  equal(generation + 1, get("/admin/v1/status").generation, "generation")
  equal(events + 1, count_events("reload"), "events of reloads")
  local changed = get("/admin/v1/generations").generations[1].reload.changed
  equal(1, #changed, "what changed: " .. json.encode(changed))
end)

w:stop()
test("the engine ends clean", function()
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)
world.finish()
