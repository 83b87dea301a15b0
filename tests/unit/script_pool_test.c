// The pool with real threads: what comes back from healthy scripts.

#include "unit/script_pool_stage.h"

static void a_start_call_brings_facts_and_requests(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);

    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_string_equal(call->currency, "EUR");
    struct text facts = block_text(call->facts);
    assert_non_null(memmem(facts.data, facts.length, "\"id\":\"s-1\"", 10));
    assert_non_null(memmem(facts.data, facts.length, "\"day\":\"2026-11-", 14));
    assert_non_null(memmem(facts.data, facts.length, "\"none\":[]", 9));

    const struct start_candidate *good = &call->candidates[0];
    assert_verdict(good->verdict, SCRIPT_OK, "good", good->message);
    assert_true(good->ceiling.from == CEILING_FROM_SCRIPT);
    assert_int_equal(good->ceiling.us, 120000000);
    assert_true(text_equals_c(good->request->url, "https://api.good.example/v1/things?size=3&thing=chair"));
    assert_true(text_equals_c(good->request->method, "POST"));
    assert_int_equal(good->request->header_count, 4);
    assert_true(text_equals_c(good->request->headers[0].name, "X-Key"));
    assert_true(text_equals_c(good->request->headers[0].value, "k-1"));
    assert_true(text_equals_c(good->request->headers[3].name, "content-type"));
    assert_non_null(memmem(good->request->body.data, good->request->body.length, "[\"one\",\"two\",\"three\"]", 21));
    assert_true(call->call.begun_us >= call->call.queued_us && call->call.done_us >= call->call.begun_us);
    script_call_destroy(&call->call);
}

static void a_bad_query_brings_the_products_errors(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *body = block_create(TEXT("{\"query\":{}}"));
    struct start_call *call = support_start(&world, "x");
    block_release(&call->body);
    call->body = body;
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_FAIL_UNEXPECTED);
    assert_true(text_equals_c(block_text(call->errors),
                              "[{\"code\":\"missing\",\"detail\":\"name a thing\",\"pointer\":\"/query/thing\"}]"));
    assert_null(call->facts);
    script_call_destroy(&call->call);

    call = support_start(&world, "x");
    block_release(&call->body);
    call->body = block_create(TEXT("{\"query\":"));
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_FAIL_UNEXPECTED);
    assert_non_null(strstr(block_text(call->errors).data, "invalid_json"));
    script_call_destroy(&call->call);

    call = support_start(&world, "broken");
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_ERROR);
    assert_non_null(strstr(call->message, "shop.lua"));
    script_call_destroy(&call->call);
}

static void facts_of_one_worker_serve_all_others(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(4);
    struct block *facts = facts_of("chair");
    for (int i = 0; i < 32; i++) {
        struct normalise_call *call = support_normalise(&world, 0, facts, 200,
                                                        "{\"things\":[{\"id\":\"a\",\"total\":\"12.50\"},"
                                                        "{\"id\":\"b\",\"total\":\"9.00\"}]}");
        support_submit(&pool, &call->call);
    }
    for (int i = 0; i < 32; i++) {
        struct normalise_call *call = CONTAINER_OF(support_await(&pool), struct normalise_call, call);
        assert_verdict(call->verdict, SCRIPT_OK, "good", text_of(call->message));
        assert_int_equal(call->offers->count, 2);
        assert_int_equal(call->offers->offers[0].total_micros, 9000000);
        script_call_destroy(&call->call);
    }
    block_release(&facts);
}

static void assert_normalised(struct block *facts, uint16_t status, const char *body, enum script_verdict verdict,
                              const char *message)
{
    struct normalise_call *call = support_normalise(&world, 0, facts, status, body);
    support_run(&pool, &call->call);
    assert_verdict(call->verdict, verdict, body, text_of(call->message));
    if (strstr(call->message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, call->message);
    }
    script_call_destroy(&call->call);
}

