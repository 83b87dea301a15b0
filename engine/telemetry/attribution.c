#include "telemetry/attribution.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// The queue is a bounded one of many producers and one consumer (D. Vyukov's sequence numbers), as in base/log.c: a
// slot belongs to the producer whose ticket equals its sequence, and to the writer when the sequence is the ticket + 1.
// Producers take no lock, so a writer that the scheduler starves costs them nothing.
//
// `lock` guards what is kept; only the writer and threads that may wait take it.

enum { ATTRIBUTION_QUEUE = 1024, ATTRIBUTION_KEEP = 1024, ATTRIBUTION_NICE = 19, ATTRIBUTION_MODE = 0640 };

enum { ATTRIBUTION_JOIN = 64 }; // records of what went on that are shown with their search

static const uint64_t complain_every_us = 60 * UINT64_C(1000000);

struct attribution_slot {
    atomic_size_t sequence;
    struct search_record *record;
};

/// The newest ones.
struct attribution_ring {
    struct search_record **records;
    size_t size, next, count;
};

struct attribution {
    struct attribution_slot *slots;
    size_t slot_count;
    atomic_size_t head; // next ticket of the producers
    size_t tail;        // next ticket of the writer
    atomic_bool is_signalled, is_stopping, wants_reopen;
    sem_t wake;
    pthread_t thread;

    // the writer's own
    char *path;
    int fd;           // -1: none
    bool is_mid_line; // the last line is cut: the next one begins with a line end
    uint64_t complain_after_us;
    struct buffer line;

    pthread_mutex_t lock;
    pthread_cond_t settled;
    struct attribution_ring searches, afterwards; // what went on beside them; under lock
    struct attribution_ring revalidations;        // likewise
    size_t done;                                  // tickets that are through

    atomic_uint_fast64_t taken, written, dropped, failed;
};

// -------------------------------------------------------------------------------------------------------------- file

/// O_NONBLOCK: a pipe that nobody reads must not hold the writer.
static int file_open(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, ATTRIBUTION_MODE);
}

static void complain(struct attribution *attribution, const char *what, int error)
{
    uint64_t now_us = clock_now_us();

    if (now_us < attribution->complain_after_us) {
        return;
    }
    attribution->complain_after_us = now_us + complain_every_us;
    log_line(LOG_ERROR, "attribution", "%s file=%s reason=%s lines_lost=%llu", what, attribution->path, strerror(error),
             (unsigned long long)atomic_load(&attribution->failed));
}

/// Keeps the old file while the new one cannot be opened, and tries again with the next line.
static void file_reopen(struct attribution *attribution)
{
    if (attribution->path == NULL || !atomic_exchange(&attribution->wants_reopen, false)) {
        return;
    }
    int fd = file_open(attribution->path);
    if (fd < 0) {
        complain(attribution, "the file cannot be opened again", errno);
        atomic_store(&attribution->wants_reopen, true);
        return;
    }
    close(attribution->fd);
    attribution->fd = fd;
    attribution->is_mid_line = false;
}

/// Every byte, or false with errno.
static bool file_write_all(struct attribution *attribution, struct text bytes)
{
    while (bytes.length > 0) {
        ssize_t count = write(attribution->fd, bytes.data, bytes.length);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        attribution->is_mid_line = true;
        bytes.data += count;
        bytes.length -= (size_t)count;
    }
    return true;
}

static bool render(const struct search_record *record, struct buffer *out)
{
    struct json_writer json;

    json_writer_init(&json, out);
    search_record_write(record, &json);
    return !out->is_full;
}

static void file_append(struct attribution *attribution, const struct search_record *record)
{
    struct buffer *line = &attribution->line;
    bool was_cut = attribution->is_mid_line;

    if (attribution->fd < 0) {
        return;
    }
    buffer_clear(line);
    if (was_cut) {
        buffer_append_byte(line, '\n');
    }
    errno = ENOMEM;
    if (render(record, line) && buffer_append_byte(line, '\n') && file_write_all(attribution, buffer_text(line))) {
        attribution->is_mid_line = false;
        atomic_fetch_add(&attribution->written, 1);
        return;
    }
    atomic_fetch_add(&attribution->failed, 1);
    complain(attribution, "a record could not be written", errno);
}

