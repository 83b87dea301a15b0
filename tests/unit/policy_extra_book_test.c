#include "policy/extra_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND UINT64_C(1000000)

static const uint64_t NOW = 5000 * SECOND;
static struct extra_book book;
static struct extra_engine engine;
static struct latency latency;
static struct latency_curve curve;
static struct extra_state state;
static bool is_overloaded;

/// Answers of a supplier take `ms`, its calls earn these shares.
static void begin(uint64_t ms, double per_supplier, double of_engine)
{
    extra_engine_init(&engine);
    extra_engine_set(&engine,
                     (struct extra_settings){ .is_on = true, .per_supplier = per_supplier, .engine = of_engine });
    extra_book_init(&book);
    latency_init(&latency);
    for (int i = 0; i < 200; i++) {
        latency_arrived(&latency, ms * MS, 10, NOW);
    }
    (void)latency_fit(&latency, NOW, &curve);
    state = (struct extra_state){ .curve = &curve, .is_closed = true };
    extra_book_value(&book, 10);
}

static struct extra_times call(uint64_t left_ms)
{
    struct extra_call ordinary = { .left_us = left_ms * MS, .may_hedge = true };
    return extra_book_call(&book, &engine, &state, &ordinary, NOW);
}

static enum extra_answer ask(enum extra_kind kind, uint64_t elapsed_ms, uint64_t left_ms)
{
    struct extra_question question = {
        .kind = kind, .elapsed_us = elapsed_ms * MS, .left_us = left_ms * MS, .is_overloaded = is_overloaded
    };
    return extra_book_ask(&book, &engine, &state, &question, NOW);
}

static void tell(enum extra_kind kind, enum extra_fate fate, uint64_t loser_ms)
{
    struct extra_result result = { kind, fate, loser_ms * MS };
    extra_book_tell(&book, &engine, &latency, &result, NOW);
}

static void calls_earn_for_their_account_and_for_the_engine(void **given)
{
    (void)given;
    begin(100, 0.5, 0.25);
    for (int i = 0; i < 4; i++) {
        (void)call(1000);
    }
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_YES);
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_ALLOWANCE); // the engine's is used up
    assert_true(allowance_left(&book.allowance, NOW) > 0.9);      // and none of the account's was taken for it
    assert_int_equal(book.counts.sent[EXTRA_RETRY], 1);
    assert_int_equal(book.counts.refused[EXTRA_ALLOWANCE], 1);
    begin(100, 0.25, 0.5);
    for (int i = 0; i < 4; i++) {
        (void)call(1000);
    }
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_YES);
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_ALLOWANCE);
    assert_true(allowance_left(&engine.allowance, NOW) > 0.9);
}

static void what_was_not_sent_costs_nothing(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    (void)call(1000);
    (void)call(1000);
    assert_int_equal(ask(EXTRA_HEDGE, 150, 800), EXTRA_YES);
    tell(EXTRA_HEDGE, EXTRA_NOT_SENT, 0);
    assert_int_equal(book.counts.sent[EXTRA_HEDGE], 0);
    assert_int_equal(ask(EXTRA_HEDGE, 150, 800), EXTRA_YES);
    assert_int_equal(ask(EXTRA_HEDGE, 150, 800), EXTRA_ALLOWANCE);
}

static void a_hedge_is_thought_of_when_the_first_is_late(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    struct extra_times times = call(1000);
    assert_true(times.hedge_us > 95 * MS && times.hedge_us < 115 * MS);
    assert_true(times.connect_us == UINT64_MAX);
    assert_true(call(150).hedge_us == UINT64_MAX); // when it would be late, a second one would be later
    struct extra_call plain = { .left_us = 1000 * MS };
    assert_true(extra_book_call(&book, &engine, &state, &plain, NOW).hedge_us == UINT64_MAX);
    plain = (struct extra_call){ .left_us = 1000 * MS, .may_hedge = true, .call_cost = 50 };
    assert_true(extra_book_call(&book, &engine, &state, &plain, NOW).hedge_us == UINT64_MAX);
}

