-- How `try` and `record` end when not all goes well: Ctrl-C, folders nobody needs, searches that were not tried, files
-- that several write at once, a disk that is full.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local author = require("tests.e2e.author")
local test, equal = world.test, world.equal

local bench = author.bench("try_end")
local TEMPORARY = world.folder .. "/try_end_tmp"
local SEARCH, BODY = world.folder .. "/try_end_search.json", world.folder .. "/try_end_body.json"

local function search(more)
  return ([[{ "product": "flights", "budget_ms": 60000, "query": { "slices": [{ "origin": "MAD", "destination": "LHR",
    "date": "2027-05-12" }%s], "travellers": [{ "type": "adult" }], "currency": "EUR" } }]]):format(more or "")
end

world.write_file(SEARCH, search())
world.write_file(BODY, [[{ "fares": [{ "id": "f1", "total": { "amount": "101.00", "currency": "EUR" }, "number": "7",
  "from": "MAD", "to": "LHR", "departs": "2027-05-12T08:05", "arrives": "2027-05-12T09:35" }] }]])
world.shell(("rm -rf %s && mkdir -p %s"):format(TEMPORARY, TEMPORARY))

local IN_FOLDER = "TMPDIR=" .. TEMPORARY
local SAVED = ("--body %s --login '\"x\"'"):format(BODY)

local function folders()
  return world.shell("ls " .. TEMPORARY)
end

test("Ctrl-C of a live call tells what was known by then", function()
  -- A peer that takes connections, by the backlog of its socket, and never answers.
  local port = 21000 + world.port % 1000
  local peer = world.spawn(("perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => \"%s.9\", "
    .. "LocalPort => %d, Listen => 5, ReuseAddr => 1) or die; $| = 1; print \"ready\\n\"; sleep 600'")
    :format(world.network, port), world.folder .. "/try_end_peer.log")
  world.wait_for("the peer", 30, function()
    return (world.read_file(world.folder .. "/try_end_peer.log") or ""):find("ready", 1, true)
  end, peer, world.folder .. "/try_end_peer.log")
  bench:write {
    script = author.with(author.with(author.script, "https://api.acme.example\",", ("http://%s.9:%d\","):format(
      world.network, port)), 'hosts = { "api.acme.example" }', "hosts = {}"),
    settings = ("network: { allow_private: [%s.0/24] }\n"):format(world.network),
  }
  local log = world.folder .. "/try_end.log"
  local pid = world.spawn(("env %s ACME_KEY=k sh -c 'trap - INT; exec %s/lastcall try acme %s -c %s'"):format(IN_FOLDER,
    world.build, SEARCH, bench.settings), log)
  world.wait_for("the call", 60, function()
    return world.read_file("/proc/net/tcp"):find((" %%w+:%04X 01 "):format(port)) -- it is connected
  end, pid, log)
  world.shell("kill -INT " .. pid)
  for _ = 1, 1500 do
    if world.read_file(log .. ".code") then
      break
    end
    world.sleep_ms(20)
  end
  world.terminate(pid)
  world.terminate(peer)
  local said = world.read_file(log)
  assert(said:find("POST http://" .. world.network, 1, true), said)
  assert(said:find("Ctrl-C", 1, true), said)
  assert(said:find("outcome    cut", 1, true), said)
  equal(world.read_file(log .. ".code"), "7\n", said)
end)

test("a folder for bodies is there while something is in it, and goes when it is old", function()
  bench:write()
  world.shell(("rm -rf %s/*"):format(TEMPORARY))
  bench:say(("try acme %s %s"):format(SEARCH, SAVED), IN_FOLDER)
  local kept = folders():match("lastcall%-try%-%w+")
  assert(kept, "nothing was saved")
  world.write_file(BODY .. ".empty", "{}")
  bench:write { script = author.with(author.script, "path = \"/search\",", "path = nil .. 'x',") }
  local said = bench:say(("try acme %s %s"):format(SEARCH, SAVED), IN_FOLDER)
  assert(said:find("E0424", 1, true), said)
  equal(folders():gsub("%s", ""), kept, "folders after a run that saved nothing")
  bench:write()
  world.shell(("touch -d '5 days ago' %s/%s; mkdir -m 700 %s/lastcall-try-abcdef/ && touch -d '5 days ago' "
    .. "%s/lastcall-try-abcdef && mkdir -m 755 %s/lastcall-try-open99 && touch -d '5 days ago' %s/lastcall-try-open99")
    :format(TEMPORARY, kept, TEMPORARY, TEMPORARY, TEMPORARY, TEMPORARY))
  bench:say(("try acme %s %s"):format(SEARCH, SAVED), IN_FOLDER)
  local now = folders()
  assert(not now:find(kept, 1, true) and not now:find("abcdef", 1, true), now)
  assert(now:find("open99", 1, true), "one that is open to others was not made so: " .. now)
end)

