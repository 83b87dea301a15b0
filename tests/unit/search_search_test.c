// Searches over the real search/ in a virtual world.
#include "base/redact.h"
#include "support/play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void all_answer_and_the_reply_leaves_at_once(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 100 * MS, 3);
    play_add(&play, "b", 300 * MS, 4);
    play_run(&play);
    assert_int_equal(play.status, 200);
    assert_true(play.is_complete);
    assert_int_equal(play.replied_at_us - 1000000, 301 * MS + 100);
    play_expect_body(&play, "\"complete\":true,\"percent\":100,\"eligible\":2,\"answered\":2");
    play_expect_body(&play, "\"offers_found\":7,\"offers_returned\":7");
    play_expect_entry(&play, "b", "\"outcome\":\"answered\",\"offers\":4,\"began_ms\":1,\"took_ms\":300");
    play_finish(&play, 1);
}

static void a_short_budget_cuts_and_names_the_budget(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play.budget_us = 300 * MS;
    play_add(&play, "healthy", 500 * MS, 3);
    play_add(&play, "quick", 100 * MS, 1);
    play_run(&play);
    assert_int_equal(play.replied_at_us - 1000000, 290 * MS);
    assert_true(play.was_cut_by_budget);
    assert_false(play.is_complete);
    play_expect_entry(&play, "healthy", "\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"first_byte\"");
    play_expect_body(&play, "\"reasons\":[\"budget\"]");
    play_finish(&play, 1);
}

static void a_low_ceiling_cuts_and_names_the_ceiling(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "healthy", 500 * MS, 3)->ceiling_us = 400 * MS;
    play_add(&play, "quick", 600 * MS, 1);
    play_run(&play);
    play_expect_entry(&play, "healthy", "\"outcome\":\"cut\",\"bound\":\"ceiling\",\"phase\":\"first_byte\"");
    play_expect_entry(&play, "healthy", "\"allocated_ms\":399,\"ceiling_ms\":400,\"ceiling_from\":\"script\"");
    play_expect_body(&play, "\"reasons\":[\"ceiling\"]");
    assert_false(play.was_cut_by_budget);
    play_finish(&play, 1);
}

static void a_ceiling_of_the_settings_wins_over_the_script(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 500 * MS, 3)->ceiling_us = 900 * MS;
    play.catalogue_suppliers[0].ceiling_us = 200 * MS;
    play_run(&play);
    play_expect_entry(&play, "a", "\"ceiling_ms\":200,\"ceiling_from\":\"settings\"");
    play_expect_entry(&play, "a", "\"bound\":\"ceiling\"");
    play_finish(&play, 1);
}

static void a_ceiling_that_equals_the_end_names_the_budget(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "hung", 0, 0)->hangs = true;
    play.suppliers[0].ceiling_us = play.budget_us - RESERVE_US;
    play_run(&play);
    play_expect_entry(&play, "hung", "\"bound\":\"budget\"");
    play_finish(&play, 1);
}

static void nothing_is_sent_without_time_left(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "late", 0, 1)->ceiling_us = 1 * MS;
    play_add(&play, "fine", 0, 1);
    play_run(&play);
    play_expect_entry(&play, "late", "\"outcome\":\"too_late\"");
    assert_int_equal(play.virtual.fetches_started, 1);
    play_finish(&play, 1);
}

static void skipped_and_disabled_are_not_eligible(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "skips", 0, 1)->start = SCRIPT_SKIPPED;
    play_add(&play, "off", 0, 1);
    play.catalogue_suppliers[1].is_enabled = false;
    play.catalogue_suppliers[1].because = TEXT("contract ended");
    play_run(&play);
    assert_int_equal(play.status, 200);
    assert_false(play.is_complete);
    play_expect_entry(&play, "skips", "\"outcome\":\"skipped\",\"reason\":\"because\"");
    play_expect_entry(&play, "off", "\"outcome\":\"disabled\",\"reason\":\"contract ended\"");
    play_expect_body(&play, "\"percent\":0,\"eligible\":0");
    play_expect_body(&play, "\"reasons\":[\"none_eligible\"]");
    play_finish(&play, 1);
}

