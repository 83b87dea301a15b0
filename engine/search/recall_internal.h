/// Recall, inside: what asking the store (recall.c) and showing what it had (recall_show.c) share.
///
/// Threads: the search's.
/// Memory:  nothing is handed over.
#pragma once

#include "policy/last_known.h"
#include "search/search_internal.h"

/// The wall clock at the search's arrival, which ages count to.
static inline uint64_t recall_now_ms(const struct search *search)
{
    return search->options.arrival_wall_us / 1000;
}

static inline const struct last_known_settings *recall_settings(const struct search *search)
{
    return &search->options.catalogue->last_known;
}

static inline const struct last_known_terms *recall_terms(const struct attempt *attempt)
{
    return &attempt->supplier->last_known;
}

/// Is whoever brings nothing represented by what it said last?
static inline bool recall_wants_indicative(const struct search *search)
{
    return search->options.indicative != INDICATIVE_NONE && !search->options.whole_or_nothing;
}

/// Are they told before the others?
static inline bool recall_tells_first(const struct search *search)
{
    return search->options.indicative == INDICATIVE_FIRST && stream_is_on(&search->stream) &&
           recall_wants_indicative(search);
}

static inline bool recall_has_offers(const struct attempt *attempt)
{
    return attempt->recalled.state == RECALL_FOUND && attempt->recalled.head.offers > 0;
}

/// Has it closed in a way that something may stand in for?
static inline bool recall_may_fill(const struct attempt *attempt)
{
    return attempt->state == ATTEMPT_CLOSED && outcome_row(attempt->outcome)->last_known_may_fill &&
           attempt->stock.live == 0 && !attempt_is_dark(attempt);
}

/// Its last known offers are here: a stream that has them first is told.
void recall_show_early(struct search *search, struct attempt *attempt);
