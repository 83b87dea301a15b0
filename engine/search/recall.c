#include "search/recall.h"

#include "search/cull.h"
#include "search/recall_internal.h"

//   asked: index out --> heads known --> reads out --> offers here --> shown (recall_settle)
//
// A held attempt waits for the index, then for its offers, both within one slice; then it is closed as cached, or asked
// as any other. What a search needs of the store is never waited for twice: `hold` runs once.

/// A call for offers that is out.
struct recall_read {
    struct recall_read *next;
    struct search *search;
    struct store_call *call;
    struct attempt **attempts; // beside its entries
    bool is_for_held;
};

static struct text key_of(const struct search *search)
{
    return block_text(search->key);
}

static bool is_possible(const struct search *search)
{
    return search_has_store(search) && search->key != NULL && search->attempt_count > 0;
}

// --------------------------------------------------------------------------------------------------------------- reads

static bool is_unread(const struct attempt *attempt)
{
    return recall_has_offers(attempt) && !attempt->recalled.is_reading && attempt->recalled.stock.live == 0 &&
           !attempt_is_dark(attempt);
}

static bool wants_closed(const struct attempt *attempt)
{
    return is_unread(attempt) && recall_may_fill(attempt);
}

static bool wants_missing(const struct attempt *attempt)
{
    bool is_open = attempt->state != ATTEMPT_CLOSED && attempt->stock.live == 0;
    return is_unread(attempt) && !attempt->recalled.is_held && (is_open || recall_may_fill(attempt));
}

static bool wants_fresh(const struct attempt *attempt)
{
    const struct search *search = attempt->search;
    const struct recalled *recalled = &attempt->recalled;

    return recalled->is_held && is_unread(attempt) &&
           last_known_is_fresh(&recalled->head, recall_settings(search), recall_terms(attempt), recall_now_ms(search));
}

static void recall_on_read(struct store_call *call);

/// False: no memory; nothing is out then.
static bool read_fill(struct recall_read *read, enum price_status status, bool (*wants)(const struct attempt *attempt))
{
    struct search *search = read->search;
    size_t next = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!wants(attempt)) {
            continue;
        }
        struct store_entry *entry = &read->call->entries[next];
        if (!store_call_name(read->call, next, attempt->supplier->name, attempt->account->name)) {
            return false;
        }
        entry->max_age_ms = last_known_max_age_ms(recall_settings(search), recall_terms(attempt), false);
        entry->status = status;
        read->attempts[next++] = attempt;
    }
    return true;
}

static void recall_read(struct search *search, enum price_status status, bool (*wants)(const struct attempt *attempt))
{
    struct world *world = search_world(search);
    size_t count = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        count += wants(&search->attempts[i]);
    }
    if (count == 0 || world->ops->now_us(world) >= search->end_us) {
        return;
    }
    struct recall_read *read = search_alloc(search, sizeof *read);
    struct attempt **attempts = search_alloc(search, count * sizeof(void *));
    struct store_call *call = store_call_create(STORE_READ, search_product_script(search), key_of(search), count, 0);
    if (read == NULL || attempts == NULL || call == NULL) {
        store_call_destroy(&call);
        return;
    }
    *read = (struct recall_read){ .search = search, .call = call, .attempts = attempts };
    read->is_for_held = status == PRICE_CACHED;
    if (!read_fill(read, status, wants)) {
        store_call_destroy(&call);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        attempts[i]->recalled.is_reading = true;
    }
    call->on_done = recall_on_read;
    call->owner = read;
    call->now_ms = recall_now_ms(search);
    call->end_us = read->is_for_held ? search->recall.asked_us + recall_settings(search)->slice_us : search->end_us;
    call->end_us = call->end_us < search->end_us ? call->end_us : search->end_us;
    read->next = search->recall.reads;
    search->recall.reads = read;
    world->ops->store_submit(world, call);
}

static void read_delist(struct recall_read *read)
{
    struct recall_read **at = &read->search->recall.reads;

    while (*at != read) {
        require(*at != NULL);
        at = &(*at)->next;
    }
    *at = read->next;
    for (size_t i = 0; i < read->call->entry_count; i++) {
        read->attempts[i]->recalled.is_reading = false;
    }
}

void recall_read_closed(struct search *search)
{
    if (search->recall.is_on && recall_wants_indicative(search)) {
        recall_read(search, PRICE_INDICATIVE, wants_closed);
    }
}

