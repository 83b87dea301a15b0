// What a loop's thread asks of the kernel changes nothing else about the thread.

#include "io/promptness.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

static void asking_keeps_the_policy_and_the_nice_value(void **state)
{
    (void)state;

    assert_int_equal(setpriority(PRIO_PROCESS, 0, 5), 0);
    (void)promptness_ask(); // an old kernel may refuse
    errno = 0;
    assert_int_equal(getpriority(PRIO_PROCESS, 0), 5);
    assert_int_equal(errno, 0);
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_keeps_the_policy_and_the_nice_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
