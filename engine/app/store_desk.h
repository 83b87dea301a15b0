/// Store desk: which store the settings ask for, opened, watched and told of.
///
/// Threads: opened by the control thread before the loops begin; what it tells, any but a loop.
/// Memory:  the store is the caller's, who closes it by its own ops.
#pragma once

#include "app/settings.h"
#include "base/json_write.h"
#include "store/store.h"

struct metrics;

enum store_backend { STORE_BACKEND_NONE, STORE_BACKEND_LMDB, STORE_BACKEND_REDIS };

/// What `store.backend` says; "auto" is a directory in `state_dir`, if that is set.
enum store_backend store_desk_backend(const struct settings *settings);
const char *store_backend_name(enum store_backend backend);

/// Where the directory is, or would be. False: it has no room.
enum { STORE_PATH_SIZE = 1024 };
MUST_CHECK bool store_desk_path(const struct settings *settings, char path[STORE_PATH_SIZE]);

/// `*store` NULL and STATUS_OK: the settings want none. `why` says what is wrong, and the remedy.
MUST_CHECK enum status store_desk_open(const struct settings *settings, struct store **store, struct failure *why);

/// Would it open? Touches nothing, for `lastcall check`.
MUST_CHECK enum status store_desk_check(const struct settings *settings, struct failure *why);

/// The field `store`; `store` may be NULL.
void store_desk_write(struct store *store, const struct settings *settings, struct json_writer *json);
/// Its rows; `store` may be NULL.
void store_desk_sample(struct store *store, struct metrics *metrics);
