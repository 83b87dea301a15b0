// What suppliers sell: the names that the product's facts give, and searches for something else.

#include "unit/script_pool_support.h"

#include "script/sells.h"

static struct support_world world;
static struct support_pool pool;

static int open_world(void **state)
{
    (void)state;
    support_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    support_close(&world);
    return 0;
}

#define SUPPLIER(name, product, sells)                                                                                 \
    "return { name = \"" name "\", product = \"" product "\", owner = \"o\", hosts = { \"a.example\" },"               \
    " options = { base_url = \"https://a.example\" }, build_request = function() return { path = \"/\" } end,"         \
    " normalise = function() end,"                                                                                     \
    " skip = function(search) return search.market == \"US\" and \"asked skip\" or nil end,\n  sells = " sells " }"

static void assert_plural(const char *fact, const char *name)
{
    char written[64];
    assert_true(sells_plural(text_of(fact), written, sizeof written));
    assert_string_equal(written, name);
}

static void the_plural_of_a_fact_names_its_list(void **state)
{
    (void)state;
    assert_plural("trip_type", "trip_types");
    assert_plural("market", "markets");
    assert_plural("currency", "currencies");
    assert_plural("party", "parties");
    assert_plural("lead_days", "lead_days");
    assert_plural("nights", "nights");
    assert_plural("day", "days");
    char small[8];
    assert_false(sells_plural(TEXT("trip_type"), small, sizeof small));
}

static void assert_finds(const char *source, const char *finding)
{
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    world.count = 0;
    support_add_source(&world, "acme", source);
    assert_int_equal(script_set_load("scripts", world.sources, world.count, support_on_finding, &findings, &set),
                     STATUS_INVALID);
    if (strstr(findings.text, finding) == NULL) {
        fail_msg("no \"%s\" in: %s", finding, findings.text);
    }
}

#define FINDS(sells, finding) assert_finds(SUPPLIER("acme", "flights", sells), finding)

static void of_an_unknown_product_nothing_else_is_told(void **state)
{
    (void)state;
    struct support_findings findings = { .count = 0 };
    struct script_set *set = NULL;

    world.count = 0;
    support_add_source(&world, "acme", SUPPLIER("acme", "flight", "{ trip_types = { \"one_way\" }, max_party = 9 }"));
    assert_int_equal(script_set_load("scripts", world.sources, world.count, support_on_finding, &findings, &set),
                     STATUS_INVALID);
    assert_int_equal(findings.count, 1);
    assert_non_null(strstr(findings.text, "there is no product \"flight\""));
}

static void a_mistake_is_a_finding_with_its_line_and_a_remedy(void **state)
{
    (void)state;
    FINDS("7", "acme.lua:2: field `sells` must be a table, not a number");
    FINDS("{\n trip_type = { \"one_way\" } }",
          "acme.lua:3: `sells.trip_type` is no fact of this product's searches (did you mean `trip_types`?)");
    FINDS("{ max_partly = 9 }", "`sells.max_partly` is no fact of this product's searches (did you mean `max_party`?)");
    FINDS("{ max_market = 9 }", "`sells.max_market` is no fact");
    FINDS("{ max_rooms = 1 }", "`sells.max_rooms` is no fact"); // of hotels
    FINDS(
        "{ trip_types = { \"oneway\" } }",
        "`sells.trip_types` has an item 1 that is not a value of this fact (its values: one_way, return, multi_city)");
    FINDS("{ trip_types = {} }", "`sells.trip_types` must be a list of 1 to 64 values");
    FINDS("{ trip_types = \"one_way\" }", "`sells.trip_types` must be a list");
    FINDS("{ markets = { \"GB\", \"uk\" } }", "`sells.markets` has an item 2 that is not a country of two capital");
    FINDS("{ lead_days = { 1.5 } }", "`sells.lead_days` has an item 1 that is not a whole number");
    FINDS("{ weekends = { 1 } }", "`sells.weekends` has an item 1 that is not true or false");
    FINDS("{ max_party = \"9\" }", "`sells.max_party` must be a whole number");
    FINDS("{ 9 }", "`sells.?` is no fact");
}

