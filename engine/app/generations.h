/// Generations: the one that searches begin on now, and those before it that somebody still stands on.
///
/// A generation is published by one thread and taken by all. The last to let go of an old one may be a loop, which must
/// not wait for the freeing of a thousand scripts: it only puts it on a list and wakes the thread that frees.
/// At most GENERATIONS_MAX live: whoever wants to publish one more waits for room first.
///
/// Threads: one publishes, one frees, any may take and let go. One lock, held for a few instructions.
/// Memory:  holds the current generation; those on the list wait for generations_free_ended.
/// Time:    the monotonic clock's.
#pragma once

#include "app/generation.h"
#include "base/list.h"

#include <pthread.h>

enum { GENERATIONS_MAX = 3 };

/// What others do about it; any may be NULL.
struct generations_hooks {
    void (*wake)(void *context); // asks for a call of generations_free_ended; any thread
    /// It is about to be freed; on the thread that frees.
    void (*leave)(void *context, const struct generation *generation);
    void *context;
};

struct generations {
    pthread_mutex_t lock; // of all below
    pthread_cond_t room;  // one was freed, or nobody shall wait any more
    struct generation *current;
    struct list ended; // struct generation: nobody stands on it any more
    size_t live;       // published and not freed yet
    bool is_closed;
    struct generations_hooks hooks;
};

/// The hooks are copied.
void generations_init(struct generations *generations, const struct generations_hooks *hooks);
/// Lets the current one go and frees all; by then nobody stands on any.
void generations_fini(struct generations *generations);

/// Takes the caller's hold: searches that begin from now on begin on it. Each generation once.
void generations_publish(struct generations *generations, struct generation *generation);
/// The one to begin on, acquired; NULL before the first was published.
struct generation *generations_current(struct generations *generations);

size_t generations_live(struct generations *generations);
/// Waits until one more may be published. False: `until_us` came first, or nobody shall wait any more.
MUST_CHECK bool generations_await_room(struct generations *generations, uint64_t until_us);
/// The engine is ending: whoever waits stops.
void generations_close(struct generations *generations);

/// Frees those that nobody stands on; the one thread that frees. Returns how many.
size_t generations_free_ended(struct generations *generations);
