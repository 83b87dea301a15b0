#include "store/lmdb_writer.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    QUEUE_MAX = 4096,
    QUEUE_BYTES_MAX = 64 << 20,
    WRITER_NICE = 19,
    BATCH_MAX = 256,
    GATHER_US = 50000,
    SYNC_US = 500000,
    IDLE_US = 1000000,
    SWEEP_STEP_US = 1000000,
    SWEEP_ROUND_US = 60000000,
    RETRY_US = 1000000,
};

// --------------------------------------------------------------------------------------------------------------
// trouble

static void set_trouble(struct lmdb_writer *writer, const char *trouble)
{
    pthread_mutex_lock(&writer->lock);
    bool is_news = (writer->trouble[0] == '\0') != (trouble[0] == '\0');
    (void)snprintf(writer->trouble, sizeof writer->trouble, "%s", trouble);
    pthread_mutex_unlock(&writer->lock);
    if (is_news && trouble[0] != '\0') {
        log_line(LOG_WARNING, "store", "answers are not kept: %s", trouble);
    } else if (is_news) {
        log_line(LOG_INFO, "store", "answers are kept again");
    }
}

/// A turn went wrong: what can be done so that the next one does not?
static enum status mend(struct lmdb_writer *writer, enum status status)
{
    enum status mended = status == STATUS_FULL ? lmdb_keeper_make_room(&writer->keeper) : status;

    if (mended != STATUS_FULL && mended != STATUS_INVALID) {
        return mended;
    }
    log_line(LOG_WARNING, "store", "begun anew, without what was kept: %s", lmdb_trouble(writer->file));
    mended = lmdb_file_begin_anew(writer->file);
    return mended == STATUS_OK ? lmdb_keeper_look(&writer->keeper) : mended;
}

static void settle_trouble(struct lmdb_writer *writer, enum status status)
{
    uint64_t now_us = clock_now_us();

    if (status == STATUS_OK) {
        writer->retry_us = 0;
        set_trouble(writer, "");
    } else {
        const char *words = lmdb_trouble(writer->file);
        writer->retry_us = now_us + RETRY_US;
        set_trouble(writer, words[0] != '\0' ? words : status_name(status));
    }
}

/// One turn of `act`, twice if the first can be mended.
static enum status try_twice(struct lmdb_writer *writer, enum status (*act)(struct lmdb_writer *, void *),
                             void *context)
{
    enum status status = act(writer, context);

    if (status == STATUS_FULL || status == STATUS_INVALID) {
        status = mend(writer, status);
        status = status == STATUS_OK ? act(writer, context) : status;
    }
    if (status == STATUS_OK) {
        writer->commit_us = clock_now_us();
    }
    settle_trouble(writer, status);
    return status;
}

// ----------------------------------------------------------------------------------------------------------------
// calls

static void finish(struct lmdb_writer *writer, struct store_call *call, bool is_done)
{
    if (!is_done) {
        call->state = STORE_FAULT;
        if (call->job == STORE_KEEP) {
            call->entries[0].state = STORE_FAULT;
        }
    }
    if (call->job == STORE_KEEP) {
        atomic_fetch_add(call->state == STORE_FOUND ? &writer->kept : &writer->dropped, 1);
    }
    atomic_fetch_add(&writer->faults, call->state == STORE_FAULT);
    call->done_us = clock_now_us();
    store_queue_settle(&writer->queue, call);
    store_deliver(writer->store, call);
}

static void finish_all(struct lmdb_writer *writer, struct list *calls, bool are_done)
{
    struct list *first;

    while ((first = list_take_first(calls)) != NULL) {
        finish(writer, store_call_of(first), are_done);
    }
}

static enum status act_do(struct lmdb_writer *writer, void *context)
{
    return lmdb_keeper_do(&writer->keeper, context);
}

static enum status act_purge(struct lmdb_writer *writer, void *context)
{
    return lmdb_keeper_purge(&writer->keeper, context);
}