// ------------------------------------------------------------------------------------------------------------ writer

static void redact_text(struct text *text, bool is_cut)
{
    if (text->length > 0) {
        text->length = redact_apply((char *)(uintptr_t)text->data, text->length, is_cut);
    }
}

/// What suppliers and scripts said may hold anything. Texts lie in the record's own memory.
static void redact_record(struct search_record *record)
{
    redact_text(&record->product, false);
    redact_text(&record->caller, false);
    for (size_t i = 0; i < record->entry_count; i++) {
        redact_text(&record->entries[i].code, false);
        redact_text(&record->entries[i].detail, record->entries[i].is_detail_cut);
    }
}

static void keep(struct attribution *attribution, struct search_record *record)
{
    pthread_mutex_lock(&attribution->lock);
    struct attribution_ring *ring = record->kind == RECORD_SEARCH         ? &attribution->searches
                                    : record->kind == RECORD_REVALIDATION ? &attribution->revalidations
                                                                          : &attribution->afterwards;
    struct search_record **place = &ring->records[ring->next];
    struct search_record *oldest = *place;
    *place = record;
    ring->next = (ring->next + 1) % ring->size;
    ring->count += oldest == NULL ? 1 : 0;
    pthread_mutex_unlock(&attribution->lock);
    if (oldest != NULL) {
        search_record_destroy(&oldest);
    }
}

/// The next record of the queue; NULL: none is ready.
static struct search_record *take(struct attribution *attribution)
{
    struct attribution_slot *slot = &attribution->slots[attribution->tail % attribution->slot_count];

    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != attribution->tail + 1) {
        return NULL;
    }
    struct search_record *record = slot->record;
    atomic_store_explicit(&slot->sequence, attribution->tail + attribution->slot_count, memory_order_release);
    attribution->tail++;
    return record;
}

static void drain(struct attribution *attribution)
{
    struct search_record *record = NULL;

    file_reopen(attribution);
    while ((record = take(attribution)) != NULL) {
        redact_record(record);
        file_append(attribution, record);
        keep(attribution, record);
    }
    pthread_mutex_lock(&attribution->lock);
    attribution->done = attribution->tail;
    pthread_cond_broadcast(&attribution->settled);
    pthread_mutex_unlock(&attribution->lock);
}

static void *attribution_main(void *argument)
{
    struct attribution *attribution = argument;
    bool is_last = false;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), ATTRIBUTION_NICE);
    while (!is_last) {
        while (sem_wait(&attribution->wake) != 0) {
        }
        is_last = atomic_load(&attribution->is_stopping);
        atomic_store(&attribution->is_signalled, false); // what is submitted from here on signals again
        drain(attribution);
    }
    return NULL;
}

static void wake_writer(struct attribution *attribution)
{
    if (!atomic_exchange(&attribution->is_signalled, true)) {
        sem_post(&attribution->wake);
    }
}

// --------------------------------------------------------------------------------------------------------------- use

/// A free slot and its ticket, or NULL when the queue is full.
static struct attribution_slot *claim(struct attribution *attribution, size_t *ticket)
{
    size_t next = atomic_load_explicit(&attribution->head, memory_order_relaxed);

    for (;;) {
        struct attribution_slot *slot = &attribution->slots[next % attribution->slot_count];
        size_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == next) {
            if (atomic_compare_exchange_weak(&attribution->head, &next, next + 1)) {
                *ticket = next;
                return slot;
            }
        } else if ((ptrdiff_t)(sequence - next) < 0) {
            return NULL;
        } else {
            next = atomic_load_explicit(&attribution->head, memory_order_relaxed);
        }
    }
}

void attribution_submit(struct attribution *attribution, struct search_record *record)
{
    size_t ticket = 0;
    struct attribution_slot *slot = claim(attribution, &ticket);

    if (slot == NULL) {
        atomic_fetch_add(&attribution->dropped, 1);
        search_record_destroy(&record);
        return;
    }
    slot->record = record;
    atomic_fetch_add_explicit(&attribution->taken, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->sequence, ticket + 1, memory_order_release);
    wake_writer(attribution);
}

void attribution_reopen(struct attribution *attribution)
{
    atomic_store(&attribution->wants_reopen, true);
    wake_writer(attribution);
}

