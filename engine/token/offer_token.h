/// Offer token: what a revalidation needs to know of an offer, sealed, so that any node can read it and no caller can.
///
/// Base64url of: version (1 byte), key id (4), 128 random bits, tag (16), sealed claims. Version and key id are vouched
/// for, the random bits are SIV's nonce. Within: each text as its length and its bytes, then the times.
///
/// Threads: any.
/// Memory:  what is read lives in the caller's arena.
#pragma once

#include "base/arena.h"
#include "token/token_fault.h"
#include "token/token_ring.h"

enum { OFFER_TOKEN_HIDDEN_MAX = 1024, OFFER_TOKEN_MAX = 32 * 1024 };

/// Texts may be absent. `facts` are the search's, `offer` is what the script gets of it again, `hidden` what it left in
/// `ref` and `handoff`; all JSON.
struct offer_claims {
    struct text product, supplier, account;
    struct text facts;
    struct text offer;
    struct text hidden;               // at most OFFER_TOKEN_HIDDEN_MAX
    struct text hidden_key;           // or under which name it is kept
    uint64_t observed_ms, expires_ms; // since 1970; `expires_ms` is when the token's time is over
};

/// Appends the token. STATUS_INVALID: `hidden` is too large, or claims that make a token above OFFER_TOKEN_MAX;
/// STATUS_NOT_FOUND: no key; STATUS_FULL: no room in `out`; STATUS_IO, STATUS_NO_MEMORY: libcrypto refused.
MUST_CHECK enum status offer_token_write(const struct token_ring *ring, const struct offer_claims *claims,
                                         struct buffer *out);

/// `claims` is filled when genuine, and also when it is only expired.
MUST_CHECK enum token_fault offer_token_read(const struct token_ring *ring, struct text token, uint64_t now_ms,
                                             struct arena *arena, struct offer_claims *claims);
