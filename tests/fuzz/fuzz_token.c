// Any bytes as a token: refused, and what is genuine by chance would be a break. Also any bytes as claims that were
// sealed rightly: read or refused, never beyond their end.
#include "token/booking_token.h"
#include "token/hidden_note.h"
#include "token/offer_token.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_as_key(struct text bytes)
{
    struct token_ring ring;

    token_ring_init(&ring);
    for (int kind = 0; kind < TOKEN_KINDS; kind++) {
        struct failure why = { 0 };
        enum status status = token_ring_add(&ring, (enum token_kind)kind, bytes, &why);
        require(status == STATUS_OK || why.message[0] != '\0');
    }
    token_ring_fini(&ring);
}

// As a note: no note. As what is hidden: it comes back, under its name alone.
static void try_as_note(const struct token_ring *ring, struct text bytes)
{
    struct buffer out, note;

    buffer_init(&out, 1 << 20);
    buffer_init(&note, 1 << 20);
    require(hidden_note_read(ring, TEXT("a"), bytes, &out) != TOKEN_GENUINE && out.length == 0);
    if (bytes.length > 0 && hidden_note_write(ring, TEXT("a"), bytes, &note) == STATUS_OK) {
        require(hidden_note_read(ring, TEXT("b"), buffer_text(&note), &out) == TOKEN_TAMPERED && out.length == 0);
        require(hidden_note_read(ring, TEXT("a"), buffer_text(&note), &out) == TOKEN_GENUINE);
        require(text_equals(buffer_text(&out), bytes));
    }
    buffer_fini(&out);
    buffer_fini(&note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct token_ring ring;
    struct text bytes = { (const char *)data, size };
    struct offer_claims offer;
    struct booking_claims booking;
    struct arena arena;

    if (ring.count[TOKEN_OFFER] == 0) {
        require(token_ring_make(&ring, TOKEN_OFFER) == STATUS_OK && token_ring_make(&ring, TOKEN_BOOKING) == STATUS_OK);
    }
    arena_init(&arena, 1 << 20);
    require(offer_token_read(&ring, bytes, 1, &arena, &offer) != TOKEN_GENUINE);
    require(booking_token_read(&ring, bytes, 1, &arena, &booking) != TOKEN_GENUINE);
    arena_fini(&arena);
    try_as_note(&ring, bytes);
    try_as_key(bytes);
    return 0;
}
