// The store over a real redis-server.
#include "unit/app_store_redis_stage.h"

static void what_is_kept_is_found_and_read_as_it_was(void **state)
{
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(look(store, STORE_INDEX, "q", "acme"), STORE_ABSENT);
    assert_int_equal(keep(store, "q", "acme", 12), STORE_FOUND);

    struct store_call *index = call_of(STORE_INDEX, "q", 40, "acme");
    ask(store, index);
    assert_int_equal(index->entries[0].state, STORE_FOUND);
    assert_int_equal(index->entries[0].head.offers, 12);
    assert_int_equal(index->entries[0].head.observed_ms, NOW_MS);
    assert_int_equal(index->entries[0].head.until_ms, NOW_MS + HOUR_MS);
    assert_string_equal(index->entries[0].head.currency, "EUR");
    assert_null(index->entries[0].offers);
    for (size_t i = 1; i < 40; i++) {
        assert_int_equal(index->entries[i].state, STORE_ABSENT);
    }
    store_call_destroy(&index);

    struct store_call *read = call_of(STORE_READ, "q", 1, "acme");
    struct offer_batch *kept = some_offers(12, 7, 100);
    ask(store, read);
    assert_int_equal(read->entries[0].state, STORE_FOUND);
    const struct offer_batch *found = read->entries[0].offers;
    assert_int_equal(found->count, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_true(text_equals(found->offers[i].id, kept->offers[i].id));
        assert_non_null(strstr(found->offers[i].json.data, "\"price_status\":\"indicative\""));
    }
    offer_batch_release(&kept);
    store_call_destroy(&read);
    assert_int_equal(report_of(store).kept, 1);
    assert_int_equal(report_of(store).found, 2);
    assert_int_equal(report_of(store).absent, 40);
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

static void nothing_is_stored_without_an_end(void **state)
{
    struct redis_server server;
    char reply[4096];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 3), STORE_FOUND);
    struct block *value = block_create(TEXT("{}"));
    struct store_call *note = store_call_create_note(STORE_NOTE_PUT, TEXT("lease"), value);
    note->life_ms = 60000;
    ask(store, note);
    assert_int_equal(note->state, STORE_FOUND);
    store_call_destroy(&note);
    block_release(&value);
    // In database 3, as the URL says: keys=2, both of them with an end.
    assert_non_null(strstr(redis_server_say(&server, "INFO keyspace", reply, sizeof reply), "db3:keys=2,expires=2"));
    assert_null(strstr(reply, "db0:"));
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

static enum store_state put_note(struct store *store, const char *name, const char *value, bool wants_absent,
                                 uint64_t life_ms)
{
    struct block *block = block_create(text_of(value));
    struct store_call *note = store_call_create_note(STORE_NOTE_PUT, text_of(name), block);

    block_release(&block);
    note->life_ms = life_ms;
    note->wants_absent = wants_absent;
    ask(store, note);
    enum store_state state = note->state;
    store_call_destroy(&note);
    return state;
}

static void notes_are_put_once_read_and_deleted_by_all_engines(void **state)
{
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *one = open_path(&server), *other = open_path(&server);
    wait_up(one, true);
    wait_up(other, true);
    assert_int_equal(put_note(one, "lease", "mine", true, HOUR_MS), STORE_FOUND);
    assert_int_equal(put_note(other, "lease", "no, mine", true, HOUR_MS), STORE_ABSENT);
    assert_int_equal(put_note(other, "empty", "", false, HOUR_MS), STORE_FOUND);

    static const struct {
        const char *name, *value; // NULL: there is none
    } CASES[] = { { "lease", "mine" }, { "empty", "" }, { "unknown", NULL } };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct store_call *get = store_call_create_note(STORE_NOTE_GET, text_of(CASES[i].name), NULL);
        ask(other, get);
        assert_int_equal(get->state, CASES[i].value != NULL ? STORE_FOUND : STORE_ABSENT);
        if (CASES[i].value != NULL) {
            assert_true(text_equals(block_text(get->value), text_of(CASES[i].value)));
        }
        store_call_destroy(&get);
    }
    for (int i = 0; i < 2; i++) {
        struct store_call *gone = store_call_create_note(STORE_NOTE_DELETE, TEXT("lease"), NULL);
        ask(one, gone);
        assert_int_equal(gone->state, i == 0 ? STORE_FOUND : STORE_ABSENT);
        store_call_destroy(&gone);
    }
    assert_int_equal(put_note(other, "lease", "now mine", true, 1), STORE_FOUND);
    for (int i = 0; put_note(one, "lease", "after its end", true, HOUR_MS) != STORE_FOUND; i++) {
        assert_true(i < LOOKS_MAX);
        poll(NULL, 0, LOOK_MS);
    }
    one->ops->close(&one, 1000000);
    other->ops->close(&other, 1000000);
    redis_server_stop(&server);
}

static void a_purge_forgets_one_supplier_or_one_account(void **state)
{
    enum { QUERIES = 700 }; // more than one round
    struct redis_server server;
    char query[32];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    for (int i = 0; i < QUERIES; i++) {
        snprintf(query, sizeof query, "q%d", i);
        assert_int_equal(keep(store, query, "acme", 1), STORE_FOUND);
    }
    assert_int_equal(keep(store, "q", "acmee", 1), STORE_FOUND);
    assert_int_equal(keep(store, "q", "a*", 1), STORE_FOUND);

    static const struct {
        const char *supplier, *account;
        uint64_t count;
    } CASES[] = { { "acme", "other", 0 }, { "a*", NULL, 1 }, { "acme", NULL, QUERIES }, { "acme", "main", 0 } };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct store_call *purge = call_of(STORE_PURGE, NULL, 1, CASES[i].supplier);
        purge->entries[0].account = text_of(CASES[i].account);
        ask(store, purge);
        assert_int_equal(purge->state, STORE_FOUND);
        assert_int_equal(purge->count, CASES[i].count);
        store_call_destroy(&purge);
    }
    assert_int_equal(look(store, STORE_INDEX, "q", "acmee"), STORE_FOUND);
    assert_int_equal(report_of(store).purged, QUERIES + 1);
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

