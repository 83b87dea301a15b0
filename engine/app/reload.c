#include "app/reload.h"

#include "app/file_watch.h"
#include "app/reload_internal.h"
#include "app/shadow.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BUILDER_NICE = 19, TICK_MS = 250, RETRY_US = 5 * 1000 * 1000 };

static const struct text SIGNAL = TEXT("signal");
static const struct text WATCH = TEXT("file watch");

// --------------------------------------------------------------------------------------------------------- the builder

/// What is done together: requests for the same thing, one rollback, one change of a shadow, or what was asked without
/// an answer.
struct batch {
    struct list requests;
    enum reload_source source; // of the one that counts most
    struct text who, why;
    size_t count;
    uint32_t roll_back_to;
    bool is_asked[RELOAD_SOURCE_COUNT]; // nobody waits for these
    enum reload_shadow shadow;
    struct text shadow_of;
};

static void batch_take(struct batch *batch, struct reload_request *request)
{
    // A person counts more than a signal, and that more than the watch; of equals the first.
    if (batch->count == 0 || request->source < batch->source) {
        batch->source = request->source;
        batch->who = request->who;
        batch->why = request->why;
    }
    batch->count++;
    batch->roll_back_to = request->roll_back_to;
    batch->shadow = request->shadow;
    batch->shadow_of = request->shadow_of;
    list_move(&batch->requests, &request->node);
}

static void batch_take_asked(struct batch *batch, struct reload *reload)
{
    for (enum reload_source source = 0; source < RELOAD_SOURCE_COUNT; source++) {
        if (!reload->is_asked[source]) {
            continue;
        }
        reload->is_asked[source] = false;
        batch->is_asked[source] = true;
        if (batch->count == 0 || source < batch->source) {
            batch->source = source;
            batch->who = source == RELOAD_SIGNAL ? SIGNAL : WATCH;
            batch->why = (struct text){ 0 };
        }
        batch->count++;
    }
}

/// False: there is nothing to do. The lock is held.
static bool batch_fill(struct batch *batch, struct reload *reload)
{
    list_init(&batch->requests);
    LIST_FOR_EACH (node, &reload->queue) {
        struct reload_request *request = CONTAINER_OF(node, struct reload_request, node);
        bool is_alone = request->roll_back_to != 0 || request->shadow != RELOAD_SHADOW_NONE;
        if (is_alone && batch->count > 0) {
            break;
        }
        batch_take(batch, request);
        if (is_alone) {
            return true;
        }
    }
    batch_take_asked(batch, reload);
    return batch->count > 0;
}

/// Nothing of this name is held back, so there is nothing to try again.
static void remark_unheld(const struct reload *reload, struct text name, struct reload_answer *answer)
{
    const char *nearest = held_nearest(&reload->held, name);
    struct failure remark = { 0 };

    failure_set(&remark, "nothing called `%.*s` is held back", (int)(name.length < 80 ? name.length : 80), name.data);
    if (nearest != NULL) {
        failure_help(&remark, "did you mean `%s`?", nearest);
    } else {
        failure_help(&remark, "what waits for a retry says so in `lastcall status`; all else is read by each reload");
    }
    reload_answer_add_remark(answer, &remark);
}

static void retry_all(struct reload *reload, const struct batch *batch, struct reload_answer *answer)
{
    LIST_FOR_EACH (node, &batch->requests) {
        const struct reload_request *request = CONTAINER_OF(node, struct reload_request, node);
        for (size_t i = 0; i < request->retry_count; i++) {
            if (!held_retry(&reload->held, request->retry[i])) {
                remark_unheld(reload, request->retry[i], answer);
            }
        }
    }
}

static void answer_all(struct batch *batch, struct reload_answer *answer)
{
    for (struct list *node = list_take_first(&batch->requests); node != NULL;
         node = list_take_first(&batch->requests)) {
        struct reload_request *request = CONTAINER_OF(node, struct reload_request, node);
        request->on_answer(request, answer);
    }
}

