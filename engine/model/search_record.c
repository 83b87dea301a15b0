#include "model/search_record.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

// The record, its entries and its texts lie behind one another in one piece of memory.

struct search_record *search_record_create(size_t entry_count, size_t text_bytes)
{
    size_t entries_size = 0;
    size_t size = 0;

    if (__builtin_mul_overflow(entry_count, sizeof(struct search_record_entry), &entries_size) ||
        __builtin_add_overflow(entries_size, sizeof(struct search_record), &size) ||
        __builtin_add_overflow(size, text_bytes, &size)) {
        return NULL;
    }
    struct search_record *record = malloc(size);
    if (record == NULL) {
        return NULL;
    }
    memset(record, 0, size - text_bytes);
    record->entries = (struct search_record_entry *)(void *)(record + 1);
    record->entry_count = entry_count;
    record->room = (char *)(record->entries + entry_count);
    record->room_left = text_bytes;
    return record;
}

void search_record_destroy(struct search_record **record)
{
    free(*record);
    *record = NULL;
}

struct text search_record_keep(struct search_record *record, struct text text)
{
    size_t length = text.length < record->room_left ? text.length : record->room_left;
    struct text kept = { record->room, length };

    if (length == 0) {
        return (struct text){ NULL, 0 };
    }
    memcpy(record->room, text.data, length);
    record->room += length;
    record->room_left -= length;
    return kept;
}

bool search_record_is_late(const struct search_record *record)
{
    return record->was_sent && !record->was_client_slow && record->sent_us > record->effective_us;
}

static void field_ms(struct json_writer *json, const char *key, uint64_t us)
{
    json_field_u64(json, key, clock_us_to_ms(us));
}

/// Fields that say nothing are left out.
static void field_text(struct json_writer *json, const char *key, struct text value)
{
    if (value.length > 0) {
        json_field_text(json, key, value);
    }
}

static void field_count(struct json_writer *json, const char *key, uint64_t value)
{
    if (value > 0) {
        json_field_u64(json, key, value);
    }
}

static void field_flag(struct json_writer *json, const char *key, bool value)
{
    if (value) {
        json_field_bool(json, key, true);
    }
}

static void write_why(const struct search_record_entry *entry, struct json_writer *json)
{
    bool is_reason = entry->outcome == OUTCOME_SKIPPED || entry->outcome == OUTCOME_DISABLED;

    if (entry->bound != BOUND_NONE) {
        json_field_c(json, "bound", bound_name(entry->bound));
    }
    if (entry->phase != PHASE_NONE) {
        json_field_c(json, "phase", phase_name(entry->phase));
    }
    if (entry->rejection != REJECTION_NONE) {
        json_field_c(json, "kind", rejection_name(entry->rejection));
    }
    field_count(json, "http_status", entry->http_status);
    field_text(json, "code", entry->code);
    field_text(json, is_reason ? "reason" : "detail", entry->detail);
    field_count(json, "retry_in_ms", entry->retry_after_ms);
}

static void write_parts(const struct search_record_entry *entry, struct json_writer *json)
{
    field_flag(json, "partial", entry->is_partial);
    if (entry->parts_sent > 1) {
        json_key(json, "parts");
        json_begin_object(json);
        json_field_u64(json, "sent", entry->parts_sent);
        json_field_u64(json, "ok", entry->parts_ok);
        json_field_u64(json, "failed", entry->parts_failed);
        json_end_object(json);
    }
    if (entry->outcome == OUTCOME_ANSWERED || entry->outcome == OUTCOME_CACHED) {
        json_field_u64(json, "offers", entry->offers);
    }
    if (entry->has_last_known) {
        json_key(json, "last_known");
        json_begin_object(json);
        json_field_u64(json, "offers", entry->last_offers);
        json_field_u64(json, "age_s", entry->last_age_ms / 1000);
        json_end_object(json);
    }
    field_count(json, "offers_dropped", entry->dropped);
    field_count(json, "offers_unmapped", entry->unmapped);
}