/// Takes a call that is done in a turn of its own, or as many of the others as one turn takes.
static void take_batch(struct list *pending, struct list *batch)
{
    size_t count = 0;

    while (!list_is_empty(pending) && count < BATCH_MAX) {
        bool is_purge = store_call_of(pending->next)->job == STORE_PURGE;
        if (is_purge && count > 0) {
            return;
        }
        list_append(batch, list_take_first(pending));
        count++;
        if (is_purge) {
            return;
        }
    }
}

static void do_batch(struct lmdb_writer *writer, struct list *pending)
{
    struct list batch;
    enum status status = STATUS_IO;

    list_init(&batch);
    take_batch(pending, &batch);
    if (writer->retry_us == 0 || clock_now_us() >= writer->retry_us) {
        struct store_call *first = store_call_of(batch.next);
        status = first->job == STORE_PURGE ? try_twice(writer, act_purge, first) : try_twice(writer, act_do, &batch);
    }
    finish_all(writer, &batch, status == STATUS_OK);
}

// ---------------------------------------------------------------------------------------------------------------
// thread

static enum status act_forget(struct lmdb_writer *writer, void *context)
{
    return lmdb_keeper_forget(&writer->keeper, context);
}

static bool take_doomed(struct lmdb_writer *writer, struct lmdb_name *name)
{
    pthread_mutex_lock(&writer->lock);
    bool has_one = writer->doomed_count > 0;
    if (has_one) {
        *name = writer->doomed[--writer->doomed_count];
    }
    pthread_mutex_unlock(&writer->lock);
    return has_one;
}

static enum status act_sweep(struct lmdb_writer *writer, void *context)
{
    return lmdb_keeper_sweep(&writer->keeper, clock_wall_us() / 1000, context);
}

/// Between calls.
static void tidy(struct lmdb_writer *writer)
{
    uint64_t now_us = clock_now_us();
    struct lmdb_name name;
    bool is_round = false;

    if (writer->retry_us != 0 && now_us < writer->retry_us) {
        return;
    }
    while (take_doomed(writer, &name)) {
        (void)try_twice(writer, act_forget, &name);
    }
    if (writer->commit_us != 0 && now_us - writer->commit_us >= SYNC_US) {
        enum status status = lmdb_file_sync(writer->file);
        writer->commit_us = status == STATUS_OK ? 0 : writer->commit_us;
        settle_trouble(writer, status);
    }
    if (now_us >= writer->sweep_us) {
        uint64_t commit_us = writer->commit_us;
        enum status status = try_twice(writer, act_sweep, &is_round);
        writer->commit_us = commit_us; // what is over may come back with the machine
        writer->sweep_us = now_us + (status == STATUS_OK && is_round ? SWEEP_ROUND_US : SWEEP_STEP_US);
    }
}

static bool is_awaited(const struct list *pending)
{
    for (const struct list *node = pending->next; node != pending; node = node->next) {
        if (store_call_of((struct list *)(uintptr_t)node)->on_done != NULL) {
            return true;
        }
    }
    return false;
}

/// More may come that fits into the same turn.
static void gather(struct lmdb_writer *writer, struct list *pending)
{
    uint64_t until_us = clock_now_us() + GATHER_US;

    while (!is_awaited(pending) && !atomic_load(&writer->is_stopping) && clock_now_us() < until_us &&
           atomic_load(&writer->queue.count) < BATCH_MAX) {
        store_queue_wait(&writer->queue, until_us);
        store_queue_take(&writer->queue, pending);
    }
}

static uint64_t next_us(const struct lmdb_writer *writer)
{
    uint64_t now_us = clock_now_us();
    uint64_t at_us = now_us + IDLE_US;

    if (writer->commit_us != 0 && writer->commit_us + SYNC_US < at_us) {
        at_us = writer->commit_us + SYNC_US;
    }
    return at_us;
}

