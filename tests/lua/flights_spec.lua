local support = dofile("tests/lua/support.lua")

-- 2027-05-03T09:00:00Z, a Monday
local ARRIVAL = { s = 1809334800, ms = 1809334800000, iso = "2027-05-03T09:00:00Z" }

describe("a search for flights", function()
  local flights

  setup(function()
    support.install()
    flights = dofile("scripts/products/flights.lua")
  end)

  local function slice(origin, destination, date, flex_days)
    return { origin = origin, destination = destination, date = date, flex_days = flex_days }
  end

  -- A good query with some fields replaced; `false` takes one away.
  local function query(changes)
    local fields = { slices = { slice("SYD", "MEL", "2027-06-05") }, travellers = { { type = "adult" } } }
    for key, value in pairs(changes or {}) do
      fields[key] = value or nil
      if value == false then
        fields[key] = nil
      end
    end
    return flights.query({ product = "flights", query = fields }, ARRIVAL)
  end

  local function errors_of(changes)
    local search, errors = query(changes)
    assert.is_nil(search)
    return errors
  end

  local function assert_error(changes, pointer, code)
    local errors = errors_of(changes)
    assert.are.same({ pointer, code }, { errors[1].pointer, errors[1].code })
    assert.are.equal(1, #errors)
    return errors[1].detail
  end

  it("fills in what the caller left out", function()
    local search = query()
    assert.are.same("EUR", search.currency)
    assert.are.same("en", search.locale)
    assert.are.same("desktop", search.device)
    assert.are.same("economy", search.query.cabin)
    assert.are.same(0, search.query.slices[1].flex_days)
    assert.is_nil(search.market)
    assert.is_nil(search.private)
  end)

  it("derives facts of a one-way trip", function()
    local search = query()
    assert.are.same("one_way", search.trip_type)
    assert.are.same(33, search.lead_days)
    assert.are.same(1, search.party)
    assert.is_true(search.weekend)
    assert.is_nil(search.nights)
  end)

  it("derives facts of a return trip", function()
    local search = query({
      slices = { slice("SYD", "MEL", "2027-06-04"), slice("MEL", "SYD", "2027-06-11") },
      travellers = { { type = "adult", age = 40 }, { type = "child", age = 5 }, { type = "infant_lap" } },
    })
    assert.are.same({ "return", 7, 3, false },
      { search.trip_type, search.nights, search.party, search.weekend })
  end)

  it("takes two slices that do not lead back for a multi-city trip", function()
    local search = query({ slices = { slice("SYD", "MEL", "2027-06-04"), slice("MEL", "PER", "2027-06-11") } })
    assert.are.same("multi_city", search.trip_type)
  end)

  it("keeps everything that a caller may say", function()
    local search = query({
      cabin = "business", max_stops = 0, bags = { checked = 2 }, fare_codes = { "X1" }, market = "GB", locale = "en-GB",
      currency = "GBP", device = "mobile", client = { ip = "192.0.2.1", user_agent = "x" },
      loyalty = { { carrier = "QF", number = "123" } },
    })
    assert.are.same({ "business", 0, "GB", "en-GB", "GBP", "mobile", true },
      { search.query.cabin, search.query.max_stops, search.market, search.locale, search.currency, search.device,
        search.private })
    assert.are.same({ cabin = 0, checked = 2 }, search.query.bags)
  end)

  it("tells who asks beside the query, where the engine takes it away", function()
    local search = query({ client = { ip = "192.0.2.1" } })
    assert.are.same({ ip = "192.0.2.1" }, search.client)
    assert.is_nil(search.query.client)
  end)

  it("names what makes two searches the same: neither who asks nor in which language", function()
    assert.are.same({ "currency", "device", "market", "query" }, flights.key)
  end)

  it("puts travellers and fare codes in order, so that other spellings are equal", function()
    local one = query({
      travellers = { { type = "child", age = 9 }, { type = "infant_lap" }, { type = "adult" },
        { type = "child", age = 4 }, { type = "adult", age = 40 } },
      fare_codes = { "B", "A", "B" },
    })
    assert.are.same({ { type = "adult" }, { type = "adult", age = 40 }, { type = "child", age = 4 },
      { type = "child", age = 9 }, { type = "infant_lap" } }, one.query.travellers)
    assert.are.same({ "A", "B" }, one.query.fare_codes)
  end)

  it("is not private for empty lists of codes", function()
    local search = query({ fare_codes = {}, loyalty = {} })
    assert.is_nil(search.private)
    assert.is_nil(search.query.fare_codes)
    assert.is_nil(search.query.loyalty)
  end)

  it("names an unknown field and the one that was meant", function()
    local detail = assert_error({ cabins = "economy" }, "/query/cabins", "unknown_field")
    assert.is_truthy(detail:find("\"cabin\"", 1, true))
    local wrong = slice("SYD", "MEL", "2027-06-05")
    wrong.orgin = "SYD"
    assert_error({ slices = { wrong } }, "/query/slices/0/orgin", "unknown_field")
  end)

  it("escapes pointers", function()
    assert_error({ ["a/b~c"] = 1 }, "/query/a~1b~0c", "unknown_field")
  end)

  it("tells all mistakes at once", function()
    local errors = errors_of({ cabin = "busines", slices = { slice("SY", "MEL", "2027-02-30") }, travellers = false })
    local pointers = {}
    for i, mistake in ipairs(errors) do
      pointers[i] = mistake.pointer
    end
    table.sort(pointers)
    assert.are.same({ "/query/cabin", "/query/slices/0/date", "/query/slices/0/origin", "/query/travellers" }, pointers)
  end)

  local wrong = {
    { "no slices", { slices = false }, "/query/slices", "required" },
    { "an empty list of slices", { slices = {} }, "/query/slices", "out_of_range" },
    { "an object for a list", { slices = { a = 1 } }, "/query/slices", "wrong_type" },
    { "a text for a slice", { slices = { "SYD" } }, "/query/slices/0", "wrong_type" },
    { "small letters", { slices = { slice("syd", "MEL", "2027-06-05") } }, "/query/slices/0/origin", "invalid" },
    { "a trip to where it starts", { slices = { slice("SYD", "SYD", "2027-06-05") } }, "/query/slices/0/destination",
      "invalid" },
    { "a day that is over everywhere", { slices = { slice("SYD", "MEL", "2027-05-01") } }, "/query/slices/0/date",
      "in_the_past" },
    { "another spelling of a date", { slices = { slice("SYD", "MEL", "5.6.2027") } }, "/query/slices/0/date",
      "invalid" },
    { "a second slice before the first", { slices = { slice("SYD", "MEL", "2027-06-05"),
      slice("MEL", "SYD", "2027-06-04") } }, "/query/slices/1/date", "out_of_order" },
    { "four days of flexibility", { slices = { slice("SYD", "MEL", "2027-06-05", 4) } }, "/query/slices/0/flex_days",
      "out_of_range" },
    { "half a stop", { max_stops = 0.5 }, "/query/max_stops", "out_of_range" },
    { "stops as text", { max_stops = "1" }, "/query/max_stops", "wrong_type" },
    { "a traveller without a type", { travellers = { {} } }, "/query/travellers/0/type", "required" },
    { "a child without an age", { travellers = { { type = "adult" }, { type = "child" } } },
      "/query/travellers/1/age", "required" },
    { "seven slices", { slices = { slice("SYD", "MEL", "2027-06-01"), slice("MEL", "SYD", "2027-06-02"),
      slice("SYD", "MEL", "2027-06-03"), slice("MEL", "SYD", "2027-06-04"), slice("SYD", "MEL", "2027-06-05"),
      slice("MEL", "SYD", "2027-06-06"), slice("SYD", "MEL", "2027-06-07") } }, "/query/slices", "out_of_range" },
    { "a day that no month has", { slices = { slice("SYD", "MEL", "2027-02-29") } }, "/query/slices/0/date",
      "invalid" },
    { "a child of thirty", { travellers = { { type = "child", age = 30 } } }, "/query/travellers/0/age",
      "out_of_range" },
    { "more laps than adults", { travellers = { { type = "infant_lap" } } }, "/query/travellers", "invalid" },
    { "a country that is none", { market = "XX" }, "/query/market", "invalid" },
    { "a currency that is none", { currency = "NUC" }, "/query/currency", "invalid" },
    { "a cabin that is none", { cabin = "steerage" }, "/query/cabin", "unknown_value" },
    { "a device that is none", { device = "fridge" }, "/query/device", "unknown_value" },
    { "bags as a number", { bags = 2 }, "/query/bags", "wrong_type" },
    { "a client's address in letters", { client = { ip = "cafe" } }, "/query/client/ip", "invalid" },
    { "a client that hides its shape", { client = { ip = "my house" } }, "/query/client/ip", "invalid" },
  }
  for _, row in ipairs(wrong) do
    it("refuses " .. row[1], function()
      assert_error(row[2], row[3], row[4])
    end)
  end

  it("takes a day that is not yet over at the date line", function()
    -- 09:00 UTC is 21:00 of the day before at UTC-12.
    assert.is_table(query({ slices = { slice("HNL", "LAX", "2027-05-02") } }))
  end)

  it("refuses a request without a query", function()
    local search, errors = flights.query({ product = "flights" }, ARRIVAL)
    assert.is_nil(search)
    assert.are.same({ "/query", "required" }, { errors[1].pointer, errors[1].code })
    search, errors = flights.query({ product = "flights", query = { 1 } }, ARRIVAL)
    assert.is_nil(search)
    assert.are.same({ "/query", "wrong_type" }, { errors[1].pointer, errors[1].code })
  end)
end)
