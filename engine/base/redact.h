/// Redact: the secrets of this process, and their removal from text that leaves it.
///
/// Secrets of the settings are added at start and on reload, never taken away. Those that pass (logins) are kept until
/// REDACT_PASSING_MAX newer ones have come. The longest one that matches at a place wins.
///
/// Threads: any; adding takes a lock, applying takes none.
/// Memory:  copies of the secrets; those of the settings are kept until the process ends.
#pragma once

#include "base/status.h"
#include "base/text.h"

enum { REDACT_MAX = 64, REDACT_PASSING_MAX = 256, REDACT_SECRET_MIN = 4 };

/// STATUS_INVALID: shorter than REDACT_SECRET_MIN. STATUS_FULL: already REDACT_MAX. A known one is STATUS_OK.
MUST_CHECK enum status redact_add(struct text secret);

/// Adds a secret that will be of no use one day. A short one, or one that there is no memory for, is passed over.
void redact_add_passing(struct text secret);

/// Replaces every secret by *** in place and returns the new length, which is never larger.
/// `is_cut`: the bytes end where a longer text was cut, so a beginning of a secret at the end goes as well.
size_t redact_apply(char *bytes, size_t length, bool is_cut);
