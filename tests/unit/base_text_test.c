#include "base/text.h"

#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void an_absent_text_is_not_an_empty_one(void **state)
{
    (void)state;
    assert_null(text_of(NULL).data);
    assert_non_null(text_of("").data);
    assert_int_equal(text_of("").length, 0);
    assert_int_equal(text_of("abc").length, 3);
}

static void texts_are_equal_by_bytes(void **state)
{
    (void)state;
    assert_true(text_equals(TEXT("abc"), text_of("abc")));
    assert_false(text_equals(TEXT("abc"), TEXT("abd")));
    assert_false(text_equals(TEXT("abc"), TEXT("ab")));
    const char *word = "abc";
    assert_false(text_equals((struct text){ word, 3 }, (struct text){ word, 2 }));
    assert_false(text_equals((struct text){ word, 2 }, (struct text){ word, 3 }));
    assert_true(text_equals(TEXT("a\0b"), TEXT("a\0b")));
    assert_false(text_equals(TEXT("a\0b"), TEXT("a\0c")));
    assert_true(text_equals_c(TEXT("x"), "x"));
    assert_true(text_equals_nocase(TEXT("Content-Type"), TEXT("content-TYPE")));
    assert_false(text_equals_nocase(TEXT("a["), TEXT("a{"))); // 0x20 apart, but no letters
}

static void a_prefix_is_found_only_at_the_start(void **state)
{
    (void)state;
    assert_true(text_starts_with(TEXT("https://x"), TEXT("https://")));
    assert_true(text_starts_with(TEXT("x"), TEXT("")));
    assert_false(text_starts_with(TEXT("http"), TEXT("https")));
    assert_false(text_starts_with(TEXT("xhttp"), TEXT("http")));
}

static void comparing_is_bytewise_and_shorter_first(void **state)
{
    (void)state;
    assert_true(text_compare(TEXT("a"), TEXT("b")) < 0);
    assert_true(text_compare(TEXT("b"), TEXT("a")) > 0);
    assert_true(text_compare(TEXT("a"), TEXT("aa")) < 0);
    assert_true(text_compare(TEXT("aa"), TEXT("a")) > 0);
    assert_int_equal(text_compare(TEXT("a"), TEXT("a")), 0);
    assert_true(text_compare(TEXT("\x7F"), TEXT("\x80")) < 0);
    assert_int_equal(text_compare(text_of(NULL), TEXT("")), 0);
}

static void trimming_takes_blanks_at_both_ends_only(void **state)
{
    (void)state;
    assert_true(text_equals(text_trim(TEXT(" \t a b\r\n")), TEXT("a b")));
    assert_int_equal(text_trim(TEXT(" \t ")).length, 0);
    assert_int_equal(text_trim(text_of(NULL)).length, 0);
}

static void splitting_tells_an_empty_rest_from_none(void **state)
{
    (void)state;
    struct text rest;
    assert_true(text_equals(text_split(TEXT("a,b,c"), ',', &rest), TEXT("a")));
    assert_true(text_equals(rest, TEXT("b,c")));
    assert_true(text_equals(text_split(TEXT("a,"), ',', &rest), TEXT("a")));
    assert_non_null(rest.data);
    assert_int_equal(rest.length, 0);
    assert_true(text_equals(text_split(TEXT("a"), ',', &rest), TEXT("a")));
    assert_null(rest.data);
    assert_int_equal(text_split(text_of(NULL), ',', &rest).length, 0);
    assert_null(rest.data);
}

static void only_a_whole_decimal_in_range_is_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        uint64_t value;
    } rows[] = {
        { "0", true, 0 },
        { "007", true, 7 },
        { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 },
        { "99999999999999999999", false, 0 },
        { "", false, 0 },
        { "-1", false, 0 },
        { "+1", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "2abc", false, 0 },
        { "0x1", false, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t value = 0;
        assert_int_equal(text_to_u64(text_of(rows[i].text), &value), rows[i].is_number);
        assert_int_equal(value, rows[i].value);
    }
}

static void a_whole_number_has_so_many_digits_and_a_minus_at_most(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most_digits;
        bool is_whole;
        int64_t value;
    } rows[] = {
        { "0", 15, true, 0 },
        { "-0", 15, true, 0 },
        { "-12", 15, true, -12 },
        { "999999999999999", 15, true, INT64_C(999999999999999) },
        { "-999999999999999", 15, true, INT64_C(-999999999999999) },
        { "1000000000000000", 15, false, 0 },
        { "000000000000000", 15, true, 0 },
        { "999999999999999999", 18, true, INT64_C(999999999999999999) },
        { "", 15, false, 0 },
        { "-", 15, false, 0 },
        { "--1", 15, false, 0 },
        { "+1", 15, false, 0 },
        { "1.0", 15, false, 0 },
        { " 1", 15, false, 0 },
        { "1e3", 15, false, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t value = 0;
        assert_int_equal(text_to_whole(text_of(rows[i].text), rows[i].most_digits, &value), rows[i].is_whole);
        assert_true(value == rows[i].value);
    }
}

