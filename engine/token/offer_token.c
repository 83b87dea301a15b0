#include "token/offer_token.h"
#include "token/base64url.h"

enum { VERSION = 1, HEAD = 1 + TOKEN_KEY_ID, BEFORE_SEALED = HEAD + SEAL_NONCE, TEXTS = 7 };

// The order in which the texts stand in a token; another order is another version.
static void claims_texts(struct offer_claims *claims, struct text *texts[TEXTS])
{
    struct text *order[TEXTS] = { &claims->product, &claims->supplier, &claims->account,   &claims->facts,
                                  &claims->offer,   &claims->hidden,   &claims->hidden_key };
    memcpy(texts, order, sizeof order);
}

static void put_number(struct buffer *out, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        buffer_append_byte(out, (char)(number >> (8 * i) & 255));
    }
}

static bool take_number(struct text *from, uint64_t *number, size_t bytes)
{
    if (from->length < bytes) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < bytes; i++) {
        *number |= (uint64_t)(unsigned char)from->data[i] << (8 * i);
    }
    *from = (struct text){ from->data + bytes, from->length - bytes };
    return true;
}

// An absent text and an empty one are the same.
static void claims_put(const struct offer_claims *claims, struct buffer *out)
{
    struct offer_claims copy = *claims;
    struct text *texts[TEXTS];

    claims_texts(&copy, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        put_number(out, texts[i]->length, 4);
        buffer_append_text(out, *texts[i]);
    }
    put_number(out, claims->observed_ms, 8);
    put_number(out, claims->expires_ms, 8);
}

// Views into `from`. False: it is not such claims.
static bool claims_take(struct text from, struct offer_claims *claims)
{
    struct text *texts[TEXTS];

    *claims = (struct offer_claims){ 0 };
    claims_texts(claims, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        uint64_t length = 0;
        if (!take_number(&from, &length, 4) || length > from.length) {
            return false;
        }
        if (length > 0) {
            *texts[i] = (struct text){ from.data, (size_t)length };
        }
        from = (struct text){ from.data + length, from.length - (size_t)length };
    }
    return take_number(&from, &claims->observed_ms, 8) && take_number(&from, &claims->expires_ms, 8) &&
           from.length == 0;
}

enum status offer_token_write(const struct token_ring *ring, const struct offer_claims *claims, struct buffer *out)
{
    if (ring->count[TOKEN_OFFER] == 0) {
        return STATUS_NOT_FOUND;
    }
    if (claims->hidden.length > OFFER_TOKEN_HIDDEN_MAX) {
        return STATUS_INVALID;
    }
    const struct token_key *key = &ring->keys[TOKEN_OFFER][0];
    uint8_t head[HEAD] = { VERSION }, nonce[SEAL_NONCE];
    struct buffer plain, sealed;

    memcpy(head + 1, key->id, TOKEN_KEY_ID);
    buffer_init(&plain, OFFER_TOKEN_MAX / 4 * 3 - BEFORE_SEALED - SEAL_TAG);
    buffer_init(&sealed, OFFER_TOKEN_MAX);
    claims_put(claims, &plain);
    enum status status = plain.is_full ? STATUS_INVALID : seal_random(nonce, sizeof nonce);
    if (status == STATUS_OK) {
        struct text head_text = { (const char *)head, HEAD }, nonce_text = { (const char *)nonce, SEAL_NONCE };
        buffer_append_text(&sealed, head_text);
        buffer_append_text(&sealed, nonce_text);
        status = sealed.is_full ? STATUS_NO_MEMORY
                                : seal_close(key->secret, head_text, nonce_text, buffer_text(&plain), &sealed);
    }
    if (status == STATUS_OK) {
        base64url_append(out, buffer_text(&sealed));
        status = out->is_full ? STATUS_FULL : STATUS_OK;
    }
    buffer_fini(&plain);
    buffer_fini(&sealed);
    return status;
}

static enum token_fault open_sealed(const struct token_ring *ring, struct text bytes, struct buffer *plain)
{
    if (bytes.length <= BEFORE_SEALED + SEAL_TAG || bytes.data[0] != VERSION) {
        return TOKEN_MALFORMED;
    }
    const struct token_key *key = token_ring_find(ring, TOKEN_OFFER, (const uint8_t *)bytes.data + 1);
    if (key == NULL) {
        return TOKEN_UNKNOWN_KEY;
    }
    struct text head = { bytes.data, HEAD }, nonce = { bytes.data + HEAD, SEAL_NONCE };
    struct text sealed = { bytes.data + BEFORE_SEALED, bytes.length - BEFORE_SEALED };
    switch (seal_open(key->secret, head, nonce, sealed, plain)) {
    case STATUS_OK:
        return TOKEN_GENUINE;
    case STATUS_INVALID:
        return TOKEN_TAMPERED;
    default:
        return TOKEN_UNREADABLE;
    }
}

enum token_fault offer_token_read(const struct token_ring *ring, struct text token, uint64_t now_ms,
                                  struct arena *arena, struct offer_claims *claims)
{
    struct buffer bytes, plain;
    enum token_fault fault = TOKEN_MALFORMED;

    *claims = (struct offer_claims){ 0 };
    buffer_init(&bytes, OFFER_TOKEN_MAX);
    buffer_init(&plain, OFFER_TOKEN_MAX);
    if (token.length <= OFFER_TOKEN_MAX && base64url_read(token, &bytes)) {
        fault = open_sealed(ring, buffer_text(&bytes), &plain);
    }
    if (fault == TOKEN_GENUINE) {
        struct text kept = arena_copy(arena, buffer_text(&plain));
        if (kept.data == NULL) {
            fault = TOKEN_UNREADABLE;
        } else if (!claims_take(kept, claims)) {
            fault = TOKEN_MALFORMED; // ours, but of a version that this engine does not speak
        } else if (now_ms >= claims->expires_ms) {
            fault = TOKEN_EXPIRED;
        }
    }
    buffer_fini(&bytes);
    buffer_fini(&plain);
    return fault;
}
