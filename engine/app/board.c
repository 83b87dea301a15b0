#include "app/board.h"

#include "app/store_home.h"
#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

//   IDLE --its time, or a word--> READING --it has all--------------------> IDLE
//                                    |---it lacks something--> WRITING ---> IDLE
//                                    +---no answer------------------------> IDLE, the words wait
enum {
    BOARD_NICE = 10,
    BOARD_WAIT_US = 2000000, // that a call of ours may take
    BOARD_DOCUMENT_MAX = 2 << 20,
    BOARD_PARKS_MAX = 256, // that wait for the thread
};
static const uint64_t LIFE_MS = UINT64_C(30) * 86400 * 1000;

enum note_state { NOTE_IDLE, NOTE_READING, NOTE_WRITING };

struct board_note {
    struct board *board;
    const char *name;
    enum status (*merge)(struct board *board, struct text document, bool *lacks, struct failure *why);
    void (*write)(struct board *board, struct buffer *out);
    enum note_state state;
    uint64_t next_us;
    bool has_words;     // told here since it was read last
    struct block *last; // as it was read last; NULL: there was none
};

struct told {
    struct list node;
    struct switch_word word;
};

struct board {
    struct store *store;
    struct store_home home;
    struct board_hooks hooks;
    pthread_t thread;
    bool is_running;

    pthread_mutex_t lock; // of all up to `hears`
    pthread_cond_t wake;
    bool is_stopping, is_over;
    uint64_t stop_us;
    struct list came; // store calls
    struct list told; // struct told
    struct park_word parks[BOARD_PARKS_MAX];
    size_t park_count;
    uint64_t parks_lost, stamp_us;
    bool hears;
    uint64_t heard_us, changed_us; // monotonic; when it was read last, since when it hears or does not

    struct switch_ledger *switches; // from here on the thread's
    struct park_ledger *park_ledger;
    struct board_note notes[2];
};

// ------------------------------------------------------------------------------------------------------------- telling

/// The lock is held.
static void stamp_after(struct board *board, uint64_t said_us)
{
    board->stamp_us = said_us > board->stamp_us ? said_us : board->stamp_us;
}

uint64_t board_stamp_us(struct board *board)
{
    uint64_t wall_us = clock_wall_us();

    if (board == NULL) {
        return wall_us;
    }
    pthread_mutex_lock(&board->lock);
    uint64_t stamp_us = wall_us > board->stamp_us ? wall_us : board->stamp_us + 1;
    board->stamp_us = stamp_us;
    pthread_mutex_unlock(&board->lock);
    return stamp_us;
}

void board_remember(struct board *board, const struct switch_word *word)
{
    (void)switch_ledger_put(board->switches, word, clock_wall_us());
    stamp_after(board, word->said_us);
}

void board_tell_switch(struct board *board, const struct switch_word *word)
{
    struct told *told = board != NULL ? malloc(sizeof(*told)) : NULL;

    if (told == NULL) {
        return;
    }
    told->word = *word;
    list_init(&told->node);
    pthread_mutex_lock(&board->lock);
    list_append(&board->told, &told->node);
    pthread_cond_signal(&board->wake);
    pthread_mutex_unlock(&board->lock);
}

void board_tell_park(struct board *board, const struct park_word *word)
{
    pthread_mutex_lock(&board->lock);
    if (board->park_count < BOARD_PARKS_MAX) {
        board->parks[board->park_count++] = *word;
        pthread_cond_signal(&board->wake);
    } else {
        board->parks_lost++;
    }
    pthread_mutex_unlock(&board->lock);
}

/// On a thread of the store's.
static void board_deliver(struct store_home *home, struct store_call *call)
{
    struct board *board = CONTAINER_OF(home, struct board, home);

    pthread_mutex_lock(&board->lock);
    bool is_over = board->is_over;
    if (!is_over) {
        list_init(&call->message.node);
        list_append(&board->came, &call->message.node);
        pthread_cond_signal(&board->wake);
    }
    pthread_mutex_unlock(&board->lock);
    if (is_over) {
        store_call_destroy(&call);
    }
}

