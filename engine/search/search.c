#include "search/search.h"

#include "model/ground.h"
#include "policy/ceiling.h"
#include "search/answer.h"
#include "search/cull.h"
#include "search/keep.h"
#include "search/record.h"
#include "search/search_internal.h"
#include "search/verdict.h"

#include <stdlib.h>
#include <string.h>

//   STARTING (start call out) --> RUNNING (attempts open) --> replied, gone
//   any --> replied at deadline - reserve; any --> gone when the caller leaves
//
// `open` counts attempts that are not closed, plus one while the start call is out or its results are being handed
// round, so that attempts which close at once cannot end the search in the middle of that.

enum { SEARCH_ARENA_CEILING = 8 << 20 };

struct world *search_world(const struct search *search)
{
    return search->options.world;
}

struct allocation search_allocation(const struct search *search, uint64_t ceiling_us)
{
    struct world *world = search->options.world;
    return allocation_of(search->options.arrival_us, ceiling_us, search->end_us, world->ops->now_us(world));
}

/// What the scripts of this supplier see of the search.
static struct block *search_facts(const struct search *search, const struct catalogue_supplier *supplier)
{
    bool has_client = supplier->wants_client && search->client_facts != NULL;
    return has_client ? search->client_facts : search->facts;
}

static struct script_times search_times(const struct search *search)
{
    return (struct script_times){
        .arrival_us = search->options.arrival_us,
        .end_us = search->end_us,
        .arrival_wall_us = search->options.arrival_wall_us,
    };
}

struct normalise_call *search_normalise_call(const struct search *search, const struct catalogue_supplier *supplier,
                                             struct http_response *response)
{
    struct normalise_call *call =
        normalise_call_create(search->options.search_id, search_facts(search, supplier), response);
    if (call == NULL) {
        return NULL;
    }
    catalogue_carry(search->options.catalogue, &call->call);
    call->times = search_times(search);
    return call;
}

struct request_call *search_request_call(const struct search *search, const struct catalogue_supplier *supplier,
                                         enum request_job job, const struct login *login, struct http_request *request)
{
    struct request_call *call = request_call_create(job, search_facts(search, supplier), login, request);
    if (call == NULL) {
        return NULL;
    }
    catalogue_carry(search->options.catalogue, &call->call);
    call->times = search_times(search);
    return call;
}

/// Nothing of it calls back any more, and nobody is told anything, but for those that linger.
static void search_retire(struct search *search)
{
    struct world *world = search->options.world;

    recall_fini(search);
    reask_fini(&search->reask, search);
    patience_fini(&search->patience, search);
    dark_fini(search);
    if (timer_is_running(&search->end_timer)) {
        world->ops->timer_cancel(world, &search->end_timer);
    }
    if (search->start != NULL) {
        world->ops->script_cancel(world, &search->start->call);
        search->start = NULL;
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        attempt_fini(&search->attempts[i]);
    }
    search->attempt_count = 0;
    stream_fini(&search->stream);
    search->options.on_script_trouble = NULL;
    search->options.owner = NULL;
}

void search_free(struct search *search)
{
    struct ground *ground = search->ground;

    linger_fini(search);
    block_release(&search->facts);
    block_release(&search->client_facts);
    block_release(&search->key);
    block_release(&search->options.body);
    arena_fini(&search->arena);
    free(search);
    ground_drop(&ground); // the last to go: all of it points into the generation
}

/// Nobody waits for it any more.
static void search_destroy(struct search *search)
{
    search_retire(search);
    if (!linger_outlives(search)) {
        search_free(search);
    }
}

/// Hands the finished reply to the caller and ends the search.
static void search_deliver(struct search *search, struct search_reply *reply, uint64_t began_us)
{
    struct world *world = search->options.world;

    reply->deadline_us = search->deadline_us;
    reply->reserve_us = search->options.reserve_us;
    uint64_t now_us = world->ops->now_us(world);
    reply->took_us = now_us - search->options.arrival_us;
    reply->record = search->options.wants_record ? search_record_of(search, reply) : NULL;
    reply->assemble_us = world->ops->now_us(world) - began_us;
    search->options.on_reply(search->options.owner, reply);
    block_release(&reply->body);
    linger_note_reply(search);
    search_destroy(search);
}

