// The admin listener over a real socket, with an engine that serves no searches.
#include "app/admin.h"
#include "app/login_book.h"
#include "app/permits.h"
#include "app/reload.h"

#include "script/script_set.h"
#include "script/worker_pool.h"
#include "support/caller.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"
#include "unit/app_settings_support.h"

#define DATA "tests/unit/data/generation/"
#define ACME "suppliers_dir: " DATA "suppliers\nscripts_dir: " DATA "scripts\n"
#define TOKEN "0123456789-a-token"

struct admin_world {
    struct settings *settings;
    struct engine engine;
};

static void deliver_nothing(void *home, struct script_call *call)
{
    (void)home;
    (void)call;
}

/// An engine that is whole but for its loops. Its settings file is gone, so a reload of it is refused.
static struct admin_world *world_make(const char *document)
{
    struct admin_world *world = calloc(1, sizeof(*world));
    struct findings findings = { 0 };
    struct failure why = { 0 };
    struct worker_pool_options workers = { .threads = 1, .deliver = deliver_nothing };
    struct resolver_options names = { .allowed_count = 0 };
    struct attribution_options attribution = { .path = NULL };
    struct text supplier = TEXT("acme");
    struct metrics_options metrics = {
        .suppliers = &supplier, .supplier_count = 1, .thread_count = 1, .version = "1.2.3"
    };

    assert_non_null(world);
    assert_int_equal(read_documents(&document, 1, &findings, &world->settings), STATUS_OK);
    struct engine *engine = &world->engine;
    engine->settings = world->settings;
    struct generation *generation = NULL;
    assert_int_equal(generation_build(world->settings, on_finding, &findings, &generation), STATUS_OK);
    const struct generations_hooks hooks = { .wake = NULL };
    generations_init(&engine->generations, &hooks);
    engine_moves_init(&engine->moves);
    generations_publish(&engine->generations, generation);
    assert_int_equal(permits_create(generation_catalogue(generation), &engine->permits), STATUS_OK);
    assert_int_equal(worker_pool_create(&workers, &engine->workers, &why), STATUS_OK);
    assert_int_equal(resolver_create(&names, &engine->resolver, &why), STATUS_OK);
    assert_int_equal(login_book_create(generation_catalogue(generation), &engine->logins), STATUS_OK);
    assert_int_equal(metrics_create(&metrics, &engine->metrics), STATUS_OK);
    assert_int_equal(attribution_create(&attribution, &engine->attribution, &why), STATUS_OK);
    world->settings->reload_watches = false;
    assert_int_equal(reload_start(engine, &engine->reload, &why), STATUS_OK);
    return world;
}

static void world_free(struct admin_world *world)
{
    struct engine *engine = &world->engine;
    reload_stop(engine->reload);
    admin_stop(&engine->admin);
    reload_destroy(&engine->reload);
    attribution_destroy(&engine->attribution);
    metrics_destroy(&engine->metrics);
    login_book_destroy(&engine->logins);
    resolver_destroy(&engine->resolver);
    worker_pool_destroy(&engine->workers);
    permits_destroy(&engine->permits);
    engine_moves_fini(&engine->moves);
    generations_fini(&engine->generations);
    settings_release(&world->settings);
    free(world);
}

static struct admin_world *world_start(const char *document)
{
    struct admin_world *world = world_make(document);
    struct failure why = { 0 };
    if (admin_start(&world->engine, &world->engine.admin, &why) != STATUS_OK) {
        fail_msg("%s", why.message);
    }
    return world;
}

static char body[1 << 20];

/// The status of a request; its body is in `body`.
static int ask(struct admin_world *world, const char *request)
{
    size_t length = 0;
    int fd = caller_connect(admin_port(world->engine.admin));
    caller_send(fd, request);
    int status = caller_read(fd, body, sizeof(body) - 1, &length);
    body[length] = '\0';
    close(fd);
    return status;
}

static void assert_body(const char *part)
{
    if (strstr(body, part) == NULL) {
        fail_msg("expected `%s` in\n%s", part, body);
    }
}

static void attribute(struct admin_world *world, const char *id)
{
    struct search_record *record = search_record_create(1, 64);
    assert_non_null(record);
    record->search_id = search_record_keep(record, text_of(id));
    record->product = search_record_keep(record, TEXT("flights"));
    record->status = 200;
    record->was_sent = true;
    record->took_us = 412000;
    record->entries[0].name = search_record_keep(record, TEXT("acme"));
    record->entries[0].outcome = OUTCOME_EMPTY;
    record->entries[0].ceiling_us = UINT64_MAX;
    engine_attribute(&world->engine, record);
}

