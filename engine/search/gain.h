/// Gain: what each supplier added to a reply, told to the world, so that the next searches know what waiting brings.
///
/// Threads: the search's.
/// Memory:  owns nothing.
#pragma once

#include "search/merge.h"

struct search;

/// Tells of each attempt that answered, be it with nothing, which items of the reply are its own: those that only it
/// has, and those of which it has the cheapest offer.
void gain_tell(struct search *search, const struct merge_result *merged);
