// What is too large for a token, over a store in memory: what comes back, what does not, and that nobody waits for
// ever.

#include "app/hidden_notes.h"
#include "support/virtual_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000)

enum { NOTES_MOST = 4 };

struct note {
    char name[64];
    struct block *value;
};

/// One shelf for all desks: a store that engines share.
struct store_in_memory {
    struct note notes[NOTES_MOST];
    size_t count;
    uint64_t life_ms;
    struct store_call *waiting; // a GET that is not answered yet
    bool is_down;
};

struct desk {
    struct virtual_world virtual;
    struct world_ops ops;
    struct store_in_memory store;
    struct token_ring ring;
    struct hidden_read read;
    size_t ends;
    bool is_fault;
    char got[64];
};

static struct store_in_memory *store_of; // of the one test that runs

static const struct note *find(struct text name)
{
    for (size_t i = 0; i < store_of->count; i++) {
        if (text_equals_c(name, store_of->notes[i].name)) {
            return &store_of->notes[i];
        }
    }
    return NULL;
}

static void answer(struct store_call *call)
{
    const struct note *note = find(call->name);

    call->state = store_of->is_down ? STORE_FAULT : note != NULL ? STORE_FOUND : STORE_ABSENT;
    call->value = note != NULL && !store_of->is_down ? block_acquire(note->value) : NULL;
    if (atomic_load(&call->is_cancelled)) {
        store_call_destroy(&call);
    } else {
        call->on_done(call);
    }
}

static void submit(struct world *world, struct store_call *call)
{
    (void)world;
    if (call->job == STORE_NOTE_GET) {
        assert_null(store_of->waiting);
        store_of->waiting = call;
        return;
    }
    assert_int_equal(call->job, STORE_NOTE_PUT);
    struct note *note = &store_of->notes[store_of->count++];
    snprintf(note->name, sizeof note->name, "%.*s", TEXT_ARGS(call->name));
    note->value = block_acquire(call->value);
    store_of->life_ms = call->life_ms;
    store_call_destroy(&call);
}

static void cancel(struct world *world, struct store_call *call)
{
    (void)world;
    atomic_store(&call->is_cancelled, true);
}

static void on_done(struct hidden_read *read, struct block *hidden, bool is_fault)
{
    struct desk *desk = CONTAINER_OF(read, struct desk, read);

    desk->ends++;
    desk->is_fault = is_fault;
    snprintf(desk->got, sizeof desk->got, "%.*s", TEXT_ARGS(block_text(hidden)));
}

static const char NAME[HIDDEN_NAME + 1] = "0123456789abcdef", OTHER[HIDDEN_NAME + 1] = "0123456789abcdeF";

static void desk_open(struct desk *desk)
{
    static const struct virtual_supplier NOBODY = { .name = "a" };

    memset(desk, 0, sizeof *desk);
    virtual_world_init(&desk->virtual, &NOBODY, 1);
    desk->ops = *desk->virtual.world.ops;
    desk->ops.store_submit = submit;
    desk->ops.store_cancel = cancel;
    desk->virtual.world.ops = &desk->ops;
    desk->read.on_done = on_done;
    store_of = &desk->store;
    token_ring_init(&desk->ring);
    assert_int_equal(token_ring_make(&desk->ring, TOKEN_OFFER), STATUS_OK);
}

static void desk_close(struct desk *desk)
{
    assert_int_equal(desk->virtual.timers.count, 0);
    for (size_t i = 0; i < desk->store.count; i++) {
        block_release(&desk->store.notes[i].value);
    }
    token_ring_fini(&desk->ring);
    virtual_world_fini(&desk->virtual);
}

static void put(struct desk *desk, const char *name, const char *hidden)
{
    assert_true(hidden_notes_put(&desk->virtual.world, &desk->ring, name, text_of(hidden), 30000));
}

static void start(struct desk *desk, const char *name)
{
    assert_true(
        hidden_notes_read(&desk->read, &desk->virtual.world, &desk->ring, name, desk->virtual.now_us + 8000 * MS));
    assert_int_equal(desk->ends, 0);
}

