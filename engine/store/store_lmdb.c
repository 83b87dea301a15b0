#include "store/store_lmdb.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/offer_pack.h"
#include "store/lmdb_writer.h"

#include <pthread.h>
#include <stdlib.h>

enum { READS_MAX = 4096, READS_BYTES_MAX = 64 << 20, WAIT_US = 1000000 };

struct store_lmdb {
    struct store store;
    struct lmdb_file *file;
    struct lmdb_writer writer;
    struct store_queue reads;
    pthread_t reader;
    bool has_reader;
    atomic_bool is_stopping;
    atomic_uint_fast64_t found, absent, faults, late, corrupt;
};

static struct store_lmdb *lmdb_of(struct store *store)
{
    return CONTAINER_OF(store, struct store_lmdb, store);
}

// --------------------------------------------------------------------------------------------------------------
// reading

static void fault_all(struct store_call *call)
{
    call->state = STORE_FAULT;
    for (size_t i = 0; i < call->entry_count; i++) {
        call->entries[i].state = STORE_FAULT;
    }
}

/// It was written, and is not what was written: it is taken out.
static enum store_state find_damage(struct store_lmdb *lmdb, const struct lmdb_name *name)
{
    atomic_fetch_add(&lmdb->corrupt, 1);
    lmdb_writer_forget(&lmdb->writer, name);
    return STORE_FAULT;
}

static enum store_state read_offers(struct store_lmdb *lmdb, struct lmdb_turn *turn, const struct store_call *call,
                                    struct store_entry *entry, const struct lmdb_name *name, uint64_t answer)
{
    struct lmdb_number number = lmdb_number_of(answer);
    struct text value, own, packed;
    enum status status = lmdb_get(turn, LMDB_ANSWERS, lmdb_number_text(&number), &value);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return STORE_FAULT;
    }
    if (status != STATUS_OK || !lmdb_answer_read(value, &own, &packed) || !text_equals(own, lmdb_name_text(name))) {
        return find_damage(lmdb, name);
    }
    status = offer_unpack(packed, entry->status, call->now_ms, &entry->offers);
    if (status == STATUS_INVALID) {
        return find_damage(lmdb, name);
    }
    return status == STATUS_OK ? STORE_FOUND : STORE_FAULT;
}

static enum store_state serve_entry(struct store_lmdb *lmdb, struct lmdb_turn *turn, const struct store_call *call,
                                    struct store_entry *entry, const uint8_t digest[STORE_DIGEST])
{
    struct lmdb_name name;
    struct lmdb_head kept;
    struct text value;

    if (!lmdb_name_make(&name, entry, digest)) {
        return STORE_ABSENT; // it is never kept
    }
    enum status status = lmdb_get(turn, LMDB_HEADS, lmdb_name_text(&name), &value);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STORE_ABSENT : STORE_FAULT;
    }
    if (!lmdb_head_read(value, &kept)) {
        return find_damage(lmdb, &name);
    }
    entry->head = kept.head;
    if (!store_is_current(call, entry, &entry->head)) {
        return STORE_ABSENT;
    }
    if (call->job == STORE_INDEX || kept.head.offers == 0) {
        return STORE_FOUND;
    }
    return read_offers(lmdb, turn, call, entry, &name, kept.number);
}

static void serve_entries(struct store_lmdb *lmdb, struct lmdb_turn *turn, struct store_call *call)
{
    uint8_t digest[STORE_DIGEST];

    store_digest(call, digest);
    for (size_t i = 0; i < call->entry_count; i++) {
        struct store_entry *entry = &call->entries[i];
        entry->state = call->query.data != NULL ? serve_entry(lmdb, turn, call, entry, digest) : STORE_ABSENT;
        atomic_fetch_add(entry->state == STORE_FOUND    ? &lmdb->found
                         : entry->state == STORE_ABSENT ? &lmdb->absent
                                                        : &lmdb->faults,
                         1);
    }
    call->state = STORE_FOUND;
}

static void serve_note(struct store_lmdb *lmdb, struct lmdb_turn *turn, struct store_call *call)
{
    struct text value, says;

    call->state = STORE_ABSENT;
    if (call->name.length == 0 || call->name.length > LMDB_KEY_MAX) {
        return;
    }
    enum status status = lmdb_get(turn, LMDB_NOTES, call->name, &value);
    if (status == STATUS_OK && lmdb_note_read(value, call->now_ms, &says)) {
        block_release(&call->value);
        call->value = block_create(says);
        call->state = call->value != NULL ? STORE_FOUND : STORE_FAULT;
    } else if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        call->state = STORE_FAULT;
    }
    atomic_fetch_add(&lmdb->faults, call->state == STORE_FAULT);
}

static void serve(struct store_lmdb *lmdb, struct lmdb_turn *turn, struct store_call *call)
{
    if (call->job == STORE_NOTE_GET) {
        serve_note(lmdb, turn, call);
    } else {
        serve_entries(lmdb, turn, call);
    }
}

static bool is_late(const struct store_call *call, uint64_t now_us)
{
    return call->end_us != 0 && now_us > call->end_us;
}

