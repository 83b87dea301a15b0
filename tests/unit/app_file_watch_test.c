#include "app/file_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Times are made up; the files and the kernel's events are real. Every way of writing is tried three times in a row:
// some of them work once, because what was watched is not there any more.

enum { SETTLE_US = 300000, SCAN_US = 5000000, TIMES = 3, STEP_US = 10000 };

static char root[64];
static struct file_watch *watch;
static uint64_t now_us;

static const char *path_of(const char *name)
{
    static char paths[8][256];
    static size_t next;
    char *path = paths[next++ % COUNT_OF(paths)];

    assert_true(snprintf(path, sizeof(paths[0]), "%s/%s", root, name) < (int)sizeof(paths[0]));
    return path;
}

static void put(const char *name, const char *content, int flags)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    assert_int_equal(close(fd), 0);
}

static void shell(const char *format, const char *word)
{
    char command[1024];
    char filled[1024];

    assert_true(snprintf(filled, sizeof(filled), format, word, word, word, word) < (int)sizeof(filled));
    assert_true(snprintf(command, sizeof(command), "cd %s && { %s ; }", root, filled) < (int)sizeof(command));
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): the very tools that people use
}

static int make_root(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/app_file_watch_test.XXXXXX");
    now_us = 1000000000;
    if (mkdtemp(root) == NULL) {
        return -1;
    }
    shell("mkdir suppliers suppliers/acme.test secrets && echo one > suppliers/acme.lua && echo one > lastcall.yaml",
          "");
    return 0;
}

static int remove_root(void **state)
{
    char command[256];

    (void)state;
    file_watch_destroy(&watch);
    (void)snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command); // NOLINT(cert-env33-c)
}

static void watch_all(struct file_watch_options options)
{
    struct file_watch_path paths[] = {
        { path_of("lastcall.yaml"), FILE_WALK_FILE },
        { path_of("suppliers"), FILE_WALK_SUPPLIERS },
        { path_of("secrets"), FILE_WALK_ENTRIES },
    };

    options.settle_us = SETTLE_US;
    options.scan_us = SCAN_US;
    assert_int_equal(file_watch_create(&options, &watch), STATUS_OK);
    assert_int_equal(file_watch_set(watch, paths, COUNT_OF(paths), now_us), STATUS_OK);
}

static void watch_with_events(void)
{
    watch_all((struct file_watch_options){ .settle_us = 0 });
    assert_true(file_watch_fd(watch) >= 0);
    assert_true(file_watch_has_events(watch));
}

/// How often a change is told until `until_us`, called as a thread that polls would.
static size_t told_until(uint64_t until_us)
{
    size_t told = 0;

    while (now_us < until_us) {
        now_us += STEP_US;
        told += file_watch_step(watch, now_us) == FILE_WATCH_CHANGED ? 1 : 0;
    }
    return told;
}

/// Told once, within twice the settling time, without the regular look.
static void assert_told_by_events(void)
{
    assert_int_equal(told_until(now_us + 2 * SETTLE_US), 1);
    assert_int_equal(told_until(now_us + 2 * SETTLE_US), 0);
}

static void assert_told_by_the_scan(void)
{
    assert_int_equal(told_until(now_us + SCAN_US + 2 * SETTLE_US), 1);
}

// ------------------------------------------------------------------------------------------------------ ways of
// writing

struct way_of_writing {
    const char *name;
    const char *command; // %s: a word that is new each time
    const char *before;  // NULL: nothing
};

