/// History: the generations that were published, the newest first: when, by whom, why, of which scripts; and the means
/// to run one of the last again.
///
/// HISTORY_MAX are told; of the HISTORY_KEPT newest the settings, scripts, tables and rates are kept, which costs their
/// memory and no state of a worker. Tables that no newer one shares are kept as long as they take `data_max`
/// bytes together.
///
/// Threads: the builder writes; any may read. A short lock.
/// Memory:  holds answers, settings and script sets.
#pragma once

#include "app/generation.h"
#include "app/reload_answer.h"
#include "base/block.h"

#include <pthread.h>

enum { HISTORY_MAX = 32, HISTORY_KEPT = 10, HISTORY_DATA_MAX = 256 << 20 };

struct script_set;
struct data_set;
struct rates;

struct history_entry {
    uint32_t generation;
    struct reload_answer *answer;
    struct block *scripts;     // a JSON object: names and labels of what ran; NULL: there was no memory
    struct settings *settings; // NULL: not kept any more
    struct script_set *set;    // a hold
    struct data_set *data;     // NULL: not kept any more
    struct rates *rates;       // NULL: there are none, or they are not kept any more
};

struct history {
    pthread_mutex_t mutex;
    struct history_entry entries[HISTORY_MAX]; // a ring
    size_t noted;
    size_t data_max; // bytes of tables that do not run; HISTORY_DATA_MAX
};

void history_init(struct history *history);
void history_fini(struct history *history);

/// Notes that a generation was published. Holds the answer, the generation's settings and its scripts.
void history_note(struct history *history, const struct generation *generation, struct settings *settings,
                  struct reload_answer *answer);

/// What a generation ran, each part held.
struct history_found {
    struct settings *settings;
    struct script_set *set; // a hold
    struct data_set *data;  // NULL: too large to be kept
    struct rates *rates;    // NULL: there were none
};

/// What generation `number` ran. STATUS_NOT_FOUND: it is not kept; `why` tells which are.
MUST_CHECK enum status history_find(struct history *history, uint32_t number, struct history_found *found,
                                    struct failure *why);
void history_found_fini(struct history_found *found);

/// A list of objects, the newest first.
void history_write(struct history *history, struct json_writer *json);
