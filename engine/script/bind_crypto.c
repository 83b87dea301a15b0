#include "base/check.h"
#include "script/bind.h"
#include "script/bind_support.h"
#include "script/sandbox.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <string.h>

enum { RANDOM_MAX = 1024, SECRET_MAX = 64 << 10 };

struct digest {
    const char *name;
    const EVP_MD *(*make)(void);
};

static const struct digest DIGESTS[] = {
    { "sha256", EVP_sha256 }, { "sha1", EVP_sha1 }, { "sha512", EVP_sha512 }, { "md5", EVP_md5 }
};

void bind_crypto_sha256(struct text bytes, unsigned char digest[32])
{
    SHA256((const unsigned char *)(bytes.data != NULL ? bytes.data : ""), bytes.length, digest);
}

void bind_crypto_sha1(struct text bytes, unsigned char digest[20])
{
    SHA1((const unsigned char *)(bytes.data != NULL ? bytes.data : ""), bytes.length, digest);
}

// ---- digests -------------------------------------------------------------------------------------------------------

static int push_digest(lua_State *L, const EVP_MD *algorithm)
{
    struct text text = bind_check_text(L, 1);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;

    if (EVP_Digest(text.data, text.length, digest, &length, algorithm, NULL) != 1) {
        return luaL_error(L, "this machine's OpenSSL does not offer the digest");
    }
    lua_pushlstring(L, (const char *)digest, length);
    return 1;
}

static int crypto_sha1(lua_State *L)
{
    bind_at_most(L, 1);
    return push_digest(L, EVP_sha1());
}

static int crypto_sha256(lua_State *L)
{
    bind_at_most(L, 1);
    return push_digest(L, EVP_sha256());
}

static int crypto_sha512(lua_State *L)
{
    bind_at_most(L, 1);
    return push_digest(L, EVP_sha512());
}

static int crypto_md5(lua_State *L)
{
    bind_at_most(L, 1);
    return push_digest(L, EVP_md5());
}

// hmac(algorithm, key, message)
static int crypto_hmac(lua_State *L)
{
    bind_at_most(L, 3);
    struct text name = bind_check_text(L, 1);
    struct text key = bind_check_text(L, 2);
    struct text message = bind_check_text(L, 3);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;

    if (key.length > SECRET_MAX) {
        return luaL_argerror(L, 2, "a key of at most 64 KiB expected");
    }
    for (size_t i = 0; i < COUNT_OF(DIGESTS); i++) {
        if (!text_equals_c(name, DIGESTS[i].name)) {
            continue;
        }
        if (HMAC(DIGESTS[i].make(), key.data, (int)key.length, (const unsigned char *)message.data, message.length,
                 digest, &length) == NULL) {
            return luaL_error(L, "this machine's OpenSSL does not offer the digest");
        }
        lua_pushlstring(L, (const char *)digest, length);
        return 1;
    }
    return luaL_argerror(L, 1, "\"sha256\", \"sha1\", \"sha512\" or \"md5\" expected");
}

// ---- spellings of bytes --------------------------------------------------------------------------------------------

static const char STANDARD[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char URL_SAFE[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int push_base64(lua_State *L, struct text text, const char *alphabet, bool is_padded)
{
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    for (size_t i = 0; i < text.length; i += 3) {
        size_t left = text.length - i < 3 ? text.length - i : 3;
        uint32_t bits = 0;
        char four[4];
        for (size_t j = 0; j < 3; j++) {
            bits = bits << 8 | (j < left ? (unsigned char)text.data[i + j] : 0);
        }
        for (size_t j = 0; j < 4; j++) {
            four[j] = j <= left ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
        }
        buffer_append(out, four, is_padded ? 4 : left + 1);
    }
    bind_push_result(L, out);
    return 1;
}

void bind_crypto_push_base64(lua_State *L, struct text bytes)
{
    (void)push_base64(L, bytes, STANDARD, true);
    lua_remove(L, -2); // its buffer
}

/// What a digit of base64 stands for; 64 and more: it is none.
static uint32_t base64_value(char c, bool is_url_safe)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52;
    }
    return c == (is_url_safe ? '-' : '+') ? 62 : c == (is_url_safe ? '_' : '/') ? 63 : 64;
}

// Padding may be left out; bits that do not make a byte must be zero.
static int push_base64_decoded(lua_State *L, bool is_url_safe)
{
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);
    uint32_t bits = 0, count = 0;
    size_t end = text.length;

    while (end > 0 && text.length - end < 2 && text.data[end - 1] == '=') {
        end--;
    }
    if ((end != text.length && text.length % 4 != 0) || end % 4 == 1) {
        return bind_refuse(L, "not base64: wrong length");
    }
    for (size_t i = 0; i < end; i++) {
        uint32_t value = base64_value(text.data[i], is_url_safe);
        if (value > 63) {
            bind_drop_buffer(out);
            return bind_refuse(L, "not base64: byte %d", (int)i + 1);
        }
        bits = bits << 6 | value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            buffer_append_byte(out, (char)(unsigned char)(bits >> count & 255));
        }
    }
    if ((bits & ((1U << count) - 1)) != 0) {
        bind_drop_buffer(out);
        return bind_refuse(L, "not base64: stray bits at the end");
    }
    bind_push_result(L, out);
    return 1;
}