static const struct way_of_writing WAYS[] = {
    { "in place", "echo %s > suppliers/acme.lua", NULL },
    { "appended", "echo %s >> suppliers/acme.lua", NULL },
    { "sed -i", "sed -i s/.*/%s/ suppliers/acme.lua", NULL },
    { "like vim, with a backup",
      "touch suppliers/4913 && rm suppliers/4913 && mv suppliers/acme.lua suppliers/acme.lua~ && "
      "echo %s > suppliers/acme.lua && rm suppliers/acme.lua~",
      NULL },
    { "renamed over", "echo %s > suppliers/.acme.lua.new && mv suppliers/.acme.lua.new suppliers/acme.lua", NULL },
    { "renamed over from elsewhere", "echo %s > elsewhere && mv elsewhere suppliers/acme.lua", NULL },
    { "deleted and created", "rm suppliers/acme.lua && echo %s > suppliers/acme.lua", NULL },
    { "a new file", "echo %s > suppliers/b_%s.lua", NULL },
    { "a file less", "rm suppliers/b_%s.lua", "echo %s > suppliers/b_%s.lua" },
    { "a file under another name", "mv suppliers/b_%s.lua suppliers/c_%s.lua", "echo %s > suppliers/b_%s.lua" },
    { "a fixture", "echo %s > suppliers/acme.test/ok-one.json", NULL },
    { "a folder of fixtures", "mkdir suppliers/f_%s.test && echo > suppliers/f_%s.test/ok-one.json", NULL },
    { "the settings in place", "echo %s > lastcall.yaml", NULL },
    { "the settings by sed -i", "sed -i s/.*/%s/ lastcall.yaml", NULL },
    { "the settings deleted and created", "rm lastcall.yaml && echo %s > lastcall.yaml", NULL },
    { "a secret", "printf %s > secrets/ACME_KEY", NULL },
    { "the folder swapped",
      "mkdir other && echo %s > other/acme.lua && mv suppliers suppliers.old && mv other suppliers && "
      "rm -r suppliers.old",
      NULL },
    { "the folder deleted and made", "rm -r suppliers && mkdir suppliers && echo %s > suppliers/acme.lua", NULL },
    { "the same size and time", "printf %.3s > suppliers/acme.lua && touch -d @1000000000 suppliers/acme.lua", NULL },
    { "a hard link in its place", "rm -f elsewhere && echo %s > elsewhere && ln -f elsewhere suppliers/acme.lua",
      NULL },
};

static void each_way_of_writing_is_told_three_times_in_a_row(void **state)
{
    (void)state;
    static const char *const words[TIMES] = { "red", "tan", "sky" };

    for (size_t i = 0; i < COUNT_OF(WAYS); i++) {
        assert_int_equal(make_root(NULL), 0);
        for (size_t time = 0; WAYS[i].before != NULL && time < TIMES; time++) {
            shell(WAYS[i].before, words[time]);
        }
        watch_with_events();
        for (size_t time = 0; time < TIMES; time++) {
            shell(WAYS[i].command, words[time]);
            size_t told = told_until(now_us + 2 * SETTLE_US);
            if (told != 1) {
                fail_msg("%s, time %zu: told %zu times", WAYS[i].name, time + 1, told);
            }
            assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
        }
        assert_int_equal(remove_root(NULL), 0);
    }
    assert_int_equal(make_root(NULL), 0); // for the end of the test
}

static void each_way_of_writing_is_told_by_the_scan_alone(void **state)
{
    (void)state;
    static const char *const words[TIMES] = { "red", "tan", "sky" };

    for (size_t i = 0; i < COUNT_OF(WAYS); i++) {
        assert_int_equal(make_root(NULL), 0);
        for (size_t time = 0; WAYS[i].before != NULL && time < TIMES; time++) {
            shell(WAYS[i].before, words[time]);
        }
        watch_all((struct file_watch_options){ .ignores_events = true });
        assert_int_equal(file_watch_fd(watch), -1);
        for (size_t time = 0; time < TIMES; time++) {
            shell(WAYS[i].command, words[time]);
            size_t told = told_until(now_us + SCAN_US + 2 * SETTLE_US);
            if (told != 1) {
                fail_msg("%s, time %zu: told %zu times", WAYS[i].name, time + 1, told);
            }
        }
        assert_int_equal(remove_root(NULL), 0);
    }
    assert_int_equal(make_root(NULL), 0);
}

