local support = dofile("tests/lua/support.lua")

describe("records", function()
  local records

  setup(function()
    support.install()
    for _, leaf in ipairs({ "text", "decimal", "integer", "flag" }) do
      _G[leaf] = leaf
    end
    _G.first = function(list, holds)
      for _, value in ipairs(list) do
        if holds(value) then
          return value
        end
      end
      return nil
    end
    records = dofile("scripts/records.lua")
  end)

  -- A response whose document is `document`; what the reader declares is kept in it.
  local function response(document)
    return {
      xml = function(self, shape)
        self.shape = shape
        return document
      end,
    }
  end

  local function read(fields, element)
    local given = response({ Root = element })
    return records.reader("Root", fields)(given), given.shape
  end

  it("declares just what the paths name, each with its kind", function()
    local _, shape = read({
      id = "@ID", total = "Price.Total.#text:decimal", currency = "Price.Total.@Code",
      items = { at = "Items.Item[]", seats = "Seats:integer", refs = "Refs:refs" },
    }, {})
    assert.same({ Root = {
      ["@ID"] = "text", Price = { Total = { ["#text"] = "decimal", ["@Code"] = "text" } },
      Items = { Item = { { Seats = "integer", Refs = "text" } } },
    } }, shape)
  end)

  it("reads values, records and lists of them", function()
    local record = read({ id = "@ID", item = { at = "One", name = "Name" }, items = { at = "Item[]", name = "Name" } },
      { ["@ID"] = "7", One = { Name = "a" }, Item = { { Name = "b" }, { Name = "c" } } })
    assert.same({ id = "7", item = { name = "a" }, items = { { name = "b" }, { name = "c" } } }, record)
  end)

  it("joins lists within lists, and keeps flags that are false", function()
    local lists = { { B = { { C = false }, { C = true } } }, { B = { { C = false } } } }
    local record = read({ flags = "A[].B[].C:flag" }, { A = lists })
    assert.same({ false, true, false }, record.flags)
  end)

  it("tells a list that is empty from one that is not there", function()
    local fields = { found = { at = "A[].B[]", id = "ID" } }
    assert.same({}, read(fields, { A = {} }).found)
    assert.same({}, read(fields, { A = { { B = {} } } }).found)
    assert.is_nil(read(fields, {}).found)
    assert.is_nil(read(fields, { A = { {}, {} } }).found)
    assert.same({ { id = "1" } }, read(fields, { A = { {}, { B = { { ID = "1" } } } } }).found)
  end)

  it("takes the first of several paths that has something, and no empty text", function()
    local fields = { at = "Expires|Limit.@At" }
    assert.equal("x", read({ limit = fields.at }, { Expires = "x", Limit = { ["@At"] = "y" } }).limit)
    assert.equal("y", read({ limit = fields.at }, { Expires = "", Limit = { ["@At"] = "y" } }).limit)
    assert.is_nil(read({ limit = fields.at }, {}).limit)
    assert.same({ "b" }, read({ list = "L[]" }, { L = { "", "b" } }).list)
  end)

  it("splits references, also those of several elements", function()
    assert.same({ "P1", "P2" }, read({ refs = "Refs:refs" }, { Refs = " P1  P2 " }).refs)
    local several = { S = { { Refs = "P1 P2" }, { Refs = "P3" } } }
    assert.same({ "P1", "P2", "P3" }, read({ refs = "S[].Refs:refs" }, several).refs)
  end)

  it("reads what is lazy when it is asked for, and leaves out what is false", function()
    local fields = { late = { at = "S[]", is_lazy = true, id = "ID" }, never = false }
    local record, shape = read(fields, { S = { { ID = "1" } } })
    assert.is_function(record.late)
    assert.same({ { id = "1" } }, record.late())
    assert.is_nil(record.never)
    assert.same({ Root = { S = { { ID = "text" } } } }, shape)
  end)

  it("gives nothing when the root has another name", function()
    assert.is_nil(records.reader("Root", { id = "ID" })(response({})))
  end)

  it("merges tables deeply; what changes counts", function()
    local base = { a = { b = 1, c = 2 }, d = "x" }
    assert.same({ a = { b = 1, c = 3 }, d = false, e = 4 }, records.merge(base, { a = { c = 3 }, d = false, e = 4 }))
    assert.same({ a = { b = 1, c = 2 }, d = "x" }, base)
  end)
end)
