// Runs the public collection JSONTestSuite where it is present: y_ must be accepted, n_ refused, i_ as decided below.
#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Our decision for what RFC 8259 leaves open; engine/base/README.md gives the reasons.
static const struct {
    const char *name;
    bool is_accepted;
} decided[] = {
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

static char folder[4096];

static bool suite_is_present(void)
{
    const char *shared = getenv("LASTCALL_SHARED");
    int length = snprintf(folder, sizeof(folder), "%s/json-suite", shared != NULL ? shared : "../shared");
    DIR *directory = length > 0 && (size_t)length < sizeof(folder) ? opendir(folder) : NULL;
    if (directory == NULL) {
        return false;
    }
    closedir(directory);
    return true;
}

static void need_suite(void)
{
    if (!suite_is_present()) {
        printf("SKIPPED: the folder %s is absent\n", folder);
        skip();
    }
}

static bool accepts(const char *name)
{
    char path[8192];
    struct buffer bytes;
    char chunk[4096];
    size_t count;
    assert_true(snprintf(path, sizeof(path), "%s/%s", folder, name) > 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    buffer_init(&bytes, 16 * 1024 * 1024);
    while ((count = fread(chunk, 1, sizeof(chunk), file)) != 0) {
        assert_true(buffer_append(&bytes, chunk, count));
    }
    assert_int_equal(ferror(file), 0);
    fclose(file);
    bool is_accepted = json_is_valid(buffer_text(&bytes), NULL, NULL);
    buffer_fini(&bytes);
    return is_accepted;
}

// Runs every file whose name starts with `prefix`; the number of those that went the wrong way is named and returned.
static size_t run_all(const char *prefix, bool should_accept, size_t *seen)
{
    size_t wrong = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    *seen = 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        ++*seen;
        if (accepts(entry->d_name) != should_accept) {
            print_error("%s is %s\n", entry->d_name, should_accept ? "refused" : "accepted");
            wrong++;
        }
    }
    closedir(directory);
    return wrong;
}

static void every_valid_document_is_accepted(void **state)
{
    (void)state;
    size_t seen = 0;
    need_suite();
    assert_int_equal(run_all("y_", true, &seen), 0);
    assert_true(seen > 50);
}

static void every_invalid_document_is_refused(void **state)
{
    (void)state;
    size_t seen = 0;
    need_suite();
    assert_int_equal(run_all("n_", false, &seen), 0);
    assert_true(seen > 100);
}

static void what_is_left_open_goes_as_decided(void **state)
{
    (void)state;
    need_suite();
    for (size_t i = 0; i < COUNT_OF(decided); i++) {
        if (accepts(decided[i].name) != decided[i].is_accepted) {
            fail_msg("%s is not %s", decided[i].name, decided[i].is_accepted ? "accepted" : "refused");
        }
    }
}

static void nothing_that_is_left_open_is_undecided(void **state)
{
    (void)state;
    need_suite();
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        bool is_known = strncmp(entry->d_name, "i_", 2) != 0;
        for (size_t i = 0; i < COUNT_OF(decided) && !is_known; i++) {
            is_known = strcmp(entry->d_name, decided[i].name) == 0;
        }
        if (!is_known) {
            fail_msg("%s is not in the table", entry->d_name);
        }
    }
    closedir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_valid_document_is_accepted),
        cmocka_unit_test(every_invalid_document_is_refused),
        cmocka_unit_test(what_is_left_open_goes_as_decided),
        cmocka_unit_test(nothing_that_is_left_open_is_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
