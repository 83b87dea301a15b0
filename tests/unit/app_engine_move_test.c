// What an engine keeps while its generations change: real settings and scripts, no loops.
#include "app/engine_move.h"

#include "app/admin_view.h"
#include "app/engine.h"
#include "app/login_book.h"
#include "app/permits.h"
#include "script/worker_pool.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"
#include "unit/app_settings_support.h"

#define DATA "tests/unit/data/generation/"
#define DIRECTORIES "scripts_dir: " DATA "scripts\n"
#define ACME_ONLY "suppliers_dir: " DATA "suppliers\n" DIRECTORIES

static const char *const DOCUMENTS[] = {
    ACME_ONLY,
    ACME_ONLY
    "callers: [web]\n"
    "suppliers: { bravo: { uses: acme, accounts: { main: { options: { base_url: \"https://bravo.example\" } } } },\n"
    "  acme: { accounts: { main: { limits: { concurrent: 1 } } } } }\n",
    ACME_ONLY "suppliers: { acme: { enabled: false } }\n",
    "suppliers_dir: [" DATA "suppliers, " DATA "more]\n" DIRECTORIES
    "suppliers: { acme: { accounts: { uk: { when: { market: GB } }, main: {} } } }\n",
};
enum { COUNT = COUNT_OF(DOCUMENTS), BRAVO = 1, MOVES = 1000, IN_USE = 3 };

struct move_world {
    struct engine engine;
    struct settings *settings[COUNT];
    struct generation *generations[COUNT];
};

static void deliver_nothing(void *home, struct script_call *call)
{
    (void)home;
    (void)call;
}

static int set_up(void **state)
{
    struct move_world *world = calloc(1, sizeof(*world));
    struct findings findings = { 0 };
    struct failure why = { 0 };
    struct worker_pool_options workers = { .threads = 1, .deliver = deliver_nothing };
    const char *nowhere[] = { "127.0.0.1:9" };
    struct resolver_options names = { .servers = nowhere, .server_count = 1 };
    struct attribution_options attribution = { .path = NULL };
    struct metrics_options metrics = { .thread_count = 1, .version = "1.2.3" };
    const struct generations_hooks hooks = { .wake = NULL };

    assert_non_null(world);
    setenv("GENERATION_TEST_KEY", "a key of this test", 1);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(read_documents(&DOCUMENTS[i], 1, &findings, &world->settings[i]), STATUS_OK);
        if (generation_build(world->settings[i], on_finding, &findings, &world->generations[i]) != STATUS_OK) {
            fail_msg("%zu: %s", i, findings.items[0].message);
        }
    }
    struct engine *engine = &world->engine;
    engine->settings = world->settings[0];
    generations_init(&engine->generations, &hooks);
    engine_moves_init(&engine->moves);
    assert_int_equal(permits_create(NULL, &engine->permits), STATUS_OK);
    assert_int_equal(login_book_create(NULL, &engine->logins), STATUS_OK);
    assert_int_equal(metrics_create(&metrics, &engine->metrics), STATUS_OK);
    assert_int_equal(attribution_create(&attribution, &engine->attribution, &why), STATUS_OK);
    assert_int_equal(worker_pool_create(&workers, &engine->workers, &why), STATUS_OK);
    assert_int_equal(resolver_create(&names, &engine->resolver, &why), STATUS_OK);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct move_world *world = *state;
    struct engine *engine = &world->engine;

    resolver_destroy(&engine->resolver);
    worker_pool_destroy(&engine->workers);
    engine_moves_fini(&engine->moves);
    attribution_destroy(&engine->attribution);
    metrics_destroy(&engine->metrics);
    login_book_destroy(&engine->logins);
    permits_destroy(&engine->permits);
    generations_fini(&engine->generations);
    for (size_t i = 0; i < COUNT; i++) {
        engine_leave(engine, world->generations[i]); // too late to matter
        generation_release(&world->generations[i]);
        settings_release(&world->settings[i]);
    }
    free(world);
    unsetenv("GENERATION_TEST_KEY");
    return 0;
}

static enum status move(struct move_world *world, size_t index)
{
    engine_moves_lock(&world->engine.moves);
    enum status status = engine_move(&world->engine, world->generations[index]);
    engine_moves_unlock(&world->engine.moves);
    return status;
}

static void leave(struct move_world *world, size_t index)
{
    engine_leave(&world->engine, world->generations[index]);
}

static const struct script_account *account_of(struct move_world *world, size_t index, const char *supplier)
{
    const struct catalogue *catalogue = generation_catalogue(world->generations[index]);

    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (text_equals_c(catalogue->suppliers[i].name, supplier)) {
            return catalogue->suppliers[i].account;
        }
    }
    fail_msg("no supplier %s", supplier);
    return NULL;
}

