/// Shadows: scripts that read what live ones have read, for nobody, and the reports of how they differ.
///
/// A supplier whose file is a shadow (app/reload_shadow.c) has one more version in its generation. When an answer of it
/// was normalised and is used, a desk hands the same bytes, facts and times to the shadow: behind all other calls, and
/// one at a time, so that a loop keeps at most one worker busy for shadows. Of SHADOW_MOST that wait or are compared
/// what comes on top is skipped, and counted; so is what waited for longer than SHADOW_PATIENCE_US. Nothing is ever
/// sent for it: a next step that it asks for is compared, not followed. What it made of the answer is held against what
/// the live one made, on the builder's thread.
///
/// A report is of one pair of versions: it begins anew when either changes, and goes on over all other reloads.
///
/// Threads: a desk is its loop's; shadows_follow and shadows_compare are the builder's; the rest any.
/// Memory:  owns reports and pairs. A call holds its generation until it is back, a pair holds offers only.
#pragma once

#include "base/json_write.h"
#include "base/list.h"
#include "script/script_changes.h"
#include "search/ports.h"

enum {
    SHADOW_MOST = 4,
    SHADOW_PATIENCE_US = 5000000,
    SHADOW_DIFFERENCES = 200,
    SHADOW_MEMORY_MOST = 3, // so often it may run out of memory: it takes the state of live scripts with it
};

struct shadows;
struct catalogue;

struct shadow_desk {
    struct shadows *shadows; // NULL: none are kept here
    struct world *world;
    struct list waiting;   // struct shadow_pair
    bool is_asking;        // one is with the workers
    atomic_uint under_way; // waiting, with the workers, or back and not yet compared
};

MUST_CHECK enum status shadows_create(struct shadows **shadows);
/// The workers and loops are gone.
void shadows_destroy(struct shadows **shadows);
/// Who compares is told so that there is something to do, on a loop's thread. NULL: nobody is told.
void shadows_wake(struct shadows *shadows, void (*wake)(void *context), void *context);

void shadow_desk_init(struct shadow_desk *desk, struct world *world);
/// Those that wait end, and none is handed out any more. One that was never initialised, all zeros, is passed over.
void shadow_desk_close(struct shadow_desk *desk);
/// world_ops.shadow.
void shadow_desk_take(struct shadow_desk *desk, const struct script_account *account,
                      const struct normalise_call *normalise);

/// From now on these suppliers have shadows, as far as the generation has them; reports of others end. `changes` say
/// why a shadow could not be loaded; NULL: nothing was read, so one that could not cannot yet. STATUS_NO_MEMORY: one
/// has no report.
MUST_CHECK enum status shadows_follow(struct shadows *shadows, const struct text *names, size_t count,
                                      const struct catalogue *now, const struct script_changes *changes);
/// Compares what has come back; returns how many answers that were.
size_t shadows_compare(struct shadows *shadows);

/// A list of objects, one for each shadow; with `differences` the first SHADOW_DIFFERENCES of each.
void shadows_write(struct shadows *shadows, bool has_differences, struct json_writer *json);
