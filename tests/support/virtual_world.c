#include "support/virtual_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A script call or a fetch that will be over at a known time.
struct virtual_event {
    struct timer timer;
    struct virtual_world *virtual;
    struct script_call *call;
    struct fetch *fetch;
};

static struct virtual_world *virtual_of(struct world *world)
{
    return CONTAINER_OF(world, struct virtual_world, world);
}

static const struct virtual_supplier *supplier_find(const struct virtual_world *virtual, struct text name)
{
    for (size_t i = 0; i < virtual->supplier_count; i++) {
        if (text_equals_c(name, virtual->suppliers[i].name)) {
            return &virtual->suppliers[i];
        }
    }
    return NULL;
}

/// What happens at one exchange: the supplier's own fields where it has no steps.
static struct virtual_step step_of(const struct virtual_supplier *supplier, uint32_t part, uint32_t step)
{
    for (size_t i = 0; i < supplier->step_count; i++) {
        if (supplier->steps[i].part == part && supplier->steps[i].step == step) {
            return supplier->steps[i];
        }
    }
    require(supplier->step_count == 0);
    return (struct virtual_step){
        .result = supplier->result,
        .after_us = supplier->after_us,
        .hangs = supplier->hangs,
        .normalise = supplier->normalise,
        .offers = supplier->offers,
    };
}

/// "http://NAME/PART/STEP"
static struct http_request *request_make(const struct virtual_supplier *supplier, uint32_t part, uint32_t step)
{
    char url[128];
    snprintf(url, sizeof(url), "http://%s/%u/%u", supplier->name, part, step);
    struct http_request values = { .method = TEXT("GET"), .url = text_of(url) };
    struct http_request *request = http_request_create(&values);
    require(request != NULL);
    return request;
}

static const struct virtual_supplier *request_read(const struct virtual_world *virtual,
                                                   const struct http_request *request, struct virtual_step *step)
{
    struct url_parts url;
    unsigned part = 0, number = 0;
    require(url_split(request->url, &url));
    require(sscanf(url.target.data, "/%u/%u", &part, &number) == 2);
    const struct virtual_supplier *supplier = supplier_find(virtual, url.host);
    require(supplier != NULL);
    *step = step_of(supplier, part, number);
    return supplier;
}

static struct virtual_event *event_start(struct virtual_world *virtual, uint64_t at_us,
                                         void (*on_due)(struct timer *timer))
{
    struct virtual_event *event = calloc(1, sizeof *event);
    require(event != NULL);
    event->virtual = virtual;
    event->timer.on_due = on_due;
    require(timer_heap_start(&virtual->timers, &event->timer, at_us) == STATUS_OK);
    return event;
}

static uint64_t virtual_now_us(struct world *world)
{
    return virtual_of(world)->now_us;
}

static enum status virtual_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    return timer_heap_start(&virtual_of(world)->timers, timer, at_us);
}

static void virtual_timer_cancel(struct world *world, struct timer *timer)
{
    timer_heap_cancel(&virtual_of(world)->timers, timer);
}

static void virtual_on_fetched(struct timer *timer)
{
    struct virtual_event *event = CONTAINER_OF(timer, struct virtual_event, timer);
    struct virtual_world *virtual = event->virtual;
    struct fetch *fetch = event->fetch;
    struct virtual_step step;

    const struct virtual_supplier *supplier = request_read(virtual, fetch->request, &step);
    virtual->fetches_running--;
    fetch->impl = NULL;
    fetch->done_us = virtual->now_us;
    fetch->result = virtual->now_us >= fetch->end_us ? FETCH_ENDED : step.result;
    fetch->phase = supplier->phase;
    if (fetch->result == FETCH_OK) {
        fetch->response = http_response_create();
        require(fetch->response != NULL);
        fetch->response->status = supplier->status != 0 ? supplier->status : 200;
        fetch->response->body = block_create(text_of(supplier->name));
    }
    free(event);
    fetch->on_done(fetch);
}