static void those_left_out_by_the_caller_are_not_asked(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 1);
    play_add(&play, "b", 0, 1);
    play.only[play.only_count++] = TEXT("b");
    play_run(&play);
    play_expect_body(&play, "\"eligible\":1,\"answered\":1");
    assert_null(strstr(play.body, "\"name\":\"a\""));
    play_finish(&play, 1);
}

static void failures_carry_their_phase(void **state)
{
    static const struct {
        enum fetch_result result;
        enum phase phase;
        const char *expected;
    } CASES[] = {
        { FETCH_DNS_FAILED, PHASE_DNS, "\"outcome\":\"failed\",\"phase\":\"dns\"" },
        { FETCH_CONNECT_FAILED, PHASE_CONNECT, "\"outcome\":\"failed\",\"phase\":\"connect\"" },
        { FETCH_TLS_FAILED, PHASE_TLS, "\"outcome\":\"failed\",\"phase\":\"tls\"" },
        { FETCH_RECEIVE_FAILED, PHASE_BODY, "\"outcome\":\"failed\",\"phase\":\"body\"" },
        { FETCH_TOO_LARGE, PHASE_BODY, "\"outcome\":\"too_large\"" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct play play;
        play_init(&play);
        struct virtual_supplier *supplier = play_add(&play, "a", 0, 1);
        supplier->result = CASES[i].result;
        supplier->phase = CASES[i].phase;
        play_run(&play);
        assert_int_equal(play.status, 504);
        play_expect_entry(&play, "a", CASES[i].expected);
        play_finish(&play, 1);
    }
}

static void verdicts_become_outcomes(void **state)
{
    static const struct {
        uint16_t status;
        enum script_verdict verdict;
        const char *expected;
    } CASES[] = {
        { 200, SCRIPT_EMPTY, "\"outcome\":\"empty\"" },
        { 200, SCRIPT_UNPARSABLE, "\"outcome\":\"unparsable\"" },
        { 200, SCRIPT_FAIL_UNEXPECTED, "\"outcome\":\"unparsable\"" },
        { 200, SCRIPT_FAIL_QUOTA, "\"outcome\":\"rejected\",\"kind\":\"quota\"" },
        { 200, SCRIPT_FAIL_BUSY, "\"outcome\":\"rejected\",\"kind\":\"busy\"" },
        { 200, SCRIPT_FAIL_AUTH, "\"outcome\":\"rejected\",\"kind\":\"auth\"" },
        { 200, SCRIPT_FAIL_SUPPLIER, "\"outcome\":\"rejected\",\"kind\":\"supplier\"" },
        { 200, SCRIPT_ERROR, "\"outcome\":\"script_error\"" },
        { 200, SCRIPT_TIMEOUT, "\"outcome\":\"script_timeout\"" },
        { 200, SCRIPT_MEMORY, "\"outcome\":\"script_memory\"" },
        { 200, SCRIPT_TOO_LARGE, "\"outcome\":\"too_large\"" },
        { 200, SCRIPT_DROPPED, "\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"script_queue\"" },
        { 500, SCRIPT_EMPTY, "\"outcome\":\"failed\",\"http_status\":500" },
        { 502, SCRIPT_UNPARSABLE, "\"outcome\":\"failed\"" },
        { 500, SCRIPT_ERROR, "\"outcome\":\"failed\"" },
        { 500, SCRIPT_FAIL_BUSY, "\"outcome\":\"rejected\",\"kind\":\"busy\"" },
        { 404, SCRIPT_EMPTY, "\"outcome\":\"rejected\",\"kind\":\"supplier\"" },
        { 404, SCRIPT_OK, "\"outcome\":\"rejected\",\"kind\":\"supplier\"" },
        { 418, SCRIPT_UNPARSABLE, "\"outcome\":\"rejected\",\"kind\":\"supplier\"" },
        { 418, SCRIPT_ERROR, "\"outcome\":\"script_error\"" },
        { 429, SCRIPT_ERROR, "\"outcome\":\"script_error\"" },
        { 429, SCRIPT_EMPTY, "\"outcome\":\"rejected\",\"kind\":\"quota\"" },
        { 500, SCRIPT_TIMEOUT, "\"outcome\":\"script_timeout\"" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct play play;
        play_init(&play);
        struct virtual_supplier *supplier = play_add(&play, "a", 0, 0);
        supplier->status = CASES[i].status;
        supplier->normalise = CASES[i].verdict;
        play_run(&play);
        play_expect_entry(&play, "a", CASES[i].expected);
        play_finish(&play, 1);
    }
}

static void a_supplier_cut_in_the_script_says_so(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "queued", 100 * MS, 1)->normalise_us = 5000 * MS;
    play_run(&play);
    play_expect_entry(&play, "queued", "\"bound\":\"budget\",\"phase\":\"script\"");
    assert_int_equal(play.replied_at_us - 1000000, 1990 * MS);
    play_finish(&play, 1);
}

static void a_start_that_never_ends_still_gets_its_reply_on_time(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 1);
    play_start(&play);
    play.virtual.begins_after_us = 3000 * MS;
    play_search(&play);
    virtual_world_run(&play.virtual, 1000000 + 1990 * MS);
    assert_int_equal(play.replies, 1);
    assert_int_equal(play.status, 504);
    play_expect_entry(&play, "a", "\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"script_queue\"");
    play_finish(&play, 1);
}

