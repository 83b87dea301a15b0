/// Engine move: what the engine keeps for each supplier and account goes on, by name, when the generation changes.
///
/// Quotas, logins, lines of metrics and names to resolve are not of a generation: a new one moves in beside those that
/// searches still stand on, and each leaves when nothing does any more. What only the ones that left had is given up:
/// entries, timers, fetches of logins, names, kept connections.
///
/// Threads: move and leave from any but the loops, never at the same time as the start or the stop of the engine.
/// Memory:  the catalogues in use are borrowed between move and leave.
#pragma once

#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct catalogue;
struct engine;
struct generation;

enum { ENGINE_MOVES_MAX = 8 };

struct engine_moves {
    pthread_mutex_t lock;
    const struct catalogue *in_use[ENGINE_MOVES_MAX]; // the newest last
    size_t count;
    bool is_open;
};

void engine_moves_init(struct engine_moves *moves);
/// Before what is kept is destroyed: who leaves later finds nothing to do. Never opened ones are passed over.
void engine_moves_fini(struct engine_moves *moves);

/// Who publishes holds it over move and publishing, who takes samples for metrics over all of them: so no sample of a
/// generation comes after one of the next. Never a loop.
void engine_moves_lock(struct engine_moves *moves);
void engine_moves_unlock(struct engine_moves *moves);

/// Before `now` is published, by who holds the lock: from here on its limits are in force and its accounts find what is
/// kept of them. STATUS_NO_MEMORY, STATUS_FULL (too many in use): nothing has changed, and it must not be published.
MUST_CHECK enum status engine_move(struct engine *engine, const struct generation *now);

/// When nothing stands on `gone` any more, before it is freed. One that never moved in is passed over.
void engine_leave(struct engine *engine, const struct generation *gone);
