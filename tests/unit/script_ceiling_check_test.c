// The check of ceilings: two fresh states, the same search and progress, the same answer.

#include "unit/script_support.h"

#include <sys/stat.h>
#include <unistd.h>

static struct support_world world;

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

static void load(const char *scripts, const char *before, const char *ceiling, struct support_findings *findings)
{
    struct script_set *set = NULL;
    char source[2048];

    world.count = 0;
    findings->count = 0;
    findings->text[0] = '\0';
    snprintf(source, sizeof source,
             "%s\nreturn { name = \"acme\", product = \"flights\", owner = \"o\", hosts = { \"a.example\" },"
             " build_request = function() end, normalise = function() end,\n  ceiling = function(search, progress)\n"
             "%s\nend }",
             before, ceiling);
    support_add_source(&world, "acme", source);
    (void)!script_set_load(scripts, world.sources, world.count, support_on_finding, findings, &set);
    script_set_release(&set);
}

static void assert_finds(const char *before, const char *ceiling, const char *finding)
{
    struct support_findings findings;
    load("scripts", before, ceiling, &findings);
    if (strstr(findings.text, finding) == NULL) {
        fail_msg("no \"%s\" in: %s", finding, findings.text);
    }
    assert_int_equal(findings.count, 1);
}

static void assert_fine(const char *before, const char *ceiling)
{
    struct support_findings findings;
    load("scripts", before, ceiling, &findings);
    assert_string_equal(findings.text, "");
}

static void one_that_depends_on_its_arguments_only_is_fine(void **state)
{
    (void)state;
    assert_fine("", "return 900");
    assert_fine("", "return progress.offers >= 60 and 500 or 1000 - progress.elapsed_ms / 10");
    assert_fine("", "return search.trip_type == 'return' and search.party * 100 or nil");
    assert_fine("local rates = { GB = 700 }", "return rates[search.market] or progress.cheapest and 100");
    assert_fine("", "error('asked in vain')"); // its supplier may skip such a search
}

static void one_that_keeps_something_between_calls_is_found(void **state)
{
    (void)state;
    assert_finds("local calls = 0", "calls = calls + 1 return 100 + calls",
                 "acme.lua:3: ceiling says 101, and in a fresh state 104, for the same search and progress (let it");
    assert_finds("local last", "local before = last last = progress.offers return before == 0 and 1 or 2",
                 "for the same search and progress");
    assert_finds("local is_first = true", "if is_first then is_first = false error('not yet') end return 1",
                 "ceiling says an error: ");
}

static void one_that_asks_for_what_it_may_not_see_is_found_at_its_line(void **state)
{
    (void)state;
    assert_finds("", "return #crypto.random(4)", "acme.lua:4: crypto.random is not available within ceiling");
    assert_finds("", "local ok = pcall(crypto.uuid) return ok and 1 or #crypto.uuid()",
                 "acme.lua:4: crypto.uuid is not available within ceiling");
    assert_finds("", "local ms = progress.worth_waiting { value = 1 } return ms",
                 "acme.lua:4: progress.worth_waiting needs `delay_cost`");
    assert_finds("", "return progress.worth_waiting { value = 1, delay_cots = 2 }",
                 "progress.worth_waiting has no `delay_cots`: it takes `value` and `delay_cost`");
    assert_finds("", "return progress.ofers * 2", "progress has no field \"ofers\": did you mean \"offers\"?");
    assert_finds("", "return 'soon'", "ceiling must return a number of milliseconds above 0, or nil; not soon");
    assert_finds("", "return progress.offers", "above 0, or nil; not 0");
    assert_finds("", "while true do end", "acme.lua:3: ceiling runs for more than 500 ms");
}

/// A scripts folder of one product whose example is `example`.
static void write_product(char *folder, size_t size, const char *example)
{
    char path[256];

    snprintf(folder, size, "%s/scripts", world.folder);
    (void)mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/products", folder);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/products/flights.lua", folder);
    FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    fprintf(
        stream,
        "return { name = 'flights', offer = { { 'id', 'text', required = true }, { 'price', {"
        " { 'total', 'money', required = true }, { 'currency', 'currency', required = true } }, required = true } },"
        "\n example = %s, query = function(request) local day = request.query.day"
        " if not day then return nil, { { pointer = '/query/day', code = 'required', detail = '' } } end"
        " return { currency = 'EUR', day = day } end }",
        example);
    assert_int_equal(fclose(stream), 0);
}

static void remove_product(const char *folder)
{
    char path[256];

    snprintf(path, sizeof path, "%s/products/flights.lua", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/products", folder);
    (void)rmdir(path);
    (void)rmdir(folder);
}

static void an_example_must_be_a_query_that_its_product_takes(void **state)
{
    (void)state;
    struct support_findings findings;
    char folder[128];

    write_product(folder, sizeof folder, "{ day = 1 }");
    load(folder, "local n = 0", "n = n + search.day return n", &findings);
    assert_non_null(strstr(findings.text, "acme.lua:3: ceiling says 1, and in a fresh state 4"));
    write_product(folder, sizeof folder, "{ dya = 1 }");
    load(folder, "local n = 0", "n = n + 1 return n", &findings);
    assert_non_null(strstr(findings.text, "flights.lua:2: field `example` is not valid: /query/day: required"));
    write_product(folder, sizeof folder, "nil"); // nothing to ask it about
    load(folder, "local n = 0", "n = n + 1 return n", &findings);
    assert_string_equal(findings.text, "");
    remove_product(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_depends_on_its_arguments_only_is_fine, open_world, close_world),
        cmocka_unit_test_setup_teardown(one_that_keeps_something_between_calls_is_found, open_world, close_world),
        cmocka_unit_test_setup_teardown(one_that_asks_for_what_it_may_not_see_is_found_at_its_line, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(an_example_must_be_a_query_that_its_product_takes, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
