/// Traffic: which searches reach a supplier that gets a share of them only.
///
/// Threads: any; plain values.
/// Memory:  nothing to free.
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRAFFIC_ALL = 1000000 }; // millionths

/// Is this search among the supplier's share? Always the same for the same two names, and independent between
/// suppliers: the FNV-1a hash (64 bit) of "SEARCH_ID SUPPLIER", its upper half folded into its lower, modulo 1,000,000
/// is below the share. FNV-1a: Fowler, Noll, Vo; public domain.
bool traffic_reaches(struct text search_id, struct text supplier, uint64_t share_millionths);