static void utf8_is_checked_to_the_letter_of_rfc_3629(void **state)
{
    (void)state;
    static const struct {
        struct text text;
        bool is_utf8;
    } rows[] = {
        { { "", 0 }, true },
        { { "plain ascii that is longer than a word", 38 }, true },
        { { "\xC3\xA9", 2 }, true },
        { { "\xE2\x82\xAC", 3 }, true },
        { { "\xF0\x9D\x84\x9E", 4 }, true },
        { { "\xED\x9F\xBF", 3 }, true },      // U+D7FF
        { { "\xEE\x80\x80", 3 }, true },      // U+E000
        { { "\xF4\x8F\xBF\xBF", 4 }, true },  // U+10FFFF
        { { "\xF4\x90\x80\x80", 4 }, false }, // above
        { { "\xED\xA0\x80", 3 }, false },     // U+D800
        { { "\xED\xBF\xBF", 3 }, false },     // U+DFFF
        { { "\xC0\xAF", 2 }, false },         // overlong
        { { "\xC1\xBF", 2 }, false },
        { { "\xE0\x9F\xBF", 3 }, false },
        { { "\xF0\x8F\xBF\xBF", 4 }, false },
        { { "\x80", 1 }, false },
        { { "\xFF", 1 }, false },
        { { "\xC3", 1 }, false }, // cut
        { { "\xE2\x82", 2 }, false },
        { { "\xF0\x9D\x84", 3 }, false },
        { { "12345678\xC3", 9 }, false },
        { { "1234567\xC3\xA9", 9 }, true },
        { { "\xC3\x28", 2 }, false },
        { { "\xE2\x82\x28", 3 }, false },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(text_is_utf8(rows[i].text), rows[i].is_utf8);
    }
}

static void every_code_point_survives_putting_and_reading(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4];
        if (code >= 0xD800 && code <= 0xDFFF) {
            continue;
        }
        size_t length = utf8_put(bytes, code);
        assert_int_equal(utf8_length(bytes, length), length);
        assert_true(length == 1 || utf8_length(bytes, length - 1) == 0);
    }
}

static void the_hash_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(text_hash(TEXT("")) == 0xcbf29ce484222325ULL);
    assert_true(text_hash(TEXT("a")) == 0xaf63dc4c8601ec8cULL);
    assert_true(text_hash(TEXT("foobar")) == 0x85944171f73967e8ULL);
}

static void each_byte_and_each_end_counts_in_a_hash_over_several_texts(void **state)
{
    (void)state;
    char bytes[40];
    memset(bytes, 'a', sizeof(bytes));
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        uint64_t hash = text_hash_on(1, (struct text){ bytes, length });
        assert_true(text_hash_on(2, (struct text){ bytes, length }) != hash);
        for (size_t shorter = 0; shorter < length; shorter++) {
            assert_true(text_hash_on(1, (struct text){ bytes, shorter }) != hash);
            bytes[shorter] = 'b';
            assert_true(text_hash_on(1, (struct text){ bytes, length }) != hash);
            bytes[shorter] = 'a';
        }
    }
    uint64_t one = text_hash_on(text_hash_on(1, TEXT("ab")), TEXT("c"));
    assert_true(text_hash_on(text_hash_on(1, TEXT("a")), TEXT("bc")) != one);
    assert_true(text_hash_on(text_hash_on(1, TEXT("abc")), TEXT("")) != one);
    assert_true(text_hash_on(1, TEXT("")) == text_hash_on(1, (struct text){ NULL, 0 }));
}

static void the_nearest_word_is_found_within_a_third(void **state)
{
    (void)state;
    static const char *const words[] = { "listen", "fetch", "deadline", "callers", "suppliers", "suppliers_dir" };
    assert_string_equal(text_nearest(TEXT("lisetn"), words, COUNT_OF(words)), "listen");
    assert_string_equal(text_nearest(TEXT("fecth"), words, COUNT_OF(words)), "fetch"); // a swap is one step
    assert_string_equal(text_nearest(TEXT("deadlin"), words, COUNT_OF(words)), "deadline");
    assert_string_equal(text_nearest(TEXT("suplliers"), words, COUNT_OF(words)), "suppliers");
    assert_string_equal(text_nearest(TEXT("callers"), words, COUNT_OF(words)), "callers");
    assert_null(text_nearest(TEXT("zebra"), words, COUNT_OF(words)));
    assert_null(text_nearest(TEXT(""), words, COUNT_OF(words)));
    assert_null(text_nearest(TEXT("li"), words, COUNT_OF(words)));
}

static void a_word_too_long_has_no_neighbour(void **state)
{
    (void)state;
    char word[200];
    memset(word, 'x', sizeof(word));
    const char *const words[] = { "xxx" };
    assert_null(text_nearest((struct text){ word, sizeof(word) }, words, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_text_is_not_an_empty_one),
        cmocka_unit_test(texts_are_equal_by_bytes),
        cmocka_unit_test(a_prefix_is_found_only_at_the_start),
        cmocka_unit_test(comparing_is_bytewise_and_shorter_first),
        cmocka_unit_test(trimming_takes_blanks_at_both_ends_only),
        cmocka_unit_test(splitting_tells_an_empty_rest_from_none),
        cmocka_unit_test(only_a_whole_decimal_in_range_is_a_number),
        cmocka_unit_test(a_whole_number_has_so_many_digits_and_a_minus_at_most),
        cmocka_unit_test(utf8_is_checked_to_the_letter_of_rfc_3629),
        cmocka_unit_test(every_code_point_survives_putting_and_reading),
        cmocka_unit_test(the_hash_is_fnv_1a),
        cmocka_unit_test(each_byte_and_each_end_counts_in_a_hash_over_several_texts),
        cmocka_unit_test(the_nearest_word_is_found_within_a_third),
        cmocka_unit_test(a_word_too_long_has_no_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
