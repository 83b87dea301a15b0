// What is decoded with a learned shape is what was decoded without one.

#include "script/bind.h"
#include "script/json_shapes.h"

#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TIMES = JSON_SHAPE_TEACHERS + 3 };

static int open_state(void **state)
{
    lua_State *L = luaL_newstate();

    luaL_openlibs(L);
    *state = L;
    return 0;
}

static int close_state(void **state)
{
    lua_close(*state);
    return 0;
}

// Decodes several times, so that shapes are learned on the way; each time the canonical text must be the expected one.
static void assert_decoded(lua_State *L, const char *json, const char *expected)
{
    for (int i = 0; i < TIMES; i++) {
        struct buffer out;
        buffer_init(&out, 1 << 20);
        assert_true(bind_json_decode(L, text_of(json)));
        assert_int_equal(lua_gettop(L), 1);
        assert_true(bind_json_encode(L, 1, &out));
        char *text = buffer_take(&out);
        assert_string_equal(text, expected);
        free(text);
        lua_settop(L, 0);
    }
}

static void assert_refused(lua_State *L, const char *json)
{
    assert_false(bind_json_decode(L, text_of(json)));
    assert_int_equal(lua_gettop(L), 1);
    lua_settop(L, 0);
}

static void learned_objects_are_the_same(void **state)
{
    assert_decoded(*state, "{\"b\":1,\"a\":{\"c\":\"x\",\"d\":[{\"e\":true},{\"e\":false}]}}",
                   "{\"a\":{\"c\":\"x\",\"d\":[{\"e\":true},{\"e\":false}]},\"b\":1}");
    assert_decoded(*state, "{ \"b\" : 2 , \"a\" : 3 }", "{\"a\":3,\"b\":2}");
    assert_decoded(*state, "{\"b\":4}", "{\"b\":4}");
    assert_decoded(*state, "{\"b\":4,\"ab\":5}", "{\"ab\":5,\"b\":4}");
    assert_decoded(*state, "{}", "{}");
}

static void null_is_no_field(void **state)
{
    assert_decoded(*state, "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}");
    assert_decoded(*state, "{\"a\":null,\"b\":2}", "{\"b\":2}");
    assert_decoded(*state, "{\"a\":1,\"b\":null}", "{\"a\":1}");
    assert_decoded(*state, "{\"a\":null,\"b\":null}", "{}");
}

static void of_two_equal_keys_the_later_stays_unless_null(void **state)
{
    assert_decoded(*state, "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    assert_decoded(*state, "{\"a\":1,\"b\":2,\"a\":null,\"c\":4}", "{\"a\":1,\"b\":2,\"c\":4}");
}

static void keys_of_any_bytes_are_kept(void **state)
{
    assert_decoded(*state, "{\"]=1,\":1,\"end --\":2,\"0\":3,\"\":4,\"\xC3\xA9\":5}",
                   "{\"\":4,\"0\":3,\"]=1,\":1,\"end --\":2,\"\xC3\xA9\":5}");
    assert_decoded(*state, "{\"a\":0,\"q\\\"\\n\\u00e9\":1,\"b\":2}", "{\"a\":0,\"b\":2,\"q\\\"\\n\xC3\xA9\":1}");
}

static void more_keys_than_a_shape_holds_are_read(void **state)
{
    enum { COUNT = JSON_SHAPE_KEYS + 20 };
    char json[COUNT * 16] = "{";

    for (int i = 0; i < COUNT; i++) {
        size_t length = strlen(json);
        (void)snprintf(json + length, sizeof json - length, "%s\"k%03d\":%d", i > 0 ? "," : "", i, i);
    }
    strcat(json, "}");
    assert_decoded(*state, json, json);
}

static void mistakes_are_seen_with_a_learned_shape(void **state)
{
    assert_decoded(*state, "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}");
    assert_refused(*state, "{\"a\":1 \"b\":2}");
    assert_refused(*state, "{\"a\":1,,\"b\":2}");
    assert_refused(*state, "{\"a\" 1,\"b\":2}");
    assert_refused(*state, "{,\"a\":1}");
    assert_refused(*state, "{\"a\":1,\"b\"");
    assert_refused(*state, "{\"a\":1,\"b\":2");
    assert_refused(*state, "{\"a\":1,\"b\":2,}");
    assert_refused(*state, "[\"a\":1]");
    assert_refused(*state, "{\"a\":1,\"b\":2}x");
}

// More different keys than are remembered: all are read, and what comes later is learned anew.
static void a_flood_of_keys_is_forgotten(void **state)
{
    lua_State *L = *state;
    char json[64];

    for (int i = 0; i < 20000; i++) {
        (void)snprintf(json, sizeof json, "{\"k%d\":%d,\"x\":1}", i, i);
        assert_true(bind_json_decode(L, text_of(json)));
        (void)snprintf(json, sizeof json, "k%d", i);
        lua_getfield(L, 1, json);
        assert_int_equal(lua_tointeger(L, -1), i);
        lua_settop(L, 0);
    }
    const struct json_shapes *shapes = json_shapes_push(L);
    assert_true(shapes->count <= 2048);
    assert_true(shapes->arena.used <= 1 << 20);
    lua_settop(L, 0);
    assert_decoded(L, "{\"z\":1,\"y\":2}", "{\"y\":2,\"z\":1}");
    shapes = json_shapes_push(L);
    assert_true(shapes->makers > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(learned_objects_are_the_same, open_state, close_state),
        cmocka_unit_test_setup_teardown(null_is_no_field, open_state, close_state),
        cmocka_unit_test_setup_teardown(of_two_equal_keys_the_later_stays_unless_null, open_state, close_state),
        cmocka_unit_test_setup_teardown(keys_of_any_bytes_are_kept, open_state, close_state),
        cmocka_unit_test_setup_teardown(more_keys_than_a_shape_holds_are_read, open_state, close_state),
        cmocka_unit_test_setup_teardown(mistakes_are_seen_with_a_learned_shape, open_state, close_state),
        cmocka_unit_test_setup_teardown(a_flood_of_keys_is_forgotten, open_state, close_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
