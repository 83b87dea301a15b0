/// Known: the knowledge of an account that searches hold, with its curve and its worth, to be evaluated.
///
/// Threads: as model/knowledge.h: filled by one, then immutable.
/// Memory:  the caller allocates it (malloc) and hands it on as a struct knowledge, which is its beginning.
/// Time:    never reads the clock; times count from the start of an attempt.
#pragma once

#include "model/knowledge.h"
#include "policy/latency.h"
#include "policy/worth.h"

enum {
    KNOWN_LEAST = 20,      // observations of the last minutes; fewer are no knowledge to act on
    KNOWN_TAIL_LEAST = 100 // as many say that what outlived all of them does not come any more
};

struct known {
    struct knowledge knowledge;
    struct latency_curve curve;
    struct worth worth;
};

/// From curve and worth, which are set; `held_cost` as in struct patience_settings. One reference is the caller's.
void known_finish(struct known *known, double held_cost);

static inline const struct known *known_of(const struct knowledge *knowledge)
{
    return (const struct known *)(const void *)knowledge;
}

/// Is it known what becomes of an attempt between `elapsed_us` and `until_us`? Not where too few were followed so far:
/// we may have cut them all ourselves.
bool known_reaches(const struct known *known, uint64_t elapsed_us, uint64_t until_us);