static void search_reply_now(struct search *search, bool was_cut_by_budget)
{
    struct world *world = search->options.world;
    uint64_t began_us = world->ops->now_us(world);
    struct search_reply reply = { .was_cut_by_budget = was_cut_by_budget };

    if (was_cut_by_budget) {
        reply.timer_late_us = began_us - search->end_us;
    }
    answer_build(search, &reply);
    search_deliver(search, &reply, began_us);
}

/// What is pending is cut, and the reply goes out.
static void search_cut(struct search *search)
{
    struct world *world = search->options.world;
    enum phase waiting = PHASE_SCRIPT_QUEUE;

    search->is_replying = true;
    if (search->start != NULL && world->ops->script_has_begun(world, &search->start->call)) {
        waiting = PHASE_SCRIPT;
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (attempt->state != ATTEMPT_CLOSED) {
            // The same instant can be both ends; the smaller name was fixed when the allocation was made.
            const struct allocation *allocation = &attempt->allocation;
            bool is_ceiling = allocation->bound == BOUND_CEILING && allocation->end_us <= search->end_us;
            attempt_cut(attempt, is_ceiling ? BOUND_CEILING : BOUND_BUDGET, waiting);
        }
    }
    search_reply_now(search, true);
}

void search_finish_early(struct search *search)
{
    search->is_replying = true;
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (search->attempts[i].state != ATTEMPT_CLOSED) {
            attempt_finish_early(&search->attempts[i]); // the dark ones, too
        }
    }
    search->is_replying = false;
    recall_read_closed(search);
    search_conclude(search);
}

/// At deadline - reserve.
static void search_on_end(struct timer *timer)
{
    search_cut(CONTAINER_OF(timer, struct search, end_timer));
}

struct text search_product_script(const struct search *search)
{
    const struct catalogue *catalogue = search->options.catalogue;

    for (size_t i = 0; i < catalogue->product_count && catalogue->product_scripts != NULL; i++) {
        if (text_equals(catalogue->products[i], search->options.product)) {
            return catalogue->product_scripts[i];
        }
    }
    return search->options.product;
}

void *search_alloc(struct search *search, size_t size)
{
    return arena_alloc(&search->arena, size);
}

void search_conclude(struct search *search)
{
    if (recall_is_awaited(search)) {
        return;
    }
    search->is_replying = true;
    dark_finish(search);
    search_reply_now(search, false);
}

/// Counts down; at nothing open the search replies and is gone.
static void search_count_down(struct search *search)
{
    require(search->open > 0);
    search->open--;
    if (search->open == 0 && !search->is_replying) {
        search_conclude(search);
    }
}

void search_hold(struct search *search)
{
    search->open++;
}

void search_let_go(struct search *search)
{
    search_count_down(search);
}

/// The product refused the query, or failed: the reply is a problem and no supplier is asked.
static void search_refuse(struct search *search, const struct start_call *start)
{
    struct world *world = search->options.world;
    uint64_t began_us = world->ops->now_us(world);
    struct search_reply reply = { 0 };

    search->is_replying = true;
    answer_refuse(search, start, &reply);
    search_deliver(search, &reply, began_us);
}

void search_on_attempt_closed(struct search *search, struct attempt *attempt)
{
    const struct search_options *options = &search->options;

    if (attempt->is_lingering) {
        linger_on_closed(search, attempt);
        return;
    }
    enum outcome spoiled = attempt_spoiled(attempt);

    if (spoiled != OUTCOME_COUNT && options->on_script_trouble != NULL) {
        options->on_script_trouble(options->owner, attempt->supplier, spoiled, attempt->end.detail, attempt->trouble);
    }
    if (attempt_is_dark(attempt)) {
        return; // nobody is told, and nobody waited for it
    }
    keep_answer(search, attempt);
    recall_on_closed(search, attempt);
    if (search->has_begun && stream_is_on(&search->stream)) {
        stream_supplier(&search->stream, search, attempt);
    }
    if (search->open > 1) {
        reask_note(&search->reask, search);
        patience_note(&search->patience, search);
    }
    search_count_down(search);
}

