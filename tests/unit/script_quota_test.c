#include "unit/script_pool_stage.h"

#include "script/wait.h"

// 2027-05-03T20:05:00Z, a Monday
#define MAY_S INT64_C(1809374700)
#define DAY_MS UINT64_C(86400000)

static void check_wait(struct wait wait, const char *spelling, uint64_t after_ms, int64_t at_s)
{
    if (wait.after_ms != after_ms || wait.at_s != at_s) {
        fail_msg("%s: after %llu ms, at %lld s", spelling, (unsigned long long)wait.after_ms, (long long)wait.at_s);
    }
}

static void every_spelling_of_a_wait_is_read_and_nonsense_was_not_said(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t after_ms;
        int64_t at_s;
    } rows[] = {
        { "3600", 3600000, 0 },
        { " 7 ", 7000, 0 },
        { "Mon, 03 May 2027 20:05:00 GMT", 0, MAY_S },
        { "2027-05-03T20:05:00Z", 0, MAY_S },
        { "2027-05-03T21:05:00+01:00", 0, MAY_S },
        { "Fri, 31 Dec 99999 23:59:59 GMT", DAY_MS, 0 }, // far away
        { "Wed, 29 Feb 100000 23:59:59 GMT", DAY_MS, 0 },
        { "999999999999999", DAY_MS, 0 },
        { "9223372036854775808", DAY_MS, 0 },
        { "18446744073709551616000000000000000000000000000000000000000000", DAY_MS, 0 },
        { "1.5", 1500, 0 },
        { "0.0001", 1, 0 },
        { ".5", 500, 0 },
        { "1.5.2", 0, 0 },
        { ".", 0, 0 },
        { "-0.5", 0, 0 },
        { "nan", 0, 0 },
        { "inf", 0, 0 },
        { "0x10", 0, 0 },
        { "1, 5", 1000, 0 },
        { "20, x", 20000, 0 },
        { ", 5", 0, 0 },
        { "0", 0, 0 },
        { "-1", 0, 0 },
        { "2abc", 0, 0 },
        { "abc", 0, 0 },
        { "", 0, 0 },
        { "1e3", 0, 0 },
        { "Mon, 03 May 2027", 0, 0 },
        { "Tue, 03 May 2027 20:05:00 GMT", 0, 0 },
        { "Fri, 99 Dec 99999 23:59:59 GMT", 0, 0 },
        { "Fri, 31 Dec 999999999999999999999999999999999 23:59:59 GMT", 0, 0 },
        { "2027-05-03", 0, 0 },
        { "2027-05-03T20:05:00", 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_wait(wait_of_text(text_of(rows[i].text)), rows[i].text, rows[i].after_ms, rows[i].at_s);
    }
    check_wait(wait_of_text((struct text){ 0 }), "absent", 0, 0);
    check_wait(wait_of_seconds(1.0005), "1.0005", 1001, 0);
    check_wait(wait_of_seconds(-1), "-1", 0, 0);
    check_wait(wait_of_seconds(0.0 / 0.0), "NaN", 0, 0);
    check_wait(wait_of_seconds(1.0 / 0.0), "inf", DAY_MS, 0);
}

static void the_reset_of_a_quota_is_an_instant_unless_its_number_is_too_small(void **state)
{
    (void)state;
    check_wait(wait_of_reset((double)MAY_S), "seconds", 0, MAY_S);
    check_wait(wait_of_reset((double)MAY_S * 1000), "milliseconds", 0, MAY_S);
    check_wait(wait_of_reset(30), "30", 30000, 0);
    check_wait(wait_of_reset(-30), "-30", 0, 0);
    check_wait(wait_of_reset(0.0 / 0.0), "NaN", 0, 0);
    check_wait(wait_of_reset(1e300), "1e300", 0, INT64_C(100000000000));
    check_wait(wait_of_reset_text(TEXT("1809374700")), "text", 0, MAY_S);
    check_wait(wait_of_reset_text(TEXT("60")), "60", 60000, 0);
    check_wait(wait_of_reset_text(TEXT("2027-05-03T20:05:00Z")), "iso", 0, MAY_S);
    check_wait(wait_of_reset_text(TEXT("soon")), "soon", 0, 0);
}

