// Plans: a function of one plain text is asked once for each text of an answer, and always where that could be seen.

#include "unit/script_plan_stage.h"

static struct plan_stage stage;

/// A supplier whose offers have these fields beside id and price; `n` is a local variable of its file.
static void open_plan(const char *fields)
{
    char source[2048];

    (void)snprintf(
        source, sizeof source,
        "local n = 0\n"
        "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
        "normalise = plan { each = 'offers[]', offer = { id = 'id', "
        "price = { total = money(up(1).currency, 'total') }, %s } } }",
        fields);
    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts",
               "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{\"word\":\"w\"}}");
}

/// An answer whose offers say these words, in this order; the cheapest first.
static const struct normalise_call *answer(const char *const *words, size_t count)
{
    char body[8192];
    size_t length = (size_t)snprintf(body, sizeof body, "{\"currency\":\"EUR\",\"offers\":[");

    for (size_t i = 0; i < count; i++) {
        length +=
            (size_t)snprintf(body + length, sizeof body - length, "%s{\"id\":\"%zu\",\"total\":\"%zu\",\"k\":\"%s\"}",
                             i > 0 ? "," : "", i, 100 + i, words[i]);
    }
    (void)snprintf(body + length, sizeof body - length, "]}");
    const struct normalise_call *call =
        stage_normalise(&stage, 0, &(struct stage_answer){ .status = 200, .body = text_of(body) });
    assert_int_equal(call->verdict, SCRIPT_OK);
    if (call->offers->count != count) {
        fail_msg("%zu offers: %s", call->offers->count, call->offers->dropped_first);
    }
    return call;
}

static void assert_ends(const struct offer *offer, const char *end)
{
    size_t length = strlen(end);

    if (offer->json.length < length || memcmp(offer->json.data + offer->json.length - length, end, length) != 0) {
        fail_msg("%s is not the end of %.*s", end, TEXT_ARGS(offer->json));
    }
}

static void a_text_is_asked_about_once_in_an_answer(void **state)
{
    static const char *const words[] = { "a", "b", "a", "a", "b", "c" };
    static const char *const counts[] = { "1}", "2}", "1}", "1}", "2}", "3}" };
    (void)state;

    open_plan("count = { 'k', function() n = n + 1; return n end }");
    const struct normalise_call *call = answer(words, COUNT_OF(words));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        assert_ends(&call->offers->offers[i], counts[i]);
    }
    assert_ends(&answer(words, 1)->offers->offers[0], "\"count\":4}"); // another answer
    stage_close(&stage);
}

static void each_of_many_texts_gets_its_own(void **state)
{
    static const char *const some[] = {
        "",  "a", "ab", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "abcdefghijklmnopq", "0", "1",
        "2", "3", "4",  "5",        "6"
    };
    const char *words[4 * COUNT_OF(some)];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        words[i] = some[i * 5 % COUNT_OF(some)];
    }
    open_plan("box = { label = { 'k', function(k) return '<' .. k .. '>' end } }");
    const struct normalise_call *call = answer(words, COUNT_OF(words));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        char end[64];
        (void)snprintf(end, sizeof end, "\"box\":{\"label\":\"<%s>\"}}", words[i]);
        assert_ends(&call->offers->offers[i], end);
    }
    stage_close(&stage);
}

static void what_takes_randomness_is_asked_each_time(void **state)
{
    static const char *const words[] = { "a", "a" };
    (void)state;

    open_plan("box = { label = { 'k', function() return crypto.uuid():sub(1, 8) end } }");
    const struct offer *offers = answer(words, COUNT_OF(words))->offers->offers;
    size_t length = strlen("00000000\"}}");
    assert_memory_not_equal(offers[0].json.data + offers[0].json.length - length,
                            offers[1].json.data + offers[1].json.length - length, length);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_asked_about_once_in_an_answer),
        cmocka_unit_test(each_of_many_texts_gets_its_own),
        cmocka_unit_test(what_takes_randomness_is_asked_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
