#include "support/play.h"

#include "base/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DAY_MS = 86400000 };

struct virtual_supplier *play_add(struct play *play, const char *name, uint64_t after_us, uint32_t offers)
{
    struct virtual_supplier *supplier = &play->suppliers[play->count];
    *supplier = (struct virtual_supplier){ .name = name,
                                           .after_us = after_us,
                                           .offers = offers,
                                           .normalise_us = 100,
                                           .cheapest_micros = 100 * (int64_t)OFFER_MICROS };
    play->accounts[play->count] = (struct script_account){ .serial = play->count + 1, .name = text_of(name) };
    play->catalogue_suppliers[play->count] = (struct catalogue_supplier){
        .name = text_of(name),
        .product = TEXT("flights"),
        .script = TEXT("x@1"),
        .is_enabled = true,
        .body_cap = 1 << 20,
        .account = &play->accounts[play->count],
    };
    play->count++;
    return supplier;
}

void play_init(struct play *play)
{
    *play = (struct play){ .budget_us = 2000 * MS, .max_items = 200, .max_offers_per_item = 5 };
}

void play_on_reply(void *owner, const struct search_reply *reply)
{
    struct play *play = owner;
    struct text body = block_text(reply->body);
    size_t offset = 0;
    const char *sentence = "";
    play->replies++;
    play->search = NULL;
    play->status = reply->status;
    play->is_complete = reply->is_complete;
    play->was_cut_by_budget = reply->was_cut_by_budget;
    play->replied_at_us = play->virtual.now_us;
    free(play->body);
    play->body = strndup(body.data, body.length);
    if (!json_is_valid(body, &offset, &sentence)) {
        fail_msg("the reply is no JSON: %s at %zu: %s", sentence, offset, play->body);
    }
}

static void play_on_event(void *owner, enum search_event event, struct text json)
{
    struct play *play = owner;
    assert_int_equal(play->replies, 0);
    fold_take(play->fold, event, json);
}

uint64_t play_start(struct play *play)
{
    virtual_world_init(&play->virtual, play->suppliers, play->count);
    play->catalogue =
        (struct catalogue){ .generation = 1, .suppliers = play->catalogue_suppliers, .supplier_count = play->count };
    play->virtual.store.given = play->store;
    play->catalogue.last_known = (struct last_known_settings){
        .is_on = play->store.is_on, .slice_us = 15 * MS, .max_age_ms = DAY_MS, .empty_max_age_ms = DAY_MS
    };
    for (size_t i = 0; i < play->count; i++) {
        if (play->stored[i].is_there) {
            virtual_store_fill(&play->virtual, i, &play->stored[i], 0);
        }
    }
    return play->virtual.now_us;
}

void play_search(struct play *play)
{
    struct block *body = block_create(TEXT("{}"));
    struct search_options options = {
        .world = &play->virtual.world,
        .catalogue = &play->catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = body,
        .arrival_us = play->virtual.now_us,
        .budget = { .requested_us = play->budget_us, .effective_us = play->budget_us },
        .reserve_us = RESERVE_US,
        .only = play->only_count > 0 ? play->only : NULL,
        .only_count = play->only_count,
        .sort = play->sort,
        .max_items = play->max_items,
        .max_offers_per_item = play->max_offers_per_item,
        .whole_or_nothing = play->whole_or_nothing,
        .on_event = play->fold != NULL ? play_on_event : NULL,
        .on_reply = play_on_reply,
        .owner = play,
    };
    assert_int_equal(search_start(&options, &play->search), STATUS_OK);
    assert_int_equal(play->replies, 0);
    block_release(&body);
}

void play_finish(struct play *play, int replies)
{
    while (virtual_world_step(&play->virtual)) {
    }
    assert_int_equal(play->replies, replies);
    assert_int_equal(play->virtual.fetches_running, 0);
    assert_int_equal(play->virtual.calls_out, 0);
    assert_int_equal(play->virtual.timers.count, 0);
    virtual_world_fini(&play->virtual);
    free(play->body);
    play->body = NULL;
}

void play_run_once(struct play *play)
{
    play_start(play);
    play_search(play);
    while (play->replies == 0 && virtual_world_step(&play->virtual)) {
    }
}

void play_compare_stream(const struct play *play)
{
    struct play *twin = malloc(sizeof(*twin));
    struct fold fold;

    assert_non_null(twin);
    *twin = *play;
    twin->replies = 0;
    twin->body = NULL;
    twin->fold = &fold;
    uint64_t begins_after_us = play->virtual.begins_after_us;
    for (size_t i = 0; i < twin->count; i++) {
        twin->catalogue_suppliers[i].account = &twin->accounts[i];
    }
    fold_init(&fold);
    play_start(twin);
    twin->virtual.begins_after_us = begins_after_us;
    play_search(twin);
    while (twin->replies == 0 && virtual_world_step(&twin->virtual)) {
    }
    assert_int_equal(twin->status, play->status);
    assert_int_equal(twin->replied_at_us, play->replied_at_us);
    assert_int_equal(fold.seen[SEARCH_EVENT_SEARCH], 1);
    if (play->status == 200) {
        char *result = fold_result(&fold, text_of(twin->body));
        const char *offers = strstr(play->body, "\"items\":");
        assert_non_null(offers);
        assert_int_equal(strlen(offers), strlen(result) + 1);
        assert_memory_equal(result, offers, strlen(result));
        free(result);
    }
    play_finish(twin, 1);
    fold_fini(&fold);
    free(twin);
}

void play_run(struct play *play)
{
    play_run_once(play);
    play_compare_stream(play);
}

char *play_entry(const struct play *play, const char *name)
{
    char needle[96];
    snprintf(needle, sizeof needle, "{\"name\":\"%s\"", name);
    const char *begin = strstr(play->body, needle);
    if (begin == NULL) {
        fail_msg("%s is not in %s", name, play->body);
    }
    return strndup(begin, (size_t)(strchr(begin, '}') - begin) + 1);
}

void play_expect_entry(const struct play *play, const char *name, const char *part)
{
    char *entry = play_entry(play, name);
    if (strstr(entry, part) == NULL) {
        fail_msg("%s is not in %s", part, entry);
    }
    free(entry);
}

void play_expect_body(const struct play *play, const char *part)
{
    if (strstr(play->body, part) == NULL) {
        fail_msg("%s is not in %s", part, play->body);
    }
}
