// Drift: what a path must have been like, and for how long it must be gone, until it is told.

#include "script/drift.h"
#include "unit/script_plan_stage.h"

#include <pthread.h>

#define HEAD "return { name = 'acme', product = 'things', owner = 'o', hosts = {}, build_request = function() end,\n"
#define OFFER "{ each = 'offers[]', offer = { id = 'id', price = { total = money(up(1).cur, 'total') }, count = 'n' }"
#define FINE "{\"cur\":\"EUR\",\"offers\":[{\"id\":1,\"total\":1,\"n\":1},{\"id\":2,\"total\":1,\"n\":2}]}"

static struct plan_stage stage;

static void open_source(const char *normalise)
{
    char source[4096];

    memset(&stage, 0, sizeof stage);
    support_open(&stage.world);
    (void)snprintf(source, sizeof source, HEAD "normalise = %s }", normalise);
    support_add_source(&stage.world, "acme", source);
    stage_open(&stage, "tests/unit/data/plan/scripts", "{\"product\":\"things\",\"currency\":\"EUR\",\"query\":{}}");
}

static const struct normalise_call *answer(uint16_t status, const char *body)
{
    return stage_normalise(&stage, 0, &(struct stage_answer){ .status = status, .body = text_of(body) });
}

static void repeat(size_t count, const char *body)
{
    for (size_t i = 0; i < count; i++) {
        (void)answer(200, body);
        assert_string_equal(stage.call->warning, "");
    }
}

static void assert_told(const struct normalise_call *call, enum script_verdict verdict, const char *message,
                        const char *warning)
{
    if (call->verdict != verdict || strstr(call->message, message) == NULL || strcmp(call->warning, warning) != 0) {
        fail_msg("%s: %s; %s", script_verdict_name(call->verdict), call->message, call->warning);
    }
}

static uint64_t total(void)
{
    return drift_answers(script_set_drift(stage.world.set, 0));
}

struct listed {
    size_t count;
    char path[100];
    uint64_t since_wall_us;
};

static void on_path(void *context, const char *path, uint64_t since_wall_us)
{
    struct listed *listed = context;

    listed->count++;
    (void)snprintf(listed->path, sizeof listed->path, "%s", path);
    listed->since_wall_us = since_wall_us;
}

static struct listed list(void)
{
    struct listed listed = { 0 };
    drift_list(script_set_drift(stage.world.set, 0), on_path, &listed);
    return listed;
}

#define LACKS_N "{\"cur\":\"EUR\",\"offers\":[{\"id\":1,\"total\":1},{\"id\":2,\"total\":1,\"n\":null}]}"
#define WARNING "drift: offers[].n has stopped appearing"

static void a_path_that_all_had_is_told_from_the_fifth_answer_without_it(void **state)
{
    (void)state;
    open_source("plan " OFFER " }");
    repeat(DRIFT_ANSWERS, FINE);
    uint64_t before_us = clock_wall_us();
    repeat(DRIFT_RUN - 1, LACKS_N);
    assert_int_equal(list().count, 0);
    assert_told(answer(200, LACKS_N), SCRIPT_OK, "", WARNING);
    assert_told(answer(200, LACKS_N), SCRIPT_OK, "", WARNING);
    assert_int_equal(total(), 2);
    assert_int_equal(list().count, 1);
    assert_string_equal(list().path, "offers[].n");
    assert_in_range(list().since_wall_us, before_us, clock_wall_us());
    repeat(1, FINE);
    assert_int_equal(list().count, 0);
    assert_int_equal(total(), 2);
    stage_close(&stage);
}

static void fewer_answers_prove_nothing(void **state)
{
    (void)state;
    open_source("plan " OFFER " }");
    repeat(DRIFT_ANSWERS - 10, FINE);
    repeat(20, LACKS_N);
    assert_int_equal(total(), 0);
    stage_close(&stage);
}

static void what_some_offers_never_had_is_not_told(void **state)
{
    (void)state;
    open_source("plan " OFFER " }");
    repeat(DRIFT_ANSWERS, "{\"cur\":\"EUR\",\"offers\":[{\"id\":1,\"total\":1,\"n\":1},{\"id\":2,\"total\":1}]}");
    repeat(20, LACKS_N);
    assert_int_equal(total(), 0);
    stage_close(&stage);
}

