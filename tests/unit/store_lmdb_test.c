#include "unit/store_lmdb_stage.h"

#include <sys/stat.h>

static void what_is_kept_is_read_again(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
    struct store_call *index = look(fixture, STORE_INDEX, "acme", "q");
    assert_int_equal(index->entries[0].state, STORE_FOUND);
    assert_int_equal(index->entries[0].head.offers, 3);
    assert_true(index->entries[0].head.observed_ms == now_ms);
    assert_true(index->entries[0].head.median_micros == 2 * (int64_t)OFFER_MICROS);
    assert_null(index->entries[0].offers);
    store_call_destroy(&index);

    struct store_call *read = look(fixture, STORE_READ, "acme", "q");
    struct offer_batch *expected = store_stage_batch(3, 400, 3);
    assert_int_equal(read->entries[0].state, STORE_FOUND);
    assert_int_equal(read->entries[0].offers->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(text_equals(read->entries[0].offers->offers[i].id, expected->offers[i].id));
        assert_non_null(strstr(read->entries[0].offers->offers[i].json.data, "\"price_status\":\"indicative\""));
    }
    offer_batch_release(&expected);
    store_call_destroy(&read);
}

static void one_call_looks_for_many(void **state)
{
    struct fixture *fixture = *state;
    static const char *const SUPPLIERS[] = { "a", "b", "c" };
    struct store_call *call = store_call_create(STORE_INDEX, TEXT("hotels@1"), TEXT("q"), 3, 0);

    assert_non_null(call);
    assert_int_equal(keep(fixture, "a", "q", 1), STORE_FOUND);
    assert_int_equal(keep(fixture, "c", "q", 5), STORE_FOUND);
    for (size_t i = 0; i < 3; i++) {
        assert_true(store_call_name(call, i, text_of(SUPPLIERS[i]), TEXT("main")));
    }
    call->now_ms = now_ms;
    call = store_stage_do(&fixture->stage, call);
    assert_int_equal(call->entries[0].state, STORE_FOUND);
    assert_int_equal(call->entries[1].state, STORE_ABSENT);
    assert_int_equal(call->entries[2].head.offers, 5);
    store_call_destroy(&call);
    struct store_report report = report_of(fixture);
    assert_int_equal(report.found, 2);
    assert_int_equal(report.absent, 1);
    assert_int_equal(report.entries, 2);
    assert_int_equal(report.kept, 2);
}

static void answers_are_apart_by_supplier_account_product_and_query(void **state)
{
    struct fixture *fixture = *state;
    struct store_stage *stage = &fixture->stage;

    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
    assert_int_equal(state_of(fixture, STORE_READ, "acm", "q"), STORE_ABSENT);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q2"), STORE_ABSENT);
    struct store_call *call =
        store_stage_do(stage, store_stage_look_call(stage, STORE_READ, "acme", "other", "q", 0, now_ms));
    assert_int_equal(call->entries[0].state, STORE_ABSENT);
    store_call_destroy(&call);
    call = store_call_create(STORE_READ, TEXT("hotels@2"), TEXT("q"), 1, 0);
    assert_true(store_call_name(call, 0, TEXT("acme"), TEXT("main")));
    call->now_ms = now_ms;
    call = store_stage_do(stage, call);
    assert_int_equal(call->entries[0].state, STORE_ABSENT);
    store_call_destroy(&call);
}

static void an_empty_answer_is_found_and_has_no_offers(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(keep(fixture, "acme", "q", 0), STORE_FOUND);
    struct store_call *read = look(fixture, STORE_READ, "acme", "q");
    assert_int_equal(read->entries[0].state, STORE_FOUND);
    assert_int_equal(read->entries[0].head.offers, 0);
    assert_null(read->entries[0].offers);
    store_call_destroy(&read);
}

static void the_newer_answer_stays_whoever_comes_last(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(keep_at(fixture, "acme", "q", 3, now_ms - 1000), STORE_FOUND);
    assert_int_equal(keep_at(fixture, "acme", "q", 4, now_ms), STORE_FOUND);
    assert_int_equal(keep_at(fixture, "acme", "q", 5, now_ms - 500), STORE_ABSENT);
    struct store_call *read = look(fixture, STORE_READ, "acme", "q");
    assert_int_equal(read->entries[0].offers->count, 4);
    store_call_destroy(&read);
    assert_int_equal(report_of(fixture).entries, 1);
}

