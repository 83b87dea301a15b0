#include "support/note_store.h"

#include "app/store_home.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static struct kept_note *find(struct note_store *notes, const char *name, uint64_t now_ms)
{
    for (size_t i = 0; i < NOTE_STORE_MAX; i++) {
        struct kept_note *note = &notes->notes[i];
        if (note->value != NULL && note->until_ms != 0 && now_ms >= note->until_ms) {
            block_release(&note->value);
        }
        if (note->value != NULL && strcmp(note->name, name) == 0) {
            return note;
        }
    }
    return NULL;
}

static bool put(struct note_store *notes, const char *name, struct block *value, uint64_t until_ms, uint64_t now_ms)
{
    struct kept_note *note = find(notes, name, now_ms);

    for (size_t i = 0; i < NOTE_STORE_MAX && note == NULL; i++) {
        note = notes->notes[i].value == NULL ? &notes->notes[i] : NULL;
    }
    if (note == NULL) {
        return false;
    }
    (void)snprintf(note->name, sizeof(note->name), "%s", name);
    block_release(&note->value);
    note->value = block_acquire(value);
    note->until_ms = until_ms;
    return true;
}

/// Under the lock.
static void work(struct note_store *notes, struct store_call *call)
{
    char name[NOTE_STORE_NAME];

    (void)snprintf(name, sizeof(name), "%.*s", TEXT_ARGS(call->name));
    struct kept_note *note = find(notes, name, call->now_ms);
    switch (call->job) {
    case STORE_NOTE_GET:
        notes->gets++;
        call->value = note != NULL ? block_acquire(note->value) : NULL;
        call->state = note != NULL ? STORE_FOUND : STORE_ABSENT;
        break;
    case STORE_NOTE_PUT:
        notes->puts++;
        call->state = STORE_ABSENT;
        if (note == NULL || !call->wants_absent) {
            bool is_put = put(notes, name, call->value, call->now_ms + call->life_ms, call->now_ms);
            call->state = is_put ? STORE_FOUND : STORE_FAULT;
        }
        break;
    case STORE_NOTE_DELETE:
        call->state = note != NULL ? STORE_FOUND : STORE_ABSENT;
        if (note != NULL) {
            block_release(&note->value);
        }
        break;
    default:
        break;
    }
}

static void submit(struct store *store, struct store_call *call)
{
    struct note_store *notes = (struct note_store *)store;

    pthread_mutex_lock(&notes->lock);
    call->state = STORE_FAULT;
    if (!notes->is_down) {
        work(notes, call);
    }
    bool is_held = notes->is_silent && call->on_done != NULL;
    if (is_held) {
        list_init(&call->message.node);
        list_append(&notes->held, &call->message.node);
    }
    pthread_mutex_unlock(&notes->lock);
    if (is_held) {
        return;
    }
    if (call->on_done != NULL) {
        store->deliver(call->home, call);
    } else {
        store_call_destroy(&call);
    }
}

static void report(struct store *store, struct store_report *told)
{
    (void)store;
    *told = (struct store_report){ .is_up = true };
}

static void close_nothing(struct store **store, uint64_t grace_us)
{
    (void)grace_us;
    *store = NULL;
}

void note_store_init(struct note_store *notes)
{
    static const struct store_ops OPS = { submit, report, close_nothing };

    *notes = (struct note_store){ .store = { .ops = &OPS, .deliver = store_home_deliver } };
    list_init(&notes->held);
    pthread_mutex_init(&notes->lock, NULL);
}

void note_store_fini(struct note_store *notes)
{
    struct list *node;

    while ((node = list_take_first(&notes->held)) != NULL) {
        struct store_call *call = CONTAINER_OF(node, struct store_call, message.node);
        store_call_destroy(&call);
    }
    note_store_forget(notes);
    pthread_mutex_destroy(&notes->lock);
}

void note_store_set_down(struct note_store *notes, bool is_down)
{
    pthread_mutex_lock(&notes->lock);
    notes->is_down = is_down;
    pthread_mutex_unlock(&notes->lock);
}

void note_store_forget(struct note_store *notes)
{
    pthread_mutex_lock(&notes->lock);
    for (size_t i = 0; i < NOTE_STORE_MAX; i++) {
        block_release(&notes->notes[i].value);
    }
    pthread_mutex_unlock(&notes->lock);
}

struct block *note_store_find(struct note_store *notes, const char *prefix)
{
    struct block *found = NULL;

    pthread_mutex_lock(&notes->lock);
    for (size_t i = 0; i < NOTE_STORE_MAX && found == NULL; i++) {
        const struct kept_note *note = &notes->notes[i];
        if (note->value != NULL && strncmp(note->name, prefix, strlen(prefix)) == 0) {
            found = block_acquire(note->value);
        }
    }
    pthread_mutex_unlock(&notes->lock);
    return found;
}

void note_store_put(struct note_store *notes, const char *name, struct text value)
{
    struct block *block = block_create(value);

    pthread_mutex_lock(&notes->lock);
    (void)put(notes, name, block, 0, clock_wall_us() / 1000);
    pthread_mutex_unlock(&notes->lock);
    block_release(&block);
}
