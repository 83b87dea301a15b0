#include "bench/policy/stage.h"

#include "bench/policy/stage_known.h"
#include "bench/policy/stage_supplier.h"
#include "policy/budget.h"
#include "search/linger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What an engine costs; measured elsewhere (tests/bench/README.md, cost), and the same for all rows.
enum {
    WAKE_US = 50,       // the loop wakes so late
    TURN_US = 20,       // each callback keeps it busy
    START_US = 1000,    // the start call, for all suppliers
    NORMALISE_US = 120, // reading an answer
    WORKERS = 2,
    OFFER_NS = 300, // merging, for each offer found
    BYTE_NS = 1,    // writing, for each byte
    RESERVE_US = 12000,
    LINGER_US = 6000000, // the settings' default
};

/// A script call or a fetch under way.
struct stage_event {
    struct timer timer;
    struct stage *stage;
    struct script_call *call;
    struct fetch *fetch;
    enum trace_fate fate;
    size_t search;
    struct stage_event *next;
};

static struct stage *stage_of(struct world *world)
{
    return CONTAINER_OF(world, struct stage, world);
}

static struct stage_event *event_make(struct stage *stage, size_t search, void (*on_due)(struct timer *timer))
{
    struct stage_event *event = stage->spare;

    if (event != NULL) {
        stage->spare = event->next;
    } else {
        event = malloc(sizeof(*event));
        require(event != NULL);
    }
    *event = (struct stage_event){ .timer = { .on_due = on_due }, .stage = stage, .search = search };
    stage->events++;
    return event;
}

static void event_free(struct stage_event *event)
{
    struct stage *stage = event->stage;

    stage->events--;
    event->next = stage->spare;
    stage->spare = event;
}

static void event_at(struct stage_event *event, uint64_t at_us)
{
    require(timer_heap_start(&event->stage->timers, &event->timer, at_us) == STATUS_OK);
}

static uint64_t stage_now_us(struct world *world)
{
    return stage_of(world)->now_us;
}

static enum status stage_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&stage_of(world)->timers, timer, at_us);
}

static void stage_timer_cancel(struct world *world, struct timer *timer)
{
    timer_heap_cancel(&stage_of(world)->timers, timer);
}

// ------------------------------------------------------------------------------------------------------------- fetches

static bool is_measured(const struct stage *stage, size_t search)
{
    return search >= stage->trace->first;
}

static void fetch_over(struct stage_event *event)
{
    struct stage *stage = event->stage;

    if (is_measured(stage, event->search)) {
        stage->sums.connection_us += (double)(stage->now_us - event->fetch->started_us);
    }
    event->fetch->impl = NULL;
    event_free(event);
}

static void on_fetched(struct timer *timer)
{
    struct stage_event *event = CONTAINER_OF(timer, struct stage_event, timer);
    struct fetch *fetch = event->fetch;

    fetch->done_us = event->stage->now_us;
    fetch->phase = PHASE_NONE;
    fetch->result = FETCH_OK;
    fetch->response = stage_supplier_respond(event->stage, event->fate);
    fetch_over(event);
    fetch->on_done(fetch);
}

static enum status stage_fetch_start(struct world *world, struct fetch *fetch)
{
    struct stage *stage = stage_of(world);
    size_t search, supplier;
    uint32_t endpoint;

    stage_supplier_of(fetch->request, &search, &supplier, &endpoint);
    size_t place = search * stage->trace->population->count + supplier;
    uint32_t number = stage->calls[place]++;
    struct trace_draw draw = trace_draw(stage->trace, search, supplier, endpoint, number);
    stage->first_us[place] = number == 0 ? draw.after_us : stage->first_us[place];
    if (is_measured(stage, search)) {
        stage->sums.requests++;
        stage->sums.extra += number > 0;
    }
    struct stage_event *event = event_make(stage, search, on_fetched);
    event->fetch = fetch;
    event->fate = draw.fate;
    fetch->impl = event;
    fetch->started_us = stage->now_us;
    fetch->phase = draw.fate == TRACE_DROPS ? PHASE_CONNECT : PHASE_FIRST_BYTE;
    fetch->connected_us = draw.fate == TRACE_DROPS ? 0 : stage->now_us;
    fetch->sent_us = fetch->connected_us;
    fetch->is_reused = draw.fate != TRACE_DROPS;
    if (draw.after_us != UINT64_MAX) {
        event_at(event, stage->now_us + draw.after_us);
    }
    return STATUS_OK;
}

static void stage_fetch_cancel(struct world *world, struct fetch *fetch)
{
    struct stage_event *event = fetch->impl;

    timer_heap_cancel(&stage_of(world)->timers, &event->timer);
    fetch_over(event);
}

static enum phase stage_fetch_phase(struct world *world, struct fetch *fetch)
{
    (void)world;
    return fetch->phase;
}

// ------------------------------------------------------------------------------------------------------------- scripts