void attribution_settle(struct attribution *attribution)
{
    size_t wanted = atomic_load(&attribution->head);

    pthread_mutex_lock(&attribution->lock);
    while ((ptrdiff_t)(attribution->done - wanted) < 0) {
        wake_writer(attribution);
        pthread_cond_wait(&attribution->settled, &attribution->lock);
    }
    pthread_mutex_unlock(&attribution->lock);
}

/// The record `age` places back from the newest; under lock.
static const struct search_record *ring_at(const struct attribution_ring *ring, size_t age)
{
    return ring->records[(ring->next + ring->size - 1 - age) % ring->size];
}

/// With what is kept of its attempts that went on, the first one first; under lock.
static bool render_joined(const struct attribution *attribution, const struct search_record *record, struct buffer *out)
{
    const struct attribution_ring *ring = &attribution->afterwards;
    const struct search_record *found[ATTRIBUTION_JOIN];
    struct json_writer json;
    size_t count = 0;

    for (size_t age = ring->count; age-- > 0 && count < ATTRIBUTION_JOIN;) {
        if (text_equals(ring_at(ring, age)->search_id, record->search_id)) {
            found[count++] = ring_at(ring, age);
        }
    }
    json_writer_init(&json, out);
    search_record_write_joined(record, found, count, &json);
    return !out->is_full;
}

/// The one of this id; under lock.
static const struct search_record *ring_find(const struct attribution_ring *ring, struct text id)
{
    for (size_t age = 0; age < ring->count; age++) {
        if (text_equals(ring_at(ring, age)->search_id, id)) {
            return ring_at(ring, age);
        }
    }
    return NULL;
}

struct block *attribution_find(struct attribution *attribution, struct text id)
{
    struct buffer out;
    struct block *found = NULL;

    buffer_init(&out, SEARCH_RECORD_LINE_MAX);
    attribution_settle(attribution);
    pthread_mutex_lock(&attribution->lock);
    const struct search_record *record = ring_find(&attribution->searches, id);
    bool is_written = record != NULL && render_joined(attribution, record, &out);
    if (record == NULL) {
        record = ring_find(&attribution->revalidations, id);
        is_written = record != NULL && render(record, &out);
    }
    found = is_written ? block_from_buffer(&out) : NULL;
    pthread_mutex_unlock(&attribution->lock);
    buffer_fini(&out);
    return found;
}

static void write_summary(const struct search_record *record, struct json_writer *json)
{
    char at[CLOCK_UTC_SIZE];
    size_t length = clock_print_utc(record->arrival_wall_us, at);

    json_begin_object(json);
    json_field_text(json, "search_id", record->search_id);
    json_field_text(json, "at", (struct text){ at, length });
    json_field_text(json, "product", record->product);
    if (record->status == 0) {
        json_field_bool(json, "cancelled", true);
    } else {
        json_field_u64(json, "status", record->status);
    }
    json_field_u64(json, "took_ms", clock_us_to_ms(record->took_us));
    json_field_u64(json, "budget_ms", clock_us_to_ms(record->effective_us));
    json_field_bool(json, "complete", record->is_complete);
    json_field_u64(json, "percent", record->percent);
    json_field_u64(json, "offers_returned", record->offers_returned);
    json_end_object(json);
}

void attribution_write_latest(struct attribution *attribution, size_t most, struct json_writer *json)
{
    json_begin_array(json);
    attribution_settle(attribution);
    pthread_mutex_lock(&attribution->lock);
    for (size_t age = 0; age < attribution->searches.count && age < most; age++) {
        write_summary(ring_at(&attribution->searches, age), json);
    }
    pthread_mutex_unlock(&attribution->lock);
    json_end_array(json);
}

void attribution_counts(struct attribution *attribution, struct attribution_counts *counts)
{
    pthread_mutex_lock(&attribution->lock);
    size_t kept = attribution->searches.count;
    pthread_mutex_unlock(&attribution->lock);
    *counts = (struct attribution_counts){
        .taken = atomic_load(&attribution->taken),
        .written = atomic_load(&attribution->written),
        .dropped = atomic_load(&attribution->dropped),
        .failed = atomic_load(&attribution->failed),
        .kept = kept,
    };
}

// --------------------------------------------------------------------------------------------------- birth and death

