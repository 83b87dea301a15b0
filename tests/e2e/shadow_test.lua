-- Shadows: a new version of a script reads what the live one has read, for nobody; its report tells each difference.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local reloads = require("tests.e2e.reloads")
local test, equal = world.test, world.equal
local json = world.json

local bench = reloads.bench("shadow", { scripts = true })
local folder, row = bench.folder, reloads.row
world.shell("cp examples/farm/suppliers/*.lua suppliers/*.lua " .. folder .. "/suppliers/")

local function path_of(name)
  return bench:path(name)
end

local function write_supplier(...)
  bench:write(...)
end

-- The farm's offers, but for the currency of some.
local function wrong_currency(ids)
  local list = {}
  for _, id in ipairs(ids) do
    list[#list + 1] = ("[%q] = true"):format(id)
  end
  return ([[plan {
    each = "offers[]",
    offer = {
      id = "id",
      price = {
        total = money({ "id", function(id)
          return ({ %s })[id] and "USD" or "EUR"
        end }, "price.total", "price.scale"),
        taxes = money({ "id", function(id)
          return ({ %s })[id] and "USD" or "EUR"
        end }, "price.taxes", "price.scale"),
        taxes_included = const "yes",
      },
      slices = {
        each = "slices[]",
        duration_min = "minutes",
        segments = {
          each = "segments[]",
          carrier = "carrier",
          number = "number",
          origin = "from",
          destination = "to",
          departs = { ["local"] = "departs" },
          arrives = { ["local"] = "arrives" },
          duration_min = "minutes",
          cabin = up(2).cabin,
        },
      },
      brand = "brand",
      bags = { cabin = "bags.cabin", checked = "bags.checked" },
      refundable = "refundable",
      seats_left = "seats",
    },
  }]]):format(table.concat(list, ", "), table.concat(list, ", "))
end

-- s17 and s19 speak the first shape in this population, s09 answers in pages.
local STEPS = "examples/farm/populations/steps.txt"
local printed, printed_code = world.shell(("%s/examples/farm/farm --population %s --print-settings"):format(world.build,
  STEPS))
assert(printed_code == 0, printed)
world.write_file(folder .. "/steps.yaml", printed .. "\n")

write_supplier("acme", "s17", "first")
write_supplier("bravo", "s19", "first")
local w = world.start {
  population = STEPS,
  settings = { world.settings_without_ceilings(), folder .. "/steps.yaml" },
  overlay = ("reload: { watch: false, trial_errors: 5 }\nscripts_dir: %s/scripts\nsuppliers_dir: %s/suppliers")
    :format(folder, folder),
}

local ask = reloads.ask(function()
  return w
end)
local get, reload, label, lastcall = ask.get, ask.reload, ask.label, ask.lastcall

local function report(name)
  for _, each in ipairs(get("/admin/v1/shadows").shadows) do
    if each.supplier == name then
      return each
    end
  end
end

local function search(names)
  local reply = w:search { suppliers = names, budget_ms = 15000, max_items = 1000, max_offers_per_item = 1000 }
  equal(200, reply.status, "search")
  return reply.json
end

local function wait_until(what, probe)
  local deadline = os.time() + 90
  while os.time() <= deadline do
    local found = probe()
    if found then
      return found
    end
    world.sleep_ms(50)
  end
  error("waited in vain: " .. what .. "\n" .. json.encode(get("/admin/v1/shadows")):sub(1, 3000) .. "\n"
    .. w:engine_output():sub(-2000))
end

-- Waits until the shadow has read (or passed over) so many answers.
local function answers(name, count)
  return wait_until(count .. " answers of " .. name, function()
    local found = report(name)
    return found and found.answers + found.skipped >= count and found
  end)
end

-- The ids of the offers, as the script has them, and all of them as text without what is of this search alone.
local function offers_of(reply, name)
  local ids, all = {}, {}
  for _, offer in ipairs(reply.offers) do
    if offer.supplier == name then
      ids[#ids + 1] = offer.id:sub(#name + 2)
      all[#all + 1] = offer.id .. " " .. json.encode(offer.price.total) .. " " .. offer.price.currency
    end
  end
  table.sort(ids)
  table.sort(all)
  return ids, table.concat(all, "\n")
end

local first = search { "acme" }
local IDS, OFFERS = offers_of(first, "acme")
assert(#IDS > 6, "too few offers to tell three from the others: " .. #IDS)

test("a file that is a shadow waits while it is what runs", function()
  local answer, status = reload { shadow = "acme" }
  equal(200, status, "status")
  equal("unchanged", answer.outcome, "outcome")
  equal("waits", answer.shadows[1].state, "state")
  equal(label("acme"), answer.shadows[1].running, "running")
  equal(0, #answer.kept, "nothing is stale")
end)

test("three offers with a wrong currency are what the report lists, and nothing else", function()
  local before = label("acme")
  write_supplier("acme", "s17", "second", wrong_currency { IDS[1], IDS[3], IDS[5] })
  local answer = reload { who = "the test" }
  equal("published", answer.outcome, "outcome")
  equal(0, #answer.kept, "a shadow is not stale")
  equal(0, #answer.changed, "nothing that runs has changed")
  equal("runs", answer.shadows[1].state, answer.shadows[1].because)
  equal(before, label("acme"), "the live one runs on")
  local reply = search { "acme", "bravo" }
  local _, seen = offers_of(reply, "acme")
  equal(OFFERS, seen, "the offers that are shown")
  local found = answers("acme", 1)
  equal(1, found.answers, "answers")
  equal(1, found.different, "different")
  equal(0, found.same, "same")
  equal(0, found.errors, "errors")
  equal(0, found.offers_only_live + found.offers_only_shadow, "offers of one side")
  local told, pointers = {}, {}
  for _, difference in ipairs(found.differences) do
    equal(reply.search_id, difference.search_id, "search_id")
    told[difference.offer] = (told[difference.offer] or 0) + 1
    pointers[difference.pointer] = (pointers[difference.pointer] or 0) + 1
    if difference.pointer == "/price/currency" then
      equal("EUR", difference.live, "live")
      equal("USD", difference.shadow, "shadow")
    end
  end
  equal(3, pointers["/price/currency"], "currencies")
  equal(3, pointers["/flags"], "that they cannot be compared with the others, which comes of it")
  pointers["/price/currency"], pointers["/flags"] = nil, nil
  equal(nil, next(pointers), "another pointer")
  local names = {}
  for name in pairs(told) do
    names[#names + 1] = name
  end
  table.sort(names)
  equal(table.concat({ IDS[1], IDS[3], IDS[5] }, " "), table.concat(names, " "), "the offers told")
end)

test("the report is told to people, and goes on over reloads that are about others", function()
  write_supplier("bravo", "s19", "second")
  equal("published", reload({}).outcome, "outcome")
  equal(1, report("acme").answers, "answers")
  local text = lastcall("status")
  assert(text:find("1 answers, 0 same, 1 different", 1, true), text)
  local code
  text, code = lastcall("reload --shadow acme")
  equal(0, code, text)
  assert(text:find("/price/currency: EUR -> USD", 1, true), text)
  local supplier = row(get("/admin/v1/status").suppliers, "acme")
  equal(label("acme"), supplier.script, "the supplier is what runs")
end)

test("a changed file replaces the shadow, whose report begins anew", function()
  write_supplier("acme", "s17", "third")
  reload {}
  local found = report("acme")
  equal(0, found.answers, "answers")
  equal(0, #found.differences, "differences")
  search { "acme" }
  found = answers("acme", 1)
  equal(1, found.same, json.encode(found.differences))
end)

test("a shadow that raises is told with its line, and costs nobody anything", function()
  write_supplier("acme", "s17", "fourth", "function(response)\n    error(\"the answer is not what I thought\")\n  end")
  reload {}
  for i = 1, 6 do -- more than a trial forgives
    local _, seen = offers_of(search { "acme" }, "acme")
    equal(OFFERS, seen, "the offers that are shown")
    answers("acme", i)
  end
  local found = report("acme")
  equal(found.answers, found.errors, "errors")
  assert(found.first_error:find("acme.lua:20: the answer is not what I thought", 1, true), found.first_error)
  equal("/outcome", found.differences[1].pointer, "pointer")
  for _, event in ipairs(get("/admin/v1/events").events) do
    assert(event.event ~= "went_back", "a shadow has no trial")
  end
  equal(nil, row(get("/admin/v1/status").suppliers, "acme").quarantined, "quarantine")
end)

test("a shadow that hangs, or eats memory, moves no offer", function()
  local kinds = {
    hangs = "function()\n    while true do end\n  end",
    eats = "function()\n    local all = {}\n    while true do\n"
      .. "      all[#all + 1] = (\"x\"):rep(100000) .. #all\n    end\n  end",
  }
  for kind, normalise in pairs(kinds) do
    write_supplier("acme", "s17", kind, normalise)
    reload {}
    for i = 1, 5 do
      local _, seen = offers_of(search { "acme", "bravo" }, "acme")
      equal(OFFERS, seen, kind .. ": the offers that are shown")
      answers("acme", i)
    end
    local found = report("acme")
    equal(found.answers, found.errors, kind .. ": errors")
    if found.first_error:find("of memory", 1, true) then -- it was not slower than its time allows
      equal(3, found.errors, "it is stopped before it takes the state of live scripts with it again")
    end
    assert(found.errors >= 3, kind .. ": " .. found.errors .. " errors")
  end
  equal("answered", world.entry({ json = search { "bravo" } }, "bravo").outcome, "another supplier")
end)

test("a broken shadow is told, and not loaded", function()
  write_supplier("acme", "s17", "broken", "= 3")
  local answer = reload {}
  equal("broken", answer.shadows[1].state, "state")
  assert(answer.shadows[1].because:find("acme.lua:1", 1, true), answer.shadows[1].because)
  equal("kept", row(answer.kept, "acme").fate, "fate")
  local refused, status = reload { promote = "acme" }
  equal("refused", refused.outcome, "promote")
  equal(422, status, "status")
  local _, seen = offers_of(search { "acme" }, "acme")
  equal(OFFERS, seen, "the offers that are shown")
end)

test("a secret that only the shadow wants does not switch the supplier off", function()
  write_supplier("acme", "s17", "secret")
  local source = world.read_file(path_of("acme")):gsub("secrets = {}", "secrets = { \"NO_SUCH_SECRET_HERE\" }")
  world.write_file(path_of("acme"), source)
  local answer = reload {}
  equal("broken", answer.shadows[1].state, "state")
  assert(answer.shadows[1].because:find("NO_SUCH_SECRET_HERE", 1, true), answer.shadows[1].because)
  local _, seen = offers_of(search { "acme" }, "acme")
  equal(OFFERS, seen, "the offers that are shown")
end)

test("one that is dropped does not run until its file changes", function()
  local before = label("acme")
  write_supplier("acme", "s17", "dropped", wrong_currency { IDS[2] })
  reload {}
  local answer = reload { drop = "acme" }
  equal("kept", row(answer.kept, "acme").fate, "fate")
  assert(row(answer.kept, "acme").because:find("the shadow of `acme` was dropped", 1, true), "because")
  equal(nil, report("acme"), "report")
  reload {}
  equal(before, label("acme"), "it does not come back with a reload")
  local refused = reload { drop = "acme" }
  equal("refused", refused.outcome, "a second time")
  write_supplier("acme", "s17", "after the drop")
  equal("changed", row(reload({}).changed, "acme").fate, "another file runs")
end)

test("only the version of the report is promoted, and then it runs", function()
  reload { shadow = "acme" }
  write_supplier("acme", "s17", "to promote", wrong_currency { IDS[2] })
  local shadow = reload({}).shadows[1].shadow
  local before = label("acme")
  write_supplier("acme", "s17", "written in between", wrong_currency { IDS[4] })
  local answer = reload { promote = "acme" }
  equal(before, label("acme"), "the other file does not run")
  assert(row(answer.kept, "acme").because:find("is not the shadow any more", 1, true), json.encode(answer))
  write_supplier("acme", "s17", "to promote", wrong_currency { IDS[2] })
  equal(shadow, reload({}).shadows[1].shadow, "it is the shadow again")
  local text, code = lastcall("reload --promote acme --why 'looks good'")
  equal(0, code, text)
  equal(shadow, label("acme"), "it runs")
  equal(nil, report("acme"), "report")
  local _, seen = offers_of(search { "acme" }, "acme")
  assert(seen ~= OFFERS and seen:find("USD", 1, true), "it is what one gets")
  write_supplier("acme", "s17", "again")
  equal("changed", row(reload({}).changed, "acme").fate, "its file is no shadow any more")
end)

test("a rollback ends all shadows", function()
  reload { shadow = "bravo" }
  local now = get("/admin/v1/status").generation
  write_supplier("bravo", "s19", "a shadow")
  equal("runs", reload({}).shadows[1].state, "state")
  local reply = world.http("POST", w.admin_url .. "/admin/v1/rollback", { body = json.encode { generation = now },
    headers = { "Content-Type: application/json" }, max_time = 120 })
  equal(200, reply.status, reply.raw)
  equal(nil, report("bravo"), "report")
  equal("kept", row(reload({}).kept, "bravo").fate, "what is on the disk is held back")
end)

test("names that have no supplier or no shadow are refused, and wrong bodies, too", function()
  local answer = reload { shadow = "nobody" }
  equal("refused", answer.outcome, "outcome")
  assert(answer.findings[1].finding:find("no supplier `nobody`", 1, true), json.encode(answer.findings))
  equal("refused", reload({ promote = "bravo" }).outcome, "promote")
  local _, status = reload { shadow = "acme", drop = "acme" }
  equal(422, status, "two at once")
  _, status = reload { shadow = 3 }
  equal(422, status, "no name")
end)

test("the steps of a supplier that answers in pages are read one by one", function()
  local at = "s09.farm.test"
  local source = world.read_file(path_of("farm_pages"))
  world.write_file(path_of("pages"), (source:gsub("name = \"farm_pages\"", "name = \"pages\"")
    :gsub("s01%.farm%.test", at)))
  equal("added", row(reload({}).changed, "pages").fate, "fate")
  reload { shadow = "pages" }
  world.write_file(path_of("pages"), world.read_file(path_of("pages")) .. "-- changed\n")
  reload {}
  search { "pages" }
  local found = answers("pages", 3)
  equal(3, found.same, json.encode(found.differences))
  world.write_file(path_of("pages"), (world.read_file(path_of("pages")):gsub("query = cursor and { cursor = cursor }",
    "query = cursor and { cursor = cursor, more = 1 }")))
  reload {}
  search { "pages" }
  found = answers("pages", 3)
  equal(2, found.different, "the last page asks for none")
  equal(2, #found.differences, json.encode(found.differences))
  equal("/next_url", found.differences[1].pointer, "pointer")
  assert(found.differences[1].shadow:find("more=1", 1, true), found.differences[1].shadow)
end)

test("a shadow ends with its supplier", function()
  os.remove(path_of("pages"))
  local answer = reload {}
  equal("removed", row(answer.changed, "pages").fate, "fate")
  equal(nil, report("pages"), "report")
  local events = json.encode(get("/admin/v1/events"))
  assert(events:find("the supplier is gone", 1, true), events)
end)

test("under load answers are passed over and told, none waits for ever", function()
  reload { shadow = "acme" }
  write_supplier("acme", "s17", "slow", "function(response, search, ctx)\n    local sum = 0\n"
    .. "    for i = 1, 1000000 do sum = sum + i % 7 end\n    return farm.offers(response, search, ctx)\n  end")
  reload {}
  local body = json.encode { product = "flights", query = world.query, suppliers = { "acme" }, budget_ms = 15000 }
  world.write_file(folder .. "/body.json", body)
  local line = ("curl -s -o /dev/null -H 'Content-Type: application/json' -d @%s/body.json %s/v1/search"):format(folder,
    w.url)
  world.shell("seq 40 | xargs -P 20 -I{} " .. line)
  local found = answers("acme", 40)
  equal(40, found.answers + found.skipped, "each is read or passed over")
  assert(found.skipped > 0, "20 at a time are more than a loop gives it")
  reload { drop = "acme" }
end)

test("scripts that are the same make no difference, whatever the farm answers", function()
  world.shell("rm " .. path_of("acme") .. " " .. path_of("bravo"))
  reload {}
  local names = {}
  for _, supplier in ipairs(get("/admin/v1/status").suppliers) do
    if supplier.enabled then
      names[#names + 1] = supplier.name
      equal("unchanged", reload({ shadow = supplier.name }).outcome, supplier.name)
    end
  end
  for file in world.shell("ls " .. folder .. "/suppliers/*.lua"):gmatch("[^\n]+") do
    world.write_file(file, world.read_file(file) .. "-- changed\n")
  end
  reload {}
  for i = 1, #names, 2 do
    search { names[i], names[i + 1] }
  end
  local different = {}
  for _, name in ipairs(names) do
    for _, difference in ipairs(answers(name, 1).differences) do
      different[#different + 1] = name .. " " .. json.encode(difference)
    end
  end
  local read = 0
  for _, each in ipairs(get("/admin/v1/shadows").shadows) do
    equal("runs", each.state, each.supplier .. ": " .. tostring(each.because))
    read = read + each.answers
  end
  assert(read >= #names, "too few answers to say so: " .. read)
  equal("", table.concat(different, "\n"), "differences")
end)

w:stop()
equal(nil, w:engine_output():find("ERROR: ", 1, true), "the sanitizers")
world.finish()