static void unreadable_empty_and_refused_answers_are_told_apart(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("chair");
    assert_normalised(facts, 200, "{\"things\":[]}", SCRIPT_EMPTY, "");
    assert_normalised(facts, 200, "", SCRIPT_UNPARSABLE, "good.lua:29: the body is empty");
    assert_normalised(facts, 200, "<html></html>", SCRIPT_UNPARSABLE, "HTML");
    assert_normalised(facts, 200, "{\"things\":[}", SCRIPT_UNPARSABLE, "no JSON");
    assert_normalised(facts, 200, "{\"things\":[{\"id\":\"a\"}]}", SCRIPT_UNPARSABLE, "no valid offer among 1");
    assert_normalised(facts, 200, "{\"things\":7}", SCRIPT_ERROR, "good.lua:");
    assert_normalised(facts, 429, "{}", SCRIPT_FAIL_QUOTA, "");
    block_release(&facts);
}

static void a_cut_gzip_body_and_one_over_the_cap_are_told_apart(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("chair");
    static struct header encoding = { { "content-encoding", 16 }, { "gzip", 4 } };
    struct normalise_call *call = support_normalise(&world, 0, facts, 200, "\x1f\x8b\x08");
    call->response->headers = malloc(sizeof encoding);
    call->response->headers[0] = encoding;
    call->response->header_count = 1;
    support_run(&pool, &call->call);
    assert_int_equal(call->verdict, SCRIPT_UNPARSABLE);
    script_call_destroy(&call->call);

    call = support_normalise(&world, 0, facts, 200, "{\"things\":[]}");
    call->body_cap = 5;
    support_run(&pool, &call->call);
    assert_int_equal(call->verdict, SCRIPT_TOO_LARGE);
    script_call_destroy(&call->call);
    block_release(&facts);
}

/// The answer with one thing, whose id is the body's; what the script said of it.
static struct normalise_call *answer_of(struct block *facts, struct text content_type, const char *body)
{
    struct normalise_call *call = support_normalise(&world, 0, facts, 200, body);

    call->response->headers = calloc(1, sizeof(struct header));
    assert_non_null(call->response->headers);
    call->response->headers[0] = (struct header){ TEXT("content-type"), content_type };
    call->response->header_count = 1;
    support_run(&pool, &call->call);
    assert_verdict(call->verdict, SCRIPT_OK, body, text_of(call->message));
    return call;
}

static void an_answer_in_another_charset_is_read_and_a_lie_is_told(void **state)
{
    static const struct {
        struct text content_type;
        const char *body, *id, *warning;
    } table[] = {
        { { "application/json; charset=utf-8", 31 },
          "{\"things\":[{\"id\":\"Z\xC3\xBC\",\"total\":\"1.00\"}]}",
          ":Z\xC3\xBC\"",
          NULL },
        { { "application/json; charset=latin1", 32 },
          "{\"things\":[{\"id\":\"Z\xFC\",\"total\":\"1.00\"}]}",
          ":Z\xC3\xBC\"",
          NULL },
        { { "application/json", 16 }, "\xEF\xBB\xBF{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}", ":a\"", NULL },
        { { "application/json", 16 },
          "{\"things\":[{\"id\":\"Z\xFC\",\"total\":\"1.00\"}]}",
          ":Z\xC3\xBC\"",
          "declares no charset and is no UTF-8" },
        { { "application/json; charset=utf-8", 31 },
          "{\"things\":[{\"id\":\"Z\xFC\",\"total\":\"1.00\"}]}",
          ":Z\xEF\xBF\xBD\"",
          "1 sequence of the body was no utf-8" },
    };
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *facts = facts_of("chair");
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct normalise_call *call = answer_of(facts, table[i].content_type, table[i].body);
        struct text json = call->offers->offers[0].json;
        if (memmem(json.data, json.length, table[i].id, strlen(table[i].id)) == NULL) {
            fail_msg("row %zu: no %s in %.*s", i, table[i].id, TEXT_ARGS(json));
        }
        assert_int_equal(call->warning_count, table[i].warning != NULL);
        assert_non_null(strstr(call->warning, table[i].warning != NULL ? table[i].warning : ""));
        script_call_destroy(&call->call);
    }
    block_release(&facts);
}

