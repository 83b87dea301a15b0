#include "bench/policy/clairvoyant.h"
#include "bench/policy/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Runs in the root of the project.
#define FOLDER "tests/bench/policy/"

enum { SEED = 77, SEARCHES = 40, LONGER = 300, LONGER_WARM_UP_US = 4000000, ORDINARY = 200 };

struct world_of_test {
    struct population population;
    struct history history;
    struct trace *trace;
    struct row rows[ROWS_MAX];
    size_t row_count;
};

static void open_world(struct world_of_test *test, const char *population)
{
    struct population_error error = { "" };

    if (!population_read(population, &test->population, &error)) {
        fail_msg("%s", error.text);
    }
    test->population.warm_up_us = 1000000;
    test->population.searches = ORDINARY;
    assert_int_equal(history_read(&test->population, &test->history), STATUS_OK);
    assert_int_equal(trace_create(&test->population, SEED, SEARCHES, &test->trace), STATUS_OK);
    assert_true(rows_make(FOLDER "grid.txt", test->rows, &test->row_count));
}

static const struct row *row_of(const struct world_of_test *test, const char *name)
{
    for (size_t i = 0; i < test->row_count; i++) {
        if (strcmp(test->rows[i].name, name) == 0) {
            return &test->rows[i];
        }
    }
    fail_msg("no row %s", name);
    return NULL;
}

static struct stage *play(const struct world_of_test *test, const char *name)
{
    struct stage *stage;

    assert_int_equal(stage_play(test->trace, row_of(test, name), &test->history, &stage), STATUS_OK);
    return stage;
}

static void two_rows_meet_the_same_trace(void **state)
{
    static struct world_of_test test;
    size_t compared = 0;
    (void)state;

    open_world(&test, FOLDER "hanging-8.txt");
    struct stage *cut = play(&test, "cut at 2 s");
    struct stage *ours = play(&test, "ours");
    for (size_t i = 0; i < test.trace->count * test.population.count; i++) {
        if (cut->first_us[i] != 0 && ours->first_us[i] != 0) {
            assert_int_equal(cut->first_us[i], ours->first_us[i]);
            compared++;
        }
    }
    assert_true(compared > test.trace->count * test.population.count / 2);
    stage_destroy(&cut);
    stage_destroy(&ours);
    trace_destroy(&test.trace);
}

static void a_row_plays_the_same_twice(void **state)
{
    static struct world_of_test test;
    (void)state;

    open_world(&test, FOLDER "healthy.txt");
    struct stage *first = play(&test, "ours");
    struct stage *second = play(&test, "ours");
    for (size_t i = 0; i < test.trace->count; i++) {
        assert_int_equal(first->searches[i].took_us, second->searches[i].took_us);
        assert_int_equal(first->searches[i].answered, second->searches[i].answered);
    }
    stage_destroy(&first);
    stage_destroy(&second);
    trace_destroy(&test.trace);
}

static void a_call_meets_the_same_however_often_it_is_asked(void **state)
{
    static struct world_of_test test;
    struct trace *again;
    (void)state;

    open_world(&test, FOLDER "healthy.txt");
    assert_int_equal(trace_create(&test.population, SEED, SEARCHES, &again), STATUS_OK);
    bool has_differed = false;
    for (size_t search = 0; search < test.trace->count; search++) {
        for (uint32_t number = 0; number < TRACE_CALLS; number++) {
            struct trace_draw here = trace_draw(test.trace, search, 3, 0, number);
            struct trace_draw there = trace_draw(again, search, 3, 0, number);
            assert_int_equal(here.after_us, there.after_us);
            assert_int_equal(here.fate, there.fate);
            has_differed = has_differed || here.after_us != trace_draw(test.trace, search, 3, 0, 0).after_us;
        }
    }
    assert_true(has_differed);
    trace_destroy(&again);
    trace_destroy(&test.trace);
}

static void nobody_beats_the_clairvoyant(void **state)
{
    static const char *const POPULATIONS[] = { "healthy.txt", "hanging-8.txt", "slow.txt", "dead.txt" };
    static struct world_of_test test;
    char path[128];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(POPULATIONS); i++) {
        snprintf(path, sizeof(path), FOLDER "%s", POPULATIONS[i]);
        open_world(&test, path);
        for (size_t r = 0; r < test.row_count; r++) {
            const struct row *row = &test.rows[r];
            if (row->kind == ROW_CLAIRVOYANT || strcmp(row->group, "table") != 0) {
                continue;
            }
            struct stage *stage = play(&test, row->name);
            for (size_t search = 0; search < test.trace->count; search++) {
                struct clairvoyant_reply best = clairvoyant_play(test.trace, search, ROW_BUDGET_US, 1000);
                const struct stage_search *ours = &stage->searches[search];
                double value = ours->took_us <= ROW_BUDGET_US ? trace_worth(test.trace, search, ours->answered) : 0;
                assert_true(value <= trace_worth(test.trace, search, best.answered));
            }
            stage_destroy(&stage);
        }
        trace_destroy(&test.trace);
    }
}