// ----------------------------------------------------------------------------------------------------- its two
// documents

static void on_switch_news(void *context, const struct switch_word *word)
{
    struct board *board = context;

    pthread_mutex_lock(&board->lock);
    stamp_after(board, word->said_us);
    pthread_mutex_unlock(&board->lock);
    board->hooks.on_switch(board->hooks.context, word);
}

static void on_park_news(void *context, const struct park_word *word)
{
    const struct board *board = context;
    board->hooks.on_park(board->hooks.context, word);
}

static enum status merge_switches(struct board *board, struct text document, bool *lacks, struct failure *why)
{
    return switch_ledger_merge(board->switches, document, clock_wall_us(), on_switch_news, board, lacks, why);
}

static enum status merge_parks(struct board *board, struct text document, bool *lacks, struct failure *why)
{
    return park_ledger_merge(board->park_ledger, document, clock_wall_us(), on_park_news, board, lacks, why);
}

static void write_switches(struct board *board, struct buffer *out)
{
    switch_ledger_write(board->switches, clock_wall_us(), out);
}

static void write_parks(struct board *board, struct buffer *out)
{
    park_ledger_write(board->park_ledger, clock_wall_us(), out);
}

// -------------------------------------------------------------------------------------------------------- reading,
// writing

static void set_hears(struct board *board, bool hears)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&board->lock);
    bool is_news = hears != board->hears;
    board->hears = hears;
    board->changed_us = is_news ? now_us : board->changed_us;
    board->heard_us = hears ? now_us : board->heard_us;
    pthread_mutex_unlock(&board->lock);
    if (is_news && hears) {
        log_line(LOG_INFO, "board", "what other engines are told is heard");
    } else if (is_news) {
        log_line(LOG_WARNING, "board",
                 "the store does not answer: what other engines are told is not heard until it "
                 "does");
    }
}

static void on_call(struct store_call *call);

/// Without memory it is tried again at its next time.
static void submit(struct board *board, struct board_note *note, enum store_job job, struct block *value)
{
    struct store_call *call = store_call_create_note(job, text_of(note->name), value);
    uint64_t now_us = clock_now_us();

    note->state = NOTE_IDLE;
    note->next_us = now_us + BOARD_TICK_US;
    if (call == NULL) {
        return;
    }
    note->state = job == STORE_NOTE_GET ? NOTE_READING : NOTE_WRITING;
    call->home = &board->home;
    call->owner = note;
    call->on_done = on_call;
    call->end_us = now_us + BOARD_WAIT_US;
    call->now_ms = clock_wall_us() / 1000;
    call->life_ms = LIFE_MS;
    store_submit(board->store, call);
}

static void write_note(struct board *board, struct board_note *note)
{
    struct buffer out;

    buffer_init(&out, BOARD_DOCUMENT_MAX);
    note->write(board, &out);
    struct block *document = block_from_buffer(&out); // NULL: it is too large, or there is no memory
    buffer_fini(&out);
    if (document != NULL) {
        submit(board, note, STORE_NOTE_PUT, document);
    } else {
        note->state = NOTE_IDLE;
    }
    block_release(&document);
}

static bool is_as_before(const struct board_note *note, const struct block *document)
{
    return document != NULL && note->last != NULL && text_equals(block_text(document), block_text(note->last));
}

static void on_read(struct board *board, struct board_note *note, const struct store_call *call)
{
    struct failure why = { 0 };
    bool lacks = false;

    if (!note->has_words && is_as_before(note, call->value)) {
        return;
    }
    if (note->merge(board, block_text(call->value), &lacks, &why) != STATUS_OK) {
        log_line(LOG_WARNING, "board", "the note %s cannot be read and is written anew: line %u column %u: %s",
                 note->name, why.line, why.column, why.message);
        lacks = true;
    }
    note->has_words = lacks;
    block_release(&note->last);
    note->last = block_acquire(call->value);
    if (lacks) {
        write_note(board, note);
    }
}

