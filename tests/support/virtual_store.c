#include "support/virtual_store.h"

#include "support/virtual_supplier.h"
#include "support/virtual_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 512, NEVER_US = 1000000000 };

struct virtual_stored_answer {
    struct virtual_stored_answer *next;
    char name[NAME_MAX_BYTES];
    struct last_known_head head;
    struct offer_batch **batches;
    uint8_t **gone; // beside them; NULL: none is
    size_t batch_count;
    bool has_expired;
};

struct store_event {
    struct timer timer;
    struct virtual_world *virtual;
    struct store_call *call;
};

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

void virtual_store_init(struct virtual_world *virtual)
{
    virtual->store = (struct virtual_store){ .answers = NULL };
}

static void answer_empty(struct virtual_stored_answer *answer)
{
    for (size_t i = 0; i < answer->batch_count; i++) {
        offer_batch_release(&answer->batches[i]);
        free(answer->gone[i]);
    }
    free(answer->batches);
    free(answer->gone);
    answer->batches = NULL;
    answer->gone = NULL;
    answer->batch_count = 0;
}

void virtual_store_forget(struct virtual_world *virtual)
{
    while (virtual->store.answers != NULL) {
        struct virtual_stored_answer *answer = virtual->store.answers;
        virtual->store.answers = answer->next;
        answer_empty(answer);
        free(answer);
    }
}

static void name_of(char name[NAME_MAX_BYTES], struct text supplier, struct text account, struct text product,
                    struct text query)
{
    int length = snprintf(name, NAME_MAX_BYTES, "%.*s|%.*s|%.*s|%.*s", TEXT_ARGS(supplier), TEXT_ARGS(account),
                          TEXT_ARGS(product), TEXT_ARGS(query));
    require(length < NAME_MAX_BYTES);
}

static struct virtual_stored_answer *find(const struct virtual_world *virtual, const char *name)
{
    struct virtual_stored_answer *answer = virtual->store.answers;

    while (answer != NULL && strcmp(answer->name, name) != 0) {
        answer = answer->next;
    }
    return answer;
}

/// The place of an answer; what was there is gone.
static struct virtual_stored_answer *place(struct virtual_world *virtual, const char *name)
{
    struct virtual_stored_answer *answer = find(virtual, name);

    if (answer == NULL) {
        answer = calloc(1, sizeof *answer);
        require(answer != NULL);
        snprintf(answer->name, sizeof answer->name, "%s", name);
        answer->next = virtual->store.answers;
        virtual->store.answers = answer;
    }
    answer_empty(answer);
    return answer;
}

static bool is_gone(const struct virtual_stored_answer *answer, size_t batch, size_t offer)
{
    return answer->gone[batch] != NULL && answer->gone[batch][offer] != 0;
}

static void add_batch(struct virtual_stored_answer *answer, struct offer_batch *batch, const uint8_t *gone)
{
    size_t at = answer->batch_count++;

    answer->batches = realloc(answer->batches, answer->batch_count * sizeof(void *));
    answer->gone = realloc(answer->gone, answer->batch_count * sizeof(void *));
    require(answer->batches != NULL && answer->gone != NULL);
    answer->batches[at] = offer_batch_acquire(batch);
    answer->gone[at] = NULL;
    if (gone != NULL) {
        answer->gone[at] = malloc(batch->count + 1);
        require(answer->gone[at] != NULL);
        memcpy(answer->gone[at], gone, batch->count);
    }
}

