// `login` and `sign` on real workers: what scripts see, what they may return, what is done with their mistakes.

#include "base/redact.h"
#include "model/request_call.h"
#include "unit/script_pool_stage.h"

#define HEAD                                                                                                           \
    "return { name = \"s\", product = \"shop\", owner = \"o@example.com\", hosts = { \"api.s.example\" },\n"           \
    "normalise = function() return {} end,\n"
#define BUILD                                                                                                          \
    "build_request = function(search, ctx) return { url = \"https://api.s.example/q\", body = \"the body\",\n"         \
    "  headers = { [\"X-Own\"] = ctx.login or \"none\" } } end,\n"
#define LOGIN(read)                                                                                                    \
    "login = { build_request = function(ctx) return { url = \"https://api.s.example/login\", form = {\n"               \
    "  key = ctx.secret.GOOD_KEY, search = tostring(rawget(ctx, \"search\")), login = tostring(ctx.login) } } end,\n"  \
    "read = function(response, ctx) " read " end },\n"
#define SIGN(body) "sign = function(request, ctx) " body " end,\n"

static void load(const char *source)
{
    support_add_source(&world, "s", source);
    support_load(&world);
    start_pool(1);
}

static struct login_call *new_login_call(uint16_t status, const char *body)
{
    struct http_response *response = NULL;

    if (status != 0) {
        response = http_response_create();
        assert_non_null(response);
        response->status = status;
        response->body = block_create(text_of(body));
    }
    struct login_call *call = login_call_create(response);
    assert_non_null(call);
    call->call.set = world.set;
    call->account = &world.accounts[0];
    call->body_cap = 1 << 20;
    call->began_us = clock_now_us();
    call->call.deadline_us = call->end_us = call->began_us + 60000000;
    return call;
}

static struct login_call *read_login(const char *body)
{
    struct login_call *call = new_login_call(200, body);

    support_run(&pool, &call->call);
    return call;
}

static struct text header_of(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (text_equals_nocase(request->headers[i].name, text_of(name))) {
            return request->headers[i].value;
        }
    }
    return (struct text){ NULL, 0 };
}

static struct request_call *make_request(enum request_job job, const char *login, struct http_request *request)
{
    struct block *facts = facts_of("chair");
    struct login given = { .value = login != NULL ? block_create(text_of(login)) : NULL, .number = 1 };
    struct request_call *call = request_call_create(job, facts, &given, request);

    assert_non_null(call);
    call->call.set = world.set;
    call->account = &world.accounts[0];
    call->times = (struct script_times){ .arrival_us = clock_now_us(), .arrival_wall_us = SUPPORT_DAY_US };
    call->times.end_us = call->allocation_end_us = call->call.deadline_us = clock_now_us() + 60000000;
    login_drop(&given);
    block_release(&facts);
    support_run(&pool, &call->call);
    return call;
}

static void a_login_is_built_of_the_account_alone_and_its_value_is_a_secret(void **state)
{
    char told[] = "it was tok-12345678, in a room";
    (void)state;

    load(HEAD BUILD LOGIN("local b = json.decode(response.body) return { value = b.token, expires_in_s = b.s }") "}");
    struct login_call *call = new_login_call(0, NULL);
    support_run(&pool, &call->call);
    assert_verdict(call->verdict, SCRIPT_OK, "s", text_of(call->message));
    assert_true(text_equals_c(call->request->body, "key=k-1&login=nil&search=nil"));
    script_call_destroy(&call->call);

    call = read_login("{\"token\":\"tok-12345678\",\"s\":1.5}");
    assert_verdict(call->verdict, SCRIPT_OK, "s", text_of(call->message));
    assert_true(text_equals_c(block_text(call->value), "\"tok-12345678\""));
    assert_int_equal(call->life_us, 1500000);
    script_call_destroy(&call->call);
    told[redact_apply(told, strlen(told), false)] = '\0';
    assert_string_equal(told, "it was ***, in a room");
}

static void a_login_may_be_a_table_whose_members_are_secrets_and_may_last(void **state)
{
    char told[] = "member-of-a-table EU";
    (void)state;

    load(HEAD BUILD LOGIN("return { value = { id = response.body, zone = \"EU\" } }") "}");
    struct login_call *call = read_login("member-of-a-table");
    assert_verdict(call->verdict, SCRIPT_OK, "s", text_of(call->message));
    assert_true(text_equals_c(block_text(call->value), "{\"id\":\"member-of-a-table\",\"zone\":\"EU\"}"));
    assert_true(call->life_us == UINT64_MAX);
    script_call_destroy(&call->call);
    told[redact_apply(told, strlen(told), false)] = '\0';
    assert_string_equal(told, "*** EU");
}

