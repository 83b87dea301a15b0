// The answer as it is told: to programs, and in one line to the log.

#include "app/reload_answer.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>

const char *reload_source_name(enum reload_source source)
{
    static const char *const names[RELOAD_SOURCE_COUNT] = { "start", "command", "signal", "watch", "trial" };
    return names[source];
}

const char *reload_outcome_name(enum reload_outcome outcome)
{
    static const char *const names[RELOAD_OUTCOME_COUNT] = { "published", "unchanged", "refused" };
    return names[outcome];
}

static void write_given(struct json_writer *json, const char *key, struct text value)
{
    if (value.data != NULL) {
        json_field_text(json, key, value);
    }
}

static void write_because(struct json_writer *json, const char *key, const struct failure *because)
{
    char sentence[sizeof(because->file) + sizeof(because->message) + 16];

    if (because->message[0] != '\0') {
        failure_print(because, sentence, sizeof(sentence));
        json_field_c(json, key, sentence);
        if (because->help[0] != '\0') {
            json_field_c(json, "help", because->help);
        }
    }
}

static void write_since(const struct reload_row *row, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];

    if (row->since_wall_us > 0) {
        size_t length = clock_print_utc(row->since_wall_us, at);
        json_field_text(json, "since", (struct text){ at, length });
    }
}

/// `since` is of what stands, not of one answer.
static void write_row(const struct reload_row *row, bool has_since, struct json_writer *json)
{
    json_begin_object(json);
    json_field_c(json, "kind", row->kind);
    write_given(json, "name", row->name);
    write_given(json, "file", row->file);
    json_field_c(json, "fate", row->fate);
    write_given(json, "running", row->running);
    write_given(json, "before", row->before);
    write_given(json, "on_disk", row->on_disk);
    write_because(json, "because", &row->because);
    if (row->on_restart != NULL) {
        json_field_c(json, "on_restart", row->on_restart);
    }
    if (has_since) {
        write_since(row, json);
    }
    json_end_object(json);
}

static void write_rows(struct json_writer *json, const char *key, const struct reload_row *rows, size_t count,
                       bool has_since)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        write_row(&rows[i], has_since, json);
    }
    json_end_array(json);
}