void recall_on_closed(struct search *search, struct attempt *attempt)
{
    if (!search->recall.is_on) {
        return;
    }
    if (!recall_may_fill(attempt)) {
        recall_supersede(attempt);
    } else if (!search->is_replying) {
        recall_read_closed(search);
    }
}

// ---------------------------------------------------------------------------------------------------------------- held

/// Asks it, as if it had not waited; its search may be gone afterwards unless it is held.
static void let_go(struct search *search, struct attempt *attempt)
{
    if (attempt->recalled.is_held && attempt->state == ATTEMPT_WAITING) {
        attempt->recalled.is_held = false;
        attempt_start(attempt, &search->recall.start->candidates[attempt->candidate]);
        reask_join(&search->reask, search, attempt);
    }
}

/// The start call is needed no longer once nobody waits.
static void drop_start(struct search *search)
{
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (search->attempts[i].recalled.is_held && search->attempts[i].state == ATTEMPT_WAITING) {
            return;
        }
    }
    if (search->recall.start != NULL) {
        script_call_destroy(&search->recall.start->call);
        search->recall.start = NULL;
    }
    if (timer_is_running(&search->recall.slice)) {
        search_world(search)->ops->timer_cancel(search_world(search), &search->recall.slice);
    }
}

static bool has_fresh(const struct search *search, const struct attempt *attempt)
{
    const struct recalled *recalled = &attempt->recalled;
    return recalled->state == RECALL_FOUND &&
           last_known_is_fresh(&recalled->head, recall_settings(search), recall_terms(attempt), recall_now_ms(search));
}

/// After the index: those whose last answer is not fresh are asked, the others' offers are read.
static void sort_held(struct search *search)
{
    struct recall *recall = &search->recall;

    if (recall->delays_cull) {
        recall->delays_cull = false;
        cull_least(search, recall->start);
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!attempt->recalled.is_held || attempt->state != ATTEMPT_WAITING) {
            continue;
        }
        if (!has_fresh(search, attempt)) {
            let_go(search, attempt);
        } else if (attempt->recalled.head.offers == 0 && !attempt_close_switched_off(attempt)) {
            attempt_close_cached(attempt, &recall->start->candidates[attempt->candidate], NULL);
        }
    }
    recall_read(search, PRICE_CACHED, wants_fresh);
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (search->attempts[i].recalled.is_held && !search->attempts[i].recalled.is_reading) {
            let_go(search, &search->attempts[i]); // there was no memory to read it
        }
    }
    drop_start(search);
}

/// They have waited long enough.
static void recall_on_slice(struct timer *timer)
{
    struct recall *recall = CONTAINER_OF(timer, struct recall, slice);
    struct search *search = CONTAINER_OF(recall, struct search, recall);
    struct world *world = search_world(search);
    struct recall_read *next;

    search_hold(search);
    for (struct recall_read *read = recall->reads; read != NULL; read = next) {
        next = read->next;
        if (read->is_for_held) { // its offers say that they are cached: nobody needs them any more
            recall->late += (uint32_t)read->call->entry_count;
            read_delist(read);
            world->ops->store_cancel(world, read->call);
        }
    }
    if (recall->delays_cull) {
        recall->delays_cull = false;
        cull_least(search, recall->start);
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        let_go(search, &search->attempts[i]);
    }
    drop_start(search);
    search_let_go(search);
}

// --------------------------------------------------------------------------------------------------------- the answers

static void take_cached(struct search *search, struct attempt *attempt, const struct store_entry *entry)
{
    if (attempt->state != ATTEMPT_WAITING) {
        return;
    }
    if (entry->state != STORE_FOUND || entry->offers == NULL) {
        let_go(search, attempt);
    } else if (!attempt_close_switched_off(attempt)) {
        attempt->recalled.is_held = false;
        attempt_close_cached(attempt, &search->recall.start->candidates[attempt->candidate], entry->offers);
    }
}

static void take_indicative(struct search *search, struct attempt *attempt, const struct store_entry *entry)
{
    struct recalled *recalled = &attempt->recalled;
    bool is_taken = entry->state == STORE_FOUND && entry->offers != NULL &&
                    stock_add(&recalled->stock, 0, entry->offers, MERGE_ADD, NULL, NULL);

    if (is_taken) {
        recall_show_early(search, attempt);
    } else {
        recalled->state = entry->state == STORE_ABSENT ? RECALL_ABSENT : RECALL_FAULT;
        search->recall.faults += entry->state == STORE_FAULT;
    }
}

