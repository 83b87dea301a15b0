#include "app/hidden_notes.h"

#include "token/hidden_note.h"

#include <string.h>

enum { NOTE_FOLDER = 7, NOTE_NAME = NOTE_FOLDER + 2 * HIDDEN_NAME, NOTE_MAX = 1 << 20 };

// "hidden/" and the name in hexadecimal.
static struct text note_name(const char name[HIDDEN_NAME], char out[NOTE_NAME])
{
    static const char FOLDER[] = "hidden/", DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < NOTE_FOLDER; i++) {
        out[i] = FOLDER[i];
    }
    for (size_t i = 0; i < HIDDEN_NAME; i++) {
        out[NOTE_FOLDER + 2 * i] = DIGITS[(unsigned char)name[i] >> 4];
        out[NOTE_FOLDER + 2 * i + 1] = DIGITS[(unsigned char)name[i] & 15];
    }
    return (struct text){ out, NOTE_NAME };
}

bool hidden_notes_put(struct world *world, const struct token_ring *ring, const char name[HIDDEN_NAME],
                      struct text hidden, uint64_t life_ms)
{
    char spelt[NOTE_NAME];
    struct text noted = note_name(name, spelt);
    struct buffer note;

    buffer_init(&note, NOTE_MAX);
    enum status status = hidden_note_write(ring, noted, hidden, &note);
    struct block *value = status == STATUS_OK ? block_from_buffer(&note) : NULL;
    struct store_call *call = value != NULL ? store_call_create_note(STORE_NOTE_PUT, noted, value) : NULL;
    buffer_fini(&note);
    block_release(&value);
    if (call == NULL) {
        return false;
    }
    call->life_ms = life_ms;
    world->ops->store_submit(world, call);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------- read

static void finish(struct hidden_read *read, struct block *hidden, bool is_fault)
{
    if (timer_is_running(&read->timer)) {
        read->world->ops->timer_cancel(read->world, &read->timer);
    }
    read->on_done(read, hidden, is_fault);
    block_release(&hidden);
}

static void on_timer(struct timer *timer)
{
    struct hidden_read *read = CONTAINER_OF(timer, struct hidden_read, timer);

    read->world->ops->store_cancel(read->world, read->call);
    read->call = NULL;
    finish(read, NULL, true);
}

static void on_back(struct store_call *call)
{
    struct hidden_read *read = call->owner;
    char spelt[NOTE_NAME];
    struct text note = call->state == STORE_FOUND ? block_text(call->value) : (struct text){ NULL, 0 };
    struct block *hidden = NULL;
    struct buffer plain;

    read->call = NULL;
    buffer_init(&plain, NOTE_MAX);
    if (note.length > 0 && hidden_note_read(read->ring, note_name(read->name, spelt), note, &plain) == TOKEN_GENUINE) {
        hidden = block_from_buffer(&plain);
    }
    buffer_fini(&plain);
    bool is_fault = call->state == STORE_FAULT || (note.length > 0 && hidden == NULL);
    store_call_destroy(&call);
    finish(read, hidden, is_fault);
}

bool hidden_notes_read(struct hidden_read *read, struct world *world, const struct token_ring *ring,
                       const char name[HIDDEN_NAME], uint64_t end_us)
{
    char spelt[NOTE_NAME];
    uint64_t latest_us = world->ops->now_us(world) + HIDDEN_NOTES_WAIT_US;

    end_us = end_us < latest_us ? end_us : latest_us;
    read->world = world;
    read->ring = ring;
    memcpy(read->name, name, HIDDEN_NAME);
    read->timer.on_due = on_timer;
    read->call = store_call_create_note(STORE_NOTE_GET, note_name(name, spelt), NULL);
    if (read->call == NULL || world->ops->timer_start(world, &read->timer, end_us) != STATUS_OK) {
        store_call_destroy(&read->call);
        return false;
    }
    read->call->end_us = end_us;
    read->call->on_done = on_back;
    read->call->owner = read;
    world->ops->store_submit(world, read->call);
    return true;
}

void hidden_notes_cancel(struct hidden_read *read)
{
    if (read->call == NULL) {
        return;
    }
    read->world->ops->store_cancel(read->world, read->call);
    read->call = NULL;
    if (timer_is_running(&read->timer)) {
        read->world->ops->timer_cancel(read->world, &read->timer);
    }
}
