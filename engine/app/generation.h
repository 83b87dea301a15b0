/// Generation: the checked scripts and what the settings make of them, as one immutable thing that searches stand on.
///
/// Every `*.lua` of the suppliers directories is a supplier of its own name; `uses` in the settings adds names played
/// by the same file. Each gets one account: its options (the script's, then the settings'), its secrets (from
/// environment variables) and the hosts its requests may go to. A supplier whose secret is not set is switched off, the
/// others live.
///
/// Threads: built by one; acquire, release and reading from any.
/// Memory:  counted; holds its settings and its script set, owns the catalogue and everything in it.
#pragma once

#include "app/settings.h"
#include "model/catalogue.h"

struct generation;

/// Builds from the directories and settings. All findings are reported; on any the result is STATUS_INVALID, or
/// STATUS_TIMEOUT when a script took too long to load, and `*generation` NULL. A secret that is not set is no finding
/// here: its supplier is off, and a warning is logged.
MUST_CHECK enum status generation_build(struct settings *settings, settings_finding report, void *context,
                                        struct generation **generation);
struct generation *generation_acquire(struct generation *generation);
void generation_release(struct generation **generation);

/// The settings that it was made of; they live as long as it does.
const struct settings *generation_settings(const struct generation *generation);

/// Counts from 1 within the process.
uint32_t generation_number(const struct generation *generation);
const struct catalogue *generation_catalogue(const struct generation *generation);

/// The names that the resolver must keep: hosts of the suppliers that are on; without ports, each once, no literals.
const struct text *generation_hosts(const struct generation *generation, size_t *count);

/// Reports a finding for each secret that a supplier misses, unless the settings switch it off; returns how many.
size_t generation_missing_secrets(const struct generation *generation, settings_finding report, void *context);
