/// Store over Redis or Valkey: the shared one, of several engines.
///
/// One connection (redis_link.h) over a transport of app/'s; calls go out as they come, many at once, and reads before
/// writes. While the connection is down a call comes home as a fault at once, from wherever it was submitted; what has
/// no answer at its end comes home then, and its late reply is dropped. What is kept is packed on the transport's
/// second thread, and dropped when more waits than there is room for.
///
/// Redis that takes nothing (full, a replica, its disk) is left alone with what is kept for a second at a time, and
/// still read.
///
/// Threads: submit and report from any; it lives on the transport's.
/// Memory:  owns a copy of what it is told, its calls until they go home, and what waits: at most REDIS_JOBS_MAX calls,
///          whose offers to be kept take at most REDIS_KEEP_MAX bytes.
/// Time:    of the transport.
#pragma once

#include "store/store.h"
#include "store/transport.h"

enum {
    REDIS_JOBS_MAX = 4096,
    REDIS_OWED_MAX = 8192,          // replies
    REDIS_KEEP_MAX = 64 << 20,      // bytes of offers that wait to be kept
    REDIS_WRITE_WINDOW = 256 << 10, // bytes of writes under way: what a read may have before it
    REDIS_WRITE_REST_US = 1000000,
    REDIS_PATIENCE_US = 5000000, // of calls without an end
    REDIS_PURGE_US = 120000000,
};

struct store_redis_options {
    struct text user, password; // absent: none
    uint32_t database;
    struct text prefix; // of all names
    size_t press_above; // bytes of an answer's offers
    uint64_t seed;      // of the pauses
    struct transport transport;
    void (*deliver)(void *home, struct store_call *call);
};

/// It connects by itself. NULL: no memory.
MUST_CHECK struct store *store_redis_create(const struct store_redis_options *options);