static int crypto_base64(lua_State *L)
{
    bind_at_most(L, 1);
    return push_base64(L, bind_check_text(L, 1), STANDARD, true);
}

static int crypto_base64url(lua_State *L)
{
    bind_at_most(L, 1);
    return push_base64(L, bind_check_text(L, 1), URL_SAFE, false);
}

static int crypto_base64_decode(lua_State *L)
{
    bind_at_most(L, 1);
    return push_base64_decoded(L, false);
}

static int crypto_base64url_decode(lua_State *L)
{
    bind_at_most(L, 1);
    return push_base64_decoded(L, true);
}

static int crypto_hex(lua_State *L)
{
    bind_at_most(L, 1);
    static const char digits[] = "0123456789abcdef";
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        char two[2] = { digits[c >> 4], digits[c & 15] };
        buffer_append(out, two, sizeof two);
    }
    bind_push_result(L, out);
    return 1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int crypto_hex_decode(lua_State *L)
{
    bind_at_most(L, 1);
    struct text text = bind_check_text(L, 1);
    struct buffer *out = bind_push_buffer(L, BIND_OUTPUT_MAX);

    if (text.length % 2 != 0) {
        return bind_refuse(L, "not hexadecimal: an odd number of digits");
    }
    for (size_t i = 0; i < text.length; i += 2) {
        int high = hex_digit(text.data[i]), low = hex_digit(text.data[i + 1]);
        if (high < 0 || low < 0) {
            bind_drop_buffer(out);
            return bind_refuse(L, "not hexadecimal: byte %d", (int)i + 1);
        }
        buffer_append_byte(out, (char)(unsigned char)(high * 16 + low));
    }
    bind_push_result(L, out);
    return 1;
}

// ---- randomness ----------------------------------------------------------------------------------------------------

static const char seed_key; // registry: the seed

void bind_crypto_set_seed(lua_State *L, struct crypto_seed *seed)
{
    bind_keep_pointer(L, &seed_key, seed);
}

/// The machine's randomness; within a seeded call bytes that come of its seed alone, so that a fixture gives the same
/// request each time.
static void fill_random(lua_State *L, unsigned char *bytes, size_t count)
{
    struct crypto_seed *seed = (struct crypto_seed *)(uintptr_t)bind_kept_pointer(L, &seed_key);

    if (seed == NULL || seed->value == 0) {
        if (RAND_bytes(bytes, (int)count) != 1) {
            luaL_error(L, "no random bytes to be had");
        }
        return;
    }
    for (size_t i = 0; i < count; i += SHA256_DIGEST_LENGTH) {
        const uint64_t draw[2] = { seed->value, ++seed->draws };
        unsigned char digest[SHA256_DIGEST_LENGTH];
        SHA256((const unsigned char *)draw, sizeof draw, digest);
        memcpy(bytes + i, digest, count - i < sizeof digest ? count - i : sizeof digest);
    }
}

static int crypto_random(lua_State *L)
{
    bind_at_most(L, 1);
    unsigned char bytes[RANDOM_MAX];
    sandbox_refuse_if_pure(L, "crypto.random");
    int count = (int)bind_check_integer(L, 1, 1, RANDOM_MAX);

    fill_random(L, bytes, (size_t)count);
    lua_pushlstring(L, (const char *)bytes, (size_t)count);
    return 1;
}

// Version 4, RFC 9562.
static int crypto_uuid(lua_State *L)
{
    bind_at_most(L, 0);
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    char text[36];
    size_t length = 0;

    sandbox_refuse_if_pure(L, "crypto.uuid");
    fill_random(L, bytes, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text[length++] = '-';
        }
        text[length++] = digits[bytes[i] >> 4];
        text[length++] = digits[bytes[i] & 15];
    }
    lua_pushlstring(L, text, length);
    return 1;
}

void bind_crypto(lua_State *L)
{
    static const luaL_Reg functions[] = { { "sha1", crypto_sha1 },
                                          { "sha256", crypto_sha256 },
                                          { "sha512", crypto_sha512 },
                                          { "md5", crypto_md5 },
                                          { "hmac", crypto_hmac },
                                          { "base64", crypto_base64 },
                                          { "base64_decode", crypto_base64_decode },
                                          { "base64url", crypto_base64url },
                                          { "base64url_decode", crypto_base64url_decode },
                                          { "hex", crypto_hex },
                                          { "hex_decode", crypto_hex_decode },
                                          { "random", crypto_random },
                                          { "uuid", crypto_uuid },
                                          { NULL, NULL } };

    bind_push_module(L, functions);
}

void bind_crypto_leave_thread(void)
{
    OPENSSL_thread_stop();
}