static void one_answer_with_it_begins_anew(void **state)
{
    (void)state;
    open_source("plan " OFFER " }");
    repeat(DRIFT_ANSWERS * 2, FINE);
    repeat(DRIFT_RUN - 1, LACKS_N);
    repeat(1, FINE);
    repeat(DRIFT_RUN - 1, LACKS_N);
    assert_int_equal(total(), 0);
    stage_close(&stage);
}

static void answers_of_another_kind_say_nothing_of_paths(void **state)
{
    (void)state;
    open_source("plan " OFFER ", when = { ['error:present'] = fail.busy 'later', [404] = 'empty' } }");
    repeat(DRIFT_ANSWERS, FINE);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(answer(200, "{\"error\":1}")->verdict, SCRIPT_FAIL_BUSY);
        (void)answer(404, "{}");
        (void)answer(500, "{}");
        (void)answer(200, "{\"offers\":");
    }
    repeat(10, "{\"offers\":[]}"); // nothing for you, without a currency
    assert_int_equal(total(), 0);
    assert_int_equal(list().count, 0);
    stage_close(&stage);
}

static void a_list_that_is_gone_is_no_empty_answer_for_long(void **state)
{
    (void)state;
    open_source("plan " OFFER ", when = { ['offers:absent'] = 'empty' } }");
    repeat(DRIFT_ANSWERS, FINE);
    for (size_t i = 1; i < DRIFT_RUN; i++) {
        assert_told(answer(200, "{\"cur\":\"EUR\",\"angebote\":[{}]}"), SCRIPT_EMPTY, "", "");
    }
    assert_told(answer(200, "{\"cur\":\"EUR\",\"angebote\":[{}]}"), SCRIPT_UNPARSABLE,
                "drift: offers has stopped appearing", "");
    stage_close(&stage);
}

static void offers_that_are_lost_by_it_are_told_with_both_paths(void **state)
{
    const char *body = "{\"cur\":\"EUR\",\"offers\":[{\"id\":1,\"summe\":1,\"n\":1}]}";

    (void)state;
    open_source("plan " OFFER " }");
    assert_told(answer(200, body), SCRIPT_UNPARSABLE, "[1].price.total: required, but absent", ""); // from the first on
    repeat(DRIFT_ANSWERS + 20, FINE);
    for (size_t i = 0; i < DRIFT_RUN; i++) {
        (void)answer(200, body);
    }
    assert_told(stage.call, SCRIPT_UNPARSABLE, "; drift: offers[].total has stopped appearing", "");
    stage_close(&stage);
}

static void shapes_are_watched_like_plans(void **state)
{
    const char *script =
        "function(response)\n"
        "local body = response:json { offers = { { id = text, total = decimal, tags = map_of { n = text } } } }\n"
        "body = response:json { offers = { { id = text, total = decimal, tags = map_of { n = text } } } }\n"
        "return map(body.offers or {}, function(offer) return { id = offer.id,\n"
        "price = { total = offer.total, currency = 'EUR' } } end) end";

    (void)state;
    open_source(script);
    repeat(DRIFT_ANSWERS, "{\"offers\":[{\"id\":1,\"total\":1,\"tags\":{\"a\":{\"n\":1}}}]}");
    repeat(DRIFT_RUN - 1, "{\"offers\":[{\"id\":1,\"total\":1,\"tags\":{\"a\":{}}}]}");
    assert_told(answer(200, "{\"offers\":[{\"id\":1,\"total\":1,\"tags\":{\"b\":{}}}]}"), SCRIPT_OK, "",
                "drift: offers[].tags{}.n has stopped appearing");
    for (size_t i = 1; i < DRIFT_RUN; i++) {
        assert_told(answer(200, "{\"angebote\":[]}"), SCRIPT_EMPTY, "", "");
    }
    assert_told(answer(200, "{\"angebote\":[]}"), SCRIPT_UNPARSABLE, "drift: offers has stopped appearing", "");
    stage_close(&stage);
}

