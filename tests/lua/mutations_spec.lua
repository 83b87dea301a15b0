local mutations = dofile("tests/e2e/mutations.lua")

describe("mutations", function()
  local function texts(text, places)
    local out = {}
    for _, mutation in ipairs(mutations.of(text, places)) do
      out[mutation.name] = mutation.text
    end
    return out
  end

  it("change a field of JSON where it is named, and nothing else", function()
    local out = texts([[{"offers": [ {"id": "a", "total": "12.50"}, {"total": "0.5", "id":"b"} ]}]],
      { fields = { "offers[2].total" } })
    assert.are.same({
      ["offers[2].total renamed"] = [[{"offers": [ {"id": "a", "total": "12.50"}, {"total_v2": "0.5", "id":"b"} ]}]],
      ["offers[2].total null"] = [[{"offers": [ {"id": "a", "total": "12.50"}, {"total": null, "id":"b"} ]}]],
      ["offers[2].total absent"] = [[{"offers": [ {"id": "a", "total": "12.50"}, { "id":"b"} ]}]],
      ["offers[2].total retyped"] = [[{"offers": [ {"id": "a", "total": "12.50"}, {"total": 7, "id":"b"} ]}]],
      ["cut in half"] = [[{"offers": [ {"id": "a", "total": "1]],
    }, out)
  end)

  it("change all elements of a list, whatever stands in strings", function()
    local out = texts([[{"o": [{"x": "}\"]", "t": 12.50}, {"t": "9.99", "x": []}]}]], { fields = { "o[].t" } })
    assert.are.same([[{"o": [{"x": "}\"]", "t": "12.50"}, {"t": 9.99, "x": []}]}]], out["o[].t retyped"])
    assert.are.same([[{"o": [{"x": "}\"]"}, { "x": []}]}]], out["o[].t absent"])
  end)

  it("take a place as the tail of a path", function()
    local out = texts([[{"a": {"id": 1}, "id": 2, "aid": 3}]], { fields = { "a.id" } })
    assert.are.same([[{"a": {"id_v2": 1}, "id": 2, "aid": 3}]], out["a.id renamed"])
    out = texts([=[[{"id": 1}, {"id": 2}]]=], { fields = { "[2].id" } })
    assert.are.same([=[[{"id": 1}, {"id": null}]]=], out["[2].id null"])
  end)

  it("empty lists, and tell those that mean nothing for sale", function()
    local list = mutations.of([[{"d": [{"l": [1, 2]}, {"l": {"k": 1}}]}]], { lists = { "d[].l" }, nothing = { "d" } })
    assert.are.same([[{"d": [{"l": []}, {"l": {}}]}]], list[1].text)
    assert.is_nil(list[1].says_nothing)
    assert.are.same([[{"d": []}]], list[2].text)
    assert.is_true(list[2].says_nothing)
  end)

  it("leave an element of a list at its place", function()
    local out = texts("[1, 2, 3]", { fields = { "[2]" } })
    assert.are.same("[1, null, 3]", out["[2] null"])
    assert.is_nil(out["[2] absent"])
    assert.is_nil(out["[2] renamed"])
  end)

  it("change elements and attributes of XML by their local names", function()
    local function whole(middle)
      return [[<?xml version="1.0"?><!-- <P> --><s:E xmlns:s="u">]] .. middle .. "<![CDATA[<P>]]></s:E>"
    end
    local out = texts(whole([[<O id="1"><P>5</P></O><s:O id='2' ><P >6</P></s:O>]]),
      { fields = { "O[2]/P", "O/@id" }, lists = { "O[1]" } })
    assert.are.same(whole([[<O id="1"><P>5</P></O><s:O id='2' ><PV2 >6</PV2></s:O>]]), out["O[2]/P renamed"])
    assert.are.same(whole([[<O id="1"><P>5</P></O><s:O id='2' ></s:O>]]), out["O[2]/P absent"])
    assert.are.same(whole([[<O id="1"><P>5</P></O><s:O id='2' ><P ></P></s:O>]]), out["O[2]/P null"])
    assert.are.same(whole([[<O idV2="1"><P>5</P></O><s:O idV2='2' ><P >6</P></s:O>]]), out["O/@id renamed"])
    assert.are.same(whole([[<O><P>5</P></O><s:O ><P >6</P></s:O>]]), out["O/@id absent"])
    assert.are.same(whole([[<O id="n/a"><P>5</P></O><s:O id='n/a' ><P >6</P></s:O>]]), out["O/@id retyped"])
    assert.are.same(whole([[<O id="1"></O><s:O id='2' ><P >6</P></s:O>]]), out["O[1] emptied"])
  end)

  it("refuse a place that the answer does not have", function()
    assert.has_error(function()
      mutations.of("{}", { fields = { "total" } })
    end, "there is no total in the answer")
  end)
end)
