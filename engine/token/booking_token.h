/// Booking token: says that a price was confirmed live, to a booking system that need not ask back.
///
/// A JSON Web Token (RFC 7519) signed with Ed25519 (`alg` EdDSA, RFC 8037): any library of those verifies it with the
/// public key, and nobody without the engine's key can make one. Its claims: `iss` "lastcall", `jti` 128 random bits,
/// by which the booking system refuses replays, `iat` and `exp` in seconds, `product`, `supplier`, `account`, `offer`,
/// `price` {`total`, `currency`}, `search` (the digest of the query, base64url).
///
/// Threads: any.
/// Memory:  what is read lives in the caller's arena.
#pragma once

#include "base/arena.h"
#include "token/token_fault.h"
#include "token/token_ring.h"

enum { BOOKING_TOKEN_MAX = 8 * 1024 };

struct booking_claims {
    struct text id; // made by booking_token_write
    struct text product, supplier, account, offer; // `account` may be absent: the caller is not to know it
    struct text total, currency;
    struct text search;
    uint64_t issued_s, expires_s; // since 1970
};

/// The digest of a query, as it stands in `search`: 43 letters.
MUST_CHECK enum status booking_token_digest(struct text query, struct buffer *out);

/// Appends the token; `claims->id` is not looked at. STATUS_NOT_FOUND: no key; STATUS_INVALID: above
/// BOOKING_TOKEN_MAX; STATUS_FULL: no room; STATUS_IO, STATUS_NO_MEMORY: libcrypto refused.
MUST_CHECK enum status booking_token_write(const struct token_ring *ring, const struct booking_claims *claims,
                                           struct buffer *out);

/// `claims` is filled when genuine, and also when it is only expired.
MUST_CHECK enum token_fault booking_token_read(const struct token_ring *ring, struct text token, uint64_t now_s,
                                               struct arena *arena, struct booking_claims *claims);
