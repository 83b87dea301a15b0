/// Reask: the ceilings that read their search's progress, asked again while their suppliers are awaited.
///
/// A supplier is asked again when a field that its function read has changed, and at most every 100 ms; elapsed_ms and
/// remaining_ms always have. All that are due go in one script call, and a search has one such call under way at most.
/// Until its answer is there, and when it fails or comes late, the old ceiling holds.
///
/// Threads: the search's.
/// Memory:  embedded in its search; owns a call that is under way.
/// Time:    through the search's world.
#pragma once

#include "model/ceiling_call.h"
#include "search/ports.h"

struct attempt;
struct search;

enum { REASK_EVERY_US = 100000 };

struct reask {
    struct timer timer;          // when those that read may be asked next
    struct ceiling_call *call;   // while it is out
    struct search_progress seen; // what the last answer was made of
    uint64_t asked_us;           // when the last call went out; first: when the start call was back
    bool is_on;                  // some ceiling has read the progress
};

/// The attempts have begun; `eligible` is what their ceilings were told.
void reask_begin(struct reask *reask, struct search *search, uint32_t eligible);
/// One has begun that had to wait.
void reask_join(struct reask *reask, struct search *search, const struct attempt *attempt);
/// Something of the search has changed.
void reask_note(struct reask *reask, struct search *search);
void reask_fini(struct reask *reask, struct search *search);

/// How far the search has come, but for its times.
void search_progress_of(const struct search *search, struct search_progress *progress);
