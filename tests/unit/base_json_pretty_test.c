// JSON in lines, as one writes it by hand.

#include "base/json_pretty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_pretty(const char *input, uint32_t width, const char *expected)
{
    struct arena arena;
    struct json_node *root;
    struct buffer out;
    size_t offset;
    const char *sentence;

    arena_init(&arena, 1 << 20);
    buffer_init(&out, 1 << 20);
    assert_int_equal(json_tree_read(&arena, text_of(input), &root, &offset, &sentence), STATUS_OK);
    json_pretty(root, width, &out);
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    buffer_fini(&out);
    arena_fini(&arena);
}

static void what_fits_stands_in_a_line(void **state)
{
    (void)state;
    assert_pretty("{\"a\":[1,2,{}],\"b\":{\"c\":null}}", 80, "{ \"a\": [1, 2, {}], \"b\": { \"c\": null } }\n");
    assert_pretty("[]", 80, "[]\n");
    assert_pretty(" \"x\" ", 80, "\"x\"\n");
}

static void what_does_not_has_a_line_for_each(void **state)
{
    (void)state;
    assert_pretty("{\"a\":[1,2],\"bbbbbbbbbb\":\"cccccccccc\"}", 30,
                  "{\n  \"a\": [1, 2],\n  \"bbbbbbbbbb\": \"cccccccccc\"\n}\n");
    assert_pretty("[[1111111111,2222222222]]", 20, "[\n  [\n    1111111111,\n    2222222222\n  ]\n]\n");
}

static void literals_stay_as_they_are(void **state)
{
    (void)state;
    assert_pretty("[1.50,1e5,\"\\u00e9\\n\"]", 80, "[1.50, 1e5, \"\\u00e9\\n\"]\n");
    assert_pretty("{\"a\\\"\\\\\\u0001b\":1}", 80, "{ \"a\\\"\\\\\\u0001b\": 1 }\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stands_in_a_line),
        cmocka_unit_test(what_does_not_has_a_line_for_each),
        cmocka_unit_test(literals_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
