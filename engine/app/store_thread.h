/// Store thread: where a store over Redis lives: a loop for its connection, and a second thread, behind all others,
/// that packs what is kept.
///
/// Threads: those two; the store itself may be used from any.
/// Memory:  owned by the store, whose close ends it all.
#pragma once

#include "app/store_url.h"
#include "store/store.h"

struct store_thread_options {
    struct store_url url;
    struct text user, password; // absent: none; copied
    struct text prefix;         // of all names; absent: "lastcall"
    size_t press_above;         // bytes of an answer's offers; 0: 2 KiB
    uint64_t seed;              // of the pauses between attempts; 0: of its own
    void (*deliver)(void *home, struct store_call *call);
};

/// A store that is down is no failure: it is asked again, and searches go on without it. STATUS_NO_MEMORY or STATUS_IO:
/// there are no threads.
MUST_CHECK enum status store_thread_open(const struct store_thread_options *options, struct store **store,
                                         struct failure *why);
