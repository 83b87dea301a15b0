#include "script/call_lanes.h"

#include "model/ceiling_call.h"
#include "script/script_set.h"

void call_lanes_init(struct call_lanes *lanes, uint32_t threads)
{
    call_queue_init(&lanes->start);
    call_queue_init(&lanes->normalise);
    call_queue_init(&lanes->last);
    cpu_share_init(&lanes->share, threads);
}

void call_lanes_fini(struct call_lanes *lanes)
{
    call_queue_fini(&lanes->start);
    call_queue_fini(&lanes->normalise);
    call_queue_fini(&lanes->last);
    cpu_share_fini(&lanes->share);
}

enum status call_lanes_put(struct call_lanes *lanes, struct script_call *call)
{
    if (call->is_last) {
        return call_queue_put(&lanes->last, call);
    }
    bool is_answer = call->kind == SCRIPT_CALL_NORMALISE || call->kind == SCRIPT_CALL_ASK;
    return call_queue_put(is_answer ? &lanes->normalise : &lanes->start, call);
}

static struct text lanes_supplier(const struct script_call *call, const struct script_account *account)
{
    return script_set_payer(call->set, account->supplier);
}

static struct text lanes_supplier_of(struct script_call *call)
{
    return lanes_supplier(call, script_call_account(call));
}

static struct script_call *lanes_take_hopeless(struct call_lanes *lanes, uint64_t now_us)
{
    struct call_queue *const queues[] = { &lanes->start, &lanes->normalise, &lanes->last };

    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        if (call_queue_is_late(queues[i], now_us)) {
            return call_queue_take(queues[i]);
        }
    }
    return NULL;
}

/// The next NORMALISE call of a supplier within its share; those of others that stand before it move to the last lane.
static struct script_call *lanes_take_normalise(struct call_lanes *lanes, uint64_t now_us)
{
    struct script_call *call = call_queue_take(&lanes->normalise);

    for (; call != NULL; call = call_queue_take(&lanes->normalise)) {
        struct text supplier = lanes_supplier_of(call);
        if (!cpu_share_is_over(&lanes->share, supplier, now_us)) {
            return call;
        }
        bool has_to_wait = lanes->normalise.count > 0;
        if (call_queue_put(&lanes->last, call) != STATUS_OK) {
            return call; // without memory to wait it has its turn
        }
        if (has_to_wait) {
            cpu_share_note_put_back(&lanes->share, supplier);
        }
    }
    return NULL;
}

struct script_call *call_lanes_take(struct call_lanes *lanes, uint64_t now_us)
{
    struct script_call *call = lanes_take_hopeless(lanes, now_us);

    if (call == NULL) {
        call = call_queue_take(&lanes->start);
    }
    if (call == NULL) {
        call = lanes_take_normalise(lanes, now_us);
    }
    return call != NULL ? call : call_queue_take(&lanes->last);
}

size_t call_lanes_count(const struct call_lanes *lanes)
{
    return lanes->start.count + lanes->normalise.count + lanes->last.count;
}

static void lanes_charge_start(struct call_lanes *lanes, const struct start_call *start, uint64_t cpu_us,
                               uint64_t now_us)
{
    for (size_t i = 0; i < start->candidate_count; i++) {
        const struct start_candidate *candidate = &start->candidates[i];
        cpu_share_charge(&lanes->share, lanes_supplier(&start->call, candidate->account), candidate->script_cpu_us,
                         now_us);
        cpu_us = cpu_us > candidate->script_cpu_us ? cpu_us - candidate->script_cpu_us : 0;
    }
    cpu_share_charge(&lanes->share, (struct text){ NULL, 0 }, cpu_us, now_us); // the product's, and our own
}

static void lanes_charge_ceilings(struct call_lanes *lanes, const struct ceiling_call *ceilings, uint64_t now_us)
{
    for (size_t i = 0; i < ceilings->ask_count; i++) {
        const struct ceiling_ask *ask = &ceilings->asks[i];
        cpu_share_charge(&lanes->share, script_set_supplier(ceilings->call.set, ask->supplier)->name,
                         ask->script_cpu_us, now_us);
    }
}

void call_lanes_charge(struct call_lanes *lanes, const struct script_call *call, uint64_t cpu_us, uint64_t now_us)
{
    if (call->kind == SCRIPT_CALL_START) {
        lanes_charge_start(lanes, CONTAINER_OF(call, struct start_call, call), cpu_us, now_us);
        return;
    }
    if (call->kind == SCRIPT_CALL_CEILING) {
        lanes_charge_ceilings(lanes, CONTAINER_OF(call, struct ceiling_call, call), now_us);
        return;
    }
    cpu_share_charge(&lanes->share, lanes_supplier(call, script_call_account(call)), cpu_us, now_us);
}
