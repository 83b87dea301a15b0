// Runs the public collection JSONTestSuite through the reader: y_ must be accepted, n_ refused, i_ as decided below.
#include "base/json_read.h"
#include "unit/json_suite_support.h"

// Our decision for what RFC 8259 leaves open; engine/base/README.md gives the reasons.
static const struct suite_decision decided[] = {
    { "i_number_double_huge_neg_exp.json", true },
    { "i_number_huge_exp.json", true },
    { "i_number_neg_int_huge_exp.json", true },
    { "i_number_pos_double_huge_exp.json", true },
    { "i_number_real_neg_overflow.json", true },
    { "i_number_real_pos_overflow.json", true },
    { "i_number_real_underflow.json", true },
    { "i_number_too_big_neg_int.json", true },
    { "i_number_too_big_pos_int.json", true },
    { "i_number_very_big_negative_int.json", true },
    { "i_object_key_lone_2nd_surrogate.json", false },
    { "i_string_1st_surrogate_but_2nd_missing.json", false },
    { "i_string_1st_valid_surrogate_2nd_invalid.json", false },
    { "i_string_UTF-16LE_with_BOM.json", false },
    { "i_string_UTF-8_invalid_sequence.json", false },
    { "i_string_UTF8_surrogate_U+D800.json", false },
    { "i_string_incomplete_surrogate_and_escape_valid.json", false },
    { "i_string_incomplete_surrogate_pair.json", false },
    { "i_string_incomplete_surrogates_escape_valid.json", false },
    { "i_string_invalid_lonely_surrogate.json", false },
    { "i_string_invalid_surrogate.json", false },
    { "i_string_invalid_utf-8.json", false },
    { "i_string_inverted_surrogates_U+1D11E.json", false },
    { "i_string_iso_latin_1.json", false },
    { "i_string_lone_second_surrogate.json", false },
    { "i_string_lone_utf8_continuation_byte.json", false },
    { "i_string_not_in_unicode_range.json", false },
    { "i_string_overlong_sequence_2_bytes.json", false },
    { "i_string_overlong_sequence_6_bytes.json", false },
    { "i_string_overlong_sequence_6_bytes_null.json", false },
    { "i_string_truncated-utf-8.json", false },
    { "i_string_utf16BE_no_BOM.json", false },
    { "i_string_utf16LE_no_BOM.json", false },
    { "i_structure_500_nested_arrays.json", false },
    { "i_structure_UTF-8_BOM_empty_object.json", false },
};

static bool is_document(void *context, struct text document)
{
    (void)context;
    return json_is_valid(document, NULL, NULL);
}

static void every_valid_document_is_accepted(void **state)
{
    (void)state;
    suite_run("y_", true, 50, is_document, NULL);
}

static void every_invalid_document_is_refused(void **state)
{
    (void)state;
    suite_run("n_", false, 100, is_document, NULL);
}

static void what_is_left_open_goes_as_decided(void **state)
{
    (void)state;
    suite_run_decided(decided, COUNT_OF(decided), is_document, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_valid_document_is_accepted),
        cmocka_unit_test(every_invalid_document_is_refused),
        cmocka_unit_test(what_is_left_open_goes_as_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
