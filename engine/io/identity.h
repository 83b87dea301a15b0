/// Identity: a client certificate with its key, read from PEM files and checked.
///
/// Threads: any.
/// Memory:  the texts live in the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/status.h"

/// STATUS_INVALID: they cannot be used, and `why` says in what way: a file cannot be read, holds no certificate or no
/// key without a passphrase, the key belongs to another certificate, or the certificate has expired.
MUST_CHECK enum status identity_load(const char *certificate_file, const char *key_file, struct arena *arena,
                                     struct text *certificate, struct text *key, struct failure *why);