static void recall_on_read(struct store_call *call)
{
    struct recall_read *read = call->owner;
    struct search *search = read->search;

    search_hold(search);
    read_delist(read);
    for (size_t i = 0; i < call->entry_count; i++) {
        if (read->is_for_held) {
            take_cached(search, read->attempts[i], &call->entries[i]);
        } else {
            take_indicative(search, read->attempts[i], &call->entries[i]);
        }
    }
    if (read->is_for_held) {
        drop_start(search);
    }
    store_call_destroy(&call);
    search_let_go(search);
}

static void take_head(struct search *search, struct attempt *attempt, const struct store_entry *entry)
{
    struct recalled *recalled = &attempt->recalled;

    recalled->state = entry->state == STORE_ABSENT ? RECALL_ABSENT : RECALL_FAULT;
    if (entry->state == STORE_FOUND) {
        bool is_usable =
            last_known_is_usable(&entry->head, recall_settings(search), recall_terms(attempt), recall_now_ms(search));
        recalled->state = is_usable ? RECALL_FOUND : RECALL_ABSENT;
        recalled->head = entry->head;
        recalled->age_ms = last_known_age_ms(&entry->head, recall_now_ms(search));
    }
    search->recall.found += recalled->state == RECALL_FOUND;
    search->recall.absent += recalled->state == RECALL_ABSENT;
    search->recall.faults += recalled->state == RECALL_FAULT;
}

static void recall_on_index(struct store_call *call)
{
    struct search *search = call->owner;
    struct world *world = search_world(search);
    struct recall *recall = &search->recall;
    uint64_t now_us = world->ops->now_us(world);

    recall->index = NULL;
    recall->index_us = now_us - recall->asked_us;
    search_hold(search);
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (attempt->recalled.state == RECALL_ASKED) {
            take_head(search, attempt, &call->entries[attempt->recalled.entry]);
        }
    }
    store_call_destroy(&call);
    if (recall->start != NULL) {
        sort_held(search);
    }
    if (recall_wants_indicative(search)) {
        bool is_all = search->options.indicative == INDICATIVE_FIRST ||
                      now_us + recall_settings(search)->slice_us >= search->end_us;
        recall_read(search, PRICE_INDICATIVE, is_all ? wants_missing : wants_closed);
    }
    search_let_go(search);
}

/// A slice before the end: what is out now may be cut then.
static void recall_on_last(struct timer *timer)
{
    struct recall *recall = CONTAINER_OF(timer, struct recall, last);
    struct search *search = CONTAINER_OF(recall, struct search, recall);

    if (recall_wants_indicative(search) && !search->is_replying) {
        recall_read(search, PRICE_INDICATIVE, wants_missing);
    }
}

// ---------------------------------------------------------------------------------------------------------------- hold

static void recall_on_hold(struct timer *timer)
{
    struct recall *recall = CONTAINER_OF(timer, struct recall, hold);
    struct search *search = CONTAINER_OF(recall, struct search, recall);

    recall->is_hold_over = true;
    search_conclude(search);
}

static bool is_coming(const struct attempt *attempt)
{
    return recall_may_fill(attempt) && (attempt->recalled.is_reading || attempt->recalled.state == RECALL_ASKED);
}

bool recall_is_awaited(struct search *search)
{
    struct world *world = search_world(search);
    struct recall *recall = &search->recall;
    bool is_awaited = false;

    if (!recall->is_on || recall->is_hold_over || !recall_wants_indicative(search)) {
        return false;
    }
    for (size_t i = 0; i < search->attempt_count && !is_awaited; i++) {
        is_awaited = is_coming(&search->attempts[i]);
    }
    if (!is_awaited || timer_is_running(&recall->hold)) {
        return is_awaited;
    }
    uint64_t until_us = world->ops->now_us(world) + recall_settings(search)->slice_us;
    return until_us >= search->end_us || world->ops->timer_start(world, &recall->hold, until_us) == STATUS_OK;
}

// --------------------------------------------------------------------------------------------------------------- begin

static bool is_indexed(const struct attempt *attempt, const struct start_call *start)
{
    if (attempt->state != ATTEMPT_WAITING || attempt_is_dark(attempt)) {
        return false;
    }
    const struct start_candidate *candidate = &start->candidates[attempt->candidate];
    return !candidate->is_dark && !candidate->has_no_account && candidate->verdict != SCRIPT_SKIPPED;
}

