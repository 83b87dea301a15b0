// What scripts give back is bounded, each limit is counted for the script that met it, and errors cost no memory.

#include "script/sandbox.h"
#include "unit/script_pool_stage.h"

#include <malloc.h>

/// A supplier with these functions; what is not given does as little as possible.
static size_t add_supplier(const char *name, const char *functions)
{
    char source[2048];
    snprintf(source, sizeof source,
             "return { name = '%s', product = 'shop', owner = 'a@example.com', hosts = { 'api.example.com' },\n"
             "  options = { base_url = 'https://api.example.com' },\n"
             "%s%s%s }",
             name, functions,
             strstr(functions, "build_request") != NULL ? ""
                                                        : "  build_request = function() return { path = '/' } end,\n",
             strstr(functions, "normalise") != NULL ? "" : "  normalise = function() return {} end,\n");
    return support_add_source(&world, name, source);
}

struct breach {
    const char *name;
    const char *functions;
    enum script_limit limit;
    enum script_verdict verdict;
    const char *message; // a part of it
    uint64_t times;
};

static const struct breach asked[] = {
    { "long_url", "  build_request = function() return { path = '/' .. ('x'):rep(17000) } end,\n", SCRIPT_LIMIT_REQUEST,
      SCRIPT_ERROR, "the URL is longer than 16 KiB", 1 },
    { "long_query", "  build_request = function() return { path = '/', query = { q = ('x'):rep(17000) } } end,\n",
      SCRIPT_LIMIT_REQUEST, SCRIPT_ERROR, "the URL is longer than 16 KiB", 1 },
    { "many_headers",
      "  build_request = function() local h = {} for i = 1, 65 do h['x-' .. i] = 'y' end\n"
      "    return { path = '/', headers = h } end,\n",
      SCRIPT_LIMIT_REQUEST, SCRIPT_ERROR, "more than 64 headers", 1 },
    { "long_headers",
      "  build_request = function() return { path = '/', headers = { ['x-a'] = ('y'):rep(33000) } } end,\n",
      SCRIPT_LIMIT_REQUEST, SCRIPT_ERROR, "the headers are larger than 32 KiB", 1 },
    { "large_body",
      "  build_request = function() local s = ('x'):rep(2100000) return { path = '/', body = s .. s } end,\n",
      SCRIPT_LIMIT_REQUEST, SCRIPT_ERROR, "the body is larger than 4 MiB", 1 },
    { "large_json",
      "  build_request = function() local s = ('x'):rep(2100000) return { path = '/', json = { s, s } } end,\n",
      SCRIPT_LIMIT_REQUEST, SCRIPT_ERROR, "the body is larger than 4 MiB", 1 },
    { "long_reason", "  skip = function() return ('no '):rep(200) end,\n", SCRIPT_LIMIT_MESSAGE, SCRIPT_SKIPPED,
      "no no ", 1 },
    { "talker", "  skip = function() for _ = 1, 45 do log.debug('x') end end,\n", SCRIPT_LIMIT_LOG, SCRIPT_OK, "", 25 },
};

static void open_pool(void)
{
    support_load(&world);
    support_pool_open(&pool, (struct worker_pool_options){ .threads = 1,
                                                           .build_limit_us = 10000000,
                                                           .normalise_limit_us = 10000000,
                                                           .memory_growth = 64 << 20 });
}

static uint64_t count_of(size_t supplier, enum script_limit limit)
{
    return script_set_limit_count(world.set, (struct script_id){ .index = supplier }, limit);
}

static void assert_only(size_t supplier, enum script_limit limit, uint64_t times, const char *name)
{
    for (size_t i = 0; i < SCRIPT_LIMIT_COUNT; i++) {
        uint64_t wanted = i == limit ? times : 0;
        if (count_of(supplier, (enum script_limit)i) != wanted) {
            fail_msg("%s: %s was counted %llu times", name, script_limit_name((enum script_limit)i),
                     (unsigned long long)count_of(supplier, (enum script_limit)i));
        }
    }
}

