-- Recorded: a world for the test of a supplier of suppliers/ whose answers are recorded. The farm plays them, each to a
-- supplier name of its own (an alias), which is the supplier's file by `uses`; all other files of suppliers/ are off.
--
--   local r = recorded.new { supplier = "acme", folder = "acme", query = {…}, environment = { ACME_KEY = "k" } }
--   r:answers("acme", "POST /search", "200 OK", "search.json")           -- a file of shared/payloads/acme
--   r:answers("a_none", "POST /search", "404 Not Found", "{\"error\": 7}")      -- or the text itself
--   local list = r:mutated("a_m", "search.json", { fields = { "results[].total" } }, function(alias, body)
--     r:answers(alias, "POST /search", "200 OK", body)
--   end)
--   r:start()
--   recorded.answered(r:search { "acme" }, "acme", 40, 0)
--   r:never_wrong(list)                                                  -- a test for each
--   r:stop()
local world = require("tests.e2e.world")
local mutations = require("tests.e2e.mutations")
local equal = world.equal

local M = {}
local Recorded = {}
Recorded.__index = Recorded

local LINES_OF_A_FILE = 64 -- that the farm reads
local FIRST_ADDRESS = 41 -- the population has those before

--- supplier: the file of suppliers/. folder: of shared/payloads (default: the supplier). product ("flights"), query,
--- environment (of the engine), rates ({ base, rates }), more (settings as YAML), settings (files instead of our own,
--- that know suppliers_dir), population ("instant"), options (what an alias' options are but base_url; or a function of
--- url and alias that gives all of them), any_day (true: what was recorded has other days than the query), budget_ms,
--- tokens (true: offers have them, so that they can be asked for again).
function M.new(options)
  local r = { all = options, aliases = {}, lines = {}, everywhere = {}, options = {}, queries = {}, texts = 0 }
  r.supplier = assert(options.supplier, "which supplier?")
  r.folder = world.shared .. "/payloads/" .. (options.folder or options.supplier) .. "/"
  r.out = world.folder .. "/" .. r.supplier .. "-"
  os.execute("mkdir -p " .. world.folder)
  return setmetatable(r, Recorded)
end

--- Is the folder of answers there? If not, the tests are skipped and the program ends.
function Recorded:needs(name)
  if not world.read_file(self.folder .. name) then
    world.skip("the real answers of " .. self.supplier, self.folder .. " is absent")
    world.finish()
  end
end

--- The text of a file of the folder.
function Recorded:read(name)
  return assert(world.read_file(self.folder .. name), self.folder .. name)
end

-- ---- answers -------------------------------------------------------------------------------------------------------

local function is_text(body)
  return body == "" or body:find("^[%s{%[<\239]") ~= nil
end

local function type_of(body)
  if body:find("%.html$") or body:lower():find("^%s*<!doctype html") or body:lower():find("^%s*<html") then
    return "text/html; charset=utf-8"
  end
  if body:find("%.xml$") or body:find("^\239?\187?\191?%s*<") then
    return "text/xml; charset=utf-8"
  end
  return "application/json"
end

-- The file that the farm reads.
function Recorded:body_file(body, is_packed)
  local path = self.folder .. body
  if is_text(body) then
    self.texts = self.texts + 1
    path = ("%s%d.body"):format(self.out, self.texts)
    world.write_file(path, body)
  end
  if is_packed then
    self.texts = self.texts + 1
    local packed = ("%s%d.gz"):format(self.out, self.texts)
    local output, code = world.shell(("gzip -c '%s' >'%s'"):format(path, packed))
    equal(0, code, output)
    return packed
  end
  return path
end