/// As the kubelet does: files are links to `..data/NAME`, and `..data` is a link that is renamed over.
static void a_kubernetes_volume_is_told_at_each_swap(void **state)
{
    (void)state;
    shell("rm -r suppliers && mkdir suppliers && cd suppliers && mkdir ..one && echo one > ..one/acme.lua && "
          "ln -s ..one ..data && ln -s ..data/acme.lua acme.lua",
          "");
    watch_with_events();
    for (size_t time = 0; time < TIMES; time++) {
        static const char *const words[TIMES] = { "two", "three", "four" };
        shell("cd suppliers && old=$(readlink ..data) && mkdir ..%s && echo %s > ..%s/acme.lua && "
              "ln -s ..%s ..data_tmp && mv -T ..data_tmp ..data && rm -r $old",
              words[time]);
        assert_told_by_events();
    }
}

/// The whole folder is behind a link that lies in another one, as in mounts with a subPath's parent or in releases.
static void a_release_behind_a_link_is_told_at_each_swap(void **state)
{
    (void)state;
    shell("mkdir -p releases/1 deploy && mv suppliers releases/1/suppliers && ln -s ../releases/1 deploy/current && "
          "ln -s deploy/current/suppliers suppliers",
          "");
    watch_with_events();
    for (size_t time = 0; time < TIMES; time++) {
        static const char *const words[TIMES] = { "2", "3", "4" };
        shell("mkdir -p releases/%s/suppliers && echo %s > releases/%s/suppliers/acme.lua && "
              "ln -sfn ../releases/%s deploy/next && mv -T deploy/next deploy/current",
              words[time]);
        assert_told_by_events();
    }
    shell("echo %s > deploy/current/suppliers/acme.lua", "in the newest");
    assert_told_by_events();
    shell("echo %s > releases/2/suppliers/acme.lua", "in an old one");
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
}

static void a_folder_that_vanishes_and_one_that_comes_back_are_told(void **state)
{
    (void)state;
    watch_with_events();
    for (size_t time = 0; time < TIMES; time++) {
        shell("mv suppliers away", "");
        assert_told_by_events();
        shell("mv away suppliers", "");
        assert_told_by_events();
        shell("echo %s >> suppliers/acme.lua", "more");
        assert_told_by_events();
    }
}

static void what_is_missing_at_the_start_is_told_when_it_comes(void **state)
{
    (void)state;
    shell("rm -r suppliers lastcall.yaml", "");
    watch_with_events();
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
    shell("mkdir suppliers && sleep 0 && echo %s > suppliers/acme.lua", "one");
    assert_told_by_events();
    shell("echo %s > lastcall.yaml", "one");
    assert_told_by_events();
}

// --------------------------------------------------------------------------------------------------------------- rest

static void a_growing_file_is_told_only_when_it_rests(void **state)
{
    (void)state;
    watch_with_events();
    put("suppliers/acme.lua", "", O_TRUNC);
    for (size_t i = 0; i < 40; i++) {
        put("suppliers/acme.lua", "a line\n", O_APPEND);
        assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    }
    assert_told_by_events();
}

static void a_growing_file_is_told_by_the_scan_only_when_it_rests(void **state)
{
    (void)state;
    watch_all((struct file_watch_options){ .ignores_events = true });
    for (size_t i = 0; i < 60; i++) {
        put("suppliers/acme.lua", "a line\n", O_APPEND);
        assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    }
    assert_told_by_the_scan();
}

static void a_writer_who_pauses_with_the_file_open_is_waited_for(void **state)
{
    (void)state;
    watch_with_events();
    for (size_t time = 0; time < TIMES; time++) {
        int fd = open(path_of("suppliers/acme.lua"), O_WRONLY | O_TRUNC | O_CLOEXEC);
        assert_true(fd >= 0);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(write(fd, "half", 4), 4);
            assert_int_equal(told_until(now_us + 4 * SETTLE_US), 0);
        }
        assert_int_equal(write(fd, time == 0 ? "0" : time == 1 ? "1" : "2", 1), 1);
        assert_int_equal(close(fd), 0);
        assert_told_by_events();
    }
}

static void a_writer_who_never_closes_is_waited_for_only_so_long(void **state)
{
    (void)state;
    watch_with_events();
    int fd = open(path_of("suppliers/acme.lua"), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "more", 4), 4);
    assert_int_equal(told_until(now_us + SCAN_US - STEP_US), 0);
    assert_int_equal(told_until(now_us + 3 * SETTLE_US), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
}

