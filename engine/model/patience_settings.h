/// Patience settings: what waiting costs, and whether searches end when nothing is worth it any more, as the settings
/// say.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct patience_settings {
    bool finishes_early;
    double delay_cost; // offers that a second of a search's waiting costs
    double least_gain; // offers; a wait that brings no more is over
    double novelty;    // with so many offers held, the next ones are worth half; 0: they are always worth the same
    double held_cost;  // the share of an answer that a second of a held connection costs; 0: no built-in ceilings
};
