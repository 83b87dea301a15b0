/// Wake: when libcurl wants to be entered again, by its own word.
///
/// "At once" comes after the loop's other sockets have had their turn: a peer that always has more would keep the loop
/// from them.
///
/// Threads: its loop's.
/// Memory:  nothing; embedded in its owner.
#pragma once

#include "io/loop.h"

struct wake {
    struct loop *loop;
    struct timer timer;
    struct message again;
    void (*on_due)(void *context);
    void *context;
};

/// False: no memory; wake_fini is due all the same.
MUST_CHECK bool wake_init(struct wake *wake, struct loop *loop, void (*on_due)(void *context), void *context);
void wake_fini(struct wake *wake);

/// In place of what was set before. Below 0: never; 0: at once.
void wake_set(struct wake *wake, long timeout_ms);
