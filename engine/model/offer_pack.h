/// Offer pack: the offers of an answer as bytes that a store keeps, and back.
///
/// Bytes that were cut, altered or written by another schema are refused as a whole: what comes out is a batch as a
/// worker would have made it, with another word for its price's status, and columns that agree with its JSON.
///
/// Threads: any.
/// Memory:  packs into the caller's buffer; a batch that comes out is the caller's.
/// Time:    is an argument.
#pragma once

#include "model/last_known.h"
#include "model/store_call.h"

/// Another one for each change of what is packed, or of what an offer is.
enum { OFFER_PACK_SCHEMA = 1 };

/// Appends the offers that are not gone, and fills `head` but for observed_ms and until_ms. STATUS_NO_MEMORY: the
/// buffer is full.
MUST_CHECK enum status offer_pack(const struct store_part *parts, size_t count, struct buffer *out,
                                  struct last_known_head *head);

/// Offers that have expired at `now_ms` (since 1970) are flagged: shown, and never the cheapest. STATUS_INVALID: these
/// bytes are no pack of this schema, or not a whole one; STATUS_NO_MEMORY.
MUST_CHECK enum status offer_unpack(struct text packed, enum price_status status, uint64_t now_ms,
                                    struct offer_batch **batch);
