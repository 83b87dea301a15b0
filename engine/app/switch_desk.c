#include "app/switch_desk.h"

#include "app/board.h"
#include "app/engine.h"
#include "app/io_thread.h"
#include "app/permits.h"
#include "app/reload.h"
#include "app/switch_purge.h"
#include "app/switch_words.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    DESK_NICE = 10,
    DESK_TICK_US = 1000000,
    DESK_RETRY_US = 5000000,
    DESK_STEP_US = 2000000, // the time of day has moved against the clock by more: what is kept is written anew
};

struct switch_desk {
    struct engine *engine;
    pthread_t thread;
    pthread_mutex_t lock; // of all up to `keeping`
    pthread_cond_t wake;
    struct list queue;
    bool is_running, is_stopping, has_tried;
    struct switch_keeping keeping;

    struct switch_file file; // from here on the thread's
    uint64_t written_offset_us, retry_us;
    struct switch_item items[SWITCHES_MAX]; // scratch
};

static struct events *events_of(struct switch_desk *desk)
{
    return reload_events(desk->engine->reload);
}

// ------------------------------------------------------------------------------------------------------------- keeping

static void set_trouble(struct switch_desk *desk, bool is_kept, const struct failure *trouble)
{
    pthread_mutex_lock(&desk->lock);
    bool is_first = !desk->has_tried;
    bool is_news = is_first ? !is_kept : desk->keeping.is_kept != is_kept;
    desk->has_tried = true;
    desk->keeping.is_kept = is_kept;
    desk->keeping.trouble = *trouble;
    pthread_mutex_unlock(&desk->lock);
    if (is_news && !is_kept) {
        log_line(LOG_WARNING, "switches", "a restart would forget them: %s: %s; %s", trouble->file, trouble->message,
                 trouble->help);
    } else if (is_news) {
        log_line(LOG_INFO, "switches", "kept again file=%s", desk->file.path);
    }
}

/// Writes all of them down, in its own time.
static void keep(struct switch_desk *desk)
{
    struct failure trouble = { 0 };
    uint64_t now_us = clock_now_us(), wall_us = clock_wall_us();

    if (desk->file.path[0] == '\0') {
        return;
    }
    size_t count = switches_list(desk->engine->switches, desk->items);
    bool is_kept = switch_file_write(&desk->file, desk->items, count, now_us, wall_us, &trouble);
    desk->written_offset_us = wall_us - now_us;
    desk->retry_us = is_kept ? 0 : now_us + DESK_RETRY_US;
    set_trouble(desk, is_kept, &trouble);
}

/// Where the clock was put the file's times are wrong until it is written once more; a disk that was full may be so no
/// more.
static void keep_again(struct switch_desk *desk)
{
    uint64_t now_us = clock_now_us();
    uint64_t offset_us = clock_wall_us() - now_us;
    int64_t moved_us = (int64_t)(offset_us - desk->written_offset_us);
    bool has_moved = moved_us > DESK_STEP_US || moved_us < -DESK_STEP_US;

    if (has_moved || (desk->retry_us != 0 && now_us >= desk->retry_us)) {
        keep(desk);
    }
}

void switch_desk_write_kept(struct switch_desk *desk, struct json_writer *json)
{
    pthread_mutex_lock(&desk->lock);
    struct switch_keeping keeping = desk->keeping;
    pthread_mutex_unlock(&desk->lock);
    switch_words_write_kept(&keeping, json);
}

// --------------------------------------------------------------------------------------------------------------- doing

/// Its loops end what goes on for nobody.
static void tell_loops(struct switch_desk *desk)
{
    size_t threads = atomic_load(&desk->engine->threads_live);

    for (size_t i = 0; i < threads; i++) {
        io_thread_switched_off(&desk->engine->threads[i]);
    }
}