static int compare_micros(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void fill_head(struct virtual_stored_answer *answer)
{
    int64_t totals[OFFER_MAX_PER_ANSWER * 2];
    size_t count = 0;

    answer->head.offers = 0;
    for (size_t i = 0; i < answer->batch_count; i++) {
        for (size_t j = 0; j < answer->batches[i]->count; j++) {
            const struct offer *offer = &answer->batches[i]->offers[j];
            answer->head.offers += !is_gone(answer, i, j);
            if (!is_gone(answer, i, j) && offer->flag == OFFER_COMPARABLE && count < COUNT_OF(totals)) {
                totals[count++] = offer->total_micros;
            }
        }
    }
    qsort(totals, count, sizeof *totals, compare_micros);
    answer->head.median_micros = count > 0 ? totals[(count - 1) / 2] : 0;
    memcpy(answer->head.currency, "EUR", 4);
}

void virtual_store_fill(struct virtual_world *virtual, size_t supplier, const struct virtual_stored *stored,
                        uint64_t now_ms)
{
    char name[NAME_MAX_BYTES];
    struct virtual_supplier was = virtual->suppliers[supplier];
    struct text own = text_of(was.name);
    const char *key = virtual->store.given.key != NULL ? virtual->store.given.key : "q";

    name_of(name, own, own, TEXT("flights"), stored->is_of_other ? TEXT("another") : text_of(key));
    struct virtual_stored_answer *answer = place(virtual, name);
    answer->head.observed_ms = now_ms - stored->age_ms;
    answer->head.until_ms = answer->head.observed_ms + stored->life_ms;
    answer->has_expired = stored->has_expired;
    if (stored->offers > 0) {
        struct virtual_step step = { .first_id = stored->first_id, .offers = stored->offers };
        was.cheapest_micros += stored->dearer_micros;
        struct offer_batch *batch = virtual_supplier_offers(virtual, &was, &step);
        add_batch(answer, batch, NULL);
        offer_batch_release(&batch);
    }
    fill_head(answer);
}

bool virtual_store_find(const struct virtual_world *virtual, size_t supplier, struct last_known_head *head)
{
    char name[NAME_MAX_BYTES];
    struct text own = text_of(virtual->suppliers[supplier].name);
    const char *key = virtual->store.given.key != NULL ? virtual->store.given.key : "q";

    name_of(name, own, own, TEXT("flights"), text_of(key));
    const struct virtual_stored_answer *answer = find(virtual, name);
    if (answer != NULL) {
        *head = answer->head;
    }
    return answer != NULL;
}

// ---------------------------------------------------------------------------------------------------------------- read

/// Its JSON says how the price came about.
static struct text restated(struct arena *arena, struct text json, enum price_status status)
{
    char tail[64];
    int length = snprintf(tail, sizeof tail, ",\"price_status\":\"%s\"}", price_status_name(status));
    char *at = arena_alloc(arena, json.length + (size_t)length);

    require(at != NULL);
    memcpy(at, json.data, json.length - 1);
    memcpy(at + json.length - 1, tail, (size_t)length);
    return (struct text){ at, json.length - 1 + (size_t)length };
}

static void copy_marks(struct offer_batch *batch, const struct offer_batch *from, const struct offer *offer,
                       struct offer *copy)
{
    uint16_t *marks = arena_alloc_array(&batch->arena, offer->mark_count + 1u, sizeof *marks);

    require(marks != NULL);
    for (size_t i = 0; i < offer->mark_count; i++) {
        const struct facet_value *value = &from->facets.values[offer->marks[i]];
        ptrdiff_t at = facet_table_find(&batch->facets, &batch->arena, value->facet, value->value, value->is_text);
        require(at >= 0);
        marks[i] = (uint16_t)at;
        facet_value_count(&batch->facets.values[at], offer_comparable_micros(copy));
    }
    copy->marks = marks;
}

static void copy_offer(struct offer_batch *batch, const struct offer_batch *from, const struct offer *offer,
                       enum price_status status, bool has_expired)
{
    struct offer *copy = &batch->offers[batch->count++];

    *copy = *offer;
    copy->flag |= has_expired ? OFFER_EXPIRED : 0;
    copy->item = arena_copy(&batch->arena, offer->item);
    copy->id = arena_copy(&batch->arena, offer->id);
    copy->item_json = arena_copy(&batch->arena, offer->item_json);
    copy->json = restated(&batch->arena, offer->json, status);
    copy_marks(batch, from, offer, copy);
}

static struct offer_batch *read_answer(struct virtual_world *virtual, const struct virtual_stored_answer *answer,
                                       enum price_status status)
{
    struct offer_batch *batch = offer_batch_create(4 << 20);

    require(batch != NULL);
    virtual_supplier_note(virtual, batch);
    batch->offers = arena_alloc_array(&batch->arena, answer->head.offers, sizeof *batch->offers);
    const struct facet_table *facets = &answer->batches[0]->facets;
    require(batch->offers != NULL &&
            facet_table_open(&batch->facets, &batch->arena, facets->names, facets->name_count));
    batch->decimals = answer->batches[0]->decimals;
    for (size_t i = 0; i < answer->batch_count; i++) {
        for (size_t j = 0; j < answer->batches[i]->count; j++) {
            if (!is_gone(answer, i, j)) {
                copy_offer(batch, answer->batches[i], &answer->batches[i]->offers[j], status, answer->has_expired);
            }
        }
    }
    facet_table_close(&batch->facets);
    offer_batch_sort(batch);
    return batch;
}

static void serve_entry(struct virtual_world *virtual, struct store_call *call, struct store_entry *entry)
{
    char name[NAME_MAX_BYTES];

    name_of(name, entry->supplier, entry->account, call->product, call->query);
    const struct virtual_stored_answer *answer = find(virtual, name);
    entry->state = STORE_ABSENT;
    if (answer == NULL || call->now_ms > answer->head.observed_ms + entry->max_age_ms) {
        return;
    }
    entry->state = STORE_FOUND;
    entry->head = answer->head;
    if (call->job == STORE_READ && answer->head.offers > 0) {
        entry->offers = read_answer(virtual, answer, entry->status);
    }
}

static void keep(struct virtual_world *virtual, struct store_call *call)
{
    char name[NAME_MAX_BYTES];

    name_of(name, call->entries[0].supplier, call->entries[0].account, call->product, call->query);
    struct virtual_stored_answer *answer = place(virtual, name);
    answer->head = call->entries[0].head;
    answer->has_expired = false;
    for (size_t i = 0; i < call->part_count; i++) {
        add_batch(answer, call->parts[i].batch, call->parts[i].is_gone);
    }
    fill_head(answer);
    virtual->store.kept++;
}

// --------------------------------------------------------------------------------------------------------------- calls

static uint64_t draw(struct virtual_world *virtual)
{
    uint64_t mixed = virtual->machine.seed + 77 + ++virtual->store.draws * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static void serve(struct virtual_world *virtual, struct store_call *call)
{
    const struct virtual_store_given *given = &virtual->store.given;

    if (given->hangs || (given->faults_in > 0 && draw(virtual) % given->faults_in == 0)) {
        return; // entries were born as faults
    }
    if (call->job == STORE_KEEP) {
        keep(virtual, call);
        return;
    }
    for (size_t i = 0; i < call->entry_count; i++) {
        serve_entry(virtual, call, &call->entries[i]);
    }
}

static void virtual_store_on_done(struct timer *timer)
{
    struct store_event *event = CONTAINER_OF(timer, struct store_event, timer);
    struct virtual_world *virtual = event->virtual;
    struct store_call *call = event->call;

    virtual->events_running--;
    free(event);
    if (atomic_load(&call->is_cancelled)) {
        store_call_destroy(&call);
        return;
    }
    serve(virtual, call);
    if (call->on_done == NULL) {
        store_call_destroy(&call);
        return;
    }
    virtual->store.settled++;
    call->on_done(call);
}

void virtual_store_submit(struct world *world, struct store_call *call)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_store *store = &virtual->store;
    struct store_event *event = calloc(1, sizeof *event);
    uint64_t after_us =
        call->job == STORE_READ && store->given.reading_us > 0 ? store->given.reading_us : store->given.after_us;

    require(event != NULL);
    virtual_world_check_begin(virtual, "a store call was submitted after the end of the search");
    event->virtual = virtual;
    event->call = call;
    event->timer.on_due = virtual_store_on_done;
    after_us += store->given.spread_us > 0 ? draw(virtual) % (store->given.spread_us + 1) : 0;
    after_us = store->given.hangs ? NEVER_US : after_us;
    store->submitted += call->on_done != NULL;
    store->indexes += call->job == STORE_INDEX;
    store->reads += call->job == STORE_READ;
    virtual->events_running++;
    require(timer_heap_start(&virtual->timers, &event->timer, virtual->now_us + after_us) == STATUS_OK);
}

void virtual_store_cancel(struct world *world, struct store_call *call)
{
    struct virtual_world *virtual = virtual_of(world);

    if (atomic_exchange(&call->is_cancelled, true)) {
        virtual_world_blame(virtual, "a store call was given up twice");
    }
    virtual->store.settled++;
}

bool virtual_store_drop(struct timer *timer)
{
    if (timer->on_due != virtual_store_on_done) {
        return false;
    }
    struct store_event *event = CONTAINER_OF(timer, struct store_event, timer);
    store_call_destroy(&event->call);
    free(event);
    return true;
}
