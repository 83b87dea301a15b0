// States that are built aside and buried aside: what the first calls of a set find, and what a set leaves behind.

#include "script/state_fill.h"
#include "unit/script_pool_stage.h"

#include <sys/resource.h>

static uint32_t count_states(void)
{
    return support_counts(&pool).states;
}

static void run_start_of(struct script_set *set, size_t candidates)
{
    struct start_call *call = support_start(&world, "chair");
    call->call.set = set;
    call->candidate_count = candidates;
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_verdict(call->candidates[0].verdict, SCRIPT_OK, "good", call->candidates[0].message);
    script_call_destroy(&call->call);
}

static void run_start_call(struct script_set *set)
{
    run_start_of(set, world.count);
}

/// One more set of the same files. Accounts stay what they are.
static struct script_set *load_set(void)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;
    enum status status =
        script_set_load(SUPPORT_DATA "/scripts", world.sources, world.count, support_on_finding, &findings, &set);
    if (status != STATUS_OK) {
        fail_msg("%s: %s", status_name(status), findings.text);
    }
    return set;
}

static void add_good(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "good_%zu", i);
        support_add(&world, name, SUPPORT_DATA "/suppliers/good.lua");
    }
}

/// As many calls at once as there are workers.
static void run_on_all_workers(size_t threads)
{
    struct normalise_call *calls[8];
    struct block *facts = facts_of("chair");

    for (size_t i = 0; i < threads; i++) {
        calls[i] = support_normalise(&world, 0, facts, 200, "{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}");
        support_submit(&pool, &calls[i]->call);
    }
    for (size_t i = 0; i < threads; i++) {
        (void)support_await(&pool);
    }
    for (size_t i = 0; i < threads; i++) {
        assert_verdict(calls[i]->verdict, SCRIPT_OK, "good", text_of(calls[i]->message));
        script_call_destroy(&calls[i]->call);
    }
    block_release(&facts);
}

// ---- what the first calls find

static void the_first_calls_of_a_prepared_set_load_nothing(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    add_good(8);
    support_load(&world);
    start_pool(THREADS);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), THREADS);
    assert_int_equal(count_states(), THREADS);
    for (int i = 0; i < 10; i++) {
        run_on_all_workers(THREADS);
    }
    assert_int_equal(support_counts(&pool).loads, 0);
    assert_int_equal(count_states(), THREADS); // whoever had none took one
}

static void without_a_preparation_each_worker_builds_its_own_state(void **state)
{
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(1);
    run_start_call(world.set);
    assert_int_equal(support_counts(&pool).loads, 3); // a product and two suppliers
    run_start_call(world.set);
    assert_int_equal(support_counts(&pool).loads, 3);
    assert_int_equal(count_states(), 1);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 0); // it has one
    assert_int_equal(count_states(), 1);
}

static void a_set_that_is_prepared_twice_has_no_more_states(void **state)
{
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(2);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 2);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 0);
    assert_int_equal(count_states(), 2);
    run_start_call(world.set);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 0);
    assert_int_equal(count_states(), 2);
    assert_int_equal(support_counts(&pool).loads, 0);
}

static void a_worker_keeps_three_states_and_puts_the_others_aside(void **state)
{
    struct script_set *sets[5];
    (void)state;
    add_good(1);
    support_load(&world);
    start_pool(1);
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        sets[i] = load_set();
        run_start_call(sets[i]);
    }
    assert_int_equal(count_states(), 5);
    assert_int_equal(worker_pool_bury(pool.pool), 2); // of sets that live on
    assert_int_equal(count_states(), 3);
    uint64_t loads = support_counts(&pool).loads;
    run_start_call(sets[4]);
    run_start_call(sets[2]);
    assert_int_equal(support_counts(&pool).loads, loads);
    run_start_call(sets[0]);
    assert_true(support_counts(&pool).loads > loads);
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        script_set_release(&sets[i]);
    }
}

static void on_file(void *context)
{
    ++*(size_t *)context;
}

static bool is_never_hurried(void *context)
{
    (void)context;
    return false;
}

static void a_filled_state_has_everything_loaded_and_no_garbage(void **state)
{
    size_t files = 0;
    struct state_fill fill = { .file_limit_us = 2000000,
                               .end_us = UINT64_MAX,
                               .on_file = on_file,
                               .is_hurried = is_never_hurried,
                               .context = &files };
    (void)state;
    add_good(20);
    support_load(&world);
    struct state *filled = state_create(world.set, 4 << 20);
    assert_true(state_fill_init(&fill, world.set));
    assert_true(state_fill_run(&fill, filled));
    assert_int_equal(files, 21);
    assert_int_equal(filled->loads, 21);
    assert_int_equal(filled->sandbox->used_live, filled->sandbox->heap.used); // the first call has nothing to collect
    assert_int_equal(filled->sandbox->end_cpu_us, 0);                         // nor a limit of another thread
    assert_null(lua_gethook(filled->sandbox->L));
    assert_true(state_fill_run(&fill, filled)); // which loads nothing again
    assert_int_equal(filled->loads, 21);
    state_fill_fini(&fill);
    state_destroy(&filled);
}