static bool is_resolved(struct move_world *world, const char *host)
{
    struct address_book *book = resolver_book(world->engine.resolver);
    bool is_known = address_book_find(book, text_of(host)) != NULL;

    address_book_release(&book);
    return is_known;
}

static bool tells(struct move_world *world, const char *part)
{
    struct buffer out;

    buffer_init(&out, 16 << 20);
    metrics_write(world->engine.metrics, &out);
    buffer_append_byte(&out, 0);
    bool is_there = strstr(out.data, part) != NULL;
    buffer_fini(&out);
    return is_there;
}

static void two_generations_share_what_is_kept_and_each_finds_its_names(void **state)
{
    struct move_world *world = *state;
    struct engine *engine = &world->engine;
    uint64_t wait_us = 0;

    assert_int_equal(move(world, 0), STATUS_OK);
    assert_true(is_resolved(world, "api.acme.example"));
    assert_false(is_resolved(world, "bravo.example"));
    assert_int_equal(permits_begin(engine->permits, account_of(world, 0, "acme"), &wait_us), QUOTA_FREE);
    assert_int_equal(move(world, BRAVO), STATUS_OK);
    assert_true(is_resolved(world, "bravo.example"));
    assert_true(tells(world, "lastcall_offers_total{supplier=\"bravo\"} 0"));
    assert_int_equal(permits_begin(engine->permits, account_of(world, BRAVO, "acme"), &wait_us), QUOTA_CONCURRENT);
    permits_end(engine->permits, account_of(world, 0, "acme"));
    leave(world, 0);
    assert_int_equal(permits_begin(engine->permits, account_of(world, BRAVO, "acme"), &wait_us), QUOTA_FREE);
    permits_end(engine->permits, account_of(world, BRAVO, "acme"));

    assert_int_equal(move(world, 2), STATUS_OK);      // acme is off, bravo is gone
    assert_true(is_resolved(world, "bravo.example")); // searches of before
    leave(world, BRAVO);
    assert_false(is_resolved(world, "bravo.example"));
    assert_true(tells(world, "lastcall_offers_total{supplier=\"bravo\"} 0")); // its line stays
    leave(world, 2);
    leave(world, 2); // once was enough
    assert_int_equal(permits_count(engine->permits), 0);
}

static void too_many_at_a_time_change_nothing(void **state)
{
    struct move_world *world = *state;

    assert_int_equal(move(world, 0), STATUS_OK);
    world->engine.moves.count = ENGINE_MOVES_MAX;
    assert_int_equal(move(world, BRAVO), STATUS_FULL);
    world->engine.moves.count = 1;
    assert_false(is_resolved(world, "bravo.example"));
    assert_null(account_of(world, BRAVO, "bravo")->kept->permits);
    leave(world, 0);
}

static void a_thousand_moves_keep_nothing_of_what_is_gone(void **state)
{
    struct move_world *world = *state;
    struct engine *engine = &world->engine;
    size_t in_use[IN_USE];
    size_t count = 0;
    unsigned seed = 9;

    for (size_t i = 0; i < MOVES; i++) {
        seed = seed * 1103515245U + 12345U;
        size_t next = (seed >> 16) % COUNT;
        bool is_in_use = false;
        for (size_t k = 0; k < count; k++) {
            is_in_use = is_in_use || in_use[k] == next;
        }
        if (is_in_use) {
            continue; // each is in use once at a time
        }
        if (count == IN_USE) {
            leave(world, in_use[0]);
            memmove(&in_use[0], &in_use[1], (IN_USE - 1) * sizeof(in_use[0]));
            count--;
        }
        assert_int_equal(move(world, next), STATUS_OK);
        in_use[count++] = next;
        assert_in_range(permits_count(engine->permits), 1, 5); // acme main and uk, bravo, plain, extra
        assert_true(is_resolved(world, "bravo.example") ==
                    (in_use[0] == BRAVO || (count > 1 && in_use[1] == BRAVO) || (count > 2 && in_use[2] == BRAVO)));
    }
    while (count > 0) {
        leave(world, in_use[--count]);
    }
    assert_int_equal(permits_count(engine->permits), 0);
    assert_int_equal(login_book_count(engine->logins), 0);
    assert_int_equal(engine->moves.count, 0);
    assert_false(is_resolved(world, "api.acme.example"));
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(two_generations_share_what_is_kept_and_each_finds_its_names),
        PLAY(too_many_at_a_time_change_nothing),
        PLAY(a_thousand_moves_keep_nothing_of_what_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
