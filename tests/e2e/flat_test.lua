-- Many searches leave memory, threads and descriptors as they were. `tests/run --all` takes 10,000 of them.
-- variants: release asan
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local is_long = os.getenv("LASTCALL_LONG") == "yes"
local variant = os.getenv("LASTCALL_VARIANT") or "release"
local count = is_long and 10000 or variant == "release" and 600 or 100

local w = world.start { population = "instant" }

-- Runs searches until `wanted` have been answered; returns how many were, and how many were not a 200.
local function run(wanted)
  local body = w.folder .. "/flat.json"
  world.write_file(body, world.json.encode { product = "flights", query = world.query })
  local done, bad = 0, 0
  while done < wanted do
    local output, code = world.shell(string.format(
      "%s/tests/bench/bench_load --port %d --body %s --concurrency 8 --seconds 3 --budget-ms 10000",
      world.build, w.port, body))
    equal(0, code, "exit code of the load: " .. output)
    local result = world.json.decode(output:match("{.*}"))
    done = done + result.searches
    bad = bad + result.lost + result.status_other + result.status_504
  end
  return done, bad
end

test(count .. " searches leave memory, threads and descriptors flat", function()
  run(variant == "release" and (is_long and 4000 or 400) or 50)
  local before = w:usage()
  local done, bad = run(count)
  local after = w:usage()
  print(string.format("# %d searches: resident %d -> %d KiB, threads %d -> %d, descriptors %d -> %d", done,
    before.resident_kib, after.resident_kib, before.threads, after.threads, before.descriptors, after.descriptors))
  equal(0, bad, "searches without a 200")
  equal(before.threads, after.threads, "threads")
  -- Eight searches at once keep up to 8 x 40 connections, each opened when it was first needed; with its TLS state and
  -- its handle's buffer each has up to 300 KiB.
  local connections = math.max(0, after.descriptors - before.descriptors)
  assert(after.descriptors <= 8 * 40 + 100, "more descriptors than eight searches can use: " .. after.descriptors)
  -- Sanitizers keep freed memory in quarantine; their own leak check at the end is the judge there.
  if variant == "release" then
    assert(after.resident_kib <= before.resident_kib * 1.2 + connections * 300, "memory grew")
  end
end)

test("the engine ends clean", function()
  w:signal("TERM")
  assert(w:wait_engine(20), "the engine did not end")
  assert(w:engine_output():match("stopped"), "the log says stopped")
  assert(not w:engine_output():match("Sanitizer"), w:engine_output())
end)

w:stop()
world.finish()
