/// Token ring: the keys that tokens are made and read with, newest first.
///
/// Of each kind the first key makes tokens, all of them read. Rotation: put a new key in front, wait as long as tokens
/// live, take the old one out. A key is known by four bytes of its digest, which stand in each token.
///
/// Threads: any number of readers once it is filled.
/// Memory:  a plain value that holds secrets; token_ring_fini overwrites them.
#pragma once

#include "token/seal.h"

enum token_kind { TOKEN_OFFER, TOKEN_BOOKING, TOKEN_KINDS };
enum { TOKEN_KEYS_MOST = 8, TOKEN_KEY_ID = 4 };

struct token_key {
    uint8_t id[TOKEN_KEY_ID];
    uint8_t secret[SEAL_KEY];        // of a booking key the first SEAL_SEED bytes
    uint8_t public_key[SEAL_PUBLIC]; // of a booking key
};

struct token_ring {
    struct token_key keys[TOKEN_KINDS][TOKEN_KEYS_MOST];
    size_t count[TOKEN_KINDS];
};

void token_ring_init(struct token_ring *ring);
void token_ring_fini(struct token_ring *ring);

/// Bytes of a key of the kind: 64 of an offer key, 32 of a booking key.
size_t token_key_size(enum token_kind kind);

/// Adds a key behind those that are there. `spelt`: its bytes in base64url or base64, with or without padding, or in
/// hexadecimal. STATUS_INVALID: it is not so many bytes, or is in the ring already; STATUS_FULL: eight are there;
/// STATUS_NO_MEMORY: libcrypto refused. `why` has a sentence that goes on after the secret's name.
MUST_CHECK enum status token_ring_add(struct token_ring *ring, enum token_kind kind, struct text spelt,
                                      struct failure *why);
/// Adds a key that nobody else has, for an engine without keys of its own. STATUS_IO: no randomness.
MUST_CHECK enum status token_ring_make(struct token_ring *ring, enum token_kind kind);

/// NULL: no key of this id.
const struct token_key *token_ring_find(const struct token_ring *ring, enum token_kind kind, const uint8_t *id);

/// The public halves of the booking keys as a JSON Web Key Set (RFC 7517, RFC 8037), for booking systems.
void token_ring_write_public(const struct token_ring *ring, struct buffer *out);
