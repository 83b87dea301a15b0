local support = dofile("tests/lua/support.lua")

describe("Duffel", function()
  local duffel

  setup(function()
    support.install()
    _G.fail = setmetatable({}, {
      __index = function(_, kind)
        return function(detail)
          return { fail = kind, detail = detail }
        end
      end,
    })
    _G.map = function(list, transform)
      local out = {}
      for i, value in ipairs(list) do
        out[#out + 1] = transform(value, i)
      end
      return out
    end
    _G.filter = function(list, holds)
      return map(list, function(value)
        return holds(value) and value or nil
      end)
    end
    _G.first = function(list, holds)
      return filter(list, holds)[1]
    end
    _G.get = function(value, ...)
      for _, key in ipairs({ ... }) do
        if type(value) ~= "table" then
          return nil
        end
        value = value[key]
      end
      return value
    end
    _G.time.minutes = function(text)
      return text and tonumber(text:match("^PT(%d+)M$"))
    end
    _G.time.http = function(text)
      return tonumber(text:match("^at (%d+)$"))
    end
    for _, leaf in ipairs({ "text", "decimal", "integer", "flag" }) do
      _G[leaf] = leaf
    end
    function _G.money.compare(one, other)
      return tonumber(one) - tonumber(other)
    end
    function _G.money.parse(amount, currency)
      return tonumber(amount) and currency and amount or nil
    end
    _G.time.utc = function(text)
      return text
    end
    duffel = dofile("suppliers/duffel.lua")
  end)

  local function search(travellers)
    return {
      trip_type = "one_way",
      query = { cabin = "economy", travellers = travellers,
        slices = { { origin = "SYD", destination = "MEL", date = "2027-06-05" } } },
    }
  end

  local function context(fields)
    local ctx = { now = { s = 1000 }, step = 1, remaining_ms = 5000, secret = { DUFFEL_TOKEN = "t" },
      options = { page_size = 0 } }
    for name, value in pairs(fields or {}) do
      ctx[name] = value
    end
    return ctx
  end

  local function normalise(status, body, ctx, headers, asked)
    return duffel.normalise({
      status = status,
      headers = headers or {},
      json = function()
        return body
      end,
    }, asked or search({ { type = "adult" } }), context(ctx))
  end

  -- What is made of an offer for a search that it fits.
  local function one_offer(offer)
    local asked = search({})
    for i = 1, #(offer.passengers or { {} }) do
      asked.query.travellers[i] = { type = "adult" }
    end
    for i = 1, #(offer.slices or { {} }) do
      asked.query.slices[i] = { origin = "SYD", destination = "MEL", date = "2027-06-05" }
    end
    return normalise(200, { data = { offers = { offer } } }, nil, nil, asked)[1]
  end

  it("gives airlines the time that is left, within what Duffel takes", function()
    local function timeout(remaining_ms)
      local request = duffel.build_request(search({ { type = "adult" } }), context({ remaining_ms = remaining_ms }))
      return request.query.supplier_timeout
    end
    assert.are.same({ 2000, 4850, 60000 }, { timeout(300), timeout(5000.7), timeout(90000) })
  end)

  it("tells who travels as Duffel wants it", function()
    local travellers = { { type = "adult", age = 40 }, { type = "child", age = 9 }, { type = "infant_lap", age = 1 } }
    local request = duffel.build_request(search(travellers), context())
    assert.are.same({ { type = "adult" }, { age = 9 }, { type = "infant_without_seat" } }, request.json.data.passengers)
    assert.is_true(request.query.return_offers)
    assert.are.same("Bearer t", request.headers.authorization)
  end)

  it("leaves out what it cannot sell", function()
    assert.is_nil(duffel.skip(search({ { type = "adult" } })))
    assert.is_string(duffel.skip(search({ { type = "infant_seat" } })))
  end)

  it("tells the bags that every traveller has on every flight", function()
    local function traveller(...)
      return { baggages = { ... } }
    end
    local offer = one_offer({ slices = { { segments = {
      { passengers = { traveller({ type = "checked", quantity = 2 }, { type = "carry_on", quantity = 1 }) } },
      { passengers = { traveller({ type = "checked", quantity = 1 }, { type = "skis", quantity = 1 }) } },
    } } } })
    assert.are.same({ cabin = 0, checked = 1 }, offer.bags)
    assert.is_nil(one_offer({ slices = { { segments = { {} } } } }).bags)
  end)

  it("asks no bag of an infant on a lap", function()
    local offer = one_offer({
      passengers = { { id = "p1", type = "adult" }, { id = "p2", type = "infant_without_seat" } },
      slices = { { segments = { { passengers = {
        { passenger_id = "p1", baggages = { { type = "checked", quantity = 1 } } },
        { passenger_id = "p2", baggages = {} },
      } } } } },
    })
    assert.are.same({ cabin = 0, checked = 1 }, offer.bags)
  end)

  it("names the fare of each slice once", function()
    local function brand(...)
      return one_offer({ slices = map({ ... }, function(name)
        return { fare_brand_name = name, segments = {} }
      end) }).brand
    end
    assert.are.same("Basic", brand("Basic", "Basic"))
    assert.are.same("Basic / Flex", brand("Basic", "Flex", "Basic"))
    assert.are.same(("x"):rep(60), brand(("x"):rep(60), ("y"):rep(60)))
    assert.is_nil(one_offer({ slices = { { segments = {} } } }).brand)
  end)

  it("tells the terms of the whole offer, and nothing where Duffel says nothing", function()
    local told = one_offer({ conditions = {
      change_before_departure = { allowed = true, penalty_amount = "100.00", penalty_currency = "GBP" },
      refund_before_departure = { allowed = false },
    } })
    assert.is_true(told.changeable)
    assert.is_false(told.refundable)
    local silent = one_offer({ conditions = {} })
    assert.is_nil(silent.changeable)
    assert.is_nil(silent.refundable)
  end)

  it("leaves amounts in another currency out of the price", function()
    local offer = one_offer({
      total_amount = "10.00", total_currency = "GBP", base_amount = "9.00", base_currency = "EUR",
      tax_amount = "1.00", tax_currency = "GBP",
    })
    assert.is_nil(offer.price.base)
    assert.are.same("1.00", offer.price.taxes)
  end)

  it("sells no partial offers", function()
    local listed = { { id = "a", partial = true }, { id = "b", partial = false } }
    local offers, details = normalise(200, { data = { offers = listed } })
    assert.are.same(1, #offers)
    assert.are.same("b", offers[1].id)
    assert.are.same({ "1 partial offers left out" }, details.warnings)
    assert.are.same("unexpected", normalise(200, { data = { offers = { { partial = true } } } }).fail)
  end)

  it("keeps the cheapest of more offers than an answer may give", function()
    local listed = {}
    for i = 1, 1003 do
      listed[i] = { id = "o" .. i, total_amount = tostring(2000 - i) }
    end
    local offers, details = normalise(200, { data = { offers = listed } })
    assert.are.same(1000, #offers)
    assert.are.same("o1003", offers[1].id)
    assert.are.same("o4", offers[1000].id)
    assert.is_false(details.complete)
    assert.are.same({ "3 dear offers left out: see page_size" }, details.warnings)
    assert.is_nil(select(2, normalise(200, { data = { offers = { listed[1] } } })).complete)
  end)

  it("does not take an answer of another shape for an empty one", function()
    assert.are.same("unexpected", normalise(200, { data = {} }).fail)
    assert.are.same("unexpected", normalise(200, { data = { id = "orq_1" } }).fail)
    assert.are.same("unexpected", normalise(200, "fine").fail)
    assert.are.same("supplier", normalise(200, { errors = {} }).fail)
    assert.are.same({}, (normalise(200, { data = { offers = {} } })))
  end)

  it("goes by the type of an error, not by its status", function()
    local function error_of(status, kind, headers)
      return normalise(status, { errors = { { type = kind, code = "c", message = "m" } } }, nil, headers)
    end
    assert.are.same({ fail = "auth", detail = "m" }, error_of(400, "authentication_error"))
    assert.are.same({ fail = "busy", detail = "c: m" }, error_of(500, "api_error"))
    assert.are.same({ fail = "supplier", detail = { code = "c", message = "m" } }, error_of(401, "api_error"))
    assert.are.same({ fail = "supplier", detail = { code = "c", message = "m" } }, error_of(502, "airline_error"))
    local function wait(headers)
      return error_of(400, "rate_limit_error", headers).detail.retry_after
    end
    assert.is_nil(wait({}))
    assert.are.same(30, wait({ ["ratelimit-reset"] = "at 1030" }))
    assert.are.same(7, wait({ ["ratelimit-reset"] = "at 5007", ["date"] = "at 5000" }))
    assert.is_nil(wait({ ["ratelimit-reset"] = "at 900" }))
    assert.is_nil(wait({ ["ratelimit-reset"] = "soon" }))
    assert.is_nil(wait({ ["ratelimit-reset"] = { "at 1030", "at 1040" } }))
  end)

  it("goes from page to page by the cursor, the cheapest first", function()
    local paged = { options = { page_size = 500 } }
    local request = duffel.build_request(search({ { type = "adult" } }), context(paged))
    assert.is_false(request.query.return_offers)
    local offers, details = normalise(201, { data = { id = "orq_1" } }, paged)
    assert.are.same({}, offers)
    assert.is_false(details.complete)
    assert.are.same({ offer_request_id = "orq_1", limit = 200, sort = "total_amount" }, details.next.request.query)

    paged.step, paged.state = 2, details.next.state
    offers, details = normalise(200, { data = { { id = "a" } }, meta = { after = "c1" } }, paged)
    assert.are.same("a", offers[1].id)
    assert.is_false(details.complete)
    assert.are.same("c1", details.next.request.query.after)
    assert.are.same("Bearer t", details.next.request.headers.authorization)

    paged.step, paged.state = 3, details.next.state
    offers, details = normalise(200, { data = { { id = "b" } }, meta = {} }, paged)
    assert.are.same("b", offers[1].id)
    assert.is_true(details.complete)
    assert.is_nil(details.next)
    details = select(2, normalise(200, { data = {}, meta = { after = "c1" } }, paged))
    assert.is_false(details.complete)
    assert.is_nil(details.next)
  end)

  it("compares an offer with what Duffel told, not with what it was converted to", function()
    local converted = { total = "123.00", currency = "EUR", supplier_price = { amount = "98.40", currency = "GBP" } }
    local function status(price, total, currency)
      return duffel.revalidate.read({
        status = 200,
        headers = {},
        json = function()
          return { data = { id = "off_1", total_amount = total, total_currency = currency } }
        end,
      }, { ref = "off_1", price = price, query = search({ { type = "adult" } }).query }, context()).status
    end
    assert.are.same("confirmed", status(converted, "98.40", "GBP"))
    assert.are.same("price_changed", status(converted, "123.00", "EUR"))
    assert.are.same("confirmed", status({ total = "98.40", currency = "GBP" }, "98.40", "GBP"))
  end)
end)
