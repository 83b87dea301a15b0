#include "app/switches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static const struct text ACME = TEXT("acme"), OMNI = TEXT("omni"), MAIN = TEXT("main"), UK = TEXT("uk"), ALL = TEXT("");

static struct switches *made(void)
{
    struct switches *switches = NULL;

    assert_int_equal(switches_create(&switches), STATUS_OK);
    return switches;
}

static struct switch_item item_of(enum switch_kind kind, const char *supplier, const char *account, uint64_t until_us)
{
    struct switch_item item = { .kind = kind, .who = "ann", .why = "a reason", .until_us = until_us };

    (void)snprintf(item.supplier, sizeof(item.supplier), "%s", supplier);
    (void)snprintf(item.account, sizeof(item.account), "%s", account);
    return item;
}

static void set(struct switches *switches, enum switch_kind kind, const char *supplier, const char *account,
                uint64_t until_us)
{
    struct switch_item item = item_of(kind, supplier, account, until_us);

    assert_int_equal(switches_set(switches, &item), STATUS_OK);
}

static bool is_off(struct switches *switches, struct text supplier, struct text account, uint64_t now_us)
{
    return switches_find(switches, SWITCH_ABOUT_ASKING, supplier, account, now_us, NULL);
}

static void nothing_is_switched_off_until_somebody_says_so(void **state)
{
    (void)state;
    struct switches *switches = made();

    assert_false(is_off(switches, ACME, MAIN, 1));
    assert_false(is_off(NULL, ACME, MAIN, 1));
    assert_int_equal(switches_next_us(switches), SWITCH_NEVER);
    switches_destroy(&switches);
    assert_null(switches);
}

static void a_supplier_is_off_with_all_its_accounts_and_an_account_alone(void **state)
{
    (void)state;
    struct switches *switches = made();

    set(switches, SWITCH_DISABLED, "acme", "", SWITCH_NEVER);
    set(switches, SWITCH_DRAINING, "omni", "uk", SWITCH_NEVER);
    assert_true(is_off(switches, ACME, (struct text){ 0 }, 1));
    assert_true(is_off(switches, ACME, UK, 1));
    assert_false(is_off(switches, OMNI, (struct text){ 0 }, 1));
    assert_false(is_off(switches, OMNI, MAIN, 1));
    assert_true(is_off(switches, OMNI, UK, 1));
    assert_false(switches_look(switches, SWITCH_ABOUT_ASKING, ACME, UK, 1, NULL));
    assert_true(switches_look(switches, SWITCH_ABOUT_ASKING, ACME, ALL, 1, NULL));
    switches_destroy(&switches);
}

static void asking_and_breakers_are_two_things_and_of_one_thing_the_last_word_counts(void **state)
{
    (void)state;
    struct switches *switches = made();
    struct switch_item found;
    struct switch_item items[SWITCHES_MAX];

    set(switches, SWITCH_BREAKER_OPEN, "acme", "", SWITCH_NEVER);
    assert_false(is_off(switches, ACME, MAIN, 1));
    set(switches, SWITCH_DISABLED, "acme", "", SWITCH_NEVER);
    set(switches, SWITCH_DRAINING, "acme", "", SWITCH_NEVER);
    set(switches, SWITCH_BREAKER_CLOSED, "acme", "", SWITCH_NEVER);
    assert_int_equal(switches_list(switches, items), 2);
    assert_true(switches_find(switches, SWITCH_ABOUT_ASKING, ACME, MAIN, 1, &found));
    assert_int_equal(found.kind, SWITCH_DRAINING);
    assert_true(switches_find(switches, SWITCH_ABOUT_BREAKER, ACME, MAIN, 1, &found));
    assert_int_equal(found.kind, SWITCH_BREAKER_CLOSED);
    assert_true(switches_remove(switches, SWITCH_ABOUT_ASKING, ACME, ALL));
    assert_false(switches_remove(switches, SWITCH_ABOUT_ASKING, ACME, ALL));
    assert_false(is_off(switches, ACME, MAIN, 1));
    assert_true(switches_find(switches, SWITCH_ABOUT_BREAKER, ACME, MAIN, 1, NULL));
    switches_destroy(&switches);
}

static void what_has_an_end_is_over_at_its_end(void **state)
{
    (void)state;
    struct switches *switches = made();
    struct switch_item over;

    set(switches, SWITCH_DISABLED, "acme", "", 1000);
    set(switches, SWITCH_DISABLED, "omni", "", 2000);
    assert_int_equal(switches_next_us(switches), 1000);
    assert_true(is_off(switches, ACME, MAIN, 999));
    assert_false(is_off(switches, ACME, MAIN, 1000)); // whether somebody has taken it away or not
    assert_false(switches_take_over(switches, 999, &over));
    assert_true(switches_take_over(switches, 1000, &over));
    assert_string_equal(over.supplier, "acme");
    assert_false(switches_take_over(switches, 1000, &over));
    assert_true(is_off(switches, OMNI, MAIN, 1000));
    assert_int_equal(switches_next_us(switches), 2000);
    switches_destroy(&switches);
}

