/// Reload again: when a reload that nobody waits for is asked for once more, after a refusal that passes by itself.
///
/// Files that changed are told once, so the change must not get lost with such a refusal. The pause grows, for each
/// refusal is an event.
///
/// Threads: the builder's.
/// Memory:  embedded.
/// Time:    is given.
#pragma once

#include "app/reload_answer.h"

enum { RELOAD_AGAIN_MAX_US = 60000000 };

struct reload_again {
    uint64_t due_us; // 0: nothing waits
    uint64_t pause_us;
    enum reload_source source; // who asked
};

/// What was asked for by `source` was refused for what passes; the first pause is `first_us`.
void reload_again_later(struct reload_again *again, enum reload_source source, uint64_t first_us, uint64_t now_us);
/// What lies on the disk was read, whatever became of it.
void reload_again_forget(struct reload_again *again);
/// True, once: now, for `again->source`.
MUST_CHECK bool reload_again_is_due(struct reload_again *again, uint64_t now_us);
