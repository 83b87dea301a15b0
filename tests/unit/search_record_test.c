// What a search says of itself in its record, in a virtual world.
#include "search/search.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000, SUPPLIERS = 4, RESERVE_US = 10 * MS };

struct play {
    struct virtual_world virtual;
    struct virtual_supplier suppliers[SUPPLIERS];
    struct catalogue_supplier rows[SUPPLIERS];
    struct script_account accounts[SUPPLIERS]; // named as their suppliers
    struct catalogue catalogue;
    struct search *search;
    struct search_record *record;
    uint64_t arrival_us;
    bool wants_record;
};

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct play *play = owner;
    play->search = NULL;
    play->record = reply->record;
}

/// fast answers after 100 ms, slow after 900 ms, hung never, off is switched off.
static int setup(void **state)
{
    static const char *const names[SUPPLIERS] = { "fast", "hung", "off", "slow" };
    struct play *play = calloc(1, sizeof(*play));

    assert_non_null(play);
    play->wants_record = true;
    for (size_t i = 0; i < SUPPLIERS; i++) {
        play->accounts[i] = (struct script_account){ .serial = i + 1, .name = text_of(names[i]) };
        play->suppliers[i] = (struct virtual_supplier){ .name = names[i], .offers = 3, .normalise_us = 100 };
        play->rows[i] = (struct catalogue_supplier){ .name = text_of(names[i]),
                                                     .product = TEXT("flights"),
                                                     .script = TEXT("x@1"),
                                                     .is_enabled = i != 2,
                                                     .because = TEXT("contract ended"),
                                                     .body_cap = 1 << 20,
                                                     .account = &play->accounts[i] };
    }
    play->suppliers[0].after_us = 100 * MS;
    play->suppliers[1].hangs = true;
    play->suppliers[1].phase = PHASE_FIRST_BYTE;
    play->suppliers[3].after_us = 900 * MS;
    *state = play;
    return 0;
}

static int teardown(void **state)
{
    struct play *play = *state;
    while (virtual_world_step(&play->virtual)) {
    }
    assert_int_equal(play->virtual.fetches_running, 0);
    assert_int_equal(play->virtual.calls_out, 0);
    virtual_world_fini(&play->virtual);
    search_record_destroy(&play->record);
    free(play);
    return 0;
}

static void start(struct play *play)
{
    struct block *body = block_create(TEXT("{}"));

    virtual_world_init(&play->virtual, play->suppliers, SUPPLIERS);
    play->catalogue = (struct catalogue){ .generation = 9, .suppliers = play->rows, .supplier_count = SUPPLIERS };
    play->arrival_us = play->virtual.now_us;
    struct search_options options = {
        .world = &play->virtual.world,
        .catalogue = &play->catalogue,
        .search_id = TEXT("the-id"),
        .product = TEXT("flights"),
        .body = body,
        .arrival_us = play->arrival_us,
        .arrival_wall_us = 77,
        .budget = { .requested_us = 2000 * MS, .effective_us = 1000 * MS, .is_clamped = true },
        .reserve_us = RESERVE_US,
        .max_items = 200,
        .max_offers_per_item = 5,
        .wants_record = play->wants_record,
        .on_reply = on_reply,
        .owner = play,
    };
    assert_int_equal(search_start(&options, &play->search), STATUS_OK);
    block_release(&body);
}

static const struct search_record_entry *entry_of(const struct search_record *record, const char *name)
{
    for (size_t i = 0; i < record->entry_count; i++) {
        if (text_equals_c(record->entries[i].name, name)) {
            return &record->entries[i];
        }
    }
    fail_msg("no entry %s", name);
    return NULL;
}

