#include "policy/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS UINT64_C(1000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static enum quota_answer ask(struct quota *quota, uint64_t now_us, uint64_t *wait_us)
{
    enum quota_answer answer = quota_begin(quota, now_us, wait_us);
    if (answer == QUOTA_FREE) {
        quota_end(quota);
    }
    return answer;
}

static void without_limits_every_request_is_free(void **state)
{
    (void)state;
    struct quota quota;
    uint64_t wait_us = 1;

    quota_init(&quota, (struct request_limits){ 0 });
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(quota_begin(&quota, 5 * DAY, &wait_us), QUOTA_FREE);
    }
    assert_int_equal(wait_us, 0);
    assert_int_equal(quota.running, 100000);
    assert_int_equal(quota_used(&quota, QUOTA_DAY, 5 * DAY), 100000);
}

struct row {
    struct request_limits limits;
    uint64_t span_us;
    uint32_t limit;
    enum quota_answer answer;
};

static const struct row ROWS[] = {
    { { .per_second = 1 }, SECOND, 1, QUOTA_PER_SECOND }, { { .per_second = 40 }, SECOND, 40, QUOTA_PER_SECOND },
    { { .per_minute = 7 }, MINUTE, 7, QUOTA_PER_MINUTE }, { { .per_minute = 1000 }, MINUTE, 1000, QUOTA_PER_MINUTE },
    { { .per_day = 3 }, DAY, 3, QUOTA_PER_DAY },          { { .per_day = 5000 }, DAY, 5000, QUOTA_PER_DAY },
};

static void no_stretch_of_its_length_sees_more_than_a_rate(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(ROWS); r++) {
        const struct row *row = &ROWS[r];
        static uint64_t sent_us[20000];
        size_t sent = 0;
        uint64_t now_us = 3 * DAY + 12345, wait_us = 0;
        uint64_t end_us = now_us + 4 * row->span_us;
        struct quota quota;

        quota_init(&quota, row->limits);
        while (now_us < end_us && sent < COUNT_OF(sent_us)) { // as greedily as can be
            enum quota_answer answer = ask(&quota, now_us, &wait_us);
            if (answer == QUOTA_FREE) {
                sent_us[sent++] = now_us;
                assert_true(sent <= row->limit || now_us - sent_us[sent - 1 - row->limit] >= row->span_us);
                now_us += 7;
            } else {
                assert_int_equal(answer, row->answer);
                assert_in_range(wait_us, 1, row->span_us + row->span_us / QUOTA_SLOTS);
                now_us += wait_us;
            }
        }
        // and what it costs is a slot of waiting for each window
        assert_in_range(sent, 3 * (size_t)row->limit, 5 * (size_t)row->limit);
    }
}

static void the_wait_that_is_told_is_the_shortest(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(ROWS); r++) {
        const struct row *row = &ROWS[r];
        uint64_t now_us = 3 * DAY + 777 * MS, wait_us = 0;
        struct quota quota, earlier;

        quota_init(&quota, row->limits);
        while (ask(&quota, now_us, &wait_us) == QUOTA_FREE) {
            now_us += row->span_us / 2 / row->limit;
        }
        earlier = quota;
        assert_int_equal(ask(&earlier, now_us + wait_us - 1, &(uint64_t){ 0 }), row->answer);
        assert_int_equal(ask(&quota, now_us + wait_us, &(uint64_t){ 0 }), QUOTA_FREE);
    }
}

static void of_several_full_windows_the_longest_wait_is_told(void **state)
{
    (void)state;
    struct quota quota;
    uint64_t wait_us = 0;

    quota_init(&quota, (struct request_limits){ .per_second = 2, .per_minute = 2, .per_day = 100 });
    assert_int_equal(ask(&quota, DAY, &wait_us), QUOTA_FREE);
    assert_int_equal(ask(&quota, DAY, &wait_us), QUOTA_FREE);
    assert_int_equal(ask(&quota, DAY, &wait_us), QUOTA_PER_MINUTE);
    assert_in_range(wait_us, 60 * SECOND, 63 * SECOND);
    assert_int_equal(ask(&quota, DAY + 2 * SECOND, &wait_us), QUOTA_PER_MINUTE);
    assert_int_equal(quota_used(&quota, QUOTA_SECOND, DAY + 2 * SECOND), 0);
    assert_int_equal(quota_used(&quota, QUOTA_MINUTE, DAY + 2 * SECOND), 2);
    assert_int_equal(quota_used(&quota, QUOTA_MINUTE, DAY + 2 * MINUTE), 0);
    assert_int_equal(quota_used(&quota, QUOTA_DAY, DAY + 2 * MINUTE), 2);
}

