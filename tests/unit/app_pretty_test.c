// Bodies as people read them.

#include "app/pretty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_pretty(const char *input, const char *expected)
{
    struct buffer out;

    buffer_init(&out, 1 << 20);
    pretty_json(text_of(input), &out);
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    buffer_fini(&out);
}

static void what_is_short_stands_in_a_line_and_the_whole_does_not(void **state)
{
    (void)state;
    assert_pretty("{\"a\":[1,2,{}],\"b\":{\"c\":null}}", "{\n  \"a\": [1, 2, {}],\n  \"b\": { \"c\": null }\n}");
    assert_pretty("[]", "[]");
    assert_pretty("[1,\"x\"]", "[\n  1,\n  \"x\"\n]");
}

static void what_is_long_has_a_line_for_each(void **state)
{
    char input[256], expected[256];

    (void)state;
    snprintf(input, sizeof(input), "{\"a\":[\"%0*d\",\"%0*d\"]}", 60, 1, 60, 2);
    snprintf(expected, sizeof(expected), "{\n  \"a\": [\n    \"%0*d\",\n    \"%0*d\"\n  ]\n}", 60, 1, 60, 2);
    assert_pretty(input, expected);
}

static void literals_and_what_is_no_json_stay_as_they_are(void **state)
{
    (void)state;
    assert_pretty("[1.50,1e5,\"\\u00e9\\n\"]", "[\n  1.50,\n  1e5,\n  \"\\u00e9\\n\"\n]");
    assert_pretty("{a: 1}", "{a: 1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_short_stands_in_a_line_and_the_whole_does_not),
        cmocka_unit_test(what_is_long_has_a_line_for_each),
        cmocka_unit_test(literals_and_what_is_no_json_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
