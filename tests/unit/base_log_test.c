#include "base/log.h"
#include "base/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Standard error is a file of ours during each test; `captured` holds what was written.
static int kept_error = -1;
static FILE *sink;
static char captured[2 * 1024 * 1024];

static int catch_error(void **state)
{
    (void)state;
    sink = tmpfile();
    fflush(stderr);
    kept_error = dup(STDERR_FILENO);
    return sink != NULL && dup2(fileno(sink), STDERR_FILENO) >= 0 ? 0 : -1;
}

static int release_error(void **state)
{
    (void)state;
    log_stop();
    dup2(kept_error, STDERR_FILENO);
    close(kept_error);
    fclose(sink);
    return 0;
}

static const char *read_back(void)
{
    ssize_t length = pread(fileno(sink), captured, sizeof(captured) - 1, 0);
    captured[length > 0 ? length : 0] = '\0';
    return captured;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *found = strstr(text, part); found != NULL; found = strstr(found + 1, part)) {
        count++;
    }
    return count;
}

static void a_line_has_time_level_module_and_sentence(void **state)
{
    (void)state;
    log_line(LOG_WARNING, "test", "two words key=%d", 7);
    const char *line = read_back();
    int year, month, day, hour, minute, second, milli, end = 0;
    assert_int_equal(
        sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &milli, &end), 7);
    assert_true(year >= 2024 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60);
    assert_string_equal(line + end, " warning test: two words key=7\n");
}

static void lines_below_the_level_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(log_start(LOG_WARNING), STATUS_OK);
    log_line(LOG_INFO, "test", "quiet");
    log_line(LOG_ERROR, "test", "loud");
    log_stop();
    assert_null(strstr(read_back(), "quiet"));
    assert_non_null(strstr(read_back(), "error test: loud\n"));
    assert_int_equal(log_start(LOG_DEBUG), STATUS_OK);
    log_line(LOG_DEBUG, "test", "fine");
    log_stop();
    assert_non_null(strstr(read_back(), "debug test: fine\n"));
}

static void starting_twice_is_refused_and_stopping_twice_harmless(void **state)
{
    (void)state;
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    assert_int_equal(log_start(LOG_INFO), STATUS_INVALID);
    log_stop();
    log_stop();
    log_line(LOG_INFO, "test", "after");
    assert_non_null(strstr(read_back(), "test: after\n"));
}

static void an_event_is_one_line_of_text(void **state)
{
    (void)state;
    log_line(LOG_INFO, "test", "%s", "a\nerror forged: line\r\x1B[31m\xFF caf\xC3\xA9");
    assert_non_null(strstr(read_back(), "test: a?error forged: line??[31m? caf\xC3\xA9\n"));
    assert_int_equal(count_of(captured, "\n"), 1);
}

static void a_long_line_is_cut_and_says_so(void **state)
{
    (void)state;
    char longer[5000];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    log_line(LOG_INFO, "test", "%s", longer);
    const char *line = read_back();
    assert_true(strlen(line) > 900 && strlen(line) < 1100);
    assert_non_null(strstr(line, "x...\n"));
    log_line(LOG_INFO, longer, "%s", "sentence"); // a module name of any length does no harm either
    assert_int_equal(count_of(read_back(), "...\n"), 2);
}

static void secrets_become_stars_and_the_longest_wins(void **state)
{
    (void)state;
    log_redact(TEXT("sekret"));
    log_redact(TEXT("sekret-longer"));
    log_redact(TEXT("abc")); // too short to be one
    log_redact(TEXT("sekret"));
    log_line(LOG_INFO, "test", "key=sekret-longer other=sekret! abc sekre");
    assert_non_null(strstr(read_back(), "test: key=*** other=***! abc sekre\n"));
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    log_line(LOG_INFO, "test", "ring=sekretsekret");
    log_stop();
    assert_non_null(strstr(read_back(), "ring=******\n"));
}

static void a_secret_at_the_cut_leaves_no_beginning(void **state)
{
    (void)state;
    log_redact(TEXT("QQWWEERRTTYYUUIIOOPP"));
    for (size_t pad = 960; pad < 1000; pad++) {
        char padding[1100];
        memset(padding, 'x', pad);
        padding[pad] = '\0';
        log_line(LOG_INFO, "t", "%sQQWWEERRTTYYUUIIOOPP%s", padding, padding);
    }
    assert_null(strstr(read_back(), "Q"));
    assert_int_equal(count_of(captured, "\n"), 40);
}

enum { WRITERS = 8, LINES = 300 };

static void *write_lines(void *argument)
{
    int number = *(const int *)argument;
    for (int i = 0; i < LINES; i++) {
        log_line(LOG_INFO, "test", "writer=%d line=%d end", number, i);
    }
    return NULL;
}

