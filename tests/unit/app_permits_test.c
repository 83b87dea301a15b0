#include "app/permits.h"

#include "app/generation.h"
#include "unit/app_settings_support.h"

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

#define ACME                                                                                                           \
    "suppliers_dir: tests/unit/data/generation/suppliers\nscripts_dir: tests/unit/data/generation/scripts\n"           \
    "suppliers: { acme: { accounts: { uk: { when: { market: GB }, limits: { rps: 5, body: 1MiB } },\n"                 \
    "  main: { limits: { concurrent: 7 } } } } }\n"

static void an_accounts_limits_stand_in_for_the_scripts_one_by_one(void **state)
{
    (void)state;
    const char *document = ACME;
    struct findings findings = { 0 };
    struct settings *settings = NULL;
    struct generation *generation = NULL;

    setenv("GENERATION_TEST_KEY", "a key of this test", 1);
    assert_int_equal(read_documents(&document, 1, &findings, &settings), STATUS_OK);
    assert_int_equal(generation_build(settings, on_finding, &findings, &generation), STATUS_OK);
    const struct script_account *made = generation_catalogue(generation)->suppliers[0].account;
    assert_int_equal(made[0].limits.per_second, 5);
    assert_int_equal(made[0].limits.per_day, 50000); // the script's
    assert_int_equal(made[0].limits.concurrent, 64);
    assert_int_equal(made[0].body_cap, 1024 * 1024);
    assert_int_equal(made[1].limits.per_second, 0);
    assert_int_equal(made[1].limits.per_day, 50000);
    assert_int_equal(made[1].limits.concurrent, 7);
    assert_int_equal(made[1].body_cap, 2 * 1024 * 1024);
    assert_int_equal(made[1].number, 1);
    generation_release(&generation);
    settings_release(&settings);
    unsetenv("GENERATION_TEST_KEY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_share_the_limits_of_an_account),
        cmocka_unit_test(an_account_knows_nothing_of_the_others),
        cmocka_unit_test(an_accounts_limits_stand_in_for_the_scripts_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