static void a_bad_query_is_refused_and_nobody_is_asked(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 1);
    play_start(&play);
    play.virtual.product = SCRIPT_FAIL_UNEXPECTED;
    play_search(&play);
    while (virtual_world_step(&play.virtual)) {
    }
    assert_int_equal(play.status, 422);
    play_expect_body(&play, "\"pointer\":\"/query\"");
    assert_int_equal(play.virtual.fetches_started, 0);
    play_finish(&play, 1);
}

static void a_failing_product_script_is_the_only_500(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 1);
    play_start(&play);
    play.virtual.product = SCRIPT_ERROR;
    play_search(&play);
    while (virtual_world_step(&play.virtual)) {
    }
    assert_int_equal(play.status, 500);
    play_expect_body(&play, "product_script_error");
    play_finish(&play, 1);
}

static void all_or_nothing_is_a_504_when_not_complete(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play.whole_or_nothing = true;
    play_add(&play, "a", 0, 1);
    play_add(&play, "hung", 0, 1)->hangs = true;
    play_run(&play);
    assert_int_equal(play.status, 504);
    play_expect_body(&play, "not_complete");
    assert_null(strstr(play.body, "\"offers\":["));
    play_finish(&play, 1);
}

static void limits_are_told_apart_from_completeness(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play.max_items = 2;
    play.max_offers_per_item = 1;
    play_add(&play, "a", 0, 5)->item_prefix = "i";
    play_add(&play, "b", 0, 5)->item_prefix = "i";
    play_run(&play);
    assert_true(play.is_complete);
    play_expect_body(&play, "\"offers_found\":10,\"offers_returned\":2");
    play_expect_body(&play, "\"items\":{\"i0\":{},\"i1\":{}}");
    play_expect_body(&play, "\"offers\":[{\"id\":\"a:0\",\"item\":\"i0\"},{\"id\":\"a:1\",\"item\":\"i1\"}]");
    play_finish(&play, 1);
}

static char *offers_of(const struct play *play)
{
    return strdup(strstr(play->body, "\"items\":"));
}