static void a_supplier_that_sells_nothing_any_more_is_told(void **state)
{
    (void)state;
    open_source("plan " OFFER " }");
    repeat(DRIFT_ANSWERS, FINE);
    repeat(DRIFT_EMPTY_RUN - 1, "{\"cur\":\"EUR\",\"offers\":[]}");
    assert_told(answer(200, "{\"cur\":\"EUR\",\"offers\":[]}"), SCRIPT_EMPTY, "",
                "drift: any offer has stopped appearing");
    stage_close(&stage);
}

// ---- several threads -----------------------------------------------------------------------------------------------

enum { THREADS = 4, ROUNDS = 300 };

/// As a worker does it: a tree of its own, counted into the supplier's.
static struct listed list_unseen(void)
{
    struct listed listed = { 0 };
    drift_list_unseen(script_set_drift(stage.world.set, 0), on_path, &listed);
    return listed;
}

static void a_path_that_only_a_refusal_has_was_there(void **state)
{
    (void)state;
    open_source("(function() local SHAPE = { error = text, offers = { { id = text } } } return function(response)\n"
                "local told = response:json(SHAPE)\n"
                "return told.error and fail.supplier { code = told.error, message = 'no' }\n"
                "or { { id = '1', price = { total = '1', currency = 'EUR' } } } end end)()");
    (void)answer(200, "{\"offers\":[{\"id\":\"1\"}]}");
    assert_int_equal(list_unseen().count, 1);
    assert_string_equal(list_unseen().path, "error");
    assert_told(answer(200, "{\"error\":\"E1\"}"), SCRIPT_FAIL_SUPPLIER, "no", "");
    assert_int_equal(list_unseen().count, 0);
    stage_close(&stage);
}

static void *count_answers(void *context)
{
    static const char fine[] = "{\"offers\":[{\"id\":1,\"n\":2}]}";
    struct drift *drift = context;
    struct arena arena;
    struct tape tape;
    struct declared *members[2] = { NULL, NULL };
    struct declared *list = NULL;
    struct declared *element = NULL;

    arena_init(&arena, 1 << 16);
    tape_init(&tape);
    struct declared *root = declared_root(&arena);
    assert_int_equal(declared_member(&arena, root, TEXT("offers"), &list), DECLARED_OK);
    assert_int_equal(declared_element(&arena, list, DECLARED_LIST, &element), DECLARED_OK);
    assert_int_equal(declared_member(&arena, element, TEXT("id"), &members[0]), DECLARED_OK);
    assert_int_equal(declared_member(&arena, element, TEXT("n"), &members[1]), DECLARED_OK);
    for (int i = 0; i < ROUNDS; i++) {
        struct drift_seen seen = { .drift = drift };
        struct drift_answer given = { .supplier = TEXT("acme"), .wall_us = 1, .has_outcome = true };
        assert_int_equal(tape_read_json(&tape, text_of(fine), root, NULL, NULL), TAPE_OK);
        drift_look(&seen, root, &tape);
        drift_settle(&seen, &given);
        assert_int_equal(given.count, 0);
    }
    tape_fini(&tape);
    arena_fini(&arena);
    return NULL;
}

static void threads_count_into_one_tree(void **state)
{
    struct drift drift;
    pthread_t threads[THREADS];

    (void)state;
    memset(&drift, 0, sizeof drift);
    drift_init(&drift);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_answers, &drift), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_non_null(atomic_load(&drift.trees[0]));
    assert_null(atomic_load(&drift.trees[1])); // they found each other's
    assert_int_equal(drift_answers(&drift), 0);
    drift_fini(&drift);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_that_all_had_is_told_from_the_fifth_answer_without_it),
        cmocka_unit_test(fewer_answers_prove_nothing),
        cmocka_unit_test(what_some_offers_never_had_is_not_told),
        cmocka_unit_test(one_answer_with_it_begins_anew),
        cmocka_unit_test(answers_of_another_kind_say_nothing_of_paths),
        cmocka_unit_test(a_list_that_is_gone_is_no_empty_answer_for_long),
        cmocka_unit_test(offers_that_are_lost_by_it_are_told_with_both_paths),
        cmocka_unit_test(shapes_are_watched_like_plans),
        cmocka_unit_test(a_supplier_that_sells_nothing_any_more_is_told),
        cmocka_unit_test(a_path_that_only_a_refusal_has_was_there),
        cmocka_unit_test(threads_count_into_one_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
