/// Reload: makes the next generation of what lies on the disk, or of what ran before, and publishes it while searches
/// run.
///
/// Whoever wants one asks here: a command, a signal, the watch over files, a trial that was lost. Requests that wait
/// together are one reload with one answer; a rollback is always one of its own. Everything slow happens on one thread,
/// the builder, and is published at once or not at all: a broken file keeps its own last good version and nobody
/// else's, bad settings change nothing.
///
/// Threads: ask and look from any; the builder (nice 19) does the work and is the only one that publishes.
/// Memory:  owns the builder's thread, history, events, trials and what is held back; borrows the engine.
#pragma once

#include "app/engine.h"
#include "app/events.h"
#include "app/reload_answer.h"

struct reload;

/// What becomes of a supplier's shadow (app/shadow.h).
enum reload_shadow {
    RELOAD_SHADOW_NONE,
    RELOAD_SHADOW_SET,     // from now on its file is the shadow of what runs, for as long as the two differ
    RELOAD_SHADOW_PROMOTE, // the shadow runs
    RELOAD_SHADOW_DROP,    // it ends, and does not run until its file changes
};

/// A request with an answer. It is the asker's, who keeps it until `on_answer`.
struct reload_request {
    struct list node; // the reloader's
    enum reload_source source;
    struct text who, why;     // absent: nobody said
    const struct text *retry; // names of scripts, or "settings", that are held back and shall be tried again
    size_t retry_count;
    enum reload_shadow shadow;
    struct text shadow_of; // a supplier's name
    uint32_t roll_back_to; // the generation to run again; 0: read the disk
    /// On the builder's thread, exactly once. The answer is borrowed; acquire it to keep it.
    void (*on_answer)(struct reload_request *request, struct reload_answer *answer);
};

/// The engine has published its first generation.
MUST_CHECK enum status reload_start(struct engine *engine, struct reload **reload, struct failure *why);
/// From now on nothing is published: what waits is answered, what runs is given up at its next step.
void reload_drain(struct reload *reload);
/// Drains, and waits for the builder; it is bounded. All requests have been answered. Looking goes on.
void reload_stop(struct reload *reload);
void reload_destroy(struct reload **reload); // stopped; NULL is passed over

/// STATUS_CLOSED: the engine is draining, and there will be no answer.
MUST_CHECK enum status reload_submit(struct reload *reload, struct reload_request *request);
/// Asks for a reload whose answer goes to the log and the events only. Asking again while it waits changes nothing.
void reload_ask(struct reload *reload, enum reload_source source);

// ---- what operators see; any thread

/// The field `reload` of the status: the last answer that told something, the last that published, what is kept back
/// now, and what a restart would do.
void reload_write_status(struct reload *reload, struct json_writer *json);
/// The object of GET /admin/v1/generations and of GET /admin/v1/events.
void reload_write_generations(struct reload *reload, struct json_writer *json);
void reload_write_events(struct reload *reload, size_t most, struct json_writer *json);
/// What is kept back now, acquired; NULL: nothing was read since the start.
struct reload_answer *reload_standing(struct reload *reload);
struct events *reload_events(struct reload *reload);
/// A list of the shadows, each with its first differences.
void reload_write_shadows(struct reload *reload, struct json_writer *json);
/// Is this version, "acme@3f9a", on trial? It is known a moment after a reload.
bool reload_is_on_trial(struct reload *reload, struct text label);
uint64_t reload_count(struct reload *reload, enum reload_outcome outcome);