static void a_reply_that_would_be_too_large_ends_earlier(void **state)
{
    enum { ITEM_BYTES = 20000, OFFERS = 500 };
    static const char *const NAMES[] = { "a", "b", "c", "d" }; // 40 MB of items
    char *item = malloc(ITEM_BYTES);
    struct play play;
    (void)state;
    memset(item, ' ', ITEM_BYTES);
    item[0] = '{';
    item[ITEM_BYTES - 1] = '}';
    play_init(&play);
    play.max_items = 10000;
    play.max_offers_per_item = 1;
    for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
        play_add(&play, NAMES[i], 0, OFFERS)->item_json = (struct text){ item, ITEM_BYTES };
    }
    play_run_once(&play);
    assert_int_equal(play.status, 200);
    assert_true(play.is_complete);
    play_expect_body(&play, "\"offers_found\":2000,\"offers_returned\":16");
    play_finish(&play, 1);
    free(item);
}

// The last one: what is a secret once stays one in this process.
static void a_secret_in_a_script_s_words_does_not_reach_the_reply(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 0)->start = SCRIPT_SKIPPED; // its reason is "because"
    assert_int_equal(redact_add(TEXT("because")), STATUS_OK);
    play_run(&play);
    play_expect_entry(&play, "a", "\"reason\":\"***\"");
    play_finish(&play, 1);
}

static void the_order_of_arrival_leaves_no_trace_in_the_bytes(void **state)
{
    char *first = NULL;
    (void)state;
    srandom(7);
    for (int round = 0; round < 20; round++) {
        struct play play;
        play_init(&play);
        for (size_t i = 0; i < 12; i++) {
            static const char *const NAMES[] = { "a", "b", "c", "d", "e", "f", "g", "h", "j", "k", "l", "m" };
            struct virtual_supplier *supplier = play_add(&play, NAMES[i], (uint64_t)(random() % 1000) * MS, 30);
            supplier->item_prefix = i % 2 == 0 ? "even" : "odd";
            supplier->cheapest_micros = (int64_t)(100 + i % 3) * OFFER_MICROS;
        }
        play_run(&play);
        char *offers = offers_of(&play);
        if (first == NULL) {
            first = offers;
        } else {
            assert_string_equal(first, offers);
            free(offers);
        }
        play_finish(&play, 1);
    }
    free(first);
}

static void the_fold_holds_when_suppliers_describe_an_item_differently(void **state)
{
    (void)state;
    for (int cheap_is_first = 0; cheap_is_first < 2; cheap_is_first++) {
        struct play play;
        play_init(&play);
        play.max_items = 3;
        struct virtual_supplier *cheap = play_add(&play, "cheap", cheap_is_first ? 100 * MS : 300 * MS, 5);
        cheap->item_prefix = "i";
        cheap->is_odd = true;
        cheap->cheapest_micros = 50 * (int64_t)OFFER_MICROS;
        play_add(&play, "dear", 200 * MS, 5)->item_prefix = "i";
        play_run(&play);
        play_expect_body(&play, "\"items\":{\"i0\":{\"odd\":true}");
        play_finish(&play, 1);
    }
}

static void a_caller_who_leaves_at_any_moment_leaves_nothing_behind(void **state)
{
    (void)state;
    for (uint64_t leave_us = 0; leave_us <= 700 * MS; leave_us += 7 * MS + 13) {
        struct play play;
        play_init(&play);
        play_add(&play, "a", 100 * MS, 3)->normalise_us = 50 * MS;
        play_add(&play, "b", 300 * MS, 3)->ceiling_us = 900 * MS;
        play_add(&play, "hung", 0, 0)->hangs = true;
        uint64_t start = play_start(&play);
        play_search(&play);
        virtual_world_run(&play.virtual, start + leave_us);
        search_cancel(&play.search);
        play_finish(&play, 0);
    }
}