static void a_request_or_reason_that_is_too_large_is_counted_for_its_script(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        add_supplier(asked[i].name, asked[i].functions);
    }
    size_t good = support_add(&world, "good", SUPPORT_DATA "/suppliers/good.lua");
    open_pool();
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct start_candidate *candidate = &call->candidates[i];
        assert_verdict(candidate->verdict, asked[i].verdict, asked[i].name, candidate->message);
        const char *part = asked[i].message;
        if (part[0] != '\0' && memmem(candidate->message.data, candidate->message.length, part, strlen(part)) == NULL) {
            fail_msg("%s: %.*s", asked[i].name, TEXT_ARGS(candidate->message));
        }
        assert_true(candidate->message.length < 256);
        assert_only(i, asked[i].limit, asked[i].times, asked[i].name);
    }
    assert_verdict(call->candidates[good].verdict, SCRIPT_OK, "good", call->candidates[good].message);
    assert_only(good, SCRIPT_LIMIT_TIME, 0, "good");
    script_call_destroy(&call->call);
}

#define OFFERS(count)                                                                                                  \
    "local list = {} for i = 1, " count " do list[i] = { id = 'o' .. i, thing = 'chair',\n"                            \
    "  price = { total = '1.00', currency = 'EUR', taxes_included = 'yes' } } end "

static const struct breach answered[] = {
    { "many_offers", "  normalise = function() " OFFERS("1200") " return list end,\n", SCRIPT_LIMIT_OFFERS, SCRIPT_OK,
      "", 1 },
    { "many_warnings",
      "  normalise = function() local w = {} for i = 1, 5000 do w[i] = 'odd' end\n" OFFERS(
          "1") " return list, { warnings = w } end,\n",
      SCRIPT_LIMIT_WARNINGS, SCRIPT_OK, "", 1 },
    { "long_warning",
      "  normalise = function() " OFFERS("1") " return list, { warnings = { ('\xc3\xa4'):rep(300) } } end,\n",
      SCRIPT_LIMIT_MESSAGE, SCRIPT_OK, "", 1 },
    { "large_state",
      "  normalise = function() " OFFERS(
          "1") " return list, { next = { request = { path = '/' }, state = ('x'):rep(70000) } } end,\n",
      SCRIPT_LIMIT_STATE, SCRIPT_ERROR, "larger than 64 KiB", 1 },
};

static void an_answer_that_is_too_large_is_cut_and_counted_for_its_script(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(answered); i++) {
        add_supplier(answered[i].name, answered[i].functions);
    }
    open_pool();
    struct block *facts = facts_of("chair");
    for (size_t i = 0; i < COUNT_OF(answered); i++) {
        struct normalise_call *call = support_normalise(&world, i, facts, 200, "{}");
        support_run(&pool, &call->call);
        assert_verdict(call->verdict, answered[i].verdict, answered[i].name, text_of(call->message));
        assert_non_null(strstr(call->message, answered[i].message));
        assert_only(i, answered[i].limit, answered[i].times, answered[i].name);
        if (answered[i].limit == SCRIPT_LIMIT_OFFERS) {
            assert_int_equal(call->offers->count, OFFER_MAX_PER_ANSWER);
            assert_int_equal(call->offers->dropped, 200);
        }
        assert_true(call->warning_count <= 100);
        assert_true(text_is_utf8(text_of(call->warning)));
        script_call_destroy(&call->call);
    }
    block_release(&facts);
}

