/// Drop words: what is wrong with a dropped offer, by the words that its schema has for it: a code, and what to do.
///
/// Threads: any.
/// Memory:  none.
#pragma once

#include "base/status.h"
#include "base/text.h"

struct drop_words {
    const char *words;
    enum code code;
    const char *help;
};

/// `sentence` is that of a dropped offer, "[2].price.currency: … expected, got …". NULL: nothing more is known of it.
const struct drop_words *drop_words_find(struct text sentence);