static void deployments_and_databases_do_not_see_each_other(void **state)
{
    struct redis_server server;
    char url[160];
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    snprintf(url, sizeof url, "unix://%s?db=4", server.path);
    struct store *elsewhere = open_at(url, NULL, NULL);
    struct store_thread_options options = { .deliver = come_home, .prefix = TEXT("staging") };
    struct failure why = { 0 };
    struct store *staging = NULL;
    snprintf(url, sizeof url, "unix://%s?db=3", server.path);
    assert_int_equal(store_url_read(text_of(url), &options.url, &why), STATUS_OK);
    assert_int_equal(store_thread_open(&options, &staging, &why), STATUS_OK);
    snprintf(url, sizeof url, "redis://127.0.0.1:%u/3", (unsigned)server.port);
    struct store *same = open_at(url, NULL, NULL);
    struct store *all[] = { store, elsewhere, staging, same };
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        wait_up(all[i], true);
    }
    assert_int_equal(keep(store, "q", "acme", 1), STORE_FOUND);
    assert_int_equal(look(elsewhere, STORE_INDEX, "q", "acme"), STORE_ABSENT);
    assert_int_equal(look(staging, STORE_INDEX, "q", "acme"), STORE_ABSENT);
    assert_int_equal(look(same, STORE_INDEX, "q", "acme"), STORE_FOUND);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i]->ops->close(&all[i], 1000000);
    }
    redis_server_stop(&server);
}

static void age_is_told_by_the_clock_of_who_asks(void **state)
{
    static const struct {
        int64_t later_ms;
        uint64_t max_age_ms;
        enum store_state state;
    } CASES[] = {
        { 60000, 0, STORE_FOUND },
        { 60000, 60000, STORE_FOUND },
        { 60001, 60000, STORE_ABSENT },
        { HOUR_MS, 0, STORE_ABSENT },                    // it was to be kept until then
        { -STORE_CLOCKS_APART_MS, 1, STORE_FOUND },      // two clocks
        { -STORE_CLOCKS_APART_MS - 1, 0, STORE_ABSENT }, // a clock that was set back
    };
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 1), STORE_FOUND);
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct store_call *call = call_of(STORE_INDEX, "q", 1, "acme");
        call->now_ms = (uint64_t)((int64_t)NOW_MS + CASES[i].later_ms);
        call->entries[0].max_age_ms = CASES[i].max_age_ms;
        ask(store, call);
        assert_int_equal(call->entries[0].state, CASES[i].state);
        store_call_destroy(&call);
    }
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

static void empty_answers_and_large_ones_are_kept(void **state)
{
    static const size_t COUNTS[] = { 0, 1, 3, 4, 1000 };
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    for (size_t i = 0; i < COUNT_OF(COUNTS); i++) {
        struct store_call *read = call_of(STORE_READ, "q", 1, "acme");
        assert_int_equal(keep(store, "q", "acme", COUNTS[i]), STORE_FOUND);
        ask(store, read);
        assert_int_equal(read->entries[0].state, STORE_FOUND);
        assert_int_equal(read->entries[0].head.offers, COUNTS[i]);
        assert_int_equal(read->entries[0].offers != NULL ? read->entries[0].offers->count : 0, COUNTS[i]);
        if (COUNTS[i] == 1000) {
            assert_true(read->entries[0].head.bytes < 300000); // of some 600 KB
        }
        store_call_destroy(&read);
    }
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

/// Several threads at once, some of whose calls have no time, while the server comes and goes.
static void *pester(void *context)
{
    struct store *store = context;
    char query[16];

    for (int i = 0; i < 300; i++) {
        snprintf(query, sizeof query, "q%d", i % 20);
        struct store_call *call = i % 3 == 0 ? keep_of(query, "acme", 5) : call_of(STORE_READ, query, 10, "acme");
        call->end_us = clock_now_us() + (i % 5 == 0 ? 100 : 15000);
        atomic_store(&call->is_cancelled, i % 7 == 0);
        ask(store, call);
        store_call_destroy(&call);
    }
    return NULL;
}

static void many_threads_over_a_store_that_comes_and_goes(void **state)
{
    pthread_t threads[4];
    struct redis_server server;
    (void)state;

    SKIP_WITHOUT_REDIS();
    redis_server_start(&server, NULL);
    struct store *store = open_path(&server);
    wait_up(store, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, pester, store), 0);
    }
    for (int i = 0; i < 3; i++) {
        redis_server_kill(&server);
        redis_server_again(&server, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    wait_up(store, true);
    assert_int_equal(keep(store, "q", "acme", 1), STORE_FOUND);
    store->ops->close(&store, 1000000);
    redis_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found_and_read_as_it_was),
        cmocka_unit_test(nothing_is_stored_without_an_end),
        cmocka_unit_test(notes_are_put_once_read_and_deleted_by_all_engines),
        cmocka_unit_test(a_purge_forgets_one_supplier_or_one_account),
        cmocka_unit_test(deployments_and_databases_do_not_see_each_other),
        cmocka_unit_test(age_is_told_by_the_clock_of_who_asks),
        cmocka_unit_test(empty_answers_and_large_ones_are_kept),
        cmocka_unit_test(many_threads_over_a_store_that_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