static void the_record_tells_how_each_attempt_ended(void **state)
{
    struct play *play = *state;

    start(play);
    virtual_world_run(&play->virtual, play->arrival_us + 1000 * MS);
    const struct search_record *record = play->record;
    assert_non_null(record);
    assert_true(text_equals_c(record->search_id, "the-id"));
    assert_int_equal(record->generation, 9);
    assert_int_equal(record->arrival_wall_us, 77);
    assert_int_equal(record->status, 200);
    assert_true(record->was_cut_by_budget);
    assert_true(record->is_clamped);
    assert_int_equal(record->eligible, 3);
    assert_int_equal(record->answered, 2);
    assert_int_equal(record->missing, 1);
    assert_int_equal(record->percent, 66);
    assert_int_equal(record->offers_found, 6);
    assert_int_equal(record->offers_returned, 6);
    assert_int_equal(record->entry_count, SUPPLIERS);

    const struct search_record_entry *fast = entry_of(record, "fast");
    assert_int_equal(fast->outcome, OUTCOME_ANSWERED);
    assert_int_equal(fast->phase, PHASE_NONE);
    assert_int_equal(fast->requests, 1);
    assert_int_equal(fast->offers, 3);
    assert_true(text_equals_c(fast->account, "fast"));
    assert_true(fast->took_us >= 100 * MS && fast->took_us < 200 * MS);
    const struct search_record_entry *hung = entry_of(record, "hung");
    assert_int_equal(hung->outcome, OUTCOME_CUT);
    assert_int_equal(hung->bound, BOUND_BUDGET);
    assert_int_equal(hung->phase, PHASE_FIRST_BYTE);
    assert_int_equal(hung->requests, 1);
    assert_false(hung->is_partial);
    const struct search_record_entry *off = entry_of(record, "off");
    assert_int_equal(off->outcome, OUTCOME_DISABLED);
    assert_false(off->was_asked);
    assert_int_equal(off->requests, 0);
    assert_true(text_equals_c(off->detail, "contract ended"));
}

static void a_request_that_never_went_out_is_not_counted(void **state)
{
    struct play *play = *state;

    play->suppliers[1].phase = PHASE_CONNECT;
    play->suppliers[3].result = FETCH_CONNECT_FAILED;
    play->suppliers[3].phase = PHASE_CONNECT;
    start(play);
    virtual_world_run(&play->virtual, play->arrival_us + 1000 * MS);
    assert_int_equal(entry_of(play->record, "hung")->requests, 0);
    assert_int_equal(entry_of(play->record, "slow")->requests, 0);
    assert_int_equal(entry_of(play->record, "slow")->outcome, OUTCOME_FAILED);
    assert_int_equal(entry_of(play->record, "fast")->requests, 1);
}

static void a_caller_who_leaves_cancels_what_is_open(void **state)
{
    struct play *play = *state;

    start(play);
    virtual_world_run(&play->virtual, play->arrival_us + 300 * MS);
    assert_non_null(play->search);
    play->record = search_record_gone(play->search);
    search_cancel(&play->search);
    assert_non_null(play->record);
    assert_int_equal(play->record->status, 0);
    assert_int_equal(play->record->took_us, 300 * MS);
    assert_int_equal(entry_of(play->record, "fast")->outcome, OUTCOME_ANSWERED);
    assert_int_equal(entry_of(play->record, "slow")->outcome, OUTCOME_CANCELLED);
    assert_int_equal(entry_of(play->record, "off")->outcome, OUTCOME_DISABLED);
    const struct search_record_entry *hung = entry_of(play->record, "hung");
    assert_int_equal(hung->outcome, OUTCOME_CANCELLED);
    assert_int_equal(hung->phase, PHASE_FIRST_BYTE);
    assert_int_equal(hung->requests, 1);
    assert_true(hung->took_us <= 300 * MS && hung->took_us > 250 * MS);
}

static void a_refused_query_has_a_record_without_attempts(void **state)
{
    struct play *play = *state;

    start(play);
    play->virtual.product = SCRIPT_FAIL_UNEXPECTED;
    virtual_world_run(&play->virtual, play->arrival_us + 1000 * MS);
    assert_non_null(play->record);
    assert_int_equal(play->record->status, 422);
    assert_int_equal(play->record->entry_count, 0);
    assert_int_equal(play->record->eligible, 0);
}

static void nobody_pays_for_a_record_that_is_not_wanted(void **state)
{
    struct play *play = *state;

    play->wants_record = false;
    start(play);
    virtual_world_run(&play->virtual, play->arrival_us + 1000 * MS);
    assert_null(play->search);
    assert_null(play->record);
}

#define PLAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAY(the_record_tells_how_each_attempt_ended),     PLAY(a_request_that_never_went_out_is_not_counted),
        PLAY(a_caller_who_leaves_cancels_what_is_open),    PLAY(a_refused_query_has_a_record_without_attempts),
        PLAY(nobody_pays_for_a_record_that_is_not_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
