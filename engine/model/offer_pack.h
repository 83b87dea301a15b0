/// Offer pack: the offers of an answer as bytes that a store keeps, and back.
///
/// Bytes that were cut, altered or written by another schema are refused as a whole: what comes out is a batch as a
/// worker would have made it, with another word for its price's status, and columns that agree with its JSON. A
/// checksum vouches for what damage could do; the reader is safe for any bytes besides.
///
/// Threads: any.
/// Memory:  packs into the caller's buffer; a batch that comes out is the caller's.
/// Time:    is an argument.
#pragma once

#include "model/last_known.h"
#include "model/store_call.h"

/// Another one for each change of what is packed, or of what an offer is.
enum { OFFER_PACK_SCHEMA = 1 };

/// Appends the offers that are not gone, and fills `head` but for observed_ms and until_ms. What dropped or corrected
/// offers were told in the answer is not kept. STATUS_NO_MEMORY: the buffer is full, and holds what was in it before;
/// STATUS_INVALID: these cannot be one answer: an offer does not say where its status is, the parts differ in their
/// facets, or they are more than OFFER_MAX_PER_BATCH.
MUST_CHECK enum status offer_pack(const struct store_part *parts, size_t count, struct buffer *out,
                                  struct last_known_head *head);

/// Offers that have expired at `now_ms` (since 1970) are flagged: shown, and never the cheapest. STATUS_INVALID: these
/// bytes are no pack of this schema, or not a whole one; STATUS_NO_MEMORY.
MUST_CHECK enum status offer_unpack(struct text packed, enum price_status status, uint64_t now_ms,
                                    struct offer_batch **batch);

// ---- what both sides share -----------------------------------------------------------------------------------------

/// A pack, all numbers least byte first:
///
///   "LCOP"  schema u32  checksum u64   of all that follows
///   offers u32  facets u32  values u32  decimals u32
///   offers  each the fixed fields below, then marks (u16 each), id, item, item_json, hidden, JSON without its status
///   facets  each length u32 and name
///   values  each facet u8, is_text u8, length u32, and value
enum { OFFER_PACK_HEADER = 32, OFFER_PACK_SUMMED = 16, OFFER_PACK_FIXED = 82 };
#define OFFER_PACK_MAGIC TEXT("LCOP")