/// The row "so many have answered": whatever the answer said, it is one less to wait for.
static void note_answer(struct stage *stage, size_t number)
{
    struct stage_search *search = &stage->searches[number];
    double share = stage->row->answered_share;

    search->back++;
    if (share > 0 && search->search != NULL && search->back >= share * (double)stage->trace->population->count) {
        stage->ending = search;
    }
}

static void on_call_done(struct timer *timer)
{
    struct stage_event *event = CONTAINER_OF(timer, struct stage_event, timer);
    struct stage *stage = event->stage;
    struct script_call *call = event->call;
    size_t search = event->search;

    event_free(event);
    if (atomic_load(&call->is_cancelled)) {
        script_call_destroy(call);
        return;
    }
    bool is_answer = call->kind == SCRIPT_CALL_NORMALISE;
    if (stage->now_us >= call->deadline_us) {
        stage_supplier_drop(call);
    } else {
        stage_supplier_run(stage, call);
    }
    call->on_done(call);
    if (is_answer) {
        note_answer(stage, search);
    }
}

/// The worker that is free first takes it; nobody overtakes anybody.
static enum status stage_script_submit(struct world *world, struct script_call *call)
{
    struct stage *stage = stage_of(world);
    uint64_t *worker = &stage->workers_us[0];

    for (size_t i = 1; i < WORKERS; i++) {
        worker = stage->workers_us[i] < *worker ? &stage->workers_us[i] : worker;
    }
    uint64_t begun_us = *worker > stage->now_us ? *worker : stage->now_us;
    *worker = begun_us + (call->kind == SCRIPT_CALL_START ? START_US : NORMALISE_US);
    call->begun_us = begun_us;
    struct stage_event *event = event_make(stage, stage_supplier_search(call), on_call_done);
    event->call = call;
    event_at(event, *worker);
    return STATUS_OK;
}

