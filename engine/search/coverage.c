#include "search/coverage.h"

#include "base/clock.h"
#include "search/shown.h"

static void coverage_add(struct coverage *coverage, const struct attempt *attempt)
{
    if (attempt_is_dark(attempt)) {
        return;
    }
    if (attempt->state != ATTEMPT_CLOSED) {
        coverage->pending++;
        coverage->eligible++;
        return;
    }
    if (attempt->is_partial && outcome_row(attempt->outcome)->group != GROUP_MISSING) {
        coverage->partial++;
        coverage->has_bound[attempt->bound] = true;
        coverage->has_outcome[OUTCOME_FINISHED_EARLY] |= attempt->is_finished_early;
    }
    switch (outcome_row(attempt->outcome)->group) {
    case GROUP_ANSWERED:
        coverage->answered++;
        break;
    case GROUP_EMPTY:
        coverage->empty++;
        break;
    case GROUP_CACHED:
        coverage->cached++;
        break;
    case GROUP_MISSING:
        coverage->indicative += attempt->recalled.is_shown;
        coverage->missing += !attempt->recalled.is_shown;
        if (attempt->outcome == OUTCOME_CUT) {
            coverage->has_bound[attempt->bound] = true;
        } else {
            coverage->has_outcome[attempt->outcome] = true;
        }
        break;
    case GROUP_NOT_ELIGIBLE:
        return;
    }
    coverage->eligible++;
}

void coverage_count(struct coverage *coverage, const struct attempt *attempts, size_t count)
{
    *coverage = (struct coverage){ 0 };
    for (size_t i = 0; i < count; i++) {
        coverage_add(coverage, &attempts[i]);
    }
    if (coverage->eligible > 0) {
        size_t present = coverage->answered + coverage->empty + coverage->cached;
        coverage->percent = (uint32_t)(100 * present / coverage->eligible);
        coverage->is_complete = coverage->missing + coverage->indicative + coverage->partial + coverage->pending == 0;
    }
}

/// What a caller without details is told: late, unavailable.
static void write_public_reasons(const struct coverage *coverage, struct json_writer *json)
{
    bool has_seen[SEEN_UNAVAILABLE + 1] = { false };

    has_seen[SEEN_LATE] = coverage->has_bound[BOUND_CEILING] || coverage->has_bound[BOUND_BUDGET];
    for (enum outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        has_seen[outcome_row(outcome)->seen] |= coverage->has_outcome[outcome];
    }
    for (enum outcome_seen seen = SEEN_LATE; seen <= SEEN_UNAVAILABLE; seen++) {
        if (has_seen[seen]) {
            json_c(json, seen_name(seen));
        }
    }
}

static void write_full_reasons(const struct coverage *coverage, struct json_writer *json)
{
    for (enum bound bound = BOUND_CEILING; bound <= BOUND_BUDGET; bound++) {
        if (coverage->has_bound[bound]) {
            json_c(json, bound_name(bound));
        }
    }
    for (enum outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        if (coverage->has_outcome[outcome]) {
            json_c(json, outcome_name(outcome));
        }
    }
}

static void write_reasons(const struct coverage *coverage, enum reply_detail detail, struct json_writer *json)
{
    json_key(json, "reasons");
    json_begin_array(json);
    if (coverage->eligible == 0) {
        json_c(json, "none_eligible");
    }
    if (detail == REPLY_PUBLIC) {
        write_public_reasons(coverage, json);
    } else {
        write_full_reasons(coverage, json);
    }
    json_end_array(json);
}

void coverage_write(const struct coverage *coverage, enum reply_detail detail, struct json_writer *json, size_t found,
                    size_t returned)
{
    json_begin_object(json);
    json_field_bool(json, "complete", coverage->is_complete);
    json_field_u64(json, "percent", coverage->percent);
    json_field_u64(json, "eligible", coverage->eligible);
    json_field_u64(json, "answered", coverage->answered);
    json_field_u64(json, "empty", coverage->empty);
    if (coverage->has_store) {
        json_field_u64(json, "cached", coverage->cached);
        json_field_u64(json, "indicative", coverage->indicative);
    }
    json_field_u64(json, "missing", coverage->missing);
    if (coverage->pending > 0) {
        json_field_u64(json, "pending", coverage->pending);
    }
    write_reasons(coverage, detail, json);
    json_field_u64(json, "offers_found", found);
    json_field_u64(json, "offers_returned", returned);
    json_end_object(json);
}

/// Where they stand, so that whoever wrote them finds the line.
static void write_rules(const struct ceiling *ceiling, struct json_writer *json)
{
    if (ceiling->rules[0] == NULL) {
        return;
    }
    json_key(json, "rules");
    json_begin_array(json);
    for (size_t i = 0; i < CEILING_RULES_MAX && ceiling->rules[i] != NULL; i++) {
        json_text(json, ceiling->rules[i]->place);
    }
    json_end_array(json);
}

