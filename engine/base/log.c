#include "base/log.h"

#include "base/clock.h"
#include "base/plain.h"
#include "base/redact.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The ring is a bounded queue of many producers and one consumer (D. Vyukov's sequence numbers): a slot belongs to the
// producer whose ticket equals its sequence, and to the consumer when the sequence is the ticket + 1. There is no lock,
// so a thread that the scheduler has demoted can hold up later log lines but never another thread.
//
// A line that races with log_stop may be lost; every line that was finished before it is written.

enum {
    LOG_SLOTS = 1024,
    LOG_TEXT = 1000,
    LOG_LINE = LOG_TEXT + 64, // with time, level, the mark of a cut and the line end
    LOG_BATCH = 16 * LOG_LINE,
    LOG_WRITE = 4096, // PIPE_BUF: a pipe that polls writable takes this much without blocking
    LOG_WRITE_WAIT_MS = 1000,
};

struct log_entry {
    uint64_t wall_us;
    enum log_level level;
    size_t length;
    bool is_cut;
    char text[LOG_TEXT];
};

struct log_slot {
    atomic_size_t sequence;
    struct log_entry entry;
};

static struct {
    struct log_slot slots[LOG_SLOTS];
    bool is_ready;      // the sequences are set
    atomic_size_t head; // next ticket of the producers
    size_t tail;        // next ticket of the consumer
    atomic_int least;
    atomic_bool is_running; // lines go through the ring
    atomic_bool is_stopping;
    atomic_bool is_signalled;
    atomic_bool is_stuck; // the last write timed out: do not wait again before one succeeds
    atomic_uint_fast64_t dropped;
    uint64_t dropped_told;
    sem_t wake;
    pthread_t thread;
} logger = { .least = LOG_INFO };

static const char *log_level_name(enum log_level level)
{
    static const char *const names[] = { "debug", "info", "warning", "error" };

    return (size_t)level < COUNT_OF(names) ? names[level] : "error";
}

// The finished line in `out`, which has room for LOG_LINE; its length.
static size_t log_render(struct log_entry *entry, char *out)
{
    size_t length = clock_print_utc(entry->wall_us, out);
    int printed = snprintf(out + length, LOG_LINE - length, " %s ", log_level_name(entry->level));
    length += printed > 0 ? (size_t)printed : 0;
    size_t text = redact_apply(entry->text, entry->length, entry->is_cut);
    plain_clean(entry->text, text); // one event is one line, and text
    memcpy(out + length, entry->text, text);
    length += text;
    if (entry->is_cut) {
        memset(out + length, '.', 3);
        length += 3;
    }
    out[length++] = '\n';
    return length;
}