static bool ring_init(struct attribution_ring *ring, size_t size)
{
    *ring = (struct attribution_ring){ .records = calloc(size, sizeof(struct search_record *)), .size = size };
    return ring->records != NULL;
}

static void ring_fini(struct attribution_ring *ring)
{
    for (size_t i = 0; ring->records != NULL && i < ring->size; i++) {
        search_record_destroy(&ring->records[i]);
    }
    free(ring->records);
}

static void attribution_free(struct attribution *attribution)
{
    ring_fini(&attribution->searches);
    ring_fini(&attribution->afterwards);
    ring_fini(&attribution->revalidations);
    if (attribution->fd >= 0) {
        close(attribution->fd);
    }
    pthread_mutex_destroy(&attribution->lock);
    pthread_cond_destroy(&attribution->settled);
    sem_destroy(&attribution->wake);
    buffer_fini(&attribution->line);
    free(attribution->slots);
    free(attribution->path);
    free(attribution);
}

static struct attribution *attribution_make(const struct attribution_options *options)
{
    struct attribution *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return NULL;
    }
    made->fd = -1;
    made->slot_count = options->queue > 0 ? options->queue : ATTRIBUTION_QUEUE;
    size_t keep_count = options->keep > 0 ? options->keep : ATTRIBUTION_KEEP;
    made->slots = calloc(made->slot_count, sizeof(*made->slots));
    bool has_rings = ring_init(&made->searches, keep_count) && ring_init(&made->afterwards, keep_count) &&
                     ring_init(&made->revalidations, keep_count);
    made->path = options->path != NULL ? strdup(options->path) : NULL;
    buffer_init(&made->line, SEARCH_RECORD_LINE_MAX);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->settled, NULL);
    (void)sem_init(&made->wake, 0, 0);
    if (made->slots == NULL || !has_rings || (options->path != NULL && made->path == NULL)) {
        attribution_free(made);
        return NULL;
    }
    for (size_t i = 0; i < made->slot_count; i++) {
        atomic_init(&made->slots[i].sequence, i);
    }
    return made;
}

static enum status file_refuse(const char *path, int error, struct failure *why)
{
    failure_set(why, "attribution.file %s cannot be opened: %s", path, strerror(error));
    failure_help(why, "its directory must exist and be writable for this user");
    return STATUS_IO;
}

enum status attribution_check(const char *path, struct failure *why)
{
    char folder[PATH_MAX] = ".";
    struct stat info;

    if (path == NULL) {
        return STATUS_OK;
    }
    if (stat(path, &info) == 0) {
        int error = S_ISDIR(info.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
        return error == 0 ? STATUS_OK : file_refuse(path, error, why);
    }
    if (errno != ENOENT) {
        return file_refuse(path, errno, why);
    }
    const char *name = strrchr(path, '/');
    if (name != NULL && name - path + 2 < PATH_MAX) {
        memcpy(folder, path, (size_t)(name - path) + 1);
        folder[name - path + 1] = '\0';
    }
    return access(folder, W_OK | X_OK) == 0 ? STATUS_OK : file_refuse(path, errno, why);
}

enum status attribution_create(const struct attribution_options *options, struct attribution **attribution,
                               struct failure *why)
{
    struct attribution *made = attribution_make(options);
    sigset_t all;
    sigset_t before;

    *attribution = NULL;
    failure_set(why, "no memory for the attribution");
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (made->path != NULL) {
        made->fd = file_open(made->path);
        if (made->fd < 0) {
            enum status status = file_refuse(made->path, errno, why);
            attribution_free(made);
            return status;
        }
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals belong to the threads that expect them
    int error = pthread_create(&made->thread, NULL, attribution_main, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        failure_set(why, "no thread for the attribution: %s", strerror(error));
        attribution_free(made);
        return STATUS_IO;
    }
    pthread_setname_np(made->thread, "attribution");
    *attribution = made;
    return STATUS_OK;
}

void attribution_destroy(struct attribution **attribution)
{
    struct attribution *ending = *attribution;

    if (ending == NULL) {
        return;
    }
    *attribution = NULL;
    atomic_store(&ending->is_stopping, true);
    sem_post(&ending->wake);
    pthread_join(ending->thread, NULL);
    attribution_free(ending);
}
