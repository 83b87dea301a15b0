/// Some offers: a batch as a worker makes them, of offers that differ, for tests of what is done with batches.
///
/// Threads: any.
/// Memory:  the batch is the caller's.
#pragma once

#include "model/offer.h"

/// `seed` makes different ones; each offer's JSON is some 600 bytes, its price at least `units`. Aborts without memory.
struct offer_batch *some_offers(size_t count, unsigned seed, int64_t units);
