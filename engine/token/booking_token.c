#include "token/booking_token.h"
#include "base/json_tree.h"
#include "base/json_write.h"
#include "token/base64url.h"

#include <stdio.h>

enum { ID_BYTES = 16, KEY_LETTERS = 2 * TOKEN_KEY_ID, HEADER_MAX = 256 };

enum status booking_token_digest(struct text query, struct buffer *out)
{
    uint8_t digest[SEAL_DIGEST];
    enum status status = seal_digest(query, digest);

    if (status == STATUS_OK) {
        base64url_append(out, (struct text){ (const char *)digest, sizeof digest });
        status = out->is_full ? STATUS_FULL : STATUS_OK;
    }
    return status;
}

// The one header that a key's tokens have.
static void header_write(const struct token_key *key, char header[HEADER_MAX])
{
    snprintf(header, HEADER_MAX, "{\"alg\":\"EdDSA\",\"kid\":\"%02x%02x%02x%02x\",\"typ\":\"JWT\"}", key->id[0],
             key->id[1], key->id[2], key->id[3]);
}

static void claims_write(const struct booking_claims *claims, struct text id, struct buffer *out)
{
    struct json_writer json;

    json_writer_init(&json, out);
    json_begin_object(&json);
    json_field_c(&json, "iss", "lastcall");
    json_field_text(&json, "jti", id);
    json_field_u64(&json, "iat", claims->issued_s);
    json_field_u64(&json, "exp", claims->expires_s);
    json_field_text(&json, "product", claims->product);
    json_field_text(&json, "supplier", claims->supplier);
    if (claims->account.length > 0) {
        json_field_text(&json, "account", claims->account);
    }
    json_field_text(&json, "offer", claims->offer);
    json_key(&json, "price");
    json_begin_object(&json);
    json_field_text(&json, "total", claims->total);
    json_field_text(&json, "currency", claims->currency);
    json_end_object(&json);
    json_field_text(&json, "search", claims->search);
    json_end_object(&json);
}

// The token but for its signature.
static enum status write_signed_part(const struct token_key *key, const struct booking_claims *claims,
                                     struct buffer *part)
{
    char header[HEADER_MAX];
    uint8_t random[ID_BYTES];
    struct buffer id, payload;
    enum status status = seal_random(random, sizeof random);

    if (status != STATUS_OK) {
        return status;
    }
    buffer_init(&id, 64);
    buffer_init(&payload, BOOKING_TOKEN_MAX);
    base64url_append(&id, (struct text){ (const char *)random, sizeof random });
    claims_write(claims, buffer_text(&id), &payload);
    header_write(key, header);
    base64url_append(part, text_of(header));
    buffer_append_byte(part, '.');
    base64url_append(part, buffer_text(&payload));
    status = payload.is_full || part->is_full ? STATUS_INVALID : STATUS_OK;
    buffer_fini(&id);
    buffer_fini(&payload);
    return status;
}

enum status booking_token_write(const struct token_ring *ring, const struct booking_claims *claims, struct buffer *out)
{
    if (ring->count[TOKEN_BOOKING] == 0) {
        return STATUS_NOT_FOUND;
    }
    const struct token_key *key = &ring->keys[TOKEN_BOOKING][0];
    uint8_t signature[SEAL_SIGNATURE];
    struct buffer token;

    buffer_init(&token, BOOKING_TOKEN_MAX);
    enum status status = write_signed_part(key, claims, &token);
    if (status == STATUS_OK) {
        status = seal_sign(key->secret, buffer_text(&token), signature);
    }
    if (status == STATUS_OK) {
        buffer_append_byte(&token, '.');
        base64url_append(&token, (struct text){ (const char *)signature, sizeof signature });
        status = token.is_full ? STATUS_INVALID : STATUS_OK;
    }
    if (status == STATUS_OK && !buffer_append_text(out, buffer_text(&token))) {
        status = STATUS_FULL;
    }
    buffer_fini(&token);
    return status;
}

static bool key_id_read(struct text spelt, uint8_t id[TOKEN_KEY_ID])
{
    if (spelt.length != KEY_LETTERS) {
        return false;
    }
    for (size_t i = 0; i < KEY_LETTERS; i++) {
        char letter = spelt.data[i];
        bool is_digit = letter >= '0' && letter <= '9', is_letter = letter >= 'a' && letter <= 'f';
        if (!is_digit && !is_letter) {
            return false;
        }
        id[i / 2] = (uint8_t)(id[i / 2] << 4 | (is_digit ? letter - '0' : letter - 'a' + 10));
    }
    return true;
}

