// The budget that headers and body make together.
#include "app/budget_headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct budget_range RANGE = { .default_us = 2000000, .min_us = 100000, .max_us = 10000000 };

struct given {
    const char *name, *value;
};

/// What the headers come to; the problem holds what could not be read.
static struct budget_headers take(const struct given *given, size_t count, struct problem *problem)
{
    struct budget_headers headers = { UINT64_MAX, UINT64_MAX };

    problem_init(problem, 422, "bad_request", "The request is not valid");
    for (size_t i = 0; i < count; i++) {
        budget_headers_take(&headers, given[i].name, text_of(given[i].value), problem);
    }
    return headers;
}

static void expect_limit(const char *name, const char *value, uint64_t us)
{
    struct given given = { name, value };
    struct problem problem;
    struct budget_headers headers = take(&given, 1, &problem);

    assert_int_equal(problem.error_count, 0);
    assert_int_equal(headers.wish_us, UINT64_MAX);
    if (headers.limit_us != us) {
        fail_msg("%s: %s is %llu us, not %llu", name, value, (unsigned long long)headers.limit_us,
                 (unsigned long long)us);
    }
}

static void deadlines_of_proxies_are_read_exactly(void **state)
{
    (void)state;
    expect_limit("grpc-timeout", "250m", 250000);
    expect_limit("grpc-timeout", "2S", 2000000);
    expect_limit("grpc-timeout", "1M", 60000000);
    expect_limit("grpc-timeout", "1H", 3600000000);
    expect_limit("grpc-timeout", "99999999H", UINT64_C(359999996400000000));
    expect_limit("grpc-timeout", "1500u", 1500);
    expect_limit("grpc-timeout", "1999n", 1);
    expect_limit("grpc-timeout", "0S", 0);
    expect_limit("x-envoy-expected-rq-timeout-ms", "1500", 1500000);
    expect_limit("x-envoy-expected-rq-timeout-ms", "18446744073709551615", UINT64_MAX - 1);
}

static void what_is_no_time_is_refused_by_the_header_s_name(void **state)
{
    static const struct given cases[] = {
        { "search-budget-ms", "2s" },
        { "search-budget-ms", "" },
        { "search-budget-ms", "0" },
        { "search-budget-ms", "-1" },
        { "search-budget-ms", "1.5" },
        { "search-budget-ms", "3600001" },
        { "search-budget-ms", "700," },
        { "search-budget-ms", "18446744073709551616" },
        { "grpc-timeout", "" },
        { "grpc-timeout", "S" },
        { "grpc-timeout", "10" },
        { "grpc-timeout", "10s" },
        { "grpc-timeout", "123456789m" },
        { "grpc-timeout", "-1S" },
        { "grpc-timeout", "1 S" },
        { "x-envoy-expected-rq-timeout-ms", "1s" },
        { "x-envoy-expected-rq-timeout-ms", "" },
    };
    struct problem problem;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char shown[64];
        (void)take(&cases[i], 1, &problem);
        if (problem.error_count != 1) {
            fail_msg("%s: `%s` was taken", cases[i].name, cases[i].value);
        }
        snprintf(shown, sizeof shown, "header %s: expected", i < 8 ? "Search-Budget-Ms" : cases[i].name);
        assert_memory_equal(problem.errors[0].detail, shown, strlen(shown));
        assert_string_equal(problem.errors[0].pointer, "");
    }
}

