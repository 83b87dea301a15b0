/// Nodes: this engine as one of several that share a store: it hears what operators tell the others and which accounts
/// they leave alone, tells them the same, and fetches logins for all of them.
///
/// Only with a store that others see (`store.backend: redis`); else nothing of this exists. Credentials that are
/// refused and logins are shared where keys for offers' tokens are named in the settings, for they are told under marks
/// and seals that these make; all the rest always.
///
/// Threads: opened and closed by the control thread; the board's does the work.
/// Memory:  owns the board; borrows the engine.
#pragma once

#include "base/json_write.h"
#include "base/status.h"

struct engine;
struct nodes;

/// After the store is open and before the loops run. `*nodes` NULL: this engine is alone.
MUST_CHECK enum status nodes_open(struct engine *engine, struct nodes **nodes, struct failure *why);
/// After the switch desk has started. NULL is passed over, as below.
MUST_CHECK enum status nodes_start(struct nodes *nodes, struct failure *why);
/// Before the store is closed: what was told last is still written. Nothing is heard any more.
void nodes_stop(struct nodes *nodes);
/// After the store is closed and the loops have ended.
void nodes_close(struct nodes **nodes);

/// The fields `switches`, whether operators' words outlive a restart, and `nodes`, whether the others are heard; each
/// only where there is such a thing.
void nodes_write(const struct engine *engine, struct json_writer *json);
