#include "app/file_watch.h"

#include "app/file_events.h"
#include "base/file_digest.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A path has two digests: the one that was told (or found at the start), and the one seen last, with the time since
// when it is that. They differ: a change is on its way. When every such path rests, all are told at once.
//
// After an event the next look waits for a quarter of `settle_us`: a burst of events costs a few looks.

enum { LOOKS_IN_SETTLE = 4, SCANS_OF_PATIENCE = 2, SETTLE_LEAST_US = 1000 };

struct watched {
    char *path;
    enum file_walk_kind kind;
    uint64_t told, seen, since_us;
    uint64_t away_us; // since when `seen` is not what was told; 0: it is
};

struct file_watch {
    struct file_watch_options options;
    struct file_events events;
    struct watched *paths;
    size_t count;
    const struct watched *changed; // of `paths`, told last
    uint64_t looked_us;
    uint64_t restless_us; // since when something is on its way; 0: nothing is
    bool is_stirred;      // events came after the last look
    atomic_bool is_stopped;
};

enum status file_watch_create(const struct file_watch_options *options, struct file_watch **watch)
{
    struct file_watch *made = calloc(1, sizeof(*made));

    *watch = made;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->options = *options;
    if (made->options.settle_us < SETTLE_LEAST_US) {
        made->options.settle_us = SETTLE_LEAST_US; // what is on its way is looked at that often
    }
    file_events_init(&made->events, !options->ignores_events, options->most_folders);
    return STATUS_OK;
}

void file_watch_stop(struct file_watch *watch)
{
    if (watch != NULL) {
        atomic_store_explicit(&watch->is_stopped, true, memory_order_relaxed);
    }
}

static void watched_free(struct watched *paths, size_t count)
{
    for (size_t i = 0; paths != NULL && i < count; i++) {
        free(paths[i].path);
    }
    free(paths);
}

void file_watch_destroy(struct file_watch **watch)
{
    struct file_watch *ending = *watch;

    if (ending == NULL) {
        return;
    }
    *watch = NULL;
    file_events_fini(&ending->events);
    watched_free(ending->paths, ending->count);
    free(ending);
}

// --------------------------------------------------------------------------------------------------------------- looks

struct look {
    struct file_watch *watch;
    size_t owner;
    uint64_t digest;
};

/// The order in which a folder tells its files means nothing: their digests are added up.
static void look_visit(void *context, const char *path, enum file_walk_kind kind)
{
    struct look *look = context;

    if (atomic_load_explicit(&look->watch->is_stopped, memory_order_relaxed)) {
        return; // nobody asks any more, and a disk may be slow
    }
    file_events_follow(&look->watch->events, path, kind, look->owner); // first, so that no change falls in between
    uint64_t name = text_hash(text_of(path));
    uint64_t content = kind == FILE_WALK_FILE ? file_digest(path) : 0;
    look->digest += text_hash_on(name, (struct text){ (const char *)&content, sizeof(content) });
}

static void watch_look(struct file_watch *watch, uint64_t now_us)
{
    file_events_begin(&watch->events);
    for (size_t i = 0; i < watch->count; i++) {
        struct watched *watched = &watch->paths[i];
        struct look look = { .watch = watch, .owner = i };
        if (!file_walk(watched->path, watched->kind, look_visit, &look)) {
            look.digest++; // there is no such folder, which is not the same as an empty one
        }
        if (look.digest != watched->seen) {
            watched->seen = look.digest;
            watched->since_us = now_us;
        }
    }
    file_events_end(&watch->events);
    watch->looked_us = now_us;
    watch->is_stirred = false;
}

// ---------------------------------------------------------------------------------------------------------------- news

static bool watch_rests(const struct file_watch *watch, size_t index, uint64_t now_us)
{
    const struct watched *watched = &watch->paths[index];

    return now_us - watched->since_us >= watch->options.settle_us &&
           !file_events_is_written(&watch->events, index, now_us, watch->options.scan_us);
}

/// A change that is told now. Of a folder also when one of its files never rests, for the others must not wait for it:
/// whoever reads them judges each by itself. One file that is written for long, a table, is not whole before its end.
static bool watch_tells(const struct file_watch *watch, size_t index, uint64_t now_us)
{
    const struct watched *watched = &watch->paths[index];
    bool is_over = watched->kind != FILE_WALK_FILE && watched->away_us > 0 &&
                   now_us - watched->away_us >= SCANS_OF_PATIENCE * watch->options.scan_us;

    return watched->seen != watched->told && (is_over || watch_rests(watch, index, now_us));
}