-- One line of the farm's file, but for its target.
function Recorded:line(request, status, body, headers)
  local method, target = request:match("^(%S+) (%S+)$")
  assert(method, "METHOD TARGET is expected, not " .. request)
  headers = headers or {}
  local columns = { status, headers.type or type_of(body), self:body_file(body, headers.gzip) }
  if headers.gzip then
    columns[#columns + 1] = "content-encoding: gzip"
  end
  for _, header in ipairs(headers) do
    columns[#columns + 1] = header
  end
  return { method = method, target = target, rest = table.concat(columns, "\t") }
end

--- One answer to an alias' requests. request: "METHOD /target"; of several that fit the first one answers (each piece
--- of its query must be in the request). body: a file of the folder, or the text itself (JSON, XML, HTML, ""). headers:
--- a list of header lines, with `type` (the content type, else told by the body) and `gzip = true`.
function Recorded:answers(alias, request, status, body, headers)
  if not self.lines[alias] then
    self.lines[alias] = {}
    self.aliases[#self.aliases + 1] = alias
  end
  table.insert(self.lines[alias], self:line(request, status, body, headers))
end

--- An answer that every alias gives, after its own: a login.
function Recorded:answers_everywhere(request, status, body, headers)
  table.insert(self.everywhere, self:line(request, status, body, headers))
end

--- Options of one alias, beside base_url.
function Recorded:set_options(alias, options)
  self.options[alias] = options
end

--- What an alias is asked, where its answer is one to another query than the usual one.
function Recorded:set_query(alias, query)
  self.queries[alias] = query
end

--- Makes an alias for the answer itself (PREFIX_0) and for each mutation of it (mutations.lua). body: a file of the
--- folder, or a text. `register(alias, text)` says what the alias answers. places.no_offers: the answer has none (an
--- error), and neither may those that are made of it. places.query: what they are asked. places.file: the
--- file that a text is made of. places.made: mutations ({ name, text }) of what no mutation can be made of.
function Recorded:mutated(prefix, body, places, register)
  local text = is_text(body) and body or self:read(body)
  local list = places.made or mutations.of(text, places)
  list.sound, list.no_offers = prefix .. "_0", places.no_offers
  list.what = places.file or is_text(body) and prefix or body
  register(list.sound, text)
  self:set_query(list.sound, places.query)
  for i, mutation in ipairs(list) do
    mutation.alias = prefix .. "_" .. i
    self:set_query(mutation.alias, places.query)
    register(mutation.alias, mutation.text)
    mutation.text = nil
  end
  return list
end

-- ---- the world -----------------------------------------------------------------------------------------------------

-- YAML reads JSON, but for escaped slashes.
local function yaml(value)
  return (world.json.encode(value):gsub("\\/", "/"))
end

-- Writes the farm's files; returns its arguments and the address of each alias.
function Recorded:write_lines()
  local files, urls, count, lines = {}, {}, 0, {}
  local function flush()
    local path = ("%s%d.answers"):format(self.out, #files + 1)
    world.write_file(path, table.concat(lines, "\n") .. "\n")
    files[#files + 1] = ("%s:%s.%d:%s"):format(#files == 0 and self.supplier or "recorded" .. #files, world.network,
      FIRST_ADDRESS + #files, path)
    count, lines = 0, {}
  end
  for _, alias in ipairs(self.aliases) do
    local own = self.lines[alias]
    if count + #own + #self.everywhere > LINES_OF_A_FILE then
      flush()
    end
    urls[alias] = ("http://%s.%d:8080/%s"):format(world.network, FIRST_ADDRESS + #files, alias)
    for _, from in ipairs { own, self.everywhere } do
      for _, line in ipairs(from) do
        lines[#lines + 1] = ("%s\t/%s%s\t%s"):format(line.method, alias, line.target, line.rest)
        count = count + 1
      end
    end
  end
  flush()
  return files, urls
end

function Recorded:options_of(alias, url)
  local options = { base_url = url, any_day = self.all.any_day }
  local all = self.all.options
  if type(all) == "function" then
    options = all(url, alias)
  end
  for _, from in ipairs { type(all) == "table" and all or {}, self.options[alias] or {} } do
    for name, value in pairs(from) do
      options[name] = value
    end
  end
  return options
end

function Recorded:supplier_settings(urls)
  local out = { "suppliers:" }
  for path in world.shell("ls suppliers/*.lua"):gmatch("[^\n]+") do
    local name = path:match("([%w_]+)%.lua$")
    if not urls[name] then
      out[#out + 1] = ("  %s: { enabled: false, because: not tested here }"):format(name)
    end
  end
  for _, alias in ipairs(self.aliases) do
    local settings = { enabled = true, ceiling = "50s",
      accounts = { main = { options = self:options_of(alias, urls[alias]) } } }
    settings.uses = alias ~= self.supplier and self.supplier or nil
    out[#out + 1] = ("  %s: %s"):format(alias, yaml(settings))
  end
  return out
end

-- Our own settings, when the test brings none: the suppliers of suppliers/ and nobody else.
function Recorded:base_settings()
  local path = self.out .. "base.yaml"
  world.write_file(path, "suppliers_dir: suppliers\nscripts_dir: scripts\n")
  return { path }
end

--- Starts farm and engine. All answers are known by then.
function Recorded:start()
  local files, urls = self:write_lines()
  local overlay = { "deadline: { max: 60s }" }
  local rates = self.all.rates
  if rates then
    local path = self.out .. "rates.json"
    world.write_file(path, world.json.encode { id = self.supplier .. "-test", base = rates.base, rates = rates.rates,
      as_of = os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() - 60) })
    overlay[#overlay + 1] = "fx: { file: " .. path .. " }"
  end
  if not (self.all.more or ""):find("scripts:", 1, true) then -- a busy machine stops what takes no time elsewhere
    overlay[#overlay + 1] = "scripts: { build_limit: 1s, normalise_limit: 5s }"
  end
  overlay[#overlay + 1] = self.all.more
  local keys = {}
  if self.all.tokens then
    overlay[#overlay + 1] = "tokens: { enabled: true, offer_keys: [OFFER_KEY], booking_keys: [BOOKING_KEY] }"
    keys = { OFFER_KEY = ("00112233445566778899aabbccddeeff"):rep(4),
      BOOKING_KEY = ("0f1e2d3c4b5a69788796a5b4c3d2e1f0"):rep(2) }
  end
  for _, line in ipairs(self:supplier_settings(urls)) do
    overlay[#overlay + 1] = line
  end
  local environment = {}
  for _, from in ipairs { self.all.environment or {}, keys } do
    for name, value in pairs(from) do
      environment[#environment + 1] = ("%s='%s'"):format(name, value)
    end
  end
  self.world = world.start {
    population = self.all.population or "instant",
    settings = self.all.settings or self:base_settings(),
    overlay = table.concat(overlay, "\n"),
    files = files,
    environment = table.concat(environment, " "),
  }
  for _, file in ipairs(files) do
    world.farm(file:match("^[^:]+"), { model = "constant", median_ms = 0 }) -- nobody waits for what is recorded
  end
  for _, file in ipairs(files) do -- recordings take their time otherwise
    world.farm(file:match("^[^:]+"), { model = "constant", median_ms = 0 })
  end
  return self.world
end

function Recorded:stop()
  self.world:stop()
end

-- ---- searches ------------------------------------------------------------------------------------------------------

--- Asks these suppliers. fields: of the search's body; `query` instead of the first one's, and the query's `currency`.
function Recorded:search(suppliers, fields)
  local body = { product = self.all.product, suppliers = suppliers, budget_ms = self.all.budget_ms or 60000,
    max_items = 10000, max_offers_per_item = 1000 }
  for name, value in pairs(fields or {}) do
    body[name] = value
  end
  local query = {}
  for name, value in pairs(body.query or self.queries[suppliers[1]] or self.all.query or world.query) do
    query[name] = value
  end
  query.currency = body.currency or query.currency
  body.query, body.currency = query, nil
  return self.world:search(body)
end

--- An offer of a search of one supplier, asked for again by its token (id: its own one; none: the first offer): what is
--- told of it, the offer as it was, and the search's reply.
function Recorded:revalidated(alias, id)
  local found = self:search { alias }
  local by_id = M.offers_of(found, alias)
  local offer = found.json and (id and by_id[id] or not id and found.json.offers and found.json.offers[1])
  assert(offer, (id or "an offer") .. " is missing: " .. found.raw:sub(1, 400))
  local body = world.json.encode { token = offer.token }
  local reply = world.http("POST", self.world.url .. "/v1/revalidate", { body = body,
    headers = { "Content-Type: application/json" }, max_time = 60 })
  equal(200, reply.status, reply.raw)
  return reply.json, offer, found
end

--- The supplier answered with so many offers, none dropped, and so many warnings; returns its entry.
function M.answered(reply, name, count, warnings)
  equal(200, reply.status, reply.raw:sub(1, 400))
  local entry = world.entry(reply, name)
  equal("answered", entry.outcome, world.json.encode(entry))
  equal(count, entry.offers, "offers counted")
  equal(nil, entry.offers_dropped, "offers dropped, first " .. tostring(entry.first_dropped or entry.detail))
  equal(warnings > 0 and warnings or nil, entry.warnings, "warnings: " .. tostring(entry.first_warning))
  return entry
end

--- The supplier gave no offers, for this reason, and nobody may think that it has none; returns its entry.
function M.ended(reply, name, outcome, kind)
  local entry = world.entry(reply, name)
  equal(outcome, entry.outcome, world.json.encode(entry))
  equal(kind, entry.kind, "kind")
  equal(outcome == "empty" and 200 or 504, reply.status, "status of the reply")
  equal(0, reply.json.coverage.answered, "answered")
  equal(outcome == "empty" and 1 or 0, reply.json.coverage.empty, "empty")
  return entry
end

--- The offers of one supplier, by its own ids.
function M.offers_of(reply, name)
  local by_id, count = {}, 0
  for _, offer in ipairs(reply.json and reply.json.offers or {}) do
    if offer.supplier == name then
      by_id[offer.id:sub(#name + 2)] = offer
      count = count + 1
    end
  end
  return by_id, count
end

-- ---- mutations -----------------------------------------------------------------------------------------------------

-- What is due later, in a spelling that compares.
local function due_of(price)
  local out = {}
  for _, due in ipairs(price.due_later or {}) do
    out[#out + 1] = ("%s %s %s"):format(tostring(due.kind), due.amount, due.currency)
  end
  table.sort(out)
  return table.concat(out, ", ")
end

-- Every price that is shown is the one of the sound answer; a part of it may be missing, not differ.
local function same_money(id, sound, shown)
  equal(sound.total .. " " .. sound.currency, shown.total .. " " .. shown.currency, "total of " .. id)
  for _, part in ipairs { "base", "taxes" } do
    if shown[part] then
      equal(sound[part], shown[part], part .. " of " .. id)
    end
  end
  if shown.taxes_included == "yes" then
    equal(sound.taxes_included, "yes", "taxes_included of " .. id)
  end
  if shown.due_later then
    equal(due_of(sound), due_of(shown), "due_later of " .. id)
  end
end

local function with_total(sound, total)
  for _, offer in pairs(sound) do
    if offer.price.total == total then
      return offer
    end
  end
  return nil
end

local TOLD = { answered = true, unparsable = true, rejected = true, failed = true }

--- What must hold for an answer that was changed: no price that is wrong, nothing lost in silence, no fault of the
--- script. sound: the offers of the unchanged answer, by id. mutation: its `says_nothing` and `is_of_ids` count
--- (mutations.lua), and `may_be_empty`, which a test sets: what is left of the answer may say that there is nothing.
function M.never_wrong(reply, name, sound, mutation)
  local entry = world.entry(reply, name)
  local told = world.json.encode(entry)
  if mutation.says_nothing then
    equal("empty", entry.outcome, told)
    return entry
  end
  assert(TOLD[entry.outcome] or mutation.may_be_empty and entry.outcome == "empty", "outcome: " .. told)
  local shown, count = M.offers_of(reply, name)
  for id, offer in pairs(shown) do
    local same = sound[id] or mutation.is_of_ids and with_total(sound, offer.price.total)
    assert(same, id .. " is no offer of the unchanged answer")
    same_money(id, same.price, offer.price)
  end
  local all = 0
  for _ in pairs(sound) do
    all = all + 1
  end
  if entry.outcome ~= "answered" then
    equal(0, count, "offers of " .. told)
    assert(entry.detail or entry.http_status, "no reason: " .. told)
  elseif count < all then
    assert(entry.offers_dropped or entry.warnings or entry.partial, "offers are lost in silence: " .. told)
  end
  return entry
end

--- A test for each mutation of `mutated`. on_entry(mutation, entry, reply) may look closer.
function Recorded:never_wrong(list, fields, on_entry)
  local sound
  world.test(list.what .. ": unchanged, all is as it should be", function()
    local reply = self:search({ list.sound }, fields)
    local outcome = world.entry(reply, list.sound).outcome
    sound = M.offers_of(reply, list.sound)
    equal(not list.no_offers, outcome == "answered", outcome .. ", an answer")
    equal(not list.no_offers, next(sound) ~= nil, "there are offers")
  end)
  world.test(list.what .. ": mutations of each kind", function()
    mutations.tell(list.what, list)
  end)
  for _, mutation in ipairs(list) do
    world.test(("%s: %s shows no wrong price and loses nothing in silence"):format(list.what, mutation.name), function()
      local reply = self:search({ mutation.alias }, fields)
      local entry = M.never_wrong(reply, mutation.alias, assert(sound, "no sound answer"), mutation)
      if on_entry then
        on_entry(mutation, entry, reply)
      end
    end)
  end
end

M.mutations = mutations.of

return M
