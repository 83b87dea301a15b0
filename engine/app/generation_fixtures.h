/// Generation fixtures: the fixtures of what changed in a generation, before anybody is asked by it.
///
/// They run beside the living: the scripts have lives of their own, the tables counts of their own, so that an odd
/// answer in a fixture puts no script out of service and is no call of its trial.
///
/// Threads: the builder's, and a worker of its own.
/// Memory:  nothing is left.
/// Time:    bounded; what takes longer counts as failed.
#pragma once

#include "app/generation.h"

enum { FIXTURES_SUPPLIER_MAX_US = 10 * 1000 * 1000, FIXTURES_ALL_MAX_US = 60 * 1000 * 1000 };

/// A supplier whose fixtures failed: the digest of its script, and the first finding with its place and remedy.
typedef void (*generation_fixture_failure)(void *context, struct text supplier, const unsigned char *digest,
                                           const struct failure *first);

/// Runs the fixtures of the suppliers that `changes` says were changed or added, and reports each one that fails; names
/// that `uses` gives to a file fail with it. Returns how many did. Suppliers without fixtures pass. The caller builds
/// again with these refused. STATUS_NO_MEMORY and an engine without threads are failures of all.
size_t generation_try_fixtures(const struct generation *generation, const struct script_changes *changes,
                               generation_fixture_failure report, void *context);
