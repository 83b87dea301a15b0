/// Keep: hands whole, valid answers to the store, as what their suppliers said last; and holds back those that are
/// absurdly cheap against it (policy.md section 7).
///
/// Kept is what answered whole, or was empty, to a search that may be stored: no part failed, was cut or left out, few
/// offers were dropped, and no limit of ours was met. An answer that came after its search may be kept too, if the
/// search had none of its offers.
///
/// Threads: the search's.
/// Memory:  the store holds the batches, and packs them on a thread of its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct attempt;
struct search;

/// An attempt has closed, or one that lingers.
void keep_answer(const struct search *search, const struct attempt *attempt);

/// Is its answer wanted so much that it goes on for it, because what is known is old or nothing is?
bool keep_wants(const struct search *search, const struct attempt *attempt);

/// Is the median of what it has so far below the last known one that it is held back? If so `why` says so.
bool keep_guards(const struct attempt *attempt, char *why, size_t size);
