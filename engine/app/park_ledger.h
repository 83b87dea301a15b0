/// Park ledger: accounts that are left alone for a while, because their supplier said so, and the document in which
/// engines tell each other.
///
/// Of an account there are two things: until when its supplier wants no request (the longest that any engine was told
/// counts), and whether its credentials are refused (the latest word counts, for it may be that they are taken again).
/// The latter is known by a mark of the credentials (app/account_mark.h), so that engines with other ones do not mix.
///
/// Threads: one.
/// Memory:  one block.
#pragma once

#include "app/account_mark.h"
#include "app/switches.h"

enum { PARK_LEDGER_MAX = 512 };

enum park_kind { PARK_QUOTA, PARK_AUTH };

struct park_word {
    enum park_kind kind;
    char supplier[SWITCH_NAME_SIZE], account[SWITCH_NAME_SIZE];
    char mark[ACCOUNT_MARK_SIZE]; // of PARK_AUTH
    uint64_t until_us;            // wall clock; of PARK_AUTH 0: they are taken again
    uint64_t said_us;             // wall clock
    uint32_t parks;               // of PARK_AUTH: in a row
};

struct park_ledger;

MUST_CHECK enum status park_ledger_create(struct park_ledger **ledger);
void park_ledger_destroy(struct park_ledger **ledger);
size_t park_ledger_count(const struct park_ledger *ledger);

/// True: it is news. Full: what ends first makes room.
bool park_ledger_put(struct park_ledger *ledger, const struct park_word *word);

/// As switch_ledger_merge and switch_ledger_write.
MUST_CHECK enum status park_ledger_merge(struct park_ledger *ledger, struct text document, uint64_t wall_us,
                                         void (*on_news)(void *context, const struct park_word *word), void *context,
                                         bool *lacks, struct failure *why);
void park_ledger_write(struct park_ledger *ledger, uint64_t wall_us, struct buffer *out);
