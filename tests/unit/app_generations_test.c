// Generations: published by one thread, taken by many, freed by one; real ones, built of the folders of the tests.

#include "app/generations.h"

#include "base/clock.h"
#include "script/script_set.h"
#include "unit/app_settings_support.h"

#include <pthread.h>
#include <semaphore.h>

#define DATA "tests/unit/data/generation/"
#define ACME "suppliers_dir: " DATA "suppliers\nscripts_dir: " DATA "scripts\n"

#define LONG_US (UINT64_C(3600) * 1000000) // nobody waits as long

enum { TAKERS = 4, PUBLISHED = 120 };

/// The list, the thread that frees, and what it has seen.
struct yard {
    struct settings *settings;
    struct generations generations;
    sem_t woken;
    atomic_bool is_over;
    pthread_t freer;
    size_t left;              // told of before they were freed
    atomic_bool is_elsewhere; // one was told of on another thread
};

static void yard_wake(void *context)
{
    struct yard *yard = context;
    sem_post(&yard->woken);
}

static void yard_leave(void *context, const struct generation *generation)
{
    struct yard *yard = context;

    yard->left += generation_catalogue(generation)->supplier_count == 2;
    if (!pthread_equal(pthread_self(), yard->freer)) {
        atomic_store(&yard->is_elsewhere, true);
    }
}

static struct generation *yard_build(struct yard *yard)
{
    struct findings findings = { 0 };
    struct generation *generation = NULL;

    assert_int_equal(generation_build(yard->settings, on_finding, &findings, &generation), STATUS_OK);
    return generation;
}

static void yard_open(struct yard *yard)
{
    const char *document = ACME;
    struct findings findings = { 0 };
    const struct generations_hooks hooks = { .wake = yard_wake, .leave = yard_leave, .context = yard };

    *yard = (struct yard){ .freer = pthread_self() };
    assert_int_equal(read_documents(&document, 1, &findings, &yard->settings), STATUS_OK);
    assert_int_equal(sem_init(&yard->woken, 0, 0), 0);
    generations_init(&yard->generations, &hooks);
}

static void yard_close(struct yard *yard)
{
    yard->freer = pthread_self();
    generations_fini(&yard->generations);
    assert_false(atomic_load(&yard->is_elsewhere));
    sem_destroy(&yard->woken);
    settings_release(&yard->settings);
}

static int wakes(struct yard *yard)
{
    int count = 0;
    sem_getvalue(&yard->woken, &count);
    return count;
}

static void what_is_published_last_is_what_one_gets(void **state)
{
    struct yard yard;
    (void)state;

    yard_open(&yard);
    assert_null(generations_current(&yard.generations));
    for (int i = 0; i < 3; i++) {
        struct generation *built = yard_build(&yard);
        uint32_t number = generation_number(built);
        generations_publish(&yard.generations, built);
        struct generation *taken = generations_current(&yard.generations);
        assert_ptr_equal(taken, built);
        assert_int_equal(generation_number(taken), number);
        assert_ptr_equal(generation_settings(taken), yard.settings);
        assert_int_equal(generation_catalogue(taken)->generation, number);
        assert_non_null(generation_catalogue(taken)->ground);
        generation_release(&taken);
        assert_null(taken);
    }
    yard_close(&yard);
    assert_int_equal(yard.left, 3);
}

static void the_last_to_let_go_frees_nothing_but_wakes_the_one_who_does(void **state)
{
    struct yard yard;
    (void)state;

    yard_open(&yard);
    generations_publish(&yard.generations, yard_build(&yard));
    struct generation *old = generations_current(&yard.generations);
    generations_publish(&yard.generations, yard_build(&yard));
    assert_int_equal(generations_live(&yard.generations), 2);
    assert_int_equal(wakes(&yard), 0);
    assert_int_equal(generations_free_ended(&yard.generations), 0); // somebody stands on it
    struct script_set *set = generation_catalogue(old)->set;
    generation_release(&old);
    assert_int_equal(wakes(&yard), 1);
    assert_int_equal(generations_live(&yard.generations), 2);
    assert_false(script_set_is_retired(set)); // there, and whole
    assert_int_equal(generations_free_ended(&yard.generations), 1);
    assert_int_equal(generations_live(&yard.generations), 1);
    assert_int_equal(yard.left, 1);
    yard_close(&yard);
}

static void one_that_was_never_published_goes_where_it_is_let_go(void **state)
{
    struct yard yard;
    (void)state;

    yard_open(&yard);
    struct generation *built = yard_build(&yard);
    generation_release(&built); // the leak checks would tell
    assert_int_equal(wakes(&yard), 0);
    yard_close(&yard);
}

// ------------------------------------------------------------------------------------------------------------- waiting

struct waiter {
    struct yard *yard;
    pthread_t thread;
    uint64_t until_us;
    bool has_room;
};

static void *waiter_main(void *argument)
{
    struct waiter *waiter = argument;
    waiter->has_room = generations_await_room(&waiter->yard->generations, waiter->until_us);
    return NULL;
}