// One write that neither blocks for long nor kills: false when standard error is gone or stuck.
static bool log_write_some(const char *bytes, size_t length, size_t *written)
{
    struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
    int wait_ms = atomic_load(&logger.is_stuck) ? 0 : LOG_WRITE_WAIT_MS;

    *written = 0;
    int polled = poll(&ready, 1, wait_ms);
    if (polled < 0) {
        return errno == EINTR;
    }
    if (polled == 0) {
        atomic_store(&logger.is_stuck, true);
        return false;
    }
    ssize_t count = write(STDERR_FILENO, bytes, length < LOG_WRITE ? length : LOG_WRITE);
    if (count < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    atomic_store(&logger.is_stuck, false);
    *written = (size_t)count;
    return true;
}

// A broken pipe must be an error here and not a signal, whichever thread this is.
static bool log_write(const char *bytes, size_t length)
{
    const struct timespec at_once = { 0 };
    sigset_t pipe_signal;
    sigset_t pending;
    sigset_t before;
    bool is_well = true;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    while (length != 0 && is_well) {
        size_t written = 0;
        is_well = log_write_some(bytes, length, &written);
        bytes += written;
        length -= written;
    }
    if (!is_well && !was_pending) {
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_well;
}

static void log_fill(struct log_entry *entry, enum log_level level, const char *module, const char *format,
                     va_list arguments) PRINTF_LIKE(4, 0);

static void log_fill(struct log_entry *entry, enum log_level level, const char *module, const char *format,
                     va_list arguments)
{
    entry->wall_us = clock_wall_us();
    entry->level = level;
    int printed = snprintf(entry->text, sizeof(entry->text), "%s: ", module);
    size_t length = printed > 0 ? (size_t)printed : 0;
    if (length < sizeof(entry->text)) {
        printed = vsnprintf(entry->text + length, sizeof(entry->text) - length, format, arguments);
        length += printed > 0 ? (size_t)printed : 0;
    }
    entry->is_cut = length >= sizeof(entry->text);
    entry->length = entry->is_cut ? sizeof(entry->text) - 1 : length;
}

static void log_write_now(struct log_entry *entry)
{
    char line[LOG_LINE];
    size_t length = log_render(entry, line);

    if (!log_write(line, length)) {
        atomic_fetch_add(&logger.dropped, 1);
    }
}

// A free slot and its ticket, or NULL when the ring is full.
static struct log_slot *log_claim(size_t *ticket)
{
    size_t next = atomic_load_explicit(&logger.head, memory_order_relaxed);

    for (;;) {
        struct log_slot *slot = &logger.slots[next % LOG_SLOTS];
        size_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == next) {
            if (atomic_compare_exchange_weak(&logger.head, &next, next + 1)) {
                *ticket = next;
                return slot;
            }
        } else if ((ptrdiff_t)(sequence - next) < 0) {
            return NULL;
        } else {
            next = atomic_load_explicit(&logger.head, memory_order_relaxed);
        }
    }
}

static void log_wake(void)
{
    if (!atomic_exchange(&logger.is_signalled, true)) {
        sem_post(&logger.wake);
    }
}

void log_line(enum log_level level, const char *module, const char *format, ...)
{
    int error = errno;
    va_list arguments;

    if ((int)level < atomic_load_explicit(&logger.least, memory_order_relaxed)) {
        return;
    }
    va_start(arguments, format);
    if (atomic_load(&logger.is_running)) {
        size_t ticket = 0;
        struct log_slot *slot = log_claim(&ticket);
        if (slot != NULL) {
            log_fill(&slot->entry, level, module, format, arguments);
            atomic_store_explicit(&slot->sequence, ticket + 1, memory_order_release);
            log_wake();
        } else {
            atomic_fetch_add(&logger.dropped, 1);
        }
    } else {
        struct log_entry entry;
        log_fill(&entry, level, module, format, arguments);
        log_write_now(&entry);
    }
    va_end(arguments);
    errno = error;
}

// Renders the next line of the ring behind `out`; 0: none is ready.
static size_t log_take(char *out)
{
    struct log_slot *slot = &logger.slots[logger.tail % LOG_SLOTS];

    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != logger.tail + 1) {
        return 0;
    }
    size_t length = log_render(&slot->entry, out);
    atomic_store_explicit(&slot->sequence, logger.tail + LOG_SLOTS, memory_order_release);
    logger.tail++;
    return length;
}

static void log_tell_dropped(void)
{
    uint64_t dropped = atomic_load(&logger.dropped);
    struct log_entry entry = { .wall_us = clock_wall_us(), .level = LOG_WARNING };
    char line[LOG_LINE];

    if (dropped == logger.dropped_told) {
        return;
    }
    int printed = snprintf(entry.text, sizeof(entry.text), "log: lines were dropped dropped=%llu",
                           (unsigned long long)(dropped - logger.dropped_told));
    entry.length = printed > 0 ? (size_t)printed : 0;
    if (log_write(line, log_render(&entry, line))) {
        logger.dropped_told = dropped;
    }
}

static void log_drain(void)
{
    char batch[LOG_BATCH];

    for (;;) {
        size_t used = 0;
        uint64_t lines = 0;
        while (sizeof(batch) - used >= LOG_LINE) {
            size_t length = log_take(batch + used);
            if (length == 0) {
                break;
            }
            used += length;
            lines++;
        }
        if (lines == 0) {
            break;
        }
        if (!log_write(batch, used)) {
            atomic_fetch_add(&logger.dropped, lines);
        }
    }
    log_tell_dropped();
}

