// The query of the hotels product through the pool: its mistakes with their pointers, the key of equal searches, and
// who gets to see who asks.

#include "unit/script_pool_support.h"

static struct support_world world;
static struct support_pool pool;

/// Says in the path of its request what the script saw of the caller.
static const char *const SUPPLIER = "return { name = '%s', product = 'hotels', owner = 'a@example.com',"
                                    "  hosts = { 'api.example.com' }, %s"
                                    "  options = { base_url = 'https://api.example.com' },"
                                    "  build_request = function(search)"
                                    "    local client = search.client or {}"
                                    "    return { path = '/' .. (client.ip or 'nobody') .. '/' .. json.encode(search) }"
                                    "  end,"
                                    "  normalise = function(_, search)"
                                    "    return { { id = search.client and search.client.ip or 'nobody', room = 'r',"
                                    "      hotel_id = 'h', board = 'room_only', pay = 'now',"
                                    "      price = { total = '9', currency = 'EUR' } } }"
                                    "  end }";

enum { CURIOUS, MODEST };

static void add_supplier(const char *name, const char *wants)
{
    char source[1024];
    snprintf(source, sizeof source, SUPPLIER, name, wants);
    support_add_source(&world, name, source);
}

static int open_all(void **state)
{
    (void)state;
    support_open(&world);
    add_supplier("curious", "wants = { 'client' },");
    add_supplier("modest", "");
    support_load_from(&world, "scripts");
    support_pool_open(
        &pool, (struct worker_pool_options){ .threads = 1, .build_limit_us = 50000, .normalise_limit_us = 500000 });
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    support_pool_close(&pool);
    support_close(&world);
    return 0;
}

#define STAY "\"check_in\":\"2027-05-03\",\"check_out\":\"2027-05-05\""
#define ROOMS "\"rooms\":[{\"adults\":2,\"child_ages\":[7,3]}]"

static struct start_call *ask(const char *query)
{
    char body[2048];
    snprintf(body, sizeof body, "{\"product\":\"hotels\",\"query\":%s}", query);
    struct start_call *call = support_start_body(&world, TEXT("hotels"), body);
    support_run(&pool, &call->call);
    return call;
}

static char *key_of(const char *query)
{
    struct start_call *call = ask(query);
    if (call->product_verdict != SCRIPT_OK) {
        struct text errors = block_text(call->errors);
        fail_msg("%s: %.*s", call->message, TEXT_ARGS(errors));
    }
    assert_non_null(call->key);
    struct text key = block_text(call->key);
    char *copy = strndup(key.data, key.length);
    script_call_destroy(&call->call);
    return copy;
}

static void the_key_is_the_query_with_its_defaults_in_canonical_order(void **state)
{
    (void)state;
    char *key = key_of("{\"place\":{\"city\":\"LON\"}," STAY "," ROOMS "}");
    assert_string_equal(key, "{\"currency\":\"EUR\",\"device\":\"desktop\",\"product\":\"hotels\",\"query\":{"
                             "\"check_in\":\"2027-05-03\",\"check_out\":\"2027-05-05\",\"place\":{\"city\":\"LON\"},"
                             "\"rooms\":[{\"adults\":2,\"child_ages\":[3,7]}]}}");
    free(key);
}

static void equal_queries_have_one_key_however_they_are_spelled(void **state)
{
    static const char *const SPELLINGS[] = {
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS "}",
        "{" ROOMS "," STAY ",\"place\":{\"hotels\":[\"h2\",\"h1\",\"h2\"]}}",
        "{ \"device\" : \"desktop\", \"currency\":\"EUR\", \"place\":{\"hotels\":[\"h1\",\"\\u0068\\u0032\"]},\n " STAY
        ", \"rooms\":[{\"child_ages\":[3,7.0],\"adults\":2e0}]}",
        "{\"locale\":\"de\",\"client\":{\"ip\":\"192.0.2.7\"},\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS
        "}",
    };
    (void)state;
    char *first = key_of(SPELLINGS[0]);
    for (size_t i = 1; i < COUNT_OF(SPELLINGS); i++) {
        char *other = key_of(SPELLINGS[i]);
        assert_string_equal(other, first);
        free(other);
    }
    free(first);
}