static void note(struct switch_desk *desk, const char *supplier, const struct failure *sentence)
{
    struct generation *running = engine_generation(desk->engine);

    events_note(events_of(desk), EVENT_OPERATOR, generation_number(running), text_of(supplier), sentence);
    generation_release(&running);
}

static const struct catalogue_supplier *supplier_of(const struct catalogue *catalogue, const char *name)
{
    for (size_t i = 0; i < catalogue->supplier_count; i++) {
        if (text_equals_c(catalogue->suppliers[i].name, name)) {
            return &catalogue->suppliers[i];
        }
    }
    return NULL;
}

static bool is_meant(const struct switch_request *request, const struct script_account *account)
{
    return request->account[0] == '\0' || text_equals_c(account->name, request->account);
}

static bool has_account(const struct catalogue_supplier *supplier, const struct switch_request *request)
{
    bool is_found = false;

    for (size_t i = 0; i < catalogue_account_count(supplier); i++) {
        is_found = is_found || is_meant(request, &supplier->account[i]);
    }
    return is_found;
}

/// What was said of it, or of one of its accounts, is taken back. False: nothing was.
static bool take_back(struct switch_desk *desk, const struct switch_request *request, enum switch_about about)
{
    struct switches *switches = desk->engine->switches;
    size_t count = switches_list(switches, desk->items);
    bool has_any = false;

    for (size_t i = 0; i < count; i++) {
        const struct switch_item *item = &desk->items[i];
        bool is_of_it = switch_about_of(item->kind) == about && strcmp(item->supplier, request->supplier) == 0 &&
                        item->since_wall_us <= request->said_us &&
                        (request->account[0] == '\0' || strcmp(item->account, request->account) == 0);
        if (is_of_it) {
            has_any = switches_remove(switches, about, text_of(item->supplier), text_of(item->account)) || has_any;
        }
    }
    return has_any;
}

static enum switch_about about_of(enum switch_action action)
{
    switch (action) {
    case SWITCH_OPEN:
    case SWITCH_CLOSE:
    case SWITCH_RESET:
        return SWITCH_ABOUT_BREAKER;
    case SWITCH_SET_CEILING:
    case SWITCH_DROP_CEILING:
        return SWITCH_ABOUT_CEILING;
    default:
        return SWITCH_ABOUT_ASKING;
    }
}

static bool look(struct switch_desk *desk, const struct switch_request *request, struct switch_item *item)
{
    return switches_look(desk->engine->switches, about_of(request->action), text_of(request->supplier),
                         text_of(request->account), clock_now_us(), item);
}

static void put(struct switch_desk *desk, struct switch_request *request, enum switch_kind kind)
{
    struct switch_item item = {
        .kind = kind, .since_wall_us = request->said_us, .ceiling_us = request->ceiling_us, .until_us = SWITCH_NEVER
    };

    (void)snprintf(item.supplier, sizeof(item.supplier), "%s", request->supplier);
    (void)snprintf(item.account, sizeof(item.account), "%s", request->account);
    (void)snprintf(item.who, sizeof(item.who), "%s", request->who);
    (void)snprintf(item.why, sizeof(item.why), "%s", request->why);
    if (request->for_us != 0) {
        item.until_us = clock_now_us() + request->for_us;
    }
    if (switches_set(desk->engine->switches, &item) != STATUS_OK) {
        request->end = SWITCH_REFUSED;
        failure_set(&request->because, "there are %d switches, and there may be no more", SWITCHES_MAX);
        failure_help(&request->because, "take some back; `lastcall suppliers` lists them");
    }
}

static void do_enable(struct switch_desk *desk, struct switch_request *request,
                      const struct catalogue_supplier *supplier)
{
    bool is_back = take_back(desk, request, SWITCH_ABOUT_ASKING);
    bool is_off_still = switches_look(desk->engine->switches, SWITCH_ABOUT_ASKING, text_of(request->supplier), TEXT(""),
                                      clock_now_us(), NULL);

    request->end = is_back ? SWITCH_DONE : SWITCH_UNCHANGED;
    switch_words_on_enabled(request, supplier, is_back, is_off_still);
}

