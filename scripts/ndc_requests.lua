-- Requests to an NDC airline: AirShoppingRQ and OfferPriceRQ, the elements in the order of the schemas.

local M = {}

local CABIN_CODES = { first = "1", business = "2", premium = "4", economy = "5" } -- PADIS 9873
local TYPES = { adult = "ADT", child = "CHD", infant_lap = "INF", infant_seat = "INS" }

-- From here on nobody pays a child's fare.
local ADULT_AGE = 12

local function said(name, value)
  return value ~= nil and value ~= "" and { name, value } or nil
end

-- Travellers as we name them: Pax1 and so on, an infant on a lap with its adult.
local function paxs_of(travellers)
  local adult = 0
  local paxs = {}
  for i = 1, #travellers do
    local traveller = travellers[i]
    local is_grown = traveller.type == "child" and traveller.age >= ADULT_AGE
    local pax = { id = "Pax" .. i, ptc = TYPES[is_grown and "adult" or traveller.type], age = traveller.age }
    if traveller.type == "infant_lap" then
      adult = adult + 1
      pax.adult = "Pax" .. adult
    end
    paxs[i] = pax
  end
  return paxs
end

local function pax_elements(paxs, dialect)
  return map(paxs, function(pax)
    if dialect.version == "17.2" then
      return { "Passenger", PassengerID = pax.id, { "PTC", pax.ptc } }
    end
    return {
      "Pax",
      dialect.age and pax.age and { dialect.age, pax.age },
      { "PaxID", pax.id },
      pax.adult and { "PaxRefID", pax.adult },
      { "PTC", pax.ptc },
    }
  end)
end

local function element(name, children)
  return { name, unpack(children) }
end

-- In 21.3 what stands within the parts of a message is of another namespace than the message.
local function part(dialect, name, children)
  for _, child in ipairs(children) do
    child.xmlns = dialect.xmlns_types
  end
  return #children > 0 and element(name, children) or nil
end

