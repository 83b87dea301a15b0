/// Try, fit: do the offers answer what was asked? A saved answer may be one to another search, and a script may read
/// what is no slice.
///
/// Threads: one.
/// Memory:  none.
#pragma once

#include "app/try.h"

enum { TRY_FIT_SENTENCE_MAX = 200 };

/// Numbers of offers, of which a slice …; all 0 for products without slices.
struct try_fit {
    size_t offers;       // all of them
    size_t other_counts; // … is missing, or is one too many
    size_t other_days;   // … leaves on another day than was asked
    size_t other_orders; // … leaves before the one before it has arrived
    size_t other_places; // … goes from or to another place, which is no mistake between airports of one city
    size_t asked_count, first_count; // of slices: of the search, and of the first that has others
    char first_places[64];           // "LAX-WAW where BRU-LON was asked"
};

void try_fit_read(struct try_fit *fit, const struct try_run *run);

/// Says what does not fit, a sentence at a time.
void try_fit_say(const struct try_fit *fit, void (*say)(void *context, const char *sentence), void *context);