static void a_list_of_requests_becomes_parts(void **state)
{
    (void)state;
    support_add(&world, "steps", SUPPORT_DATA "/suppliers/steps.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    const struct start_candidate *candidate = &call->candidates[0];
    assert_verdict(candidate->verdict, SCRIPT_OK, "steps", candidate->message);
    assert_true(text_equals_c(candidate->request->url, "https://api.steps.example/a"));
    assert_true(text_equals_c(candidate->request->next->url, "https://api.steps.example/b"));
    assert_null(candidate->request->next->next);
    script_call_destroy(&call->call);
}

static struct normalise_call *step_of(struct block *facts, uint32_t step, struct block *left, const char *body)
{
    struct normalise_call *call = support_normalise(&world, 0, facts, 200, body);
    call->parts = 2;
    call->step = step;
    call->state = left;
    support_run(&pool, &call->call);
    return call;
}

static void a_next_step_carries_its_request_and_state(void **state)
{
    (void)state;
    support_add(&world, "steps", SUPPORT_DATA "/suppliers/steps.lua");
    support_load(&world);
    start_pool(2);
    struct block *facts = facts_of("chair");

    struct normalise_call *first = step_of(facts, 1, NULL, "{\"ids\":[\"a\",\"b\"]}");
    assert_verdict(first->verdict, SCRIPT_OK, "steps", text_of(first->message));
    assert_true(first->is_incomplete);
    assert_int_equal(first->merge, MERGE_ADD);
    assert_int_equal(first->next.after_us, 250000);
    assert_true(text_equals_c(first->next.request->url, "https://api.steps.example/a/poll?seen=0"));
    assert_true(text_equals_c(block_text(first->next.state), "{\"part\":1,\"seen\":2,\"step\":1}"));

    struct normalise_call *second = step_of(facts, 2, block_acquire(first->next.state), "{\"ids\":[]}");
    assert_int_equal(second->verdict, SCRIPT_EMPTY);
    assert_true(text_equals_c(second->next.request->url, "https://api.steps.example/a/poll?seen=2"));

    struct normalise_call *last = step_of(facts, 3, NULL, "{\"ids\":[\"c\"],\"done\":true}");
    assert_int_equal(last->verdict, SCRIPT_OK);
    assert_int_equal(last->merge, MERGE_REPLACE);
    assert_false(last->is_incomplete);
    assert_null(last->next.request);
    assert_int_equal(last->warning_count, 2);
    assert_string_equal(last->warning, "slow today");

    struct normalise_call *wrong = step_of(facts, 1, NULL, "{\"ids\":[],\"mistake\":\"ad\"}");
    assert_int_equal(wrong->verdict, SCRIPT_ERROR);
    assert_non_null(strstr(wrong->message, "`merge` must be"));
    script_call_destroy(&first->call);
    script_call_destroy(&second->call);
    script_call_destroy(&last->call);
    script_call_destroy(&wrong->call);
    block_release(&facts);
}

// ---- the queue

static void calls_past_their_deadline_and_cancelled_ones_are_dropped(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *late = support_start(&world, "chair");
    late->call.deadline_us = clock_now_us() - 1;
    support_run(&pool, &late->call);
    assert_int_equal(late->product_verdict, SCRIPT_DROPPED);
    assert_int_equal(late->candidates[0].verdict, SCRIPT_DROPPED);
    assert_true(late->call.begun_us == 0);
    script_call_destroy(&late->call);

    struct start_call *left = support_start(&world, "chair");
    atomic_store(&left->call.is_cancelled, true);
    support_run(&pool, &left->call);
    assert_int_equal(left->product_verdict, SCRIPT_DROPPED);
    script_call_destroy(&left->call);
    assert_int_equal(support_counts(&pool).dropped, 2);
}

static void a_candidate_without_time_left_is_dropped(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *call = support_start(&world, "chair");
    call->times.end_us = call->times.arrival_us;
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_int_equal(call->candidates[0].verdict, SCRIPT_DROPPED);
    assert_null(call->candidates[0].request);
    script_call_destroy(&call->call);
}

static void destroying_the_pool_gives_queued_calls_back(void **state)
{
    enum { CALLS = 50 };
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct start_call *calls[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        calls[i] = support_start(&world, "chair");
        support_submit(&pool, &calls[i]->call);
    }
    worker_pool_destroy(&pool.pool);
    for (size_t i = 0; i < CALLS; i++) {
        (void)support_await(&pool);
    }
    for (size_t i = 0; i < CALLS; i++) {
        assert_true(calls[i]->product_verdict == SCRIPT_OK || calls[i]->product_verdict == SCRIPT_DROPPED);
        script_call_destroy(&calls[i]->call);
    }
}

static void a_script_set_goes_when_its_owner_and_the_states_let_go(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    for (int i = 0; i < 6; i++) {
        struct start_call *call = support_start(&world, "chair");
        support_run(&pool, &call->call);
        assert_int_equal(call->candidates[0].verdict, SCRIPT_OK);
        script_call_destroy(&call->call);
        struct script_set *old = world.set;
        free((void *)(uintptr_t)world.accounts[0].context.data);
        support_load(&world);
        script_set_release(&old);
        assert_null(old);
    }
}

// ---- memory

static size_t resident_bytes(void)
{
    long pages = 0;
    FILE *stream = fopen("/proc/self/statm", "re");
    assert_non_null(stream);
    assert_int_equal(fscanf(stream, "%*s %ld", &pages), 1);
    fclose(stream);
    return (size_t)pages * 4096;
}

static void run_many(struct block **facts, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        struct start_call *start = support_start(&world, i % 2 == 0 ? "chair" : "table");
        support_run(&pool, &start->call);
        assert_int_equal(start->candidates[0].verdict, SCRIPT_OK);
        struct text url = start->candidates[0].request->url;
        assert_non_null(memmem(url.data, url.length, i % 2 == 0 ? "thing=chair" : "thing=table", 11));
        block_release(facts);
        *facts = block_acquire(start->facts);
        script_call_destroy(&start->call);
        struct normalise_call *normalise =
            support_normalise(&world, 0, *facts, 200, "{\"things\":[{\"id\":\"a\",\"total\":\"1.00\"}]}");
        support_run(&pool, &normalise->call);
        assert_int_equal(normalise->verdict, SCRIPT_OK);
        script_call_destroy(&normalise->call);
    }
}