static void write_times(const struct attempt *attempt, uint64_t arrival_us, struct json_writer *json)
{
    if (attempt->began_us != 0) {
        json_field_u64(json, "began_ms", clock_us_to_ms(attempt->began_us - arrival_us));
        json_field_u64(json, "took_ms", clock_us_to_ms(attempt->closed_us - attempt->began_us));
    }
    if (attempt->allocation.us != 0) {
        json_field_u64(json, "allocated_ms", clock_us_to_ms(attempt->allocation.us));
    }
    if (attempt->ceiling.us != UINT64_MAX) {
        json_field_u64(json, "ceiling_ms", clock_us_to_ms(attempt->ceiling.us));
        json_field_c(json, "ceiling_from", ceiling_from_name(attempt->ceiling.from));
        write_rules(&attempt->ceiling, json);
    }
}

static void write_parts(const struct attempt *attempt, struct json_writer *json)
{
    if (attempt->is_partial) {
        json_field_bool(json, "partial", true);
    }
    if (attempt->part_count > 1) {
        json_key(json, "parts");
        json_begin_object(json);
        json_field_u64(json, "sent", attempt->part_count);
        json_field_u64(json, "ok", attempt->parts_ok);
        json_field_u64(json, "failed", attempt->parts_failed);
        json_end_object(json);
    }
    if (attempt->warning_count > 0) {
        json_field_u64(json, "warnings", attempt->warning_count);
        json_field_c(json, "first_warning", attempt->warning);
    }
}

static void write_extra(const struct attempt *attempt, uint64_t arrival_us, struct json_writer *json)
{
    struct extra_told told = extra_told_of(attempt);

    if (told.retries > 0) {
        json_field_u64(json, "retries", told.retries);
    }
    if (told.has_hedge) {
        json_key(json, "hedge");
        json_begin_object(json);
        json_field_u64(json, "sent_at_ms", clock_us_to_ms(told.hedge_us - arrival_us));
        json_field_bool(json, "won", told.has_won);
        json_end_object(json);
    }
}

static void write_why(const struct attempt *attempt, struct json_writer *json)
{
    const struct part_end *end = &attempt->end;
    enum phase phase = attempt->outcome == OUTCOME_ANSWERED && attempt->bound == BOUND_NONE ? PHASE_NONE : end->phase;

    if (attempt->bound != BOUND_NONE) {
        json_field_c(json, "bound", bound_name(attempt->bound));
    }
    if (phase != PHASE_NONE) {
        json_field_c(json, "phase", phase_name(phase));
    }
    if (end->rejection != REJECTION_NONE) {
        json_field_c(json, "kind", rejection_name(end->rejection));
    }
    if (end->http_status >= 400) {
        json_field_u64(json, "http_status", end->http_status);
    }
    if (end->code[0] != '\0') {
        json_field_c(json, "code", end->code);
    }
    if (end->detail[0] != '\0') {
        bool is_reason = attempt->outcome == OUTCOME_SKIPPED || attempt->outcome == OUTCOME_DISABLED;
        json_field_c(json, is_reason ? "reason" : "detail", end->detail);
    }
    if (end->retry_after_ms != 0) {
        json_field_u64(json, "retry_in_ms", end->retry_after_ms);
    }
}

static void write_public_attempt(const struct attempt *attempt, struct json_writer *json)
{
    const struct catalogue_supplier *supplier = attempt->supplier;

    json_begin_object(json);
    json_field_text(json, "name", shown_name(supplier, REPLY_PUBLIC));
    json_field_c(json, "outcome", seen_name(outcome_row(attempt->outcome)->seen));
    json_end_object(json);
}

/// What the reply has of an earlier answer of it.
static void write_last_known(const struct attempt *attempt, struct json_writer *json)
{
    if (!attempt->recalled.is_shown && attempt->outcome != OUTCOME_CACHED) {
        return;
    }
    json_key(json, "last_known");
    json_begin_object(json);
    json_field_u64(json, "offers", attempt_shown(attempt)->live);
    json_field_u64(json, "age_s", attempt->recalled.age_ms / 1000);
    json_end_object(json);
}

void coverage_write_attempt(const struct attempt *attempt, uint64_t arrival_us, enum reply_detail detail,
                            struct json_writer *json)
{
    if (detail == REPLY_PUBLIC) {
        write_public_attempt(attempt, json);
        return;
    }
    json_begin_object(json);
    json_field_text(json, "name", attempt->supplier->name);
    if (attempt->account != NULL) {
        json_field_text(json, "account", attempt->account->name);
    }
    json_field_c(json, "outcome", outcome_name(attempt->outcome));
    if (attempt->mode != MODE_LIVE) {
        json_field_c(json, "mode", mode_name(attempt->mode));
    }
    write_why(attempt, json);
    write_parts(attempt, json);
    if (attempt->outcome == OUTCOME_ANSWERED || attempt->outcome == OUTCOME_CACHED) {
        json_field_u64(json, "offers", attempt->stock.live);
    }
    write_last_known(attempt, json);
    if (attempt->dropped > 0) {
        json_field_u64(json, "offers_dropped", attempt->dropped);
        json_field_c(json, "first_dropped", attempt->dropped_first);
    }
    if (attempt->unmapped > 0) {
        json_field_u64(json, "offers_unmapped", attempt->unmapped);
    }
    write_times(attempt, arrival_us, json);
    write_extra(attempt, arrival_us, json);
    json_field_text(json, "script", attempt->supplier->script);
    json_end_object(json);
}
