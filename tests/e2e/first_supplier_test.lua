-- luacheck: no max line length
-- variants: release asan
-- A newcomer's way: from a pasted request and a saved answer to a passing fixture, with no more commands than it takes,
-- each of them told by the one before it; and what stood in the way of others.
package.path = "./?.lua;" .. package.path
local world = require("tests.e2e.world")
local test, equal = world.test, world.equal

local ROOT = world.shell("pwd"):match("[^\n]+")
local BINARY = (world.build:sub(1, 1) == "/" and world.build or ROOT .. "/" .. world.build) .. "/lastcall"
local FOLDER = world.folder .. "/first"

local function project()
  os.execute("rm -rf " .. FOLDER .. " && mkdir -p " .. FOLDER)
  world.write_file(FOLDER .. "/lastcall.yaml", "scripts_dir: " .. ROOT .. "/scripts\n")
end

local function write(name, content)
  world.write_file(FOLDER .. "/" .. name, content)
end

local function read(name)
  local content = world.read_file(FOLDER .. "/" .. name)
  return content or error(name .. " is not there")
end

local function run(arguments)
  return world.shell(("cd %s && %s %s"):format(FOLDER, BINARY, arguments))
end

local function passes(arguments)
  local text, code = run(arguments)
  equal(0, code, arguments .. ":\n" .. text)
  return text
end

local function says(text, words)
  assert(text:find(words, 1, true), ("`%s` expected in:\n%s"):format(words, text))
end

local function never(text, words)
  assert(not text:find(words, 1, true), ("`%s` not expected in:\n%s"):format(words, text))
end

local function replace(name, from, to, with)
  local text = read(name)
  local first, last = text:find(from, 1, true), text:find(to, 1, true)
  assert(first and last, name .. " has not: " .. from .. " … " .. to)
  write(name, text:sub(1, first - 1) .. with .. text:sub(last))
end

-- ---- flights, in SOAP ------------------------------------------------------------------------------------------

local OTA = [[
curl -X POST 'https://ota.skylink.example/services/AirLowFareSearch' \
  -H 'Content-Type: text/xml; charset=utf-8' -H 'SOAPAction: "AirLowFareSearch"' \
  -d '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Header>
    <wsse:Security xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">
      <wsse:UsernameToken><wsse:Username>skytest</wsse:Username><wsse:Password>pw-5521</wsse:Password></wsse:UsernameToken>
    </wsse:Security></soap:Header><soap:Body>
    <OTA_AirLowFareSearchRQ xmlns="http://www.opentravel.org/OTA/2003/05" Version="3.0">
      <POS><Source AirportCode="VIE" ISOCurrency="EUR" AgencyCode="88120"><RequestorID ID="skytest" Type="4"/></Source></POS>
      <OriginDestinationInformation RPH="1"><DepartureDateTime>2030-06-09T00:00:00</DepartureDateTime>
        <OriginLocation LocationCode="VIE"/><DestinationLocation LocationCode="LIS"/></OriginDestinationInformation>
      <OriginDestinationInformation RPH="2"><DepartureDateTime>2030-06-16T00:00:00</DepartureDateTime>
        <OriginLocation LocationCode="LIS"/><DestinationLocation LocationCode="VIE"/></OriginDestinationInformation>
      <TravelerInfoSummary><AirTravelerAvail><PassengerTypeQuantity Code="ADT" Quantity="1"/></AirTravelerAvail></TravelerInfoSummary>
    </OTA_AirLowFareSearchRQ></soap:Body></soap:Envelope>'
]]

local function flight(from, to, leaves, lands, carrier, number, seats)
  return ('<FlightSegment DepartureDateTime="%s" ArrivalDateTime="%s" FlightNumber="%s"><DepartureAirport LocationCode="%s"/>'
    .. '<ArrivalAirport LocationCode="%s"/><OperatingAirline Code="%s"/><MarketingAirline Code="%s"/>'
    .. '<TPA_Extensions><SeatsRemaining Number="%d"/></TPA_Extensions></FlightSegment>')
    :format(leaves, lands, number, from, to, carrier, carrier, seats)
end

