local support = dofile("tests/lua/support.lua")

-- 2027-05-03T09:00:00Z, a Monday
local ARRIVAL = { s = 1809334800, ms = 1809334800000, iso = "2027-05-03T09:00:00Z" }

describe("a search for hotels", function()
  local hotels

  setup(function()
    support.install()
    hotels = dofile("scripts/products/hotels.lua")
  end)

  -- A good query with some fields replaced; `false` takes one away.
  local function query(changes)
    local fields = {
      place = { city = "LON" }, check_in = "2027-06-07", check_out = "2027-06-10", rooms = { { adults = 2 } },
    }
    for key, value in pairs(changes or {}) do
      fields[key] = value or nil
      if value == false then
        fields[key] = nil
      end
    end
    return hotels.query({ product = "hotels", query = fields }, ARRIVAL)
  end

  it("fills in what the caller left out", function()
    local search = query()
    assert.are.same({ "hotels", "EUR", "en", "desktop" },
      { search.product, search.currency, search.locale, search.device })
    assert.are.same({ adults = 2, child_ages = {} }, search.query.rooms[1])
    assert.is_nil(search.query.residency)
    assert.is_nil(search.private)
  end)

  it("takes the market for the residency unless it is said", function()
    assert.are.same("GB", query({ market = "GB" }).query.residency)
    assert.are.same("KW", query({ market = "GB", residency = "KW" }).query.residency)
  end)

  it("derives lead, nights and party", function()
    local search = query({ rooms = { { adults = 2, child_ages = { 9, 0 } }, { adults = 1 } } })
    assert.are.same({ 35, 3, 5 }, { search.lead_days, search.nights, search.party })
    assert.are.same({ 0, 9 }, search.query.rooms[1].child_ages)
  end)

  local weekends = {
    { "Monday to Thursday", "2027-06-07", "2027-06-10", false },
    { "Monday to Friday", "2027-06-07", "2027-06-11", false },
    { "Monday to Saturday", "2027-06-07", "2027-06-12", true },
    { "Friday night", "2027-06-11", "2027-06-12", true },
    { "Saturday night", "2027-06-12", "2027-06-13", true },
    { "Sunday night", "2027-06-13", "2027-06-14", false },
    { "Sunday to Friday", "2027-06-13", "2027-06-18", false },
    { "Sunday to Saturday", "2027-06-13", "2027-06-19", true },
  }
  for _, row in ipairs(weekends) do
    it("knows whether " .. row[1] .. " is over a weekend", function()
      assert.are.equal(row[4], query({ check_in = row[2], check_out = row[3] }).weekend)
    end)
  end

  it("takes a place as a city, a circle or hotels, each hotel once and in order", function()
    local place = { geo = { lat = 51.5, lon = -0.125 }, radius_km = 5 }
    assert.are.same(place, query({ place = place }).query.place)
    assert.are.same({ hotels = { "h1", "h2" } }, query({ place = { hotels = { "h2", "h1", "h2" } } }).query.place)
  end)

  it("tells all mistakes at once", function()
    local search, errors = query({ place = {}, check_in = "2027-02-30", rooms = { {} }, market = "XX", room = 1 })
    assert.is_nil(search)
    local pointers = {}
    for i, mistake in ipairs(errors) do
      pointers[i] = mistake.pointer
    end
    table.sort(pointers)
    assert.are.same({ "/query/check_in", "/query/market", "/query/place", "/query/room", "/query/rooms/0/adults" },
      pointers)
  end)

  it("suggests the field that was meant", function()
    local _, errors = query({ room = 1 })
    assert.is_truthy(errors[1].detail:find("\"rooms\"", 1, true))
  end)

  local ten_rooms, ten_children = {}, {}
  for i = 1, 10 do
    ten_rooms[i], ten_children[i] = { adults = 1 }, 5
  end
  local wrong = {
    { "no place", { place = false }, "/query/place", "required" },
    { "two places", { place = { city = "LON", hotels = { "h" } } }, "/query/place", "ambiguous" },
    { "a circle without a radius", { place = { geo = { lat = 1, lon = 2 } } }, "/query/place/radius_km", "required" },
    { "a radius of nothing", { place = { city = "LON", radius_km = 3 } }, "/query/place/radius_km", "invalid" },
    { "a place beyond the pole", { place = { geo = { lat = 91, lon = 2 }, radius_km = 3 } }, "/query/place/geo/lat",
      "out_of_range" },
    { "half a place", { place = { geo = { lat = 9 }, radius_km = 3 } }, "/query/place/geo/lon", "required" },
    { "no hotels", { place = { hotels = {} } }, "/query/place/hotels", "out_of_range" },
    { "a hotel that is a number", { place = { hotels = { "h", 5 } } }, "/query/place/hotels/1", "wrong_type" },
    { "a city with a blank", { place = { city = "New York" } }, "/query/place/city", "invalid" },
    { "a day that no month has", { check_in = "2027-06-31" }, "/query/check_in", "invalid" },
    { "a day that is over everywhere", { check_in = "2027-05-01" }, "/query/check_in", "in_the_past" },
    { "no check-out", { check_out = false }, "/query/check_out", "required" },
    { "a check-out before the check-in", { check_out = "2027-06-06" }, "/query/check_out", "out_of_order" },
    { "a check-out on the same day", { check_out = "2027-06-07" }, "/query/check_out", "out_of_order" },
    { "a hundred nights", { check_out = "2027-09-15" }, "/query/check_out", "out_of_range" },
    { "ten rooms", { rooms = ten_rooms }, "/query/rooms", "out_of_range" },
    { "no room", { rooms = {} }, "/query/rooms", "out_of_range" },
    { "a room without adults", { rooms = { { adults = 0 } } }, "/query/rooms/0/adults", "out_of_range" },
    { "ten children in a room", { rooms = { { adults = 1, child_ages = ten_children } } },
      "/query/rooms/0/child_ages", "out_of_range" },
    { "a child of eighteen", { rooms = { { adults = 1, child_ages = { 3, 18 } } } }, "/query/rooms/0/child_ages/1",
      "out_of_range" },
    { "a number of children", { rooms = { { adults = 1, child_ages = 2 } } }, "/query/rooms/0/child_ages",
      "wrong_type" },
    { "a residency that is none", { residency = "XX" }, "/query/residency", "invalid" },
    { "an unknown field", { guests = 2 }, "/query/guests", "unknown_field" },
  }
  for _, row in ipairs(wrong) do
    it("refuses " .. row[1], function()
      local search, errors = query(row[2])
      assert.is_nil(search)
      assert.are.same({ row[3], row[4] }, { errors[1].pointer, errors[1].code })
      assert.are.equal(1, #errors)
    end)
  end
end)
