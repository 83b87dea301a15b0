-- What `check` and `test` tell beside the mistakes of a script. No socket is opened.
-- variants: release asan
-- Settings and ceilings that cannot work, what the strict want to know, and how a fixture that differs is told.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local author = require("tests.e2e.author")
local test, equal, with = world.test, world.equal, author.with

local bench = author.bench("check")

-- The one finding under that code whose message has the words.
local function find(findings, code, ...)
  for _, finding in ipairs(findings) do
    local is_it = finding.code == code
    for _, words in ipairs { ... } do
      is_it = is_it and author.holds(finding.message, words)
    end
    if is_it then
      return finding
    end
  end
  error(("no %s with %s in\n%s"):format(code, table.concat({ ... }, ", "), author.show_all(findings)), 0)
end

local function at(finding, file, words)
  equal(file, finding.file, "file")
  equal(author.line_of(world.read_file(file), words), finding.line, "line")
end

local function warned(answer, ...)
  for _, warning in ipairs(answer.warnings) do
    local is_it = true
    for _, words in ipairs { ... } do
      is_it = is_it and author.holds(warning, words)
    end
    if is_it then
      return warning
    end
  end
  error(("no warning with %s in\n%s"):format(table.concat({ ... }, ", "), table.concat(answer.warnings, "\n")), 0)
end

-- ---- what no rule forbids

test("a private address that nobody allows is a finding, in options, hosts and proxies", function()
  bench:write {
    settings = "suppliers:\n  acme:\n    accounts:\n      main:\n        options: { base_url: http://10.1.2.3:8080 }\n",
  }
  local findings, code = bench:run("check")
  equal(1, code, "exit code")
  at(find(findings, "E0608", "10.1.2.3", "allow_private"), bench.settings, "base_url: http://10.1.2.3")
  bench:write { script = with(author.script, 'hosts = { "api.acme.example" }', 'hosts = { "localhost:9000" }') }
  at(find(bench:run("check"), "E0608", "localhost"), bench.script, "hosts = ")
  bench:write { settings = "suppliers:\n  acme:\n    accounts:\n      main:\n        proxy: http://127.0.0.1:3128\n" }
  at(find(bench:run("check"), "E0608", "the proxy 127.0.0.1"), bench.settings, "main:")
end)

test("a private address that is allowed is none", function()
  bench:write {
    settings = "network: { allow_private: [10.1.0.0/16] }\n"
      .. "suppliers:\n  acme:\n    accounts:\n      main:\n        options: { base_url: http://10.1.2.3:8080 }\n",
  }
  equal("", author.show_all((bench:run("check"))), "findings")
end)

test("a directory of secrets that is not there is a finding at its line", function()
  bench:write { settings = "secrets_dir: " .. bench.folder .. "/nowhere\n" }
  at(find(bench:run("check"), "E0109", "nowhere"), bench.settings, "secrets_dir:")
end)

test("ceilings that cut nobody are warnings, and findings of the strict", function()
  bench:write {
    settings = "deadline: { max: 3s }\nrules:\n"
      .. "  - { when: { product: flights }, deadline: 1500ms }\n"
      .. "  - { when: { product: flights, device: mobile }, supplier: acme, ceiling: 2s }\n"
      .. "  - { when: { product: hotels }, ceiling_max: 4s }\n",
  }
  local findings, code, answer = bench:run("check")
  equal(0, code, author.show_all(findings))
  warned(answer, "lastcall.yaml:6", "deadline of 1500 ms", "never cuts anybody")
  warned(answer, "lastcall.yaml:7", "ceiling_max", "deadline.max")
  findings, code = bench:run("check --strict")
  equal(1, code, "exit code")
  find(findings, "E0215", "deadline of 1500 ms")
  find(findings, "E0215", "deadline.max")
end)