-- Twelve offers; each third one changes in Frankfurt, and has fewest seats on its second flight.
local function ota_answer()
  local offers = {}
  for i = 1, 12 do
    local base, tax = 20000 + 1510 * i, 4321 + 7 * i
    local there = i % 3 == 0
      and flight("VIE", "FRA", "2030-06-09T06:55:00", "2030-06-09T08:25:00", "LH", 1233, 8)
        .. flight("FRA", "LIS", "2030-06-09T09:20:00", "2030-06-09T11:25:00", "LH", 1166, 2)
      or flight("VIE", "LIS", ("2030-06-09T%02d:40:00"):format(6 + i), ("2030-06-09T%02d:30:00"):format(8 + i), "TP", 1270 + i, 9)
    local back = flight("LIS", "VIE", ("2030-06-16T%02d:05:00"):format(6 + i), ("2030-06-16T%02d:35:00"):format(11 + i), "TP", 1280 + i, 7)
    offers[i] = ([[<PricedItinerary><AirItinerary><OriginDestinationOptions><OriginDestinationOption>%s</OriginDestinationOption>
<OriginDestinationOption>%s</OriginDestinationOption></OriginDestinationOptions></AirItinerary><AirItineraryPricingInfo><ItinTotalFare>
<BaseFare Amount="%d.%02d"/><Taxes><Tax Amount="%d.%02d"/><Tax Amount="12.00"/></Taxes><TotalFare Amount="%d.%02d" CurrencyCode="EUR"/>
</ItinTotalFare><Penalty Type="%s"/></AirItineraryPricingInfo><Notes>OFFER-OF-MORE-THAN-24-BYTES-%02d</Notes></PricedItinerary>]]):format(there, back,
      base / 100, base % 100, tax / 100, tax % 100, (base + tax + 1200) / 100, (base + tax + 1200) % 100,
      i % 2 == 1 and "Refundable" or "NonRefundable", i)
  end
  return '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    .. '<OTA_AirLowFareSearchRS xmlns="http://www.opentravel.org/OTA/2003/05"><PricedItineraries>' .. table.concat(offers)
    .. "</PricedItineraries></OTA_AirLowFareSearchRS></soap:Body></soap:Envelope>"
end

