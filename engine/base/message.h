/// Message: what one thread hands to another; embedded in the thing that is handed over.
///
/// The sender owns the thing until it posts it, the receiver from then on.
///
/// Threads: crosses them; never touched by two at once.
#pragma once

#include "base/list.h"

struct message {
    struct list node;
    void (*on_receive)(struct message *message); // runs on the receiving thread, exactly once
};