static void *writer_main(void *context)
{
    struct lmdb_writer *writer = context;
    struct list pending;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), WRITER_NICE);
    list_init(&pending);
    while (!atomic_load(&writer->is_stopping)) {
        store_queue_wait(&writer->queue, next_us(writer));
        store_queue_take(&writer->queue, &pending);
        if (!list_is_empty(&pending)) {
            gather(writer, &pending);
        }
        while (!list_is_empty(&pending) && !atomic_load(&writer->is_stopping)) {
            do_batch(writer, &pending);
        }
        if (!atomic_load(&writer->is_stopping)) {
            tidy(writer);
        }
    }
    store_queue_take(&writer->queue, &pending);
    while (!list_is_empty(&pending) && clock_now_us() < atomic_load(&writer->close_by_us)) {
        do_batch(writer, &pending);
    }
    finish_all(writer, &pending, false);
    return NULL;
}

enum status lmdb_writer_start(struct lmdb_writer *writer, struct store *store, struct lmdb_file *file,
                              uint64_t max_bytes)
{
    *writer = (struct lmdb_writer){ .store = store, .file = file, .max_bytes = max_bytes };
    store_queue_init(&writer->queue, QUEUE_MAX, QUEUE_BYTES_MAX);
    require(pthread_mutex_init(&writer->lock, NULL) == 0);
    enum status status = lmdb_keeper_init(&writer->keeper, file, max_bytes);
    if (status == STATUS_OK) {
        writer->is_running = pthread_create(&writer->thread, NULL, writer_main, writer) == 0;
        status = writer->is_running ? STATUS_OK : STATUS_NO_MEMORY;
    }
    return status;
}

void lmdb_writer_stop(struct lmdb_writer *writer, uint64_t grace_us)
{
    struct list calls;

    atomic_store(&writer->close_by_us, clock_now_us() + grace_us);
    atomic_store(&writer->is_stopping, true);
    store_queue_wake(&writer->queue);
    if (writer->is_running) {
        pthread_join(writer->thread, NULL);
        writer->is_running = false;
    }
    list_init(&calls);
    store_queue_take(&writer->queue, &calls); // put in since
    finish_all(writer, &calls, false);
}

void lmdb_writer_fini(struct lmdb_writer *writer)
{
    lmdb_keeper_fini(&writer->keeper);
    store_queue_fini(&writer->queue);
    (void)pthread_mutex_destroy(&writer->lock);
}

void lmdb_writer_submit(struct lmdb_writer *writer, struct store_call *call)
{
    if (store_queue_put(&writer->queue, call)) {
        return;
    }
    call->state = STORE_FAULT;
    if (call->job == STORE_KEEP) {
        atomic_fetch_add(&writer->dropped, 1);
        call->entries[0].state = STORE_FAULT;
    } else {
        atomic_fetch_add(&writer->faults, 1);
    }
    call->done_us = call->queued_us;
    store_deliver(writer->store, call);
}

void lmdb_writer_forget(struct lmdb_writer *writer, const struct lmdb_name *name)
{
    pthread_mutex_lock(&writer->lock);
    if (writer->doomed_count < LMDB_DOOMED_MAX) { // else it goes when it is read again
        writer->doomed[writer->doomed_count++] = *name;
    }
    pthread_mutex_unlock(&writer->lock);
    store_queue_wake(&writer->queue);
}

void lmdb_writer_report(struct lmdb_writer *writer, struct store_report *report)
{
    pthread_mutex_lock(&writer->lock);
    (void)snprintf(report->trouble, sizeof report->trouble, "%s", writer->trouble);
    pthread_mutex_unlock(&writer->lock);
    report->is_up = report->trouble[0] == '\0';
    report->entries = atomic_load(&writer->keeper.entries);
    report->bytes = atomic_load(&writer->keeper.bytes);
    report->max_bytes = writer->max_bytes;
    report->kept = atomic_load(&writer->kept);
    report->dropped = atomic_load(&writer->dropped);
    report->faults += atomic_load(&writer->faults);
    report->evicted = atomic_load(&writer->keeper.evicted);
    report->purged = atomic_load(&writer->keeper.purged);
}
