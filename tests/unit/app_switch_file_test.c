#include "app/switch_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t SECOND = 1000000, NOW = 5000000000, WALL = 1796072513000000;
static char folder[64];
static struct switch_item items[SWITCHES_MAX];
static size_t count;

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/app_switch_file_test.XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof(command), "chmod -R u+rwx %s && rm -r %s", folder, folder);
    return system(command); // NOLINT(cert-env33-c): the name is ours
}

static struct switch_file opened(void)
{
    struct switch_file file;

    assert_int_equal(switch_file_init(&file, text_of(folder), NULL), STATUS_OK);
    return file;
}

static void put(const char *name, const char *content)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_not_equal(fputs(content, file), EOF);
    assert_int_equal(fclose(file), 0);
}

/// Absent: NULL.
static char *content_of(const char *name)
{
    static char content[8192];
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    size_t length = fread(content, 1, sizeof(content) - 1, file);
    content[length] = '\0';
    (void)fclose(file);
    return content;
}

static struct switch_item item_of(enum switch_kind kind, const char *supplier, const char *account, uint64_t until_us)
{
    struct switch_item item = {
        .kind = kind, .who = "ann@gateway", .since_wall_us = WALL - SECOND, .until_us = until_us
    };

    (void)snprintf(item.supplier, sizeof(item.supplier), "%s", supplier);
    (void)snprintf(item.account, sizeof(item.account), "%s", account);
    (void)snprintf(item.why, sizeof(item.why), "it says \"none\"\n\tw\xc3\xa4hrend");
    return item;
}

static void write_two(struct switch_file *file)
{
    const struct switch_item two[] = { item_of(SWITCH_DISABLED, "acme", "", SWITCH_NEVER),
                                       item_of(SWITCH_BREAKER_OPEN, "omni", "uk", NOW + 60 * SECOND) };
    struct failure why = { 0 };

    assert_true(switch_file_write(file, two, 2, NOW, WALL, &why));
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    struct switch_file file = opened();

    assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, NULL), STATUS_NOT_FOUND);
    write_two(&file);
    assert_int_equal(switch_file_open(&file, 10 * SECOND, WALL + 20 * SECOND, items, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(items[0].supplier, "acme");
    assert_string_equal(items[0].account, "");
    assert_string_equal(items[0].who, "ann@gateway");
    assert_string_equal(items[0].why, "it says \"none\"\n\tw\xc3\xa4hrend");
    assert_int_equal(items[0].since_wall_us, WALL - SECOND);
    assert_int_equal(items[0].until_us, SWITCH_NEVER);
    assert_int_equal(items[1].kind, SWITCH_BREAKER_OPEN);
    assert_string_equal(items[1].account, "uk");
    assert_int_equal(items[1].until_us, 10 * SECOND + 40 * SECOND); // 20 of 60 s have gone by
    assert_null(content_of("switches.json.new"));
}

static void whatever_the_clock_was_set_to_it_lasts_no_longer_than_was_left(void **state)
{
    (void)state;
    static const struct {
        int64_t moved_s;
        uint64_t left_s;
    } MOVES[] = { { 0, 60 }, { 59, 1 }, { 60, 0 }, { 1000000, 0 }, { -1, 60 }, { -1000000, 60 } };
    struct switch_file file = opened();

    write_two(&file);
    for (size_t i = 0; i < COUNT_OF(MOVES); i++) {
        uint64_t wall_us = (uint64_t)((int64_t)WALL + MOVES[i].moved_s * (int64_t)SECOND);
        assert_int_equal(switch_file_open(&file, NOW, wall_us, items, &count, NULL), STATUS_OK);
        assert_int_equal(items[1].until_us, NOW + MOVES[i].left_s * SECOND);
    }
}

static void the_directory_is_made_and_the_file_is_not_for_everybody(void **state)
{
    (void)state;
    struct switch_file file;
    struct stat info;
    char directory[128];

    (void)snprintf(directory, sizeof(directory), "%s/new", folder);
    assert_int_equal(switch_file_init(&file, text_of(directory), NULL), STATUS_OK);
    write_two(&file);
    assert_int_equal(stat(file.path, &info), 0);
    assert_int_equal(info.st_mode & 07, 0);
}

static void without_a_directory_there_is_no_file(void **state)
{
    (void)state;
    struct switch_file file;
    char longest[1200];

    assert_int_equal(switch_file_init(&file, (struct text){ 0 }, NULL), STATUS_OK);
    assert_string_equal(file.path, "");
    assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, NULL), STATUS_NOT_FOUND);
    memset(longest, 'x', sizeof(longest));
    struct failure why = { 0 };
    assert_int_equal(switch_file_init(&file, (struct text){ longest, sizeof(longest) }, &why), STATUS_INVALID);
    assert_non_null(strstr(why.message, "state_dir"));
}