void search_on_script_trouble(const struct search *search, const struct attempt *attempt, enum script_verdict verdict,
                              const char *detail, const struct failure *trouble)
{
    const struct search_options *options = &search->options;

    if (options->on_script_trouble != NULL) {
        options->on_script_trouble(options->owner, attempt->supplier, verdict_outcome(verdict), detail, trouble);
    }
}

/// The rule for the deadline is known, now that the facts are. A deadline that nobody could keep any more, because it
/// is over or as good as over, becomes the next one that can be kept: the search ends at once.
static void search_take_deadline(struct search *search, const struct rule *rule)
{
    struct search_options *options = &search->options;
    struct world *world = options->world;
    struct budget budget = budget_by_rule(options->budget, rule->values[RULE_DEADLINE]);
    uint64_t reserve_us = search_reserve_within(options, budget.effective_us);
    uint64_t least_us = world->ops->now_us(world) - options->arrival_us + reserve_us;

    if (budget.effective_us < least_us) {
        uint64_t before_us = options->budget.effective_us;
        budget.effective_us = least_us < before_us ? least_us : before_us;
        budget.is_clamped = budget.effective_us != budget.requested_us;
    }
    uint64_t end_us = options->arrival_us + budget.effective_us - reserve_us;
    if (world->ops->timer_start(world, &search->end_timer, end_us) != STATUS_OK) {
        return; // it still runs as it did, and so does the search
    }
    search->deadline_rule = budget.from == BUDGET_FROM_RULE ? rule : NULL;
    options->budget = budget;
    options->reserve_us = reserve_us;
    search->deadline_us = end_us + reserve_us;
    search->end_us = end_us;
}

/// Starts those that wait for nothing.
static void search_ask(struct search *search, struct start_call *start)
{
    if (!search->recall.delays_cull) {
        cull_least(search, start);
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        bool is_waiting = attempt->state == ATTEMPT_WAITING && !attempt->recalled.is_held;
        if (is_waiting && !start->candidates[attempt->candidate].is_dark) {
            attempt_start(attempt, &start->candidates[attempt->candidate]);
        }
    }
}

void search_on_started(struct script_call *call)
{
    struct search *search = call->owner;
    struct start_call *start = CONTAINER_OF(call, struct start_call, call);

    search->start = NULL;
    if (start->product_verdict != SCRIPT_OK && start->product_verdict != SCRIPT_DROPPED) {
        search_refuse(search, start);
        script_call_destroy(call);
        return;
    }
    search->facts = start->facts;
    start->facts = NULL;
    search->client_facts = start->client_facts;
    start->client_facts = NULL;
    search->key = start->key;
    start->key = NULL;
    search->kind = start->kind;
    memcpy(search->currency, start->currency, sizeof search->currency);
    search->has_begun = true;
    if (start->deadline_rule != NULL) {
        search_take_deadline(search, start->deadline_rule);
    }
    dark_hide(search, start);
    if (stream_is_on(&search->stream)) {
        stream_began(&search->stream, search);
    }
    recall_begin(search, start);
    search_ask(search, start);
    dark_submit(search, start);
    reask_begin(&search->reask, search, start->eligible);
    patience_begin(&search->patience, search, start);
    if (!recall_keeps(search, start)) {
        script_call_destroy(call);
    }
    search_count_down(search); // the start's own count; the search may be gone now
}

static bool search_wants(const struct search_options *options, const struct catalogue_supplier *supplier)
{
    if (!text_equals(supplier->product, options->product)) {
        return false;
    }
    for (size_t i = 0; i < options->only_count; i++) {
        if (text_equals(options->only[i], supplier->name)) {
            return true;
        }
    }
    // Without a test search one of mode test is not there, unless its caller names it and then learns why.
    return options->only == NULL && (supplier->mode != MODE_TEST || options->is_test);
}