/// Who waits for an answer may ask again; a signal or the watch does not, and a change must not wait for the next one.
static void retry_later(struct reload *reload, const struct batch *batch, const struct reload_answer *answer)
{
    bool is_refused = answer->outcome == RELOAD_REFUSED && answer->is_passing;

    for (enum reload_source source = 0; source < RELOAD_SOURCE_COUNT; source++) {
        reload->is_retried[source] =
            (is_refused && batch->is_asked[source]) || (batch->roll_back_to != 0 && reload->is_retried[source]);
        if (is_refused && batch->is_asked[source]) {
            reload->retry_us = clock_now_us() + RETRY_US;
        }
    }
}

static void ask_again(struct reload *reload)
{
    if (reload->retry_us == 0 || clock_now_us() < reload->retry_us) {
        return;
    }
    reload->retry_us = 0;
    for (enum reload_source source = 0; source < RELOAD_SOURCE_COUNT; source++) {
        if (reload->is_retried[source]) {
            reload->is_retried[source] = false;
            reload_ask(reload, source);
        }
    }
}

static void run(struct reload *reload, struct batch *batch)
{
    struct reload_answer *answer = reload_answer_create(batch->source, batch->who, batch->why);
    uint64_t began_us = clock_now_us();

    if (answer == NULL) {
        log_line(LOG_ERROR, "reload", "no memory for a reload");
        answer_all(batch, NULL);
        return;
    }
    answer->requests = batch->count;
    answer->is_rollback = batch->roll_back_to != 0;
    answer->roll_back_to = batch->roll_back_to;
    if (atomic_load(&reload->is_draining)) {
        answer->is_draining = true;
        reload_answer_refuse(answer, "the engine is stopping", "send it to another one");
    } else if (batch->roll_back_to != 0) {
        reload_roll_back(reload, batch->roll_back_to, answer);
    } else if (batch->shadow != RELOAD_SHADOW_NONE) {
        reload_change_shadow(reload, batch->shadow, batch->shadow_of, answer);
    } else {
        retry_all(reload, batch, answer);
        reload_from_disk(reload, answer);
    }
    answer->took_us = clock_now_us() - began_us;
    reload_note(reload, answer);
    retry_later(reload, batch, answer);
    if (answer->settings_changed && answer->outcome == RELOAD_PUBLISHED) {
        reload_watch_follow(reload);
    }
    answer_all(batch, answer);
    reload_answer_release(&answer);
}

static void tick(struct reload *reload)
{
    if (reload->engine->shadows != NULL) {
        (void)shadows_compare(reload->engine->shadows);
    }
    if (!atomic_load(&reload->is_draining)) {
        ask_again(reload);
        reload_judge_trials(reload);
        reload_tell_trials(reload);
        reload_tell_quarantines(reload);
    }
}

/// Sleeps until somebody asks, a file changes, or for a tick.
static void await(struct reload *reload)
{
    uint64_t now_us = clock_now_us();
    uint64_t next_us = reload_watch_next_us(reload);
    uint64_t nap_ms = next_us <= now_us ? 0 : (next_us - now_us + 999) / 1000;
    uint64_t woken = 0;
    struct pollfd ways[] = {
        { .fd = reload->wake_fd, .events = POLLIN },
        { .fd = reload_watch_fd(reload), .events = POLLIN }, // -1 is passed over
    };

    (void)poll(ways, COUNT_OF(ways), nap_ms < TICK_MS ? (int)nap_ms : TICK_MS);
    (void)!read(reload->wake_fd, &woken, sizeof(woken));
    reload_watch_step(reload);
}

static void wake(struct reload *reload)
{
    uint64_t one = 1;
    (void)!write(reload->wake_fd, &one, sizeof(one));
}

/// On a loop's thread.
static void wake_for_shadows(void *context)
{
    wake(context);
}

