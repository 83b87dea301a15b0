#include "app/shutdown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// The guard ends its process: each test is a process of its own. How the other steps go is tested with the real binary,
// in tests/e2e/life_test.lua.

enum { SOON_US = 100000, NEVER_US = 2000000000, FINE = 17 };

/// Blocked before a process begins: none comes too early for it.
static sigset_t signals;

static int block_signals(void **state)
{
    (void)state;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/// A process whose end hangs for ever, but for the guard; `is_over`: not at all.
static pid_t begin_end(uint64_t flush_us, bool is_over)
{
    pid_t pid = fork();

    if (pid != 0) {
        assert_true(pid > 0);
        return pid;
    }
    shutdown_guard_for(&signals, flush_us);
    if (is_over) {
        shutdown_is_over();
        (void)usleep(5 * SOON_US); // time for a guard that does not listen
        _exit(FINE);
    }
    for (;;) {
        (void)pause();
    }
}

static int exit_code_of(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void an_end_that_hangs_is_ended_with_a_code_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(begin_end(SOON_US, false)), SHUTDOWN_EXIT_STUCK);
}

static void another_signal_ends_it_at_once_and_well(void **state)
{
    (void)state;
    static const int numbers[] = { SIGTERM, SIGINT };

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        pid_t pid = begin_end(NEVER_US, false);
        assert_int_equal(kill(pid, numbers[i]), 0);
        assert_int_equal(exit_code_of(pid), 0);
    }
}

static void a_signal_that_ends_nothing_changes_nothing(void **state)
{
    (void)state;
    pid_t pid = begin_end(5 * SOON_US, false);
    assert_int_equal(kill(pid, SIGHUP), 0);
    assert_int_equal(exit_code_of(pid), SHUTDOWN_EXIT_STUCK);
}

static void an_end_that_is_over_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(begin_end(SOON_US, true)), FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_that_hangs_is_ended_with_a_code_of_its_own),
        cmocka_unit_test(another_signal_ends_it_at_once_and_well),
        cmocka_unit_test(a_signal_that_ends_nothing_changes_nothing),
        cmocka_unit_test(an_end_that_is_over_is_left_alone),
    };
    return cmocka_run_group_tests(tests, block_signals, NULL);
}
