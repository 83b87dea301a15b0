// response:json(shape): tables of what a script declares, and of nothing else.
#include "script/bind_shape.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "unit/script_chunk_stage.h"

/// read(shape, json): the value (or nil and a sentence), how many values were not as declared, and the first of them.
static int lua_read(lua_State *L)
{
    struct shape_unread unread = { 0 };

    if (!bind_shape_decode(L, 1, bind_check_text(L, 2), &unread)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushinteger(L, (lua_Integer)unread.count);
    lua_pushstring(L, unread.first);
    return 3;
}

static void the_table_mirrors_what_is_declared(void **state)
{
    (void)state;
    assert_gives("local read = ... "
                 "local shape = { currency = text, offers = { { id = text, price = { total = decimal }, n = integer, "
                 "ok = flag, tags = { text }, extra = raw } } } "
                 "return json.encode((read(shape, [[{\"offers\":[{\"id\":\"a\",\"price\":{\"total\":412.30,\"x\":1},"
                 "\"n\":3,\"ok\":true,\"tags\":[\"p\",\"q\"],\"extra\":{\"a\": [1]}},{\"id\":\"b\",\"tags\":[]}],"
                 "\"currency\":\"EUR\",\"other\":[1,2,3]}]])))",
                 "{\"currency\":\"EUR\",\"offers\":[{\"extra\":\"{\\\"a\\\": [1]}\",\"id\":\"a\",\"n\":3,\"ok\":true,"
                 "\"price\":{\"total\":\"412.30\"},\"tags\":[\"p\",\"q\"]},{\"id\":\"b\",\"tags\":[]}]}");
}

static void literals_of_numbers_survive(void **state)
{
    (void)state;
    assert_gives("local read = ... local t = read({ id = text, price = decimal, tiny = decimal, quoted = decimal }, "
                 "[[{\"id\":1234567890123456789,\"price\":412.30,\"tiny\":0.10,\"quoted\":\"7.00\"}]]) "
                 "return t.id .. ' ' .. t.price .. ' ' .. t.tiny .. ' ' .. t.quoted",
                 "1234567890123456789 412.30 0.10 7.00");
}

static void null_is_nil_and_arrays_stay_arrays(void **state)
{
    (void)state;
    assert_gives("local read = ... local t = read({ a = text, b = { text } }, [[{\"a\":null,\"b\":[]}]]) "
                 "return tostring(t.a) .. json.encode(t)",
                 "nil{\"b\":[]}");
    assert_gives("local read = ... local t = read({ { a = text } }, '[]') return json.encode(t)", "[]");
}

static void what_is_no_object_keeps_its_place_in_a_list(void **state)
{
    (void)state;
    assert_gives("local read = ... local t, count, first = read({ o = { { a = text, b = { { c = text } } } } }, "
                 "[[{\"o\":[null,7,{\"a\":\"x\",\"b\":[{\"c\":\"y\"},null]},null]}]]) "
                 "return #t.o .. tostring(t.o[1].a) .. t.o[3].a .. #t.o[3].b .. ' ' .. count .. ' ' .. first",
                 "4nilx2 1 o[2]: object expected, got a number");
}

static void a_map_has_free_keys(void **state)
{
    (void)state;
    assert_gives(
        "local read = ... local t = read({ rates = map_of { decimal } }, "
        "[[{\"rates\":{\"EUR\":[1.0],\"J\\u0050Y\":[161.20,2]}}]]) return t.rates.EUR[1] .. ' ' .. t.rates.JPY[1]",
        "1.0 161.20");
    assert_gives("local read = ... local t = read(map_of(integer), [[{\"a\":1,\"b\":2}]]) return t.a + t.b", "3");
}

static void what_is_not_as_declared_is_nil_counted_and_told(void **state)
{
    (void)state;
    assert_gives(
        "local read = ... local t, count, first = read({ offers = { { total = decimal, n = integer } } }, "
        "[[{\"offers\":[{\"total\":\"1\",\"n\":1},{\"total\":true,\"n\":1.5},{\"total\":\"1e3\",\"n\":[]}]}]]) "
        "return #t.offers .. ' ' .. count .. ' ' .. first",
        "3 4 offers[2].n: whole number expected, got a number");
    assert_gives(
        "local read = ... local t, count, first = read({ { a = text } }, '{}') return tostring(t) .. count .. first",
        "nil1: list expected, got an object");
    assert_gives("local read = ... local t, count, first = read(map_of(integer), [[{\"k\":\"x\"}]]) return first",
                 "k: whole number expected, got a text");
}

static void a_broken_document_gives_its_place(void **state)
{
    (void)state;
    assert_gives("local read = ... local t, why = read({ a = text }, '{\"b\":01}') return why",
                 "not JSON at byte 6: a number must not start with 0");
    assert_gives("local read = ... local t, why = read({ a = text }, '{\"a\":1') return why",
                 "not JSON at byte 7: the document ends too early");
}

static void a_wrong_shape_is_an_error_with_its_path(void **state)
{
    (void)state;
    assert_raises("local read = ... read({ a = { b = 'text' } }, '{}')",
                  "shape at `a.b`: expected text, decimal, integer, flag, raw, map_of or a table");
    assert_raises("local read = ... read({ a = { text, text } }, '{}')", "shape at `a`: a list has one element");
    assert_raises("local read = ... read({ a = { text, b = text } }, '{}')", "shape at `a`: a list has one element");
    assert_raises("map_of(1)", "what the values of the map are");
    assert_raises("local read = ... local t = {} t.t = t read(t, '{}')", "nested too deeply");
}

static void a_shape_is_compiled_once_and_read_often(void **state)
{
    (void)state;
    assert_gives("local read = ... local shape = { { id = integer, on = flag } } local sum = 0 "
                 "for i = 1, 500 do "
                 "  local order = i % 2 == 0 and '[{\"id\":%d,\"on\":true}]' or '[{\"on\":false,\"x\":{},\"id\":%d}]' "
                 "  local t = read(shape, order:format(i)) sum = sum + t[1].id + (t[1].on and 1000 or 0) "
                 "end return sum",
                 "375250");
}

static void an_object_of_many_members_is_read_too(void **state)
{
    (void)state;
    assert_gives("local read = ... local shape, parts = {}, {} "
                 "for i = 1, 150 do shape['m' .. i] = integer parts[i] = ('\"m%d\":%d'):format(i, i) end "
                 "local t, sum = read(shape, '{' .. table.concat(parts, ',') .. '}'), 0 "
                 "for i = 1, 150 do sum = sum + t['m' .. i] end return sum",
                 "11325");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_mirrors_what_is_declared),
        cmocka_unit_test(literals_of_numbers_survive),
        cmocka_unit_test(null_is_nil_and_arrays_stay_arrays),
        cmocka_unit_test(what_is_no_object_keeps_its_place_in_a_list),
        cmocka_unit_test(a_map_has_free_keys),
        cmocka_unit_test(what_is_not_as_declared_is_nil_counted_and_told),
        cmocka_unit_test(a_broken_document_gives_its_place),
        cmocka_unit_test(a_wrong_shape_is_an_error_with_its_path),
        cmocka_unit_test(a_shape_is_compiled_once_and_read_often),
        cmocka_unit_test(an_object_of_many_members_is_read_too),
    };
    chunk_read = lua_read;
    return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
