// Bodies in every charset that suppliers send become valid UTF-8.

#include "script/charset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(literal)                                                                                                 \
    {                                                                                                                  \
        "" literal, sizeof(literal) - 1                                                                                \
    }

struct body_case {
    const char *about;
    const char *content_type; // NULL: none
    struct text body;
    const char *utf8;
    const char *warning; // NULL: none
};

static const struct body_case bodies[] = {
    { "plain", "application/json", BYTES("{\"a\":1}"), "{\"a\":1}", NULL },
    { "UTF-8, declared", "application/json; charset=UTF-8", BYTES("Z\xC3\xBCrich"), "Z\xC3\xBCrich", NULL },
    { "UTF-8, undeclared", NULL, BYTES("Z\xC3\xBCrich"), "Z\xC3\xBCrich", NULL },
    { "UTF-8 with a mark", "text/xml", BYTES("\xEF\xBB\xBF<a/>"), "<a/>", NULL },
    { "only a mark", NULL, BYTES("\xEF\xBB\xBF"), "", NULL },
    { "the mark wins over the header", "text/xml; charset=iso-8859-1", BYTES("\xEF\xBB\xBF\xC3\xBC"), "\xC3\xBC",
      NULL },
    { "latin1 is windows-1252", "text/xml; charset=ISO-8859-1", BYTES("\x80 Z\xFCrich \x9F"),
      "\xE2\x82\xAC Z\xC3\xBCrich \xC5\xB8", NULL },
    { "windows-1252, quoted", "text/xml; boundary=x; charset=\"windows-1252\"", BYTES("caf\xE9 \x96 \x81"),
      "caf\xC3\xA9 \xE2\x80\x93 \xC2\x81", NULL },
    { "ISO-8859-15 has the euro elsewhere", "text/plain;charset=iso-8859-15", BYTES("\xA4 \xBD \x80 \xFC"),
      "\xE2\x82\xAC \xC5\x93 \xC2\x80 \xC3\xBC", NULL },
    { "UTF-16LE with a mark", NULL, BYTES("\xFF\xFE{\0}\0"), "{}", NULL },
    { "UTF-16BE with a mark", "application/json; charset=utf-16", BYTES("\xFE\xFF\0{\0}"), "{}", NULL },
    { "UTF-16 without a mark, the zeros say big-endian", "application/json; charset=utf-16", BYTES("\0{\0}"), "{}",
      NULL },
    { "UTF-16 without anything is little-endian", "application/json; charset=utf-16", BYTES("\x2C\x67"), "\xE6\x9C\xAC",
      NULL },
    { "UTF-16LE, undeclared", "application/json", BYTES("[\0\"\0\xFC\0\"\0]\0"), "[\"\xC3\xBC\"]", NULL },
    { "UTF-16BE, undeclared", "application/json", BYTES("\0[\0\x31\0]"), "[1]", NULL },
    { "UTF-16, one digit", NULL, BYTES("7\0"), "7", NULL },
    { "UTF-32LE, undeclared", NULL, BYTES("{\0\0\0}\0\0\0"), "{}", NULL },
    { "UTF-32BE, undeclared", NULL, BYTES("\0\0\0{\0\0\0}"), "{}", NULL },
    { "UTF-32LE with a mark", NULL, BYTES("\xFF\xFE\0\0\x1D\xF6\x01\0"), "\xF0\x9F\x98\x9D", NULL },
    { "a surrogate pair", "a/b; charset=utf-16le", BYTES("\x3D\xD8\x1D\xDE"), "\xF0\x9F\x98\x9D", NULL },
    { "half of one", "a/b; charset=utf-16le",
      BYTES("\x3D\xD8"
            "A\0"),
      "\xEF\xBF\xBD"
      "A",
      "1 sequence of the body was no utf-16le and replaced by U+FFFD" },
    { "half a unit at the end", "a/b; charset=utf-16le", BYTES("A\0B"), "A\xEF\xBF\xBD",
      "1 sequence of the body was no utf-16le and replaced by U+FFFD" },
    { "UTF-32 beyond Unicode", "a/b; charset=utf-32be", BYTES("\0\x11\0\0\0\0\0A"),
      "\xEF\xBF\xBD"
      "A",
      "1 sequence of the body was no utf-32be and replaced by U+FFFD" },
    { "a lie: says UTF-8, is windows-1252", "application/json; charset=utf-8", BYTES("Z\xFCrich, K\xF6ln"),
      "Z\xEF\xBF\xBDrich, K\xEF\xBF\xBDln", "2 sequences of the body were no utf-8 and replaced by U+FFFD" },
    { "undeclared and no UTF-8", "application/json", BYTES("Z\xFCrich"), "Z\xC3\xBCrich",
      "the body declares no charset and is no UTF-8: read as windows-1252" },
    { "an unknown charset that is UTF-8", "text/xml; charset=klingon", BYTES("Z\xC3\xBCrich"), "Z\xC3\xBCrich",
      "the body declares the charset \"klingon\", which is not known: read as utf-8" },
    { "an unknown charset that is not",
      "text/xml; charset=big\x01"
      "5",
      BYTES("Z\xFCrich"), "Z\xC3\xBCrich",
      "the body declares the charset \"big?5\", which is not known: read as windows-1252" },
    { "an XML declaration", "text/xml", BYTES("<?xml version=\"1.0\" encoding='ISO-8859-1'?><a>\xFC</a>"),
      "<?xml version=\"1.0\" encoding='ISO-8859-1'?><a>\xC3\xBC</a>", NULL },
    { "the header wins over it", "text/xml; charset=utf-8", BYTES("<?xml version='1.0' encoding='latin1'?>\xC3\xBC"),
      "<?xml version='1.0' encoding='latin1'?>\xC3\xBC", NULL },
    { "an XML declaration that cannot be true", "text/xml",
      BYTES("<?xml version='1.0' encoding='utf-16'?><a>\xC3\xBC</a>"),
      "<?xml version='1.0' encoding='utf-16'?><a>\xC3\xBC</a>", NULL },
    { "… and no UTF-8 either", "text/xml", BYTES("<?xml version='1.0' encoding='utf-16'?><a>\xFC</a>"),
      "<?xml version='1.0' encoding='utf-16'?><a>\xC3\xBC</a>",
      "the body declares no charset and is no UTF-8: read as windows-1252" },
    { "an encoding that is not in the declaration", "text/xml",
      BYTES("<?xml version='1.0'?><a encoding='latin1'/>\xC3\xBC"),
      "<?xml version='1.0'?><a encoding='latin1'/>\xC3\xBC", NULL },
    { "an empty name", "text/xml; charset=", BYTES("\xC3\xBC"), "\xC3\xBC", NULL },
    { "nothing at all", NULL, { NULL, 0 }, "", NULL },
};

