// Rules on a worker: the facts that they ask for, read from the product's own search, and what scripts are then told.

#include "unit/script_pool_support.h"

#include <sys/stat.h>

static struct support_world world;
static struct support_pool pool;

/// Says in the path of its request how much time it was told it has; its ceiling, when it is asked, is 40 s or 20 s.
static const char *const SUPPLIER = "return { name = 'acme', product = 'hotels', owner = 'a@example.com',"
                                    "  hosts = { 'api.example.com' },"
                                    "  options = { base_url = 'https://api.example.com' },"
                                    "  ceiling = function(search, progress)"
                                    "    if search.market == 'FR' then error('asked in vain') end"
                                    "    return progress.remaining_ms > 30000 and 40000 or 20000"
                                    "  end,"
                                    "  build_request = function(_, ctx)"
                                    "    return { path = '/' .. math.ceil(ctx.remaining_ms / 10000) }"
                                    "  end,"
                                    "  normalise = function() end }";

static int open_all(void **state)
{
    (void)state;
    support_open(&world);
    support_add_source(&world, "acme", SUPPLIER);
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

enum { PRODUCT, DEVICE, LEAD, WEEKEND, NIGHTS, MARKET, QUERY, NOBODY, SEGMENTS };

static const struct text segments[SEGMENTS] = {
    [PRODUCT] = { "product", 7 }, [DEVICE] = { "device", 6 }, [LEAD] = { "lead_days", 9 }, [WEEKEND] = { "weekend", 7 },
    [NIGHTS] = { "nights", 6 },   [MARKET] = { "market", 6 }, [QUERY] = { "query", 5 },    [NOBODY] = { "nobody", 6 },
};

/// The rule's number, else the script's; what policy/ says is tested there.
static struct ceiling rule_or_script(const struct ceiling_terms *terms, uint64_t script_us)
{
    if (terms->rule != NULL) {
        return (struct ceiling){ .us = terms->rule->values[RULE_CEILING], .from = CEILING_FROM_RULE };
    }
    return (struct ceiling){ .us = script_us != 0 ? script_us : UINT64_MAX, .from = CEILING_FROM_SCRIPT };
}

static struct start_call *ask(const char *market, const struct rule *rule)
{
    struct rule_set set = { .segments = segments, .segment_count = SEGMENTS, .rules = rule, .rule_count = 1 };
    char body[512];
    snprintf(body, sizeof body,
             "{\"product\":\"hotels\",\"query\":{\"place\":{\"city\":\"LON\"},\"check_in\":\"2026-12-05\","
             "\"check_out\":\"2026-12-07\",\"rooms\":[{\"adults\":2}],\"market\":\"%s\",\"device\":\"app\"}}",
             market);
    struct start_call *call = support_start_body(&world, TEXT("hotels"), body);
    uint64_t end_us = call->times.arrival_us + 10000000;
    call->rules = &set;
    call->rule_ends_us = &end_us;
    call->ceiling_of = rule_or_script;
    support_run(&pool, &call->call);
    call->rules = NULL;
    call->rule_ends_us = NULL;
    if (call->product_verdict != SCRIPT_OK) {
        struct text errors = block_text(call->errors);
        fail_msg("%s: %.*s", call->message, TEXT_ARGS(errors));
    }
    return call;
}

static void the_facts_of_the_search_fit_the_rules(void **state)
{
    (void)state;
    static const struct {
        uint32_t segment;
        struct rule_value value;
        bool fits;
    } rows[] = {
        { PRODUCT, { .text = { "hotels", 6 } }, true },
        { PRODUCT, { .text = { "flights", 7 } }, false },
        { DEVICE, { .text = { "app", 3 } }, true },
        { DEVICE, { .text = { "mobile", 6 } }, false },
        { LEAD, { .least = 0, .most = 60 }, true },
        { LEAD, { .least = 61, .most = INT64_MAX }, false },
        { WEEKEND, { .text = { "true", 4 } }, true },
        { WEEKEND, { .text = { "false", 5 } }, false },
        { NIGHTS, { .least = 2, .most = 2 }, true },
        { MARKET, { .text = { "GB", 2 } }, true },
        { QUERY, { .least = INT64_MIN, .most = INT64_MAX }, false },  // no fact, but a table
        { NOBODY, { .least = INT64_MIN, .most = INT64_MAX }, false }, // the product has no such fact
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct rule_condition condition = { rows[i].segment, &rows[i].value, 1 };
        const struct rule rule = { .conditions = &condition, .condition_count = 1, .values = { 1 } };
        struct start_call *call = ask("GB", &rule);
        if ((call->deadline_rule != NULL) != rows[i].fits) {
            fail_msg("row %zu", i);
        }
        script_call_destroy(&call->call);
    }
}

static void assert_path(const struct start_call *call, const char *path)
{
    const struct start_candidate *candidate = &call->candidates[0];
    if (candidate->verdict != SCRIPT_OK) {
        fail_msg("%.*s", TEXT_ARGS(candidate->message));
    }
    if (!text_equals_c(candidate->request->url, path)) {
        fail_msg("%.*s", TEXT_ARGS(candidate->request->url));
    }
}

static void scripts_are_told_the_time_that_a_rule_leaves(void **state)
{
    (void)state;
    const struct rule nothing = { .values = { [RULE_CEILING_SCALE] = 1 } };
    const struct rule deadline = { .values = { [RULE_DEADLINE] = 10000000 } };
    const struct rule ceiling = { .values = { [RULE_CEILING] = 30000000 } };
    struct start_call *call = ask("GB", &nothing); // a minute, of which the script waits for 40 s
    assert_path(call, "https://api.example.com/4");
    assert_int_equal(call->candidates[0].ceiling.us, 40000000);
    script_call_destroy(&call->call);
    call = ask("GB", &deadline); // the script's 20 s are longer
    assert_path(call, "https://api.example.com/1");
    assert_int_equal(call->candidates[0].ceiling.us, 20000000);
    script_call_destroy(&call->call);
    call = ask("GB", &ceiling);
    assert_path(call, "https://api.example.com/3");
    script_call_destroy(&call->call);
}

static void a_script_is_not_asked_when_a_rule_says_how_long(void **state)
{
    (void)state;
    const struct rule nothing = { .values = { [RULE_CEILING_SCALE] = 1 } };
    const struct rule ceiling = { .values = { [RULE_CEILING] = 30000000 } };
    struct start_call *call = ask("FR", &nothing);
    assert_int_equal(call->candidates[0].verdict, SCRIPT_ERROR);
    script_call_destroy(&call->call);
    call = ask("FR", &ceiling);
    assert_path(call, "https://api.example.com/3");
    assert_int_equal(call->candidates[0].ceiling.from, CEILING_FROM_RULE);
    script_call_destroy(&call->call);
}

static const struct script_segment *segment_of(const char *product, const char *name)
{
    size_t count = 0;
    const struct script_segment *all = script_set_segments(world.set, &count);
    for (size_t i = 0; i < count; i++) {
        if (text_equals_c(all[i].product, product) && text_equals_c(all[i].name, name)) {
            return &all[i];
        }
    }
    return NULL;
}

static void products_name_their_facts(void **state)
{
    (void)state;
    assert_int_equal(segment_of("flights", "lead_days")->kind, SEGMENT_INTEGER);
    assert_int_equal(segment_of("flights", "market")->kind, SEGMENT_COUNTRY);
    assert_int_equal(segment_of("hotels", "weekend")->kind, SEGMENT_FLAG);
    assert_int_equal(segment_of("hotels", "locale")->kind, SEGMENT_TEXT);
    const struct script_segment *trip = segment_of("flights", "trip_type");
    assert_int_equal(trip->kind, SEGMENT_CHOICE);
    assert_int_equal(trip->value_count, 3);
    assert_true(text_equals_c(trip->values[2], "multi_city"));
    assert_null(segment_of("hotels", "trip_type"));
    assert_null(segment_of("flights", "client"));
}

/// What is found in a product with these segments; the caller frees nothing.
static const char *findings_of(const char *segments_of_it)
{
    static struct support_findings findings;
    char folder[] = "/tmp/lastcall-test-XXXXXX";
    char products[64];
    char file[96];
    struct script_set *set = NULL;

    findings = (struct support_findings){ .count = 0 };
    assert_non_null(mkdtemp(folder));
    snprintf(products, sizeof products, "%s/products", folder);
    snprintf(file, sizeof file, "%s/shop.lua", products);
    assert_int_equal(mkdir(products, 0700), 0);
    FILE *stream = fopen(file, "we");
    assert_non_null(stream);
    fprintf(stream,
            "return { name = 'shop', query = function() end,\n"
            "offer = { { 'id', 'text', required = true }, { 'price', { { 'total', 'money', required = true },\n"
            "{ 'currency', 'currency', required = true } }, required = true },\n"
            "{ 'thing', 'text', item = true, key = true, required = true } },\n"
            "segments = %s }\n",
            segments_of_it);
    assert_int_equal(fclose(stream), 0);
    (void)!script_set_load(folder, NULL, 0, support_on_finding, &findings, &set);
    script_set_release(&set);
    remove(file);
    remove(products);
    remove(folder);
    return findings.text;
}

static void segments_that_are_none_are_findings(void **state)
{
    (void)state;
    static const struct {
        const char *segments, *finding; // "": none
    } rows[] = {
        { "nil", "" },
        { "{ thing = 'text', size = 'integer', land = 'country', big = 'flag', colour = { 'red', 'blue' } }", "" },
        { "7", "shop.lua:5: field `segments` must be a table, not a number" },
        { "{ 'thing' }", "names of the search's facts" },
        { "{ client = 'text' }", "`client` not among them" },
        { "{ thing = 'string' }", "segment `thing` is no kind of value (\"text\", \"integer\"" },
        { "{ thing = {} }", "segment `thing` is no kind of value" },
        { "{ thing = { 'red', 7 } }", "segment `thing` is no kind of value" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *found = findings_of(rows[i].segments);
        if (rows[i].finding[0] == '\0' ? found[0] != '\0' : strstr(found, rows[i].finding) == NULL) {
            fail_msg("row %zu: %s", i, found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_facts_of_the_search_fit_the_rules, open_all, close_all),
        cmocka_unit_test_setup_teardown(scripts_are_told_the_time_that_a_rule_leaves, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_script_is_not_asked_when_a_rule_says_how_long, open_all, close_all),
        cmocka_unit_test_setup_teardown(products_name_their_facts, open_all, close_all),
        cmocka_unit_test(segments_that_are_none_are_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