static void a_search_can_be_asked_for_as_soon_as_it_is_over(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    assert_int_equal(ask(world, GET("/admin/v1/searches/01ABC")), 404);
    assert_body("unknown_search");
    attribute(world, "01ABC");
    assert_int_equal(ask(world, GET("/admin/v1/searches/01ABC")), 200);
    assert_body("{\"search_id\":\"01ABC\",");
    assert_body("{\"name\":\"acme\",\"outcome\":\"empty\"}");
    attribute(world, "01DEF");
    assert_int_equal(ask(world, GET("/admin/v1/searches")), 200);
    assert_body("{\"searches\":[{\"search_id\":\"01DEF\",");
    assert_body("\"search_id\":\"01ABC\"");
    assert_int_equal(ask(world, GET("/admin/v1/searches?limit=1")), 200);
    assert_null(strstr(body, "01ABC"));
    assert_int_equal(ask(world, GET("/admin/v1/searches?limit=some")), 400);
    world_free(world);
}

static void metrics_count_what_was_attributed(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    attribute(world, "a");
    attribute(world, "b");
    assert_int_equal(ask(world, GET("/metrics")), 200);
    assert_body("\nlastcall_searches_total{status=\"200\"} 2\n");
    assert_body("\nlastcall_attempts_total{supplier=\"acme\",outcome=\"empty\"} 2\n");
    assert_body("\nlastcall_script_workers 1\n");
    assert_body("\nlastcall_suppliers_enabled 1\n");
    world_free(world);
}

static void status_tells_who_is_on_and_why_not(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n"
                                                 "suppliers: { acme: { enabled: false, because: contract ended } }\n");

    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"name\":\"acme\"");
    assert_body("\"enabled\":false,\"because\":\"contract ended\"");
    assert_body("\"draining\":false");
    atomic_store(&world->engine.is_draining, true);
    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"ready\":false,\"because\":\"draining\",\"draining\":true");
    world_free(world);
}

static void status_and_metrics_tell_which_scripts_are_in_quarantine_and_why(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");
    struct script_set *set = generation_catalogue(world->engine.generations.current)->set;
    struct script_id acme = { .index = 0 };

    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_null(strstr(body, "\"quarantined\":\""));
    assert_int_equal(ask(world, GET("/metrics")), 200);
    assert_body("\nlastcall_script_quarantined{supplier=\"acme\"} 0\n");
    assert_body("\nlastcall_script_cpu_seconds_total{supplier=\"acme\"} 0.000000\n");
    assert_body("\nlastcall_script_put_back_total{supplier=\"acme\"} 0\n");
    for (uint64_t i = 1; i <= SCRIPT_TIMEOUTS_MAX; i++) {
        (void)script_set_note_timeout(set, acme, "acme.lua:7", i);
    }
    (void)script_set_quarantine(set, (struct script_id){ .is_product = true });
    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"quarantined\":\"quarantined: used up its time 3 times within 60 s, the last time at acme.lua:7\"");
    assert_body("\"quarantined\":2,\"queued\""); // of the scripts that run
    assert_body("\"quarantined\":\"quarantined: it was stuck inside a function of C");
    assert_int_equal(ask(world, GET("/metrics")), 200);
    assert_body("\nlastcall_script_quarantined{supplier=\"acme\"} 1\n");
    world_free(world);
}

static void status_and_metrics_tell_how_much_of_an_account_is_used(void **state)
{
    (void)state;
    struct admin_world *world = world_start(
        ACME "admin: { listen: '127.0.0.1:0' }\n"
             "suppliers: { acme: { accounts: { main: { limits: { per_day: 3, concurrent: 2, body: 1MiB } } } } }\n");
    const struct script_account *account =
        generation_catalogue(world->engine.generations.current)->suppliers[0].account;
    struct permits *permits = world->engine.permits;
    uint64_t wait_us = 0;

    assert_int_equal(permits_begin(permits, account, &wait_us), QUOTA_FREE);
    assert_int_equal(permits_begin(permits, account, &wait_us), QUOTA_FREE);
    assert_int_equal(permits_begin(permits, account, &wait_us), QUOTA_CONCURRENT);
    permits_give_up(permits, account); // it found no place
    permits_end(permits, account);
    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"accounts\":[{\"name\":\"main\",\"breaker\":{\"state\":\"closed\"");
    assert_body("\"limits\":{\"per_day\":3,\"concurrent\":2,\"body\":1048576},\"used\":{");
    assert_body("\"day\":2,\"running\":1,\"bearable\":2},\"looks\":0,\"kept_in\":1}]");
    permits_block(permits, account, UINT64_C(3600000000));
    assert_int_equal(permits_begin(permits, account, &wait_us), QUOTA_BLOCKED);
    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"kept_in\":2,\"blocked_until\":\"20");
    assert_int_equal(ask(world, GET("/metrics")), 200);
    assert_body("\nlastcall_supplier_requests_running{supplier=\"acme\"} 1\n");
    assert_body("\nlastcall_supplier_requests_kept_in_total{supplier=\"acme\"} 2\n");
    assert_body("\nlastcall_supplier_blocked_seconds{supplier=\"acme\"} 3");
    permits_end(permits, account);
    world_free(world);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    assert_int_equal(ask(world, GET("/")), 404);
    assert_int_equal(ask(world, GET("/admin/v1/searches/")), 404);
    assert_int_equal(ask(world, GET("/v1/search")), 404);
    assert_int_equal(ask(world, "DELETE /admin/v1/status HTTP/1.1\r\nHost: x\r\n\r\n"), 405);
    world_free(world);
}

