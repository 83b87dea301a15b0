// The same collection as the body of an answer: its charset found out, then decoded whole for a script. What is left
// open goes otherwise than in the reader alone where the charset is at issue, or the range of Lua's numbers.
#include "script/bind.h"
#include "script/charset.h"
#include "unit/json_suite_support.h"

#include <lauxlib.h>
#include <lualib.h>

// engine/script/README.md gives the reasons.
static const struct suite_decision decided[] = {
    { "i_number_double_huge_neg_exp.json", true },
    { "i_number_huge_exp.json", false },
    { "i_number_neg_int_huge_exp.json", false },
    { "i_number_pos_double_huge_exp.json", false },
    { "i_number_real_neg_overflow.json", false },
    { "i_number_real_pos_overflow.json", false },
    { "i_number_real_underflow.json", true },
    { "i_number_too_big_neg_int.json", true },
    { "i_number_too_big_pos_int.json", true },
    { "i_number_very_big_negative_int.json", true },
    { "i_object_key_lone_2nd_surrogate.json", false },
    { "i_string_1st_surrogate_but_2nd_missing.json", false },
    { "i_string_1st_valid_surrogate_2nd_invalid.json", false },
    { "i_string_UTF-16LE_with_BOM.json", true },
    { "i_string_UTF-8_invalid_sequence.json", true },
    { "i_string_UTF8_surrogate_U+D800.json", true },
    { "i_string_incomplete_surrogate_and_escape_valid.json", false },
    { "i_string_incomplete_surrogate_pair.json", false },
    { "i_string_incomplete_surrogates_escape_valid.json", false },
    { "i_string_invalid_lonely_surrogate.json", false },
    { "i_string_invalid_surrogate.json", false },
    { "i_string_invalid_utf-8.json", true },
    { "i_string_inverted_surrogates_U+1D11E.json", false },
    { "i_string_iso_latin_1.json", true },
    { "i_string_lone_second_surrogate.json", false },
    { "i_string_lone_utf8_continuation_byte.json", true },
    { "i_string_not_in_unicode_range.json", true },
    { "i_string_overlong_sequence_2_bytes.json", true },
    { "i_string_overlong_sequence_6_bytes.json", true },
    { "i_string_overlong_sequence_6_bytes_null.json", true },
    { "i_string_truncated-utf-8.json", true },
    { "i_string_utf16BE_no_BOM.json", true },
    { "i_string_utf16LE_no_BOM.json", true },
    { "i_structure_500_nested_arrays.json", false },
    { "i_structure_UTF-8_BOM_empty_object.json", true },
};

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

static bool is_answer(void *context, struct text document)
{
    lua_State *L = context;
    struct charset_reading reading = charset_begin(TEXT("application/json"), document);
    struct buffer out;
    struct text utf8;

    buffer_init(&out, 4 << 20);
    assert_true(charset_open(&reading, document, &out, &utf8));
    bool is_decoded = bind_json_decode(L, utf8);
    if (!is_decoded) {
        assert_true(charset_check(&reading, &out, &utf8));
        is_decoded = bind_json_decode(L, utf8);
    }
    lua_settop(L, 0);
    buffer_fini(&out);
    return is_decoded;
}

static void every_valid_document_is_decoded(void **state)
{
    suite_run("y_", true, 50, is_answer, *state);
}

static void every_invalid_document_is_refused(void **state)
{
    suite_run("n_", false, 100, is_answer, *state);
}

static void what_is_left_open_goes_as_decided(void **state)
{
    suite_run_decided(decided, COUNT_OF(decided), is_answer, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_valid_document_is_decoded, open_state, close_state),
        cmocka_unit_test_setup_teardown(every_invalid_document_is_refused, open_state, close_state),
        cmocka_unit_test_setup_teardown(what_is_left_open_goes_as_decided, open_state, close_state),
    };
    return cmocka_run_group_tests_name("script_json_suite", tests, NULL, NULL);
}
