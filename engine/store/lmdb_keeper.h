/// LMDB keeper: what a writer does with calls, in turns over the tables.
///
/// It keeps answers, forgets the oldest when the tables hold more than their share of the file, purges suppliers, and
/// sweeps out what is over, a little at a time.
///
/// Threads: the writer's; the counts are read by any.
/// Memory:  embedded; owns a buffer.
/// Time:    is an argument.
#pragma once

#include "store/lmdb_answer.h"

#include <stdatomic.h>

struct lmdb_keeper {
    struct lmdb_file *file;
    uint64_t most_bytes; // that the tables may take
    uint64_t next_number;
    struct buffer packed;
    struct lmdb_name swept; // where the sweep has come to
    struct lmdb_name swept_note;
    atomic_uint_fast64_t entries, bytes, evicted, purged;
};

/// `max_bytes` is of the file; the tables get 70 % of it, because large values need free pages side by side.
MUST_CHECK enum status lmdb_keeper_init(struct lmdb_keeper *keeper, struct lmdb_file *file, uint64_t max_bytes);
void lmdb_keeper_fini(struct lmdb_keeper *keeper);
/// The file was begun anew.
MUST_CHECK enum status lmdb_keeper_look(struct lmdb_keeper *keeper);

/// Does all of KEEP, NOTE_PUT and NOTE_DELETE in `calls`, in one turn, and fills in what became of each. Anything but
/// STATUS_OK: nothing was done.
MUST_CHECK enum status lmdb_keeper_do(struct lmdb_keeper *keeper, struct list *calls);
/// Forgets what is asked, in as many turns as it takes.
MUST_CHECK enum status lmdb_keeper_purge(struct lmdb_keeper *keeper, struct store_call *call);
/// Forgets some of the oldest, because a turn found no room.
MUST_CHECK enum status lmdb_keeper_make_room(struct lmdb_keeper *keeper);
/// Looks through some of the tables for what is over. `is_round`: it has come to their end.
MUST_CHECK enum status lmdb_keeper_sweep(struct lmdb_keeper *keeper, uint64_t now_ms, bool *is_round);
/// Forgets one answer that cannot be read.
MUST_CHECK enum status lmdb_keeper_forget(struct lmdb_keeper *keeper, const struct lmdb_name *name);