#define POST(path, text, more)                                                                                         \
    "POST " path " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " text "\r\n" more

static void a_reload_is_answered_with_what_became_of_it(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "\r\n")), 422);
    assert_body("{\"outcome\":\"refused\",");
    assert_body("\"source\":\"command\",\"requests\":1,");
    assert_body("\"changed\":[],\"kept\":[{\"kind\":\"settings\",\"name\":\"settings\",");
    assert_body("\"fate\":\"refused\",");
    assert_body("\"findings\":[{\"finding\":\"/tmp/app_settings_test.");
    assert_int_equal(ask(world, POST("/admin/v1/reload", "27", "\r\n{\"who\":\"ann@x\",\"why\":\"try\"}")), 422);
    assert_body("\"who\":\"ann@x\",\"why\":\"try\",");
    assert_int_equal(ask(world, GET("/admin/v1/status")), 200);
    assert_body("\"reload\":{\"last\":{\"outcome\":\"refused\",");
    assert_int_equal(ask(world, GET("/metrics")), 200);
    assert_body("\nlastcall_reloads_total{outcome=\"refused\"} 2\n");
    assert_body("\nlastcall_generations_live 1\n");
    assert_int_equal(ask(world, GET("/admin/v1/events?limit=1")), 200);
    assert_body("{\"events\":[{\"number\":2,");
    assert_body("\"event\":\"refused\",");
    world_free(world);
}

static void a_rollback_to_what_runs_changes_nothing_and_holds_nothing_back(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");
    char request[256], number[32];

    (void)snprintf(number, sizeof(number), "{\"generation\":%u}", generation_number(world->engine.generations.current));
    (void)snprintf(request, sizeof(request),
                   "POST /admin/v1/rollback HTTP/1.1\r\nHost: [::1]:1\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   strlen(number), number);
    assert_int_equal(ask(world, request), 200);
    assert_body("{\"outcome\":\"unchanged\",");
    assert_body("\"kept\":[],");
    assert_int_equal(ask(world, GET("/admin/v1/generations")), 200);
    assert_body("{\"live\":1,\"generations\":[{\"generation\":");
    assert_body("\"source\":\"start\"");
    world_free(world);
}

static void a_change_is_refused_while_the_engine_stops(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    reload_drain(world->engine.reload);
    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "\r\n")), 503);
    assert_body("\"code\":\"draining\"");
    reload_stop(world->engine.reload);
    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "\r\n")), 503);
    assert_int_equal(ask(world, GET("/admin/v1/generations")), 200); // looking goes on
    world_free(world);
}

static void a_caller_who_does_not_wait_for_the_answer_does_no_harm(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    for (int i = 0; i < 50; i++) {
        int fd = caller_connect(admin_port(world->engine.admin));
        caller_send(fd, POST("/admin/v1/reload", "0", "\r\n"));
        close(fd);
    }
    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "\r\n")), 422);
    world_free(world);
}

static void what_a_web_page_could_send_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *host, *origin;
        int status;
    } cases[] = {
        { "127.0.0.1:8081", NULL, 422 },
        { "127.0.0.1", NULL, 422 },
        { "localhost", NULL, 422 },
        { "LOCALHOST:8081", NULL, 422 },
        { "[::1]", NULL, 422 },
        { "[::1]:8081", NULL, 422 },
        { "evil.example:8081", NULL, 403 },
        { "127.0.0.1.evil.example", NULL, 403 },
        { "localhost.evil.example:8081", NULL, 403 },
        { "10.0.0.1:8081", NULL, 403 },
        { "127.0.0.1:8081", "http://127.0.0.1:8081", 422 },
        { "127.0.0.1:8081", "http://127.0.0.1:9999", 403 },
        { "127.0.0.1:8081", "https://evil.example", 403 },
        { "127.0.0.1:8081", "null", 403 },
    };
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0' }\n");

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char request[512];
        (void)snprintf(request, sizeof(request),
                       "POST /admin/v1/reload HTTP/1.1\r\nHost: %s\r\n%s%s%sContent-Length: 0\r\n\r\n", cases[i].host,
                       cases[i].origin != NULL ? "Origin: " : "", cases[i].origin != NULL ? cases[i].origin : "",
                       cases[i].origin != NULL ? "\r\n" : "");
        int status = ask(world, request);
        if (status != cases[i].status) {
            fail_msg("%s, %s: %d", cases[i].host, cases[i].origin != NULL ? cases[i].origin : "no origin", status);
        }
    }
    world_free(world);
}