static void the_smallest_of_all_wishes_counts(void **state)
{
    static const struct given twice[] = { { "search-budget-ms", "700" }, { "search-budget-ms", "900 , 500,\t800" } };
    struct problem problem;
    struct budget budget;
    struct budget_headers headers = take(twice, COUNT_OF(twice), &problem);

    (void)state;
    assert_int_equal(problem.error_count, 0);
    assert_true(budget_headers_decide(&headers, 0, RANGE, &budget));
    assert_int_equal(budget.requested_us, 500000);
    assert_true(budget_headers_decide(&headers, 600, RANGE, &budget));
    assert_int_equal(budget.requested_us, 500000);
    assert_true(budget_headers_decide(&headers, 300, RANGE, &budget));
    assert_int_equal(budget.requested_us, 300000);
    headers = take(NULL, 0, &problem);
    assert_true(budget_headers_decide(&headers, 0, RANGE, &budget));
    assert_int_equal(budget.effective_us, 2000000);
    assert_true(budget_headers_decide(&headers, 50, RANGE, &budget));
    assert_int_equal(budget.effective_us, 100000);
    assert_true(budget.is_clamped);
}

static void it_is_known_who_decided_the_budget(void **state)
{
    static const struct {
        const char *deadline; // NULL: none
        uint64_t body_ms;
        enum budget_from from;
        uint64_t limit_us;
    } cases[] = {
        { NULL, 0, BUDGET_FROM_DEFAULT, 0 },        { NULL, 2000, BUDGET_FROM_CALLER, 0 },
        { "500m", 0, BUDGET_FROM_CALLER, 500000 },  { "5S", 0, BUDGET_FROM_DEFAULT, 5000000 },
        { "5S", 800, BUDGET_FROM_CALLER, 5000000 },
    };
    struct problem problem;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct given given = { "grpc-timeout", cases[i].deadline };
        struct budget_headers headers = take(&given, cases[i].deadline != NULL ? 1 : 0, &problem);
        struct budget budget;
        assert_true(budget_headers_decide(&headers, cases[i].body_ms, RANGE, &budget));
        assert_int_equal(budget.from, cases[i].from);
        assert_int_equal(budget.limit_us, cases[i].limit_us);
    }
}

static void a_deadline_shortens_and_never_lengthens(void **state)
{
    static const struct {
        const char *deadline;
        uint64_t body_ms, effective_ms;
    } cases[] = {
        { "5S", 0, 2000 },      { "500m", 0, 500 }, { "500m", 3000, 500 }, { "3S", 800, 800 },
        { "1M", 60000, 10000 }, { "100m", 0, 100 }, { "150m", 50, 100 },   { "100m", 10, 100 },
    };
    struct problem problem;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct given given = { "grpc-timeout", cases[i].deadline };
        struct budget_headers headers = take(&given, 1, &problem);
        struct budget budget;
        assert_true(budget_headers_decide(&headers, cases[i].body_ms, RANGE, &budget));
        assert_int_equal(budget.effective_us, cases[i].effective_ms * 1000);
        assert_true(budget.effective_us <= headers.limit_us);
    }
}

static void a_deadline_below_the_least_budget_is_too_short(void **state)
{
    static const char *const deadlines[] = { "99m", "0S", "99999u", "1n" };
    struct problem problem;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
        struct given given = { "grpc-timeout", deadlines[i] };
        struct budget_headers headers = take(&given, 1, &problem);
        struct budget budget;
        assert_false(budget_headers_decide(&headers, 0, RANGE, &budget));
        assert_false(budget_headers_decide(&headers, 5000, RANGE, &budget));
    }
}

static void the_smallest_deadline_counts(void **state)
{
    static const struct given both[] = { { "grpc-timeout", "900m, 800m" },
                                         { "x-envoy-expected-rq-timeout-ms", "850" } };
    struct problem problem;
    struct budget_headers headers = take(both, COUNT_OF(both), &problem);

    (void)state;
    assert_int_equal(headers.limit_us, 800000);
    assert_int_equal(problem.error_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_of_proxies_are_read_exactly),
        cmocka_unit_test(what_is_no_time_is_refused_by_the_header_s_name),
        cmocka_unit_test(the_smallest_of_all_wishes_counts),
        cmocka_unit_test(it_is_known_who_decided_the_budget),
        cmocka_unit_test(a_deadline_shortens_and_never_lengthens),
        cmocka_unit_test(a_deadline_below_the_least_budget_is_too_short),
        cmocka_unit_test(the_smallest_deadline_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
