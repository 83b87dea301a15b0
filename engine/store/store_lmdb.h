/// Store over LMDB: a directory of this machine, of one engine.
///
/// A reader thread serves INDEX, READ and NOTE_GET, a writer thread of the lowest priority the rest, in batches: what
/// is kept can be read some 50 ms later, and outlives the death of the process from then on, that of the machine a
/// second later. The oldest answers are forgotten when 70 % of `max_bytes` are used. Damage is found by checksums, and
/// costs what it hit.
///
/// Threads: two of its own, and those that submit, who never wait.
/// Memory:  as store/store.h; the file is mapped.
#pragma once

#include "base/status.h"
#include "store/store.h"

struct store_lmdb_options {
    const char *directory; // made if it is missing
    uint64_t max_bytes;    // of the file
    void (*deliver)(void *home, struct store_call *call);
};

/// Before there are many threads: it forks for a moment, to look at the file. STATUS_INVALID: another process has it;
/// STATUS_IO: it cannot be used; `why` says how to mend that.
MUST_CHECK enum status store_lmdb_open(const struct store_lmdb_options *options, struct store **store,
                                       struct failure *why);
