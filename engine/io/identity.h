/// Identity: certificates as PEM files have them, read and checked: a client's with its key, and the authorities'.
///
/// Threads: any.
/// Memory:  the texts live in the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/status.h"

/// STATUS_INVALID: the file, which `setting` names, holds no certificate to trust, or cannot be read.
MUST_CHECK enum status identity_check_authorities(const char *setting, const char *file, struct failure *why);

/// STATUS_INVALID: they cannot be used, and `why` says in what way: a file cannot be read, holds no certificate or no
/// key without a passphrase, the key belongs to another certificate, or the certificate has expired.
MUST_CHECK enum status identity_load(const char *certificate_file, const char *key_file, struct arena *arena,
                                     struct text *certificate, struct text *key, struct failure *why);

/// A number that is the same for the same texts in the same order, and different for any others.
uint64_t identity_fingerprint(const struct text *texts, size_t count);