static void an_instant_is_as_far_away_as_the_clock_says(void **state)
{
    (void)state;
    uint64_t may_us = (uint64_t)MAY_S * 1000000;
    struct wait until = { .at_s = MAY_S };

    assert_int_equal(wait_left_ms(until, may_us - 5000000), 5000);
    assert_int_equal(wait_left_ms(until, may_us), 0);
    assert_int_equal(wait_left_ms(until, may_us + 1), 0); // it is past: nothing was said
    assert_int_equal(wait_left_ms(until, 0), DAY_MS);
    assert_int_equal(wait_left_ms((struct wait){ .after_ms = 7 }, may_us), 7);
    assert_int_equal(wait_left_ms((struct wait){ 0 }, may_us), 0);
}

// ---- through the pool ----------------------------------------------------------------------------------------------

static struct block *facts;

static int open_quota(void **state)
{
    int error = open_all(state);
    support_add(&world, "quota", SUPPORT_DATA "/suppliers/quota.lua");
    support_load(&world);
    start_pool(1);
    facts = facts_of("chair");
    return error;
}

static int close_quota(void **state)
{
    block_release(&facts);
    return close_all(state);
}

struct told {
    enum script_verdict verdict;
    bool is_quota_used;
    uint64_t quota_wait_ms, retry_after_ms;
    char message[256];
};

static struct told tell(uint16_t status, const char *retry_after, const char *body)
{
    struct normalise_call *call = support_normalise(&world, 0, facts, status, body);
    if (retry_after != NULL) {
        call->response->headers = malloc(sizeof(struct header));
        assert_non_null(call->response->headers);
        call->response->headers[0] = (struct header){ TEXT("retry-after"), text_of(retry_after) };
        call->response->header_count = 1;
    }
    support_run(&pool, &call->call);
    struct told told = { call->verdict, call->is_quota_used, call->quota_wait_ms, call->retry_after_ms, "" };
    memcpy(told.message, call->message, sizeof told.message);
    script_call_destroy(&call->call);
    return told;
}

static void limits_are_read_from_the_script(void **state)
{
    (void)state;
    struct request_limits limits = script_set_supplier(world.set, 0)->limits;

    assert_int_equal(limits.per_second, 40);
    assert_int_equal(limits.per_minute, 1000);
    assert_int_equal(limits.per_day, 50000);
    assert_int_equal(limits.concurrent, 64);
}

static void a_quota_is_used_when_nothing_remains(void **state)
{
    (void)state;
    static const struct {
        const char *quota;
        bool is_used;
        uint64_t wait_ms;
    } rows[] = {
        { "{\"remaining\":0,\"reset_at\":60}", true, 60000 },
        { "{\"remaining\":\"0\",\"reset_at\":\"60\"}", true, 60000 },
        { "{\"remaining\":-3}", true, 0 },
        { "{\"remaining\":0.5}", true, 0 },
        { "{\"remaining\":0,\"reset_at\":\"2abc\"}", true, 0 },
        { "{\"remaining\":0,\"reset_at\":\"2001-09-10T00:00:00Z\"}", true, 0 }, // past
        { "{\"remaining\":0,\"reset_at\":\"Fri, 31 Dec 99999 23:59:59 GMT\"}", true, DAY_MS },
        { "{\"remaining\":1,\"reset_at\":60}", false, 60000 },
        { "{\"remaining\":\"many\"}", false, 0 },
        { "{\"reset_at\":60}", false, 60000 },
        { "{}", false, 0 },
        { "null", false, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char body[200];
        for (int is_empty = 0; is_empty < 2; is_empty++) {
            snprintf(body, sizeof body, "{\"quota\":%s,\"is_empty\":%s}", rows[i].quota, is_empty ? "true" : "false");
            struct told told = tell(200, NULL, body);
            assert_verdict(told.verdict, is_empty ? SCRIPT_EMPTY : SCRIPT_OK, rows[i].quota, text_of(told.message));
            assert_int_equal(told.is_quota_used, rows[i].is_used);
            assert_int_equal(told.quota_wait_ms, rows[i].wait_ms);
        }
    }
}

static void a_quota_that_is_none_is_a_mistake_of_the_script(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "7", "`quota` must be a table" },
        { "{\"left\":1}", "unknown field `left`" },
        { "{\"remaining\":true}", "`quota.remaining` must be a number or text, not a boolean" },
        { "{\"remaining\":0,\"reset_at\":{}}", "`quota.reset_at` must be a number or text, not a table" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char body[200];
        snprintf(body, sizeof body, "{\"quota\":%s}", rows[i][0]);
        struct told told = tell(200, NULL, body);
        assert_int_equal(told.verdict, SCRIPT_ERROR);
        assert_non_null(strstr(told.message, rows[i][1]));
    }
}

