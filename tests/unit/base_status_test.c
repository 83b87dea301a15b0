#include "base/check.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = STATUS_OK; a <= STATUS_TIMEOUT; a++) {
        assert_true(strlen(status_name((enum status)a)) > 1);
        for (int b = a + 1; b <= STATUS_TIMEOUT; b++) {
            assert_string_not_equal(status_name((enum status)a), status_name((enum status)b));
        }
    }
}

static void a_failure_keeps_place_sentence_and_remedy_apart(void **state)
{
    (void)state;
    struct failure why = { 0 };
    failure_at(&why, "lastcall.yaml", 3, 7);
    failure_set(&why, "unknown key `%s`", "lisetn");
    failure_help(&why, "did you mean `%s`?", "listen");
    assert_string_equal(why.file, "lastcall.yaml");
    assert_int_equal(why.line, 3);
    assert_int_equal(why.column, 7);
    assert_string_equal(why.message, "unknown key `lisetn`");
    assert_string_equal(why.help, "did you mean `listen`?");
}

static void a_long_failure_is_cut_and_no_failure_is_fine(void **state)
{
    (void)state;
    struct failure why = { 0 };
    char longer[2000];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    failure_set(&why, "%s", longer);
    failure_help(&why, "%s", longer);
    failure_at(&why, longer, 1, 1);
    assert_int_equal(strlen(why.message), sizeof(why.message) - 1);
    assert_int_equal(strlen(why.help), sizeof(why.help) - 1);
    assert_int_equal(strlen(why.file), sizeof(why.file) - 1);
    failure_set(NULL, "%s", longer);
    failure_help(NULL, "%s", longer);
    failure_at(NULL, longer, 1, 1);
}

static void clocks_run_forward(void **state)
{
    (void)state;
    uint64_t before = clock_now_us();
    assert_true(before != 0);
    assert_true(clock_now_us() >= before);
    assert_true(clock_wall_us() > 1600000000ULL * 1000000); // after 2020
    uint64_t cpu = clock_thread_cpu_us();
    volatile unsigned work = 0;
    while (clock_thread_cpu_us() == cpu) {
        work = work + 1;
    }
    assert_true(clock_thread_cpu_us() > cpu);
}

// Every day from 1970 to 2199, each at another time of day, against the C library.
static void every_date_is_printed_as_the_c_library_has_it(void **state)
{
    (void)state;
    for (uint64_t day = 0; day < 84000; day++) {
        uint64_t wall_us = (day * 86400 + day * 7919 % 86400) * 1000000 + day % 1000 * 1000 + 999;
        time_t second = (time_t)(wall_us / 1000000);
        char expected[64];
        char printed[CLOCK_UTC_SIZE];
        struct tm parts;
        assert_non_null(gmtime_r(&second, &parts));
        size_t length = strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &parts);
        snprintf(expected + length, sizeof(expected) - length, ".%03uZ", (unsigned)(day % 1000));
        assert_int_equal(clock_print_utc(wall_us, printed), 24);
        assert_string_equal(printed, expected);
        uint64_t wall_ms = 0;
        assert_true(clock_read_utc(text_of(printed), &wall_ms));
        assert_true(wall_ms == wall_us / 1000);
    }
}

static void what_is_no_time_is_not_read_as_one(void **state)
{
    static const char *const WRONG[] = { "",
                                         "2026-11-30",
                                         "2026-11-30T12:00:00",
                                         "2026-11-30T12:00:00+01:00",
                                         "2026-13-01T00:00:00Z",
                                         "2026-00-01T00:00:00Z",
                                         "2026-02-29T00:00:00Z",
                                         "2100-02-29T00:00:00Z",
                                         "2026-11-31T00:00:00Z",
                                         "2026-11-30T24:00:00Z",
                                         "2026-11-30T12:60:00Z",
                                         "2026-11-30T12:00:00.5Z",
                                         "2026-11-3xT12:00:00Z" };
    uint64_t wall_ms = 7;
    (void)state;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        assert_false(clock_read_utc(text_of(WRONG[i]), &wall_ms));
    }
    assert_true(clock_read_utc(TEXT("2024-02-29T00:00:01.250Z"), &wall_ms));
    assert_true(wall_ms == 1709164801250);
    assert_true(clock_read_utc(TEXT("1969-12-31T23:59:59Z"), &wall_ms));
    assert_true(wall_ms == 0);
}

struct item {
    int number;
    struct list node;
};

static void a_list_keeps_order_and_survives_removal_while_walking(void **state)
{
    (void)state;
    struct list head;
    struct item items[5];
    int sum = 0;
    list_init(&head);
    assert_null(list_take_first(&head));
    for (int i = 0; i < 5; i++) {
        items[i].number = i;
        list_append(&head, &items[i].node);
    }
    LIST_FOR_EACH (node, &head) {
        struct item *item = CONTAINER_OF(node, struct item, node);
        sum = sum * 10 + item->number;
        if (item->number % 2 == 0) {
            list_remove(node);
        }
    }
    assert_int_equal(sum, 1234);
    assert_ptr_equal(list_take_first(&head), &items[1].node);
    assert_ptr_equal(list_take_first(&head), &items[3].node);
    assert_true(list_is_empty(&head));
    assert_true(list_is_empty(&items[0].node));
}

static void a_broken_requirement_names_its_place_and_aborts(void **state)
{
    (void)state;
    int ends[2];
    char text[512] = "";
    int status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        require(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "base_status_test.c:"));
    assert_non_null(strstr(text, ": bug: \"1 + 1 == 3\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_failure_keeps_place_sentence_and_remedy_apart),
        cmocka_unit_test(a_long_failure_is_cut_and_no_failure_is_fine),
        cmocka_unit_test(clocks_run_forward),
        cmocka_unit_test(every_date_is_printed_as_the_c_library_has_it),
        cmocka_unit_test(what_is_no_time_is_not_read_as_one),
        cmocka_unit_test(a_list_keeps_order_and_survives_removal_while_walking),
        cmocka_unit_test(a_broken_requirement_names_its_place_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