static bool search_make_attempts(struct search *search)
{
    const struct catalogue *catalogue = search->options.catalogue;

    search->attempts = arena_alloc_array(&search->arena, catalogue->supplier_count, sizeof *search->attempts);
    if (search->attempts == NULL && catalogue->supplier_count > 0) {
        return false;
    }
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (search_wants(&search->options, &catalogue->suppliers[i])) {
            attempt_init(&search->attempts[search->attempt_count++], search, &catalogue->suppliers[i]);
        }
    }
    return true;
}

/// One that is not for this search, whatever its query says; true: it is closed.
static bool search_close_unwanted(struct search *search, struct attempt *attempt)
{
    const struct catalogue_supplier *supplier = attempt->supplier;

    if (!supplier->is_enabled) {
        attempt_close_unasked(attempt, OUTCOME_DISABLED, supplier->because);
        return true;
    }
    if (attempt_close_switched_off(attempt)) {
        return true;
    }
    if (supplier->mode == MODE_TEST && !search->options.is_test) {
        attempt_close_unasked(attempt, OUTCOME_SKIPPED, TEXT("only for searches with \"mode\": \"test\""));
        return true;
    }
    return supplier->mode == MODE_DARK && dark_close_unreached(search, attempt);
}

/// Closes those that are not to be asked and returns how many are.
static size_t search_close_disabled(struct search *search)
{
    size_t candidates = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!search_close_unwanted(search, attempt)) {
            attempt->candidate = (uint32_t)candidates++;
        }
    }
    return candidates;
}

static bool search_copy_options(struct search *search, const struct search_options *options)
{
    search->options = *options;
    search->options.search_id = arena_copy(&search->arena, options->search_id);
    search->options.product = arena_copy(&search->arena, options->product);
    search->options.caller = arena_copy(&search->arena, options->caller);
    search->options.trace_id = arena_copy(&search->arena, options->trace_id);
    search->options.body = block_acquire(options->body);
    return search->options.search_id.data != NULL && search->options.product.data != NULL;
}

enum status search_start(const struct search_options *options, struct search **result)
{
    struct search *search = calloc(1, sizeof *search);
    enum status status = STATUS_NO_MEMORY;

    *result = NULL;
    if (search == NULL) {
        return STATUS_NO_MEMORY;
    }
    search->ground = ground_hold(options->catalogue->ground);
    arena_init(&search->arena, SEARCH_ARENA_CEILING);
    stream_init(&search->stream, options->on_event, options->owner);
    if (!search_copy_options(search, options)) {
        goto fail;
    }
    search->end_timer.on_due = search_on_end;
    search->deadline_us = options->arrival_us + options->budget.effective_us;
    search->end_us = search->deadline_us - options->reserve_us;
    if (!search_make_attempts(search)) {
        goto fail;
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        search->open += attempt_is_dark(&search->attempts[i]) ? 0 : 1;
    }
    search->open++;              // the start's own
    search->options.only = NULL; // the caller's array is not kept
    status = search_submit_start(search, search_close_disabled(search));
    if (status != STATUS_OK) {
        goto fail;
    }
    status = options->world->ops->timer_start(options->world, &search->end_timer, search->end_us);
    if (status != STATUS_OK) {
        goto fail;
    }
    *result = search;
    return STATUS_OK;

fail:
    search_destroy(search);
    return status;
}

void search_end(struct search **ended, uint64_t grace_us)
{
    struct search *search = *ended;
    struct search_options *options = &search->options;
    struct world *world = options->world;
    uint64_t now_us = world->ops->now_us(world);

    *ended = NULL;
    world->is_ending = true;       // what is cut now would be given up at once
    if (now_us < search->end_us) { // else it ends by itself at this very moment
        uint64_t left_us = search->deadline_us - now_us;
        options->reserve_us = grace_us < left_us ? grace_us : left_us;
        search->end_us = now_us;
        search->deadline_us = now_us + options->reserve_us;
        search->deadline_rule = NULL;
        options->budget.effective_us = search->deadline_us - options->arrival_us;
        options->budget.is_clamped = options->budget.effective_us != options->budget.requested_us;
        options->budget.from = BUDGET_FROM_SHUTDOWN;
    }
    search_cut(search);
}

void search_cancel(struct search **search)
{
    if (*search != NULL) {
        search_destroy(*search);
        *search = NULL;
    }
}
