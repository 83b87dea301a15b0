/// Events: the last things that operators should know of: reloads, what was kept, what went back by itself.
///
/// A ring of EVENTS_MAX; each event is also a line of the log, and counted by kind.
///
/// Threads: any; a short lock.
/// Memory:  one block of fixed size; texts that do not fit are cut, after secrets were taken out.
#pragma once

#include "base/json_write.h"
#include "base/status.h"

#include <pthread.h>

enum event_kind {
    EVENT_RELOAD,
    EVENT_KEPT,
    EVENT_WENT_BACK,
    EVENT_ROLLBACK,
    EVENT_RESTART_NEEDED,
    EVENT_QUARANTINE,
    EVENT_SHADOW,
    EVENT_REFUSED,  // a reload or a rollback
    EVENT_LEFT_OUT, // a new script that is broken
    EVENT_REMOVED,  // a script whose file is gone
    EVENT_MENDED,   // what was kept back is so no more
    EVENT_OPERATOR, // what an operator has said of a supplier, and its end
    EVENT_KIND_COUNT
};
const char *event_kind_name(enum event_kind kind);

enum { EVENTS_MAX = 256, EVENT_NAME_MAX = 96 };

struct event {
    uint64_t number; // from 1 on
    uint64_t wall_us;
    enum event_kind kind;
    uint32_t generation;
    char name[EVENT_NAME_MAX]; // of the supplier or product; empty: none
    struct failure because;    // the sentence, its place when there is one, and its remedy
};

struct events {
    pthread_mutex_t mutex;
    struct event *ring;
    uint64_t noted;
    uint64_t counts[EVENT_KIND_COUNT];
};

MUST_CHECK enum status events_init(struct events *events);
void events_fini(struct events *events);

/// Notes an event; `because` is its sentence with place and remedy. NULL events: only the log line.
void events_note(struct events *events, enum event_kind kind, uint32_t generation, struct text name,
                 const struct failure *because);

/// How many of a kind there were since the start.
uint64_t events_count(struct events *events, enum event_kind kind);

/// A list of objects, the newest first, at most `most`.
void events_write(struct events *events, size_t most, struct json_writer *json);
