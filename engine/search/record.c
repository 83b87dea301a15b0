#include "search/record.h"

#include "search/coverage.h"
#include "search/search_internal.h"

#include <string.h>

/// What a detail that was cut may be as long as: it passed through buffers of these sizes.
static bool is_cut_detail(const struct part_end *end, size_t length)
{
    return length + 1 == sizeof(end->detail) || length + 1 == sizeof(((struct fetch *)NULL)->detail);
}

static struct text account_of(const struct attempt *attempt)
{
    const struct script_account *account = attempt->account;
    return account != NULL ? account->name : (struct text){ NULL, 0 };
}

static size_t entry_text_room(const struct attempt *attempt)
{
    size_t room = attempt->supplier->name.length + account_of(attempt).length + attempt->supplier->script.length;

    for (size_t i = 0; i < CEILING_RULES_MAX && attempt->ceiling.rules[i] != NULL; i++) {
        room += attempt->ceiling.rules[i]->place.length;
    }
    return room + strlen(attempt->end.code) + strlen(attempt->end.detail);
}

static size_t text_room(const struct search *search, size_t attempt_count)
{
    const struct search_options *options = &search->options;
    size_t room =
        options->search_id.length + options->product.length + options->caller.length + options->trace_id.length;

    room += search->deadline_rule != NULL ? search->deadline_rule->place.length : 0;
    for (size_t i = 0; i < attempt_count; i++) {
        room += entry_text_room(&search->attempts[i]);
    }
    return room;
}

static void fill_parts(const struct attempt *attempt, struct search_record_entry *entry)
{
    struct extra_told told = extra_told_of(attempt);

    entry->retries = told.retries;
    entry->has_hedge = told.has_hedge;
    entry->has_hedge_won = told.has_won;
    entry->hedge_us = told.has_hedge ? told.hedge_us - attempt->search->options.arrival_us : 0;
    entry->parts_sent = attempt->part_count;
    entry->parts_ok = attempt->parts_ok;
    entry->parts_failed = attempt->parts_failed;
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        entry->requests += part_requests(&attempt->parts[i]);
    }
}

/// An attempt that is not closed ends with its caller's leaving: now, where its first open part stands.
static void fill_cancelled(const struct attempt *attempt, struct search_record_entry *entry, uint64_t now_us)
{
    entry->outcome = OUTCOME_CANCELLED;
    entry->took_us = entry->was_asked ? now_us - attempt->began_us : 0;
    for (uint32_t i = 0; i < attempt->part_count && entry->phase == PHASE_NONE; i++) {
        entry->phase = part_phase(&attempt->parts[i]);
    }
}

static void fill_closed(const struct attempt *attempt, struct search_record_entry *entry)
{
    const struct part_end *end = &attempt->end;
    bool is_whole = attempt->outcome == OUTCOME_ANSWERED && attempt->bound == BOUND_NONE;

    entry->outcome = attempt->outcome;
    entry->took_us = entry->was_asked ? attempt->closed_us - attempt->began_us : 0;
    entry->bound = attempt->bound;
    entry->phase = is_whole ? PHASE_NONE : end->phase;
    entry->rejection = end->rejection;
    entry->http_status = end->http_status;
    entry->retry_after_ms = end->retry_after_ms;
    entry->is_partial = attempt->is_partial && outcome_row(attempt->outcome)->group != GROUP_MISSING;
}

static void fill_entry(struct search_record *record, const struct search *search, const struct attempt *attempt,
                       struct search_record_entry *entry, uint64_t now_us)
{
    const struct catalogue_supplier *supplier = attempt->supplier;
    size_t detail_length = strlen(attempt->end.detail);

    entry->name = search_record_keep(record, supplier->name);
    entry->account = search_record_keep(record, account_of(attempt));
    entry->script = search_record_keep(record, supplier->script);
    entry->code = search_record_keep(record, text_of(attempt->end.code));
    entry->detail = search_record_keep(record, (struct text){ attempt->end.detail, detail_length });
    entry->is_detail_cut = is_cut_detail(&attempt->end, detail_length);
    entry->mode = attempt->mode;
    entry->was_asked = attempt->began_us != 0;
    entry->began_us = entry->was_asked ? attempt->began_us - search->options.arrival_us : 0;
    entry->allocated_us = attempt->allocation.us;
    entry->ceiling_us = attempt->ceiling.us;
    entry->ceiling_from = attempt->ceiling.from;
    for (size_t i = 0; i < CEILING_RULES_MAX && attempt->ceiling.rules[i] != NULL; i++) {
        entry->rules[i] = search_record_keep(record, attempt->ceiling.rules[i]->place);
    }
    entry->offers = (uint32_t)attempt->stock.live;
    entry->has_last_known = attempt->recalled.is_shown || attempt->outcome == OUTCOME_CACHED;
    entry->last_offers = entry->has_last_known ? (uint32_t)attempt_shown(attempt)->live : 0;
    entry->last_age_ms = entry->has_last_known ? attempt->recalled.age_ms : 0;
    entry->dropped = (uint32_t)attempt->dropped;
    entry->unmapped = (uint32_t)attempt->unmapped;
    fill_parts(attempt, entry);
    if (attempt->state == ATTEMPT_CLOSED) {
        fill_closed(attempt, entry);
    } else {
        fill_cancelled(attempt, entry, now_us);
    }
}