static void a_file_that_never_rests_holds_up_others_only_so_long(void **state)
{
    (void)state;
    size_t told = 0;

    watch_with_events();
    put("lastcall.yaml", "another", O_TRUNC);
    for (size_t i = 0; i < 90; i++) {
        put("suppliers/acme.lua", "a line\n", O_APPEND);
        told += told_until(now_us + SETTLE_US / 2);
        if (told == 1) {
            assert_string_equal(file_watch_changed(watch).data, path_of("lastcall.yaml"));
        }
    }
    assert_int_equal(told, 1);
    assert_told_by_events();
    assert_string_equal(file_watch_changed(watch).data, path_of("suppliers"));
}

static void a_file_that_never_rests_holds_up_its_own_folder_only_so_long(void **state)
{
    (void)state;
    size_t told = 0, first = 0;

    watch_with_events();
    put("suppliers/bravo.lua", "another", O_TRUNC);
    for (size_t i = 0; i < 150 && told < 2; i++) {
        put("suppliers/acme.lua", "a line\n", O_APPEND);
        told += told_until(now_us + SETTLE_US / 2);
        first = told == 0 ? i : first;
    }
    assert_int_equal(told, 2); // and again, while it goes on
    assert_true(first * SETTLE_US / 2 >= 2 * SCAN_US - SETTLE_US);
    assert_string_equal(file_watch_changed(watch).data, path_of("suppliers"));
}

static void one_file_that_grows_is_not_told_before_its_end(void **state)
{
    (void)state;
    watch_with_events();
    for (size_t i = 0; i < 150; i++) {
        put("lastcall.yaml", "a line\n", O_APPEND);
        assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    }
    assert_told_by_events();
}

static void files_that_are_copied_one_by_one_are_told_together(void **state)
{
    (void)state;
    watch_with_events();
    put("lastcall.yaml", "another", O_TRUNC);
    assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    put("suppliers/acme.lua", "another", O_TRUNC);
    assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    put("suppliers/bravo.lua", "another", O_TRUNC);
    assert_told_by_events();
}

static void what_is_changed_back_before_it_rests_is_not_told(void **state)
{
    (void)state;
    watch_with_events();
    put("suppliers/acme.lua", "two\n", O_TRUNC);
    assert_int_equal(told_until(now_us + SETTLE_US / 2), 0);
    put("suppliers/acme.lua", "one\n", O_TRUNC);
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
}

static void what_holds_the_same_as_before_is_not_told(void **state)
{
    (void)state;
    watch_with_events();
    shell("touch suppliers/acme.lua && echo one > lastcall.yaml && chmod 600 lastcall.yaml && "
          "cp suppliers/acme.lua x && mv x suppliers/acme.lua && touch suppliers/.acme.lua.swp suppliers/README.md && "
          "echo %s > other",
          "log");
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
}

static void a_large_table_is_told_when_its_time_or_size_changes(void **state)
{
    (void)state;
    shell("head -c 3000000 /dev/zero > secrets/table", "");
    watch_with_events();
    for (size_t time = 0; time < TIMES; time++) {
        shell("echo %s >> secrets/table", "row");
        assert_told_by_events();
    }
}

static void one_that_was_stopped_tells_nothing_any_more(void **state)
{
    (void)state;
    watch_with_events();
    file_watch_stop(watch);
    shell("echo %s > suppliers/acme.lua", "other");
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
}

// ------------------------------------------------------------------------------------------------- where events fail

