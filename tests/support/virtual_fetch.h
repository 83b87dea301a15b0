/// Virtual fetch: the fetches of a virtual world: when each is connected, answers, fails or loses its race.
///
/// Threads: one.
/// Memory:  a fetch under way is one allocation, reached by its timer.
#pragma once

#include "search/ports.h"

enum status virtual_fetch_start(struct world *world, struct fetch *fetch);
void virtual_fetch_cancel(struct world *world, struct fetch *fetch);
enum phase virtual_fetch_phase(struct world *world, struct fetch *fetch);

/// Frees what runs when the world ends, if this timer is one of a fetch.
void virtual_fetch_drop(struct timer *timer);