static void come_back(struct desk *desk)
{
    struct store_call *call = desk->store.waiting;

    desk->store.waiting = NULL;
    assert_non_null(call);
    answer(call);
}

static void what_was_put_comes_back_and_lies_there_sealed(void **state)
{
    struct desk desk;
    (void)state;

    desk_open(&desk);
    put(&desk, NAME, "\"ref\":\"secret of the supplier\"");
    assert_int_equal(desk.store.life_ms, 30000);
    struct text kept = block_text(desk.store.notes[0].value);
    assert_null(memmem(kept.data, kept.length, "secret", 6));
    start(&desk, NAME);
    come_back(&desk);
    assert_int_equal(desk.ends, 1);
    assert_string_equal(desk.got, "\"ref\":\"secret of the supplier\"");
    desk_close(&desk);
}

static void what_is_not_there_is_absent_and_what_nobody_can_tell_is_a_fault(void **state)
{
    struct desk desk;
    (void)state;

    desk_open(&desk);
    put(&desk, NAME, "x");
    start(&desk, OTHER);
    come_back(&desk);
    assert_string_equal(desk.got, "");
    assert_false(desk.is_fault);
    desk_close(&desk);

    desk_open(&desk);
    put(&desk, NAME, "x");
    desk.store.is_down = true;
    start(&desk, NAME);
    come_back(&desk);
    assert_string_equal(desk.got, "");
    assert_true(desk.is_fault);
    desk_close(&desk);
}

static void a_note_that_was_changed_or_is_of_another_name_or_key_is_none(void **state)
{
    struct desk desk;
    (void)state;

    for (int how = 0; how < 4; how++) {
        desk_open(&desk);
        put(&desk, NAME, "hidden");
        put(&desk, OTHER, "of another");
        struct note *note = &desk.store.notes[0];
        char bytes[256];
        struct text kept = block_text(note->value);
        size_t length = kept.length;
        memcpy(bytes, kept.data, length);
        if (how == 0) {
            bytes[length - 1] ^= 1;
        } else if (how == 1) {
            length -= 1;
        } else if (how == 2) {
            length = block_text(desk.store.notes[1].value).length;
            memcpy(bytes, block_text(desk.store.notes[1].value).data, length);
        } else {
            token_ring_fini(&desk.ring);
            assert_int_equal(token_ring_make(&desk.ring, TOKEN_OFFER), STATUS_OK);
        }
        block_release(&note->value);
        note->value = block_create((struct text){ bytes, length });
        start(&desk, NAME);
        come_back(&desk);
        assert_int_equal(desk.ends, 1);
        assert_string_equal(desk.got, "");
        assert_true(desk.is_fault);
        desk_close(&desk);
    }
}

static void nobody_waits_for_a_store_that_is_silent(void **state)
{
    struct desk desk;
    (void)state;

    desk_open(&desk);
    put(&desk, NAME, "x");
    start(&desk, NAME);
    virtual_world_run(&desk.virtual, desk.virtual.now_us + HIDDEN_NOTES_WAIT_US - 1);
    assert_int_equal(desk.ends, 0);
    virtual_world_run(&desk.virtual, desk.virtual.now_us + 2);
    assert_int_equal(desk.ends, 1);
    assert_true(desk.is_fault);
    come_back(&desk); // late: nobody is told
    assert_int_equal(desk.ends, 1);
    desk_close(&desk);
}

static void who_leaves_is_told_nothing(void **state)
{
    struct desk desk;
    (void)state;

    desk_open(&desk);
    put(&desk, NAME, "x");
    start(&desk, NAME);
    hidden_notes_cancel(&desk.read);
    hidden_notes_cancel(&desk.read); // harmless
    come_back(&desk);
    assert_int_equal(desk.ends, 0);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_comes_back_and_lies_there_sealed),
        cmocka_unit_test(what_is_not_there_is_absent_and_what_nobody_can_tell_is_a_fault),
        cmocka_unit_test(a_note_that_was_changed_or_is_of_another_name_or_key_is_none),
        cmocka_unit_test(nobody_waits_for_a_store_that_is_silent),
        cmocka_unit_test(who_leaves_is_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
