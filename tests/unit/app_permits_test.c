#include "app/permits.h"

#include "app/generation.h"
#include "unit/app_moves_stage.h"
#include "unit/app_settings_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 5000, AT_ONCE = 3, PER_DAY = 9000 };

static struct account_kept kept[3];
static const struct script_account accounts[] = {
    { .name = { "a", 1 }, .kept = &kept[0], .limits = { .concurrent = AT_ONCE } },
    { .name = { "b", 1 }, .kept = &kept[1], .limits = { .per_day = PER_DAY } },
    { .name = { "a", 1 }, .kept = &kept[2] },
};
static const struct catalogue_supplier suppliers[] = {
    { .name = { "acme", 4 }, .account = &accounts[0], .account_count = 2 },
    { .name = { "omni", 4 }, .account = &accounts[2] }, // 0 accounts is one
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
    permits_leave(shared.permits, &catalogue);
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
    permits_leave(permits, &catalogue);
    permits_destroy(&permits);
    assert_null(permits);
}

static struct permits_view looked(struct permits *permits, const struct script_account *account)
{
    struct permits_view view;

    permits_look(permits, account, &view);
    return view;
}

static void what_was_asked_and_blocked_stays_when_the_generation_changes(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *old = stage_make();
    struct stage *new = stage_make();
    uint64_t wait_us = 0;

    stage_add(old, "acme", "main", "{}")->limits = (struct request_limits){ .per_day = 2 };
    stage_add(old, "acme", "uk", "{}");
    stage_add(new, "acme", "uk", "{}"); // another order, and other secrets
    stage_add(new, "acme", "main", "{1}")->limits = (struct request_limits){ .per_day = 2 };
    assert_int_equal(permits_create(&old->catalogue, &permits), STATUS_OK);
    assert_int_equal(permits_begin(permits, stage_account(old, 0, 0), &wait_us), QUOTA_FREE);
    permits_block(permits, stage_account(old, 0, 1), UINT64_C(60000000));

    assert_int_equal(permits_move(permits, &new->catalogue), STATUS_OK);
    assert_int_equal(permits_count(permits), 2);
    assert_int_equal(looked(permits, stage_account(new, 0, 1)).running, 1); // begun on the old one
    assert_int_equal(permits_begin(permits, stage_account(new, 0, 0), &wait_us), QUOTA_BLOCKED);
    assert_int_equal(permits_begin(permits, stage_account(new, 0, 1), &wait_us), QUOTA_FREE);
    assert_int_equal(permits_begin(permits, stage_account(new, 0, 1), &wait_us), QUOTA_PER_DAY);
    permits_end(permits, stage_account(new, 0, 1));
    permits_end(permits, stage_account(old, 0, 0)); // ended on the new one's entry
    permits_leave(permits, &old->catalogue);
    assert_int_equal(looked(permits, stage_account(new, 0, 1)).running, 0);
    assert_int_equal(looked(permits, stage_account(new, 0, 1)).used[QUOTA_DAY], 2);
    assert_true(looked(permits, stage_account(new, 0, 0)).blocked_us > 0);
    permits_destroy(&permits);
    stage_free(&old);
    stage_free(&new);
}

static void new_limits_count_at_once_for_old_searches_too(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *old = stage_make();
    struct stage *new = stage_make();
    const struct script_account *main = stage_add(old, "acme", "main", "{}");
    uint64_t wait_us = 0;

    stage_add(new, "acme", "main", "{}")->limits = (struct request_limits){ .concurrent = 1, .per_day = 4 };
    assert_int_equal(permits_create(&old->catalogue, &permits), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(permits_begin(permits, main, &wait_us), QUOTA_FREE);
    }
    assert_int_equal(permits_move(permits, &new->catalogue), STATUS_OK); // below what runs
    assert_int_equal(permits_begin(permits, main, &wait_us), QUOTA_CONCURRENT);
    for (int i = 0; i < 3; i++) {
        permits_end(permits, main);
    }
    assert_int_equal(permits_begin(permits, main, &wait_us), QUOTA_FREE);
    permits_end(permits, main);
    assert_int_equal(permits_begin(permits, main, &wait_us), QUOTA_PER_DAY); // four, three of them before the limit
    permits_leave(permits, &old->catalogue);
    permits_leave(permits, &new->catalogue);
    permits_destroy(&permits);
    stage_free(&old);
    stage_free(&new);
}