static void a_next_step_with_an_unknown_field_says_where_it_belongs(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "{\"method\":\"GET\"}", "next: unknown field `method`: the request goes into `next.request`" },
        { "{\"stat\":1}", "next: unknown field `stat`, did you mean `state`?" },
        { "{\"cursor\":1}", "next: unknown field `cursor`; there are `after_ms`, `request`, `state`" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char body[200];
        snprintf(body, sizeof body, "{\"next\":%s}", rows[i][0]);
        struct told told = tell(200, NULL, body);
        assert_int_equal(told.verdict, SCRIPT_ERROR);
        if (strstr(told.message, rows[i][1]) == NULL) {
            fail_msg("expected `%s` in: %s", rows[i][1], told.message);
        }
    }
}

static void a_refusal_by_quota_waits_as_its_script_says_or_else_its_header(void **state)
{
    (void)state;
    assert_int_equal(tell(429, "9", "{\"fail\":true,\"retry_after\":7}").retry_after_ms, 7000);
    assert_int_equal(tell(429, "9", "{\"fail\":true}").retry_after_ms, 9000);
    assert_int_equal(tell(200, "9", "{\"fail\":true,\"retry_after\":\"2abc\"}").retry_after_ms, 9000);
    assert_int_equal(tell(429, "2abc", "{\"fail\":true}").retry_after_ms, 0);
    assert_int_equal(tell(429, NULL, "{\"fail\":true}").retry_after_ms, 0);
    assert_int_equal(tell(429, "9", "{\"is_empty\":true}").retry_after_ms, 9000); // the script looked at no status
    assert_int_equal(tell(429, "9", "no JSON").retry_after_ms, 9000);
    assert_int_equal(tell(503, "9", "{\"is_empty\":true}").retry_after_ms, 9000); // busy
    assert_int_equal(tell(500, "9", "{\"is_empty\":true}").retry_after_ms, 0);    // neither
    assert_int_equal(tell(200, "9", "{\"is_empty\":true}").retry_after_ms, 0);
    // dates, against the search's own clock
    assert_int_equal(
        tell(429, NULL, "{\"fail\":true,\"retry_after\":\"Fri, 31 Dec 9999 23:59:59 GMT\"}").retry_after_ms, DAY_MS);
    assert_int_equal(
        tell(429, NULL, "{\"fail\":true,\"retry_after\":\"Mon, 01 Jan 2001 00:00:00 GMT\"}").retry_after_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_wait_is_read_and_nonsense_was_not_said),
        cmocka_unit_test(the_reset_of_a_quota_is_an_instant_unless_its_number_is_too_small),
        cmocka_unit_test(an_instant_is_as_far_away_as_the_clock_says),
        cmocka_unit_test_setup_teardown(limits_are_read_from_the_script, open_quota, close_quota),
        cmocka_unit_test_setup_teardown(a_quota_is_used_when_nothing_remains, open_quota, close_quota),
        cmocka_unit_test_setup_teardown(a_quota_that_is_none_is_a_mistake_of_the_script, open_quota, close_quota),
        cmocka_unit_test_setup_teardown(a_next_step_with_an_unknown_field_says_where_it_belongs, open_quota,
                                        close_quota),
        cmocka_unit_test_setup_teardown(a_refusal_by_quota_waits_as_its_script_says_or_else_its_header, open_quota,
                                        close_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
