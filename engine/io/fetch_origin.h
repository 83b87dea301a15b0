/// Origins: what a fetch pool knows of each host and port it talks to, apart for each route.
///
/// An origin keeps the TLS sessions of its host (a share would hold only 8 for all), remembers which addresses the
/// transport was told, and counts connections, so that the pool can guess whether a new one is needed.
///
/// Threads: their pool's.
/// Memory:  at most ORIGINS_MAX; the one unused longest makes room.
#pragma once

#include "base/list.h"
#include "base/status.h"
#include "base/text.h"

enum { ORIGINS_MAX = 1024, ORIGIN_BUCKETS = 256 };

struct origin {
    struct list bucket_node;
    struct list age_node; // the longest unused first
    char key[296];        // "host:port", lower case; of a route "host:port#ID"
    struct text host;     // within the key
    uint16_t port;
    uint64_t route;   // 0: the plain one
    char *resolve;    // the addresses told to the transport; NULL: none yet
    void *share;      // the transport's TLS sessions; NULL: none yet
    uint32_t users;   // fetches that point here
    uint32_t running; // those the transport works on
    uint32_t sockets; // open ones, in use or kept
};

struct origins {
    struct list buckets[ORIGIN_BUCKETS];
    struct list ages;
    size_t count;
    void (*drop_share)(void *share);
};

void origins_init(struct origins *origins, void (*drop_share)(void *share));
void origins_fini(struct origins *origins); // none is in use any more

/// Finds or makes one and counts a user; NULL when there is no room or no memory. `route`: 0 for the plain one.
MUST_CHECK struct origin *origin_acquire(struct origins *origins, struct text host, uint16_t port, uint64_t route);
void origin_release(struct origins *origins, struct origin **origin);

/// Is an origin still asked for?
typedef bool (*origin_wanted)(void *context, struct text host, uint16_t port, uint64_t route);
/// Each origin without users that is not wanted any more is given to `on_unwanted`, and forgotten once it has no
/// sockets.
void origins_sweep(struct origins *origins, origin_wanted is_wanted, void *context,
                   void (*on_unwanted)(void *owner, struct origin *origin), void *owner);

/// A kept connection is probably free.
bool origin_has_idle(const struct origin *origin);