static struct start_call *search_flights(const char *market, int travellers)
{
    char body[1024];
    char list[512] = "";
    size_t length = 0;
    for (int i = 0; i < travellers; i++) {
        length += (size_t)snprintf(list + length, sizeof list - length, "%s{\"type\":\"adult\"}", i > 0 ? "," : "");
    }
    snprintf(body, sizeof body,
             "{\"product\":\"flights\",\"query\":{\"slices\":[{\"origin\":\"LHR\",\"destination\":\"JFK\","
             "\"date\":\"2026-12-05\"}],\"travellers\":[%s]%s}}",
             list, market);
    struct start_call *call = support_start_body(&world, TEXT("flights"), body);
    support_run(&pool, &call->call);
    assert_int_equal(call->product_verdict, SCRIPT_OK);
    return call;
}

static void assert_skipped(const struct start_call *call, size_t candidate, const char *reason)
{
    const struct start_candidate *found = &call->candidates[candidate];
    if (reason == NULL) {
        if (found->verdict != SCRIPT_OK) {
            fail_msg("%zu: %.*s", candidate, TEXT_ARGS(found->message));
        }
        return;
    }
    if (found->verdict != SCRIPT_SKIPPED || !text_equals_c(found->message, reason)) {
        fail_msg("%zu: %s: %.*s instead of %s", candidate, script_verdict_name(found->verdict),
                 TEXT_ARGS(found->message), reason);
    }
}

static void a_search_for_something_else_skips_the_supplier_and_says_why(void **state)
{
    (void)state;
    support_add_source(&world, "all", SUPPLIER("all", "flights", "{}"));
    support_add_source(&world, "back", SUPPLIER("back", "flights", "{ trip_types = { \"return\" } }"));
    support_add_source(&world, "few", SUPPLIER("few", "flights", "{ max_party = 2 }"));
    support_add_source(&world, "group", SUPPLIER("group", "flights", "{ min_party = 2 }"));
    support_add_source(&world, "home",
                       SUPPLIER("home", "flights", "{ markets = { \"GB\", \"US\" }, cabins = { \"economy\" } }"));
    support_add_source(&world, "nights", SUPPLIER("nights", "flights", "{ max_nights = 3, weekends = { true } }"));
    support_load_from(&world, "scripts");
    support_pool_open(
        &pool, (struct worker_pool_options){ .threads = 1, .build_limit_us = 50000, .normalise_limit_us = 500000 });

    struct start_call *call = search_flights(",\"market\":\"GB\"", 3);
    assert_skipped(call, 0, NULL);
    assert_skipped(call, 1, "trip_type one_way not sold");
    assert_skipped(call, 2, "party 3 not sold, at most 2");
    assert_skipped(call, 3, NULL);
    assert_skipped(call, 4, NULL);
    assert_skipped(call, 5, NULL); // a one-way trip has no nights; the day is a Saturday
    script_call_destroy(&call->call);

    call = search_flights("", 1);
    assert_skipped(call, 2, NULL);
    assert_skipped(call, 3, "party 1 not sold, at least 2");
    assert_skipped(call, 4, "market not given, and only some are sold");
    script_call_destroy(&call->call);

    call = search_flights(",\"market\":\"US\",\"cabin\":\"business\"", 1); // before `skip` is asked
    assert_skipped(call, 0, "asked skip");
    assert_skipped(call, 4, "cabin business not sold");
    script_call_destroy(&call->call);
    support_pool_close(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plural_of_a_fact_names_its_list),
        cmocka_unit_test_setup_teardown(of_an_unknown_product_nothing_else_is_told, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_mistake_is_a_finding_with_its_line_and_a_remedy, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_search_for_something_else_skips_the_supplier_and_says_why, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
