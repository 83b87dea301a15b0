#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

// The input in memory of exactly its size, so that a sanitizer sees a byte read past the end.
static char *exact(struct text text)
{
    char *bytes = malloc(text.length != 0 ? text.length : 1);
    assert_non_null(bytes);
    memcpy(bytes, text.data, text.length);
    return bytes;
}

static bool is_valid(struct text text, size_t *offset)
{
    const char *sentence = NULL;
    char *bytes = exact(text);
    bool valid = json_is_valid((struct text){ bytes, text.length }, offset, &sentence);
    assert_true(valid || (*offset <= text.length && sentence != NULL));
    free(bytes);
    return valid;
}

static void tokens_come_in_the_order_of_the_document(void **state)
{
    (void)state;
    static const enum json_token expected[] = {
        JSON_BEGIN_OBJECT, JSON_KEY,         JSON_BEGIN_ARRAY, JSON_NUMBER,     JSON_STRING,       JSON_TRUE,
        JSON_FALSE,        JSON_NULL,        JSON_END_ARRAY,   JSON_KEY,        JSON_BEGIN_OBJECT, JSON_END_OBJECT,
        JSON_KEY,          JSON_BEGIN_ARRAY, JSON_END_ARRAY,   JSON_END_OBJECT, JSON_END,          JSON_END,
    };
    struct json_reader reader;
    json_reader_init(&reader,
                     TEXT(" { \"a\" : [ -1.5e+3 , \"x\" , true , false , null ] ,\t\"b\":{}\r\n,\"c\":[]} \n"));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(json_next(&reader), expected[i]);
        if (i == 1) {
            assert_true(text_equals(reader.value, TEXT("a")));
            assert_int_equal(reader.depth, 1);
        }
        if (i == 3) {
            assert_true(text_equals(reader.value, TEXT("-1.5e+3")));
            assert_int_equal(reader.depth, 2);
        }
    }
}

static void number_literals_survive(void **state)
{
    (void)state;
    static const char *const good[] = { "0",    "-0",     "1234567890123456789012345678901234567890", "0.10", "1e999",
                                        "1E+1", "-0.0e-0" };
    static const char *const bad[] = { "01",  "-",  "+1",  ".5", "2.",    "2.e1",     "1e",  "1e+",       "0x1",
                                       "-01", "1.", "--1", "1a", "1e1.5", "Infinity", "NaN", "-Infinity", "1_000" };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct json_reader reader;
        json_reader_init(&reader, text_of(good[i]));
        assert_int_equal(json_next(&reader), JSON_NUMBER);
        assert_true(text_equals_c(reader.value, good[i]));
        assert_int_equal(json_next(&reader), JSON_END);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        size_t offset = 0;
        assert_false(is_valid(text_of(bad[i]), &offset));
    }
}

static void an_error_tells_its_offset_and_stays(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t offset;
    } rows[] = {
        { "", 0 },
        { "   ", 3 },
        { "[1,]", 3 },
        { "[1 2]", 3 },
        { "{\"a\" 1}", 5 },
        { "{\"a\":}", 5 },
        { "{a:1}", 1 },
        { "{\"a\":1,}", 7 },
        { "[1}", 2 },
        { "{\"a\":1]", 6 },
        { "[1] x", 4 },
        { "[\"a\nb\"]", 3 },
        { "[\"\\x\"]", 2 },
        { "[\"abc", 1 },
        { "tru", 0 },
        { "[nul]", 1 },
        { "\xEF\xBB\xBF{}", 0 },
        { "[\"ab\xFF\"]", 4 },
        { "[", 1 },
        { "]", 0 },
        { "[\"\\ud800\"]", 2 },
        { "[,1]", 1 },
        { "{,}", 1 },
        { "[1,,2]", 3 },
        { "'a'", 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_reader reader;
        json_reader_init(&reader, text_of(rows[i].json));
        enum json_token token;
        do {
            token = json_next(&reader);
        } while (token != JSON_ERROR && token != JSON_END);
        assert_int_equal(token, JSON_ERROR);
        assert_int_equal(reader.offset, rows[i].offset);
        assert_true(strlen(reader.error) > 5);
        assert_int_equal(json_next(&reader), JSON_ERROR);
        assert_int_equal(reader.offset, rows[i].offset);
    }
}

static void a_nul_byte_after_the_document_is_refused(void **state)
{
    (void)state;
    size_t offset = 0;
    assert_false(is_valid(TEXT("{}\0"), &offset));
    assert_int_equal(offset, 2);
    assert_false(is_valid(TEXT("[\"a\0b\"]"), &offset));
    assert_int_equal(offset, 3);
}