static void write_restarts(const struct reload_answer *answer, struct json_writer *json)
{
    json_key(json, "needs_restart");
    json_begin_array(json);
    for (size_t i = 0; i < answer->restart_count; i++) {
        const struct reload_restart *restart = &answer->restarts[i];
        json_begin_object(json);
        json_field_text(json, "setting", restart->setting);
        write_given(json, "file", restart->file);
        if (restart->line > 0) {
            json_field_u64(json, "line", restart->line);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_settings(const struct reload_answer *answer, struct json_writer *json)
{
    json_key(json, "settings");
    json_begin_object(json);
    json_field_bool(json, "changed", answer->settings_changed);
    if (answer->settings_name_count > 0) {
        json_key(json, "names");
        json_begin_array(json);
        for (size_t i = 0; i < answer->settings_name_count; i++) {
            json_text(json, answer->settings_names[i]);
        }
        json_end_array(json);
    }
    write_restarts(answer, json);
    json_end_object(json);
}

static void write_failures(struct json_writer *json, const char *list, const char *key, const struct failure *failures,
                           size_t count)
{
    json_key(json, list);
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json);
        write_because(json, key, &failures[i]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_findings(const struct reload_answer *answer, struct json_writer *json)
{
    write_failures(json, "findings", "finding", answer->findings, answer->finding_count);
    if (answer->finding_more > 0) {
        json_field_u64(json, "findings_left_out", answer->finding_more);
    }
}

void reload_answer_write(const struct reload_answer *answer, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(answer->began_wall_us, at);

    json_begin_object(json);
    json_field_c(json, "outcome", reload_outcome_name(answer->outcome));
    json_field_u64(json, "generation", answer->generation);
    json_field_u64(json, "previous", answer->previous);
    json_field_text(json, "at", (struct text){ at, length });
    json_field_c(json, "source", reload_source_name(answer->source));
    write_given(json, "who", answer->who);
    write_given(json, "why", answer->why);
    json_field_u64(json, "requests", answer->requests);
    json_field_u64(json, "took_ms", clock_us_to_ms(answer->took_us));
    write_rows(json, "changed", answer->changed, answer->changed_count, false);
    write_rows(json, "kept", answer->kept, answer->kept_count, false);
    write_failures(json, "remarks", "remark", answer->remarks, answer->remark_count);
    write_settings(answer, json);
    write_findings(answer, json);
    if (answer->shadows.data != NULL) {
        json_key(json, "shadows");
        json_raw(json, answer->shadows);
    }
    if (answer->rows_left_out > 0) {
        json_field_u64(json, "rows_left_out", answer->rows_left_out);
    }
    json_end_object(json);
}

// ---- what stands

static const struct reload_row *first_that_fails(const struct reload_answer *standing)
{
    for (size_t i = 0; i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        if (row->on_restart != NULL && strcmp(row->on_restart, "fails") == 0) {
            return row;
        }
    }
    return NULL;
}

static void write_names(const struct reload_answer *standing, const char *key, const char *effect,
                        struct json_writer *json)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < standing->kept_count; i++) {
        const struct reload_row *row = &standing->kept[i];
        if (row->on_restart != NULL && strcmp(row->on_restart, effect) == 0) {
            json_text(json, row->on_disk.length > 0 ? row->on_disk : row->name);
        }
    }
    json_end_array(json);
}

/// A restart reads the disk and knows of nothing that was held back.
static void write_restart(const struct reload_answer *standing, struct json_writer *json)
{
    const struct reload_row *failing = first_that_fails(standing);

    json_key(json, "restart");
    json_begin_object(json);
    json_field_bool(json, "starts", failing == NULL);
    if (failing != NULL) {
        write_because(json, "because", &failing->because);
    }
    write_names(standing, "runs", "runs", json);
    write_names(standing, "off", "off", json);
    json_end_object(json);
}

void reload_answer_write_standing(const struct reload_answer *standing, struct json_writer *json)
{
    static const struct reload_answer nothing;
    const struct reload_answer *stands = standing != NULL ? standing : &nothing;

    write_rows(json, "kept", stands->kept, stands->kept_count, true);
    json_key(json, "settings");
    json_begin_object(json);
    write_restarts(stands, json);
    json_end_object(json);
    write_restart(stands, json);
}

// ---- one line

enum { ROWS_PRINTED = 8 };

/// "acme:changed,echo:removed,+3"; "0": none.
static void print_rows(struct buffer *out, const char *key, const struct reload_row *rows, size_t count)
{
    char value[LOG_VALUE_MAX];

    buffer_printf(out, " %s=%s", key, count == 0 ? "0" : "");
    for (size_t i = 0; i < count && i < ROWS_PRINTED; i++) {
        buffer_printf(out, "%s%s:%s", i > 0 ? "," : "", log_value(rows[i].name, value), rows[i].fate);
    }
    if (count > ROWS_PRINTED) {
        buffer_printf(out, ",+%zu", count - ROWS_PRINTED);
    }
}

/// "deadline.max,suppliers.acme"; "same": none changed.
static void print_settings(const struct reload_answer *answer, struct buffer *out)
{
    char value[LOG_VALUE_MAX];
    size_t count = answer->settings_name_count;
    const char *whole = answer->settings_changed ? "changed" : "same";

    buffer_printf(out, " settings=%s", count == 0 ? whole : "");
    for (size_t i = 0; i < count && i < ROWS_PRINTED; i++) {
        buffer_printf(out, "%s%s", i > 0 ? "," : "", log_value(answer->settings_names[i], value));
    }
    if (count > ROWS_PRINTED) {
        buffer_printf(out, ",+%zu", count - ROWS_PRINTED);
    }
}

void reload_answer_print(const struct reload_answer *answer, struct buffer *out)
{
    char value[LOG_VALUE_MAX];

    buffer_printf(out, "%s generation=%u previous=%u source=%s", reload_outcome_name(answer->outcome),
                  answer->generation, answer->previous, reload_source_name(answer->source));
    if (answer->who.length > 0) {
        buffer_printf(out, " who=%s", log_value(answer->who, value));
    }
    if (answer->is_rollback) {
        buffer_printf(out, " rolled_back_to=%u", answer->roll_back_to);
    }
    buffer_printf(out, " took_ms=%llu needs_restart=%zu findings=%zu",
                  (unsigned long long)clock_us_to_ms(answer->took_us), answer->restart_count,
                  answer->finding_count + answer->finding_more);
    print_rows(out, "changed", answer->changed, answer->changed_count);
    print_rows(out, "kept", answer->kept, answer->kept_count);
    print_settings(answer, out);
    if (answer->source != RELOAD_TRIAL && answer->why.length > 0) { // of a trial it is in the event
        buffer_printf(out, " why=%s", log_value(answer->why, value));
    }
}