static void publish_three(struct yard *yard, struct generation *old[2])
{
    for (int i = 0; i < GENERATIONS_MAX; i++) {
        assert_true(generations_await_room(&yard->generations, 0)); // there is room, however late it is
        generations_publish(&yard->generations, yard_build(yard));
        if (i < 2) {
            old[i] = generations_current(&yard->generations);
        }
    }
}

static void a_fourth_waits_until_one_of_three_was_freed(void **state)
{
    struct generation *old[2];
    struct yard yard;
    (void)state;

    yard_open(&yard);
    publish_three(&yard, old);
    assert_false(generations_await_room(&yard.generations, clock_now_us() + 1000));
    struct waiter waiter = { .yard = &yard, .until_us = clock_now_us() + LONG_US };
    assert_int_equal(pthread_create(&waiter.thread, NULL, waiter_main, &waiter), 0);
    generation_release(&old[1]); // the younger one may be the first to go
    assert_int_equal(generations_free_ended(&yard.generations), 1);
    pthread_join(waiter.thread, NULL);
    assert_true(waiter.has_room);
    generation_release(&old[0]);
    yard_close(&yard);
    assert_int_equal(yard.left, 3);
}

static void nobody_waits_any_more_when_the_engine_ends(void **state)
{
    struct generation *old[2];
    struct yard yard;
    (void)state;

    yard_open(&yard);
    publish_three(&yard, old);
    struct waiter waiter = { .yard = &yard, .until_us = clock_now_us() + LONG_US };
    assert_int_equal(pthread_create(&waiter.thread, NULL, waiter_main, &waiter), 0);
    generations_close(&yard.generations);
    pthread_join(waiter.thread, NULL);
    assert_false(waiter.has_room);
    generation_release(&old[0]);
    generation_release(&old[1]);
    assert_int_equal(generations_free_ended(&yard.generations), 2);
    assert_false(generations_await_room(&yard.generations, clock_now_us() + LONG_US)); // room or not
    yard_close(&yard);
}

// -------------------------------------------------------------------------------------------------------- many threads

struct taker {
    struct yard *yard;
    pthread_t thread;
    uint64_t taken;
    uint32_t last;
    bool went_back; // a later one had a lower number
};

/// Takes the current one and one hold more, as a search does with its calls, and reads what it stands on.
static void *taker_main(void *argument)
{
    struct taker *taker = argument;

    while (!atomic_load(&taker->yard->is_over)) {
        struct generation *generation = generations_current(&taker->yard->generations);
        struct generation *second = generation_acquire(generation);
        uint32_t number = generation_number(generation);
        const struct catalogue *catalogue = generation_catalogue(generation);
        generation_release(&generation);
        for (size_t i = 0; i < catalogue->supplier_count; i++) {
            const struct script_supplier *script = script_set_supplier(catalogue->set, i);
            taker->taken += script->name.data[0] != '\0' && catalogue->suppliers[i].account->context.length > 0;
        }
        taker->went_back = taker->went_back || number < taker->last;
        taker->last = number;
        generation_release(&second);
    }
    return NULL;
}

/// The control thread: asleep until it is woken.
static void *freer_main(void *argument)
{
    struct yard *yard = argument;

    while (!atomic_load(&yard->is_over)) {
        while (sem_wait(&yard->woken) != 0) {
        }
        (void)generations_free_ended(&yard->generations);
    }
    return NULL;
}

static void many_take_while_one_publishes_and_one_frees(void **state)
{
    struct taker takers[TAKERS] = { 0 };
    struct yard yard;
    size_t most = 0;
    (void)state;

    yard_open(&yard);
    struct generation *first = yard_build(&yard);
    generations_publish(&yard.generations, first);
    assert_int_equal(pthread_create(&yard.freer, NULL, freer_main, &yard), 0);
    for (size_t i = 0; i < TAKERS; i++) {
        takers[i].yard = &yard;
        assert_int_equal(pthread_create(&takers[i].thread, NULL, taker_main, &takers[i]), 0);
    }
    for (size_t i = 0; i < PUBLISHED; i++) {
        struct generation *built = yard_build(&yard);
        assert_true(generations_await_room(&yard.generations, clock_now_us() + LONG_US));
        generations_publish(&yard.generations, built);
        size_t live = generations_live(&yard.generations);
        most = live > most ? live : most;
    }
    assert_in_range(most, 1, GENERATIONS_MAX);
    atomic_store(&yard.is_over, true);
    sem_post(&yard.woken);
    for (size_t i = 0; i < TAKERS; i++) {
        pthread_join(takers[i].thread, NULL);
        assert_false(takers[i].went_back);
        assert_in_range(takers[i].taken, 1, UINT64_MAX);
    }
    pthread_join(yard.freer, NULL);
    yard_close(&yard);
    assert_int_equal(yard.left, PUBLISHED + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_published_last_is_what_one_gets),
        cmocka_unit_test(the_last_to_let_go_frees_nothing_but_wakes_the_one_who_does),
        cmocka_unit_test(one_that_was_never_published_goes_where_it_is_let_go),
        cmocka_unit_test(a_fourth_waits_until_one_of_three_was_freed),
        cmocka_unit_test(nobody_waits_any_more_when_the_engine_ends),
        cmocka_unit_test(many_take_while_one_publishes_and_one_frees),
    };
    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
