#include "token/hidden_note.h"

enum { VERSION = 1, HEAD = 1 + TOKEN_KEY_ID, BEFORE_SEALED = HEAD + SEAL_NONCE, NAME_MAX_BYTES = 256 };

// What is vouched for: the head as it stands in the note, and the name. False: the name is too long.
static bool make_vouched(const uint8_t head[HEAD], struct text name, struct buffer *out)
{
    buffer_append(out, (const char *)head, HEAD);
    buffer_append_text(out, name);
    return !out->is_full;
}

enum status hidden_note_write(const struct token_ring *ring, struct text name, struct text plain, struct buffer *out)
{
    uint8_t head[HEAD] = { VERSION }, nonce[SEAL_NONCE];
    struct buffer vouched;

    if (ring->count[TOKEN_OFFER] == 0) {
        return STATUS_NOT_FOUND;
    }
    const struct token_key *key = &ring->keys[TOKEN_OFFER][0];
    struct text nonce_text = { (const char *)nonce, SEAL_NONCE };
    memcpy(head + 1, key->id, TOKEN_KEY_ID);
    buffer_init(&vouched, HEAD + NAME_MAX_BYTES);
    enum status status = make_vouched(head, name, &vouched) ? seal_random(nonce, sizeof nonce) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) {
        buffer_append(out, (const char *)head, HEAD);
        buffer_append_text(out, nonce_text);
        status = out->is_full ? STATUS_FULL : seal_close(key->secret, buffer_text(&vouched), nonce_text, plain, out);
    }
    buffer_fini(&vouched);
    return status;
}

enum token_fault hidden_note_read(const struct token_ring *ring, struct text name, struct text note, struct buffer *out)
{
    struct buffer vouched;

    if (note.length <= BEFORE_SEALED + SEAL_TAG || note.data[0] != VERSION) {
        return TOKEN_MALFORMED;
    }
    const struct token_key *key = token_ring_find(ring, TOKEN_OFFER, (const uint8_t *)note.data + 1);
    if (key == NULL) {
        return TOKEN_UNKNOWN_KEY;
    }
    struct text nonce = { note.data + HEAD, SEAL_NONCE };
    struct text sealed = { note.data + BEFORE_SEALED, note.length - BEFORE_SEALED };
    buffer_init(&vouched, HEAD + NAME_MAX_BYTES);
    enum status status = make_vouched((const uint8_t *)note.data, name, &vouched)
                             ? seal_open(key->secret, buffer_text(&vouched), nonce, sealed, out)
                             : STATUS_NO_MEMORY;
    buffer_fini(&vouched);
    return status == STATUS_OK ? TOKEN_GENUINE : status == STATUS_INVALID ? TOKEN_TAMPERED : TOKEN_UNREADABLE;
}