static void a_connect_is_raced_when_nearly_all_are_there(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    for (int i = 0; i < 200; i++) {
        extra_book_connected(&book, 60 * MS, NOW);
    }
    extra_book_connected(&book, 60 * MS, NOW + SECOND);
    struct extra_times times = call(1000);
    assert_true(times.connect_us >= 60 * MS && times.connect_us < 64 * MS);
    (void)call(1000);
    assert_int_equal(ask(EXTRA_CONNECT, 30, 900), EXTRA_TOO_SOON);
    assert_int_equal(ask(EXTRA_CONNECT, 70, 900), EXTRA_YES);
}

static void a_refusal_for_quota_stands_for_ten_seconds(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    (void)call(1000);
    (void)call(1000);
    extra_book_quota(&book, NOW - 9 * SECOND);
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_QUOTA);
    extra_book_quota(&book, NOW - 11 * SECOND);
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_YES);
}

static void under_pressure_there_are_none(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    (void)call(1000);
    (void)call(1000);
    is_overloaded = true;
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_OVERLOAD);
    assert_int_equal(book.counts.refused[EXTRA_OVERLOAD], 1);
    is_overloaded = false;
    assert_int_equal(ask(EXTRA_RETRY, 10, 900), EXTRA_YES);
}

static void pairs_that_are_late_together_make_hedges_worth_less(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    assert_true(extra_rho(&book.pairs) == 0.5);
    for (int i = 0; i < 50; i++) {
        tell(EXTRA_HEDGE, EXTRA_LATE, 0);
    }
    double late = extra_rho(&book.pairs);
    assert_true(late > 0.9);
    tell(EXTRA_HEDGE, EXTRA_WASTED, 0); // the first was in time: that says nothing
    tell(EXTRA_RETRY, EXTRA_WON, 0);
    assert_true(extra_rho(&book.pairs) == late);
    for (int i = 0; i < 200; i++) {
        tell(EXTRA_HEDGE, EXTRA_WON, 0);
    }
    assert_true(extra_rho(&book.pairs) < 0.2);
}

static void a_loser_is_censored_and_never_a_failure(void **given)
{
    (void)given;
    begin(100, 0.5, 0.5);
    tell(EXTRA_HEDGE, EXTRA_WON, 300);
    float censored = 0, errors = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        censored += latency.lasting.censored[i];
        errors += latency.lasting.errors[i];
    }
    assert_true(censored > 0.99F);
    assert_true(errors == 0);
    tell(EXTRA_HEDGE, EXTRA_WON, 0); // it had ended by itself
    assert_true(latency.lasting.censored[latency_bucket(300 * MS)] <= censored);
}

static void counts_add_up(void **given)
{
    (void)given;
    uint64_t sums[4] = { 0 };
    struct extra_counts counts = { .sent = { 1, 2, 3 }, .won = { 1, 1, 1 }, .wasted = { 0, 1, 2 } };
    counts.refused[EXTRA_ALLOWANCE] = 4;
    counts.refused[EXTRA_BUSY] = 5;
    extra_counts_sum(&counts, sums);
    assert_int_equal(sums[0], 6);
    assert_int_equal(sums[1], 3);
    assert_int_equal(sums[2], 3);
    assert_int_equal(sums[3], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_earn_for_their_account_and_for_the_engine),
        cmocka_unit_test(what_was_not_sent_costs_nothing),
        cmocka_unit_test(a_hedge_is_thought_of_when_the_first_is_late),
        cmocka_unit_test(a_connect_is_raced_when_nearly_all_are_there),
        cmocka_unit_test(a_refusal_for_quota_stands_for_ten_seconds),
        cmocka_unit_test(under_pressure_there_are_none),
        cmocka_unit_test(pairs_that_are_late_together_make_hedges_worth_less),
        cmocka_unit_test(a_loser_is_censored_and_never_a_failure),
        cmocka_unit_test(counts_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