static void with_a_token_every_request_must_carry_it(void **state)
{
    (void)state;
    setenv("ADMIN_TEST_TOKEN", TOKEN, 1);
    struct admin_world *world = world_start(ACME "admin: { listen: '127.0.0.1:0', token_env: ADMIN_TEST_TOKEN }\n");

    assert_int_equal(ask(world, GET("/metrics")), 401);
    assert_int_equal(ask(world, GET("/nowhere")), 401);
    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "\r\n")), 401);
    assert_int_equal(ask(world, POST("/admin/v1/reload", "0", "Authorization: Bearer " TOKEN "\r\n\r\n")), 422);
    assert_int_equal(ask(world, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN "\r\n\r\n"), 200);
    assert_int_equal(ask(world, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: bearer " TOKEN "\r\n\r\n"), 200);
    assert_int_equal(ask(world, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN "x\r\n\r\n"), 401);
    assert_int_equal(ask(world, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \r\n\r\n"), 401);
    assert_int_equal(ask(world, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " TOKEN "\r\n\r\n"), 401);
    world_free(world);
    unsetenv("ADMIN_TEST_TOKEN");
}

static void assert_start_fails(const char *document, const char *message)
{
    struct admin_world *world = world_make(document);
    struct failure why = { 0 };

    assert_int_equal(admin_start(&world->engine, &world->engine.admin, &why), STATUS_INVALID);
    assert_null(world->engine.admin);
    if (strstr(why.message, message) == NULL) {
        fail_msg("expected `%s`, got `%s`", message, why.message);
    }
    assert_true(why.help[0] != '\0');
    world_free(world);
}

static void beyond_loopback_it_does_not_start_without_a_token(void **state)
{
    (void)state;
    unsetenv("ADMIN_TEST_TOKEN");
    assert_start_fails(ACME "admin: { listen: '0.0.0.0:0' }\n", "admin.listen 0.0.0.0:0 is beyond loopback");
    assert_start_fails(ACME "admin: { listen: '[::]:0' }\n", "is beyond loopback");
    assert_start_fails(ACME "admin: { listen: '10.0.0.1:0' }\n", "is beyond loopback");
    assert_start_fails(ACME "admin: { listen: '[::ffff:10.0.0.1]:0' }\n", "is beyond loopback");
    assert_start_fails(ACME "admin: { listen: '127.0.0.1:0', token_env: ADMIN_TEST_TOKEN }\n",
                       "ADMIN_TEST_TOKEN, which admin.token_env names, is not set");
    setenv("ADMIN_TEST_TOKEN", "short", 1);
    assert_start_fails(ACME "admin: { listen: '127.0.0.1:0', token_env: ADMIN_TEST_TOKEN }\n", "is too short");
    unsetenv("ADMIN_TEST_TOKEN");
}

static void all_of_127_is_loopback_and_an_empty_address_is_off(void **state)
{
    (void)state;
    struct admin_world *world = world_start(ACME "admin: { listen: '127.1.2.3:0' }\n");
    assert_non_null(world->engine.admin);
    world_free(world);
    world = world_start(ACME "admin: { listen: '' }\n");
    assert_null(world->engine.admin);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_can_be_asked_for_as_soon_as_it_is_over),
        cmocka_unit_test(metrics_count_what_was_attributed),
        cmocka_unit_test(status_tells_who_is_on_and_why_not),
        cmocka_unit_test(status_and_metrics_tell_which_scripts_are_in_quarantine_and_why),
        cmocka_unit_test(status_and_metrics_tell_how_much_of_an_account_is_used),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(a_reload_is_answered_with_what_became_of_it),
        cmocka_unit_test(a_rollback_to_what_runs_changes_nothing_and_holds_nothing_back),
        cmocka_unit_test(a_change_is_refused_while_the_engine_stops),
        cmocka_unit_test(a_caller_who_does_not_wait_for_the_answer_does_no_harm),
        cmocka_unit_test(what_a_web_page_could_send_changes_nothing),
        cmocka_unit_test(with_a_token_every_request_must_carry_it),
        cmocka_unit_test(beyond_loopback_it_does_not_start_without_a_token),
        cmocka_unit_test(all_of_127_is_loopback_and_an_empty_address_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