// ---- what a set leaves behind

static void a_retired_set_leaves_no_state_though_no_call_comes(void **state)
{
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(3);
    struct script_set *next = load_set();
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 3);
    run_start_call(world.set);
    assert_int_equal(worker_pool_prepare(pool.pool, next, NULL), 3);
    assert_int_equal(count_states(), 6);
    assert_int_equal(worker_pool_bury(pool.pool), 0);     // both are in use
    struct script_set *held = script_set_hold(world.set); // accounts name its hosts
    script_set_release(&world.set);
    assert_int_equal(worker_pool_bury(pool.pool), 3); // used and unused ones
    assert_int_equal(count_states(), 3);
    run_start_call(next);
    assert_int_equal(support_counts(&pool).loads, 0);
    script_set_release(&next);
    assert_int_equal(worker_pool_bury(pool.pool), 3);
    assert_int_equal(count_states(), 0);
    script_set_drop(&held);
}

static void a_retired_set_is_buried_aside(void **state)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(2);
    worker_pool_bury_aside(pool.pool); // there is nothing
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 2);
    run_start_call(world.set);
    worker_pool_bury_aside(pool.pool);
    assert_int_equal(count_states(), 2);
    script_set_release(&world.set);
    worker_pool_bury_aside(pool.pool);
    while (count_states() > 0) {
        nanosleep(&pause, NULL);
    }
}

static void a_state_in_use_is_not_buried(void **state)
{
    (void)state;
    support_add_source(
        &world, "slow",
        "return { name = \"slow\", display_name = \"Slow\", product = \"shop\", owner = \"x@example.com\",\n"
        "  hosts = { \"api.slow.example\" },\n"
        "  build_request = function() stick(8) return { url = \"https://api.slow.example/\" } end,\n"
        "  normalise = function() return {} end }\n");
    support_load(&world);
    start_pool(1);
    struct start_call *calls[40];
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        calls[i] = support_start(&world, "chair");
        support_submit(&pool, &calls[i]->call);
    }
    struct script_set *set = script_set_hold(world.set); // calls stand on a set without an owner, as late ones may
    script_set_release(&world.set);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        (void)worker_pool_bury(pool.pool);
        (void)support_await(&pool);
    }
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        assert_verdict(calls[i]->candidates[0].verdict, SCRIPT_OK, "slow", calls[i]->candidates[0].message);
        script_call_destroy(&calls[i]->call);
    }
    (void)worker_pool_bury(pool.pool);
    assert_int_equal(count_states(), 0);
    script_set_drop(&set);
}

// ---- what goes wrong while a set is prepared

#define SUPPLIER_HEAD                                                                                                  \
    "return { name = \"odd\", display_name = \"Odd\", product = \"shop\", owner = \"x@example.com\",\n"                \
    "  hosts = { \"api.odd.example\" },\n"                                                                             \
    "  build_request = function() return { url = \"https://api.odd.example/\" } end,\n"                                \
    "  normalise = function() return {} end }\n"

/// What the supplier beside `good` brings; all others are served without a load.
static enum script_verdict run_beside(size_t index, char *message, size_t size)
{
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    enum script_verdict verdict = call->candidates[index].verdict;
    snprintf(message, size, "%.*s", TEXT_ARGS(call->candidates[index].message));
    assert_verdict(call->candidates[0].verdict, SCRIPT_OK, "good", call->candidates[0].message);
    script_call_destroy(&call->call);
    return verdict;
}

static void a_file_that_takes_nearly_all_of_its_time_is_prepared(void **state)
{
    (void)state;
    add_good(2);
    size_t odd = support_add_source(&world, "odd", "if is_stick_time() then stick(1500) end\n" SUPPLIER_HEAD);
    support_load(&world);
    start_pool(1);
    atomic_store(&is_stick_time, true);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 1);
    atomic_store(&is_stick_time, false);
    char message[256];
    // Its worker would have given it no more than any function gets.
    assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_OK, "odd", text_of(message));
    assert_int_equal(support_counts(&pool).loads, 0);
}