-- What the author writes, and all that is to be written.
local OTA_PLAN = [[
normalise = plan {
    from = "xml",
    each = "Envelope.Body.OTA_AirLowFareSearchRS.PricedItineraries.PricedItinerary[]",
    offer = {
      id = "Notes",
      price = {
        total = money("AirItineraryPricingInfo.ItinTotalFare.TotalFare.@CurrencyCode", "AirItineraryPricingInfo.ItinTotalFare.TotalFare.@Amount"),
        base = "AirItineraryPricingInfo.ItinTotalFare.BaseFare.@Amount",
        taxes = { "AirItineraryPricingInfo.ItinTotalFare.Taxes.Tax[].@Amount", function(taxes) return money.sum(taxes, "EUR") end },
        taxes_included = const "yes",
      },
      refundable = map("AirItineraryPricingInfo.Penalty.@Type", { Refundable = true, NonRefundable = false }),
      seats_left = {
        "AirItinerary.OriginDestinationOptions.OriginDestinationOption[].FlightSegment[].TPA_Extensions.SeatsRemaining.@Number",
        function(seats)
          local least
          for _, number in sorted_pairs(seats) do least = math.min(least or 99, tonumber(number)) end
          return least
        end,
      },
      slices = {
        each = "AirItinerary.OriginDestinationOptions.OriginDestinationOption[]",
        segments = {
          each = "FlightSegment[]",
          carrier = "MarketingAirline.@Code", operating = "OperatingAirline.@Code", number = "@FlightNumber",
          origin = "DepartureAirport.@LocationCode", destination = "ArrivalAirport.@LocationCode",
          departs = { ["local"] = "@DepartureDateTime" }, arrives = { ["local"] = "@ArrivalDateTime" },
        },
      },
    },
    ]]

local function skylink()
  project()
  write("curl.txt", OTA)
  write("answer.xml", ota_answer())
  local told = passes("new skylink --from curl.txt")
  replace("suppliers/skylink.lua", "normalise = plan {", "-- A fault comes", OTA_PLAN)
  return told
end

test("four commands lead from a pasted SOAP call and a saved answer to a fixture that passes", function()
  local told = skylink()
  says(told, "some want a digest, crypto.sha1")
  assert(not read("suppliers/skylink.lua"):find("%f[%w]ceiling%s*="), "nobody said how long it is worth waiting for")
  local command = told:match("\n  lastcall (try [^\n]*) ANSWER\n")
  assert(command, "`new` names no `try`:\n" .. told)
  local tried = passes(command .. " answer.xml")
  says(tried, "script   ok, 12 offers")
  local recorded = passes(assert(tried:match("\nnext       lastcall (record [^\n]*)\n"), tried))
  says(recorded, "suppliers/skylink.test/ok-return.json: answered, 1 exchange; it passes")
  says(passes(assert(recorded:match("\nnext: lastcall (test [^\n]*)\n"), recorded)), "2 passed, 0 failed; 0 findings")
  local first = world.json.decode(read("suppliers/skylink.test/ok-return.json")).expect.first
  equal("270.38", first.price.total, "total")
  equal("215.10", first.price.base, "base")
  equal("55.28", first.price.taxes, "taxes")
  equal(7, first.seats_left, "seats")
  local way = first.item.slices[1].segments[1]
  equal("VIE LIS TP 1271 2030-06-09T07:40:00 2030-06-09T09:30:00 170", table.concat({ way.origin, way.destination,
    way.carrier, way.number, way.departs["local"], way.arrives["local"], way.duration_min }, " "), "the first flight")
end)

test("a draft is true of what was pasted", function()
  local told = skylink()
  local script = read("suppliers/skylink.lua")
  says(script, 'AirportCode = "VIE"') -- where the agency is, whatever is searched for
  never(script, "sells =")
  says(told, "OriginDestinationInformation[]: one for each slice of the search")
  says(script, "The answer in skylink.test/ok-return.json is invented")
  local search = world.json.decode(read("suppliers/skylink.test/ok-return.json")).search.query
  equal("VIE 2030-06-09 2030-06-16", search.slices[1].origin .. " " .. search.slices[1].date .. " " .. search.slices[2].date)

  write("one_entry.txt", [[curl https://a.example/v5/availability -H 'Content-Type: application/json' -d '{"journeyType":"Return",
"OriginDestinationInfo":[{"departureDate":"2030-06-09","returnDate":"2030-06-11","airportOriginCode":"DXB","airportDestinationCode":"LHE"}]}']])
  told = passes("new trav --from one_entry.txt")
  says(told, "returnDate: the day of the way back")
  script = read("suppliers/trav.lua")
  says(script, "returnDate = search.query.slices[2].date")
  says(script, "departureDate = search.query.slices[1].date")
  never(script, "map(search.query.slices")
  local asked = world.json.decode(read("suppliers/trav.test/ok-return.json")).exchanges[1].expect_request.json
  equal("2030-06-09 2030-06-11 1", ("%s %s %d"):format(asked.OriginDestinationInfo[1].departureDate,
    asked.OriginDestinationInfo[1].returnDate, #asked.OriginDestinationInfo))
end)

test("what an author checks of offers has columns, and --all shows one of them whole", function()
  skylink()
  local command = "try skylink suppliers/skylink.test/ok-return.json --body answer.xml"
  local tried = passes(command)
  local function columns(line)
    return (line:gsub("%s+", " "))
  end
  says(columns(tried), " total id taxes seats refund what")
  assert(columns(tried):find(" 270%.38 EUR skylink:%S+ 55%.28 7 yes VIE 06%-09 07:40"), tried)
  assert(columns(tried):find(" 300%.72 EUR skylink:%S+ 55%.42 2 yes VIE 06%-09 06:55"), tried)
  local whole = passes(command .. " --all")
  says(columns(whole), " 270.38 EUR skylink:OFFER-OF-MORE-THAN-24-BYTES-01 55.28 7 yes VIE 06-09 07:40")
  says(whole, "the first offer\n")
  says(whole, '"base": "215.10"')
  never(tried, "the first offer")
end)

test("who asks is hidden in what was sent, and not what is asked for", function()
  skylink()
  local tried = passes("try skylink suppliers/skylink.test/ok-return.json --body answer.xml --all")
  says(tried, "<wsse:Username>***</wsse:Username>")
  says(tried, 'AgencyCode="***"')
  says(tried, 'RequestorID ID="***"')
  says(tried, 'LocationCode="VIE"')
  never(tried, "test-skylink")
end)

test("a status that the script says nothing of is a finding of a saved answer", function()
  skylink()
  local command = "try skylink suppliers/skylink.test/ok-return.json --body answer.xml --status "
  local text, code = run(command .. "503")
  equal(1, code, text)
  says(text, "error[E0706]")
  equal(1, select(2, run(command .. "404")), "an untyped refusal")
  equal(0, select(2, run(command .. "500")), "one that the script tells")
end)

-- ---- hotels ----------------------------------------------------------------------------------------------------

local STAY = [[curl https://xml.webb.example/request -H 'Content-Type: application/json' -d '{"user_id":"webbtest",
"user_password":"pw-1122","fromDate":"2030-03-01","toDate":"2030-03-03","city":"364","adults":2,"currency":"USD"}']]

local function webb()
  project()
  write("stay.txt", STAY)
  return passes("new webb --from stay.txt --product hotels")
end

test("a code of theirs is no city of a search", function()
  says(webb(), "city: the city, by a code of theirs: CITIES has to say which of ours it is")
  says(read("suppliers/webb.lua"), 'local CITIES = { LON = "364" }')
  for _, name in ipairs { "ok-stay", "odd-key-refused" } do
    equal("LON", world.json.decode(read("suppliers/webb.test/" .. name .. ".json")).search.query.place.city, name)
  end
  equal("364", world.json.decode(read("suppliers/webb.test/ok-stay.json")).exchanges[1].expect_request.json.city)
end)

test("the refusal that was invented asks for what was recorded, and passes with it", function()
  webb()
  write("suppliers/webb.lua", (read("suppliers/webb.lua"):gsub('LON = "364"', 'DXB = "364"')))
  write("search.json", [[{ "product": "hotels", "query": { "place": { "city": "DXB" }, "check_in": "2030-03-01",
"check_out": "2030-03-03", "rooms": [{ "adults": 2 }], "currency": "USD" } }]])
  write("answer.json", [[{ "hotels": [{ "id": "h", "name": "Sol", "rates": [{ "id": "r", "total": "90.00", "currency": "USD",
"room": "Twin", "board": "BB" }] }] }]])
  local text, code = run("test webb")
  equal(1, code, text)
  says(passes("record webb search.json --body answer.json"), "1 odd fixture that `lastcall new` invented now asks for the same")
  equal("DXB", world.json.decode(read("suppliers/webb.test/odd-key-refused.json")).search.query.place.city)
  says(passes("test webb"), "2 passed, 0 failed; 0 findings")
  text, code = run("record webb search.json --body answer.json")
  equal(2, code, "one's own is not replaced: " .. text)
  says(text, "--force")
  says(passes("try webb search.json --body answer.json"), "--body answer.json --as ok-stay-2\n")
  says(passes("record webb search.json --body answer.json --status 401"), "odd-key-refused.json: rejected")
end)

test("what the script cannot read is kept under no name but one that somebody gives it", function()
  webb()
  write("other.json", '{ "errors": [{ "code": 7 }] }')
  local text, code = run("record webb suppliers/webb.test/ok-stay.json --body other.json")
  equal(1, code, text)
  says(text, "--as odd-NAME keeps it all the same")
  equal("odd-key-refused.json\nok-stay.json\n", world.shell("ls " .. FOLDER .. "/suppliers/webb.test"))
  says(passes("record webb suppliers/webb.test/ok-stay.json --body other.json --as odd-other"), "odd-other.json: unparsable")
end)

test("a time without an offset says what to do with it", function()
  webb()
  write("suppliers/webb.lua", (read("suppliers/webb.lua"):gsub('pay = const "now",', 'pay = const "now", refund = { free_until = "until" },')))
  write("answer.json", [[{ "hotels": [{ "id": "h", "name": "Sol", "rates": [{ "id": "r", "total": "90.00", "currency": "USD",
"room": "Twin", "board": "BB", "until": "2030-02-20T18:00:00" }, { "id": "s", "total": "95.00", "currency": "USD", "room": "Twin",
"board": "BB" }] }] }]])
  local text, code = run("try webb suppliers/webb.test/ok-stay.json --body answer.json")
  equal(1, code, text)
  says(text, "help: it says no offset")
end)

test("in requests of OTA who asks is a secret, and guests and rooms are counted", function()
  project()
  write("ota.txt", [[curl https://a.example/ota -H 'Content-Type: application/xml' -d '<OTA_HotelAvailRQ xmlns="http://www.opentravel.org/OTA/2003/05">
<POS><Source><RequestorID Type="1" ID="acme-agency" MessagePassword="s3cret-pw"/></Source></POS><StayDateRange Start="2030-03-15" End="2030-03-17"/>
<RoomStayCandidate Quantity="1"><GuestCounts><GuestCount AgeQualifyingCode="10" Count="2"/></GuestCounts></RoomStayCandidate>
<HotelRef HotelCityCode="1402"/></OTA_HotelAvailRQ>']])
  local told = passes("new beds --from ota.txt")
  says(told, "secret   BEDS_REQUESTOR_ID")
  local script = read("suppliers/beds.lua")
  never(script, "acme-agency")
  says(script, "Count = search.query.rooms[1].adults")
  says(script, "Quantity = #search.query.rooms")
  says(script, 'CITIES = { LON = "1402" }')
  says(passes("test beds"), "2 passed")
end)

test("a fixture of another search takes the place of the one that was invented, when nobody names it", function()
  project()
  write("curl.txt", [[curl 'https://a.example/s?from=MAD&to=LHR&day=2030-05-12&currency=EUR']])
  passes("new acme --from curl.txt")
  write("suppliers/acme.lua", (read("suppliers/acme.lua"):gsub("  sells = [^\n]*\n", "")))
  write("search.json", [[{ "query": { "slices": [{ "origin": "MAD", "destination": "LHR", "date": "2030-05-12" },
{ "origin": "LHR", "destination": "MAD", "date": "2030-05-19" }], "travellers": [{ "type": "adult" }] } }]])
  local answer = world.json.decode(read("suppliers/acme.test/ok-one-way.json")).exchanges[1].response.json
  answer.offers[1].slices[2] = { segments = { { carrier = "ZZ", number = "702", from = "LHR", to = "MAD",
    departs = "2030-05-19T08:05", arrives = "2030-05-19T11:35" } } }
  write("answer.json", world.json.encode(answer))
  local told = passes("record acme search.json --body answer.json")
  says(told, "acme.test/ok-return.json: answered")
  says(told, "ok-one-way.json, which `lastcall new` invented, is gone")
  equal(nil, world.read_file(FOLDER .. "/suppliers/acme.test/ok-one-way.json"))
  says(passes("test acme"), "2 passed, 0 failed")
end)

-- ---- words -----------------------------------------------------------------------------------------------------

test("an `only` that gives nil whatever it is asked is warned of", function()
  webb()
  write("search.json", read("suppliers/webb.test/ok-stay.json"))
  write("answer.json", [[{ "hotels": [{ "id": "h", "name": "Sol", "rates": [{ "id": "r", "total": "90.00", "currency": "USD",
"room": "Twin", "board": "BB", "tags": ["a", "b"] }] }] }]])
  local before = read("suppliers/webb.lua")
  local function with(only)
    write("suppliers/webb.lua", (before:gsub('each = "hotels%[%]%.rates%[%]",', "%0\n    only = " .. only .. ",")))
    return (run("try webb search.json --body answer.json"))
  end
  local warning = "warnings 1, the first: `only` gave nil for its 1 element"
  says(with('{ "board", function(board) local _ = board == "BB" end }'), warning)
  local text, code = run("test webb")
  equal(1, code, text)
  says(text, "`only` gave nil for its 1 element, which are left out: is a `return` missing?")
  never(with('{ "board", function(board) return board == "RO" end }'), "warnings")
  never(with('{ "board", function(board) return board == "BB" or nil end }'), "warnings")
end)

test("a list where a value is wanted says what to do, with its path", function()
  webb()
  write("suppliers/webb.lua", (read("suppliers/webb.lua"):gsub('room = "room"', 'room = "beds[].names[].text"')))
  local text, code = run("test webb")
  equal(3, code, text)
  says(text, "offer.room: `beds[].names[].text` is a list, and one value is wanted here: [1] or [-1] in place of [] names one; "
    .. 'a function takes all, { "beds[].names[].text", function(list)')
end)

test("a supplier is named by its file, too", function()
  webb()
  for _, name in ipairs { "webb.lua", "suppliers/webb.lua", "suppliers/webb.test", "suppliers/webb.test/" } do
    says(passes("test " .. name), "2 fixtures of 1 supplier")
    says(passes("check " .. name), "0 findings")
  end
  local text, code = run("test suppliers/web.lua")
  equal(2, code, text)
  says(text, "did you mean `webb`?")
end)

test("without the scripts of lastcall `new` says where to go, and nothing else", function()
  os.execute("rm -rf " .. FOLDER .. " && mkdir -p " .. FOLDER)
  local text, code = run("new kiwi")
  equal(3, code, text)
  says(text, "there is no lastcall.yaml that says where they are")
  says(text, "scripts_dir: ")
  never(text, "does not pass its own test")
  equal("", world.shell("ls -A " .. FOLDER), "nothing was written")
end)

test("the admin listener's commands say which option has their address", function()
  project()
  for _, command in ipairs { "status", "suppliers", "explain 01JDX2T6Q8", "reload" } do
    local text, code = run(command .. " --url http://127.0.0.1:1")
    equal(2, code, text)
    says(text, "--admin URL")
  end
end)

world.finish()
