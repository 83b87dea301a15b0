/// Mode: for whom an account of a supplier is asked (contract.md section 6).
///
/// LIVE: for everybody. DARK: for a share of the searches, so that one sees how it does; never shown. TEST: for
/// searches that say that they are a test.
///
/// Threads: any; constants.
#pragma once

#include "base/text.h"

#include <stdbool.h>

enum mode { MODE_LIVE, MODE_DARK, MODE_TEST };

static inline const char *mode_name(enum mode mode)
{
    return mode == MODE_DARK ? "dark" : mode == MODE_TEST ? "test" : "live";
}

/// False: the word names none.
static inline bool mode_find(struct text word, enum mode *mode)
{
    for (*mode = MODE_LIVE; *mode <= MODE_TEST; (*mode)++) {
        if (text_equals_c(word, mode_name(*mode))) {
            return true;
        }
    }
    return false;
}
