#include "app/engine_move.h"

#include "app/admin_view.h"
#include "app/engine.h"
#include "app/io_thread.h"
#include "app/login_book.h"
#include "app/permits.h"
#include "base/log.h"
#include "model/data_set.h"
#include "telemetry/metrics.h"

#include <stdlib.h>

void engine_moves_init(struct engine_moves *moves)
{
    *moves = (struct engine_moves){ .is_open = true };
    require(pthread_mutex_init(&moves->lock, NULL) == 0);
}

void engine_moves_fini(struct engine_moves *moves)
{
    if (moves->is_open) {
        moves->is_open = false;
        pthread_mutex_destroy(&moves->lock);
    }
}

void engine_moves_lock(struct engine_moves *moves)
{
    pthread_mutex_lock(&moves->lock);
}

void engine_moves_unlock(struct engine_moves *moves)
{
    pthread_mutex_unlock(&moves->lock);
}

/// The names of all generations in use: searches on an older one still ask its hosts.
static enum status moves_set_names(const struct engine_moves *moves, struct resolver *resolver)
{
    size_t count = 0;

    for (size_t i = 0; i < moves->count; i++) {
        count += moves->in_use[i]->host_count;
    }
    struct text *names = calloc(count + 1, sizeof(*names));
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    count = 0;
    for (size_t i = 0; i < moves->count; i++) {
        for (size_t j = 0; j < moves->in_use[i]->host_count; j++) {
            names[count++] = moves->in_use[i]->hosts[j];
        }
    }
    enum status status = resolver_set_names(resolver, names, count);
    free(names);
    return status;
}

/// New suppliers, callers and tables get lines of metrics; without memory for one it counts among the others.
static void name_lines(struct engine *engine, const struct generation *generation)
{
    const struct catalogue *now = generation_catalogue(generation);
    const struct settings *settings = generation_settings(generation);
    size_t table_count = data_set_count(now->data);
    size_t most = now->supplier_count > table_count ? now->supplier_count : table_count;
    struct text *names = calloc(most + 1, sizeof(*names));

    if (names == NULL) {
        return;
    }
    for (size_t i = 0; i < now->supplier_count; i++) {
        names[i] = now->suppliers[i].name;
    }
    metrics_name(engine->metrics, METRIC_NAMES_SUPPLIERS, names, now->supplier_count);
    for (size_t i = 0; i < table_count; i++) {
        names[i] = data_set_name(now->data, i);
    }
    metrics_name(engine->metrics, METRIC_NAMES_TABLES, names, table_count);
    metrics_name(engine->metrics, METRIC_NAMES_CALLERS, settings->callers, settings->caller_count);
    free(names);
}

static void moves_remove(struct engine_moves *moves, const struct catalogue *catalogue)
{
    size_t kept = 0;

    for (size_t i = 0; i < moves->count; i++) {
        if (moves->in_use[i] != catalogue) {
            moves->in_use[kept++] = moves->in_use[i];
        }
    }
    moves->count = kept;
}

static enum status move_in(struct engine *engine, const struct catalogue *now)
{
    struct engine_moves *moves = &engine->moves;

    if (moves->count == ENGINE_MOVES_MAX) {
        return STATUS_FULL;
    }
    moves->in_use[moves->count++] = now;
    enum status status = moves_set_names(moves, engine->resolver);
    if (status == STATUS_OK) {
        status = permits_move(engine->permits, now);
    }
    if (status == STATUS_OK) {
        status = login_book_move(engine->logins, now);
        if (status != STATUS_OK) {
            permits_leave(engine->permits, now);
        }
    }
    if (status != STATUS_OK) {
        moves_remove(moves, now);
        (void)moves_set_names(moves, engine->resolver); // names too many do no harm
    }
    return status;
}

enum status engine_move(struct engine *engine, const struct generation *now)
{
    const struct catalogue *catalogue = generation_catalogue(now);
    struct engine_moves *moves = &engine->moves;
    const struct catalogue *before = moves->count > 0 ? moves->in_use[moves->count - 1] : NULL;
    enum status status = move_in(engine, catalogue);

    if (status != STATUS_OK) {
        return status;
    }
    if (before != NULL) {
        admin_view_sample_of(engine, before);
    }
    name_lines(engine, now);
    if (before != NULL) {
        admin_view_begin(engine, before, catalogue);
    }
    return STATUS_OK;
}

void engine_leave(struct engine *engine, const struct generation *gone)
{
    const struct catalogue *catalogue = generation_catalogue(gone);
    struct engine_moves *moves = &engine->moves;

    if (!moves->is_open) {
        return;
    }
    pthread_mutex_lock(&moves->lock);
    size_t before = moves->count;
    moves_remove(moves, catalogue);
    if (moves->count < before) {
        permits_leave(engine->permits, catalogue);
        login_book_leave(engine->logins, catalogue);
        if (moves_set_names(moves, engine->resolver) != STATUS_OK) {
            log_line(LOG_WARNING, "engine", "no memory: names of suppliers that are gone stay until the next reload");
        }
    }
    pthread_mutex_unlock(&moves->lock);
    size_t threads = atomic_load(&engine->threads_live);
    for (size_t i = 0; i < threads; i++) {
        io_thread_sweep(&engine->threads[i]);
    }
}
