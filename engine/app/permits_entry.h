/// Permits, the entry: what is kept of one account; inside of permits.
///
/// Two locks. `lock` of the permits is for those who move and leave, and covers the list of entries with what is said
/// so below; loops never take it. `lock` of an entry is for everybody.
///
/// Threads: as said.
/// Memory:  of the permits.
#pragma once

#include "app/knowledge_shelf.h"
#include "app/permits.h"
#include "base/list.h"

#include <pthread.h>
#include <stdatomic.h>

struct permit_entry {
    struct list node;      // under the permits' lock, like the next four
    uint64_t hash;         // of both names
    uint32_t generations;  // that have the account
    bool is_now;           // the newest one has
    struct permits *owner; // never changes, as do the names
    struct text supplier, account;

    pthread_mutex_t lock;
    struct quota quota;
    uint64_t refused[QUOTA_CONCURRENT + 1]; // by the answer
    uint64_t refused_others;
    struct health health;
    struct extra_book extra;
    struct auth_park auth;
    uint64_t credentials; // hash of what they are; 0: not known yet
    uint64_t auth_parks, looks;
    double worth;
    uint64_t linger_learn; // millionths
    uint32_t lingering;    // parts
    uint64_t dice;
    atomic_uint out; // attempts; without the lock, like the next two
    _Atomic uint64_t calls, answered;
    struct knowledge_shelf shelf; // has a lock of its own
    char names[];
};

struct permits {
    pthread_mutex_t lock;
    struct list entries;
    size_t count;
    uint64_t (*now_us)(void);
    const struct permits_listener *listener; // NULL: nobody
    pthread_mutex_t guard_lock;              // taken under an entry's, for a moment: it is one for all
    struct breaker_guard guard;
    pthread_mutex_t extra_lock; // likewise
    struct extra_engine extra;
};