static void told_to_end_it_replies_with_what_it_has(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "quick", 100 * MS, 3);
    play_add(&play, "hung", 0, 0)->hangs = true;
    play_add(&play, "limited", 0, 0)->hangs = true;
    play.suppliers[2].ceiling_us = 900 * MS;
    uint64_t start = play_start(&play);
    play_search(&play);
    virtual_world_run(&play.virtual, start + 150 * MS);
    assert_int_equal(play.replies, 0);
    search_end(&play.search, 500 * MS);
    assert_null(play.search);
    assert_int_equal(play.replied_at_us, start + 150 * MS);
    assert_int_equal(play.status, 200);
    assert_false(play.is_complete);
    assert_true(play.was_cut_by_budget);
    play_expect_body(&play, "\"requested_ms\":2000,\"effective_ms\":650,\"reserve_ms\":500,\"clamped\":true");
    play_expect_body(&play, "\"from\":\"shutdown\"");
    play_expect_body(&play, "\"offers_returned\":3");
    play_expect_entry(&play, "hung", "\"outcome\":\"cut\",\"bound\":\"budget\",\"phase\":\"first_byte\"");
    play_expect_entry(&play, "limited", "\"outcome\":\"cut\",\"bound\":\"budget\""); // its ceiling had not come
    play_finish(&play, 1);
}

static void told_to_end_nothing_of_it_begins_to_linger(void **state)
{
    (void)state;
    for (int is_told = 0; is_told < 2; is_told++) {
        struct play play;
        play_init(&play);
        play_add(&play, "hung", 0, 0)->hangs = true;
        play.suppliers[0].lingers = true;
        uint64_t start = play_start(&play);
        play.catalogue.linger_us = 3000 * MS;
        play_search(&play);
        virtual_world_run(&play.virtual, start + (is_told ? 150U : 2000U) * MS);
        if (is_told) {
            search_end(&play.search, 500 * MS);
        }
        assert_int_equal(play.replies, 1);
        assert_int_equal(play.virtual.fetches_running, is_told ? 0 : 1);
        play_finish(&play, 1);
    }
}

static void told_to_end_shortly_before_its_deadline_it_keeps_it(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "hung", 0, 0)->hangs = true;
    uint64_t start = play_start(&play);
    play_search(&play);
    virtual_world_run(&play.virtual, start + 1900 * MS);
    search_end(&play.search, 500 * MS);
    assert_int_equal(play.status, 504);
    play_expect_body(&play, "\"code\":\"no_answer\"");
    play_expect_body(&play, "\"effective_ms\":2000,\"reserve_ms\":100,\"clamped\":false");
    play_finish(&play, 1);
}

static void told_to_end_at_any_time_it_replies_once_and_leaves_nothing(void **state)
{
    (void)state;
    for (uint64_t end_us = 0; end_us <= 700 * MS; end_us += 7 * MS + 13) {
        struct play play;
        play_init(&play);
        play_add(&play, "a", 100 * MS, 3)->normalise_us = 50 * MS;
        play_add(&play, "b", 300 * MS, 3)->ceiling_us = 900 * MS;
        play_add(&play, "hung", 0, 0)->hangs = true;
        uint64_t start = play_start(&play);
        play_search(&play);
        virtual_world_run(&play.virtual, start + end_us);
        search_end(&play.search, 500 * MS);
        assert_int_equal(play.replies, 1);
        assert_int_equal(play.status, end_us > 160 * MS ? 200 : end_us < 100 * MS ? 504 : play.status);
        play_finish(&play, 1);
    }
}

static void a_refused_start_is_a_status_and_leaves_nothing(void **state)
{
    struct play play;
    (void)state;
    play_init(&play);
    play_add(&play, "a", 0, 1);
    play_start(&play);
    play.virtual.is_start_refused = true;
    struct search_options options = {
        .world = &play.virtual.world,
        .catalogue = &play.catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .arrival_us = play.virtual.now_us,
        .budget = { .requested_us = 1000000, .effective_us = 1000000 },
        .reserve_us = RESERVE_US,
        .max_items = 1,
        .max_offers_per_item = 1,
        .on_reply = play_on_reply,
        .owner = &play,
    };
    assert_int_equal(search_start(&options, &play.search), STATUS_CLOSED);
    assert_null(play.search);
    play_finish(&play, 0);
}