static void one_that_is_gone_or_renamed_starts_fresh_and_its_suppliers_sum_does_not_fall(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *stages[4];
    uint64_t wait_us = 0;

    for (size_t i = 0; i < COUNT_OF(stages); i++) {
        stages[i] = stage_make();
    }
    stage_add(stages[0], "acme", "main", "{}");
    stage_add(stages[0], "acme", "uk", "{}");
    stage_add(stages[1], "acme", "gb", "{}"); // uk of before
    stage_add(stages[1], "acme", "main", "{}");
    stage_add(stages[3], "acme", "main", "{}");
    assert_int_equal(permits_create(&stages[0]->catalogue, &permits), STATUS_OK);
    permits_block(permits, stage_account(stages[0], 0, 1), UINT64_C(60000000));
    permits_block(permits, stage_account(stages[0], 0, 0), UINT64_C(60000000));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(permits_begin(permits, stage_account(stages[0], 0, 1), &wait_us), QUOTA_BLOCKED);
    }
    assert_int_equal(permits_move(permits, &stages[1]->catalogue), STATUS_OK);
    assert_int_equal(looked(permits, stage_account(stages[1], 0, 0)).blocked_us, 0);
    assert_int_equal(permits_begin(permits, stage_account(stages[0], 0, 1), &wait_us), QUOTA_BLOCKED); // an old search
    permits_leave(permits, &stages[0]->catalogue);
    assert_int_equal(looked(permits, stage_account(stages[1], 0, 0)).refused_others +
                         looked(permits, stage_account(stages[1], 0, 1)).refused_others,
                     6);
    assert_int_equal(permits_count(permits), 2);
    assert_int_equal(permits_move(permits, &stages[2]->catalogue), STATUS_OK); // without acme
    permits_leave(permits, &stages[1]->catalogue);
    assert_int_equal(permits_count(permits), 0);
    assert_int_equal(permits_move(permits, &stages[3]->catalogue), STATUS_OK); // with it again
    assert_int_equal(permits_begin(permits, stage_account(stages[3], 0, 0), &wait_us), QUOTA_FREE);
    permits_end(permits, stage_account(stages[3], 0, 0));
    permits_destroy(&permits);
    for (size_t i = 0; i < COUNT_OF(stages); i++) {
        stage_free(&stages[i]);
    }
}

enum { MOVES = 1000, SEARCHERS = 3 };

/// Generations that change while several threads ask for permits on whichever was the newest when they looked.
struct moving {
    struct permits *permits;
    pthread_mutex_t lock;
    struct stage *newest; // under the lock
    atomic_bool is_over;
};

static struct stage *chance(unsigned *seed)
{
    static const char *const names[] = { "acme", "bravo", "delta", "echo", "fox", "golf" };
    struct stage *stage = stage_make();

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (i > 0 && stage_dice(seed, 3) == 0) {
            continue; // the first one is always there
        }
        stage_add(stage, names[i], "main", "{}")->limits =
            (struct request_limits){ .concurrent = 1 + stage_dice(seed, 3) };
        if (stage_dice(seed, 2) == 0) {
            stage_add(stage, names[i], "uk", "{}");
        }
    }
    return stage;
}

static struct stage *acquire_newest(struct moving *moving)
{
    pthread_mutex_lock(&moving->lock);
    struct stage *stage = moving->newest;
    (void)ground_hold(&stage->ground);
    pthread_mutex_unlock(&moving->lock);
    return stage;
}

static void *search_while_moving(void *argument)
{
    struct moving *moving = argument;

    while (!atomic_load(&moving->is_over)) {
        struct stage *stage = acquire_newest(moving);
        struct ground *ground = &stage->ground;
        bool is_begun[STAGE_SUPPLIERS];
        uint64_t wait_us;
        for (size_t i = 0; i < stage->catalogue.supplier_count; i++) {
            is_begun[i] = permits_begin(moving->permits, stage_account(stage, i, 0), &wait_us) == QUOTA_FREE;
        }
        for (size_t i = 0; i < stage->catalogue.supplier_count; i++) {
            if (is_begun[i]) {
                permits_end(moving->permits, stage_account(stage, i, 0));
            }
        }
        ground_drop(&ground);
    }
    return NULL;
}