static void lines_of_many_threads_arrive_whole_and_in_order_or_are_counted(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    int numbers[WRITERS];
    int last[WRITERS];
    uint64_t dropped = log_dropped();
    size_t arrived = 0;
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        last[i] = -1;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
    }
    log_stop();
    dropped = log_dropped() - dropped;
    char *rest = NULL;
    read_back();
    for (char *line = strtok_r(captured, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        int writer = 0;
        int number = 0;
        int end = 0;
        const char *body = strstr(line, "test: writer=");
        if (body == NULL) {
            assert_non_null(strstr(line, "log: lines were dropped"));
            continue;
        }
        assert_int_equal(sscanf(body, "test: writer=%d line=%d end%n", &writer, &number, &end), 2);
        assert_int_equal(body[end], '\0');
        assert_true(writer >= 0 && writer < WRITERS && number > last[writer]);
        last[writer] = number;
        arrived++;
    }
    assert_int_equal(arrived + dropped, WRITERS * LINES);
    assert_true(arrived > 0);
}

// A pipe that nobody reads and that is full: every line is dropped and counted, nobody waits for the reader.
static void a_stuck_reader_costs_lines_and_nothing_else(void **state)
{
    (void)state;
    int ends[2];
    char junk[4096] = { 0 };
    uint64_t before = log_dropped();
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], junk, sizeof(junk)) > 0) {
    }
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0); // blocking from now on
    dup2(ends[1], STDERR_FILENO);
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    for (int i = 0; i < 5000; i++) {
        log_line(LOG_INFO, "test", "line=%d", i);
    }
    log_stop();
    uint64_t dropped = log_dropped() - before;
    dup2(fileno(sink), STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(dropped, 5000);
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    log_line(LOG_INFO, "test", "well again");
    log_stop();
    assert_non_null(strstr(read_back(), "test: well again\n"));
    assert_non_null(strstr(captured, "warning log: lines were dropped dropped="));
}

static void a_reader_that_has_gone_kills_nobody_and_leaves_errno_alone(void **state)
{
    (void)state;
    int ends[2];
    uint64_t before = log_dropped();
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    errno = ENOENT;
    log_line(LOG_INFO, "test", "at once");
    int error = errno;
    assert_int_equal(log_start(LOG_INFO), STATUS_OK);
    log_line(LOG_INFO, "test", "through the ring");
    log_stop();
    uint64_t dropped = log_dropped() - before;
    sigset_t pending;
    sigpending(&pending);
    dup2(fileno(sink), STDERR_FILENO);
    close(ends[1]);
    assert_int_equal(dropped, 2);
    assert_int_equal(error, ENOENT); // that of the caller
    assert_false(sigismember(&pending, SIGPIPE));
}

// The last test: it fills the list for good.
static void a_secret_too_many_is_told(void **state)
{
    (void)state;
    char secret[32];
    enum status status = STATUS_OK;
    assert_int_equal(redact_add(TEXT("abc")), STATUS_INVALID);
    for (int i = 0; status == STATUS_OK; i++) {
        assert_true(i <= REDACT_MAX);
        snprintf(secret, sizeof(secret), "secret-%04d", i);
        status = redact_add(text_of(secret));
    }
    assert_int_equal(status, STATUS_FULL);
    log_redact(text_of(secret));
    assert_non_null(strstr(read_back(), "error log: a secret cannot be redacted"));
    assert_null(strstr(captured, secret));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_has_time_level_module_and_sentence, catch_error, release_error),
        cmocka_unit_test_setup_teardown(lines_below_the_level_are_left_out, catch_error, release_error),
        cmocka_unit_test_setup_teardown(starting_twice_is_refused_and_stopping_twice_harmless, catch_error,
                                        release_error),
        cmocka_unit_test_setup_teardown(an_event_is_one_line_of_text, catch_error, release_error),
        cmocka_unit_test_setup_teardown(a_long_line_is_cut_and_says_so, catch_error, release_error),
        cmocka_unit_test_setup_teardown(secrets_become_stars_and_the_longest_wins, catch_error, release_error),
        cmocka_unit_test_setup_teardown(a_secret_at_the_cut_leaves_no_beginning, catch_error, release_error),
        cmocka_unit_test_setup_teardown(lines_of_many_threads_arrive_whole_and_in_order_or_are_counted, catch_error,
                                        release_error),
        cmocka_unit_test_setup_teardown(a_stuck_reader_costs_lines_and_nothing_else, catch_error, release_error),
        cmocka_unit_test_setup_teardown(a_reader_that_has_gone_kills_nobody_and_leaves_errno_alone, catch_error,
                                        release_error),
        cmocka_unit_test_setup_teardown(a_secret_too_many_is_told, catch_error, release_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