/// The breakers of the accounts that are meant.
static void set_breakers(struct switch_desk *desk, const struct switch_request *request,
                         const struct catalogue_supplier *supplier)
{
    for (size_t i = 0; i < catalogue_account_count(supplier); i++) {
        if (is_meant(request, &supplier->account[i])) {
            permits_set_breaker(desk->engine->permits, &supplier->account[i], request->action == SWITCH_OPEN);
        }
    }
}

static void do_breaker(struct switch_desk *desk, struct switch_request *request, const struct catalogue *catalogue,
                       const struct catalogue_supplier *supplier)
{
    if (request->action == SWITCH_OPEN && request->for_us == 0 && !catalogue->breaker.is_on) {
        request->end = SWITCH_REFUSED;
        failure_set(&request->because, "breakers are off, so none can open");
        failure_help(&request->because, "say for how long it shall be held open, or set breaker.enabled: true");
        return;
    }
    (void)take_back(desk, request, SWITCH_ABOUT_BREAKER);
    if (supplier != NULL) {
        set_breakers(desk, request, supplier);
    }
    if (request->for_us != 0 && request->action != SWITCH_RESET) {
        put(desk, request, request->action == SWITCH_OPEN ? SWITCH_BREAKER_OPEN : SWITCH_BREAKER_CLOSED);
    }
}

static void act(struct switch_desk *desk, struct switch_request *request, const struct catalogue *catalogue,
                const struct catalogue_supplier *supplier)
{
    request->end = SWITCH_DONE;
    if (request->is_past) {
        request->end = take_back(desk, request, about_of(request->action)) ? SWITCH_DONE : SWITCH_UNCHANGED;
        return;
    }
    switch (request->action) {
    case SWITCH_DISABLE:
        switch_words_on_disabled(request, supplier);
        put(desk, request, SWITCH_DISABLED);
        break;
    case SWITCH_DRAIN:
        switch_words_on_disabled(request, supplier);
        put(desk, request, SWITCH_DRAINING);
        break;
    case SWITCH_ENABLE:
        do_enable(desk, request, supplier);
        break;
    case SWITCH_OPEN:
    case SWITCH_CLOSE:
    case SWITCH_RESET:
        do_breaker(desk, request, catalogue, supplier);
        break;
    case SWITCH_SET_CEILING:
        put(desk, request, SWITCH_CEILING);
        break;
    case SWITCH_DROP_CEILING:
        request->end = take_back(desk, request, SWITCH_ABOUT_CEILING) ? SWITCH_DONE : SWITCH_UNCHANGED;
        break;
    case SWITCH_PURGE:
        switch_purge(desk->engine->store, request);
        break;
    case SWITCH_ACTION_COUNT:
        break;
    }
}

static uint32_t count_out(struct switch_desk *desk, const struct switch_request *request,
                          const struct catalogue_supplier *supplier)
{
    uint32_t out = 0;

    for (size_t i = 0; supplier != NULL && i < catalogue_account_count(supplier); i++) {
        struct permits_view view;
        if (is_meant(request, &supplier->account[i])) {
            permits_look(desk->engine->permits, &supplier->account[i], &view);
            out += view.out;
        }
    }
    return out;
}

/// A supplier that is gone may still be switched on again.
static bool is_known(struct switch_desk *desk, const struct switch_request *request)
{
    size_t count = switches_list(desk->engine->switches, desk->items);
    bool is_found = false;

    for (size_t i = 0; i < count; i++) {
        is_found = is_found || (strcmp(desk->items[i].supplier, request->supplier) == 0 &&
                                (request->account[0] == '\0' || strcmp(desk->items[i].account, request->account) == 0));
    }
    return is_found && (request->action == SWITCH_ENABLE || request->action == SWITCH_RESET ||
                        request->action == SWITCH_DROP_CEILING);
}

