#include "token/seal.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

static const unsigned char *bytes_of(struct text text)
{
    return (const unsigned char *)text.data;
}

enum status seal_random(uint8_t *bytes, size_t count)
{
    return count <= INT_MAX && RAND_bytes(bytes, (int)count) == 1 ? STATUS_OK : STATUS_IO;
}

enum status seal_digest(struct text bytes, uint8_t digest[SEAL_DIGEST])
{
    return EVP_Digest(bytes.data, bytes.length, digest, NULL, EVP_sha256(), NULL) == 1 ? STATUS_OK : STATUS_NO_MEMORY;
}

// A cipher that has taken its key, the tag when it is to be opened, and what is vouched for only. NULL: refused.
static EVP_CIPHER_CTX *cipher_begin(const uint8_t key[SEAL_KEY], struct text head, struct text nonce, const char *tag)
{
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-SIV", NULL);
    EVP_CIPHER_CTX *context = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;
    int length = 0;
    bool is_ready = context != NULL && EVP_CipherInit_ex(context, cipher, NULL, key, NULL, tag == NULL) == 1;

    if (is_ready && tag != NULL) {
        char copy[SEAL_TAG];
        memcpy(copy, tag, SEAL_TAG);
        is_ready = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG, copy) == 1;
    }
    is_ready = is_ready && EVP_CipherUpdate(context, NULL, &length, bytes_of(head), (int)head.length) == 1 &&
               EVP_CipherUpdate(context, NULL, &length, bytes_of(nonce), (int)nonce.length) == 1;
    EVP_CIPHER_free(cipher);
    if (!is_ready) {
        EVP_CIPHER_CTX_free(context);
        return NULL;
    }
    return context;
}

static bool is_sealable(struct text head, struct text nonce, size_t length)
{
    return head.length < INT_MAX && nonce.length < INT_MAX && length > 0 && length < INT_MAX;
}

enum status seal_close(const uint8_t key[SEAL_KEY], struct text head, struct text nonce, struct text plain,
                       struct buffer *out)
{
    if (!is_sealable(head, nonce, plain.length)) {
        return STATUS_INVALID;
    }
    if (!buffer_reserve(out, SEAL_TAG + plain.length)) {
        return STATUS_FULL;
    }
    EVP_CIPHER_CTX *context = cipher_begin(key, head, nonce, NULL);
    unsigned char *tag = (unsigned char *)out->data + out->length, *sealed = tag + SEAL_TAG;
    int length = 0, rest = 0;
    bool is_closed = context != NULL &&
                     EVP_CipherUpdate(context, sealed, &length, bytes_of(plain), (int)plain.length) == 1 &&
                     (size_t)length == plain.length && EVP_CipherFinal_ex(context, sealed + length, &rest) == 1 &&
                     EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_closed) {
        return STATUS_NO_MEMORY;
    }
    out->length += SEAL_TAG + plain.length;
    return STATUS_OK;
}

enum status seal_open(const uint8_t key[SEAL_KEY], struct text head, struct text nonce, struct text sealed,
                      struct buffer *out)
{
    if (sealed.length <= SEAL_TAG || !is_sealable(head, nonce, sealed.length - SEAL_TAG)) {
        return STATUS_INVALID;
    }
    size_t plain_length = sealed.length - SEAL_TAG;
    if (!buffer_reserve(out, plain_length)) {
        return STATUS_FULL;
    }
    EVP_CIPHER_CTX *context = cipher_begin(key, head, nonce, sealed.data);
    if (context == NULL) {
        return STATUS_NO_MEMORY;
    }
    unsigned char *plain = (unsigned char *)out->data + out->length;
    int length = 0, rest = 0;
    bool is_genuine = EVP_CipherUpdate(context, plain, &length, bytes_of(sealed) + SEAL_TAG, (int)plain_length) == 1 &&
                      (size_t)length == plain_length && EVP_CipherFinal_ex(context, plain + length, &rest) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_genuine) {
        seal_forget(plain, plain_length);
        return STATUS_INVALID;
    }
    out->length += plain_length;
    return STATUS_OK;
}

enum status seal_public(const uint8_t seed[SEAL_SEED], uint8_t public_key[SEAL_PUBLIC])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SEAL_SEED);
    size_t length = SEAL_PUBLIC;
    bool is_told = key != NULL && EVP_PKEY_get_raw_public_key(key, public_key, &length) == 1 && length == SEAL_PUBLIC;

    EVP_PKEY_free(key);
    return is_told ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status seal_sign(const uint8_t seed[SEAL_SEED], struct text bytes, uint8_t signature[SEAL_SIGNATURE])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, SEAL_SEED);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = SEAL_SIGNATURE;
    bool is_signed = key != NULL && context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
                     EVP_DigestSign(context, signature, &length, bytes_of(bytes), bytes.length) == 1 &&
                     length == SEAL_SIGNATURE;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return is_signed ? STATUS_OK : STATUS_NO_MEMORY;
}

bool seal_is_signed(const uint8_t public_key[SEAL_PUBLIC], struct text bytes, const uint8_t signature[SEAL_SIGNATURE])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, SEAL_PUBLIC);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = key != NULL && context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
                     EVP_DigestVerify(context, signature, SEAL_SIGNATURE, bytes_of(bytes), bytes.length) == 1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return is_signed;
}

void seal_forget(void *bytes, size_t count)
{
    OPENSSL_cleanse(bytes, count);
}
