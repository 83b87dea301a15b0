/// Seal: the two primitives that tokens are made of, AES-256-SIV (RFC 5297) and Ed25519 (RFC 8032), from libcrypto.
///
/// SIV needs no luck with its nonces: two tokens that happen to have the same one tell no more than that they are
/// equal.
///
/// Threads: any.
/// Memory:  the caller's.
#pragma once

#include "base/buffer.h"
#include "base/status.h"

enum {
    SEAL_KEY = 64,
    SEAL_NONCE = 16,
    SEAL_TAG = 16,
    SEAL_SEED = 32,
    SEAL_PUBLIC = 32,
    SEAL_SIGNATURE = 64,
    SEAL_DIGEST = 32
};

/// From the machine's generator. STATUS_IO: it gave none.
MUST_CHECK enum status seal_random(uint8_t *bytes, size_t count);
/// SHA-256. STATUS_NO_MEMORY: libcrypto refused.
MUST_CHECK enum status seal_digest(struct text bytes, uint8_t digest[SEAL_DIGEST]);

/// Appends the tag and the ciphertext, which is as long as `plain` (not empty). `head` is not hidden, but vouched for.
/// STATUS_FULL: `out` has no room. STATUS_NO_MEMORY: libcrypto refused.
MUST_CHECK enum status seal_close(const uint8_t key[SEAL_KEY], struct text head, struct text nonce, struct text plain,
                                  struct buffer *out);
/// Appends what was sealed. STATUS_INVALID: not by this key, or something of it was changed. Else as seal_close.
MUST_CHECK enum status seal_open(const uint8_t key[SEAL_KEY], struct text head, struct text nonce, struct text sealed,
                                 struct buffer *out);

/// The public half of a seed.
MUST_CHECK enum status seal_public(const uint8_t seed[SEAL_SEED], uint8_t public_key[SEAL_PUBLIC]);
MUST_CHECK enum status seal_sign(const uint8_t seed[SEAL_SEED], struct text bytes, uint8_t signature[SEAL_SIGNATURE]);
MUST_CHECK bool seal_is_signed(const uint8_t public_key[SEAL_PUBLIC], struct text bytes,
                               const uint8_t signature[SEAL_SIGNATURE]);
/// Overwrites, also where a compiler thinks that nobody looks.
void seal_forget(void *bytes, size_t count);