static void finish(struct switch_desk *desk, struct switch_request *request, const struct catalogue_supplier *supplier)
{
    struct failure sentence = { 0 };

    request->has_now = look(desk, request, &request->now);
    if (request->end == SWITCH_DONE) {
        keep(desk);
        tell_loops(desk);
        switch_words_of(request, clock_now_us(), clock_wall_us(), &sentence);
        note(desk, request->supplier, &sentence);
    }
    request->out = count_out(desk, request, supplier);
    pthread_mutex_lock(&desk->lock);
    request->keeping = desk->keeping;
    pthread_mutex_unlock(&desk->lock);
}

/// To the other engines, if there are any. What is forgotten in a store that they share is forgotten for them.
static void pass_on(struct switch_desk *desk, const struct switch_request *request)
{
    bool is_word = request->action != SWITCH_PURGE && (request->end == SWITCH_DONE || request->end == SWITCH_UNCHANGED);

    if (desk->engine->board != NULL && is_word) {
        struct switch_word word = switch_word_of_request(request, clock_wall_us());
        board_tell_switch(desk->engine->board, &word);
    }
}

static void handle(struct switch_desk *desk, struct switch_request *request)
{
    struct generation *running = engine_generation(desk->engine);
    const struct catalogue *catalogue = generation_catalogue(running);
    const struct catalogue_supplier *supplier = supplier_of(catalogue, request->supplier);

    request->has_was = look(desk, request, &request->was);
    request->said_us = request->is_told ? request->said_us : board_stamp_us(desk->engine->board);
    if (request->is_told) {
        act(desk, request, catalogue, supplier);
        finish(desk, request, supplier);
    } else if (supplier == NULL && !is_known(desk, request)) {
        request->end = SWITCH_NO_SUPPLIER;
        switch_words_on_stranger(request, catalogue);
    } else if (supplier != NULL && !has_account(supplier, request) && !is_known(desk, request)) {
        request->end = SWITCH_NO_ACCOUNT;
        switch_words_on_strange_account(request, supplier);
    } else {
        act(desk, request, catalogue, supplier);
        finish(desk, request, supplier);
        pass_on(desk, request);
    }
    generation_release(&running);
    request->on_done(request);
}

// ------------------------------------------------------------------------------------------------------- what has
// ended

static void end_those_over(struct switch_desk *desk)
{
    struct switch_item over;
    bool has_any = false;

    while (switches_take_over(desk->engine->switches, clock_now_us(), &over)) {
        struct failure sentence = { 0 };
        switch_words_of_over(&over, &sentence);
        note(desk, over.supplier, &sentence);
        has_any = true;
    }
    if (has_any) {
        keep(desk);
    }
}

static struct switch_request *take_request(struct switch_desk *desk)
{
    struct list *node = list_take_first(&desk->queue);

    return node != NULL ? CONTAINER_OF(node, struct switch_request, node) : NULL;
}

/// Until somebody asks, something ends, or for a tick; under the lock.
static void doze(struct switch_desk *desk)
{
    uint64_t now_us = clock_now_us(), next_us = switches_next_us(desk->engine->switches);
    uint64_t nap_us = next_us <= now_us ? 0 : next_us - now_us;
    struct timespec until;

    nap_us = nap_us < DESK_TICK_US ? nap_us : DESK_TICK_US;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(nap_us % 1000000) * 1000;
    until.tv_sec += (time_t)(nap_us / 1000000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&desk->wake, &desk->lock, &until);
}

/// Tells of what was kept, and learns by writing whether it can be kept on.
static void begin(struct switch_desk *desk)
{
    struct failure sentence = { 0 };

    if (desk->keeping.lost.message[0] != '\0') {
        note(desk, "", &desk->keeping.lost);
    }
    size_t count = switches_list(desk->engine->switches, desk->items);
    if (count > 0) {
        switch_words_of_start(desk->items, count, &sentence);
        note(desk, "", &sentence);
    }
    keep(desk);
}

