-- Reloads: what tests of reloads have in common: a folder of suppliers that change, and the admin listener.
--
--   local bench = reloads.bench("reload_back", { scripts = true })      -- a folder of its own, with scripts/ in it
--   bench:write("acme", "s01", "first")                                 -- acme's file in that version
--   w = world.start { settings = { bench.settings }, … }
--   local ask = reloads.ask(function() return w end)
--   ask.reload().outcome; ask.label("acme"); ask.get("/admin/v1/events").events
local world = require("tests.e2e.world")
local equal, json = world.equal, world.json

local M = {}
local Bench = {}
Bench.__index = Bench

local BUILD = [[function(search, ctx)
    return { method = "POST", path = "/v1/offers", json = farm.ask(search, ctx) }
  end]]

--- A supplier of the farm's first shape at a host of it. Line 1 tells versions apart; `normalise` and `build_request`
--- may be others, as source.
function M.source(name, host, version, normalise, build_request)
  return ([[
-- %s
local farm = require("farm")

---@type Supplier
return {
  name = "%s",
  product = "flights",
  owner = "farm@example.com",
  docs = "examples/farm/README.md",
  hosts = {},
  secrets = {},
  options = { base_url = "http://%s.farm.test:8080" },
  limits = { body = "1MiB" },

  build_request = %s,

  normalise = %s,
}
]]):format(version, name, host, build_request or BUILD, normalise or "farm.offers")
end

--- An empty folder for suppliers; with `scripts` in `with` a copy of scripts/ beside it.
function M.bench(name, with)
  local folder = world.folder .. "/" .. name
  world.shell("rm -rf " .. folder .. " && mkdir -p " .. folder .. "/suppliers")
  if with and with.scripts then
    world.shell("cp -r scripts " .. folder .. "/scripts")
  end
  return setmetatable({ folder = folder, settings = folder .. "/lastcall.yaml" }, Bench)
end

function Bench:path(name)
  return self.folder .. "/suppliers/" .. name .. ".lua"
end

--- As M.source, into the supplier's file.
function Bench:write(name, ...)
  world.write_file(self:path(name), M.source(name, ...))
end

--- The row of that name; nil: there is none.
function M.row(rows, name)
  for _, each in ipairs(rows or {}) do
    if each.name == name then
      return each
    end
  end
  return nil
end

--- The admin listener of the engine that `running` gives.
function M.ask(running)
  local ask = {}

  function ask.get(path)
    local reply = world.http("GET", running().admin_url .. path)
    equal(200, reply.status, path)
    return reply.json
  end

  function ask.status()
    return ask.get("/admin/v1/status")
  end

  function ask.post(path, body, headers)
    local all = { "Content-Type: application/json" }
    for _, header in ipairs(headers or {}) do
      all[#all + 1] = header
    end
    return world.http("POST", running().admin_url .. path,
      { body = body and json.encode(body), headers = all, max_time = 300 })
  end

  --- The answer, be it a refusal, and its status.
  function ask.reload(body)
    local reply = ask.post("/admin/v1/reload", body or { who = "the test" })
    local is_answer = reply.json and (reply.json.outcome or reply.json.title)
    assert(is_answer, "no answer: " .. tostring(reply.status) .. " " .. reply.raw)
    return reply.json, reply.status
  end

  function ask.rollback(number)
    return ask.post("/admin/v1/rollback", { generation = number, who = "the test" }).json
  end

  --- The version of a supplier that runs; nil: there is no such supplier.
  function ask.label(name)
    local supplier = M.row(ask.status().suppliers, name)
    return supplier and supplier.script
  end

  --- Asks `probe` until it gives something, for a minute or so many seconds.
  function ask.wait_until(what, probe, seconds)
    local deadline = os.time() + (seconds or 60)
    while os.time() <= deadline do
      local found = probe()
      if found then
        return found
      end
      world.sleep_ms(50)
    end
    error("waited in vain: " .. what .. "\n" .. running():engine_output():sub(-3000))
  end

  --- A command of the program to this engine, or to the one at `url`.
  function ask.lastcall(line, url)
    return world.shell(("%s/lastcall %s --admin %s --no-color"):format(world.build, line, url or running().admin_url))
  end

  return ask
end

return M
