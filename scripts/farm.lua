-- What the suppliers of examples/farm share: how they are asked, how they refuse, and the offers of their first shape.

local M = {}

local function count_travellers(travellers)
  local counts = { adults = 0, children = 0, infants = 0 }
  for _, traveller in ipairs(travellers) do
    if traveller.type == "adult" then
      counts.adults = counts.adults + 1
    elseif traveller.type == "child" then
      counts.children = counts.children + 1
    else
      counts.infants = counts.infants + 1
    end
  end
  return counts
end

-- The body of a request.
function M.ask(search, ctx)
  local query = search.query
  return {
    trip = map(query.slices, function(slice)
      return { from = slice.origin, to = slice.destination, date = slice.date }
    end),
    travellers = count_travellers(query.travellers),
    cabin = query.cabin,
    currency = search.currency,
    timeout_ms = math.floor(ctx.remaining_ms),
  }
end

-- How an answer says no: an error of its own, if it has one.
local function refusal(response)
  local body = response:json { error = { code = text, message = text } }
  return fail.supplier { code = get(body, "error", "code"), message = get(body, "error", "message") }
end

--- `when` of a plan that finds its offers in `list`. What is not said here the status decides: a 5xx is `failed`.
function M.refusals(list)
  return {
    [400] = refusal,
    [401] = fail.login,
    [403] = refusal,
    [404] = refusal,
    [405] = refusal,
    [429] = fail.quota,
    [list .. ":absent"] = fail.unexpected(list),
  }
end

--- Offers nested as offers[].slices[].segments[], money in hundredths, times with their offset.
M.offers = plan {
  each = "offers[]",
  offer = {
    id = "id",
    price = {
      total = money(up(1).currency, "price.total", "price.scale"),
      taxes = money(up(1).currency, "price.taxes", "price.scale"),
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
  when = M.refusals("offers"),
}

return M