static void *desk_main(void *argument)
{
    struct switch_desk *desk = argument;
    bool is_ended = false;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), DESK_NICE);
    begin(desk);
    while (!is_ended) {
        pthread_mutex_lock(&desk->lock);
        if (list_is_empty(&desk->queue) && !desk->is_stopping) {
            doze(desk);
        }
        struct switch_request *request = take_request(desk);
        is_ended = request == NULL && desk->is_stopping;
        pthread_mutex_unlock(&desk->lock);
        end_those_over(desk);
        if (request != NULL) {
            handle(desk, request);
        }
        keep_again(desk);
    }
    return NULL;
}

enum status switch_desk_submit(struct switch_desk *desk, struct switch_request *request)
{
    enum status status = STATUS_CLOSED;

    pthread_mutex_lock(&desk->lock);
    if (desk->is_running && !desk->is_stopping) {
        list_init(&request->node);
        list_append(&desk->queue, &request->node);
        pthread_cond_signal(&desk->wake);
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&desk->lock);
    return status;
}

// ----------------------------------------------------------------------------------------------------- birth and death

static void init_locks(struct switch_desk *desk)
{
    pthread_condattr_t monotonic;

    require(pthread_mutex_init(&desk->lock, NULL) == 0);
    require(pthread_condattr_init(&monotonic) == 0);
    require(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    require(pthread_cond_init(&desk->wake, &monotonic) == 0);
    pthread_condattr_destroy(&monotonic);
}

/// What was in force when the engine ended is so again. What is wrong with the file is told, and stops nobody.
static void load(struct switch_desk *desk)
{
    size_t count = 0;

    (void)snprintf(desk->keeping.path, sizeof(desk->keeping.path), "%s", desk->file.path);
    (void)!switch_file_open(&desk->file, clock_now_us(), clock_wall_us(), desk->items, &count, &desk->keeping.lost);
    for (size_t i = 0; i < count; i++) {
        (void)!switches_set(desk->engine->switches, &desk->items[i]); // no more than there may be
    }
}

enum status switch_desk_create(struct engine *engine, struct switch_desk **desk, struct failure *why)
{
    struct switch_desk *made = calloc(1, sizeof(*made));

    *desk = made;
    if (made == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    made->engine = engine;
    list_init(&made->queue);
    init_locks(made);
    enum status status = switch_file_init(&made->file, engine->settings->state_dir, why);
    if (status != STATUS_OK) {
        switch_desk_destroy(desk);
        return status;
    }
    load(made);
    return STATUS_OK;
}

enum status switch_desk_start(struct switch_desk *desk, struct failure *why)
{
    if (pthread_create(&desk->thread, NULL, desk_main, desk) != 0) {
        failure_set(why, "no thread for the operators' switches");
        return STATUS_IO;
    }
    pthread_setname_np(desk->thread, "switches");
    pthread_mutex_lock(&desk->lock);
    desk->is_running = true;
    pthread_mutex_unlock(&desk->lock);
    return STATUS_OK;
}

void switch_desk_stop(struct switch_desk *desk)
{
    if (desk == NULL || !desk->is_running) {
        return;
    }
    pthread_mutex_lock(&desk->lock);
    desk->is_stopping = true;
    pthread_cond_signal(&desk->wake);
    pthread_mutex_unlock(&desk->lock);
    pthread_join(desk->thread, NULL);
    desk->is_running = false;
}

void switch_desk_destroy(struct switch_desk **desk)
{
    if (*desk != NULL) {
        pthread_cond_destroy(&(*desk)->wake);
        pthread_mutex_destroy(&(*desk)->lock);
        free(*desk);
        *desk = NULL;
    }
}
