#include "token/hidden_note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROOM = 128 << 10 };

static struct token_ring ring_of(void)
{
    struct token_ring ring;

    token_ring_init(&ring);
    assert_int_equal(token_ring_make(&ring, TOKEN_OFFER), STATUS_OK);
    return ring;
}

static struct buffer sealed(const struct token_ring *ring, const char *name, const char *plain)
{
    struct buffer out;

    buffer_init(&out, ROOM);
    assert_int_equal(hidden_note_write(ring, text_of(name), text_of(plain), &out), STATUS_OK);
    return out;
}

static enum token_fault fault_of(const struct token_ring *ring, const char *name, struct text note)
{
    struct buffer plain;

    buffer_init(&plain, ROOM);
    enum token_fault fault = hidden_note_read(ring, text_of(name), note, &plain);
    buffer_fini(&plain);
    return fault;
}

static void what_is_sealed_is_read_again_and_cannot_be_seen(void **state)
{
    (void)state;
    struct token_ring ring = ring_of();
    struct buffer note = sealed(&ring, "login:acme:main", "a secret of sixteen");
    struct buffer plain;

    buffer_init(&plain, ROOM);
    assert_null(memmem(note.data, note.length, "secret", 6));
    assert_int_equal(hidden_note_read(&ring, TEXT("login:acme:main"), buffer_text(&note), &plain), TOKEN_GENUINE);
    assert_true(text_equals(buffer_text(&plain), TEXT("a secret of sixteen")));
    buffer_fini(&plain);
    buffer_fini(&note);
    token_ring_fini(&ring);
}

static void a_note_under_another_name_or_by_another_key_is_refused(void **state)
{
    (void)state;
    struct token_ring ring = ring_of(), other = ring_of();
    struct buffer note = sealed(&ring, "login:acme:main", "value");

    assert_int_equal(fault_of(&ring, "login:acme:uk", buffer_text(&note)), TOKEN_TAMPERED);
    assert_int_equal(fault_of(&other, "login:acme:main", buffer_text(&note)), TOKEN_UNKNOWN_KEY);
    buffer_fini(&note);
    token_ring_fini(&ring);
    token_ring_fini(&other);
}

static void each_bit_and_each_cut_is_noticed(void **state)
{
    (void)state;
    struct token_ring ring = ring_of();
    struct buffer note = sealed(&ring, "n", "value");

    for (size_t i = 0; i < note.length * 8; i++) {
        note.data[i / 8] = (char)(note.data[i / 8] ^ (1 << (i % 8)));
        assert_int_not_equal(fault_of(&ring, "n", buffer_text(&note)), TOKEN_GENUINE);
        note.data[i / 8] = (char)(note.data[i / 8] ^ (1 << (i % 8)));
    }
    for (size_t i = 0; i < note.length; i++) {
        assert_int_not_equal(fault_of(&ring, "n", (struct text){ note.data, i }), TOKEN_GENUINE);
    }
    assert_int_equal(fault_of(&ring, "n", buffer_text(&note)), TOKEN_GENUINE);
    buffer_fini(&note);
    token_ring_fini(&ring);
}

static void without_a_key_nothing_is_sealed(void **state)
{
    (void)state;
    struct token_ring none;
    struct buffer out;

    token_ring_init(&none);
    buffer_init(&out, ROOM);
    assert_int_equal(hidden_note_write(&none, TEXT("n"), TEXT("value"), &out), STATUS_NOT_FOUND);
    buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_is_read_again_and_cannot_be_seen),
        cmocka_unit_test(a_note_under_another_name_or_by_another_key_is_refused),
        cmocka_unit_test(each_bit_and_each_cut_is_noticed),
        cmocka_unit_test(without_a_key_nothing_is_sealed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
