#include "token/token_ring.h"
#include "base/json_write.h"
#include "token/base64url.h"

#include <stdio.h>

enum { SPELT_MOST = 256 };

void token_ring_init(struct token_ring *ring)
{
    *ring = (struct token_ring){ 0 };
}

void token_ring_fini(struct token_ring *ring)
{
    seal_forget(ring, sizeof *ring);
}

size_t token_key_size(enum token_kind kind)
{
    return kind == TOKEN_OFFER ? SEAL_KEY : SEAL_SEED;
}

static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    char low = (char)(letter | 32);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static bool read_hexadecimal(struct text spelt, struct buffer *out)
{
    for (size_t i = 0; i + 1 < spelt.length; i += 2) {
        int high = digit_of(spelt.data[i]), low = digit_of(spelt.data[i + 1]);
        if (high < 0 || low < 0 || !buffer_append_byte(out, (char)(high * 16 + low))) {
            return false;
        }
    }
    return true;
}

static bool read_base64(struct text spelt, struct buffer *out)
{
    char letters[SPELT_MOST];

    while (spelt.length > 0 && spelt.data[spelt.length - 1] == '=') {
        spelt.length--;
    }
    for (size_t i = 0; i < spelt.length; i++) {
        letters[i] = spelt.data[i] == '+' ? '-' : spelt.data[i] == '/' ? '_' : spelt.data[i];
    }
    bool is_read = base64url_read((struct text){ letters, spelt.length }, out);
    seal_forget(letters, sizeof letters);
    return is_read;
}

// True: `out` has exactly the bytes of a key.
static bool read_key(struct text spelt, size_t size, struct buffer *out)
{
    if (spelt.length > SPELT_MOST) {
        return false;
    }
    bool is_hexadecimal = spelt.length == 2 * size;
    return (is_hexadecimal ? read_hexadecimal(spelt, out) : read_base64(spelt, out)) && out->length == size;
}

// Takes its place in the ring only when all of it could be derived.
static enum status ring_take(struct token_ring *ring, enum token_kind kind, const uint8_t *bytes, struct failure *why)
{
    struct token_key *key = &ring->keys[kind][ring->count[kind]];
    uint8_t named[1 + SEAL_KEY] = { kind == TOKEN_OFFER ? 'o' : 'b' }, digest[SEAL_DIGEST];
    size_t size = token_key_size(kind);

    memcpy(named + 1, bytes, size);
    enum status status = seal_digest((struct text){ (const char *)named, 1 + size }, digest);
    seal_forget(named, sizeof named);
    if (status != STATUS_OK) {
        return status;
    }
    if (token_ring_find(ring, kind, digest) != NULL) {
        failure_set(why, "holds a key that is in the list already");
        failure_help(why, "name each key once");
        return STATUS_INVALID;
    }
    if (kind == TOKEN_BOOKING) {
        status = seal_public(bytes, key->public_key);
        if (status != STATUS_OK) {
            return status;
        }
    }
    memcpy(key->id, digest, sizeof key->id);
    memcpy(key->secret, bytes, size);
    ring->count[kind]++;
    return STATUS_OK;
}

enum status token_ring_add(struct token_ring *ring, enum token_kind kind, struct text spelt, struct failure *why)
{
    size_t size = token_key_size(kind);
    struct buffer bytes;

    if (ring->count[kind] == TOKEN_KEYS_MOST) {
        failure_set(why, "is one key too many: at most %d of a kind", TOKEN_KEYS_MOST);
        failure_help(why, "take out the oldest, whose tokens have expired");
        return STATUS_FULL;
    }
    buffer_init(&bytes, SPELT_MOST);
    enum status status = STATUS_INVALID;
    if (read_key(text_trim(spelt), size, &bytes)) {
        status = ring_take(ring, kind, (const uint8_t *)bytes.data, why);
    } else {
        failure_set(why, "is not a key: %zu random bytes in base64 or hexadecimal are wanted", size);
        failure_help(why, "openssl rand -base64 %zu | tr -d '\\n'", size);
    }
    if (bytes.data != NULL) {
        seal_forget(bytes.data, bytes.capacity);
    }
    buffer_fini(&bytes);
    return status;
}

enum status token_ring_make(struct token_ring *ring, enum token_kind kind)
{
    uint8_t bytes[SEAL_KEY];

    if (ring->count[kind] == TOKEN_KEYS_MOST) {
        return STATUS_FULL;
    }
    enum status status = seal_random(bytes, sizeof bytes);
    if (status == STATUS_OK) {
        status = ring_take(ring, kind, bytes, NULL);
    }
    seal_forget(bytes, sizeof bytes);
    return status;
}

const struct token_key *token_ring_find(const struct token_ring *ring, enum token_kind kind, const uint8_t *id)
{
    for (size_t i = 0; i < ring->count[kind]; i++) {
        if (memcmp(ring->keys[kind][i].id, id, TOKEN_KEY_ID) == 0) {
            return &ring->keys[kind][i];
        }
    }
    return NULL;
}

void token_ring_write_public(const struct token_ring *ring, struct buffer *out)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_key(&json, "keys");
    json_begin_array(&json);
    for (size_t i = 0; i < ring->count[TOKEN_BOOKING]; i++) {
        const struct token_key *key = &ring->keys[TOKEN_BOOKING][i];
        char id[2 * TOKEN_KEY_ID + 1];
        struct buffer x;
        buffer_init(&x, 64);
        base64url_append(&x, (struct text){ (const char *)key->public_key, SEAL_PUBLIC });
        snprintf(id, sizeof id, "%02x%02x%02x%02x", key->id[0], key->id[1], key->id[2], key->id[3]);
        json_begin_object(&json);
        json_field_c(&json, "kty", "OKP");
        json_field_c(&json, "crv", "Ed25519");
        json_field_c(&json, "alg", "EdDSA");
        json_field_c(&json, "use", "sig");
        json_field_c(&json, "kid", id);
        json_field_text(&json, "x", buffer_text(&x));
        json_end_object(&json);
        buffer_fini(&x);
    }
    json_end_array(&json);
    json_end_object(&json);
}
