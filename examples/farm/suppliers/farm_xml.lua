-- A supplier that speaks XML: a search is begun, then asked again and again for the offers behind those that were seen.
-- All requests go to one address; an error is an answer like any other.

local XMLNS = { f = "urn:farm:xml" }
local BEGUN = { xmlns = XMLNS, ["f:Response"] = { ["f:StartSearch"] = { ["f:RoutingId"] = text } } }
local CHECKED = { xmlns = XMLNS, ["f:Response"] = { ["f:CheckSearch"] = {
  ["@complete"] = flag, ["f:Offers"] = { ["f:Offer"] = { { ["@id"] = text } } },
} } }
local ERROR = { xmlns = XMLNS, ["f:Response"] = { ["f:Error"] = { ["@code"] = text, ["#text"] = text } } }

local function refuse(response)
  local trouble = response:xml(ERROR)["f:Response"]["f:Error"]
  if trouble["@code"] == "login" then
    return fail.login(trouble["#text"])
  end
  return fail.supplier { code = trouble["@code"], message = trouble["#text"] }
end

local offers = plan {
  from = "xml", xmlns = XMLNS, each = "f:Response.f:CheckSearch.f:Offers.f:Offer[]",
  offer = {
    id = "@id", brand = "f:Fare", refundable = "f:Refund",
    price = { total = money("f:Price.@currency", "f:Price"), taxes = "f:Price.@tax", taxes_included = const "yes" },
    slices = {
      each = "f:Way[]", duration_min = "@minutes",
      segments = {
        each = "f:Flight[]", carrier = "@carrier", number = "@number", origin = "f:From", destination = "f:To",
        departs = { ["local"] = "f:Departs" }, arrives = { ["local"] = "f:Arrives" },
        duration_min = "@minutes", cabin = asked "query.cabin",
      },
    },
  },
  when = { [429] = fail.quota, ["f:Response.f:Error:present"] = refuse },
}

-- A request for one command, with the login in front where there is one.
local function request(ctx, command)
  local body = xml.build { "Request", ctx.login and { "LoginId", ctx.login }, command }
  return { method = "POST", path = "/xml", headers = { ["content-type"] = "text/xml" }, body = body }
end

local function check(ctx, id, seen)
  local command = { "CheckSearch", { "RoutingId", id }, { "After", seen } }
  return { after_ms = 50, request = request(ctx, command), state = { id = id, seen = seen } }
end

---@type Supplier
return {
  name = "farm_xml", product = "flights", owner = "farm@example.com", docs = "examples/farm/README.md",
  hosts = {}, secrets = {}, options = { base_url = "http://s01.farm.test:8080" },

  build_request = function(search, ctx)
    local query = search.query
    local command = map(query.slices, function(slice)
      return { "Way", from = slice.origin, to = slice.destination, date = slice.date }
    end)
    table.insert(command, 1, "StartSearch")
    command[#command + 1] = { "Party", #query.travellers }
    command[#command + 1] = { "Cabin", query.cabin }
    command[#command + 1] = { "Currency", search.currency }
    return request(ctx, command)
  end,

  normalise = function(response, search, ctx)
    local id = ctx.step == 1 and response.status == 200 and get(response:xml(BEGUN), "f:Response", "f:StartSearch",
      "f:RoutingId")
    if id then
      return {}, { merge = "keep", complete = false, next = check(ctx, id, 0) }
    end
    local found = offers(response, search, ctx)
    local state = response.status == 200 and get(response:xml(CHECKED), "f:Response", "f:CheckSearch")
    if not state or state["@complete"] then
      return found
    end
    local seen = ctx.state.seen + #state["f:Offers"]["f:Offer"]
    return found, { complete = false, next = check(ctx, ctx.state.id, seen) }
  end,
}