static void *log_main(void *unused)
{
    (void)unused;
    bool is_last = false;
    while (!is_last) {
        while (sem_wait(&logger.wake) != 0) {
        }
        is_last = atomic_load(&logger.is_stopping);
        atomic_store(&logger.is_signalled, false); // lines published from here on signal again
        log_drain();
    }
    return NULL;
}

static void log_prepare(void)
{
    for (size_t i = 0; i < LOG_SLOTS; i++) {
        atomic_init(&logger.slots[i].sequence, i);
    }
    logger.is_ready = true;
}

enum status log_start(enum log_level least)
{
    sigset_t all;
    sigset_t before;

    atomic_store(&logger.least, (int)least);
    if (atomic_load(&logger.is_running)) {
        return STATUS_INVALID;
    }
    if (!logger.is_ready) {
        log_prepare();
    }
    if (sem_init(&logger.wake, 0, 0) != 0) {
        return STATUS_IO;
    }
    atomic_store(&logger.is_stopping, false);
    atomic_store(&logger.is_signalled, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals belong to the threads that expect them
    int error = pthread_create(&logger.thread, NULL, log_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        sem_destroy(&logger.wake);
        return STATUS_IO;
    }
    pthread_setname_np(logger.thread, "log");
    atomic_store(&logger.is_running, true);
    return STATUS_OK;
}

// The semaphore lives on until the next start: a producer that raced with the stop may still post it.
void log_stop(void)
{
    if (!atomic_load(&logger.is_running)) {
        return;
    }
    atomic_store(&logger.is_running, false);
    atomic_store(&logger.is_stopping, true);
    sem_post(&logger.wake);
    pthread_join(logger.thread, NULL);
}

void log_redact(struct text secret)
{
    enum status status = redact_add(secret);

    if (status == STATUS_FULL || status == STATUS_NO_MEMORY) {
        log_line(LOG_ERROR, "log", "a secret cannot be redacted reason=%s", status_name(status));
    }
}

uint64_t log_dropped(void)
{
    return atomic_load(&logger.dropped);
}

// ---- values

static bool log_is_word(struct text words)
{
    for (size_t i = 0; i < words.length; i++) {
        unsigned char byte = (unsigned char)words.data[i];
        if (byte <= ' ' || byte == '"' || byte == '=' || byte == '\\') {
            return false;
        }
    }
    return words.length > 0;
}

const char *log_value(struct text words, char out[LOG_VALUE_MAX])
{
    bool is_word = log_is_word(words);
    size_t at = 0;

    if (!is_word) {
        out[at++] = '"';
    }
    for (size_t i = 0; i < words.length && at < LOG_VALUE_MAX - 4; i++) {
        if (words.data[i] == '"' || words.data[i] == '\\') {
            out[at++] = '\\';
        }
        out[at++] = words.data[i];
    }
    if (!is_word) {
        out[at++] = '"';
    }
    out[at] = '\0';
    return out;
}

void log_failure(enum log_level level, const char *module, const struct failure *why)
{
    char code[CODE_TEXT_SIZE], place[sizeof why->file + 32] = "";

    if (why == NULL || why->code == CODE_NONE) {
        return;
    }
    if (why->line > 0) {
        (void)snprintf(place, sizeof place, "%s:%u: ", why->file, why->line);
    } else if (why->file[0] != '\0') {
        (void)snprintf(place, sizeof place, "%s: ", why->file);
    }
    log_line(level, module, "%serror[%s]: %s", place, code_print(why->code, code), why->message);
    struct text rest = text_of(why->notes);
    for (struct text note = failure_next_note(&rest); note.data != NULL; note = failure_next_note(&rest)) {
        log_line(level, module, "%s%.*s", note.length > 0 && note.data[0] == ' ' ? "" : "   = ", TEXT_ARGS(note));
    }
    if (why->help[0] != '\0') {
        log_line(level, module, "help: %s", why->help);
    }
}
