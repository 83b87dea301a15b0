#include "base/plain.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_cleaned(const char *words, const char *wanted)
{
    char bytes[128];

    (void)snprintf(bytes, sizeof bytes, "%s", words);
    plain_clean(bytes, strlen(bytes));
    assert_string_equal(bytes, wanted);
}

static void what_a_terminal_obeys_is_not_shown(void **state)
{
    (void)state;
    assert_cleaned("a\033[31mb\a\r\n\tc\x7f", "a?[31mb????c?");
    assert_cleaned("\xC2\x9B"
                   "31m \x9B",
                   "??31m ?");
}

static void what_turns_or_ends_a_line_is_not_shown(void **state)
{
    (void)state;
    assert_cleaned("a\xE2\x80\xAE"
                   "b\xE2\x81\xA6"
                   "c\xE2\x80\xA8"
                   "d\xD8\x9C",
                   "a???b???c???d??");
}

static void words_of_any_language_stay(void **state)
{
    (void)state;
    assert_cleaned("caf\xC3\xA9 \xE6\x9D\xB1\xE4\xBA\xAC \xF0\x9F\x9B\xAB \xE2\x80\xA6 \xC2\xA0",
                   "caf\xC3\xA9 \xE6\x9D\xB1\xE4\xBA\xAC \xF0\x9F\x9B\xAB \xE2\x80\xA6 \xC2\xA0");
    assert_cleaned("cut \xE6\x9D", "cut ??");
}

static void assert_stripped(const char *words, size_t length, const char *wanted)
{
    char bytes[128];

    memcpy(bytes, words, length);
    size_t left = plain_strip(bytes, length);
    assert_int_equal(left, strlen(wanted));
    assert_memory_equal(bytes, wanted, left);
}

static void what_may_not_be_shown_is_taken_out_but_for_tabs_and_ends_of_lines(void **state)
{
    (void)state;
    assert_stripped("ZZ\0\a\r\n\t\x7f", 8, "ZZ\n\t");
    assert_stripped("a\xE2\x80\xAE"
                    "b\xE2\x81\xA6\xC2\x9B"
                    "c",
                    11, "abc");
    assert_stripped("caf\xC3\xA9 \xFF", 7, "caf\xC3\xA9 \xFF");
    assert_stripped("", 0, "");
}

static void a_failure_keeps_its_notes_apart(void **state)
{
    (void)state;
    struct failure why = { .message = "one\nsuppliers/zz.lua:3: error[E0001]: forged", .help = "\033[2J" };

    failure_at(&why, "a\033.lua", 3, 0);
    failure_note(&why, "    3 | x");
    failure_note(&why, "key \033[31m");
    failure_clean(&why);
    assert_string_equal(why.message, "one?suppliers/zz.lua:3: error[E0001]: forged");
    assert_string_equal(why.help, "?[2J");
    assert_string_equal(why.file, "a?.lua");
    assert_string_equal(why.notes, "    3 | x\nkey ?[31m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_obeys_is_not_shown),
        cmocka_unit_test(what_turns_or_ends_a_line_is_not_shown),
        cmocka_unit_test(words_of_any_language_stay),
        cmocka_unit_test(what_may_not_be_shown_is_taken_out_but_for_tabs_and_ends_of_lines),
        cmocka_unit_test(a_failure_keeps_its_notes_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