static struct search_record *make_record(const struct search *search, size_t attempt_count, uint64_t now_us)
{
    const struct search_options *options = &search->options;
    struct search_record *record = search_record_create(attempt_count, text_room(search, attempt_count));

    if (record == NULL) {
        return NULL;
    }
    record->search_id = search_record_keep(record, options->search_id);
    record->product = search_record_keep(record, options->product);
    record->caller = search_record_keep(record, options->caller);
    record->trace_id = search_record_keep(record, options->trace_id);
    record->generation = options->catalogue->generation;
    record->is_test = options->is_test;
    record->arrival_wall_us = options->arrival_wall_us;
    record->requested_us = options->budget.requested_us;
    record->effective_us = options->budget.effective_us;
    record->is_clamped = options->budget.is_clamped;
    record->budget_from = budget_from_name(options->budget.from);
    if (search->deadline_rule != NULL) {
        record->rule = search_record_keep(record, search->deadline_rule->place);
    }
    record->reserve_us = options->reserve_us;
    record->took_us = now_us - options->arrival_us;
    for (size_t i = 0; i < attempt_count; i++) {
        fill_entry(record, search, &search->attempts[i], &record->entries[i], now_us);
    }
    return record;
}

static void fill_store(const struct recall *recall, struct search_record_store *store)
{
    *store = (struct search_record_store){ .was_asked = recall->is_on,
                                           .has_answered = recall->is_on && recall->index == NULL,
                                           .index_us = recall->index_us,
                                           .found = recall->found,
                                           .absent = recall->absent,
                                           .faults = recall->faults,
                                           .late = recall->late };
}

struct search_record *search_record_of(const struct search *search, const struct search_reply *reply)
{
    size_t attempt_count = reply->is_refused ? 0 : search->attempt_count;
    uint64_t now_us = search->options.arrival_us + reply->took_us;
    struct search_record *record = make_record(search, attempt_count, now_us);
    struct coverage coverage;

    if (record == NULL) {
        return NULL;
    }
    coverage_count(&coverage, search->attempts, attempt_count);
    record->status = reply->status;
    record->is_complete = coverage.is_complete;
    record->was_cut_by_budget = reply->was_cut_by_budget;
    record->saved_us = search->patience.saved_us;
    record->percent = coverage.percent;
    record->eligible = (uint32_t)coverage.eligible;
    record->answered = (uint32_t)coverage.answered;
    record->empty = (uint32_t)coverage.empty;
    record->cached = (uint32_t)coverage.cached;
    record->indicative = (uint32_t)coverage.indicative;
    record->missing = (uint32_t)coverage.missing;
    fill_store(&search->recall, &record->store);
    record->offers_found = reply->offers_found;
    record->offers_returned = reply->offers_returned;
    return record;
}

struct search_record *search_record_gone(const struct search *search)
{
    struct world *world = search->options.world;
    return make_record(search, search->attempt_count, world->ops->now_us(world));
}

struct search_record *search_record_late(const struct search *search, const struct attempt *attempt)
{
    const struct search_options *options = &search->options;
    uint64_t now_us = options->world->ops->now_us(options->world);
    uint64_t ended_us = attempt->state == ATTEMPT_CLOSED ? attempt->closed_us : now_us;
    struct search_record *record =
        search_record_create(1, options->search_id.length + options->product.length + entry_text_room(attempt));

    if (record == NULL) {
        return NULL;
    }
    record->kind = attempt->is_probe ? RECORD_PROBE : RECORD_LATE;
    record->search_id = search_record_keep(record, options->search_id);
    record->product = search_record_keep(record, options->product);
    record->generation = options->catalogue->generation;
    record->arrival_wall_us = options->arrival_wall_us;
    record->took_us = ended_us - options->arrival_us;
    record->late.late_us = attempt->is_probe ? 0 : ended_us - attempt->was.cut_us;
    fill_entry(record, search, attempt, &record->entries[0], now_us);
    record->entries[0].mode = attempt->was.mode;
    record->entries[0].bound = attempt->was.bound;
    record->entries[0].requests -= attempt->was.requests;
    return record;
}