static enum status virtual_fetch_start(struct world *world, struct fetch *fetch)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_step step;

    const struct virtual_supplier *supplier = request_read(virtual, fetch->request, &step);
    uint64_t at_us = step.hangs ? UINT64_MAX - 1 : virtual->now_us + step.after_us;
    fetch->started_us = virtual->now_us;
    fetch->phase = supplier->phase != PHASE_NONE ? supplier->phase : PHASE_FIRST_BYTE;
    struct virtual_event *event = event_start(virtual, at_us, virtual_on_fetched);
    event->fetch = fetch;
    fetch->impl = event;
    virtual->fetches_running++;
    virtual->fetches_started++;
    return STATUS_OK;
}

static void virtual_fetch_cancel(struct world *world, struct fetch *fetch)
{
    struct virtual_world *virtual = virtual_of(world);
    struct virtual_event *event = fetch->impl;

    require(event != NULL);
    timer_heap_cancel(&virtual->timers, &event->timer);
    virtual->fetches_running--;
    fetch->impl = NULL;
    free(event);
}

static enum phase virtual_fetch_phase(struct world *world, struct fetch *fetch)
{
    (void)world;
    return fetch->phase;
}

static void fill_start(struct virtual_world *virtual, struct start_call *start)
{
    start->product_verdict = virtual->product;
    if (virtual->product == SCRIPT_FAIL_UNEXPECTED) {
        start->errors = block_create(TEXT("[{\"pointer\":\"/query\",\"code\":\"bad\",\"detail\":\"no\"}]"));
    }
    if (virtual->product != SCRIPT_OK) {
        return;
    }
    start->facts = block_create(TEXT("{}"));
    memcpy(start->currency, "EUR", 4);
    for (size_t i = 0; i < start->candidate_count; i++) {
        struct start_candidate *candidate = &start->candidates[i];
        const struct virtual_supplier *supplier = supplier_find(virtual, candidate->account->name);
        require(supplier != NULL);
        candidate->verdict = supplier->start;
        candidate->message = TEXT("because");
        bool has_rule = candidate->ceiling_us != 0;
        candidate->ceiling_out_us = has_rule                    ? candidate->ceiling_us
                                    : supplier->ceiling_us != 0 ? supplier->ceiling_us
                                                                : UINT64_MAX;
        candidate->ceiling_is_from_script = !has_rule && supplier->ceiling_us != 0;
        if (supplier->start == SCRIPT_OK) {
            struct http_request **end = &candidate->request;
            for (uint32_t part = 1; part <= (supplier->parts != 0 ? supplier->parts : 1); part++) {
                *end = request_make(supplier, part, 1);
                end = &(*end)->next;
            }
        }
    }
}

static struct offer_batch *make_offers(const struct virtual_supplier *supplier, const struct virtual_step *step)
{
    struct offer_batch *batch = offer_batch_create(1 << 20);
    const char *items = supplier->item_prefix != NULL ? supplier->item_prefix : supplier->name;

    require(batch != NULL);
    batch->offers = arena_alloc_array(&batch->arena, step->offers, sizeof *batch->offers);
    require(batch->offers != NULL);
    for (uint32_t i = step->first_id; i < step->first_id + step->offers; i++) {
        char text[128];
        struct offer *offer = &batch->offers[batch->count++];
        offer->total_micros = supplier->cheapest_micros + (int64_t)i * OFFER_MICROS;
        memcpy(offer->currency, "EUR", 4);
        snprintf(text, sizeof text, "%s%u", items, i);
        offer->item = arena_copy(&batch->arena, text_of(text));
        offer->item_json = supplier->item_json.data != NULL ? supplier->item_json
                           : supplier->is_odd               ? TEXT("{\"odd\":true}")
                                                            : TEXT("{}");
        snprintf(text, sizeof text, "%u", i);
        offer->id = arena_copy(&batch->arena, text_of(text));
        snprintf(text, sizeof text, "{\"id\":\"%s:%u\",\"item\":\"%s%u\"}", supplier->name, i, items, i);
        offer->json = arena_copy(&batch->arena, text_of(text));
    }
    offer_batch_sort(batch);
    return batch;
}