/// `turn` NULL: the tables cannot be looked at.
static void serve_or_not(struct store_lmdb *lmdb, struct lmdb_turn *turn, struct store_call *call)
{
    bool was_late = is_late(call, clock_now_us());

    fault_all(call);
    if (turn == NULL) {
        atomic_fetch_add(&lmdb->faults, 1);
    } else if (!was_late && !atomic_load(&call->is_cancelled)) {
        serve(lmdb, turn, call);
    }
    call->done_us = clock_now_us();
    atomic_fetch_add(&lmdb->late, was_late || is_late(call, call->done_us));
    store_queue_settle(&lmdb->reads, call);
    store_deliver(&lmdb->store, call);
}

/// In one turn, so that none of them sees another moment than the others.
static void serve_all(struct store_lmdb *lmdb, struct list *calls)
{
    struct lmdb_turn turn;
    struct list *first;

    if (list_is_empty(calls)) {
        return;
    }
    bool has_turn = lmdb_read(lmdb->file, &turn) == STATUS_OK;
    while ((first = list_take_first(calls)) != NULL) {
        serve_or_not(lmdb, has_turn ? &turn : NULL, store_call_of(first));
    }
    if (has_turn) {
        lmdb_end(&turn);
    }
}

static void *reader_main(void *context)
{
    struct store_lmdb *lmdb = context;
    struct list calls;

    list_init(&calls);
    while (!atomic_load(&lmdb->is_stopping)) {
        store_queue_wait(&lmdb->reads, clock_now_us() + WAIT_US);
        store_queue_take(&lmdb->reads, &calls);
        serve_all(lmdb, &calls);
    }
    return NULL;
}

// --------------------------------------------------------------------------------------------------------------
// backend

static void lmdb_submit(struct store *store, struct store_call *call)
{
    struct store_lmdb *lmdb = lmdb_of(store);
    bool is_read = call->job == STORE_INDEX || call->job == STORE_READ || call->job == STORE_NOTE_GET;

    call->queued_us = clock_now_us();
    if (!is_read) {
        lmdb_writer_submit(&lmdb->writer, call);
        return;
    }
    if (!store_queue_put(&lmdb->reads, call)) {
        atomic_fetch_add(&lmdb->faults, 1);
        fault_all(call);
        call->done_us = call->queued_us;
        store_deliver(store, call);
    }
}

static void lmdb_report(struct store *store, struct store_report *report)
{
    struct store_lmdb *lmdb = lmdb_of(store);

    *report = (struct store_report){ .found = atomic_load(&lmdb->found),
                                     .absent = atomic_load(&lmdb->absent),
                                     .faults = atomic_load(&lmdb->faults),
                                     .late = atomic_load(&lmdb->late),
                                     .corrupt = atomic_load(&lmdb->corrupt) };
    lmdb_writer_report(&lmdb->writer, report);
}

static void lmdb_close(struct store **store, uint64_t grace_us)
{
    struct store_lmdb *gone = lmdb_of(*store);
    struct list calls;

    *store = NULL;
    atomic_store(&gone->is_stopping, true);
    store_queue_wake(&gone->reads);
    if (gone->has_reader) {
        pthread_join(gone->reader, NULL);
    }
    list_init(&calls);
    store_queue_take(&gone->reads, &calls); // put in since
    serve_all(gone, &calls);
    lmdb_writer_stop(&gone->writer, grace_us);
    lmdb_writer_fini(&gone->writer);
    store_queue_fini(&gone->reads);
    lmdb_file_close(&gone->file);
    free(gone);
}

static const struct store_ops LMDB_OPS = { .submit = lmdb_submit, .report = lmdb_report, .close = lmdb_close };

static enum status start(struct store_lmdb *lmdb, const struct store_lmdb_options *options, struct failure *why)
{
    enum status status = lmdb_writer_start(&lmdb->writer, &lmdb->store, lmdb->file, options->max_bytes);

    if (status == STATUS_OK) {
        lmdb->has_reader = pthread_create(&lmdb->reader, NULL, reader_main, lmdb) == 0;
        status = lmdb->has_reader ? STATUS_OK : STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        failure_set(why, "store.path: %s: it could not be begun: %s", options->directory,
                    status == STATUS_NO_MEMORY ? "out of memory" : lmdb_trouble(lmdb->file));
    }
    return status;
}

enum status store_lmdb_open(const struct store_lmdb_options *options, struct store **store, struct failure *why)
{
    struct store_lmdb *made = calloc(1, sizeof *made);
    bool was_begun_anew = false;

    *store = NULL;
    if (made == NULL) {
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    made->store = (struct store){ .ops = &LMDB_OPS, .deliver = options->deliver };
    enum status status = lmdb_file_open(options->directory, options->max_bytes, &made->file, &was_begun_anew, why);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    if (was_begun_anew) {
        log_line(LOG_WARNING, "store",
                 "begun anew, without what was kept: the file is damaged, or larger than store.max_size directory=%s",
                 options->directory);
    }
    store_queue_init(&made->reads, READS_MAX, READS_BYTES_MAX);
    struct store *begun = &made->store;
    status = start(made, options, why);
    if (status == STATUS_OK) {
        *store = begun;
    } else {
        lmdb_close(&begun, 0);
    }
    return status;
}
