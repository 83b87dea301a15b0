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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found_and_read_as_it_was),
        cmocka_unit_test(nothing_is_stored_without_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
