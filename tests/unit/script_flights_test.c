// The real product and a real supplier through the pool: a search for flights becomes a request to Duffel, its recorded
// answer becomes offers.

#include "unit/script_pool_support.h"

static struct support_world world;
static struct support_pool pool;

static const char search_body[] =
    "{\"product\":\"flights\",\"query\":{\"slices\":[{\"origin\":\"LHR\",\"destination\":\"JFK\",\"date\":\"2030-05-"
    "12\"}],"
    "\"travellers\":[{\"type\":\"adult\"}],\"cabin\":\"economy\",\"currency\":\"GBP\"},\"budget_ms\":2000}";

static int open_all(void **state)
{
    (void)state;
    support_open(&world);
    support_add(&world, "duffel", "suppliers/duffel.lua");
    support_load_from(&world, "scripts");
    support_pool_open(
        &pool, (struct worker_pool_options){ .threads = 2, .build_limit_us = 50000, .normalise_limit_us = 500000 });
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    support_pool_close(&pool);
    support_close(&world);
    return 0;
}

static void a_search_for_flights_becomes_a_request(void **state)
{
    (void)state;
    struct start_call *call = support_start_body(&world, TEXT("flights"), search_body);
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_string_equal(call->currency, "GBP");
    const struct start_candidate *duffel = &call->candidates[0];
    if (duffel->verdict != SCRIPT_OK) {
        fail_msg("%s: %.*s", script_verdict_name(duffel->verdict), TEXT_ARGS(duffel->message));
    }
    assert_true(text_equals_c(duffel->request->method, "POST"));
    assert_true(text_starts_with(duffel->request->url, TEXT("https://api.duffel.com/air/offer_requests?")));
    script_call_destroy(&call->call);
}

static void a_query_without_a_date_is_refused_with_its_pointer(void **state)
{
    (void)state;
    struct start_call *call = support_start_body(&world, TEXT("flights"),
                                                 "{\"query\":{\"slices\":[{\"origin\":\"LHR\",\"destination\":\"JFK\"}]"
                                                 ",\"travellers\":[{\"type\":\"adult\"}]}}");
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_FAIL_UNEXPECTED);
    struct text errors = block_text(call->errors);
    assert_non_null(memmem(errors.data, errors.length, "/query/slices/0/date", 20));
    script_call_destroy(&call->call);
}

static char *read_payload(const char *name)
{
    const char *shared = getenv("LASTCALL_SHARED");
    char path[1000];

    snprintf(path, sizeof path, "%s/payloads/%s", shared != NULL ? shared : "../shared", name);
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        print_message("SKIPPED: no %s\n", path);
        skip();
        return NULL;
    }
    char *bytes = calloc(1, 4 << 20);
    assert_non_null(bytes);
    assert_true(fread(bytes, 1, (4 << 20) - 1, file) > 0);
    fclose(file);
    return bytes;
}

// The flights of the answer leave on a day that is over; nobody can ask for it.
static void put_forward(char *body)
{
    for (char *at = body; (at = strstr(at, "\"2022-04-16T")) != NULL; at++) {
        memcpy(at, "\"2030", 5);
    }
}

static void duffels_recorded_answer_becomes_its_68_offers(void **state)
{
    (void)state;
    char *body = read_payload("duffel/offer_requests.create_with_offers.json");
    put_forward(body);
    struct start_call *start = support_start_body(
        &world, TEXT("flights"),
        "{\"query\":{\"slices\":[{\"origin\":\"SYD\",\"destination\":\"MEL\",\"date\":\"2030-04-16\"}],"
        "\"travellers\":[{\"type\":\"adult\"}],\"market\":\"GB\",\"currency\":\"GBP\"}}");
    support_run(&pool, &start->call);
    struct normalise_call *call = support_normalise(&world, 0, start->facts, 201, body);
    free(body);
    support_run(&pool, &call->call);
    if (call->verdict != SCRIPT_OK) {
        fail_msg("%s: %s", script_verdict_name(call->verdict), call->message);
    }
    assert_int_equal(call->offers->count, 68);
    assert_int_equal(call->offers->dropped, 0);
    script_call_destroy(&call->call);
    script_call_destroy(&start->call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_search_for_flights_becomes_a_request, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_query_without_a_date_is_refused_with_its_pointer, open_all, close_all),
        cmocka_unit_test_setup_teardown(duffels_recorded_answer_becomes_its_68_offers, open_all, close_all),
    };
    return cmocka_run_group_tests_name("script_flights", tests, NULL, NULL);
}