// Only the very header that we write is one: no `alg` of a stranger's choice is ever looked at.
static enum token_fault find_key(const struct token_ring *ring, struct text header, const struct token_key **key)
{
    static const char BEFORE[] = "{\"alg\":\"EdDSA\",\"kid\":\"";
    char wanted[HEADER_MAX];
    uint8_t id[TOKEN_KEY_ID] = { 0 };

    if (header.length < sizeof BEFORE - 1 + KEY_LETTERS || memcmp(header.data, BEFORE, sizeof BEFORE - 1) != 0 ||
        !key_id_read((struct text){ header.data + sizeof BEFORE - 1, KEY_LETTERS }, id)) {
        return TOKEN_MALFORMED;
    }
    struct token_key unknown = { 0 };
    memcpy(unknown.id, id, sizeof id);
    header_write(&unknown, wanted);
    if (!text_equals_c(header, wanted)) {
        return TOKEN_MALFORMED;
    }
    *key = token_ring_find(ring, TOKEN_BOOKING, id);
    return *key != NULL ? TOKEN_GENUINE : TOKEN_UNKNOWN_KEY;
}

static enum token_fault claims_read(struct arena *arena, struct text payload, struct booking_claims *claims)
{
    struct json_node *root = NULL;
    size_t offset = 0;
    const char *sentence = NULL;
    struct text kept = arena_copy(arena, payload);

    if (kept.data == NULL) {
        return TOKEN_UNREADABLE;
    }
    enum status status = json_tree_read(arena, kept, &root, &offset, &sentence);
    if (status != STATUS_OK) {
        return status == STATUS_NO_MEMORY ? TOKEN_UNREADABLE : TOKEN_MALFORMED;
    }
    const struct json_node *price = json_tree_member(root, "price");
    *claims = (struct booking_claims){
        .id = json_tree_text(root, "jti"),
        .product = json_tree_text(root, "product"),
        .supplier = json_tree_text(root, "supplier"),
        .account = json_tree_text(root, "account"),
        .offer = json_tree_text(root, "offer"),
        .total = json_tree_text(price, "total"),
        .currency = json_tree_text(price, "currency"),
        .search = json_tree_text(root, "search"),
    };
    bool is_whole = json_tree_to_u64(json_tree_member(root, "iat"), &claims->issued_s) &&
                    json_tree_to_u64(json_tree_member(root, "exp"), &claims->expires_s) && claims->id.length > 0;
    return is_whole ? TOKEN_GENUINE : TOKEN_MALFORMED;
}

struct parts {
    struct buffer header, payload, signature; // decoded
    struct text signed_part;                  // as it was spelt
};

static bool parts_read(struct text token, struct parts *parts)
{
    struct text rest = token, header = text_split(token, '.', &rest), payload = text_split(rest, '.', &rest);

    if (token.length > BOOKING_TOKEN_MAX || header.length == 0 || payload.length == 0 || rest.length == 0) {
        return false;
    }
    parts->signed_part = (struct text){ token.data, header.length + 1 + payload.length };
    return base64url_read(header, &parts->header) && base64url_read(payload, &parts->payload) &&
           base64url_read(rest, &parts->signature) && parts->signature.length == SEAL_SIGNATURE;
}

enum token_fault booking_token_read(const struct token_ring *ring, struct text token, uint64_t now_s,
                                    struct arena *arena, struct booking_claims *claims)
{
    struct parts parts = { 0 };
    const struct token_key *key = NULL;
    enum token_fault fault = TOKEN_MALFORMED;

    *claims = (struct booking_claims){ 0 };
    buffer_init(&parts.header, BOOKING_TOKEN_MAX);
    buffer_init(&parts.payload, BOOKING_TOKEN_MAX);
    buffer_init(&parts.signature, BOOKING_TOKEN_MAX);
    if (parts_read(token, &parts)) {
        fault = find_key(ring, buffer_text(&parts.header), &key);
    }
    if (fault == TOKEN_GENUINE &&
        !seal_is_signed(key->public_key, parts.signed_part, (const uint8_t *)parts.signature.data)) {
        fault = TOKEN_TAMPERED;
    }
    if (fault == TOKEN_GENUINE) {
        fault = claims_read(arena, buffer_text(&parts.payload), claims);
    }
    if (fault == TOKEN_GENUINE && now_s >= claims->expires_s) {
        fault = TOKEN_EXPIRED;
    }
    buffer_fini(&parts.header);
    buffer_fini(&parts.payload);
    buffer_fini(&parts.signature);
    return fault;
}