static void what_is_too_old_is_absent(void **state)
{
    struct fixture *fixture = *state;
    struct store_stage *stage = &fixture->stage;
    static const struct {
        uint64_t max_age_ms;
        int64_t later_ms;
        enum store_state expected;
    } LOOKS[] = {
        { 0, 23 * (int64_t)HOUR_MS, STORE_FOUND },
        { 0, 24 * (int64_t)HOUR_MS, STORE_ABSENT }, // over
        { HOUR_MS, HOUR_MS, STORE_FOUND },
        { HOUR_MS, HOUR_MS + 1, STORE_ABSENT },
        { HOUR_MS, -10000, STORE_FOUND },                  // the clock was put back a little
        { HOUR_MS, -24 * (int64_t)HOUR_MS, STORE_ABSENT }, // a day: its age cannot be told
    };

    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
    for (size_t i = 0; i < COUNT_OF(LOOKS); i++) {
        struct store_call *call =
            store_stage_do(stage, store_stage_look_call(stage, STORE_READ, "acme", "main", "q", LOOKS[i].max_age_ms,
                                                        now_ms + (uint64_t)LOOKS[i].later_ms));
        assert_int_equal(call->entries[0].state, LOOKS[i].expected);
        store_call_destroy(&call);
    }
}

// Else an answer of a time that never came would stay in the way of all true ones.
static void an_answer_of_a_future_that_the_clock_left_is_replaced(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(keep_at(fixture, "acme", "q", 3, now_ms + 48 * (uint64_t)HOUR_MS), STORE_FOUND);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q"), STORE_ABSENT);
    assert_int_equal(keep(fixture, "acme", "q", 4), STORE_FOUND);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q"), STORE_FOUND);
}

static void a_call_that_comes_too_late_is_a_fault(void **state)
{
    struct fixture *fixture = *state;
    struct store_call *call = store_stage_look_call(&fixture->stage, STORE_READ, "acme", "main", "q", 0, now_ms);

    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
    call->end_us = 1;
    call = store_stage_do(&fixture->stage, call);
    assert_int_equal(call->entries[0].state, STORE_FAULT);
    assert_int_equal(report_of(fixture).late, 1);
    store_call_destroy(&call);
}

static void what_was_kept_is_there_after_a_restart(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 300; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        struct offer_batch *batch = store_stage_batch(2, 400, (uint32_t)i);
        struct store_call *call =
            store_stage_keep_call(&fixture->stage, "acme", "main", query, batch, now_ms, now_ms + HOUR_MS, now_ms);
        offer_batch_release(&batch);
        store_submit(fixture->stage.store, call); // nobody waits: it is kept by the end all the same
    }
    close_store(fixture);
    open_store(fixture, 64 * MIB);
    assert_int_equal(report_of(fixture).entries, 300);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q0"), STORE_FOUND);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q299"), STORE_FOUND);
    assert_int_equal(keep(fixture, "acme", "one more", 3), STORE_FOUND);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q299"), STORE_FOUND); // its number was not used again
}

static uint64_t purge(struct fixture *fixture, const char *supplier, const char *account)
{
    struct store_call *call = store_call_create(STORE_PURGE, (struct text){ 0 }, (struct text){ 0 }, 1, 0);

    assert_non_null(call);
    assert_true(store_call_name(call, 0, text_of(supplier), text_of(account)));
    call = store_stage_do(&fixture->stage, call);
    uint64_t count = call->count;
    assert_int_equal(call->state, count > 0 ? STORE_FOUND : STORE_ABSENT);
    store_call_destroy(&call);
    return count;
}

static void a_purge_forgets_one_supplier_or_one_account_of_it(void **state)
{
    struct fixture *fixture = *state;
    struct offer_batch *batch = store_stage_batch(1, 400, 1);

    for (int i = 0; i < 1200; i++) { // more than one turn takes
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        store_submit(fixture->stage.store,
                     store_stage_keep_call(&fixture->stage, i % 2 == 0 ? "acme" : "acme2", i % 4 == 0 ? "uk" : "main",
                                           query, batch, now_ms, now_ms + HOUR_MS, now_ms));
    }
    offer_batch_release(&batch);
    assert_int_equal(purge(fixture, "acme", "uk"), 300);
    assert_int_equal(report_of(fixture).entries, 900);
    assert_int_equal(purge(fixture, "acme", NULL), 300);
    assert_int_equal(purge(fixture, "acme", NULL), 0);
    assert_int_equal(state_of(fixture, STORE_READ, "acme2", "q1"), STORE_FOUND);
    assert_int_equal(report_of(fixture).purged, 600);
}

