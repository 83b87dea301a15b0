#include "app/reload_answer.h"

#include "app/settings_apply.h"
#include "base/clock.h"
#include "base/redact.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_ARENA = 32 << 20 };

/// What is handed out is its first member.
struct counted_answer {
    struct reload_answer answer;
    atomic_uint holds;
};

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

/// Words of strangers and scripts, without secrets.
static struct text keep_words(struct reload_answer *answer, struct text words)
{
    struct text kept = arena_copy(&answer->arena, words);

    if (kept.data != NULL) {
        kept.length = redact_apply((char *)(uintptr_t)kept.data, kept.length, false);
    }
    return kept;
}

struct reload_answer *reload_answer_create(enum reload_source source, struct text who, struct text why)
{
    struct counted_answer *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return NULL;
    }
    atomic_init(&made->holds, 1);
    struct reload_answer *answer = &made->answer;
    arena_init(&answer->arena, ANSWER_ARENA);
    answer->source = source;
    answer->who = keep_words(answer, who);
    answer->why = keep_words(answer, why);
    answer->requests = 1;
    answer->began_wall_us = clock_wall_us();
    return answer;
}

struct reload_answer *reload_answer_acquire(struct reload_answer *answer)
{
    if (answer != NULL) {
        atomic_fetch_add_explicit(&((struct counted_answer *)answer)->holds, 1, memory_order_relaxed);
    }
    return answer;
}

void reload_answer_release(struct reload_answer **answer)
{
    struct counted_answer *released = (struct counted_answer *)*answer;

    *answer = NULL;
    if (released != NULL && atomic_fetch_sub_explicit(&released->holds, 1, memory_order_acq_rel) == 1) {
        arena_fini(&released->answer.arena);
        free(released);
    }
}

/// Scripts' messages may quote what they were given.
static void keep_failure(struct failure *kept, const struct failure *failure)
{
    *kept = *failure;
    redact_copy(kept->message, sizeof(kept->message), text_of(failure->message));
    redact_copy(kept->help, sizeof(kept->help), text_of(failure->help));
}

static void add_row(struct reload_answer *answer, struct reload_row **rows, size_t *count, const struct reload_row *row)
{
    struct reload_row *grown =
        *count < RELOAD_ROWS_MAX ? settings_grow(&answer->arena, *rows, *count, sizeof(*grown)) : NULL;

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    *rows = grown;
    struct reload_row *kept = &grown[(*count)++];
    *kept = *row;
    kept->name = arena_copy(&answer->arena, row->name);
    kept->file = arena_copy(&answer->arena, row->file);
    kept->running = arena_copy(&answer->arena, row->running);
    kept->before = arena_copy(&answer->arena, row->before);
    kept->on_disk = arena_copy(&answer->arena, row->on_disk);
    keep_failure(&kept->because, &row->because);
}

void reload_answer_add_changed(struct reload_answer *answer, const struct reload_row *row)
{
    add_row(answer, &answer->changed, &answer->changed_count, row);
}

void reload_answer_add_kept(struct reload_answer *answer, const struct reload_row *row)
{
    add_row(answer, &answer->kept, &answer->kept_count, row);
}

void reload_answer_add_restart(struct reload_answer *answer, const char *setting, const char *file, uint32_t line)
{
    struct reload_restart *grown =
        settings_grow(&answer->arena, answer->restarts, answer->restart_count, sizeof(*grown));

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    answer->restarts = grown;
    grown[answer->restart_count++] = (struct reload_restart){
        .setting = arena_copy(&answer->arena, text_of(setting)),
        .file = arena_copy(&answer->arena, text_of(file)),
        .line = line,
    };
}

void reload_answer_add_finding(struct reload_answer *answer, const struct failure *failure)
{
    struct failure *grown = answer->finding_count < RELOAD_FINDINGS_MAX
                                ? settings_grow(&answer->arena, answer->findings, answer->finding_count, sizeof(*grown))
                                : NULL;

    if (grown == NULL) {
        answer->finding_more++;
        return;
    }
    answer->findings = grown;
    keep_failure(&grown[answer->finding_count++], failure);
}

void reload_answer_add_remark(struct reload_answer *answer, const struct failure *failure)
{
    struct failure *grown = settings_grow(&answer->arena, answer->remarks, answer->remark_count, sizeof(*grown));

    if (grown == NULL) {
        answer->rows_left_out++;
        return;
    }
    answer->remarks = grown;
    keep_failure(&grown[answer->remark_count++], failure);
}

void reload_answer_refuse(struct reload_answer *answer, const char *message, const char *help)
{
    struct failure failure = { 0 };

    answer->outcome = RELOAD_REFUSED;
    failure_set(&failure, "%s", message);
    failure_help(&failure, "%s", help);
    reload_answer_add_finding(answer, &failure);
}

void reload_answer_set_shadows(struct reload_answer *answer, struct text json)
{
    answer->shadows = arena_copy(&answer->arena, json);
}

const struct reload_row *reload_answer_find_kept(const struct reload_answer *answer, const char *kind, struct text name)
{
    for (size_t i = 0; answer != NULL && i < answer->kept_count; i++) {
        const struct reload_row *row = &answer->kept[i];
        if (strcmp(row->kind, kind) == 0 && text_equals(row->name, name)) {
            return row;
        }
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------------------------- told

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

void reload_row_write(const struct reload_row *row, struct json_writer *json)
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
    json_end_object(json);
}

static void write_rows(struct json_writer *json, const char *key, const struct reload_row *rows, size_t count)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        reload_row_write(&rows[i], json);
    }
    json_end_array(json);
}

static void write_settings(const struct reload_answer *answer, struct json_writer *json)
{
    json_key(json, "settings");
    json_begin_object(json);
    json_field_bool(json, "changed", answer->settings_changed);
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
    write_rows(json, "changed", answer->changed, answer->changed_count);
    write_rows(json, "kept", answer->kept, answer->kept_count);
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

void reload_answer_print(const struct reload_answer *answer, struct buffer *out)
{
    buffer_printf(out, "%s generation=%u previous=%u source=%s", reload_outcome_name(answer->outcome),
                  answer->generation, answer->previous, reload_source_name(answer->source));
    if (answer->who.length > 0) {
        buffer_printf(out, " who=%.*s", TEXT_ARGS(answer->who));
    }
    buffer_printf(out, " changed=%zu kept=%zu settings=%s needs_restart=%zu findings=%zu took_ms=%llu",
                  answer->changed_count, answer->kept_count, answer->settings_changed ? "changed" : "same",
                  answer->restart_count, answer->finding_count + answer->finding_more,
                  (unsigned long long)clock_us_to_ms(answer->took_us));
}
