-- Offers of Duffel's files read by eye, with instants and minutes counted on paper, so that a mistake that script and
-- reading have in common cannot hide.
local M = {}

local function segment_told(segment)
  local from, to = segment.departs, segment.arrives
  return ("%s %s by %s, %s %s = %s to %s %s = %s, %d min, %s"):format(segment.carrier, segment.number,
    segment.operating, segment.origin, from["local"], from.utc, segment.destination, to["local"], to.utc,
    segment.duration_min, segment.cabin)
end

--- An offer of a reply in the words of the lists below.
function M.told(offer, item)
  local lines = {
    ("%s %s = %s + %s, taxes included: %s"):format(offer.price.total, offer.price.currency, offer.price.base,
      offer.price.taxes, offer.price.taxes_included),
    ("%s %s, until %s"):format(offer.seller.id, offer.seller.name, offer.expires_at),
    ("%s, bags %d and %d, refundable %s, changeable %s"):format(tostring(offer.brand), offer.bags.cabin,
      offer.bags.checked, tostring(offer.refundable), tostring(offer.changeable)),
  }
  for _, slice in ipairs(item.slices) do
    lines[#lines + 1] = ("%d min"):format(slice.duration_min)
    for _, segment in ipairs(slice.segments) do
      lines[#lines + 1] = segment_told(segment)
    end
  end
  return lines
end

-- In April London and Dublin are an hour ahead of UTC, Brussels and Munich two, Istanbul three, New York four behind.
M.page = {
  off_0000AEdGRhtp5AUUdJqMxo = {
    "661.88 GBP = 414.28 + 247.60, taxes included: yes",
    "HR Hahn Air, until 2021-12-21T15:25:13.167Z",
    "nil, bags 0 and 0, refundable nil, changeable nil",
    "995 min",
    "EI 151 by EI, LHR 2022-04-16T07:40:00 = 2022-04-16T06:40:00Z to DUB 2022-04-16T09:00:00 = 2022-04-16T08:00:00Z, "
      .. "80 min, economy",
    "EI 107 by EI, DUB 2022-04-16T16:40:00 = 2022-04-16T15:40:00Z to JFK 2022-04-16T19:15:00 = 2022-04-16T23:15:00Z, "
      .. "455 min, economy",
  },
  off_0000AEdGRhzqilJMw0fBME = {
    "698.61 GBP = 404.07 + 294.54, taxes included: yes",
    "HR Hahn Air, until 2021-12-21T15:25:13.172Z",
    "nil, bags 0 and 0, refundable nil, changeable nil",
    "1430 min",
    "TK 1986 by TK, LHR 2022-04-16T16:30:00 = 2022-04-16T15:30:00Z to IST 2022-04-16T22:20:00 = "
      .. "2022-04-16T19:20:00Z, 230 min, economy",
    "TK 3 by TK, IST 2022-04-17T07:45:00 = 2022-04-17T04:45:00Z to JFK 2022-04-17T11:20:00 = 2022-04-17T15:20:00Z, "
      .. "635 min, economy",
  },
  off_0000AEdGRkbr0Qtr2SSYs6 = {
    "1554.77 GBP = 1316.00 + 238.77, taxes included: yes",
    "UA United Airlines, until 2021-12-21T15:30:10Z",
    "Economy Flexible, bags 0 and 1, refundable nil, changeable nil",
    "670 min",
    "SN 2104 by SN, LHR 2022-04-16T06:50:00 = 2022-04-16T05:50:00Z to BRU 2022-04-16T09:00:00 = "
      .. "2022-04-16T07:00:00Z, 70 min, economy",
    "UA 9929 by SN, BRU 2022-04-16T10:35:00 = 2022-04-16T08:35:00Z to JFK 2022-04-16T13:00:00 = 2022-04-16T17:00:00Z, "
      .. "505 min, economy",
  },
  off_0000AEdGRkeKrCsvA9cXjw = {
    "1806.47 GBP = 1466.00 + 340.47, taxes included: yes",
    "UA United Airlines, until 2021-12-21T15:30:10Z",
    "Premium Economy, bags 0 and 2, refundable nil, changeable nil",
    "820 min",
    "LH 2483 by LH, LHR 2022-04-16T06:55:00 = 2022-04-16T05:55:00Z to MUC 2022-04-16T09:45:00 = 2022-04-16T07:45:00Z, "
      .. "110 min, economy",
    "UA 8871 by LH, MUC 2022-04-16T12:35:00 = 2022-04-16T10:35:00Z to JFK 2022-04-16T15:35:00 = 2022-04-16T19:35:00Z, "
      .. "540 min, premium",
  },
}

-- In May Chicago and Oklahoma are five hours behind UTC, Los Angeles seven. The file tells 304 minutes; by its own
-- times they are 345.
M.show = {
  off_0000ACUEAwiy4LZKiaec5s = {
    "351.30 GBP = 311.00 + 40.30, taxes included: yes",
    "AA American Airlines, until 2021-10-18T11:18:23Z",
    "Main Cabin Flexible, bags 2 and 0, refundable nil, changeable nil",
    "345 min",
    "AA 3010 by AA, ORD 2022-05-22T13:15:00 = 2022-05-22T18:15:00Z to OKC 2022-05-22T15:20:00 = 2022-05-22T20:20:00Z, "
      .. "125 min, economy",
    "AA 3251 by AA, OKC 2022-05-22T16:01:00 = 2022-05-22T21:01:00Z to LAX 2022-05-22T17:00:00 = 2022-05-23T00:00:00Z, "
      .. "179 min, economy",
  },
}

-- The documents' own example: it lands by the clock when it took off, five hours later, and its parts do not add up.
M.small = {
  off_00009htYpSCXrwaB9DnUm0 = {
    "45.00 GBP = 30.20 + 40.80, taxes included: yes",
    "BA British Airways, until 2020-01-17T10:42:14.545Z",
    "Basic, bags 0 and 1, refundable true, changeable true",
    "300 min",
    "BA 1234 by BA, LHR 2020-06-13T16:38:02 = 2020-06-13T15:38:02Z to JFK 2020-06-13T16:38:02 = 2020-06-13T20:38:02Z, "
      .. "300 min, economy",
  },
}

-- Sydney and Melbourne are ten hours ahead in the middle of April.
M.all = {
  off_0000AEatBxAp5iMWXnIwuf = {
    "627.00 GBP = 605.90 + 21.10, taxes included: yes",
    "QF Qantas, until 2021-12-20T12:00:13Z",
    "Flexible Business, bags 0 and 0, refundable nil, changeable nil",
    "95 min",
    "QF 495 by QF, SYD 2022-04-16T20:00:00 = 2022-04-16T10:00:00Z to MEL 2022-04-16T21:35:00 = 2022-04-16T11:35:00Z, "
      .. "95 min, business",
  },
}

return M