local function listed(...)
  local list = {}
  for i = 1, select("#", ...) do
    list[#list + 1] = (select(i, ...)) or nil
  end
  return list
end

local function party_17(options)
  return { "Party",
    { "Sender", { "TravelAgencySender",
      said("Name", options.agency_name), said("IATA_Number", options.iata_number), said("AgencyID", options.agency_id),
    } },
    options.airline ~= "" and { "Recipient", { "ORA_Recipient", { "AirlineID", options.airline } } },
  }
end

local function party(dialect, options)
  if dialect.version ~= "21.3" then
    return { "Party",
      options.airline ~= "" and { "Recipient", { "ORA", { "AirlineDesigCode", options.airline } } },
      { "Sender", { "TravelAgency",
        said("AgencyID", options.agency_id), said(dialect.number, options.iata_number),
        said("Name", options.agency_name),
      } },
    }
  end
  return part(dialect, "DistributionChain", listed(
    { "DistributionChainLink", { "Ordinal", 1 }, { "OrgRole", "Seller" },
      { "ParticipatingOrg", said("Name", options.agency_name), said("OrgID", options.agency_id) } },
    options.airline ~= "" and { "DistributionChainLink", { "Ordinal", 2 }, { "OrgRole", "Carrier" },
      { "ParticipatingOrg", { "OrgID", options.airline } } }
  ))
end

local function attributes(dialect, search)
  return part(dialect, "PayloadAttributes", listed(
    search and { "CorrelationID", search.id },
    search and dialect.language and { dialect.language, search.locale:match("^%a+"):upper() },
    { "VersionNumber", dialect.version }
  ))
end

-- The root of a request, with its parts; a namespace that ends with / is one of each message.
local function root_of(dialect, name, parts)
  local root = element(name .. "RQ", parts)
  root.xmlns = dialect.xmlns:match("/$") and dialect.xmlns .. name .. "RQ" or dialect.xmlns
  return root
end

local function shop_17(search, ctx, dialect)
  local ways = map(search.query.slices, function(slice)
    local flex = slice.flex_days
    return { "OriginDestination",
      { "Departure", { "AirportCode", slice.origin }, { "Date", slice.date } },
      { "Arrival", { "AirportCode", slice.destination } },
      flex > 0 and { "CalendarDates", DaysBefore = flex, DaysAfter = flex },
    }
  end)
  local root = root_of(dialect, dialect.shop, listed(
    search.market and { "PointOfSale", { "Location", { "CountryCode", search.market } } },
    { "Document", { "Name", "NDC" }, { "ReferenceVersion", dialect.version } },
    party_17(ctx.options),
    { "CoreQuery", element("OriginDestinations", ways) },
    { "Preference", { "CabinPreferences", { "CabinType", { "Code", CABIN_CODES[search.query.cabin] } } } },
    { "DataLists", element("PassengerList", pax_elements(paxs_of(search.query.travellers), dialect)) }
  ))
  root.Version = dialect.version
  return root
end

local function way_element(slice, i, query, dialect)
  local cabin, is_21 = { "CabinTypeCode", CABIN_CODES[query.cabin] }, dialect.version == "21.3"
  local flex = slice.flex_days
  return { "OriginDestCriteria",
    is_21 and { "CabinType", cabin, { "PrefLevel", { "PrefLevelCode", "Preferred" } } },
    flex > 0 and { "CalendarDateCriteria", { "DaysAfterNumber", flex }, { "DaysBeforeNumber", flex } },
    query.max_stops and not is_21 and { "ConnectionPrefRefID", "Connection1" },
    { "DestArrivalCriteria", { dialect.place, slice.destination } },
    { "OriginDepCriteria", { "Date", slice.date }, { dialect.place, slice.origin } },
    { "OriginDestID", "OD" .. i },
    not is_21 and { "PreferredCabinType", cabin },
  }
end

local function shop_later(search, ctx, dialect)
  local query, is_21 = search.query, dialect.version == "21.3"
  local ways = map(query.slices, function(slice, i)
    return way_element(slice, i, query, dialect)
  end)
  local flights = is_21 and { "FlightRequest", element("FlightRequestOriginDestinationsCriteria", ways) }
    or element("FlightCriteria", ways)
  return root_of(dialect, dialect.shop, listed(
    party(dialect, ctx.options),
    attributes(dialect, search),
    search.market and part(dialect, "POS", { { "Country", { "CountryCode", search.market } } }),
    part(dialect, "Request", listed(
      flights,
      element(is_21 and "PaxList" or "Paxs", pax_elements(paxs_of(query.travellers), dialect)),
      { "ResponseParameters", { "CurParameter", { dialect.currency, search.currency } } },
      query.max_stops and not is_21 and { "ShoppingCriteria", { "ConnectionCriteria",
        { "ConnectionPrefID", "Connection1" }, { "MaximumConnectionQty", query.max_stops }, { "StationCriteria" } } }
    ))
  ))
end

--- The root of the request for offers, for xml.build.
function M.shop(search, ctx, dialect)
  return (dialect.version == "17.2" and shop_17 or shop_later)(search, ctx, dialect)
end

local function selected_17(selection, response_id)
  local offer = { "Offer", OfferID = selection[1], Owner = selection[2], ResponseID = response_id }
  for i = 3, #selection do
    local item = selection[i]
    offer[#offer + 1] = { "OfferItem", OfferItemID = item[1],
      { "PassengerRefs", table.concat(item, " ", 2) } }
  end
  return offer
end

local function selected_later(selection, response_id)
  local offer = { "SelectedOffer", { "OfferRefID", selection[1] }, said("OwnerCode", selection[2]) }
  for i = 3, #selection do
    local item = { "SelectedOfferItem", { "OfferItemRefID", selection[i][1] } }
    for at = 2, #selection[i] do
      item[#item + 1] = { "PaxRefID", selection[i][at] }
    end
    offer[#offer + 1] = item
  end
  offer[#offer + 1] = said("ShoppingResponseRefID", response_id)
  return offer
end

local function price_17(offers, paxs, ctx, dialect)
  local root = root_of(dialect, dialect.price, {
    { "Document", { "Name", "NDC" }, { "ReferenceVersion", dialect.version } },
    party_17(ctx.options),
    element("Query", offers),
    { "DataLists", element("PassengerList", paxs) },
  })
  root.Version = dialect.version
  return root
end

--- The root of the request for the price now; `ref` is what was kept of the offer.
function M.price(ref, ctx, dialect)
  local is_17, is_21 = dialect.version == "17.2", dialect.version == "21.3"
  local offers = map(ref.offers, function(selection)
    return (is_17 and selected_17 or selected_later)(selection, ref.response)
  end)
  local paxs = pax_elements(map(ref.paxs, function(pax)
    return { id = pax[1], ptc = pax[2] }
  end), dialect)
  if is_17 then
    return price_17(offers, paxs, ctx, dialect)
  end
  return root_of(dialect, dialect.price, listed(
    party(dialect, ctx.options),
    attributes(dialect, nil),
    part(dialect, "Request", listed(
      not is_21 and { "DataLists", element("PaxList", paxs) },
      is_21 and { "PricedOffer", element("SelectedOfferList", offers) } or element("PricedOffer", offers)
    ))
  ))
end

return M
