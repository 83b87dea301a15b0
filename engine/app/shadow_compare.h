/// Shadow compare: what two scripts made of the same answer, held against each other field by field.
///
/// Offers are known by their id. Of one that both have, the finished objects are walked: what differs is told with its
/// JSON pointer and both values; what belongs to the offer's item has a pointer that begins with /item. The next
/// request is compared by method, URL and pause. When it was observed is the engine's word, and is passed over.
///
/// Threads: one owner.
/// Memory:  a side owns what it took.
#pragma once

#include "model/script_call.h"

/// What one script made of an answer.
struct shadow_side {
    enum script_verdict verdict;
    char message[256];
    char code[64];
    enum merge_kind merge;
    bool is_incomplete;
    struct http_request *next; // a copy; NULL: none
    uint64_t after_us;
    struct offer_batch *offers; // acquired; NULL: none
};

/// Copies from a call that is back. STATUS_NO_MEMORY: `side` is as after shadow_side_fini.
MUST_CHECK enum status shadow_side_take(struct shadow_side *side, const struct normalise_call *normalise);
void shadow_side_fini(struct shadow_side *side);

/// A difference; absent values are not there on that side.
struct shadow_difference {
    struct text offer;   // its id; absent: of the answer as a whole
    struct text pointer; // "" is the whole offer
    struct text live, shadow;
};
typedef void (*shadow_on_difference)(void *context, const struct shadow_difference *difference);

enum status shadow_compare(const struct shadow_side *live, const struct shadow_side *shadow,
                           shadow_on_difference report, void *context, size_t *differences);