static void on_call(struct store_call *call)
{
    struct board_note *note = call->owner;
    struct board *board = note->board;

    note->state = NOTE_IDLE;
    set_hears(board, call->state != STORE_FAULT);
    if (call->job == STORE_NOTE_GET && call->state != STORE_FAULT) {
        on_read(board, note, call);
    }
    store_call_destroy(&call);
}

// ---------------------------------------------------------------------------------------------------------- the thread

static void take_words(struct board *board, struct list *told, const struct park_word *parks, size_t park_count)
{
    struct list *node;

    while ((node = list_take_first(told)) != NULL) {
        struct told *one = CONTAINER_OF(node, struct told, node);
        board->notes[0].has_words |= switch_ledger_put(board->switches, &one->word, clock_wall_us());
        board->notes[0].next_us = 0;
        free(one);
    }
    for (size_t i = 0; i < park_count; i++) {
        board->notes[1].has_words |= park_ledger_put(board->park_ledger, &parks[i]);
        board->notes[1].next_us = 0;
    }
}

/// When there is something to do by itself.
static uint64_t next_us(const struct board *board)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < COUNT_OF(board->notes); i++) {
        const struct board_note *note = &board->notes[i];
        next = note->state == NOTE_IDLE && note->next_us < next ? note->next_us : next;
    }
    return next;
}

/// Nothing that was told waits to be written, and nothing is under way.
static bool is_quiet(const struct board *board)
{
    bool is_busy = false;

    for (size_t i = 0; i < COUNT_OF(board->notes); i++) {
        is_busy = is_busy || board->notes[i].state != NOTE_IDLE || board->notes[i].has_words;
    }
    return !is_busy;
}

/// Until something comes or is due; under the lock.
static void doze(struct board *board)
{
    uint64_t now_us = clock_now_us(), due_us = next_us(board);
    uint64_t nap_us = due_us <= now_us ? 0 : due_us - now_us;
    struct timespec until;

    nap_us = nap_us < BOARD_TICK_US ? nap_us : BOARD_TICK_US;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)nap_us * 1000;
    until.tv_sec += (time_t)(until.tv_nsec / 1000000000);
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&board->wake, &board->lock, &until);
}

static void move_all(struct list *from, struct list *to)
{
    struct list *node;

    while ((node = list_take_first(from)) != NULL) {
        list_append(to, node);
    }
}

/// One round: what came, what was told, what is due. True: it was the last.
static bool turn(struct board *board)
{
    static const size_t PARK_BYTES = sizeof(board->parks[0]);
    struct park_word *parks = NULL;
    struct list came, told, *node;

    list_init(&came);
    list_init(&told);
    pthread_mutex_lock(&board->lock);
    if (list_is_empty(&board->came) && list_is_empty(&board->told) && board->park_count == 0) {
        doze(board);
    }
    move_all(&board->came, &came);
    move_all(&board->told, &told);
    size_t park_count = board->park_count;
    parks = park_count > 0 ? malloc(park_count * PARK_BYTES) : NULL;
    if (parks != NULL) {
        memcpy(parks, board->parks, park_count * PARK_BYTES);
        board->park_count = 0;
    }
    bool is_stopping = board->is_stopping;
    uint64_t stop_us = board->stop_us;
    pthread_mutex_unlock(&board->lock);

    take_words(board, &told, parks, parks != NULL ? park_count : 0);
    free(parks);
    while ((node = list_take_first(&came)) != NULL) {
        struct store_call *call = CONTAINER_OF(node, struct store_call, message.node);
        call->on_done(call);
    }
    uint64_t now_us = clock_now_us();
    if (is_stopping && (is_quiet(board) || now_us >= stop_us)) {
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(board->notes); i++) {
        struct board_note *note = &board->notes[i];
        if (note->state == NOTE_IDLE && now_us >= note->next_us && (!is_stopping || note->has_words)) {
            submit(board, note, STORE_NOTE_GET, NULL);
        }
    }
    return false;
}