static void a_login_that_is_none_is_an_error_with_its_place(void **state)
{
    static const struct {
        const char *code;
        enum script_verdict verdict;
        const char *sentence;
    } rows[] = {
        { "return nil", SCRIPT_ERROR, "login.read must return { value =, expires_in_s = }, not a nil" },
        { "return { value = ctx.secret.GOOD_KYE }", SCRIPT_ERROR,
          "there is no secret \"GOOD_KYE\": did you mean \"GOOD_KEY\"?" },
        { "return { value = ctx.secret.PASSPHRASE }", SCRIPT_ERROR,
          "there is no secret \"PASSPHRASE\": the script's `secrets` do not name it" },
        { "return { value = nil }", SCRIPT_ERROR, "`value` that is a string or a table, not a nil" },
        { "return { value = \"\" }", SCRIPT_ERROR, "an empty `value`" },
        { "return { value = 12 }", SCRIPT_ERROR, "not a number" },
        { "return { value = \"x\", expires_in = 3 }", SCRIPT_ERROR,
          "unknown field `expires_in`, did you mean `expires_in_s`?" },
        { "return { value = \"x\", ttl = 3 }", SCRIPT_ERROR, "unknown field `ttl`; there are `value`, `expires_in_s`" },
        { "return { value = \"x\", expires_in_s = 0 }", SCRIPT_ERROR, "`expires_in_s` as a number above 0" },
        { "return { value = \"x\", expires_in_s = 0/0 }", SCRIPT_ERROR, "`expires_in_s` as a number above 0" },
        { "return { value = \"x\", expires_in_s = \"60\" }", SCRIPT_ERROR, "`expires_in_s` as a number above 0" },
        { "return { value = (\"x\"):rep(9000) }", SCRIPT_ERROR, "larger than 8 KiB" },
        { "return { value = { f = tostring } }", SCRIPT_ERROR, "s.lua:" },
        { "return fail.auth(\"wrong key\")", SCRIPT_FAIL_AUTH, "wrong key" },
        { "error(\"what is this\")", SCRIPT_ERROR, "s.lua:6: what is this" },
        { "while true do end", SCRIPT_TIMEOUT, "s.lua:6" },
        { "response:json()", SCRIPT_UNPARSABLE, "the body is no JSON" },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char source[2048];
        if (has_late_signals() && rows[i].verdict == SCRIPT_TIMEOUT) {
            continue;
        }
        snprintf(source, sizeof source,
                 "%s%slogin = { build_request = function() end,\nread = function(response, ctx) %s end } }", HEAD,
                 BUILD, rows[i].code);
        support_open(&world);
        load(source);
        struct login_call *call = read_login("hello");
        assert_verdict(call->verdict, rows[i].verdict, rows[i].code, text_of(call->message));
        if (strstr(call->message, rows[i].sentence) == NULL) {
            fail_msg("%s: %s", rows[i].code, call->message);
        }
        assert_null(call->value);
        script_call_destroy(&call->call);
        close_all(NULL);
        memset(&pool, 0, sizeof pool);
    }
    support_open(&world);
}

static void a_login_answered_429_or_503_says_how_long_to_wait(void **state)
{
    static const struct {
        uint16_t status;
        const char *header, *read;
        uint64_t wait_ms;
    } cases[] = {
        { 429, "120", "return { value = response:json().token }", 120000 }, // which is nil there
        { 429, "120", "error('odd')", 120000 },
        { 429, "120", "return fail.quota{ retry_after = 7 }", 7000 },
        { 400, "120", "return fail.quota{}", 120000 },
        { 400, "120", "return fail.busy 'no'", 120000 },
        { 400, "120", "return fail.supplier{ code = 'X1', message = 'no' }", 0 }, // neither too many nor busy
        { 429, "2abc", "return fail.quota{}", 0 },
        { 503, "120", "return fail.supplier{ code = 'X1', message = 'no' }", 120000 },
        { 503, "120", "return fail.busy 'no'", 120000 },
        { 503, "2abc", "return fail.busy 'no'", 0 },
    };
    char source[2000];
    (void)state;

    support_close(&world); // each case has its own
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        support_open(&world);
        (void)snprintf(source, sizeof source,
                       "%s%slogin = { build_request = function() end,\nread = function(response) %s end } }", HEAD,
                       BUILD, cases[i].read);
        load(source);
        struct login_call *call = new_login_call(cases[i].status, "{\"message\":\"slow down\"}");
        call->response->headers = malloc(sizeof(struct header));
        call->response->headers[0] = (struct header){ TEXT("retry-after"), text_of(cases[i].header) };
        call->response->header_count = 1;
        support_run(&pool, &call->call);
        assert_int_equal(call->retry_after_ms, cases[i].wait_ms);
        script_call_destroy(&call->call);
        close_all(NULL);
        memset(&pool, 0, sizeof pool);
    }
    support_open(&world);
}

