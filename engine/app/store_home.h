/// Store home: where a call for the store comes back to: a loop, or another thread that has a queue.
///
/// Threads: deliver is called on a thread of the store's, and hands the call over.
/// Memory:  lives until the store is closed; embedded in whoever submits calls.
#pragma once

#include "model/store_call.h"

struct store_home {
    void (*deliver)(struct store_home *home, struct store_call *call);
};

/// What a backend gets as its `deliver`; `home` is a store_home.
static inline void store_home_deliver(void *home, struct store_call *call)
{
    struct store_home *own = home;
    own->deliver(own, call);
}