static void searches_leave_a_share_of_each_rate_to_revalidations(void **state)
{
    static const struct {
        struct request_limits limits;
        uint32_t searches, revalidations;
        enum quota_answer answer;
    } SHARES[] = {
        { { .per_second = 40, .kept_share = 100000 }, 36, 4, QUOTA_PER_SECOND },
        { { .per_minute = 100, .kept_share = 100000 }, 90, 10, QUOTA_PER_MINUTE },
        { { .per_day = 50, .kept_share = 500000 }, 25, 25, QUOTA_PER_DAY },
        { { .per_day = 9, .kept_share = 100000 }, 9, 0, QUOTA_PER_DAY }, // not one whole request
        { { .per_day = 10, .kept_share = 100000 }, 9, 1, QUOTA_PER_DAY },
        { { .per_day = 1, .kept_share = 1000000 }, 1, 0, QUOTA_PER_DAY }, // never all
        { { .per_minute = 100 }, 100, 0, QUOTA_PER_MINUTE },
        { { .per_second = 20, .per_minute = 10, .kept_share = 200000 }, 8, 2, QUOTA_PER_MINUTE },
    };
    struct quota quota;
    uint64_t wait_us = 0;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
        quota_init(&quota, SHARES[i].limits);
        for (uint32_t n = 0; n < SHARES[i].searches; n++) {
            assert_int_equal(ask(&quota, DAY, &wait_us), QUOTA_FREE);
        }
        assert_int_equal(ask(&quota, DAY, &wait_us), SHARES[i].answer);
        assert_true(wait_us > 0); // and then one more may go
        assert_int_equal(ask(&(struct quota[1]){ quota }[0], DAY + wait_us, &(uint64_t){ 0 }), QUOTA_FREE);
        for (uint32_t n = 0; n < SHARES[i].revalidations; n++) {
            assert_int_equal(quota_begin_kept(&quota, DAY, &wait_us), QUOTA_FREE);
        }
        assert_int_equal(quota_begin_kept(&quota, DAY, &wait_us), SHARES[i].answer);
        assert_int_equal(ask(&quota, DAY, &wait_us), SHARES[i].answer);
    }
}

static void a_refused_request_counts_nowhere(void **state)
{
    (void)state;
    struct quota quota;
    uint64_t wait_us = 0;

    quota_init(&quota, (struct request_limits){ .per_minute = 5, .concurrent = 1 });
    assert_int_equal(quota_begin(&quota, DAY, &wait_us), QUOTA_FREE);
    assert_int_equal(quota_begin(&quota, DAY, &wait_us), QUOTA_CONCURRENT);
    assert_int_equal(wait_us, 0);
    assert_int_equal(quota.running, 1);
    assert_int_equal(quota_used(&quota, QUOTA_MINUTE, DAY), 1);
    quota_end(&quota);
    assert_int_equal(quota_begin(&quota, DAY, &wait_us), QUOTA_FREE);
    assert_int_equal(quota_used(&quota, QUOTA_MINUTE, DAY), 2);
}

static void a_supplier_that_had_enough_is_left_alone_for_so_long(void **state)
{
    (void)state;
    static const struct {
        uint64_t said_us, kept_us;
    } rows[] = {
        { 0, SECOND },      { 1, 1 },          { 30 * SECOND, 30 * SECOND }, { HOUR, HOUR },
        { HOUR + 1, HOUR }, { 2 * DAY, HOUR }, { UINT64_MAX / 2, HOUR },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct quota quota;
        uint64_t wait_us = 0;
        quota_init(&quota, (struct request_limits){ .per_second = 1 });
        quota_block(&quota, DAY, rows[i].said_us);
        assert_int_equal(quota_begin(&quota, DAY, &wait_us), QUOTA_BLOCKED);
        assert_int_equal(wait_us, rows[i].kept_us);
        assert_int_equal(quota_begin(&quota, DAY + rows[i].kept_us - 1, &wait_us), QUOTA_BLOCKED);
        assert_int_equal(quota_blocked_us(&quota, DAY + rows[i].kept_us), 0);
        assert_int_equal(quota_begin(&quota, DAY + rows[i].kept_us, &wait_us), QUOTA_FREE);
    }
}

static void a_shorter_word_does_not_take_a_longer_one_back(void **state)
{
    (void)state;
    struct quota quota;

    quota_init(&quota, (struct request_limits){ 0 });
    quota_block(&quota, DAY, 60 * SECOND);
    quota_block(&quota, DAY + SECOND, 2 * SECOND);
    assert_int_equal(quota_blocked_us(&quota, DAY + SECOND), 59 * SECOND);
    quota_block(&quota, DAY + SECOND, 90 * SECOND);
    assert_int_equal(quota_blocked_us(&quota, DAY + SECOND), 90 * SECOND);
}

static void a_time_before_the_newest_slot_is_that_slot(void **state)
{
    (void)state;
    struct quota quota;
    uint64_t wait_us = 0;

    quota_init(&quota, (struct request_limits){ .per_second = 2 });
    assert_int_equal(ask(&quota, DAY, &wait_us), QUOTA_FREE);
    assert_int_equal(ask(&quota, DAY - 1, &wait_us), QUOTA_FREE); // another thread read its clock before
    assert_int_equal(ask(&quota, DAY - 1, &wait_us), QUOTA_PER_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_limits_every_request_is_free),
        cmocka_unit_test(no_stretch_of_its_length_sees_more_than_a_rate),
        cmocka_unit_test(the_wait_that_is_told_is_the_shortest),
        cmocka_unit_test(of_several_full_windows_the_longest_wait_is_told),
        cmocka_unit_test(searches_leave_a_share_of_each_rate_to_revalidations),
        cmocka_unit_test(a_refused_request_counts_nowhere),
        cmocka_unit_test(a_supplier_that_had_enough_is_left_alone_for_so_long),
        cmocka_unit_test(a_shorter_word_does_not_take_a_longer_one_back),
        cmocka_unit_test(a_time_before_the_newest_slot_is_that_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
