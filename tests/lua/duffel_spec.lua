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
    _G.get = function(value, ...)
      for _, key in ipairs({ ... }) do
        value = type(value) == "table" and value[key] or nil
      end
      return value
    end
    _G.time.minutes = function(text)
      return text and tonumber(text:match("^PT(%d+)M$"))
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

  local function normalise(status, body)
    return duffel.normalise({
      status = status,
      headers = {},
      json = function()
        return body
      end,
    }, {}, { now = { s = 0 } })
  end

  it("gives airlines the time that is left, within what Duffel takes", function()
    local function timeout(remaining_ms)
      local request = duffel.build_request(search({ { type = "adult" } }),
        { remaining_ms = remaining_ms, secret = { DUFFEL_TOKEN = "t" } })
      return request.query.supplier_timeout
    end
    assert.are.same({ 2000, 4850, 60000 }, { timeout(300), timeout(5000.7), timeout(90000) })
  end)

  it("leaves out what it cannot sell", function()
    assert.is_nil(duffel.skip(search({ { type = "adult" } })))
    assert.is_string(duffel.skip(search({ { type = "infant_seat" } })))
  end)

  it("tells the bags that every traveller has on every flight", function()
    local function traveller(...)
      return { baggages = { ... } }
    end
    local offers = normalise(200, { data = { offers = { {
      slices = { { segments = {
        { passengers = { traveller({ type = "checked", quantity = 2 }, { type = "carry_on", quantity = 1 }) } },
        { passengers = { traveller({ type = "checked", quantity = 1 }) } },
      } } },
    }, { slices = { { segments = { {} } } } } } } })
    assert.are.same({ cabin = 0, checked = 1 }, offers[1].bags)
    assert.is_nil(offers[2].bags)
  end)

  it("leaves amounts in another currency out of the price", function()
    local offers = normalise(200, { data = { offers = { {
      total_amount = "10.00", total_currency = "GBP", base_amount = "9.00", base_currency = "EUR",
      tax_amount = "1.00", tax_currency = "GBP",
    } } } })
    assert.is_nil(offers[1].price.base)
    assert.are.same("1.00", offers[1].price.taxes)
  end)

  it("passes what is no offer on, to be dropped alone", function()
    assert.are.same({ 7 }, normalise(200, { data = { offers = { 7 } } }))
  end)

  it("does not take an answer of another shape for an empty one", function()
    assert.are.same("unexpected", normalise(200, { data = {} }).fail)
    assert.are.same("unexpected", normalise(200, "fine").fail)
    assert.are.same("supplier", normalise(200, { errors = {} }).fail)
    assert.are.same({}, normalise(200, { data = { offers = {} } }))
  end)
end)