#define HEAD "{\"version\":1,\"written_us\":1,\"switches\":["
#define ONE "{\"supplier\":\"acme\",\"state\":\"disabled\",\"since_us\":1"

static const char *const BAD[] = {
    "",
    "\n",
    "null",
    "[]",
    "{",
    "{}",
    "\xff\xfe",
    "{\"version\":1}",
    "{\"version\":2,\"written_us\":1,\"switches\":[]}",
    "{\"version\":\"1\",\"written_us\":1,\"switches\":[]}",
    "{\"version\":1,\"switches\":[]}",
    "{\"version\":1,\"written_us\":-1,\"switches\":[]}",
    "{\"version\":1,\"written_us\":1}",
    "{\"version\":1,\"written_us\":1,\"switches\":{}}",
    HEAD,
    HEAD ONE "}",
    HEAD ONE "}]}x",
    HEAD "1]}",
    HEAD "{}]}",
    HEAD "{\"supplier\":\"acme\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"acme\",\"state\":\"dim\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"acme\",\"state\":1,\"since_us\":1}]}",
    HEAD "{\"state\":\"disabled\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"\",\"state\":\"disabled\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"../acme\",\"state\":\"disabled\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"acme\\u0000x\",\"state\":\"disabled\",\"since_us\":1}]}",
    HEAD "{\"supplier\":\"acme\",\"state\":\"disabled\"}]}",
    HEAD ONE ",\"account\":7}]}",
    HEAD ONE ",\"account\":\"A B\"}]}",
    HEAD ONE ",\"who\":{}}]}",
    HEAD ONE ",\"left_us\":\"1\"}]}",
    HEAD ONE ",\"left_us\":1.5}]}",
    HEAD ONE ",\"left_us\":99999999999999999}]}",
    HEAD ONE ",\"left_us\":99999999999999999999999}]}",
    HEAD ONE "}," ONE "]}",
};

static void a_bad_file_is_told_with_its_place_and_kept_aside(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        struct switch_file file = opened();
        struct failure why = { 0 };
        char aside[64];
        count = 99;
        put("switches.json", BAD[i]);
        assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, &why), STATUS_INVALID);
        assert_int_equal(count, 0);
        assert_string_equal(why.file, file.path);
        assert_true(why.line >= 1);
        (void)snprintf(aside, sizeof(aside), "switches.json.bad-%zu", i + 1);
        assert_non_null(strstr(why.help, aside));
        assert_string_equal(content_of(aside), BAD[i]);
        assert_null(content_of("switches.json"));
        write_two(&file); // and it goes on
        assert_string_equal(content_of(aside), BAD[i]);
    }
}

static void each_beginning_of_a_file_is_refused(void **state)
{
    (void)state;
    struct switch_file file = opened();
    char whole[4096];

    write_two(&file);
    (void)snprintf(whole, sizeof(whole), "%s", content_of("switches.json"));
    size_t length = strlen(whole) - 1; // of which the end of the line is no part
    assert_int_equal(switch_file_read((struct text){ whole, length }, NOW, WALL, items, &count, NULL), STATUS_OK);
    for (size_t i = 0; i < length; i++) {
        struct failure why = { 0 };
        assert_int_equal(switch_file_read((struct text){ whole, i }, NOW, WALL, items, &count, &why), STATUS_INVALID);
        assert_int_equal(count, 0);
        assert_true(why.message[0] != '\0' && why.line >= 1);
    }
}

