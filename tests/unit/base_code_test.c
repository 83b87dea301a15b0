#include "base/code.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void each_code_has_one_row_in_the_order_of_numbers(void **state)
{
    (void)state;
    size_t count;
    const struct code_row *rows = code_rows(&count);

    assert_true(count > 50);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || rows[i - 1].code < rows[i].code);
        assert_ptr_equal(code_find(rows[i].code), &rows[i]);
        assert_ptr_equal(code_named(text_of(rows[i].name)), &rows[i]);
        assert_true(rows[i].code / 100 >= 1 && rows[i].code / 100 <= 8);
    }
    assert_null(code_find(CODE_NONE));
}

static void each_row_tells_something_and_ends_its_lines(void **state)
{
    (void)state;
    size_t count;
    const struct code_row *rows = code_rows(&count);

    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(rows[i].meaning);
        assert_true(strlen(rows[i].title) > 5 && strchr(rows[i].title, '\n') == NULL);
        assert_true(length > 40 && rows[i].meaning[length - 1] == '\n');
    }
}

static void a_code_is_printed_with_four_digits_and_read_again(void **state)
{
    (void)state;
    char place[CODE_TEXT_SIZE];

    assert_string_equal(code_print(CODE_NIL_FIELD, place), "E0421");
    assert_string_equal(code_print(CODE_NONE, place), "");
    assert_int_equal(code_named(text_of("e0421"))->code, CODE_NIL_FIELD);
    assert_int_equal(code_named(text_of("421"))->code, CODE_NIL_FIELD);
    assert_int_equal(code_named(text_of("0421"))->code, CODE_NIL_FIELD);
    assert_int_equal(code_named(text_of("error[E0421]:"))->code, CODE_NIL_FIELD);
    assert_int_equal(code_named(text_of("error[E0421]"))->code, CODE_NIL_FIELD);
    assert_null(code_named(text_of("999")));
    assert_null(code_named(text_of("04210")));
    assert_null(code_named(text_of("error[]:")));
    assert_null(code_named(text_of("E0999")));
    assert_null(code_named(text_of("")));
}

static void a_mistyped_code_has_a_neighbour(void **state)
{
    (void)state;
    char place[64];

    assert_string_equal(code_nearest(text_of("nil_feild"), place, sizeof place), "nil_field");
    assert_null(code_nearest(text_of("zzzzzzzzzz"), place, sizeof place));
}

static void notes_are_kept_line_by_line(void **state)
{
    (void)state;
    struct failure why = { 0 };

    failure_note(&why, "   %d | %s", 58, "local a = b.c");
    failure_note(&why, "two\nlines");
    struct text rest = text_of(why.notes);
    assert_true(text_equals_c(failure_next_note(&rest), "   58 | local a = b.c"));
    assert_true(text_equals_c(failure_next_note(&rest), "two lines"));
    assert_null(failure_next_note(&rest).data);
    failure_note(NULL, "nothing");
    failure_code(NULL, CODE_RAISED);
}

static void a_note_without_room_is_left_out_whole(void **state)
{
    (void)state;
    struct failure why = { 0 };
    char line[sizeof why.notes];

    memset(line, 'a', sizeof line);
    line[sizeof line - 20] = '\0';
    failure_note(&why, "%s", line);
    failure_note(&why, "this one is longer than what is left");
    assert_string_equal(why.notes, line);
    failure_note(&why, "short");
    assert_string_equal(why.notes + strlen(line), "\nshort");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_one_row_in_the_order_of_numbers),
        cmocka_unit_test(each_row_tells_something_and_ends_its_lines),
        cmocka_unit_test(a_code_is_printed_with_four_digits_and_read_again),
        cmocka_unit_test(a_mistyped_code_has_a_neighbour),
        cmocka_unit_test(notes_are_kept_line_by_line),
        cmocka_unit_test(a_note_without_room_is_left_out_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