static struct charset_reading read_body(const char *content_type, struct text body, struct buffer *out,
                                        struct text *utf8)
{
    struct charset_reading reading = charset_begin(text_of(content_type), body);
    assert_true(charset_open(&reading, body, out, utf8));
    assert_true(charset_check(&reading, out, utf8));
    return reading;
}

static void every_body_becomes_utf8_with_a_warning_when_it_is_not_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        struct buffer out;
        struct text utf8;
        char warning[256] = "";
        buffer_init(&out, 1000);
        struct charset_reading reading = read_body(bodies[i].content_type, bodies[i].body, &out, &utf8);
        if (!text_equals_c(utf8, bodies[i].utf8) && utf8.length + strlen(bodies[i].utf8) > 0) {
            fail_msg("%s: \"%.*s\"", bodies[i].about, TEXT_ARGS(utf8));
        }
        bool has_warning = charset_warn(&reading, warning, sizeof warning);
        if (has_warning != (bodies[i].warning != NULL) || (has_warning && strcmp(warning, bodies[i].warning) != 0)) {
            fail_msg("%s: \"%s\"", bodies[i].about, warning);
        }
        buffer_fini(&out);
    }
}

/// The maximal parts of the table in section 3.9 of the Unicode Standard.
static void each_maximal_part_of_a_bad_sequence_is_one_replacement(void **state)
{
    static const struct {
        struct text bytes;
        size_t replaced;
    } table[] = {
        { BYTES("\xC0\xAF"), 2 },
        { BYTES("\xE0\x80\xAF"), 3 },
        { BYTES("\xF0\x80\x80\xAF"), 4 },
        { BYTES("\xED\xA0\x80"), 3 },
        { BYTES("\xF4\x90\x80\x80"), 4 },
        { BYTES("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"), 4 },
        { BYTES("\xF0\x9F\x98"), 1 },
        { BYTES("\xE2\x82"), 1 },
        { BYTES("\xE2"), 1 },
        { BYTES("\xFF\xFF\xFF"), 3 },
        { BYTES("\x80\x80"), 2 },
        { BYTES("\xC3(\xC3"), 2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        char body[32] = "x";
        struct buffer out;
        struct text utf8;
        memcpy(body + 1, table[i].bytes.data, table[i].bytes.length);
        buffer_init(&out, 1000);
        struct charset_reading reading =
            read_body("a/b; charset=utf-8", (struct text){ body, table[i].bytes.length + 1 }, &out, &utf8);
        if (reading.replaced != table[i].replaced) {
            fail_msg("row %zu: %zu replaced", i, reading.replaced);
        }
        assert_true(text_is_utf8(utf8));
        buffer_fini(&out);
    }
}

static void valid_utf8_is_passed_on_without_a_copy(void **state)
{
    struct text body = BYTES("\xEF\xBB\xBF{\"a\":\"\xC3\xBC\"}");
    struct buffer out;
    struct text utf8;

    (void)state;
    buffer_init(&out, 1000);
    struct charset_reading reading = charset_begin(TEXT("application/json"), body);
    assert_true(charset_open(&reading, body, &out, &utf8));
    assert_ptr_equal(utf8.data, body.data + 3);
    assert_false(reading.is_checked); // the JSON decoder may do it
    assert_true(charset_check(&reading, &out, &utf8));
    assert_ptr_equal(utf8.data, body.data + 3);
    assert_true(reading.is_checked);
    assert_int_equal(out.capacity, 0);
    buffer_fini(&out);
}

static void what_grows_over_the_cap_is_told(void **state)
{
    struct text latin = BYTES("\xFC\xFC\xFC\xFC");
    struct buffer out;
    struct text utf8;

    (void)state;
    for (size_t cap = 7; cap <= 8; cap++) {
        buffer_init(&out, cap);
        struct charset_reading reading = charset_begin(TEXT("a/b; charset=latin1"), latin);
        assert_int_equal(charset_open(&reading, latin, &out, &utf8), cap == 8);
        buffer_fini(&out);
        buffer_init(&out, cap);
        reading = charset_begin(TEXT("a/b"), latin);
        assert_true(charset_open(&reading, latin, &out, &utf8));
        assert_int_equal(charset_check(&reading, &out, &utf8), cap == 8);
        assert_ptr_equal(utf8.data, cap == 8 ? out.data : latin.data);
        buffer_fini(&out);
    }
}

static void long_bodies_are_converted_whole(void **state)
{
    enum { LENGTH = 100000 };
    static char body[LENGTH];
    struct buffer out;
    struct text utf8;

    (void)state;
    memset(body, 0xE9, sizeof body);
    buffer_init(&out, 2 * LENGTH);
    (void)read_body("a/b; charset=latin1", (struct text){ body, LENGTH }, &out, &utf8);
    assert_int_equal(utf8.length, 2 * LENGTH);
    for (size_t i = 0; i < utf8.length; i += 2) {
        assert_memory_equal(utf8.data + i, "\xC3\xA9", 2);
    }
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_becomes_utf8_with_a_warning_when_it_is_not_what_it_says),
        cmocka_unit_test(each_maximal_part_of_a_bad_sequence_is_one_replacement),
        cmocka_unit_test(valid_utf8_is_passed_on_without_a_copy),
        cmocka_unit_test(what_grows_over_the_cap_is_told),
        cmocka_unit_test(long_bodies_are_converted_whole),
    };
    return cmocka_run_group_tests_name("script_charset", tests, NULL, NULL);
}
