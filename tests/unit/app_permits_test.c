#include "app/permits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 5000, AT_ONCE = 3, PER_DAY = 9000 };

static const struct script_account accounts[] = {
    { .number = 0, .limits = { .concurrent = AT_ONCE } },
    { .number = 1, .limits = { .per_day = PER_DAY } },
    { .number = 2 },
};
static const struct catalogue_supplier suppliers[] = {
    { .account = &accounts[0], .account_count = 2 }, { .account = &accounts[2] }, // 0 accounts is one
};
static const struct catalogue catalogue = { .suppliers = suppliers, .supplier_count = 2 };

struct shared {
    struct permits *permits;
    atomic_int running;
    atomic_int most;
    atomic_int passed;
};

static void *be_a_loop(void *argument)
{
    struct shared *shared = argument;
    uint64_t wait_us = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (permits_begin(shared->permits, &accounts[0], &wait_us) == QUOTA_FREE) {
            int running = atomic_fetch_add(&shared->running, 1) + 1;
            int most = atomic_load(&shared->most);
            while (running > most && !atomic_compare_exchange_weak(&shared->most, &most, running)) {
            }
            atomic_fetch_sub(&shared->running, 1);
            permits_end(shared->permits, &accounts[0]);
        }
        if (permits_begin(shared->permits, &accounts[1], &wait_us) == QUOTA_FREE) {
            atomic_fetch_add(&shared->passed, 1);
            permits_end(shared->permits, &accounts[1]);
        }
    }
    return NULL;
}

static void loops_share_the_limits_of_an_account(void **state)
{
    (void)state;
    struct shared shared = { .permits = NULL };
    struct permits_view view;
    pthread_t threads[THREADS];

    assert_int_equal(permits_create(&catalogue, &shared.permits), STATUS_OK);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_loop, &shared), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_in_range(shared.most, 1, AT_ONCE);
    assert_int_equal(shared.passed, PER_DAY);
    permits_look(shared.permits, &accounts[0], &view);
    assert_int_equal(view.running, 0);
    permits_look(shared.permits, &accounts[1], &view);
    assert_int_equal(view.running, 0);
    assert_int_equal(view.used[QUOTA_DAY], PER_DAY);
    assert_int_equal(view.refused_by_rate, THREADS * ROUNDS - PER_DAY);
    permits_destroy(&shared.permits);
}

static void an_account_knows_nothing_of_the_others(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    uint64_t wait_us = 0;

    assert_int_equal(permits_create(&catalogue, &permits), STATUS_OK);
    permits_block(permits, &accounts[1], UINT64_C(60000000));
    assert_int_equal(permits_begin(permits, &accounts[1], &wait_us), QUOTA_BLOCKED);
    assert_in_range(wait_us, 1, UINT64_C(60000000));
    assert_int_equal(permits_begin(permits, &accounts[2], &wait_us), QUOTA_FREE);
    permits_end(permits, &accounts[2]);
    permits_destroy(&permits);
    assert_null(permits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_share_the_limits_of_an_account),
        cmocka_unit_test(an_account_knows_nothing_of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