static void depth_64_is_read_and_65_refused(void **state)
{
    (void)state;
    char json[130];
    size_t offset = 0;
    memset(json, '[', 64);
    memset(json + 64, ']', 64);
    assert_true(is_valid((struct text){ json, 128 }, &offset));
    memset(json, '[', 65);
    memset(json + 65, ']', 65);
    assert_false(is_valid((struct text){ json, 130 }, &offset));
    assert_int_equal(offset, 64);
}

static void brackets_of_mixed_levels_are_kept_apart(void **state)
{
    (void)state;
    struct buffer json;
    size_t offset = 0;
    buffer_init(&json, 1024);
    for (int i = 0; i < 32; i++) {
        buffer_append_c(&json, "[{\"a\":");
    }
    buffer_append_byte(&json, '1');
    for (int i = 0; i < 32; i++) {
        buffer_append_c(&json, "}]");
    }
    assert_true(is_valid(buffer_text(&json), &offset));
    json.data[json.length - 1] = '}';
    assert_false(is_valid(buffer_text(&json), &offset));
    assert_int_equal(offset, json.length - 1);
    buffer_fini(&json);
}

static void escapes_are_undone(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        struct text text;
    } rows[] = {
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", { "\"\\/\b\f\n\r\t", 8 } },
        { "\"a\\u0041b\"", { "aAb", 3 } },
        { "\"\\u00e9\\u20AC\"", { "\xC3\xA9\xE2\x82\xAC", 5 } },
        { "\"\\ud834\\uDD1E!\"", { "\xF0\x9D\x84\x9E!", 5 } },
        { "\"\\uDBFF\\uDFFF\"", { "\xF4\x8F\xBF\xBF", 4 } },
        { "\"\\u0000\"", { "\0", 1 } },
        { "\"\\\\u0041\"", { "\\u0041", 6 } },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_reader reader;
        struct buffer scratch;
        buffer_init(&scratch, 100);
        buffer_append_c(&scratch, "before");
        json_reader_init(&reader, text_of(rows[i].json));
        assert_int_equal(json_next(&reader), JSON_STRING);
        assert_true(reader.has_escapes);
        assert_true(text_equals(json_unescape(&reader, &scratch), rows[i].text));
        assert_int_equal(scratch.length, 6 + rows[i].text.length);
        assert_memory_equal(scratch.data, "before", 6);
        buffer_fini(&scratch);
    }
}

static void a_string_without_escapes_is_the_input_itself(void **state)
{
    (void)state;
    struct text json = TEXT("{\"caf\xC3\xA9\":\"\"}");
    struct json_reader reader;
    struct buffer scratch;
    buffer_init(&scratch, 0);
    json_reader_init(&reader, json);
    assert_int_equal(json_next(&reader), JSON_BEGIN_OBJECT);
    assert_int_equal(json_next(&reader), JSON_KEY);
    assert_ptr_equal(json_unescape(&reader, &scratch).data, json.data + 2);
    assert_int_equal(json_next(&reader), JSON_STRING);
    assert_non_null(json_unescape(&reader, &scratch).data);
    assert_int_equal(json_unescape(&reader, &scratch).length, 0);
    json_reader_init(&reader, TEXT("\"\\n\""));
    assert_int_equal(json_next(&reader), JSON_STRING);
    assert_null(json_unescape(&reader, &scratch).data); // no room
    assert_true(scratch.is_full);
    buffer_fini(&scratch);
}

static void a_surrogate_needs_its_other_half(void **state)
{
    (void)state;
    static const char *const bad[] = { "\"\\ud800\"",        "\"\\udc00\"",        "\"\\ud800x\"",
                                       "\"\\ud800\\n\"",     "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\"",
                                       "\"\\udc00\\ud800\"", "\"\\ud800\\udc0\"",  "\"\\ud800\\\"" };
    size_t offset = 0;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_false(is_valid(text_of(bad[i]), &offset));
    }
    assert_true(is_valid(TEXT("\"\\ud800\\udc00\""), &offset));
}

static void skipping_passes_over_a_whole_value(void **state)
{
    (void)state;
    struct json_reader reader;
    json_reader_init(&reader, TEXT("{\"a\":{\"x\":[1,{\"y\":2}]},\"b\":[[],[[]]],\"c\":5,\"d\":6}"));
    assert_int_equal(json_next(&reader), JSON_BEGIN_OBJECT);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(json_next(&reader), JSON_KEY);
        assert_true(json_skip(&reader, json_next(&reader)));
        assert_int_equal(reader.depth, 1);
    }
    assert_true(json_skip(&reader, json_next(&reader))); // a key: the member
    assert_int_equal(json_next(&reader), JSON_END_OBJECT);
    assert_int_equal(json_next(&reader), JSON_END);

    json_reader_init(&reader, TEXT("[[1,2"));
    assert_int_equal(json_next(&reader), JSON_BEGIN_ARRAY);
    assert_false(json_skip(&reader, json_next(&reader)));
    assert_false(json_skip(&reader, JSON_ERROR));
}