/// 16,384 events are kept unless the system says otherwise. These are of a name that does not count, so that nothing
/// but the overflow can tell.
static void an_event_lost_in_an_overflow_is_made_up_for(void **state)
{
    (void)state;
    unsigned most = 16384;
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
    if (file != NULL) {
        assert_int_equal(fscanf(file, "%u", &most), 1); // NOLINT(cert-err34-c)
        assert_int_equal(fclose(file), 0);
    }
    watch_with_events();
    int first = open(path_of("log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    int second = open(path_of("other"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    for (unsigned i = 0; i <= most; i++) {
        assert_int_equal(write(i % 2 == 0 ? first : second, "x", 1), 1);
    }
    put("suppliers/acme.lua", "another", O_TRUNC);
    assert_told_by_events();
    assert_int_equal(close(first), 0);
    assert_int_equal(close(second), 0);
}

static void without_room_for_watches_the_scan_tells(void **state)
{
    (void)state;
    watch_all((struct file_watch_options){ .most_folders = 1 });
    assert_false(file_watch_has_events(watch));
    for (size_t time = 0; time < TIMES; time++) {
        shell("echo %s >> suppliers/acme.lua", "more");
        assert_told_by_the_scan();
    }
}

// ----------------------------------------------------------------------------------------------------------- new lists

static void a_change_is_not_lost_when_the_list_is_set_anew(void **state)
{
    (void)state;
    struct file_watch_path paths[] = {
        { path_of("suppliers"), FILE_WALK_SUPPLIERS },
        { path_of("tables"), FILE_WALK_ENTRIES },
    };

    watch_with_events();
    put("suppliers/acme.lua", "another", O_TRUNC);
    shell("mkdir tables && echo %s > tables/one.tsv && echo >> lastcall.yaml", "one");
    assert_int_equal(file_watch_set(watch, paths, COUNT_OF(paths), now_us), STATUS_OK);
    assert_told_by_events();
    assert_string_equal(file_watch_changed(watch).data, path_of("suppliers"));
    shell("echo %s > tables/one.tsv", "two");
    assert_told_by_events();
    assert_string_equal(file_watch_changed(watch).data, path_of("tables"));
    shell("echo %s > lastcall.yaml", "nobody asks any more");
    assert_int_equal(told_until(now_us + 2 * SCAN_US), 0);
    assert_int_equal(file_watch_set(watch, NULL, 0, now_us), STATUS_OK);
    assert_true(file_watch_next_us(watch) == UINT64_MAX);
}

static void the_next_time_is_never_in_the_past_and_never_beyond_a_scan(void **state)
{
    (void)state;
    watch_with_events();
    int fd = open(path_of("suppliers/acme.lua"), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, "more", 4), 4); // not closed: it is waited for
    for (size_t i = 0; i < 1000; i++) {
        now_us += STEP_US;
        (void)file_watch_step(watch, now_us);
        assert_true(file_watch_next_us(watch) > now_us);
        assert_true(file_watch_next_us(watch) <= now_us + SCAN_US);
    }
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_way_of_writing_is_told_three_times_in_a_row, make_root, remove_root),
        cmocka_unit_test_setup_teardown(each_way_of_writing_is_told_by_the_scan_alone, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_kubernetes_volume_is_told_at_each_swap, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_release_behind_a_link_is_told_at_each_swap, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_folder_that_vanishes_and_one_that_comes_back_are_told, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(what_is_missing_at_the_start_is_told_when_it_comes, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_growing_file_is_told_only_when_it_rests, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_growing_file_is_told_by_the_scan_only_when_it_rests, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_writer_who_pauses_with_the_file_open_is_waited_for, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_writer_who_never_closes_is_waited_for_only_so_long, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_file_that_never_rests_holds_up_others_only_so_long, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_file_that_never_rests_holds_up_its_own_folder_only_so_long, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(one_file_that_grows_is_not_told_before_its_end, make_root, remove_root),
        cmocka_unit_test_setup_teardown(files_that_are_copied_one_by_one_are_told_together, make_root, remove_root),
        cmocka_unit_test_setup_teardown(what_is_changed_back_before_it_rests_is_not_told, make_root, remove_root),
        cmocka_unit_test_setup_teardown(what_holds_the_same_as_before_is_not_told, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_large_table_is_told_when_its_time_or_size_changes, make_root, remove_root),
        cmocka_unit_test_setup_teardown(an_event_lost_in_an_overflow_is_made_up_for, make_root, remove_root),
        cmocka_unit_test_setup_teardown(one_that_was_stopped_tells_nothing_any_more, make_root, remove_root),
        cmocka_unit_test_setup_teardown(without_room_for_watches_the_scan_tells, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_change_is_not_lost_when_the_list_is_set_anew, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_next_time_is_never_in_the_past_and_never_beyond_a_scan, make_root,
                                        remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
