/// Secret: where the value of a secret is found: an environment variable, or a file of its name in the directory of
/// credentials.
///
/// The variable wins when it is set and not empty. The directory is the setting `secrets_dir`; without it the one that
/// CREDENTIALS_DIRECTORY names, as systemd sets it. One newline at the end of a file is not part of the secret.
///
/// Threads: any.
/// Memory:  the caller's arena.
#pragma once

#include "base/arena.h"
#include "base/status.h"

enum { SECRET_MAX = 64 * 1024 };

/// `directory` is the setting; absent: not set. Whatever was found is from now on kept out of everything that is
/// written. STATUS_NOT_FOUND: there is none; STATUS_INVALID: there is one that cannot be used: a file that cannot be
/// read, is no regular file, empty, larger than SECRET_MAX, or holds a NUL byte. `why` then has a sentence that goes on
/// after the secret's name ("is not set") and the remedy. A file that everybody may read is used, with a warning in the
/// log.
MUST_CHECK enum status secret_find(struct text directory, struct text name, struct arena *arena, struct text *value,
                                   struct failure *why);

/// The directory of credentials: the setting, else the environment's; absent: there is none.
struct text secret_directory(struct text setting);