static void a_signature_sees_what_goes_out_and_adds_to_it(void **state)
{
    (void)state;
    load(HEAD BUILD SIGN("return { [\"X-Sign\"] = table.concat({ request.method, request.url, request.body,\n"
                         "  request.headers[\"x-own\"], tostring(request.headers[\"x-sign\"]), tostring(ctx.login),\n"
                         "  ctx.part .. \"/\" .. ctx.parts, type(ctx.now.s) }, \" \") }") "}");
    struct start_call *start = support_start(&world, "chair");
    support_run(&pool, &start->call);
    struct start_candidate *candidate = &start->candidates[0];
    assert_verdict(candidate->verdict, SCRIPT_OK, "s", candidate->message);
    const struct http_request *request = candidate->request;
    assert_true(
        text_equals_c(header_of(request, "x-sign"), "POST https://api.s.example/q the body none nil nil 1/1 number"));
    assert_int_equal(request->signed_count, 1);
    assert_in_range(request->signed_us, 1, clock_now_us());

    struct http_request *old = candidate->request;
    uint64_t before_us = old->signed_us;
    candidate->request = NULL;
    script_call_destroy(&start->call);
    struct request_call *again = make_request(REQUEST_SIGN, "\"tok\"", old); // its first signature is not signed
    assert_verdict(again->verdict, SCRIPT_OK, "s", text_of(again->message));
    assert_true(text_equals_c(header_of(again->request, "x-sign"),
                              "POST https://api.s.example/q the body none nil tok 1/1 number"));
    assert_int_equal(again->request->header_count, 2);
    assert_true(again->request->signed_us >= before_us);
    script_call_destroy(&again->call);
}

static void a_signature_that_cannot_be_added_is_an_error_of_sign(void **state)
{
    static const struct {
        const char *code;
        const char *sentence;
    } rows[] = {
        { "return 1", "sign must return a table of headers or nil, not a number" },
        { "return { [\"x-own\"] = \"again\" }", "sign: the request has a header x-own already" },
        { "return { [\"Content-Length\"] = \"1\" }", "sign: the header content-length is the engine's to set" },
        { "return { [\"bad name\"] = \"1\" }", "sign: \"bad name\" is no header name" },
        { "return { x = \"a\\nb\" }", "sign: header x holds a control character" },
        { "request.url = \"x\"", "s.lua:" },
        { "error(\"no key\")", "no key" },
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char source[2048];
        snprintf(source, sizeof source, "%s%ssign = function(request) %s end }", HEAD, BUILD, rows[i].code);
        support_open(&world);
        load(source);
        struct start_call *start = support_start(&world, "chair");
        support_run(&pool, &start->call);
        const struct start_candidate *candidate = &start->candidates[0];
        assert_verdict(candidate->verdict, SCRIPT_ERROR, rows[i].code, candidate->message);
        if (memmem(candidate->message.data, candidate->message.length, rows[i].sentence, strlen(rows[i].sentence)) ==
            NULL) {
            fail_msg("%s: %.*s", rows[i].code, TEXT_ARGS(candidate->message));
        }
        assert_null(candidate->request);
        script_call_destroy(&start->call);
        close_all(NULL);
        memset(&pool, 0, sizeof pool);
    }
    support_open(&world);
}

static void without_a_login_nothing_is_built_and_with_one_it_is(void **state)
{
    struct login logins[1] = { { NULL, 0 } };
    (void)state;

    load(HEAD BUILD LOGIN("return {}") SIGN("return { [\"x-login\"] = tostring(ctx.login) }") "}");
    struct start_call *start = support_start(&world, "chair");
    start->candidates[0].logins = logins; // one account, and nobody has logged in
    support_run(&pool, &start->call);
    assert_verdict(start->candidates[0].verdict, SCRIPT_OK, "s", start->candidates[0].message);
    assert_null(start->candidates[0].request);
    script_call_destroy(&start->call);

    start = support_start(&world, "chair");
    logins[0] = (struct login){ .value = block_create(TEXT("\"tok-a\"")), .number = 1 };
    start->candidates[0].logins = logins;
    support_run(&pool, &start->call);
    assert_true(text_equals_c(header_of(start->candidates[0].request, "x-own"), "tok-a"));
    assert_true(text_equals_c(header_of(start->candidates[0].request, "x-login"), "tok-a"));
    login_drop(&logins[0]);
    script_call_destroy(&start->call);

    struct request_call *built = make_request(REQUEST_BUILD, "\"tok-b\"", NULL);
    assert_verdict(built->verdict, SCRIPT_OK, "s", text_of(built->message));
    assert_true(text_equals_c(header_of(built->request, "x-own"), "tok-b"));
    assert_true(text_equals_c(header_of(built->request, "x-login"), "tok-b"));
    assert_null(built->request->next);
    script_call_destroy(&built->call);
}

#define PLAY(name) cmocka_unit_test_setup_teardown(name, open_all, close_pool)

static int close_pool(void **state)
{
    close_all(state);
    memset(&pool, 0, sizeof pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(a_login_answered_429_or_503_says_how_long_to_wait),
        PLAY(a_login_is_built_of_the_account_alone_and_its_value_is_a_secret),
        PLAY(a_login_may_be_a_table_whose_members_are_secrets_and_may_last),
        PLAY(a_login_that_is_none_is_an_error_with_its_place),
        PLAY(a_signature_sees_what_goes_out_and_adds_to_it),
        PLAY(a_signature_that_cannot_be_added_is_an_error_of_sign),
        PLAY(without_a_login_nothing_is_built_and_with_one_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
