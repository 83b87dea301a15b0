#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/base_file_test.XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static const char *written(const char *name, size_t length, mode_t mode)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    for (size_t i = 0; i < length; i++) {
        assert_int_not_equal(fputc('a' + (int)(i % 26), file), EOF);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "whole", "large", "pipe", "empty", "open" };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)unlink(path_of(names[i]));
    }
    return rmdir(folder);
}

static void a_file_is_read_whole_up_to_its_cap(void **state)
{
    (void)state;
    static const size_t lengths[] = { 1, 239, 65536, 65537, 200000 };
    struct buffer content;

    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        buffer_init(&content, lengths[i]);
        assert_int_equal(file_read(written("whole", lengths[i], 0600), &content, NULL), STATUS_OK);
        assert_int_equal(content.length, lengths[i]);
        assert_int_equal(content.data[lengths[i] - 1], 'a' + (int)((lengths[i] - 1) % 26));
        buffer_fini(&content);
        buffer_init(&content, lengths[i] - 1);
        assert_int_equal(file_read(path_of("whole"), &content, NULL), STATUS_FULL);
        buffer_fini(&content);
    }
}

static void an_empty_file_is_no_error(void **state)
{
    (void)state;
    struct buffer content;

    buffer_init(&content, 10);
    assert_int_equal(file_read(written("empty", 0, 0600), &content, NULL), STATUS_OK);
    assert_int_equal(content.length, 0);
    buffer_fini(&content);
}

static void what_the_system_tells_short_is_still_held_to_the_cap(void **state)
{
    (void)state;
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, 4); // its size reads as 0
    assert_int_equal(file_read("/proc/self/status", &content, &facts), STATUS_FULL);
    assert_int_equal(facts.bytes, 0);
    buffer_fini(&content);
}

static void nobody_waits_for_a_pipe_or_reads_a_folder(void **state)
{
    (void)state;
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, 100);
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    assert_int_equal(file_read(path_of("pipe"), &content, &facts), STATUS_INVALID);
    assert_string_equal(facts.why, "it is not a regular file");
    assert_int_equal(file_read(folder, &content, &facts), STATUS_INVALID);
    assert_int_equal(file_read("/dev/zero", &content, &facts), STATUS_INVALID);
    assert_int_equal(content.length, 0);
    buffer_fini(&content);
}

static void what_is_not_there_is_told_apart_from_what_may_not_be_read(void **state)
{
    (void)state;
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, 100);
    assert_int_equal(file_read(path_of("nothing"), &content, &facts), STATUS_NOT_FOUND);
    assert_string_equal(facts.why, "No such file or directory");
    assert_int_equal(file_read(path_of("nothing/below"), &content, &facts), STATUS_NOT_FOUND);
    written("whole", 1, 0600);
    assert_int_equal(file_read(path_of("whole/below"), &content, &facts), STATUS_IO);
    assert_string_equal(facts.why, "Not a directory");
    buffer_fini(&content);
}

static void it_tells_whether_everybody_may_read_it(void **state)
{
    (void)state;
    struct file_facts facts;
    struct buffer content;

    buffer_init(&content, 100);
    assert_int_equal(file_read(written("open", 3, 0640), &content, &facts), STATUS_OK);
    assert_false(facts.is_readable_by_all);
    assert_int_equal(file_read(written("open", 3, 0644), &content, &facts), STATUS_OK);
    assert_true(facts.is_readable_by_all);
    buffer_fini(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole_up_to_its_cap),
        cmocka_unit_test(an_empty_file_is_no_error),
        cmocka_unit_test(what_the_system_tells_short_is_still_held_to_the_cap),
        cmocka_unit_test(nobody_waits_for_a_pipe_or_reads_a_folder),
        cmocka_unit_test(what_is_not_there_is_told_apart_from_what_may_not_be_read),
        cmocka_unit_test(it_tells_whether_everybody_may_read_it),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