static void without_a_timeout_whoever_would_answer_has_answered(void **state)
{
    static struct world_of_test test;
    (void)state;

    open_world(&test, FOLDER "hanging-8.txt");
    struct stage *stage = play(&test, "no timeout");
    for (size_t search = 0; search < test.trace->count; search++) {
        uint64_t would = 0;
        for (size_t i = 0; i < test.population.count; i++) {
            struct trace_draw draw = trace_draw(test.trace, search, i, 0, 0);
            bool is_in = draw.fate == TRACE_ANSWERS && draw.after_us < ROW_NO_BUDGET_US - 100000;
            would |= is_in ? UINT64_C(1) << i : 0;
        }
        assert_int_equal(stage->searches[search].answered, would);
    }
    stage_destroy(&stage);
    trace_destroy(&test.trace);
}

static void a_row_without_a_feature_shows_nothing_of_it(void **state)
{
    static struct world_of_test test;
    (void)state;

    open_world(&test, FOLDER "hanging-8.txt");
    trace_destroy(&test.trace);
    test.population.warm_up_us = LONGER_WARM_UP_US; // a day of fifty answers: what is slow is known
    assert_int_equal(trace_create(&test.population, SEED, LONGER, &test.trace), STATUS_OK);
    struct stage *ours = play(&test, "ours");
    struct stage *no_retries = play(&test, "ours - retries");
    struct stage *no_hedges = play(&test, "ours - hedges");
    struct stage *no_breakers = play(&test, "ours - breakers");
    struct stage *no_early = play(&test, "ours - early finish");
    uint64_t early = 0;
    for (size_t i = 0; i < test.trace->count; i++) {
        early += ours->searches[i].early;
        assert_int_equal(no_early->searches[i].early, 0);
    }
    assert_true(early > 0);
    assert_true(ours->sums.retries > 0 && ours->sums.hedges > 0 && ours->sums.refused > 0);
    assert_true(no_retries->sums.retries == 0 && no_retries->sums.hedges > 0);
    assert_true(no_hedges->sums.hedges == 0 && no_hedges->sums.retries > 0);
    assert_int_equal(no_breakers->sums.refused, 0);
    stage_destroy(&ours);
    stage_destroy(&no_retries);
    stage_destroy(&no_hedges);
    stage_destroy(&no_breakers);
    stage_destroy(&no_early);
    trace_destroy(&test.trace);
}

static void a_reply_with_a_budget_is_on_time(void **state)
{
    static struct world_of_test test;
    (void)state;

    open_world(&test, FOLDER "slow.txt");
    struct stage *stage = play(&test, "ours");
    for (size_t search = 0; search < test.trace->count; search++) {
        assert_true(stage->searches[search].has_replied);
        assert_true(stage->searches[search].took_us <= ROW_BUDGET_US);
    }
    stage_destroy(&stage);
    trace_destroy(&test.trace);
}

static void what_answers_are_worth_grows_with_them(void **state)
{
    static struct world_of_test test;
    (void)state;

    open_world(&test, FOLDER "healthy.txt");
    uint64_t all = (UINT64_C(1) << test.population.count) - 1, answered = 0;
    double before = 0;
    for (size_t i = 0; i < test.population.count; i++) {
        answered |= UINT64_C(1) << i;
        double worth = trace_worth(test.trace, 5, answered);
        assert_true(worth >= before);
        before = worth;
    }
    assert_int_equal(answered, all);
    assert_true(before == 1.0);
    assert_true(trace_worth(test.trace, 5, 0) == 0);
    assert_true(trace_has_best(test.trace, 5, all));
    assert_false(trace_has_best(test.trace, 5, 0));
    trace_destroy(&test.trace);
}

static void late_replies_are_worth_nothing(void **state)
{
    static struct world_of_test test;
    struct figures figures;
    (void)state;

    open_world(&test, FOLDER "healthy.txt");
    size_t count = test.trace->count - test.trace->first;
    struct figure *searches = calloc(count, sizeof(*searches));
    assert_non_null(searches);
    for (size_t i = 0; i < count; i++) {
        searches[i] = (struct figure){ i % 2 == 0 ? ROW_BUDGET_US : ROW_BUDGET_US + 1, UINT64_MAX >> 24, 1 };
    }
    assert_true(figures_fill(test.trace, searches, &figures));
    assert_true(figures.value > 49.9 && figures.value < 50.1);
    assert_true(figures.value_ever > 99.9);
    assert_true(figures.late_max > 0 && figures.late_max < 0.01);
    free(searches);
    trace_destroy(&test.trace);
}

static void a_population_that_is_wrong_says_where(void **state)
{
    struct population population;
    struct population_error error = { "" };
    (void)state;

    assert_false(population_read(FOLDER "no-such.txt", &population, &error));
    assert_non_null(strstr(error.text, "no-such.txt"));
    assert_false(population_read(FOLDER "seeds.txt", &population, &error));
    assert_non_null(strstr(error.text, "seeds.txt:2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rows_meet_the_same_trace),
        cmocka_unit_test(a_row_plays_the_same_twice),
        cmocka_unit_test(a_call_meets_the_same_however_often_it_is_asked),
        cmocka_unit_test(nobody_beats_the_clairvoyant),
        cmocka_unit_test(without_a_timeout_whoever_would_answer_has_answered),
        cmocka_unit_test(a_row_without_a_feature_shows_nothing_of_it),
        cmocka_unit_test(a_reply_with_a_budget_is_on_time),
        cmocka_unit_test(what_answers_are_worth_grows_with_them),
        cmocka_unit_test(late_replies_are_worth_nothing),
        cmocka_unit_test(a_population_that_is_wrong_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