/// One reply, never late, each supplier one outcome, everything given back: for anything that chance comes up with.
static void chance_breaks_no_promise(void **state)
{
    static const char *const NAMES[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    (void)state;
    srandom(42);
    for (int round = 0; round < 5000; round++) {
        struct play play;
        play_init(&play);
        play.budget_us = (uint64_t)(40 + random() % 2000) * MS;
        for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
            struct virtual_supplier *supplier = play_add(&play, NAMES[i], (uint64_t)(random() % 2500) * MS, 3);
            supplier->hangs = random() % 10 == 0;
            supplier->result = random() % 5 == 0 ? (enum fetch_result)(random() % (FETCH_NO_MEMORY + 1)) : FETCH_OK;
            supplier->status = random() % 8 == 0 ? 500 : 200;
            supplier->start = random() % 8 == 0 ? (enum script_verdict)(random() % (SCRIPT_DROPPED + 1)) : SCRIPT_OK;
            supplier->normalise =
                random() % 4 == 0 ? (enum script_verdict)(random() % (SCRIPT_DROPPED + 1)) : SCRIPT_OK;
            supplier->normalise_us = (uint64_t)(random() % 100) * MS;
            supplier->ceiling_us = random() % 3 == 0 ? (uint64_t)(1 + random() % 2000) * MS : 0;
        }
        uint64_t start = play_start(&play);
        play.virtual.begins_after_us = (uint64_t)(random() % 50) * MS;
        play_search(&play);
        while (play.replies == 0 && virtual_world_step(&play.virtual)) {
        }
        assert_int_equal(play.replies, 1);
        assert_true(play.replied_at_us <= start + play.budget_us - RESERVE_US);
        for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
            play_expect_entry(&play, NAMES[i], "\"outcome\":\"");
        }
        if (play.status == 200) {
            play_compare_stream(&play);
        }
        play_finish(&play, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_answer_and_the_reply_leaves_at_once),
        cmocka_unit_test(a_short_budget_cuts_and_names_the_budget),
        cmocka_unit_test(a_low_ceiling_cuts_and_names_the_ceiling),
        cmocka_unit_test(a_ceiling_of_the_settings_wins_over_the_script),
        cmocka_unit_test(a_ceiling_that_equals_the_end_names_the_budget),
        cmocka_unit_test(nothing_is_sent_without_time_left),
        cmocka_unit_test(skipped_and_disabled_are_not_eligible),
        cmocka_unit_test(those_left_out_by_the_caller_are_not_asked),
        cmocka_unit_test(failures_carry_their_phase),
        cmocka_unit_test(verdicts_become_outcomes),
        cmocka_unit_test(a_supplier_cut_in_the_script_says_so),
        cmocka_unit_test(a_start_that_never_ends_still_gets_its_reply_on_time),
        cmocka_unit_test(a_bad_query_is_refused_and_nobody_is_asked),
        cmocka_unit_test(a_failing_product_script_is_the_only_500),
        cmocka_unit_test(all_or_nothing_is_a_504_when_not_complete),
        cmocka_unit_test(limits_are_told_apart_from_completeness),
        cmocka_unit_test(a_reply_that_would_be_too_large_ends_earlier),
        cmocka_unit_test(the_order_of_arrival_leaves_no_trace_in_the_bytes),
        cmocka_unit_test(the_fold_holds_when_suppliers_describe_an_item_differently),
        cmocka_unit_test(a_caller_who_leaves_at_any_moment_leaves_nothing_behind),
        cmocka_unit_test(told_to_end_it_replies_with_what_it_has),
        cmocka_unit_test(told_to_end_nothing_of_it_begins_to_linger),
        cmocka_unit_test(told_to_end_shortly_before_its_deadline_it_keeps_it),
        cmocka_unit_test(told_to_end_at_any_time_it_replies_once_and_leaves_nothing),
        cmocka_unit_test(a_refused_start_is_a_status_and_leaves_nothing),
        cmocka_unit_test(chance_breaks_no_promise),
        cmocka_unit_test(a_secret_in_a_script_s_words_does_not_reach_the_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