/// Frees those that nothing stands on.
static size_t leave_those_over(struct moving *moving, struct stage **live, size_t count)
{
    size_t kept_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&live[i]->is_over)) {
            permits_leave(moving->permits, &live[i]->catalogue);
            free(live[i]);
        } else {
            live[kept_count++] = live[i];
        }
    }
    return kept_count;
}

static void a_thousand_moves_under_searches_leave_nothing_behind(void **state)
{
    (void)state;
    struct moving moving = { .permits = NULL };
    struct stage *live[4] = { NULL };
    pthread_t threads[SEARCHERS];
    unsigned seed = 7;
    size_t count = 1;

    pthread_mutex_init(&moving.lock, NULL);
    moving.newest = live[0] = chance(&seed);
    assert_int_equal(permits_create(&live[0]->catalogue, &moving.permits), STATUS_OK);
    for (size_t i = 0; i < SEARCHERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, search_while_moving, &moving), 0);
    }
    for (int i = 0; i < MOVES; i++) {
        while ((count = leave_those_over(&moving, live, count)) == COUNT_OF(live)) {
            sched_yield(); // at most four at a time
        }
        struct stage *next = live[count++] = chance(&seed);
        assert_int_equal(permits_move(moving.permits, &next->catalogue), STATUS_OK);
        pthread_mutex_lock(&moving.lock);
        struct ground *ground = &moving.newest->ground;
        moving.newest = next;
        pthread_mutex_unlock(&moving.lock);
        ground_drop(&ground);
        assert_in_range(permits_count(moving.permits), 1, 12); // six suppliers of two accounts: there are no more
    }
    atomic_store(&moving.is_over, true);
    for (size_t i = 0; i < SEARCHERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(looked(moving.permits, stage_account(moving.newest, 0, 0)).running, 0);
    struct ground *ground = &moving.newest->ground;
    ground_drop(&ground);
    assert_int_equal(leave_those_over(&moving, live, count), 0);
    assert_int_equal(permits_count(moving.permits), 0);
    permits_destroy(&moving.permits);
    pthread_mutex_destroy(&moving.lock);
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

enum { ACCOUNTS = STAGE_ACCOUNTS };

static uint64_t stand_still(void)
{
    return UINT64_C(3600000000);
}

static void fail_to_connect(struct permits *permits, const struct script_account *account)
{
    struct health_result result = { .end = HEALTH_UNREACHABLE };
    uint64_t wait_us = 0;

    for (size_t call = 0; call < BREAKER_CONNECTS; call++) {
        assert_int_equal(permits_ask(permits, account, &result.pass, &wait_us), BREAKER_PASS);
        permits_tell(permits, account, &result);
    }
}

// Three of four is all of them, however many are switched off.
static void the_guard_counts_those_that_are_asked(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k" };
    struct permits *permits = NULL;
    struct stage *stage = stage_make();

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        stage_add(stage, names[i], "main", "{}");
        stage->suppliers[i].is_enabled = i < 4;
    }
    stage->catalogue.breaker =
        (struct breaker_settings){ .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
    assert_int_equal(permits_create(&stage->catalogue, &permits), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        fail_to_connect(permits, stage_account(stage, i, 0));
    }
    assert_int_equal(looked(permits, stage_account(stage, 1, 0)).breaker, BREAKER_OPEN);
    assert_int_equal(looked(permits, stage_account(stage, 2, 0)).breaker, BREAKER_CLOSED);
    permits_leave(permits, &stage->catalogue);
    permits_destroy(&permits);
    stage_free(&stage);
}

// One that dies with all of its accounts is one supplier, and no sign of a fault of ours.
static void accounts_of_one_supplier_are_one_to_the_guard(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *stage = stage_make();
    char names[ACCOUNTS][8];

    for (size_t i = 0; i < ACCOUNTS; i++) {
        snprintf(names[i], sizeof(names[i]), "a%zu", i);
        stage_add(stage, "acme", names[i], "{}");
    }
    stage->catalogue.breaker =
        (struct breaker_settings){ .is_on = true, .window_s = 10, .min_calls = 20, .failure_share = 0.35 };
    assert_int_equal(permits_create(&stage->catalogue, &permits), STATUS_OK);
    for (size_t i = 0; i < ACCOUNTS; i++) {
        const struct script_account *account = stage_account(stage, 0, i);
        fail_to_connect(permits, account);
        assert_int_equal(looked(permits, account).breaker, BREAKER_OPEN);
    }
    permits_leave(permits, &stage->catalogue);
    permits_destroy(&permits);
    stage_free(&stage);
}

// Whoever is learned from leaves room for those that somebody waits for.
static void what_lingers_takes_a_quarter_of_an_account_at_most(void **state)
{
    (void)state;
    static const uint32_t concurrent[] = { 0, 1, 3, 4, 40, 4000 };
    static const uint32_t most[] = { PERMITS_LINGER, 0, 0, 1, 10, PERMITS_LINGER };

    for (size_t i = 0; i < COUNT_OF(concurrent); i++) {
        struct permits *permits = NULL;
        struct stage *stage = stage_make();
        struct script_account *account = stage_add(stage, "acme", "main", "{}");
        uint32_t lingering = 0;

        account->limits.concurrent = concurrent[i];
        stage->catalogue.linger_learn = 1000000;
        assert_int_equal(permits_create(&stage->catalogue, &permits), STATUS_OK);
        assert_false(permits_want_linger(permits, account, most[i] + 1, false));
        while (lingering <= most[i] && permits_want_linger(permits, account, 1, false)) {
            lingering++;
        }
        assert_int_equal(lingering, most[i]);
        permits_end_linger(permits, account, lingering);
        assert_true(most[i] == 0 || permits_want_linger(permits, account, most[i], false));
        permits_end_linger(permits, account, most[i]);
        permits_leave(permits, &stage->catalogue);
        permits_destroy(&permits);
        stage_free(&stage);
    }
}

// Luck is for learning; what the store wants goes on while there is a place.
static void what_fills_the_store_needs_no_luck_but_a_place(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *stage = stage_make();
    struct script_account *account = stage_add(stage, "acme", "main", "{}");

    account->limits.concurrent = 8;
    stage->catalogue.linger_learn = 0;
    assert_int_equal(permits_create(&stage->catalogue, &permits), STATUS_OK);
    assert_false(permits_want_linger(permits, account, 1, false));
    assert_true(permits_want_linger(permits, account, 1, true));
    assert_true(permits_want_linger(permits, account, 1, true));
    assert_false(permits_want_linger(permits, account, 1, true));
    permits_end_linger(permits, account, 2);
    permits_leave(permits, &stage->catalogue);
    permits_destroy(&permits);
    stage_free(&stage);
}

// Twenty within a moment, of which the curve that decides was read after the first one or none.
static void a_look_tells_all_that_was_told(void **state)
{
    (void)state;
    struct permits *permits = NULL;
    struct stage *stage = stage_make();
    const struct script_account *account = stage_add(stage, "acme", "main", "{}");
    struct health_result result = { .end = HEALTH_GOOD, .took_us = 200000, .value = 1 };
    uint64_t wait_us = 0;

    assert_int_equal(permits_create(&stage->catalogue, &permits), STATUS_OK);
    permits_set_clock(permits, stand_still);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(permits_ask(permits, account, &result.pass, &wait_us), BREAKER_PASS);
        permits_tell(permits, account, &result);
    }
    assert_int_equal((int)(looked(permits, account).samples + 0.5), 20);
    assert_in_range(looked(permits, account).median_us, 190000, 210000);
    permits_leave(permits, &stage->catalogue);
    permits_destroy(&permits);
    stage_free(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_share_the_limits_of_an_account),
        cmocka_unit_test(an_account_knows_nothing_of_the_others),
        cmocka_unit_test(what_was_asked_and_blocked_stays_when_the_generation_changes),
        cmocka_unit_test(new_limits_count_at_once_for_old_searches_too),
        cmocka_unit_test(one_that_is_gone_or_renamed_starts_fresh_and_its_suppliers_sum_does_not_fall),
        cmocka_unit_test(a_thousand_moves_under_searches_leave_nothing_behind),
        cmocka_unit_test(an_accounts_limits_stand_in_for_the_scripts_one_by_one),
        cmocka_unit_test(the_guard_counts_those_that_are_asked),
        cmocka_unit_test(accounts_of_one_supplier_are_one_to_the_guard),
        cmocka_unit_test(what_lingers_takes_a_quarter_of_an_account_at_most),
        cmocka_unit_test(what_fills_the_store_needs_no_luck_but_a_place),
        cmocka_unit_test(a_look_tells_all_that_was_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