static void an_absent_input_is_an_error_and_no_crash(void **state)
{
    (void)state;
    struct json_reader reader;
    json_reader_init(&reader, text_of(NULL));
    assert_int_equal(json_next(&reader), JSON_ERROR);
    assert_false(json_is_valid(text_of(NULL), NULL, NULL));
}

static const char sample[] =
    "{\"id\":\"off_1\",\"n\":[0,-1.25e-7,true,false,null],\"t\":\"\\u20ac \\ud834\\udd1e \xC3\xA9 \xF0\x9D"
    "\x84\x9E plain text\",\"o\":{\"\":{}},\"l\":[[],[{}]]}";

static void no_beginning_of_a_document_is_a_document(void **state)
{
    (void)state;
    size_t offset = 0;
    assert_true(is_valid(text_of(sample), &offset));
    for (size_t length = 0; length < sizeof(sample) - 1; length++) {
        assert_false(is_valid((struct text){ sample, length }, &offset));
    }
}

// A stop byte at every place of a string of every length: the scan by words must see it wherever it stands.
static void a_stop_is_seen_at_every_place_of_a_word(void **state)
{
    (void)state;
    static const unsigned char stops[] = { 0x00, 0x1F, 0x0A, 0x80, 0xFF };
    size_t offset = 0;
    for (size_t length = 1; length < 40; length++) {
        for (size_t place = 0; place < length; place++) {
            for (size_t i = 0; i < sizeof(stops); i++) {
                char json[64];
                memset(json, 'a' + (int)(place % 20), sizeof(json));
                json[0] = '"';
                json[length + 1] = '"';
                assert_true(is_valid((struct text){ json, length + 2 }, &offset));
                json[place + 1] = (char)stops[i];
                assert_false(is_valid((struct text){ json, length + 2 }, &offset));
                assert_int_equal(offset, place + 1);
                json[place + 1] = '"';
                assert_int_equal(is_valid((struct text){ json, length + 2 }, &offset), false);
            }
        }
    }
}

// Every byte that a plain string may hold, among others of every kind.
static void every_plain_byte_passes_inside_a_word(void **state)
{
    (void)state;
    size_t offset = 0;
    for (int byte = 0x20; byte < 0x80; byte++) {
        char json[34];
        if (byte == '"' || byte == '\\') {
            continue;
        }
        memset(json, byte, sizeof(json));
        json[0] = json[33] = '"';
        assert_true(is_valid((struct text){ json, sizeof(json) }, &offset));
    }
}

// Any one byte changed to any other: never a crash, and what is accepted can be walked to its end.
static void a_changed_byte_never_harms(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t place = 0; place < sizeof(sample) - 1; place++) {
        for (int byte = 0; byte < 256; byte++) {
            char copy[sizeof(sample)];
            size_t offset = 0;
            memcpy(copy, sample, sizeof(sample));
            copy[place] = (char)byte;
            accepted += is_valid((struct text){ copy, sizeof(sample) - 1 }, &offset);
        }
    }
    assert_true(accepted > sizeof(sample)); // at least the unchanged ones
}

// Where a key is expected, by taking what comes before it.
static struct json_reader reader_behind(const char *json, size_t tokens)
{
    struct json_reader reader;

    json_reader_init(&reader, text_of(json));
    while (tokens-- > 0) {
        (void)json_next(&reader);
    }
    return reader;
}

static void a_known_key_is_taken_whole_or_not_at_all(void **state)
{
    static const struct {
        const char *json;
        size_t tokens;
        bool is_taken;
    } cases[] = {
        { "{\"key\":1}", 1, true },
        { "{ \"key\" : 1}", 1, true },
        { "{\"a\":1,\"key\":2}", 3, true },
        { "{\"a\":[] , \"key\":2}", 4, true },
        { "{\"kez\":1}", 1, false },
        { "{\"keys\":1}", 1, false },
        { "{\"ke\":1}", 1, false },
        { "{\"key\" 1}", 1, false },
        { "{\"key\"", 1, false },
        { "{,\"key\":1}", 1, false },
        { "{\"a\":1 \"key\":2}", 3, false },
        { "{\"a\":1;\"key\":2}", 3, false },
        { "{\"a\":\"key\"}", 2, false },
        { "[\"key\":1]", 1, false },
        { "[1,\"key\":1]", 2, false },
        { "\"key\":1", 0, false },
        { "{}", 1, false },
        { "{\"a\":1}", 3, false },
        { "{\"k\\u0065y\":1}", 1, false },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json_reader reader = reader_behind(cases[i].json, cases[i].tokens);
        struct json_reader before = reader;
        if (json_take_key(&reader, TEXT(",\"key\":")) != cases[i].is_taken) {
            fail_msg("%s", cases[i].json);
        }
        if (cases[i].is_taken) {
            assert_int_equal(json_next(&reader), JSON_NUMBER);
            continue;
        }
        assert_int_equal(reader.offset, before.offset);
        assert_int_equal(json_next(&reader), json_next(&before));
        assert_int_equal(reader.offset, before.offset);
    }
}

