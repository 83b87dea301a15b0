/// Record: fills the record of a search from its attempts, at the reply or when the caller leaves.
///
/// Threads: the search's.
/// Memory:  the record owns copies of all that it tells; nothing of the search is held.
#pragma once

#include "model/search_record.h"
#include "search/search.h"

struct attempt;

/// Of an attempt that went on and has ended, or is given up now. NULL without memory.
MUST_CHECK struct search_record *search_record_late(const struct search *search, const struct attempt *attempt);

/// Of a search that replies now; a refused one has no attempts to tell of. NULL without memory.
MUST_CHECK struct search_record *search_record_of(const struct search *search, const struct search_reply *reply);