static void the_oldest_make_room_for_the_newest(void **state)
{
    struct fixture *fixture = *state;
    struct store_report report;
    enum { ANSWERS = 3000 };

    close_store(fixture);
    open_store(fixture, 16 * MIB);
    for (int i = 0; i < ANSWERS; i++) { // 27 MB
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        struct offer_batch *batch = store_stage_batch(10, 900, (uint32_t)i);
        struct store_call *call =
            store_stage_keep_call(&fixture->stage, "acme", "main", query, batch, now_ms, now_ms + HOUR_MS, now_ms);
        offer_batch_release(&batch);
        if (i % 100 == 99) {
            call = store_stage_do(&fixture->stage, call);
            assert_int_equal(call->state, STORE_FOUND);
            store_call_destroy(&call);
        } else {
            store_submit(fixture->stage.store, call);
        }
        report = report_of(fixture);
        assert_true(report.bytes <= 16 * MIB / 100 * 70);
    }
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q0"), STORE_ABSENT);
    assert_int_equal(state_of(fixture, STORE_READ, "acme", "q2999"), STORE_FOUND);
    report = report_of(fixture);
    assert_int_equal(report.dropped, 0);
    assert_int_equal(report.kept, ANSWERS);
    assert_int_equal(report.kept - report.evicted, report.entries);
    assert_true(report.entries > 500);
    // What is left is the newest, without a gap.
    for (int i = 0; i < ANSWERS; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        bool is_left = i >= ANSWERS - (int)report.entries;
        assert_int_equal(state_of(fixture, STORE_INDEX, "acme", query), is_left ? STORE_FOUND : STORE_ABSENT);
    }
}

// Answers of very different sizes leave holes that the next does not fit into.
static void a_file_without_room_costs_old_answers_and_nothing_else(void **state)
{
    struct fixture *fixture = *state;
    struct store_report report;

    close_store(fixture);
    open_store(fixture, 16 * MIB);
    for (int i = 0; i < 400; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i);
        size_t offers = i % 7 == 0 ? 1000 : 1 + (size_t)(i * 37 % 60);
        struct offer_batch *batch = store_stage_batch(offers, 600, (uint32_t)i);
        struct store_call *call =
            store_stage_keep_call(&fixture->stage, "acme", "main", query, batch, now_ms, now_ms + HOUR_MS, now_ms);
        offer_batch_release(&batch);
        call = store_stage_do(&fixture->stage, call);
        assert_int_equal(call->state, STORE_FOUND);
        store_call_destroy(&call);
        assert_int_equal(state_of(fixture, STORE_READ, "acme", query), STORE_FOUND);
    }
    report = report_of(fixture);
    assert_int_equal(report.dropped, 0);
    assert_true(report.is_up);
    struct stat facts;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/data.mdb", fixture->directory);
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_size <= 16 * MIB);
}

static void two_cannot_have_one_directory(void **state)
{
    struct fixture *fixture = *state;
    struct failure why = { 0 };
    struct store *second = NULL;
    struct store_lmdb_options options = { .directory = fixture->directory,
                                          .max_bytes = 64 * MIB,
                                          .deliver = store_stage_deliver };
    char owner[32];

    assert_int_equal(store_lmdb_open(&options, &second, &why), STATUS_INVALID);
    assert_null(second);
    (void)snprintf(owner, sizeof owner, "process %ld", (long)getpid());
    assert_non_null(strstr(why.message, owner));
    assert_int_equal(keep(fixture, "acme", "q", 3), STORE_FOUND);
}

static struct store_call *note_call(enum store_job job, const char *name, const char *value)
{
    struct block *block = value != NULL ? block_create(text_of(value)) : NULL;
    struct store_call *call = store_call_create_note(job, text_of(name), block);

    assert_non_null(call);
    block_release(&block);
    call->now_ms = now_ms;
    call->life_ms = HOUR_MS;
    return call;
}

static enum store_state do_note(struct fixture *fixture, struct store_call *call)
{
    call = store_stage_do(&fixture->stage, call);
    enum store_state state = call->state;
    store_call_destroy(&call);
    return state;
}