/// False: no memory.
static bool index_fill(struct search *search, const struct start_call *start, struct store_call *call)
{
    uint32_t next = 0;

    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        if (!is_indexed(attempt, start)) {
            continue;
        }
        attempt->account = start->candidates[attempt->candidate].account;
        if (!store_call_name(call, next, attempt->supplier->name, attempt->account->name)) {
            return false;
        }
        call->entries[next].max_age_ms = last_known_max_age_ms(recall_settings(search), recall_terms(attempt), false);
        attempt->recalled.entry = next++;
    }
    return true;
}

/// Who waits for the store: those that need not be asked when their last answer is fresh. Under an overload all do, so
/// that those are left out first of whom something is known.
static void hold_some(struct search *search, const struct start_call *start)
{
    struct world *world = search_world(search);
    struct recall *recall = &search->recall;
    uint64_t until_us = recall->asked_us + recall_settings(search)->slice_us;
    bool is_shedding = world->ops->shed_share != NULL && world->ops->shed_share(world) > 0;

    if (until_us + recall_settings(search)->slice_us >= search->end_us ||
        world->ops->timer_start(world, &recall->slice, until_us) != STATUS_OK) {
        return; // there is no time, or nothing would end the waiting
    }
    for (size_t i = 0; i < search->attempt_count; i++) {
        struct attempt *attempt = &search->attempts[i];
        bool is_held = attempt->recalled.state == RECALL_ASKED &&
                       start->candidates[attempt->candidate].verdict == SCRIPT_OK &&
                       (is_shedding || recall_terms(attempt)->fresh_for_ms > 0);
        attempt->recalled.is_held = is_held;
        recall->delays_cull = recall->delays_cull || (is_held && is_shedding);
    }
}

static void start_last(struct search *search)
{
    struct world *world = search_world(search);
    uint64_t slice_us = recall_settings(search)->slice_us;

    if (recall_wants_indicative(search) && search->end_us > search->recall.asked_us + slice_us) {
        // without memory what is cut has nothing to stand in for it
        (void)!world->ops->timer_start(world, &search->recall.last, search->end_us - slice_us);
    }
}

void recall_begin(struct search *search, struct start_call *start)
{
    struct world *world = search_world(search);
    struct recall *recall = &search->recall;
    size_t count = 0;

    for (size_t i = 0; is_possible(search) && i < search->attempt_count; i++) {
        count += is_indexed(&search->attempts[i], start);
    }
    if (count == 0) {
        return;
    }
    struct store_call *call = store_call_create(STORE_INDEX, search_product_script(search), key_of(search), count, 0);
    if (call == NULL || !index_fill(search, start, call)) {
        store_call_destroy(&call);
        return;
    }
    recall->is_on = true;
    recall->index = call;
    recall->asked_us = world->ops->now_us(world);
    recall->slice.on_due = recall_on_slice;
    recall->last.on_due = recall_on_last;
    recall->hold.on_due = recall_on_hold;
    for (size_t i = 0; i < search->attempt_count; i++) {
        if (is_indexed(&search->attempts[i], start)) {
            search->attempts[i].recalled.state = RECALL_ASKED;
        }
    }
    call->on_done = recall_on_index;
    call->owner = search;
    call->now_ms = recall_now_ms(search);
    call->end_us = recall->asked_us + recall_settings(search)->slice_us;
    hold_some(search, start);
    start_last(search);
    world->ops->store_submit(world, call);
}

bool recall_keeps(struct search *search, struct start_call *start)
{
    bool is_kept = false;

    for (size_t i = 0; i < search->attempt_count && !is_kept; i++) {
        is_kept = search->attempts[i].recalled.is_held && search->attempts[i].state == ATTEMPT_WAITING;
    }
    search->recall.start = is_kept ? start : NULL;
    if (!is_kept) {
        drop_start(search);
    }
    return is_kept;
}

static void stop(struct world *world, struct timer *timer)
{
    if (timer_is_running(timer)) {
        world->ops->timer_cancel(world, timer);
    }
}

void recall_fini(struct search *search)
{
    struct world *world = search_world(search);
    struct recall *recall = &search->recall;

    stop(world, &recall->slice);
    stop(world, &recall->last);
    stop(world, &recall->hold);
    if (recall->index != NULL) {
        world->ops->store_cancel(world, recall->index);
        recall->index = NULL;
    }
    while (recall->reads != NULL) {
        struct recall_read *read = recall->reads;
        read_delist(read);
        world->ops->store_cancel(world, read->call);
    }
    if (recall->start != NULL) {
        script_call_destroy(&recall->start->call);
        recall->start = NULL;
    }
}