static void *builder_main(void *argument)
{
    struct reload *reload = argument;
    bool is_ended = false;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), BUILDER_NICE);
    while (!is_ended) {
        struct batch batch = { 0 };
        pthread_mutex_lock(&reload->mutex);
        bool has_work = batch_fill(&batch, reload);
        is_ended = !has_work && reload->is_stopping;
        pthread_mutex_unlock(&reload->mutex);
        if (has_work) {
            run(reload, &batch);
        }
        if (!is_ended) {
            tick(reload);
        }
        if (!is_ended && !has_work) {
            await(reload);
        }
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------------------------- asking

enum status reload_submit(struct reload *reload, struct reload_request *request)
{
    enum status status = STATUS_CLOSED;

    pthread_mutex_lock(&reload->mutex);
    if (!atomic_load(&reload->is_draining)) {
        list_init(&request->node);
        list_append(&reload->queue, &request->node);
        wake(reload);
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&reload->mutex);
    return status;
}

void reload_ask(struct reload *reload, enum reload_source source)
{
    pthread_mutex_lock(&reload->mutex);
    if (!atomic_load(&reload->is_draining)) {
        reload->is_asked[source] = true;
        wake(reload);
    }
    pthread_mutex_unlock(&reload->mutex);
}

// ------------------------------------------------------------------------------------------------------------- looking

static void write_answer(const struct reload_answer *answer, const char *key, struct json_writer *json)
{
    json_key(json, key);
    if (answer != NULL) {
        reload_answer_write(answer, json);
    } else {
        json_null(json);
    }
}

void reload_write_status(struct reload *reload, struct json_writer *json)
{
    pthread_mutex_lock(&reload->mutex);
    struct reload_answer *last = reload_answer_acquire(reload->last);
    struct reload_answer *published = reload_answer_acquire(reload->published);
    struct reload_answer *standing = reload_answer_acquire(reload->standing);
    pthread_mutex_unlock(&reload->mutex);

    json_key(json, "reload");
    json_begin_object(json);
    write_answer(last, "last", json);
    write_answer(published, "published", json);
    reload_answer_write_standing(standing, json);
    if (reload->engine->shadows != NULL) {
        json_key(json, "shadows");
        shadows_write(reload->engine->shadows, false, json);
    }
    json_end_object(json);
    reload_answer_release(&last);
    reload_answer_release(&published);
    reload_answer_release(&standing);
}

void reload_write_generations(struct reload *reload, struct json_writer *json)
{
    json_begin_object(json);
    json_field_u64(json, "live", engine_generations_live(reload->engine));
    json_key(json, "generations");
    history_write(&reload->history, json);
    json_end_object(json);
}

void reload_write_shadows(struct reload *reload, struct json_writer *json)
{
    json_begin_object(json);
    json_key(json, "shadows");
    shadows_write(reload->engine->shadows, true, json);
    json_end_object(json);
}

void reload_write_events(struct reload *reload, size_t most, struct json_writer *json)
{
    json_begin_object(json);
    json_key(json, "events");
    events_write(&reload->events, most, json);
    json_end_object(json);
}

struct reload_answer *reload_standing(struct reload *reload)
{
    pthread_mutex_lock(&reload->mutex);
    struct reload_answer *standing = reload_answer_acquire(reload->standing);
    pthread_mutex_unlock(&reload->mutex);
    return standing;
}

struct events *reload_events(struct reload *reload)
{
    return &reload->events;
}

bool reload_is_on_trial(struct reload *reload, struct text label)
{
    char line[EVENT_NAME_MAX + 2];

    (void)snprintf(line, sizeof(line), "\n%.*s\n", TEXT_ARGS(label));
    pthread_mutex_lock(&reload->mutex);
    bool is_on_trial = reload->on_trial != NULL && strstr(reload->on_trial, line) != NULL;
    pthread_mutex_unlock(&reload->mutex);
    return is_on_trial;
}

uint64_t reload_count(struct reload *reload, enum reload_outcome outcome)
{
    pthread_mutex_lock(&reload->mutex);
    uint64_t count = reload->counts[outcome];
    pthread_mutex_unlock(&reload->mutex);
    return count;
}

// ----------------------------------------------------------------------------------------------------- birth and death

/// The generation of the start has a line in the history, too.
static enum status note_start(struct reload *reload)
{
    struct generation *generation = engine_generation(reload->engine);
    struct reload_answer *answer = reload_answer_create(RELOAD_START, (struct text){ 0 }, (struct text){ 0 });
    enum status status = answer != NULL ? STATUS_OK : STATUS_NO_MEMORY;

    if (answer != NULL) {
        struct settings *settings = reload_settings_of(generation);
        answer->generation = generation_number(generation);
        reload->settings_generation = answer->generation;
        history_note(&reload->history, generation, settings, answer);
        settings_release(&settings);
    }
    reload_answer_release(&answer);
    generation_release(&generation);
    return status;
}

enum status reload_start(struct engine *engine, struct reload **reload, struct failure *why)
{
    *reload = NULL;
    struct reload *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    made->engine = engine;
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&made->mutex, NULL);
    list_init(&made->queue);
    history_init(&made->history);
    held_init(&made->held);
    trials_init(&made->trials);
    enum status status = events_init(&made->events);
    if (status == STATUS_OK) {
        status = note_start(made);
    }
    if (status == STATUS_OK) {
        status = reload_watch_open(made);
    }
    if (status != STATUS_OK) {
        failure_set(why, "out of memory");
        reload_destroy(&made);
        return status;
    }
    if (made->wake_fd < 0) {
        failure_set(why, "no descriptor for reloads: %s", strerror(errno));
        reload_destroy(&made);
        return STATUS_IO;
    }
    int error = pthread_create(&made->thread, NULL, builder_main, made);
    if (error != 0) {
        failure_set(why, "no thread for reloads: %s", strerror(error));
        reload_destroy(&made);
        return STATUS_IO;
    }
    made->is_running = true;
    if (engine->shadows != NULL) {
        shadows_wake(engine->shadows, wake_for_shadows, made);
    }
    pthread_setname_np(made->thread, "builder");
    *reload = made;
    return STATUS_OK;
}