static void fill_normalise(struct virtual_world *virtual, struct normalise_call *normalise)
{
    const struct virtual_supplier *supplier = supplier_find(virtual, normalise->account->name);
    require(supplier != NULL);
    struct virtual_step step = step_of(supplier, normalise->part, normalise->step);
    normalise->verdict = step.normalise;
    normalise->merge = step.merge;
    normalise->is_incomplete = step.is_incomplete;
    if (step.normalise == SCRIPT_OK) {
        normalise->offers = make_offers(supplier, &step);
    }
    if (step.has_next) {
        char state[16];
        // The state travels: each step's is the number of the step that left it.
        struct text was = block_text(normalise->state);
        snprintf(state, sizeof(state), "%u", normalise->step);
        require(normalise->step == 1 ? was.data == NULL : (uint32_t)(was.data[0] - '0') == normalise->step - 1);
        normalise->next = (struct next_step){
            .request = request_make(supplier, normalise->part, normalise->step + 1),
            .after_us = step.next_after_us,
            .state = block_create(text_of(state)),
        };
    }
}

static void virtual_on_call_done(struct timer *timer)
{
    struct virtual_event *event = CONTAINER_OF(timer, struct virtual_event, timer);
    struct virtual_world *virtual = event->virtual;
    struct script_call *call = event->call;

    free(event);
    virtual->calls_out--;
    if (atomic_load(&call->is_cancelled)) {
        script_call_destroy(call);
        return;
    }
    if (call->kind == SCRIPT_CALL_START) {
        fill_start(virtual, CONTAINER_OF(call, struct start_call, call));
    } else {
        fill_normalise(virtual, CONTAINER_OF(call, struct normalise_call, call));
    }
    call->on_done(call);
}

static void virtual_on_call_begins(struct timer *timer)
{
    struct virtual_event *event = CONTAINER_OF(timer, struct virtual_event, timer);
    struct virtual_world *virtual = event->virtual;
    uint64_t takes = virtual->start_us;

    event->call->begun_us = virtual->now_us;
    if (event->call->kind == SCRIPT_CALL_NORMALISE) {
        struct normalise_call *normalise = CONTAINER_OF(event->call, struct normalise_call, call);
        takes = supplier_find(virtual, normalise->account->name)->normalise_us;
    }
    event->timer.on_due = virtual_on_call_done;
    require(timer_heap_start(&virtual->timers, &event->timer, virtual->now_us + takes) == STATUS_OK);
}

static enum status virtual_script_submit(struct world *world, struct script_call *call)
{
    struct virtual_world *virtual = virtual_of(world);

    if (virtual->is_start_refused) {
        return STATUS_CLOSED;
    }
    struct virtual_event *event =
        event_start(virtual, virtual->now_us + virtual->begins_after_us, virtual_on_call_begins);
    event->call = call;
    virtual->calls_out++;
    return STATUS_OK;
}

static void virtual_script_cancel(struct world *world, struct script_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static bool virtual_script_has_begun(struct world *world, const struct script_call *call)
{
    (void)world;
    return call->begun_us != 0;
}

void virtual_world_init(struct virtual_world *virtual, const struct virtual_supplier *suppliers, size_t count)
{
    static const struct world_ops OPS = {
        .now_us = virtual_now_us,
        .timer_start = virtual_timer_start,
        .timer_cancel = virtual_timer_cancel,
        .fetch_start = virtual_fetch_start,
        .fetch_cancel = virtual_fetch_cancel,
        .fetch_phase = virtual_fetch_phase,
        .script_submit = virtual_script_submit,
        .script_cancel = virtual_script_cancel,
        .script_has_begun = virtual_script_has_begun,
    };
    *virtual = (struct virtual_world){
        .world = { .ops = &OPS },
        .now_us = 1000000,
        .suppliers = suppliers,
        .supplier_count = count,
        .start_us = 1000,
    };
    timer_heap_init(&virtual->timers);
}

void virtual_world_fini(struct virtual_world *virtual)
{
    timer_heap_fini(&virtual->timers);
}

bool virtual_world_step(struct virtual_world *virtual)
{
    uint64_t next_us = timer_heap_next_us(&virtual->timers);
    if (next_us >= UINT64_MAX - 1) {
        return false;
    }
    if (next_us > virtual->now_us) {
        virtual->now_us = next_us;
    }
    return timer_heap_fire(&virtual->timers, virtual->now_us);
}

void virtual_world_run(struct virtual_world *virtual, uint64_t until_us)
{
    while (timer_heap_next_us(&virtual->timers) <= until_us && virtual_world_step(virtual)) {
    }
    virtual->now_us = until_us;
}
