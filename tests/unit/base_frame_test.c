#include "base/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void frames_are_read_back_one_after_the_other(void **state)
{
    static const char body[] = { '\n', '\0', '7', ' ', '1', '\n' };
    struct buffer out;
    struct frame frame;

    (void)state;
    buffer_init(&out, 1024);
    frame_append(&out, TEXT("{\"a\":1}"), (struct text){ body, sizeof(body) });
    frame_append(&out, TEXT("{}"), TEXT(""));
    assert_int_equal(frame_read(&frame, buffer_text(&out)), FRAME_WHOLE);
    assert_true(text_equals_c(frame.json, "{\"a\":1}"));
    assert_true(text_equals(frame.bytes, (struct text){ body, sizeof(body) }));
    struct text rest = { out.data + frame.length, out.length - frame.length };
    assert_int_equal(frame_read(&frame, rest), FRAME_WHOLE);
    assert_true(text_equals_c(frame.json, "{}"));
    assert_int_equal(frame.bytes.length, 0);
    assert_int_equal(frame.length, rest.length);
    buffer_fini(&out);
}

static void a_frame_that_is_not_all_there_is_incomplete_at_every_length(void **state)
{
    struct buffer out;
    struct frame frame;

    (void)state;
    buffer_init(&out, 1024);
    frame_append(&out, TEXT("{\"a\":1}"), TEXT("bytes"));
    for (size_t length = 0; length < out.length; length++) {
        assert_int_equal(frame_read(&frame, (struct text){ out.data, length }), FRAME_INCOMPLETE);
    }
    buffer_fini(&out);
}

static void what_is_no_frame_is_broken(void **state)
{
    static const char *const broken[] = {
        "\n",
        "7\n{}",
        "x 1\n",
        "1 x\n",
        "-1 1\n",
        "1 1 1\n",
        "99999999999 1\n",
        "1 99999999999\n",
        "a line that goes on and on without any end to it",
    };
    struct frame frame;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        assert_int_equal(frame_read(&frame, text_of(broken[i])), FRAME_BROKEN);
    }
}

static void a_frame_that_does_not_fit_leaves_no_half(void **state)
{
    struct buffer out;

    (void)state;
    buffer_init(&out, 8);
    frame_append(&out, TEXT("{}"), TEXT("more than fits"));
    assert_true(out.is_full);
    assert_int_equal(out.length, 0);
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_read_back_one_after_the_other),
        cmocka_unit_test(a_frame_that_is_not_all_there_is_incomplete_at_every_length),
        cmocka_unit_test(what_is_no_frame_is_broken),
        cmocka_unit_test(a_frame_that_does_not_fit_leaves_no_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
