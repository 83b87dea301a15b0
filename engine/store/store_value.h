/// Store value: an answer as the bytes that a shared store keeps of it: a head of fixed length, which an index reads
/// alone, and behind it the offers (model/offer_pack.h), pressed where that is worth it.
///
/// The head says of which version it is and under which name it was stored, with a checksum over both. What another
/// version wrote, what was damaged, and what stands under another name is bad as a whole.
///
/// Threads: any; a press has one owner.
/// Memory:  bytes go into the caller's buffer; a batch that comes out is the caller's.
/// Time:    is an argument.
#pragma once

#include "model/offer_pack.h"
#include "store/store_press.h"

/// All numbers least byte first:
///
///   "LCV"  version u8  is_pressed u8  currency 3 bytes
///   observed_ms u64  until_ms u64  expires_ms u64  median_micros i64
///   offers u32  bytes u32  unpressed u32  0 u32    bytes: that follow
///   checksum u64                                    of all before, and of the name
enum {
    STORE_VALUE_VERSION = 1,
    STORE_VALUE_HEAD = 64,
    STORE_VALUE_MAX = 8 << 20,      // with its head
    STORE_VALUE_RAW_MAX = 16 << 20, // its offers before they are pressed
};

/// Appends the answer of a KEEP call. Offers of more than `press_above` bytes are pressed. STATUS_FULL: it is too
/// large; STATUS_INVALID: it is none; STATUS_NO_MEMORY.
MUST_CHECK enum status store_value_write(const struct store_call *call, struct text name, size_t press_above,
                                         struct store_press *press, struct buffer *out);

/// False: these bytes do not begin with the head of a value that is good under this name.
MUST_CHECK bool store_value_read_head(struct text bytes, struct text name, struct last_known_head *head);

/// The offers, as offer_unpack gives them; `*offers` is NULL if there were none. STATUS_INVALID: a bad value;
/// STATUS_NO_MEMORY.
MUST_CHECK enum status store_value_read(struct text bytes, struct text name, enum price_status status, uint64_t now_ms,
                                        struct store_press *press, struct last_known_head *head,
                                        struct offer_batch **offers);