static void a_file_that_loops_for_ever_is_stopped_once_and_left_to_its_first_call(void **state)
{
    (void)state;
    add_good(2);
    size_t odd = support_add_source(&world, "odd", "while is_stick_time() do end\n" SUPPLIER_HEAD);
    support_load(&world);
    start_pool(3);
    atomic_store(&is_stick_time, true);
    uint64_t begun_us = clock_thread_cpu_us();
    size_t count = worker_pool_prepare(pool.pool, world.set, NULL);
    assert_true(clock_thread_cpu_us() - begun_us < 1000000); // it is not this thread that works
    atomic_store(&is_stick_time, false);
    assert_int_equal(count, 3);
    assert_int_equal(support_counts(&pool).lost, 0);
    char message[256];
    assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_OK, "odd", text_of(message));
    assert_int_equal(support_counts(&pool).loads, 1); // that file
}

static void a_file_that_gets_stuck_is_given_up_and_quarantined(void **state)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    (void)state;
    add_good(2);
    size_t odd = support_add_source(&world, "odd", "if is_stick_time() then stick(3000) end\n" SUPPLIER_HEAD);
    support_load(&world);
    start_pool(2);
    atomic_store(&is_stick_time, true);
    size_t count = worker_pool_prepare(pool.pool, world.set, NULL);
    atomic_store(&is_stick_time, false);
    assert_int_equal(count, 0);
    assert_int_equal(support_counts(&pool).quarantined, 1);
    char message[256];
    assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_ERROR, "odd", text_of(message));
    assert_non_null(strstr(message, "stuck inside a function of C"));
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 1); // without that file
    while (support_counts(&pool).lost > 0) {
        nanosleep(&pause, NULL);
    }
    script_set_release(&world.set);
    (void)worker_pool_bury(pool.pool);
    assert_int_equal(count_states(), 0);
}

static void a_file_that_wants_more_memory_than_a_call_may_have_is_left_to_its_first_call(void **state)
{
    (void)state;
    add_good(3);
    // 8 MiB: its check gives it 32, the pool 4.
    size_t odd = support_add_source(
        &world, "odd", "local big = {}\nfor i = 1, 8 do big[i] = (\"x\"):rep(1024 * 1024) .. i end\n" SUPPLIER_HEAD);
    support_load(&world);
    start_pool(2);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 2);
    assert_int_equal(count_states(), 2);
    run_start_of(world.set, odd); // all others
    assert_int_equal(support_counts(&pool).loads, 0);

    char message[256];
    assert_verdict(run_beside(odd, message, sizeof message), SCRIPT_MEMORY, "odd", text_of(message));
    assert_true(support_counts(&pool).loads > 0);
}

static size_t address_space(void)
{
    long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "re");
    assert_non_null(stream);
    assert_int_equal(fscanf(stream, "%ld", &pages), 1);
    fclose(stream);
    return (size_t)pages * 4096;
}

static void memory_that_the_machine_refuses_is_no_harm(void **state)
{
    (void)state;
    if (!has_honest_memory()) {
        skip(); // a sanitizer does not live with such a limit
    }
    add_good(20);
    support_load(&world);
    start_pool(4);
    size_t fewest = SIZE_MAX;
    size_t most = 0;
    // From not even a stack for the thread to all four states.
    for (size_t more = 0; more <= (size_t)128 << 20; more += 1 << 20) {
        struct rlimit before;
        assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
        const struct rlimit limit = { .rlim_cur = address_space() + more, .rlim_max = before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
        size_t count = worker_pool_prepare(pool.pool, world.set, NULL);
        assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
        assert_int_equal(count, count_states());
        fewest = count < fewest ? count : fewest;
        most = count > most ? count : most;
        if (more % (4 << 20) == 0) {
            run_start_call(world.set);
        }
        for (size_t i = 0; i < world.count; i++) {
            free((void *)(uintptr_t)world.accounts[i].context.data);
        }
        struct script_set *old = world.set;
        support_load(&world);
        script_set_release(&old);
        (void)worker_pool_bury(pool.pool);
        assert_int_equal(count_states(), 0);
    }
    assert_int_equal(fewest, 0);
    assert_int_equal(most, 4);
}

static void a_lost_worker_takes_no_state_with_it_but_the_one_it_is_in(void **state)
{
    (void)state;
    add_good(1);
    support_add_faulty(&world, "stuck", "build_request");
    support_load(&world);
    start_pool(1);
    struct script_set *other = load_set();
    struct script_set *const sets[] = { world.set, other };
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        assert_int_equal(worker_pool_prepare(pool.pool, sets[i], NULL), 1);
        run_start_of(sets[i], 1); // not the one that gets stuck
    }
    assert_int_equal(support_counts(&pool).loads, 0);
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    assert_verdict(call->candidates[1].verdict, SCRIPT_TIMEOUT, "stuck", call->candidates[1].message);
    script_call_destroy(&call->call);

    run_start_of(other, 1); // by another worker, in the state that was left
    assert_int_equal(support_counts(&pool).loads, 0);
    run_start_of(world.set, 1); // in one of its own
    assert_true(support_counts(&pool).loads > 0);
    await_the_lost();
    script_set_release(&other);
}