static void other_queries_have_other_keys(void **state)
{
    static const char *const OTHERS[] = {
        "{\"place\":{\"hotels\":[\"h1\"]}," STAY "," ROOMS "}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]},\"check_in\":\"2027-05-03\",\"check_out\":\"2027-05-06\"," ROOMS "}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY ",\"rooms\":[{\"adults\":2}]}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS ",\"currency\":\"USD\"}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS ",\"device\":\"mobile\"}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS ",\"market\":\"GB\"}",
        "{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS ",\"residency\":\"GB\"}",
    };
    (void)state;
    char *first = key_of("{\"place\":{\"hotels\":[\"h1\",\"h2\"]}," STAY "," ROOMS "}");
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++) {
        char *other = key_of(OTHERS[i]);
        assert_string_not_equal(other, first);
        free(other);
    }
    free(first);
}

static bool holds(struct text text, const char *part)
{
    return memmem(text.data, text.length, part, strlen(part)) != NULL;
}

static void only_scripts_that_want_it_see_who_asks(void **state)
{
    (void)state;
    struct start_call *call = ask("{\"place\":{\"city\":\"LON\"}," STAY "," ROOMS
                                  ",\"client\":{\"ip\":\"192.0.2.7\",\"user_agent\":\"curl\"}}");
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_false(holds(block_text(call->facts), "192.0.2.7"));
    assert_false(holds(block_text(call->key), "192.0.2.7"));
    assert_true(holds(block_text(call->client_facts), "192.0.2.7"));
    assert_true(holds(call->candidates[CURIOUS].request->url, "/192.0.2.7/"));
    assert_true(holds(call->candidates[MODEST].request->url, "/nobody/"));
    assert_false(holds(call->candidates[MODEST].request->url, "192.0.2.7"));
    script_call_destroy(&call->call);
}

static void a_search_that_says_nothing_of_its_client_has_no_second_facts(void **state)
{
    (void)state;
    struct start_call *call = ask("{\"place\":{\"city\":\"LON\"}," STAY "," ROOMS "}");
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    assert_null(call->client_facts);
    assert_true(holds(call->candidates[CURIOUS].request->url, "/nobody/"));
    script_call_destroy(&call->call);
}

static void every_mistake_is_told_with_its_pointer(void **state)
{
    static const char *const POINTERS[] = {
        "\"pointer\":\"/query/place\"",          "\"pointer\":\"/query/check_out\"",
        "\"pointer\":\"/query/rooms/0/adults\"", "\"pointer\":\"/query/rooms/1/child_ages/1\"",
        "\"pointer\":\"/query/colour\"",         "\"pointer\":\"/query/client/ip\"",
    };
    (void)state;
    struct start_call *call = ask("{\"place\":{},\"check_in\":\"2027-05-05\",\"check_out\":\"2027-05-03\","
                                  "\"rooms\":[{},{\"adults\":1,\"child_ages\":[4,null]}],\"colour\":1,"
                                  "\"client\":{\"ip\":\"me\"}}");
    assert_int_equal(call->product_verdict, SCRIPT_FAIL_UNEXPECTED);
    for (size_t i = 0; i < COUNT_OF(POINTERS); i++) {
        if (!holds(block_text(call->errors), POINTERS[i])) {
            struct text errors = block_text(call->errors);
            fail_msg("no %s in %.*s", POINTERS[i], TEXT_ARGS(errors));
        }
    }
    script_call_destroy(&call->call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_is_the_query_with_its_defaults_in_canonical_order),
        cmocka_unit_test(equal_queries_have_one_key_however_they_are_spelled),
        cmocka_unit_test(other_queries_have_other_keys),
        cmocka_unit_test(only_scripts_that_want_it_see_who_asks),
        cmocka_unit_test(a_search_that_says_nothing_of_its_client_has_no_second_facts),
        cmocka_unit_test(every_mistake_is_told_with_its_pointer),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