static void more_than_there_may_be_is_refused(void **state)
{
    (void)state;
    struct buffer out;

    buffer_init(&out, 1 << 20);
    buffer_append_c(&out, HEAD);
    for (int i = 0; i <= SWITCHES_MAX; i++) {
        buffer_printf(&out, "%s" ONE "}", i > 0 ? "," : "");
    }
    buffer_append_c(&out, "]}");
    assert_int_equal(switch_file_read(buffer_text(&out), NOW, WALL, items, &count, NULL), STATUS_INVALID);
    buffer_fini(&out);
}

static void what_cannot_be_moved_aside_is_not_written_over(void **state)
{
    (void)state;
    struct switch_file file = opened();
    struct failure why = { 0 };

    for (int number = 1; number <= 1000; number++) { // all names for it are taken
        char name[64];
        (void)snprintf(name, sizeof(name), "switches.json.bad-%d", number);
        put(name, "another one");
    }
    put("switches.json", "not this");
    assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, &why), STATUS_INVALID);
    assert_true(file.is_in_the_way);
    assert_non_null(strstr(why.help, "stays where it is"));
    assert_false(switch_file_write(&file, NULL, 0, NOW, WALL, &why));
    assert_non_null(strstr(why.help, "move it away"));
    assert_string_equal(content_of("switches.json"), "not this");
    assert_string_equal(content_of("switches.json.bad-7"), "another one");
    assert_int_equal(unlink(file.path), 0); // moved away
    write_two(&file);
    assert_false(file.is_in_the_way);
}

static void what_is_no_file_is_moved_aside_too(void **state)
{
    (void)state;
    struct switch_file file = opened();
    struct failure why = { 0 };

    assert_int_equal(mkdir(file.path, 0755), 0);
    assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, &why), STATUS_INVALID);
    assert_non_null(strstr(why.message, "directory"));
    assert_false(file.is_in_the_way);
    write_two(&file);
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    struct switch_file file;
    struct failure why = { 0 };
    char directory[128];

    put("in_the_way", "a file");
    (void)snprintf(directory, sizeof(directory), "%s/in_the_way", folder);
    assert_int_equal(switch_file_init(&file, text_of(directory), NULL), STATUS_OK);
    assert_false(switch_file_write(&file, NULL, 0, NOW, WALL, &why));
    assert_string_equal(why.file, file.path);
    assert_true(why.help[0] != '\0');
    assert_string_equal(content_of("in_the_way"), "a file");
}

static void one_who_was_killed_in_the_middle_leaves_the_old_file(void **state)
{
    (void)state;
    struct switch_file file = opened();

    write_two(&file);
    put("switches.json.new", "{\"versi"); // as far as he came
    assert_int_equal(switch_file_open(&file, NOW, WALL, items, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    write_two(&file);
    assert_null(content_of("switches.json.new"));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(what_is_written_is_read_again),
        IN_A_FOLDER(whatever_the_clock_was_set_to_it_lasts_no_longer_than_was_left),
        IN_A_FOLDER(the_directory_is_made_and_the_file_is_not_for_everybody),
        IN_A_FOLDER(without_a_directory_there_is_no_file),
        IN_A_FOLDER(a_bad_file_is_told_with_its_place_and_kept_aside),
        IN_A_FOLDER(each_beginning_of_a_file_is_refused),
        IN_A_FOLDER(more_than_there_may_be_is_refused),
        IN_A_FOLDER(what_cannot_be_moved_aside_is_not_written_over),
        IN_A_FOLDER(what_is_no_file_is_moved_aside_too),
        IN_A_FOLDER(what_cannot_be_written_is_told),
        IN_A_FOLDER(one_who_was_killed_in_the_middle_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