static void fifty_lines_are_logged_in_a_second_however_many_calls_there_are(void **state)
{
    struct script_id id = { .index = 0 };
    const uint64_t now_us = 77000000;
    (void)state;
    add_supplier("quiet", "");
    support_load(&world);
    assert_int_equal(script_set_log_lines_left(world.set, id, now_us), SCRIPT_LOG_LINES_MAX);
    script_set_note_log_lines(world.set, id, now_us, 20);
    script_set_note_log_lines(world.set, id, now_us + 999999, 20);
    assert_int_equal(script_set_log_lines_left(world.set, id, now_us + 999999), 10);
    script_set_note_log_lines(world.set, id, now_us, 20);
    assert_int_equal(script_set_log_lines_left(world.set, id, now_us), 0);
    assert_int_equal(script_set_log_lines_left(world.set, id, now_us + 1000000), SCRIPT_LOG_LINES_MAX);
}

static void time_memory_and_being_stuck_are_counted(void **state)
{
    (void)state;
    support_add_faulty(&world, "loop", "skip");
    support_add_faulty(&world, "joined_bomb", "skip");
    support_add_faulty(&world, "stuck", "skip");
    support_load(&world);
    start_pool(2);
    struct start_call *call = support_start(&world, "chair");
    support_run(&pool, &call->call);
    script_call_destroy(&call->call);
    if (!has_late_signals()) { // there a loop counts as stuck
        assert_only(0, SCRIPT_LIMIT_TIME, 1, "loop");
        assert_only(2, SCRIPT_LIMIT_STUCK, 1, "stuck");
        assert_true(count_of(1, SCRIPT_LIMIT_MEMORY) + count_of(1, SCRIPT_LIMIT_TIME) > 0);
    }
}

// ---- errors

static const char *const errors[] = {
    "error('plain')",
    "error({ code = 7 })",
    "local none return none.field",
    "return ('x'):find('[')",
    "return ('x'):gsub('x', error)",
    "table.sort({ 3, 2, 1 }, function() error('within') end)",
    "map({ 1 }, function() error('within') end)",
    "return json.encode({ error })",
    "return url.query({ { 1 } })",
    "error(fail.busy('later'))",
    "return ('x'):rep(1e9)",
    "local ok, e = pcall(error, 'caught') error(e, 0)",
    "return 1 +",
};

static int run_error(lua_State *L)
{
    const size_t *index = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(errors[*index]))) {
        return lua_error(L);
    }
    lua_call(L, 0, 0);
    return 0;
}

static void raise_errors(struct sandbox *sandbox, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t index = i % COUNT_OF(errors);
        if (sandbox_call(sandbox, run_error, NULL, &index) != SANDBOX_ERROR) {
            fail_msg("no error: %s", errors[index]);
        }
    }
}

static void twenty_thousand_errors_leave_memory_flat(void **state)
{
    const char *is_long = getenv("LASTCALL_LONG");
    // The thread sanitizer dies of more.
    size_t count = is_long != NULL && strcmp(is_long, "yes") == 0 && !has_late_signals() ? 1000000 : 20000;
    struct sandbox *sandbox = sandbox_create(16 << 20, NULL, NULL);
    (void)state;
    assert_non_null(sandbox);
    raise_errors(sandbox, 5000);
    size_t reserved = sandbox->heap.reserved;
    size_t taken = mallinfo2().uordblks;
    raise_errors(sandbox, count);
    assert_true(sandbox->heap.reserved <= reserved + (1 << 20));
    assert_true(sandbox->heap.used < 4 << 20);
    if (has_honest_memory()) {
        assert_true(mallinfo2().uordblks <= taken + (64 << 10));
    }
    sandbox_destroy(&sandbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_or_reason_that_is_too_large_is_counted_for_its_script, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(an_answer_that_is_too_large_is_cut_and_counted_for_its_script, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(fifty_lines_are_logged_in_a_second_however_many_calls_there_are, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(time_memory_and_being_stuck_are_counted, open_all, close_all),
        cmocka_unit_test(twenty_thousand_errors_leave_memory_flat),
    };
    return cmocka_run_group_tests_name("script_limits", tests, NULL, NULL);
}