static void write_rules(const struct search_record_entry *entry, struct json_writer *json)
{
    if (entry->rules[0].length == 0) {
        return;
    }
    json_key(json, "rules");
    json_begin_array(json);
    for (size_t i = 0; i < CEILING_RULES_MAX && entry->rules[i].length > 0; i++) {
        json_text(json, entry->rules[i]);
    }
    json_end_array(json);
}

static void write_extra(const struct search_record_entry *entry, struct json_writer *json)
{
    field_count(json, "retries", entry->retries);
    if (entry->has_hedge) {
        json_key(json, "hedge");
        json_begin_object(json);
        field_ms(json, "sent_at_ms", entry->hedge_us);
        json_field_bool(json, "won", entry->has_hedge_won);
        json_end_object(json);
    }
}

static void write_entry(const struct search_record_entry *entry, struct json_writer *json)
{
    json_begin_object(json);
    json_field_text(json, "name", entry->name);
    field_text(json, "account", entry->account);
    json_field_c(json, "outcome", outcome_name(entry->outcome));
    if (entry->mode != MODE_LIVE) {
        json_field_c(json, "mode", mode_name(entry->mode));
    }
    write_why(entry, json);
    write_parts(entry, json);
    if (entry->was_asked) {
        field_ms(json, "began_ms", entry->began_us);
        field_ms(json, "took_ms", entry->took_us);
        json_field_u64(json, "requests", entry->requests);
        write_extra(entry, json);
    }
    if (entry->allocated_us > 0) {
        field_ms(json, "allocated_ms", entry->allocated_us);
    }
    if (entry->ceiling_us != UINT64_MAX) {
        field_ms(json, "ceiling_ms", entry->ceiling_us);
        json_field_c(json, "ceiling_from", ceiling_from_name(entry->ceiling_from));
        write_rules(entry, json);
    }
    field_text(json, "script", entry->script);
    json_end_object(json);
}

static void write_budget(const struct search_record *record, struct json_writer *json)
{
    json_key(json, "budget");
    json_begin_object(json);
    field_ms(json, "requested_ms", record->requested_us);
    field_ms(json, "effective_ms", record->effective_us);
    field_ms(json, "reserve_ms", record->reserve_us);
    json_field_bool(json, "clamped", record->is_clamped);
    field_text(json, "from", text_of(record->budget_from));
    field_text(json, "rule", record->rule);
    json_end_object(json);
}

static void write_coverage(const struct search_record *record, struct json_writer *json)
{
    json_key(json, "coverage");
    json_begin_object(json);
    json_field_bool(json, "complete", record->is_complete);
    json_field_u64(json, "percent", record->percent);
    json_field_u64(json, "eligible", record->eligible);
    json_field_u64(json, "answered", record->answered);
    json_field_u64(json, "empty", record->empty);
    field_count(json, "cached", record->cached);
    field_count(json, "indicative", record->indicative);
    json_field_u64(json, "missing", record->missing);
    json_field_u64(json, "offers_found", record->offers_found);
    json_field_u64(json, "offers_returned", record->offers_returned);
    json_end_object(json);
}

/// Counted by supplier.
static void write_store(const struct search_record_store *store, struct json_writer *json)
{
    if (!store->was_asked) {
        return;
    }
    json_key(json, "store");
    json_begin_object(json);
    if (store->has_answered) {
        field_ms(json, "index_ms", store->index_us);
    }
    json_field_u64(json, "found", store->found);
    json_field_u64(json, "absent", store->absent);
    field_count(json, "faults", store->faults);
    field_count(json, "late", store->late);
    json_end_object(json);
}

static void write_sending(const struct search_record *record, struct json_writer *json)
{
    if (record->status == 0) {
        json_field_bool(json, "cancelled", true);
    } else {
        json_field_u64(json, "status", record->status);
        json_field_bool(json, "sent", record->was_sent);
    }
    field_ms(json, "took_ms", record->took_us);
    if (record->was_sent) {
        field_ms(json, "sent_ms", record->sent_us);
    }
    field_flag(json, "late", search_record_is_late(record));
    field_flag(json, "client_slow", record->was_client_slow);
    field_flag(json, "cut_by_budget", record->was_cut_by_budget);
    if (record->saved_us > 0) {
        json_field_u64(json, "finished_early_by_ms", record->saved_us / 1000);
    }
}