// What the member is worth to json_next decides whether it may be taken, and what must have been taken then.
static void a_plain_member_is_taken_as_it_would_be_read_or_not_at_all(void **state)
{
    static const struct {
        const char *json;
        size_t tokens;
        enum json_token taken; // END: not
    } cases[] = {
        { "{\"key\":\"text\"}", 1, JSON_STRING },
        { "{\"key\":\"\"}", 1, JSON_STRING },
        { "{\"key\" : \"a text of more than eight\" ,\"a\":1}", 1, JSON_STRING },
        { "{\"a\":1,\"key\":20 }", 3, JSON_NUMBER },
        { "{\"key\":-7}", 1, JSON_NUMBER },
        { "{\"key\":0}", 1, JSON_NUMBER },
        { "{\"key\":12", 1, JSON_NUMBER },
        { "{\"key\":1 2}", 1, JSON_NUMBER },
        { "{\"key\":01}", 1, JSON_END },
        { "{\"key\":-}", 1, JSON_END },
        { "{\"key\":1.5}", 1, JSON_END },
        { "{\"key\":1e5}", 1, JSON_END },
        { "{\"key\":1E5}", 1, JSON_END },
        { "{\"key\":true}", 1, JSON_END },
        { "{\"key\":null}", 1, JSON_END },
        { "{\"key\":{}}", 1, JSON_END },
        { "{\"key\":[1]}", 1, JSON_END },
        { "{\"key\":\"a\\nb\"}", 1, JSON_END },
        { "{\"key\":\"caf\xc3\xa9\"}", 1, JSON_END },
        { "{\"key\":\"a\x01\"}", 1, JSON_END },
        { "{\"key\":\"no end", 1, JSON_END },
        { "{\"key\":", 1, JSON_END },
        { "{\"key\":  ", 1, JSON_END },
        { "{\"other\":1}", 1, JSON_END },
        { "{\"key\":1}", 0, JSON_END },
        { "[\"key\":1]", 1, JSON_END },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct json_reader reader = reader_behind(cases[i].json, cases[i].tokens);
        struct json_reader before = reader;
        struct text value = { NULL, 0 };
        struct json_run run = json_run_begin(&reader);
        enum json_token token = json_run_take(&run, TEXT(",\"key\":"), &value);
        json_run_end(&run, &reader);
        if (token != cases[i].taken) {
            fail_msg("%s", cases[i].json);
        }
        if (token != JSON_END) {
            assert_int_equal(json_next(&before), JSON_KEY);
            assert_int_equal(json_next(&before), token);
            assert_true(text_equals(value, before.value));
        }
        do { // and both go on alike
            assert_int_equal(reader.offset, before.offset);
            assert_int_equal(reader.depth, before.depth);
            token = json_next(&before);
            assert_int_equal(json_next(&reader), token);
        } while (token != JSON_END && token != JSON_ERROR);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_come_in_the_order_of_the_document),
        cmocka_unit_test(number_literals_survive),
        cmocka_unit_test(an_error_tells_its_offset_and_stays),
        cmocka_unit_test(a_nul_byte_after_the_document_is_refused),
        cmocka_unit_test(depth_64_is_read_and_65_refused),
        cmocka_unit_test(brackets_of_mixed_levels_are_kept_apart),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(a_string_without_escapes_is_the_input_itself),
        cmocka_unit_test(a_surrogate_needs_its_other_half),
        cmocka_unit_test(skipping_passes_over_a_whole_value),
        cmocka_unit_test(a_known_key_is_taken_whole_or_not_at_all),
        cmocka_unit_test(a_plain_member_is_taken_as_it_would_be_read_or_not_at_all),
        cmocka_unit_test(an_absent_input_is_an_error_and_no_crash),
        cmocka_unit_test(no_beginning_of_a_document_is_a_document),
        cmocka_unit_test(a_stop_is_seen_at_every_place_of_a_word),
        cmocka_unit_test(every_plain_byte_passes_inside_a_word),
        cmocka_unit_test(a_changed_byte_never_harms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