test("a ceiling of seconds is a warning, for it gives milliseconds", function()
  bench:write { script = with(author.script, 'search.query.cabin == "business" and 1500 or 1200', "1.2") }
  local findings = bench:run("check --strict")
  at(find(findings, "E0215", "ceiling says 1 ms"), bench.script, "ceiling = ")
end)

test("ceilings that cut whatever its fixtures have are warnings", function()
  bench:write {
    settings = "rules:\n  - { when: { device: mobile }, supplier: acme, ceiling: 700ms }\n"
      .. "suppliers:\n  acme:\n    ceiling: 760ms\n",
  }
  local _, _, answer = bench:run("check")
  warned(answer, "lastcall.yaml:4", "700 ms always cuts `acme`", "takes 770 ms")
  warned(answer, "suppliers.acme.ceiling of 760 ms")
  bench:write { settings = "suppliers:\n  acme:\n    ceiling: 800ms\n" }
  _, _, answer = bench:run("check")
  equal(0, #answer.warnings, "warnings")
end)

test("a ceiling of a script that never cuts is a warning", function()
  bench:write { script = with(author.script, "and 1500 or 1200", "and 1500 or 10000") }
  local _, _, answer = bench:run("check")
  warned(answer, bench.script, "ceiling says 10000 ms or more, not below deadline.max")
  bench:write { script = with(author.script, "and 1500 or 1200", "and 10000 or 9000") }
  _, _, answer = bench:run("check")
  equal(0, #answer.warnings, "warnings")
end)

test("login and steps that do not fit are told with their sum", function()
  bench:write { fixture = with(author.fixture, '"after_ms": 400', '"after_ms": 1300') }
  local findings = bench:run("check")
  local finding = find(findings, "E0216", "login and steps take 1660 ms (60 + 1300 + 300)", "ceiling", "1200 ms")
  at(finding, bench.fixture, '"expect": {')
  bench:write {
    script = with(author.script, "and 1500 or 1200", "and 1500 or 9000"),
    fixture = with(author.fixture, '"after_ms": 300', '"after_ms": 2300'),
  }
  find(bench:run("test"), "E0216", "take 2770 ms (60 + 400 + 2300 and pauses)", "the search is over at 2000 ms")
end)

-- ---- the strict

test("the strict want fixtures, one of trouble, and a link to documentation", function()
  bench:write { odd = false, script = with(author.script, '  docs = "https://acme.example/docs",\n', "") }
  local findings, code = bench:run("check")
  equal(0, code, author.show_all(findings))
  findings, code = bench:run("check --strict")
  equal(1, code, "exit code")
  find(findings, "E0309", "no odd-")
  at(find(findings, "E0205", "docs"), bench.script, "owner = ")
  world.shell("rm -r " .. bench.folder .. "/acme.test")
  find(bench:run("check --strict"), "E0309", "`acme` has no fixtures")
end)

test("the strict are told what is declared and never used", function()
  local script = with(author.script, 'secrets = { "ACME_KEY" }', 'secrets = { "ACME_KEY", "ACME_OLD" }')
  script = with(script, "page_size = 50 }", "page_size = 50, language = \"en\" }")
  script = with(script, 'hosts = { "api.acme.example" }', 'hosts = { "api.acme.example", "old.acme.example" }')
  local odd = with(author.odd, '{ "ACME_KEY": "test-key" }', '{ "ACME_KEY": "test-key", "ACME_OLD": "test-old" }')
  local fixture = with(author.fixture, '"ACME_KEY": "test-key"', '"ACME_KEY": "test-key", "ACME_OLD": "test-old"')
  bench:write { script = script, fixture = fixture, odd = odd }
  local findings = bench:run("check --strict")
  at(find(findings, "E0218", "secret ACME_OLD"), bench.script, "secrets = ")
  at(find(findings, "E0218", "option `language`"), bench.script, "options = ")
  at(find(findings, "E0218", "old.acme.example"), bench.script, "hosts = ")
  equal(3, #findings, author.show_all(findings))
  -- A script that takes names from a variable may read them all; a comment reads nothing.
  script = with(script, "local slice =",
    "local _ = ctx.options[search.product] -- ctx.secret.ACME_OLD\n    local slice =")
  bench:write { script = script, fixture = fixture, odd = odd }
  findings = bench:run("check --strict")
  find(findings, "E0218", "secret ACME_OLD")
  equal(2, #findings, author.show_all(findings))
end)

test("the strict are told of paths that no fixture has", function()
  local shape = [[response:json {
      more = text,
      fares = { {
        id = text, number = text, from = text, to = text, departs = text, arrives = text, cabbin = text,
        total = { amount = text, currency = text },
      } },
    }]]
  bench:write { script = with(author.script, "response:json()", shape) }
  equal("", author.show_all((bench:run("check"))), "findings")
  at(find(bench:run("check --strict"), "E0212", "fares[].cabbin"), bench.script, "cabbin = text")
end)

test("what only a refusal or an answer of nothing has was seen all the same", function()
  local plan = [[plan {
    each = "fares[]",
    offer = {
      id = "id",
      price = { total = money("total.currency", "total.amount"), taxes_included = const "yes" },
      slices = { each = ".", segments = { each = ".", carrier = const "ZZ", number = "number", origin = "from",
        destination = "to", departs = { ["local"] = "departs" }, arrives = { ["local"] = "arrives" } } },
    },
    when = {
      ["oops:present"] = fail.supplier,
      ["error.code:=late"] = fail.busy,
      ["nothing:present"] = "empty",
      ["first.poll:=no"] = "empty",
      ["gone:present"] = "empty",
    },
  }]]
  local script = author.script:gsub("function%(response, search, ctx%)\n    local body.*$", function()
    return plan .. ",\n}\n"
  end)
  script = script:gsub("^.-\nreturn", "return")
  local fixture = author.fixture:gsub('"more": "p2", ', ""):gsub(",%s*{ \"expect_request\": { \"url\".-} %] } } }", "")
    :gsub('"offers": 3', '"offers": 2')
  local function odd(name, status, body, outcome)
    world.write_file(("%s/acme.test/odd-%s.json"):format(bench.folder, name),
      (with(with(author.odd, '"status": 503', ('"status": %d, "json": %s'):format(status, body)), '"failed"', outcome)))
  end
  bench:write { script = script, fixture = fixture }
  local findings = bench:run("check --strict")
  equal(5, #findings, author.show_all(findings))
  at(find(findings, "E0212", "`oops`"), bench.script, '["oops:present"]')
  odd("error", 200, '{ "oops": "no" }', '"rejected", "kind": "supplier"')
  odd("late", 200, '{ "error": { "code": "late" } }', '"rejected", "kind": "busy"')
  odd("poll", 200, '{ "fares": [], "first": { "poll": "yes" } }', '"empty"')
  odd("nothing", 200, '{ "nothing": true }', '"empty"')
  findings = bench:run("check --strict")
  equal(1, #findings, author.show_all(findings))
  local gone = find(findings, "E0212", "`gone`")
  at(gone, bench.script, '["gone:present"]')
  equal(true, author.holds(gone.help, "Else keep an answer that has it"), gone.help)
  odd("gone", 410, '{ "gone": true }', '"rejected"')
  findings = bench:run("check --strict")
  equal(0, #findings, author.show_all(findings))
end)

-- ---- names that are nearly right

test("a misspelt field of an expected offer is told with the one that is meant", function()
  bench:write { fixture = with(author.fixture, '"price": { "total": "101.00"', '"price": { "totl": "101.00"') }
  local finding = find(bench:run("test"), "E0306", "expect.first.price.totl")
  equal(true, author.holds(finding.help, "did you mean `total`?"), finding.help)
  bench:write {
    fixture = with(author.fixture, '"price": { "total": "101.00"', '"slices": [], "price": { "total": "101.00"'),
  }
  finding = find(bench:run("test"), "E0306", "expect.first.slices")
  equal(true, author.holds(finding.help, "`slices` stands within `item`"), finding.help)
end)

test("a misspelt field of a progress is told with the one that is meant", function()
  bench:write {
    fixture = with(author.fixture, '"expect": { "outcome"',
      '"ceilings": [{ "progress": { "ofers": 3 }, "expect_ms": 1200 }],\n  "expect": { "outcome"'),
  }
  local finding = find(bench:run("test"), "E0302", "progress.ofers")
  equal(true, author.holds(finding.help, "did you mean `offers`?"), finding.help)
end)

test("a misspelt secret is told with the one that is meant, an unknown field with those that there are", function()
  bench:write { fixture = with(author.fixture, '"ACME_KEY"', '"ACME_KYE"') }
  local finding = find(bench:run("test"), "E0302", "ACME_KYE")
  equal(true, author.holds(finding.help, "did you mean `ACME_KEY`?"), finding.help)
  bench:write { fixture = with(author.fixture, '"about":', '"xyz": 1, "about":') }
  finding = find(bench:run("test"), "E0302", "unknown field `xyz`")
  equal(true, author.holds(finding.help, "there are: about, search, now"), finding.help)
end)

test("a field that is missing is told with how it is written", function()
  bench:write { script = with(author.script, '  hosts = { "api.acme.example" },\n', "") }
  local finding = find(bench:run("check"), "E0205", "hosts")
  equal(true, author.holds(finding.help, 'hosts = { "api.acme.example" }'), finding.help)
end)

test("lists and maps may come from a module", function()
  local script = with(author.script, "-- One good supplier.", 'local house = require("house")')
  script = with(script, 'secrets = { "ACME_KEY" }', "secrets = house.secrets")
  script = with(script, 'options = { base_url = "https://api.acme.example", page_size = 50 }',
    "options = house.options")
  bench:write { script = script }
  world.shell(("cp -r scripts %s/scripts"):format(bench.folder))
  world.write_file(bench.folder .. "/scripts/house.lua",
    'return { secrets = { "ACME_KEY" }, options = { base_url = "https://api.acme.example", page_size = 50 } }\n')
  world.write_file(bench.settings, ("suppliers_dir: %s\nscripts_dir: %s/scripts\n"):format(bench.folder, bench.folder))
  local findings, code = bench:run("check --strict")
  equal("", author.show_all(findings), "findings")
  equal(0, code, "exit code")
end)

-- ---- differences

test("of a url each parameter that differs is told", function()
  local script = with(author.script, 'path = "/search",',
    'path = "/search", query = { { "page", 1 }, { "q", "a b" }, { "z", 9 } },')
  local fixture = with(author.fixture, '.example/search",', '.example/search?page=2&q=a%20b&more=1",')
  bench:write { script = script, fixture = fixture }
  local findings = bench:run("test")
  at(find(findings, "E0304", "url ?page: expected \"2\", got \"1\""), bench.fixture, "search?page=2")
  find(findings, "E0304", "url ?more: expected \"1\", got nothing")
  find(findings, "E0304", "url ?z: expected nothing, got \"9\"")
  equal(3, #findings, author.show_all(findings))
  fixture = with(author.fixture, ".example/search\",", ".example/search?q=a+b&page=1&z=9\",")
  bench:write { script = script, fixture = fixture }
  findings = bench:run("test")
  equal(1, #findings, author.show_all(findings))
  equal(true, author.holds(findings[1].help, "another order or spelling"), findings[1].help)
end)

test("exchanges in a wrong order are told as such", function()
  local script = with(author.script, '"/search/" .. body.more', '"/more/" .. body.more')
  local fixture = with(author.fixture, '.example/search/p2"', '.example/search/p2", "method": "GET"')
  fixture = with(fixture, '"expect_request": { "method": "POST", "url": "https://api.acme.example/search",\n'
    .. '        "json": { "from": "MAD", "to": "LHR", "day": "2027-05-12", "limit": 50 } }',
    '"expect_request": { "method": "GET", "url": "https://api.acme.example/more/p2" }')
  bench:write { script = script, fixture = fixture }
  local findings = bench:run("test")
  local finding = find(findings, "E0304", "request 3", "/more/p2")
  equal(true, author.holds(finding.help, "it is what exchanges[1] expects"), finding.help)
end)

test("a request that fits no exchange is told with the nearest", function()
  local script = with(author.script, "    return offers\n  end,\n}",
    '    local again = { path = "/search/p2", query = { { "lang", "en" } } }\n'
      .. "    return offers, ctx.step == 2 and { next = { request = again } } or nil\n  end,\n}")
  bench:write { script = script }
  local finding = find(bench:run("test"), "E0307", "request 4 was sent")
  local nearest = "nearest is exchanges[2], but url ?lang: expected nothing, got \"en\""
  equal(true, author.holds(finding.help, nearest), finding.help)
end)

test("of a body of XML each element that differs is told", function()
  local json = "json = { from = slice.origin, to = slice.destination, day = slice.date, "
    .. "limit = ctx.options.page_size },"
  local script = with(author.script, json,
    [[body = xml.build { "e:Envelope", ["xmlns:e"] = "urn:e", { "e:Head", { "Id", "7" } },
        { "e:Body", { "Ask", kind = "air",
        { "Way", from = slice.origin }, { "Way", from = slice.destination }, { "Only" } } } },]])
  local body = [[<x:Envelope xmlns:x=\"urn:e\"><x:Head><Id>8</Id></x:Head><x:Body><Ask class=\"b\"><Way from=\"MAD\"/>]]
    .. [[<Way from=\"LGW\"/><Also>1</Also></Ask></x:Body></x:Envelope>]]
  bench:write { script = script,
    fixture = with(author.fixture, '"json": { "from": "MAD", "to": "LHR", "day": "2027-05-12", "limit": 50 }',
      '"body": "' .. body .. '"') }
  local findings = bench:run("test")
  for _, words in ipairs {
    "body.Head.Id: expected 8, got 7", "body.Body.Ask.@class: expected b, got nothing",
    "body.Body.Ask.@kind: expected nothing, got air", "body.Body.Ask.Way[1].@from: expected LGW, got LHR",
    "body.Body.Ask.Also: expected 1, got nothing", "body.Body.Ask.Only: expected nothing, got an empty element" } do
    at(find(findings, "E0304", words), bench.fixture, '"body": "')
  end
  equal(6, #findings, author.show_all(findings))
  -- Where only the spelling differs it is told as text.
  bench:write { script = script,
    fixture = with(author.fixture, '"json": { "from": "MAD", "to": "LHR", "day": "2027-05-12", "limit": 50 }',
      [["body": "<x:Envelope xmlns:x='urn:e'><x:Head><Id>7</Id></x:Head><x:Body><Ask kind='air'><Way from='MAD'/>]]
      .. [[<Way from='LHR'/><Only/></Ask></x:Body></x:Envelope>"]]) }
  find(bench:run("test"), "E0304", "body: expected")
end)

test("long values are shown where they part", function()
  local note = '"day": "2027-05-12", "note": "' .. ("x"):rep(300) .. 'a"'
  local script = with(author.script, "day = slice.date", 'day = slice.date, note = ("x"):rep(300) .. "b"')
  bench:write { script = script, fixture = with(author.fixture, '"day": "2027-05-12"', note) }
  local finding = find(bench:run("test"), "E0304", "json.note: expected …", "xa\", got …")
  equal(true, #finding.message < 200, finding.message)
end)

test("the summary names what failed", function()
  bench:write { fixture = with(author.fixture, '"offers": 3', '"offers": 4') }
  local said, code = bench:say("test")
  equal(1, code, "exit code")
  assert(said:find("failed     " .. bench.fixture .. ": 1 finding\n", 1, true), said)
  assert(said:find("2 fixtures of 1 supplier: 1 passed, 1 failed; 1 finding", 1, true), said)
  local _, _, answer = bench:run("test")
  equal(bench.fixture, answer.failed_fixtures[1], "JSON")
  equal(1, #answer.failed_fixtures, "JSON")
end)

test("all findings are told at once", function()
  local script = with(author.script, "  ceiling = function", "  celing = function")
  script = with(script, "money.parse(", "money.prase(")
  script = with(script, 'hosts = { "api.acme.example" }', 'hosts = "api.acme.example"')
  bench:write { script = script }
  local findings = bench:run("check")
  find(findings, "E0204", "celing")
  find(findings, "E0411", "prase")
  find(findings, "E0206", "hosts")
  bench:write { settings = "deadline: { maxi: 2s, min: 5 }\nlisten: nowhere\n" }
  findings = bench:run("check")
  find(findings, "E0102", "deadline.maxi")
  find(findings, "E0104", "deadline.min")
  find(findings, "E0104", "listen")
end)

test("a secret of this process in a fixture is a finding, in any spelling, and is not shown", function()
  for command in ("check test"):gmatch("%a+") do
    local said = '"token": "token-one", "said": "k3y%2Dof-Acme"'
    bench:write { fixture = with(author.fixture, '"token": "token-one"', said) }
    local findings, code = bench:run(command, "ACME_KEY=k3y-of-Acme")
    equal(1, code, "exit code")
    local finding = find(findings, "E0310", "the value of ACME_KEY stands in it")
    equal(bench.fixture, finding.file, "file")
    assert(not author.show_all(findings):find("of-Acme", 1, true), "the value is shown")
  end
end)

test("a secret of this process in a fixture's body is a finding, one that was made up is none", function()
  bench:write { odd = with(author.odd, '"status": 503', '"status": 503, "body_file": "odd-busy.body.json"') }
  world.write_file(bench.folder .. "/acme.test/odd-busy.body.json", '{"said":"k3y-of-Acme"}')
  find(bench:run("check", "ACME_KEY=k3y-of-Acme"), "E0310", "the value of ACME_KEY stands in its body")
  for _, value in ipairs { "test-key", "busy", "another-key-1" } do
    local findings, code = bench:run("check", "ACME_KEY=" .. value)
    equal(0, code, author.show_all(findings))
  end
end)

local KEY_SPELLINGS = {
  hex = "6b33792d6f662d41636d65", HEX = "6B33792D6F662D41636D65", base64 = "azN5LW9mLUFjbWU=",
  ["base64 within another text"] = "dXNlcjprM3ktb2YtQWNtZQ==", json = "k3y\\u002dof-Acme", url = "k3y%2dof%2DAcme",
}

test("each spelling of a secret is one, in a fixture and in a body", function()
  for what, spelling in pairs(KEY_SPELLINGS) do
    bench:write {
      fixture = with(author.fixture, '"token": "token-one"', '"token": "token-one", "said": "' .. spelling .. '"'),
      odd = with(author.odd, '"status": 503', '"status": 503, "body_file": "odd-busy.body.json"'),
    }
    world.write_file(bench.folder .. "/acme.test/odd-busy.body.json", '{"said":"' .. spelling .. '"}')
    local findings = bench:run("check", "ACME_KEY=k3y-of-Acme")
    local count = 0
    for _, finding in ipairs(findings) do
      count = count + (finding.code == "E0310" and 1 or 0)
    end
    equal(2, count, what .. "\n" .. author.show_all(findings))
  end
end)

test("a secret is looked for wherever the settings say that it is", function()
  local secrets = bench.folder .. "_secrets"
  local said = '"token": "token-one", "said": "k3y-of-Acme"'
  world.shell(("rm -rf %s && mkdir -p %s"):format(secrets, secrets))
  -- A file of its name in the directory of secrets, and the name that the settings give it.
  for name, more in pairs { ACME_KEY = "", OTHER_KEY = "suppliers: { acme: { accounts: { main: { secrets: "
    .. "{ ACME_KEY: OTHER_KEY } } } } }\n" } do
    world.write_file(secrets .. "/" .. name, "k3y-of-Acme\n")
    world.shell(("chmod 600 %s/*"):format(secrets))
    bench:write { fixture = with(author.fixture, '"token": "token-one"', said),
      settings = ("secrets_dir: %s\n"):format(secrets) .. more }
    find(bench:run("check"), "E0310", "the value of " .. name)
    world.shell(("rm %s/*"):format(secrets))
  end
  bench:write { fixture = with(author.fixture, '"token": "token-one"', said), settings =
    "suppliers: { acme: { accounts: { main: { secrets: { ACME_KEY: OTHER_KEY } } } } }\n" }
  find(bench:run("check", "OTHER_KEY=k3y-of-Acme"), "E0310", "the value of OTHER_KEY")
end)

test("a secret that is too short to be hidden is a warning, and a finding to the strict", function()
  bench:write()
  local said, code = bench:say("check", "ACME_KEY=t0k")
  equal(0, code, said)
  assert(said:find("warning: .*acme.lua:%d+: the secret ACME_KEY is shorter than 4 bytes"), said)
  local findings = bench:run("check --strict", "ACME_KEY=t0k")
  at(find(findings, "E0609", "ACME_KEY"), bench.script, "secrets = {")
  assert(not bench:say("check", "ACME_KEY=t0k4"):find("shorter than", 1, true), "of four bytes")
end)

test("the place of an error is the script's, whatever its words begin with", function()
  for _, words in ipairs { "x:0: y", "api.acme.example:443: refused", "suppliers/zz.lua:9: forged" } do
    local raising = 'return { method = "POST", path = "/login", form = { key = ctx.secret.ACME_KEY } }'
    bench:write { script = with(author.script, raising, ("do error(%q, 0) end "):format(words) .. raising) }
    local findings, code = bench:run("test")
    equal(1, code, "exit code")
    local finding = find(findings, "E0401", words)
    equal(bench.script, finding.file, "file")
  end
end)

test("with a name only what that supplier needs is looked at", function()
  bench:write()
  world.write_file(bench.folder .. "/other.lua", (with(author.script, 'name = "acme"', 'name = "other"')
    :gsub("ACME_KEY", "OTHER_KEY")))
  world.write_file(bench.folder .. "/broken.lua", "return {\n")
  local findings, code = bench:run("check")
  equal(1, code, "of all")
  find(findings, "E0202", "")
  local answer
  findings, code, answer = bench:run("check acme --secrets", "ACME_KEY=k3y-of-Acme")
  equal(0, code, author.show_all(findings))
  equal(1, #answer.suppliers, "suppliers")
  equal("acme", answer.suppliers[1].name, "the supplier")
  equal(2, answer.fixtures, "fixtures")
  findings, code = bench:run("check other --secrets")
  equal(1, code, "the other")
  equal(1, #findings, author.show_all(findings))
  find(findings, "E0602", "OTHER_KEY")
  find(bench:run("check broken"), "E0202", "")
  findings, code = bench:run("check other --strict", "OTHER_KEY=k3y-of-other")
  equal(1, code, author.show_all(findings))
  equal(1, #findings, author.show_all(findings))
  find(findings, "E0309", "`other` has no fixtures")
  findings, code = bench:run("check acne")
  equal(1, code, "a name that nobody has")
  equal("did you mean `acme`?", find(findings, "E0217", "acne").help, "the remedy")
end)

bench:remove()
world.finish()