static void write_at(uint64_t wall_us, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(wall_us, at);

    json_field_text(json, "at", (struct text){ at, length });
}

/// What went on, and how late it was. `at` is its end.
static void write_afterwards(const struct search_record *record, struct json_writer *json)
{
    const struct search_record_late *late = &record->late;

    write_at(record->arrival_wall_us + record->took_us, json);
    if (record->kind == RECORD_LATE) {
        field_ms(json, "late_ms", late->late_us);
    }
    if (late->is_compared && record->entries[0].outcome == OUTCOME_ANSWERED) {
        json_field_u64(json, "new_items", late->new_items);
        json_field_u64(json, "cheapest_items", late->cheapest_items);
    }
    json_key(json, "supplier");
    write_entry(&record->entries[0], json);
}

static void write_line(const struct search_record *record, struct json_writer *json)
{
    json_field_c(json, "line", record->kind == RECORD_LATE ? "late" : "probe");
}

static void write_joined(const struct search_record *const *afterwards, size_t count, struct json_writer *json)
{
    if (count == 0) {
        return;
    }
    json_key(json, "afterwards");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json);
        write_line(afterwards[i], json);
        write_afterwards(afterwards[i], json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_search(const struct search_record *record, struct json_writer *json)
{
    json_field_text(json, "search_id", record->search_id);
    write_at(record->arrival_wall_us, json);
    json_field_text(json, "product", record->product);
    field_text(json, "caller", record->caller);
    field_text(json, "trace_id", record->trace_id);
    json_field_u64(json, "generation", record->generation);
    if (record->is_test) {
        json_field_c(json, "mode", mode_name(MODE_TEST));
    }
    write_sending(record, json);
    write_budget(record, json);
    write_coverage(record, json);
    write_store(&record->store, json);
    json_key(json, "suppliers");
    json_begin_array(json);
    for (size_t i = 0; i < record->entry_count; i++) {
        write_entry(&record->entries[i], json);
    }
    json_end_array(json);
}

/// `at` is its arrival, as a search's.
static void write_revalidation(const struct search_record *record, struct json_writer *json)
{
    const struct search_record_revalidation *told = &record->revalidation;
    const struct search_record_entry *entry = &record->entries[0];

    json_begin_object(json);
    json_field_c(json, "line", "revalidation");
    json_field_text(json, "revalidation_id", record->search_id);
    write_at(record->arrival_wall_us, json);
    json_field_text(json, "product", record->product);
    json_field_u64(json, "generation", record->generation);
    json_field_c(json, "status", revalidation_status_name(told->status));
    field_text(json, "because", told->because);
    field_ms(json, "took_ms", record->took_us);
    json_field_u64(json, "offer_age_s", told->age_ms / 1000);
    field_text(json, "was", told->was);
    field_text(json, "now", told->now);
    if (told->has_joined) {
        json_field_bool(json, "joined", true);
    }
    json_field_text(json, "supplier", entry->name);
    field_text(json, "account", entry->account);
    field_text(json, "script", entry->script);
    json_field_u64(json, "requests", entry->requests);
    write_why(entry, json);
    json_end_object(json);
}

void search_record_write(const struct search_record *record, struct json_writer *json)
{
    if (record->kind == RECORD_SEARCH) {
        search_record_write_joined(record, NULL, 0, json);
        return;
    }
    if (record->kind == RECORD_REVALIDATION) {
        write_revalidation(record, json);
        return;
    }
    json_begin_object(json);
    write_line(record, json);
    json_field_text(json, "search_id", record->search_id);
    json_field_text(json, "product", record->product);
    json_field_u64(json, "generation", record->generation);
    write_afterwards(record, json);
    json_end_object(json);
}

void search_record_write_joined(const struct search_record *record, const struct search_record *const *afterwards,
                                size_t count, struct json_writer *json)
{
    require(record->kind == RECORD_SEARCH);
    json_begin_object(json);
    write_search(record, json);
    write_joined(afterwards, count, json);
    json_end_object(json);
}