void reload_drain(struct reload *reload)
{
    pthread_mutex_lock(&reload->mutex);
    atomic_store(&reload->is_draining, true);
    memset(reload->is_asked, 0, sizeof(reload->is_asked));
    wake(reload);
    pthread_mutex_unlock(&reload->mutex);
}

void reload_stop(struct reload *reload)
{
    if (!reload->is_running) {
        return;
    }
    pthread_mutex_lock(&reload->mutex);
    atomic_store(&reload->is_draining, true);
    reload->is_stopping = true;
    wake(reload);
    pthread_mutex_unlock(&reload->mutex);
    file_watch_stop(reload->watch); // else a look over many files holds the engine's end up
    pthread_join(reload->thread, NULL);
    reload->is_running = false;
}

void reload_destroy(struct reload **reload)
{
    struct reload *ending = *reload;

    *reload = NULL;
    if (ending == NULL) {
        return;
    }
    reload_stop(ending);
    if (ending->engine->shadows != NULL) {
        shadows_wake(ending->engine->shadows, NULL, NULL);
    }
    reload_shadows_fini(&ending->shadows);
    reload_answer_release(&ending->last);
    reload_answer_release(&ending->published);
    reload_answer_release(&ending->standing);
    trials_fini(&ending->trials);
    held_fini(&ending->held);
    history_fini(&ending->history);
    events_fini(&ending->events);
    free(ending->quarantined);
    free(ending->on_trial);
    reload_watch_close(ending);
    if (ending->wake_fd >= 0) {
        close(ending->wake_fd);
    }
    pthread_mutex_destroy(&ending->mutex);
    free(ending);
}
