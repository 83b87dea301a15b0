// The trace context of requests: continued, or begun anew.
#include "app/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ID "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length;
}

/// 00-ID-PARENT-FLAGS with ids that are not zero.
static void check_form(const struct trace *trace)
{
    assert_int_equal(strlen(trace->parent), TRACE_PARENT_LENGTH);
    assert_memory_equal(trace->parent, "00-", 3);
    assert_memory_equal(trace->parent + 3, trace->id, TRACE_ID_LENGTH);
    assert_true(is_hex(trace->id, TRACE_ID_LENGTH) && strspn(trace->id, "0") < TRACE_ID_LENGTH);
    assert_true(is_hex(trace->parent + 36, 16) && strspn(trace->parent + 36, "0") < 16);
    assert_int_equal(trace->parent[35], '-');
    assert_int_equal(trace->parent[52], '-');
}

static void a_trace_goes_on_with_a_parent_of_our_own(void **state)
{
    static const struct {
        const char *given, *flags;
    } cases[] = {
        { "00-" ID "-" PARENT "-01", "01" },
        { "00-" ID "-" PARENT "-00", "00" },
        { "00-" ID "-" PARENT "-ff", "01" }, // only what level 1 knows
        { "00-" ID "-" PARENT "-02", "00" },
        { "01-" ID "-" PARENT "-01", "01" },
        { "fe-" ID "-" PARENT "-01-what-comes-later", "01" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trace trace;
        trace_continue(&trace, text_of(cases[i].given));
        check_form(&trace);
        assert_string_equal(trace.id, ID);
        assert_true(memcmp(trace.parent + 36, PARENT, 16) != 0);
        assert_string_equal(trace.parent + 53, cases[i].flags);
    }
}

static void what_is_no_traceparent_begins_a_new_trace(void **state)
{
    static const char *const cases[] = {
        NULL,
        "",
        "00-" ID "-" PARENT,
        "00-" ID "-" PARENT "-0",
        "00-" ID "-" PARENT "-011",
        "00-" ID "-" PARENT "-01-more",
        "ff-" ID "-" PARENT "-01",
        "01-" ID "-" PARENT "-01.more",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" ID "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-" ID "-" PARENT "-0x",
        "00_" ID "-" PARENT "-01",
        "00-" ID "_" PARENT "-01",
        "00-" ID "-" PARENT "_01",
        "0g-" ID "-" PARENT "-01",
        " 00-" ID "-" PARENT "-0",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trace trace;
        struct trace other;
        trace_continue(&trace, text_of(cases[i]));
        trace_continue(&other, text_of(cases[i]));
        check_form(&trace);
        assert_string_not_equal(trace.id, ID);
        assert_string_not_equal(trace.id, other.id);
        assert_string_equal(trace.parent + 53, "00");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_goes_on_with_a_parent_of_our_own),
        cmocka_unit_test(what_is_no_traceparent_begins_a_new_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
