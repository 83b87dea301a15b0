#include "app/events.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/redact.h"

#include <stdlib.h>

/// One row, one kind.
static const struct {
    const char *name;
    enum log_level level;
} kinds[EVENT_KIND_COUNT] = {
    [EVENT_RELOAD] = { "reload", LOG_INFO },
    [EVENT_KEPT] = { "kept", LOG_WARNING },
    [EVENT_WENT_BACK] = { "went_back", LOG_WARNING },
    [EVENT_ROLLBACK] = { "rollback", LOG_WARNING },
    [EVENT_RESTART_NEEDED] = { "restart_needed", LOG_WARNING },
    [EVENT_QUARANTINE] = { "quarantine", LOG_WARNING },
    [EVENT_SHADOW] = { "shadow", LOG_INFO },
    [EVENT_REFUSED] = { "refused", LOG_WARNING },
    [EVENT_LEFT_OUT] = { "left_out", LOG_WARNING },
    [EVENT_REMOVED] = { "removed", LOG_WARNING },
    [EVENT_MENDED] = { "mended", LOG_INFO },
    [EVENT_OPERATOR] = { "operator", LOG_WARNING },
};

const char *event_kind_name(enum event_kind kind)
{
    return kinds[kind].name;
}

enum status events_init(struct events *events)
{
    *events = (struct events){ .ring = calloc(EVENTS_MAX, sizeof(*events->ring)) };
    if (events->ring == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_mutex_init(&events->mutex, NULL);
    return STATUS_OK;
}

void events_fini(struct events *events)
{
    if (events->ring != NULL) {
        pthread_mutex_destroy(&events->mutex);
        free(events->ring);
        events->ring = NULL;
    }
}

static void log_event(enum event_kind kind, uint32_t generation, struct text name, const struct failure *because)
{
    char sentence[sizeof(because->file) + sizeof(because->message) + 16];
    char value[LOG_VALUE_MAX];

    failure_print(because, sentence, sizeof(sentence));
    if (name.length > 0) {
        log_line(kinds[kind].level, "event", "%s name=%s generation=%u: %s", kinds[kind].name, log_value(name, value),
                 generation, sentence);
    } else {
        log_line(kinds[kind].level, "event", "%s generation=%u: %s", kinds[kind].name, generation, sentence);
    }
}

void events_note(struct events *events, enum event_kind kind, uint32_t generation, struct text name,
                 const struct failure *because)
{
    log_event(kind, generation, name, because);
    if (events == NULL) {
        return;
    }
    pthread_mutex_lock(&events->mutex);
    struct event *event = &events->ring[events->noted % EVENTS_MAX];
    *event = (struct event){
        .number = ++events->noted,
        .wall_us = clock_wall_us(),
        .kind = kind,
        .generation = generation,
        .because = *because,
    };
    redact_copy(event->name, sizeof(event->name), name);
    redact_copy(event->because.message, sizeof(event->because.message), text_of(because->message));
    redact_copy(event->because.help, sizeof(event->because.help), text_of(because->help));
    events->counts[kind]++;
    pthread_mutex_unlock(&events->mutex);
}

uint64_t events_count(struct events *events, enum event_kind kind)
{
    pthread_mutex_lock(&events->mutex);
    uint64_t count = events->counts[kind];
    pthread_mutex_unlock(&events->mutex);
    return count;
}

static void write_event(const struct event *event, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(event->wall_us, at);

    json_begin_object(json);
    json_field_u64(json, "number", event->number);
    json_field_text(json, "at", (struct text){ at, length });
    json_field_c(json, "event", kinds[event->kind].name);
    json_field_u64(json, "generation", event->generation);
    if (event->name[0] != '\0') {
        json_field_c(json, "name", event->name);
    }
    json_field_c(json, "message", event->because.message);
    if (event->because.file[0] != '\0') {
        json_field_c(json, "file", event->because.file);
    }
    if (event->because.line > 0) {
        json_field_u64(json, "line", event->because.line);
    }
    if (event->because.help[0] != '\0') {
        json_field_c(json, "help", event->because.help);
    }
    json_end_object(json);
}

void events_write(struct events *events, size_t most, struct json_writer *json)
{
    json_begin_array(json);
    pthread_mutex_lock(&events->mutex);
    uint64_t kept = events->noted < EVENTS_MAX ? events->noted : EVENTS_MAX;
    for (uint64_t i = 0; i < kept && i < most; i++) {
        write_event(&events->ring[(events->noted - 1 - i) % EVENTS_MAX], json);
    }
    pthread_mutex_unlock(&events->mutex);
    json_end_array(json);
}