static void stage_script_cancel(struct world *world, struct script_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static bool stage_script_has_begun(struct world *world, const struct script_call *call)
{
    return call->begun_us <= stage_of(world)->now_us;
}

// ------------------------------------------------------------------------------------------------------------ searches

static void on_reply(void *owner, const struct search_reply *reply)
{
    struct stage_search *search = owner;
    struct stage *stage = search->stage;
    const struct search_record *record = reply->record;
    size_t count = stage->trace->population->count;

    require(!search->has_replied && reply->status == 200 && record != NULL && record->entry_count == count);
    stage->now_us += (reply->offers_found * OFFER_NS + block_text(reply->body).length * BYTE_NS) / 1000;
    search->search = NULL;
    search->has_replied = true;
    search->took_us = stage->now_us - stage->trace->arrival_us[search->number];
    for (size_t i = 0; i < count; i++) {
        enum outcome outcome = record->entries[i].outcome;
        search->answered |= outcome == OUTCOME_ANSWERED ? UINT64_C(1) << i : 0;
        search->early += outcome == OUTCOME_FINISHED_EARLY;
    }
    search->completeness = (double)record->answered / (double)count;
    struct search_record *gone = reply->record;
    search_record_destroy(&gone);
    stage->replied++;
}

static void on_arrival(struct timer *timer)
{
    struct stage_search *search = CONTAINER_OF(timer, struct stage_search, arrival);
    struct stage *stage = search->stage;
    uint64_t budget_us = stage->row->budget_us;
    char id[24];
    int length = snprintf(id, sizeof(id), "%zu", search->number);
    struct search_options options = {
        .world = &stage->world,
        .catalogue = &stage->catalogue,
        .search_id = { id, (size_t)length },
        .product = TEXT("flights"),
        .body = stage->body,
        .arrival_us = stage->trace->arrival_us[search->number],
        .budget = { .requested_us = budget_us, .effective_us = budget_us, .from = BUDGET_FROM_CALLER },
        .reserve_us = RESERVE_US,
        .max_items = POPULATION_ITEMS_MAX,
        .max_offers_per_item = 5,
        .wants_record = true,
        .detail = REPLY_FULL,
        .on_reply = on_reply,
        .owner = search,
    };
    require(search_start(&options, &search->search) == STATUS_OK);
}

/// Fires what is next; nothing else runs meanwhile.
static void stage_step(struct stage *stage)
{
    uint64_t next_us = timer_heap_next_us(&stage->timers);

    require(next_us != UINT64_MAX);
    if (next_us > stage->now_us) {
        stage->now_us = next_us + WAKE_US;
    }
    (void)timer_heap_fire(&stage->timers, stage->now_us);
    stage->now_us += TURN_US;
    if (stage->ending != NULL && stage->ending->search != NULL) {
        search_end(&stage->ending->search, RESERVE_US);
    }
    stage->ending = NULL;
}

// --------------------------------------------------------------------------------------------------------------- stage

static struct world_ops stage_ops(const struct row *row)
{
    struct world_ops ops = {
        .now_us = stage_now_us,
        .timer_start = stage_timer_start,
        .timer_cancel = stage_timer_cancel,
        .fetch_start = stage_fetch_start,
        .fetch_cancel = stage_fetch_cancel,
        .fetch_phase = stage_fetch_phase,
        .script_submit = stage_script_submit,
        .script_cancel = stage_script_cancel,
        .script_has_begun = stage_script_has_begun,
    };
    stage_known_ops(row, &ops);
    return ops;
}

static uint64_t ceiling_of(const struct row *row, const struct history *history, size_t supplier)
{
    switch (row->ceilings) {
    case ROW_SLOWEST_P99:
        return history->slowest_us;
    case ROW_OWN_P99:
        return history->p99_us[supplier];
    case ROW_NO_CEILINGS:
        break;
    }
    return 0;
}

static void fill_suppliers(struct stage *stage, const struct history *history)
{
    const struct population *population = stage->trace->population;

    for (size_t i = 0; i < population->count; i++) {
        struct text name = text_of(population->suppliers[i].name);
        stage->accounts[i] = (struct script_account){ .serial = i + 1, .name = name, .supplier = (uint32_t)i };
        stage->suppliers[i] = (struct catalogue_supplier){
            .name = name,
            .display_name = name,
            .product = TEXT("flights"),
            .script = TEXT("x@1"),
            .is_enabled = true,
            .body_cap = 1 << 20,
            .ceiling_us = ceiling_of(stage->row, history, i),
            .account = &stage->accounts[i],
            .extra = &stage->terms[i],
        };
        stage->terms[i] = stage_supplier_terms(stage->row, &population->suppliers[i]);
    }
    stage->catalogue = (struct catalogue){
        .generation = 1,
        .suppliers = stage->suppliers,
        .supplier_count = population->count,
        .linger_us = LINGER_US,
    };
    stage_known_init(stage);
}

static bool make_room(struct stage *stage)
{
    size_t places = stage->trace->count * stage->trace->population->count;

    stage->body = block_create(TEXT("{}"));
    stage->workers_us = calloc(WORKERS, sizeof(*stage->workers_us));
    stage->searches = calloc(stage->trace->count, sizeof(*stage->searches));
    stage->calls = calloc(places, sizeof(*stage->calls));
    stage->first_us = calloc(places, sizeof(*stage->first_us));
    return stage->body != NULL && stage->workers_us != NULL && stage->searches != NULL && stage->calls != NULL &&
           stage->first_us != NULL;
}

enum status stage_play(const struct trace *trace, const struct row *row, const struct history *history,
                       struct stage **result)
{
    struct stage *stage = calloc(1, sizeof(*stage));

    *result = NULL;
    if (stage == NULL) {
        return STATUS_NO_MEMORY;
    }
    stage->ops = stage_ops(row);
    stage->world.ops = &stage->ops;
    stage->trace = trace;
    stage->row = row;
    timer_heap_init(&stage->timers);
    if (!make_room(stage)) {
        stage_destroy(&stage);
        return STATUS_NO_MEMORY;
    }
    fill_suppliers(stage, history);
    for (size_t i = 0; i < trace->count; i++) {
        struct stage_search *search = &stage->searches[i];
        *search = (struct stage_search){ .stage = stage, .number = i, .arrival = { .on_due = on_arrival } };
        require(timer_heap_start(&stage->timers, &search->arrival, trace->arrival_us[i]) == STATUS_OK);
    }
    while (stage->replied < trace->count) {
        stage_step(stage);
    }
    *result = stage;
    return STATUS_OK;
}

void stage_end(struct stage *stage)
{
    while (stage->world.over != NULL && stage->timers.count > 0) {
        stage_step(stage);
    }
    linger_stop(&stage->world);
    while (stage->timers.count > 0) { // script calls that were given up
        stage_step(stage);
    }
    require(stage->events == 0);
}

void stage_destroy(struct stage **gone)
{
    struct stage *stage = *gone;

    *gone = NULL;
    if (stage == NULL) {
        return;
    }
    stage_end(stage);
    while (stage->spare != NULL) {
        struct stage_event *event = stage->spare;
        stage->spare = event->next;
        free(event);
    }
    stage_known_fini(stage);
    timer_heap_fini(&stage->timers);
    block_release(&stage->body);
    free(stage->workers_us);
    free(stage->searches);
    free(stage->calls);
    free(stage->first_us);
    free(stage);
}

uint64_t stage_recovery_us(const struct stage *stage)
{
    const struct population *population = stage->trace->population;
    uint64_t back_us = stage->trace->incident_us + population->dead_us;

    if (population->dead == population->count || stage->known[population->dead].refused_at_us < back_us) {
        return 0;
    }
    return stage->known[population->dead].refused_at_us - back_us;
}

uint64_t stage_watched_us(const struct stage *stage)
{
    const struct trace *trace = stage->trace;
    uint64_t back_us = trace->incident_us + trace->population->dead_us;
    uint64_t last_us = trace->arrival_us[trace->count - 1];

    return trace->population->dead < trace->population->count && last_us > back_us ? last_us - back_us : 0;
}
