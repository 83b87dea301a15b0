-- A supplier that speaks XML: a search is begun, then asked again and again for the offers behind those that were seen.
-- All requests go to one address and name the login; an error is an answer like any other.

local XMLNS = { f = "urn:farm:xml" }
local SHORT = { xmlns = XMLNS, ["f:Response"] = {
  ["f:Login"] = { ["f:LoginId"] = text }, ["f:StartSearch"] = { ["f:RoutingId"] = text },
  ["f:Error"] = { ["@code"] = text, ["#text"] = text },
} }
local CHECKED = { xmlns = XMLNS, ["f:Response"] = { ["f:CheckSearch"] = {
  ["@complete"] = flag, ["f:Offers"] = { ["f:Offer"] = { { ["@id"] = text } } },
} } }

local function refuse(response)
  local trouble = response:xml(SHORT)["f:Response"]["f:Error"]
  local code, message = trouble["@code"], trouble["#text"]
  return code == "login" and fail.login(message) or fail.supplier { code = code, message = message }
end

local offers = plan {
  from = "xml", xmlns = XMLNS, each = "f:Response.f:CheckSearch.f:Offers.f:Offer[]",
  offer = {
    id = "@id", brand = "f:Fare", refundable = "f:Refund",
    price = { total = money("f:Price.@currency", "f:Price"), taxes = "f:Price.@tax", taxes_included = const "yes" },
    slices = { each = "f:Way[]", duration_min = "@minutes", segments = {
      each = "f:Flight[]", carrier = "@carrier", number = "@number", origin = "f:From", destination = "f:To",
      departs = { ["local"] = "f:Departs" }, arrives = { ["local"] = "f:Arrives" },
      duration_min = "@minutes", cabin = asked "query.cabin",
    } },
  },
  when = { [429] = fail.quota, ["f:Response.f:Error:present"] = refuse },
}

local function request(ctx, command)
  local body = xml.build { "Request", ctx.login and { "LoginId", ctx.login }, command }
  return { method = "POST", path = "/xml", headers = { ["content-type"] = "text/xml" }, body = body }
end

local function check(ctx, id, seen)
  local asking = request(ctx, { "CheckSearch", { "RoutingId", id }, { "After", seen } })
  return { after_ms = 50, request = asking, state = { id = id, seen = seen } }
end

---@type Supplier
return {
  name = "farm_xml", product = "flights", owner = "farm@example.com", docs = "examples/farm/README.md",
  hosts = {}, secrets = { "FARM_SECRET" }, options = { base_url = "http://s01.farm.test:8080", user = "us" },

  login = {
    build_request = function(ctx)
      return request(ctx, { "Login", { "User", ctx.options.user }, { "Password", ctx.secret.FARM_SECRET } })
    end,
    read = function(response)
      local id = get(response:xml(SHORT), "f:Response", "f:Login", "f:LoginId")
      return id and { value = id } or fail.auth("no login was given")
    end,
  },

  build_request = function(search, ctx)
    local ways = map(search.query.slices, function(slice)
      return { "Way", from = slice.origin, to = slice.destination, date = slice.date }
    end)
    return request(ctx, { "StartSearch", { "Party", #search.query.travellers }, { "Cabin", search.query.cabin },
      { "Currency", search.currency }, unpack(ways) })
  end,

  normalise = function(response, search, ctx)
    local answer = ctx.step == 1 and response.status == 200 and response:xml(SHORT)
    local id = answer and get(answer, "f:Response", "f:StartSearch", "f:RoutingId")
    if id then
      return {}, { merge = "keep", complete = false, next = check(ctx, id, 0) }
    end
    local found = offers(response, search, ctx)
    local state = response.status == 200 and get(response:xml(CHECKED), "f:Response", "f:CheckSearch")
    if not state or state["@complete"] then return found end
    local seen = ctx.state.seen + #state["f:Offers"]["f:Offer"]
    return found, { complete = false, next = check(ctx, ctx.state.id, seen) }
  end,
}