static void twenty_thousand_calls_leave_memory_flat(void **state)
{
    (void)state;
    support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    support_load(&world);
    start_pool(1);
    struct block *facts = NULL;
    run_many(&facts, 2000);
    size_t before = resident_bytes();
    run_many(&facts, 10000);
    size_t after = resident_bytes();
    block_release(&facts);
    if (after > before + (8 << 20) && has_honest_memory()) {
        fail_msg("%zu KiB before, %zu KiB after", before >> 10, after >> 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_start_call_brings_facts_and_requests, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_bad_query_brings_the_products_errors, open_all, close_all),
        cmocka_unit_test_setup_teardown(facts_of_one_worker_serve_all_others, open_all, close_all),
        cmocka_unit_test_setup_teardown(unreadable_empty_and_refused_answers_are_told_apart, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_cut_gzip_body_and_one_over_the_cap_are_told_apart, open_all, close_all),
        cmocka_unit_test_setup_teardown(calls_past_their_deadline_and_cancelled_ones_are_dropped, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_candidate_without_time_left_is_dropped, open_all, close_all),
        cmocka_unit_test_setup_teardown(destroying_the_pool_gives_queued_calls_back, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_script_set_goes_when_its_owner_and_the_states_let_go, open_all, close_all),
        cmocka_unit_test_setup_teardown(twenty_thousand_calls_leave_memory_flat, open_all, close_all),
        cmocka_unit_test_setup_teardown(an_answer_in_another_charset_is_read_and_a_lie_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_list_of_requests_becomes_parts, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_next_step_carries_its_request_and_state, open_all, close_all),
    };
    return cmocka_run_group_tests_name("script_pool", tests, NULL, NULL);
}
