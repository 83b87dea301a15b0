/// Generation: the checked scripts and what the settings make of them, as one immutable thing that searches stand on.
///
/// Every `*.lua` of the suppliers directories is a supplier of its own name; `uses` in the settings adds names played
/// by the same file. Each gets one account: its options (the script's, then the settings'), its secrets (from
/// environment variables) and the hosts its requests may go to. A supplier whose secret is not set is switched off, the
/// others live.
///
/// Threads: built by one; acquire, release and reading from any.
/// Memory:  counted, and its count is the ground of its catalogue: holding either keeps all. Holds its settings and its
///          script set, owns the catalogue and everything in it.
#pragma once

#include "app/settings.h"
#include "base/list.h"
#include "model/catalogue.h"
#include "script/script_set.h"

struct generation;

/// Builds from the directories and settings. All findings are reported; on any the result is STATUS_INVALID, or
/// STATUS_TIMEOUT when a script took too long to load, and `*generation` NULL. A secret that is not set is no finding
/// here: its supplier is off, and a warning is logged.
MUST_CHECK enum status generation_build(struct settings *settings, settings_finding report, void *context,
                                        struct generation **generation);

/// What a generation is built of, and over which one.
struct generation_order {
    struct settings *settings;
    struct generation *previous;  // what runs; NULL: nothing does, and any finding refuses the whole
    struct script_set *candidate; // where scripts that are checked already are looked for as well; NULL
    struct script_set *fixed;     // these very scripts, whatever is on disk; NULL: those on disk
    struct data_set *fixed_data;  // these tables, whatever their files say; NULL: those on disk
    struct rates *fixed_rates;    // these rates likewise
    script_refuses refuses;       // must this script, table or rates not run? NULL: none is refused
    void *refuses_context;
    const struct text *shadows; // suppliers whose changed files are shadows of what runs; not with `fixed`
    size_t shadow_count;
    const struct text *needed; // without `previous`: whom alone a finding may stop; NULL: any one refuses the whole
    size_t needed_count;
    settings_finding aside; // then what stops none of them is told here; whom it is about is left out, or off
};

/// Builds over what runs. A script that is broken, or that does not go with the settings, keeps the version that runs,
/// a table or the rates that cannot be read likewise, and the others move on; all of it stands in `changes`, which is
/// initialised and may be NULL. What is the settings' own fault refuses the whole: STATUS_INVALID, and `*generation` is
/// NULL; so do a suppliers directory that cannot be read or gave suppliers and is empty, and a file of settings that
/// was emptied. Every finding is reported, also those that only kept a script back: the status alone says what became
/// of it.
///
/// Only settings differ: the script set is shared. Nothing differs at all: `*generation` is `previous`, acquired. What
/// waits for a restart is the caller's affair (app/settings_compare.h). Without `previous` it is generation_build.
MUST_CHECK enum status generation_build_over(const struct generation_order *order, settings_finding report,
                                             void *context, struct generation **generation,
                                             struct script_changes *changes);

/// Is what a supplier has beside its script the same: its accounts with their secrets and certificates, and whether it
/// is on?
bool generation_is_same_supplier(const struct catalogue_supplier *a, const struct catalogue_supplier *b);

struct generation *generation_acquire(struct generation *generation);
/// The last one frees it, where it is; but see generation_give_end.
void generation_release(struct generation **generation);

/// From now on the end of the last hold frees nothing: `on_end` gets the generation, on whichever thread that is, and
/// whoever it is handed to calls generation_destroy. By a holder, once.
void generation_give_end(struct generation *generation, void (*on_end)(void *context, struct generation *generation),
                         void *context);
void generation_destroy(struct generation **generation);
/// A place of it in a list, for its owner after its end.
struct list *generation_node(struct generation *generation);
struct generation *generation_of_node(struct list *node);

/// Counts from 1 within the process.
uint32_t generation_number(const struct generation *generation);
const struct catalogue *generation_catalogue(const struct generation *generation);
/// Those it was built from; what a search reads of the settings comes from here.
const struct settings *generation_settings(const struct generation *generation);

/// The names that the resolver must keep: hosts of the suppliers that are on; without ports, each once, no literals.
const struct text *generation_hosts(const struct generation *generation, size_t *count);

/// Reports a finding for each secret that a supplier misses, unless the settings switch it off; returns how many.
size_t generation_missing_secrets(const struct generation *generation, settings_finding report, void *context);

/// The same of one supplier, of whichever account.
size_t generation_missing_secrets_of(const struct generation *generation, struct text supplier, settings_finding report,
                                     void *context);
