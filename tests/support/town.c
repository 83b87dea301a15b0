#include "support/town.h"

#include "search/linger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINGER_US = 6000000, TURN_US = 10000, RESERVE_US = 10000 };

struct visit {
    struct town *town;
    struct search *search;
    struct timer leaves;
};

void town_init(struct town *town, size_t suppliers, uint64_t after_us, uint64_t seed)
{
    memset(town, 0, sizeof(*town));
    town->count = suppliers;
    for (size_t i = 0; i < suppliers; i++) {
        snprintf(town->names[i], sizeof(town->names[i]), "s%02u", (unsigned)i % 100);
        town->suppliers[i] = (struct virtual_supplier){
            .name = town->names[i], .after_us = after_us, .offers = 1, .cheapest_micros = OFFER_MICROS
        };
        town->accounts[i] = (struct script_account){ .serial = i + 1, .name = text_of(town->names[i]) };
        town->listed[i] = (struct catalogue_supplier){ .name = text_of(town->names[i]),
                                                       .product = TEXT("flights"),
                                                       .script = TEXT("x@1"),
                                                       .is_enabled = true,
                                                       .body_cap = 1 << 20,
                                                       .account = &town->accounts[i] };
    }
    town->catalogue = (struct catalogue){
        .generation = 1, .suppliers = town->listed, .supplier_count = suppliers, .linger_us = LINGER_US
    };
    virtual_world_init(&town->virtual, town->suppliers, suppliers);
    virtual_health_watch(&town->virtual, seed);
    town->next_us = town->virtual.now_us;
}

const struct breaker *town_breaker(const struct town *town, size_t supplier)
{
    return &town->virtual.health[supplier].known->breaker;
}

void town_forget(struct town *town)
{
    town->searches = town->replies = town->longest_us = 0;
    memset(town->outcomes, 0, sizeof(town->outcomes));
    memset(town->asked, 0, sizeof(town->asked));
}

static void visit_end(struct visit *visit)
{
    struct town *town = visit->town;

    if (timer_is_running(&visit->leaves)) {
        timer_heap_cancel(&town->virtual.timers, &visit->leaves);
    }
    town->open--;
    free(visit);
}

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct visit *visit = owner;
    struct town *town = visit->town;
    struct search_record *record = reply->record;

    assert_non_null(record);
    for (size_t i = 0; i < record->entry_count; i++) {
        town->outcomes[i][record->entries[i].outcome]++;
        town->asked[i] += record->entries[i].was_asked;
    }
    town->longest_us = reply->took_us > town->longest_us ? reply->took_us : town->longest_us;
    town->replies++;
    search_record_destroy(&record);
    visit_end(visit);
}

static void on_leave(struct timer *timer)
{
    struct visit *visit = CONTAINER_OF(timer, struct visit, leaves);

    search_cancel(&visit->search);
    visit_end(visit);
}

static void town_search(struct town *town)
{
    struct block *body = block_create(TEXT("{}"));
    struct visit *visit = calloc(1, sizeof(*visit));
    struct search_options options = {
        .world = &town->virtual.world,
        .catalogue = &town->catalogue,
        .search_id = TEXT("id"),
        .product = TEXT("flights"),
        .body = body,
        .arrival_us = town->virtual.now_us,
        .budget = { .requested_us = town->budget_us, .effective_us = town->budget_us },
        .reserve_us = RESERVE_US,
        .max_items = 10,
        .max_offers_per_item = 10,
        .wants_record = true,
        .on_reply = on_reply,
        .owner = visit,
    };

    assert_non_null(visit);
    visit->town = town;
    visit->leaves.on_due = on_leave;
    town->searches++;
    town->open++;
    assert_int_equal(search_start(&options, &visit->search), STATUS_OK);
    if (town->leave_each > 0 && town->searches % town->leave_each == 0) {
        uint64_t at_us = town->virtual.now_us + town->budget_us / 2;
        assert_int_equal(timer_heap_start(&town->virtual.timers, &visit->leaves, at_us), STATUS_OK);
    }
    block_release(&body);
}

void town_run(struct town *town, uint64_t for_us)
{
    uint64_t until_us = town->virtual.now_us + for_us;

    for (town->next_us = town->virtual.now_us; town->next_us < until_us; town->next_us += town->apart_us) {
        virtual_world_run(&town->virtual, town->next_us);
        virtual_world_forget(&town->virtual);
        town_search(town);
    }
    virtual_world_run(&town->virtual, until_us);
}

uint64_t town_run_until(struct town *town, size_t supplier, enum breaker_state state, uint64_t most_us)
{
    uint64_t begin_us = town->virtual.now_us;

    while (town_breaker(town, supplier)->state != state) {
        if (town->virtual.now_us >= begin_us + most_us) {
            fail_msg("the breaker of %s is %s after %llu ms, not %s", town->names[supplier],
                     breaker_state_name(town_breaker(town, supplier)->state), (unsigned long long)most_us / 1000,
                     breaker_state_name(state));
        }
        town_run(town, town->apart_us);
    }
    return town->virtual.now_us - begin_us;
}

void town_fini(struct town *town)
{
    while (virtual_world_step(&town->virtual)) {
    }
    if (town->virtual.broken_rule != NULL) {
        fail_msg("%s", town->virtual.broken_rule);
    }
    assert_int_equal(town->open, 0);
    assert_null(town->virtual.world.over);
    assert_int_equal(town->virtual.world.lingering, 0);
    assert_int_equal(virtual_health_untold(&town->virtual), 0);
    assert_int_equal(virtual_world_permits(&town->virtual), 0);
    assert_int_equal(town->virtual.fetches_running, 0);
    assert_int_equal(town->virtual.calls_out, 0);
    assert_int_equal(town->virtual.timers.count, 0);
    virtual_world_fini(&town->virtual);
}