static void *board_main(void *argument)
{
    struct board *board = argument;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), BOARD_NICE);
    while (!turn(board)) {
    }
    return NULL;
}

// ----------------------------------------------------------------------------------------------------- birth and death

static void init_locks(struct board *board)
{
    pthread_condattr_t monotonic;

    require(pthread_mutex_init(&board->lock, NULL) == 0);
    require(pthread_condattr_init(&monotonic) == 0);
    require(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    require(pthread_cond_init(&board->wake, &monotonic) == 0);
    pthread_condattr_destroy(&monotonic);
}

enum status board_create(struct store *store, const struct board_hooks *hooks, struct board **board,
                         struct failure *why)
{
    struct board *made = calloc(1, sizeof(*made));

    *board = made;
    if (made != NULL) {
        init_locks(made);
        list_init(&made->came);
        list_init(&made->told);
        made->store = store;
        made->home.deliver = board_deliver;
        made->hooks = *hooks;
        made->hears = true; // until it turns out otherwise
        made->changed_us = clock_now_us();
        made->notes[0] = (struct board_note){
            .board = made, .name = "switches-1", .merge = merge_switches, .write = write_switches
        };
        made->notes[1] =
            (struct board_note){ .board = made, .name = "parks-1", .merge = merge_parks, .write = write_parks };
    }
    if (made == NULL || switch_ledger_create(&made->switches) != STATUS_OK ||
        park_ledger_create(&made->park_ledger) != STATUS_OK) {
        board_destroy(board);
        failure_set(why, "out of memory");
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

enum status board_start(struct board *board, struct failure *why)
{
    if (pthread_create(&board->thread, NULL, board_main, board) != 0) {
        failure_set(why, "no thread for what engines tell each other");
        return STATUS_IO;
    }
    pthread_setname_np(board->thread, "board");
    board->is_running = true;
    return STATUS_OK;
}

void board_stop(struct board *board, uint64_t grace_us)
{
    if (board == NULL || !board->is_running) {
        return;
    }
    pthread_mutex_lock(&board->lock);
    board->is_stopping = true;
    board->stop_us = clock_now_us() + grace_us;
    pthread_cond_signal(&board->wake);
    pthread_mutex_unlock(&board->lock);
    pthread_join(board->thread, NULL);
    board->is_running = false;
    pthread_mutex_lock(&board->lock);
    board->is_over = true;
    pthread_mutex_unlock(&board->lock);
}

static void drop_what_came(struct board *board)
{
    struct list *node;

    while ((node = list_take_first(&board->came)) != NULL) {
        struct store_call *call = CONTAINER_OF(node, struct store_call, message.node);
        store_call_destroy(&call);
    }
    while ((node = list_take_first(&board->told)) != NULL) {
        free(CONTAINER_OF(node, struct told, node));
    }
}

void board_destroy(struct board **board)
{
    struct board *gone = *board;

    *board = NULL;
    if (gone == NULL) {
        return;
    }
    drop_what_came(gone);
    switch_ledger_destroy(&gone->switches);
    park_ledger_destroy(&gone->park_ledger);
    for (size_t i = 0; i < COUNT_OF(gone->notes); i++) {
        block_release(&gone->notes[i].last);
    }
    pthread_cond_destroy(&gone->wake);
    pthread_mutex_destroy(&gone->lock);
    free(gone);
}

void board_write(struct board *board, struct json_writer *json)
{
    uint64_t now_us = clock_now_us();

    pthread_mutex_lock(&board->lock);
    bool hears = board->hears;
    uint64_t heard_us = board->heard_us, changed_us = board->changed_us;
    pthread_mutex_unlock(&board->lock);
    json_begin_object(json);
    json_field_bool(json, "hears", hears && heard_us != 0);
    if (heard_us != 0) {
        json_field_u64(json, "heard_ago_ms", (now_us - heard_us) / 1000);
    }
    json_field_u64(json, "since_ms", (now_us - changed_us) / 1000);
    json_end_object(json);
}
