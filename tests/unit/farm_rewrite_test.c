// A field that has another name or is not there: JSON stays JSON, XML stays XML, everything else stays as it was.

#include "farm/rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(const char *body, const char *field, bool is_dropped, const char *expected)
{
    struct buffer out;

    buffer_init(&out, 4096);
    assert_true(rewrite_field(&out, text_of(body), text_of(field), is_dropped));
    buffer_append_byte(&out, '\0');
    assert_string_equal(out.data, expected);
    buffer_fini(&out);
}

static void members_get_another_name(void **state)
{
    (void)state;
    check("{\"a\":1,\"total\":{\"total\":2,\"b\":\"total\"}}", "total", false,
          "{\"a\":1,\"total_2\":{\"total_2\":2,\"b\":\"total\"}}");
    check("[{\"totals\":1},{\"total\" : [1]}]", "total", false, "[{\"totals\":1},{\"total_2\" : [1]}]");
}

static void members_are_left_out_with_their_comma(void **state)
{
    (void)state;
    check("{\"a\":1,\"t\":{\"t\":2,\"b\":[{}]},\"c\":3}", "t", true, "{\"a\":1,\"c\":3}");
    check("{\"t\":1,\"a\":2}", "t", true, "{\"a\":2}");
    check("{\"a\":2,\"t\":\"x,\"}", "t", true, "{\"a\":2}");
    check("[{\"t\":1},{\"t\":null}]", "t", true, "[{},{}]");
}

static void elements_get_another_name_or_are_left_out(void **state)
{
    (void)state;
    check("<a><t x=\"1\">5</t><n:t/><tt>6</tt></a>", "t", false, "<a><t_2 x=\"1\">5</t_2><n:t_2/><tt>6</tt></a>");
    check("<a><t x=\"1\">5</t><n:t/><tt>6</tt><t><b>7</b></t></a>", "t", true, "<a><tt>6</tt></a>");
}

static void what_is_neither_is_refused(void **state)
{
    struct buffer out;

    (void)state;
    buffer_init(&out, 4096);
    assert_false(rewrite_field(&out, TEXT("{\"a\":"), TEXT("t"), true));
    buffer_fini(&out);
    buffer_init(&out, 4);
    assert_false(rewrite_field(&out, TEXT("{\"total\":1}"), TEXT("total"), false));
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_get_another_name),
        cmocka_unit_test(members_are_left_out_with_their_comma),
        cmocka_unit_test(elements_get_another_name_or_are_left_out),
        cmocka_unit_test(what_is_neither_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