static void there_may_be_so_many_and_no_more(void **state)
{
    (void)state;
    struct switches *switches = made();
    struct switch_item items[SWITCHES_MAX];
    char name[SWITCH_NAME_SIZE];

    for (int i = 0; i < SWITCHES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        set(switches, SWITCH_DISABLED, name, "", SWITCH_NEVER);
    }
    struct switch_item item = item_of(SWITCH_DISABLED, "one_more", "", SWITCH_NEVER);
    assert_int_equal(switches_set(switches, &item), STATUS_FULL);
    set(switches, SWITCH_DRAINING, "s7", "", SWITCH_NEVER); // in the place of another
    assert_int_equal(switches_list(switches, items), SWITCHES_MAX);
    assert_true(switches_remove(switches, SWITCH_ABOUT_ASKING, TEXT("s0"), ALL));
    assert_int_equal(switches_set(switches, &item), STATUS_OK);
    assert_true(is_off(switches, TEXT("s255"), MAIN, 1));
    assert_true(is_off(switches, TEXT("one_more"), MAIN, 1));
    assert_false(is_off(switches, TEXT("s0"), MAIN, 1));
    switches_destroy(&switches);
}

enum { LOOKERS = 3, ROUNDS = 20000 };

struct shared {
    struct switches *switches;
    atomic_int ready;
    atomic_bool is_over;
    atomic_int torn;
};

static void *be_a_loop(void *argument)
{
    struct shared *shared = argument;
    struct switch_item found;

    atomic_fetch_add(&shared->ready, 1);
    while (!atomic_load(&shared->is_over)) {
        if (switches_find(shared->switches, SWITCH_ABOUT_ASKING, ACME, MAIN, 1, &found) &&
            found.who[0] != found.why[0]) {
            atomic_fetch_add(&shared->torn, 1);
        }
    }
    return NULL;
}

static void loops_see_a_switch_whole_while_it_is_changed(void **state)
{
    (void)state;
    struct shared shared = { .switches = made() };
    pthread_t threads[LOOKERS];

    for (size_t i = 0; i < LOOKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_loop, &shared), 0);
    }
    while (atomic_load(&shared.ready) < LOOKERS) {
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct switch_item item = item_of(SWITCH_DISABLED, "acme", "", SWITCH_NEVER);
        item.who[0] = item.why[0] = (char)('a' + round % 26);
        assert_int_equal(switches_set(shared.switches, &item), STATUS_OK);
        if (round % 3 == 0) {
            assert_true(switches_remove(shared.switches, SWITCH_ABOUT_ASKING, ACME, ALL));
        }
    }
    atomic_store(&shared.is_over, true);
    for (size_t i = 0; i < LOOKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(shared.torn, 0);
    switches_destroy(&shared.switches);
}

static void a_time_is_written_as_operators_write_it(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint64_t us;
    } TIMES[] = {
        { "30m", 1800000000 },         { "90s", 90000000 },   { "1.5h", 0 },
        { "2h", 7200000000 },          { "5min", 300000000 }, { "1s", 1000000 },
        { "366d", SWITCH_LONGEST_US },
    };
    static const char *const NONE[] = { "",  "0s",  "999ms", "367d", "30",
                                        "m", "-1m", "1 m",   "soon", "99999999999999999999m" };
    struct value_problem problem;
    uint64_t us = 0;

    for (size_t i = 0; i < COUNT_OF(TIMES); i++) {
        assert_true(switch_read_for(text_of(TIMES[i].words), &us, &problem));
        assert_int_equal(us, TIMES[i].us != 0 ? TIMES[i].us : 5400000000);
    }
    for (size_t i = 0; i < COUNT_OF(NONE); i++) {
        assert_false(switch_read_for(text_of(NONE[i]), &us, &problem));
        assert_non_null(problem.help);
    }
}

static void people_are_told_who_until_when_and_why(void **state)
{
    (void)state;
    struct switch_item item = item_of(SWITCH_DISABLED, "acme", "", 5000000);
    char words[128];

    switch_print(&item, 3000000, UINT64_C(1796072513000000), words, sizeof(words));
    assert_string_equal(words, "by ann until 2026-11-30T21:01:55.000Z: a reason");
    item = item_of(SWITCH_DISABLED, "acme", "", SWITCH_NEVER);
    item.who[0] = item.why[0] = '\0';
    switch_print(&item, 3000000, 0, words, sizeof(words));
    assert_string_equal(words, "by an operator");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_switched_off_until_somebody_says_so),
        cmocka_unit_test(a_supplier_is_off_with_all_its_accounts_and_an_account_alone),
        cmocka_unit_test(asking_and_breakers_are_two_things_and_of_one_thing_the_last_word_counts),
        cmocka_unit_test(what_has_an_end_is_over_at_its_end),
        cmocka_unit_test(there_may_be_so_many_and_no_more),
        cmocka_unit_test(loops_see_a_switch_whole_while_it_is_changed),
        cmocka_unit_test(a_time_is_written_as_operators_write_it),
        cmocka_unit_test(people_are_told_who_until_when_and_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