static void a_note_holds_for_its_time(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_GET, "park", NULL)), STORE_ABSENT);
    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_PUT, "park", "until noon")), STORE_FOUND);
    struct store_call *call = store_stage_do(&fixture->stage, note_call(STORE_NOTE_GET, "park", NULL));
    assert_int_equal(call->state, STORE_FOUND);
    assert_true(text_equals_c(block_text(call->value), "until noon"));
    store_call_destroy(&call);
    struct store_call *second = note_call(STORE_NOTE_PUT, "park", "until one");
    second->wants_absent = true;
    assert_int_equal(do_note(fixture, second), STORE_ABSENT);
    struct store_call *later = note_call(STORE_NOTE_GET, "park", NULL);
    later->now_ms = now_ms + HOUR_MS;
    assert_int_equal(do_note(fixture, later), STORE_ABSENT);
    second = note_call(STORE_NOTE_PUT, "park", "until two");
    second->wants_absent = true;
    second->now_ms = now_ms + HOUR_MS;
    assert_int_equal(do_note(fixture, second), STORE_FOUND);
    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_DELETE, "park", NULL)), STORE_FOUND);
    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_DELETE, "park", NULL)), STORE_ABSENT);
    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_GET, "park", NULL)), STORE_ABSENT);
}

static void what_cannot_be_named_is_absent_and_not_kept(void **state)
{
    struct fixture *fixture = *state;
    char long_name[700];

    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(keep(fixture, long_name, "q", 1), STORE_FAULT);
    assert_int_equal(state_of(fixture, STORE_READ, long_name, "q"), STORE_ABSENT);
    assert_int_equal(keep(fixture, "acme", NULL, 1), STORE_FAULT); // a private search has no key
    assert_int_equal(state_of(fixture, STORE_READ, "acme", NULL), STORE_ABSENT);
    assert_int_equal(do_note(fixture, note_call(STORE_NOTE_PUT, long_name, "x")), STORE_FAULT);
    assert_int_equal(keep(fixture, "acme", "q", 1), STORE_FOUND);
}

// Nobody waits for the store; all come home, whatever becomes of them.
static void whatever_is_submitted_comes_home(void **state)
{
    struct fixture *fixture = *state;
    enum { CALLS = 20000 };
    struct offer_batch *batch = store_stage_batch(5, 400, 1);
    size_t done = 0, faults = 0;

    for (int i = 0; i < CALLS; i++) {
        char query[16];
        (void)snprintf(query, sizeof query, "q%d", i % 50);
        struct store_call *call =
            i % 3 == 0 ? store_stage_keep_call(&fixture->stage, "acme", "main", query, batch, now_ms + (uint64_t)i,
                                               now_ms + HOUR_MS, now_ms)
                       : store_stage_look_call(&fixture->stage, STORE_READ, "acme", "main", query, 0, now_ms);
        if (i % 5 == 0) {
            atomic_store(&call->is_cancelled, true);
        }
        store_stage_submit(&fixture->stage, call);
    }
    close_store(fixture);
    while (!list_is_empty(&fixture->stage.back)) {
        struct store_call *call = store_stage_await(&fixture->stage);
        faults += call->entries[0].state == STORE_FAULT;
        done++;
        store_call_destroy(&call);
    }
    assert_int_equal(done, CALLS);
    assert_true(faults > 0); // its queues are not without end
    offer_batch_release(&batch);
}

int main(void)
{
    now_ms = clock_wall_us() / 1000;
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_is_kept_is_read_again),
        STORE_TEST(one_call_looks_for_many),
        STORE_TEST(answers_are_apart_by_supplier_account_product_and_query),
        STORE_TEST(an_empty_answer_is_found_and_has_no_offers),
        STORE_TEST(the_newer_answer_stays_whoever_comes_last),
        STORE_TEST(what_is_too_old_is_absent),
        STORE_TEST(an_answer_of_a_future_that_the_clock_left_is_replaced),
        STORE_TEST(a_call_that_comes_too_late_is_a_fault),
        STORE_TEST(what_was_kept_is_there_after_a_restart),
        STORE_TEST(a_purge_forgets_one_supplier_or_one_account_of_it),
        STORE_TEST(the_oldest_make_room_for_the_newest),
        STORE_TEST(a_file_without_room_costs_old_answers_and_nothing_else),
        STORE_TEST(two_cannot_have_one_directory),
        STORE_TEST(a_note_holds_for_its_time),
        STORE_TEST(what_cannot_be_named_is_absent_and_not_kept),
        STORE_TEST(whatever_is_submitted_comes_home),
    };
    return cmocka_run_group_tests_name("store/lmdb", tests, NULL, NULL);
}
