/// Fold: what a caller makes of a search's events, to compare with the single reply.
///
/// Threads: one.
/// Memory:  owns copies of everything.
#pragma once

#include "base/text_map.h"
#include "search/event.h"

struct fold {
    char **kept; // every event, for the maps to point into
    size_t kept_count;
    struct text_map items, offers;
    size_t seen[SEARCH_EVENT_DONE + 1];
    uint64_t last_seq;
    size_t retracted;
};

void fold_init(struct fold *fold);
void fold_fini(struct fold *fold);

/// Fails the process on what no caller could make sense of: not JSON, a gap in `seq`, an unknown id retracted.
void fold_take(struct fold *fold, enum search_event event, struct text json);

/// `"items":{…},"offers":[…],"facets":{…}` in the order, and with the facets, that `done` gave; free it.
char *fold_result(const struct fold *fold, struct text done);
