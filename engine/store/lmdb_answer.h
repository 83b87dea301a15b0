/// LMDB answer: how an answer is kept in the tables.
///
/// HEADS has what an index reads, by the answer's name: digest, supplier NUL account NUL. The digest comes first, so
/// that the heads of all suppliers of a query lie on one page or two, and a cold index waits for the disk no more
/// often. ANSWERS has the offers, by a number that grows with each that is kept, so that its first entry is the oldest;
/// behind the name, by which its head is found.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "store/lmdb_file.h"
#include "store/store.h"

struct lmdb_name {
    char bytes[LMDB_KEY_MAX];
    size_t length;
};
/// Is it of this supplier, and of this account unless that is absent?
bool lmdb_name_is_of(struct text name, struct text supplier, struct text account);
/// False: they are too long.
MUST_CHECK bool lmdb_name_make(struct lmdb_name *name, const struct store_entry *entry,
                               const uint8_t digest[STORE_DIGEST]);
static inline struct text lmdb_name_text(const struct lmdb_name *name)
{
    return (struct text){ name->bytes, name->length };
}

/// A head as it stands in its table.
struct lmdb_head {
    struct last_known_head head;
    uint64_t number;   // of the answer
    uint64_t checksum; // of all before
};
void lmdb_head_fill(struct lmdb_head *kept, const struct last_known_head *head, uint64_t number);
/// False: it is damaged.
MUST_CHECK bool lmdb_head_read(struct text value, struct lmdb_head *kept);

/// The key of an answer.
struct lmdb_number {
    char bytes[sizeof(uint64_t)];
};
struct lmdb_number lmdb_number_of(uint64_t number);
MUST_CHECK bool lmdb_number_read(struct text key, uint64_t *number);
static inline struct text lmdb_number_text(const struct lmdb_number *number)
{
    return (struct text){ number->bytes, sizeof number->bytes };
}

/// An answer's value: length of the name u16, name, packed offers. False: it is damaged.
enum { LMDB_ANSWER_LENGTH = 2 };
MUST_CHECK bool lmdb_answer_read(struct text value, struct text *name, struct text *packed);

/// A note's value: until when it holds, then what it says. False: it is damaged, or over at `now_ms`.
enum { LMDB_NOTE_UNTIL = 8 };
MUST_CHECK bool lmdb_note_read(struct text value, uint64_t now_ms, struct text *says);

/// Nobody may be shown it any more: its time is over, or it comes from a future that the clock has left.
bool lmdb_head_is_over(const struct last_known_head *head, uint64_t now_ms);
