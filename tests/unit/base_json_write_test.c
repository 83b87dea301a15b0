#include "base/json_read.h"
#include "base/json_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct buffer out;
static struct json_writer writer;

static int begin(void **state)
{
    (void)state;
    buffer_init(&out, 65536);
    json_writer_init(&writer, &out);
    return 0;
}

static int end(void **state)
{
    (void)state;
    buffer_fini(&out);
    return 0;
}

static void expect(const char *json)
{
    assert_true(json_is_valid(buffer_text(&out), NULL, NULL));
    assert_int_equal(out.length, strlen(json));
    assert_memory_equal(out.data, json, out.length);
}

static void commas_stand_between_items_and_nowhere_else(void **state)
{
    (void)state;
    json_begin_object(&writer);
    json_key(&writer, "empty");
    json_begin_object(&writer);
    json_end_object(&writer);
    json_key(&writer, "list");
    json_begin_array(&writer);
    json_begin_array(&writer);
    json_end_array(&writer);
    json_begin_array(&writer);
    json_u64(&writer, 1);
    json_u64(&writer, 2);
    json_end_array(&writer);
    json_begin_array(&writer);
    json_u64(&writer, 3);
    json_end_array(&writer);
    json_null(&writer);
    json_end_array(&writer);
    json_key_text(&writer, TEXT("last"));
    json_bool(&writer, false);
    json_end_object(&writer);
    expect("{\"empty\":{},\"list\":[[],[1,2],[3],null],\"last\":false}");
}

static void numbers_are_written_to_their_ends(void **state)
{
    (void)state;
    json_begin_array(&writer);
    json_u64(&writer, 0);
    json_u64(&writer, UINT64_MAX);
    json_i64(&writer, INT64_MIN);
    json_i64(&writer, INT64_MAX);
    json_i64(&writer, -1);
    json_end_array(&writer);
    expect("[0,18446744073709551615,-9223372036854775808,9223372036854775807,-1]");
}

static void shorthands_write_key_and_value(void **state)
{
    (void)state;
    json_begin_object(&writer);
    json_field_text(&writer, "a", TEXT("x"));
    json_field_text(&writer, "b", text_of(NULL));
    json_field_c(&writer, "c", NULL);
    json_field_c(&writer, "d", "");
    json_field_u64(&writer, "e", 12);
    json_field_bool(&writer, "f", true);
    json_key(&writer, "g");
    json_raw(&writer, TEXT("[1, 2]"));
    json_end_object(&writer);
    expect("{\"a\":\"x\",\"b\":null,\"c\":null,\"d\":\"\",\"e\":12,\"f\":true,\"g\":[1, 2]}");
}

static void what_must_be_escaped_is(void **state)
{
    (void)state;
    json_text(&writer, TEXT("\"\\/\b\f\n\r\t\x01\x1F\x7F\0z"));
    expect("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\\u0000z\"");
}

static void good_utf8_passes_and_bad_bytes_become_the_replacement(void **state)
{
    (void)state;
    json_text(&writer, TEXT("\xC3\xA9\xF0\x9D\x84\x9E\xFF-\xED\xA0\x80-\xC3"));
    expect("\"\xC3\xA9\xF0\x9D\x84\x9E\xEF\xBF\xBD-\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD-\xEF\xBF\xBD\"");
}

static void every_byte_alone_gives_well_formed_json_that_reads_back(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char one = (char)byte;
        struct json_reader reader;
        struct buffer scratch;
        buffer_clear(&out);
        buffer_init(&scratch, 64);
        json_writer_init(&writer, &out);
        json_text(&writer, (struct text){ &one, 1 });
        json_reader_init(&reader, buffer_text(&out));
        assert_int_equal(json_next(&reader), JSON_STRING);
        struct text read = json_unescape(&reader, &scratch);
        assert_true(text_equals(read, byte < 0x80 ? (struct text){ &one, 1 } : TEXT("\xEF\xBF\xBD")));
        assert_int_equal(json_next(&reader), JSON_END);
        buffer_fini(&scratch);
    }
}

static void a_full_buffer_is_told_at_the_end(void **state)
{
    (void)state;
    struct buffer small;
    buffer_init(&small, 10);
    json_writer_init(&writer, &small);
    json_begin_array(&writer);
    json_c(&writer, "a text that is too long");
    json_u64(&writer, 1);
    json_end_array(&writer);
    assert_true(small.is_full);
    buffer_fini(&small);
}

static void depth_32_is_fine(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        json_begin_array(&writer);
        json_begin_object(&writer);
        json_key(&writer, "a");
    }
    json_u64(&writer, 1);
    for (int i = 0; i < 16; i++) {
        json_end_object(&writer);
        json_end_array(&writer);
    }
    assert_true(json_is_valid(buffer_text(&out), NULL, NULL));
    assert_int_equal(writer.depth, 0);
}

static void value_without_key(void)
{
    json_begin_object(&writer);
    json_u64(&writer, 1);
}

static void wrong_bracket(void)
{
    json_begin_array(&writer);
    json_end_object(&writer);
}

static void key_without_value(void)
{
    json_begin_object(&writer);
    json_key(&writer, "a");
    json_end_object(&writer);
}

static void key_in_an_array(void)
{
    json_begin_array(&writer);
    json_key(&writer, "a");
}

static void level_33(void)
{
    for (int i = 0; i < 33; i++) {
        json_begin_array(&writer);
    }
}

static void nesting_errors_are_bugs(void **state)
{
    (void)state;
    void (*const wrongs[])(void) = { value_without_key, wrong_bracket, key_without_value, key_in_an_array, level_33 };
    for (size_t i = 0; i < COUNT_OF(wrongs); i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            wrongs[i]();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commas_stand_between_items_and_nowhere_else, begin, end),
        cmocka_unit_test_setup_teardown(numbers_are_written_to_their_ends, begin, end),
        cmocka_unit_test_setup_teardown(shorthands_write_key_and_value, begin, end),
        cmocka_unit_test_setup_teardown(what_must_be_escaped_is, begin, end),
        cmocka_unit_test_setup_teardown(good_utf8_passes_and_bad_bytes_become_the_replacement, begin, end),
        cmocka_unit_test_setup_teardown(every_byte_alone_gives_well_formed_json_that_reads_back, begin, end),
        cmocka_unit_test_setup_teardown(a_full_buffer_is_told_at_the_end, begin, end),
        cmocka_unit_test_setup_teardown(depth_32_is_fine, begin, end),
        cmocka_unit_test_setup_teardown(nesting_errors_are_bugs, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
