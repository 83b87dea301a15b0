/// Switch purge: an operator has what a supplier said last forgotten.
///
/// Threads: the switch desk's, which waits for the store, but not for ever.
/// Memory:  nothing is left.
#pragma once

#include "app/switch_desk.h"
#include "store/store.h"

/// Fills `end`, `purged`, and `because` where it could not be done. `store` may be NULL.
void switch_purge(struct store *store, struct switch_request *request);
