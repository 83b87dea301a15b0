#include "token/sealed_note.h"

enum { VERSION = 1, FRONT = 1 + TOKEN_KEY_ID, BEFORE_SEALED = FRONT + SEAL_NONCE, HEAD_MAX = 1024 };

/// What is vouched for beside the contents.
static void put_head(struct buffer *head, struct text front, struct text name)
{
    buffer_append_text(head, TEXT("lastcall note"));
    buffer_append_text(head, front);
    buffer_append_text(head, name);
}

enum status sealed_note_write(const struct token_ring *ring, struct text name, struct text plain, struct buffer *out)
{
    if (ring->count[TOKEN_OFFER] == 0) {
        return STATUS_NOT_FOUND;
    }
    if (plain.length == 0 || plain.length > SEALED_NOTE_MAX) {
        return STATUS_INVALID;
    }
    const struct token_key *key = &ring->keys[TOKEN_OFFER][0];
    uint8_t front[FRONT] = { VERSION }, nonce[SEAL_NONCE];
    struct text front_text = { (const char *)front, sizeof front }, nonce_text = { (const char *)nonce, sizeof nonce };
    struct buffer head;

    memcpy(front + 1, key->id, TOKEN_KEY_ID);
    enum status status = seal_random(nonce, sizeof nonce);
    if (status != STATUS_OK) {
        return status;
    }
    buffer_init(&head, HEAD_MAX);
    put_head(&head, front_text, name);
    buffer_append_text(out, front_text);
    buffer_append_text(out, nonce_text);
    status = head.is_full || out->is_full ? STATUS_FULL
                                          : seal_close(key->secret, buffer_text(&head), nonce_text, plain, out);
    buffer_fini(&head);
    return status;
}

enum token_fault sealed_note_read(const struct token_ring *ring, struct text name, struct text note,
                                  struct buffer *plain)
{
    if (note.length <= BEFORE_SEALED + SEAL_TAG || note.data[0] != VERSION) {
        return TOKEN_MALFORMED;
    }
    const struct token_key *key = token_ring_find(ring, TOKEN_OFFER, (const uint8_t *)note.data + 1);
    struct text nonce = { note.data + FRONT, SEAL_NONCE };
    struct text sealed = { note.data + BEFORE_SEALED, note.length - BEFORE_SEALED };
    struct buffer head;

    if (key == NULL) {
        return TOKEN_UNKNOWN_KEY;
    }
    buffer_init(&head, HEAD_MAX);
    put_head(&head, (struct text){ note.data, FRONT }, name);
    enum status status = head.is_full ? STATUS_FULL : seal_open(key->secret, buffer_text(&head), nonce, sealed, plain);
    buffer_fini(&head);
    return status == STATUS_OK ? TOKEN_GENUINE : status == STATUS_INVALID ? TOKEN_TAMPERED : TOKEN_UNREADABLE;
}