enum file_watch_news file_watch_step(struct file_watch *watch, uint64_t now_us)
{
    size_t on_their_way = 0, resting = 0;

    if (file_events_read(&watch->events, now_us)) {
        watch->is_stirred = true;
    }
    if (now_us < file_watch_next_us(watch)) {
        return FILE_WATCH_NOTHING;
    }
    watch_look(watch, now_us);
    if (atomic_load_explicit(&watch->is_stopped, memory_order_relaxed)) {
        return FILE_WATCH_NOTHING; // what was seen is not the whole
    }
    for (size_t i = 0; i < watch->count; i++) {
        struct watched *watched = &watch->paths[i];
        bool is_on_its_way = watched->seen != watched->told;
        watched->away_us = !is_on_its_way ? 0 : watched->away_us > 0 ? watched->away_us : now_us;
        on_their_way += is_on_its_way ? 1 : 0;
        resting += watch_tells(watch, i, now_us) ? 1 : 0;
    }
    if (on_their_way == 0) {
        watch->restless_us = 0;
        return FILE_WATCH_NOTHING;
    }
    watch->restless_us = watch->restless_us > 0 ? watch->restless_us : now_us;
    bool is_patient = now_us - watch->restless_us < SCANS_OF_PATIENCE * watch->options.scan_us;
    if (resting == 0 || (resting < on_their_way && is_patient)) {
        return FILE_WATCH_NOTHING;
    }
    watch->changed = NULL;
    for (size_t i = 0; i < watch->count; i++) {
        struct watched *watched = &watch->paths[i];
        if (watch_tells(watch, i, now_us)) {
            watched->told = watched->seen;
            watched->away_us = 0;
            watch->changed = watch->changed != NULL ? watch->changed : watched;
        }
    }
    watch->restless_us = resting < on_their_way ? now_us : 0;
    return FILE_WATCH_CHANGED;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t file_watch_next_us(const struct file_watch *watch)
{
    uint64_t settle_us = watch->options.settle_us;
    uint64_t next_us = watch->looked_us + watch->options.scan_us;

    if (watch->count == 0) {
        return UINT64_MAX;
    }
    if (watch->is_stirred) {
        next_us = earlier(next_us, watch->looked_us + settle_us / LOOKS_IN_SETTLE);
    }
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *watched = &watch->paths[i];
        if (watched->seen != watched->told) {
            uint64_t rest_us = watched->since_us + settle_us;
            next_us = earlier(next_us, rest_us > watch->looked_us ? rest_us : watch->looked_us + settle_us);
        }
    }
    return next_us;
}

// ----------------------------------------------------------------------------------------------------------------- use

static const struct watched *watched_before(const struct file_watch *watch, const struct file_watch_path *wanted)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->paths[i].kind == wanted->kind && strcmp(watch->paths[i].path, wanted->path) == 0) {
            return &watch->paths[i];
        }
    }
    return NULL;
}

enum status file_watch_set(struct file_watch *watch, const struct file_watch_path *paths, size_t count, uint64_t now_us)
{
    struct watched *made = calloc(count + 1, sizeof(*made));
    bool *is_new = calloc(count + 1, sizeof(*is_new));
    bool is_made = made != NULL && is_new != NULL;

    for (size_t i = 0; i < count && is_made; i++) {
        const struct watched *before = watched_before(watch, &paths[i]);
        made[i] = before != NULL ? *before : (struct watched){ .kind = paths[i].kind };
        is_new[i] = before == NULL;
        made[i].path = strdup(paths[i].path);
        is_made = made[i].path != NULL;
    }
    if (!is_made) {
        watched_free(made, count);
        free(is_new);
        return STATUS_NO_MEMORY;
    }
    watched_free(watch->paths, watch->count);
    watch->paths = made;
    watch->count = count;
    watch->changed = NULL;
    memset(watch->events.writers, 0, sizeof(watch->events.writers)); // they named paths by their old places
    watch_look(watch, now_us);
    for (size_t i = 0; i < count; i++) {
        if (is_new[i]) {
            made[i].told = made[i].seen;
        }
    }
    free(is_new);
    return STATUS_OK;
}

int file_watch_fd(const struct file_watch *watch)
{
    return watch->events.fd;
}

bool file_watch_has_events(const struct file_watch *watch)
{
    return watch->events.fd >= 0 && !watch->events.is_refused;
}

struct text file_watch_changed(const struct file_watch *watch)
{
    return watch->changed != NULL ? text_of(watch->changed->path) : (struct text){ NULL, 0 };
}
