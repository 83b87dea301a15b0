/// Draft key: what the name of a pasted value speaks of.
///
/// Threads: any.
/// Memory:  none.
#pragma once

#include "base/text.h"

enum { DRAFT_KEY_SIZE = 64 };

/// "X-Api-Key" -> "xapikey"
void draft_key_plain(struct text key, char out[DRAFT_KEY_SIZE]);

// Of a plain key:
bool draft_key_has_any(const char *key, const char *const *parts, size_t count);
bool draft_key_is_any(const char *key, const char *const *words, size_t count);
bool draft_key_ends_with(const char *key, const char *end);
bool draft_key_begins_with(const char *key, const char *begin);

/// Is its last word that: "fly_to", "flyTo", "fly-to"? The word is in small letters; alone it is no last one.
bool draft_key_ends_with_word(struct text key, const char *word);