test("several who record one fixture at once leave one whose parts belong together", function()
  bench:write()
  local body = world.read_file(BODY)
  local command = {}
  for number = 1, 5 do
    local file = ("%s.%d"):format(BODY, number)
    world.write_file(file, (body:gsub("101%.00", ("10%d.00"):format(number))))
    command[#command + 1] = ("env -u ACME_KEY %s/lastcall record acme %s --body %s --login '\"x\"' --as ok-one "
      .. "--force -c %s & "):format(world.build, SEARCH, file, bench.settings)
  end
  local said = world.shell(table.concat(command) .. "wait")
  equal(select(2, said:gsub("it passes", "")), 5, said)
  local tested, code = bench:say("test acme")
  equal(code, 0, tested)
  equal(world.shell(("ls %s/acme.test | grep before; true"):format(bench.folder)):gsub("%s", ""), "", "set aside")
end)

test("of several who record one name without --force one gets it", function()
  bench:write()
  local command = {}
  for number = 1, 4 do
    command[number] = ("env -u ACME_KEY %s/lastcall record acme %s %s --as ok-race -c %s; echo \"exit $?\" ")
      :format(world.build, SEARCH, SAVED, bench.settings)
  end
  local said = world.shell("{ " .. table.concat(command, "; } & { ") .. "; } & wait")
  equal(select(2, said:gsub("exit 0", "")), 1, said)
  equal(select(2, said:gsub("of that name already", "")), 3, said)
end)

test("a draft for which the disk has no room leaves nothing behind", function()
  local folder = world.folder .. "/try_end_disk"
  world.shell(("rm -rf %s && mkdir -p %s"):format(folder, folder))
  if select(2, world.shell(("unshare -rm mount -t tmpfs none %s"):format(folder))) ~= 0 then
    return print("# no file system can be mounted here: not looked at")
  end
  world.write_file(folder .. ".yaml", ("suppliers_dir: %s/suppliers\nscripts_dir: scripts\n"):format(folder))
  -- 8 KiB: room for the folders and the fixtures, none for the script.
  local said, code = world.shell(([[unshare -rm sh -c 'mount -t tmpfs -o size=8k none %s && cp %s.yaml %s/lastcall.yaml;
    %s/lastcall new zed -c %s/lastcall.yaml; echo "exit $?"; find %s']]):format(folder, folder, folder, world.build,
    folder, folder))
  equal(code, 0, said)
  assert(said:find("exit 3", 1, true) and said:find("No space left", 1, true), said)
  assert(not said:match("\n" .. folder:gsub("%p", "%%%0") .. "/suppliers"), said)
end)

test("a search that is skipped says that nothing was tried, with an exit code of its own", function()
  bench:write { script = author.with(author.script, "  ceiling = function(search)",
    '  skip = function() return "too late today" end,\n\n  ceiling = function(search)') }
  local said, code = bench:say(("try acme %s %s"):format(SEARCH, SAVED))
  equal(code, 8, said)
  assert(said:find("outcome    skipped, reason too late today\nnot tried  ", 1, true), said)
  local _, json_code, answer = bench:run(("try acme %s %s"):format(SEARCH, SAVED))
  equal(json_code, 8)
  equal(answer.report.outcome, "skipped")
end)

test("a ceiling that reads what is not known yet is told what there is, with an exit code of a mistake", function()
  local told = "progress has elapsed_ms, remaining_ms, offers, answered, eligible, cheapest, latency, win_rate, " ..
    "chance, worth_waiting; what is not known yet"
  for wrong, code in pairs { ["100 * progress.cheapest"] = "E0423", ["progress.latency.p50"] = "E0421" } do
    bench:write { script = author.with(author.with(author.script, "ceiling = function(search)",
      "ceiling = function(search, progress)"), 'search.query.cabin == "business" and 1500 or 1200', wrong) }
    local findings, exit = bench:run(("try acme %s %s"):format(SEARCH, SAVED))
    equal(exit, 1)
    equal(findings[1].code, code)
    assert(table.concat(findings[1].notes, "\n"):find(told, 1, true), author.show_all(findings))
    assert(findings[1].help:find("guard it: `", 1, true), findings[1].help)
  end
  bench:write { script = author.with(author.with(author.script, "ceiling = function(search)",
    "ceiling = function(search, progress)"), 'search.query.cabin == "business" and 1500 or 1200', "progress.xyz") }
  local findings = bench:run("check")
  assert(findings[1].message:find("it has elapsed_ms, remaining_ms", 1, true), author.show_all(findings))
end)

bench:remove()
world.shell(("rm -rf %s %s %s*"):format(TEMPORARY, SEARCH, BODY))
world.finish()