static void a_hurried_pool_prepares_nothing(void **state)
{
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(2);
    worker_pool_hurry(pool.pool);
    assert_int_equal(worker_pool_prepare(pool.pool, world.set, NULL), 0);
    run_start_call(world.set);
    assert_int_equal(count_states(), 1);
}

// ---- all at once

struct caller {
    pthread_t thread;
    pthread_mutex_t lock; // of `set`
    struct script_set *set;
    atomic_bool is_over;
    uint64_t calls;
    bool has_failed;
};

/// Calls, one after the other, each of the set of that moment, which it owns meanwhile.
static void *call_on(void *context)
{
    struct caller *caller = context;
    struct support_pool *box = &pool;

    while (!atomic_load(&caller->is_over)) {
        pthread_mutex_lock(&caller->lock);
        struct script_set *set = script_set_acquire(caller->set);
        pthread_mutex_unlock(&caller->lock);
        struct start_call *calls[3];
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            calls[i] = support_start(&world, "chair");
            calls[i]->call.set = set;
            support_submit(box, &calls[i]->call);
        }
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            (void)support_await(box);
        }
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            caller->has_failed = caller->has_failed || calls[i]->candidates[0].verdict != SCRIPT_OK;
            script_call_destroy(&calls[i]->call);
        }
        script_set_release(&set);
        caller->calls += COUNT_OF(calls);
    }
    return NULL;
}

static void sets_come_and_go_in_every_order_while_calls_run(void **state)
{
    enum { ROUNDS = 500, LIVE = 3 };
    struct script_set *sets[LIVE] = { NULL };
    struct caller caller = { .calls = 0 };
    unsigned random = 7;
    (void)state;
    add_good(2);
    support_load(&world);
    start_pool(2);
    pthread_mutex_init(&caller.lock, NULL);
    caller.set = script_set_acquire(world.set);
    assert_int_equal(pthread_create(&caller.thread, NULL, call_on, &caller), 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        random = random * 1103515245 + 12345;
        size_t place = (random >> 16) % LIVE;
        script_set_release(&sets[place]); // often the one that is called now, or was never
        if (round % 2 == 0) {
            (void)worker_pool_bury(pool.pool);
        } else {
            worker_pool_bury_aside(pool.pool);
        }
        sets[place] = load_set();
        (void)worker_pool_prepare(pool.pool, sets[place], NULL);
        if ((random >> 20) % 4 != 0) {
            pthread_mutex_lock(&caller.lock);
            struct script_set *before = caller.set;
            caller.set = script_set_acquire(sets[place]);
            pthread_mutex_unlock(&caller.lock);
            script_set_release(&before);
        }
    }
    atomic_store(&caller.is_over, true);
    pthread_join(caller.thread, NULL);
    pthread_mutex_destroy(&caller.lock);
    assert_false(caller.has_failed);
    assert_true(caller.calls > 0);
    script_set_release(&caller.set);
    for (size_t i = 0; i < LIVE; i++) {
        script_set_release(&sets[i]);
    }
    script_set_release(&world.set);
    (void)worker_pool_bury(pool.pool);
    const struct timespec pause = { .tv_nsec = 1000000 };
    while (count_states() > 0) { // some are being buried aside
        nanosleep(&pause, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_calls_of_a_prepared_set_load_nothing, open_all, close_all),
        cmocka_unit_test_setup_teardown(without_a_preparation_each_worker_builds_its_own_state, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_set_that_is_prepared_twice_has_no_more_states, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_worker_keeps_three_states_and_puts_the_others_aside, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_filled_state_has_everything_loaded_and_no_garbage, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_retired_set_leaves_no_state_though_no_call_comes, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_retired_set_is_buried_aside, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_state_in_use_is_not_buried, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_file_that_takes_nearly_all_of_its_time_is_prepared, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_file_that_loops_for_ever_is_stopped_once_and_left_to_its_first_call, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(a_file_that_gets_stuck_is_given_up_and_quarantined, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_file_that_wants_more_memory_than_a_call_may_have_is_left_to_its_first_call,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(memory_that_the_machine_refuses_is_no_harm, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_lost_worker_takes_no_state_with_it_but_the_one_it_is_in, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_hurried_pool_prepares_nothing, open_all, close_all),
        cmocka_unit_test_setup_teardown(sets_come_and_go_in_every_order_while_calls_run, open_all, close_all),
    };
    return cmocka_run_group_tests_name("script_pool_prepare", tests, NULL, NULL);
}
