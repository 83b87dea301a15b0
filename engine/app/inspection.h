/// Inspection: what no rule forbids and yet cannot be meant, once settings and scripts are loaded and fixtures have
/// run.
///
/// Addresses that no request will ever reach are findings. Ceilings that can never count are warnings. That nobody
/// tests a supplier, and what it declares and never uses, is told to the strict only.
///
/// Threads: one.
/// Memory:  one small array; everything else is borrowed.
#pragma once

#include "app/fixture.h"
#include "app/settings.h"
#include "model/catalogue.h"

#include "script/script_set.h"

enum inspection_weight { INSPECTION_FINDING, INSPECTION_WARNING, INSPECTION_HINT };

/// What the fixtures of one script showed.
struct inspection_seen {
    size_t fixtures, odd;
    uint64_t least_us;    // that one which must not fail takes; UINT64_MAX: nobody knows
    uint64_t ceiling_us;  // the shortest that the script said; UINT64_MAX: none
    uint64_t hosts_asked; // a bit for each of its `hosts`
};

struct inspection {
    const struct settings *settings;
    const struct catalogue *catalogue;
    const char *const *names; // of suppliers; none: all
    size_t name_count;
    void (*tell)(void *context, enum inspection_weight weight, const struct failure *failure);
    void *context;
    struct inspection_seen *seen; // by the script's index in its set
};

/// False: no memory.
MUST_CHECK bool inspection_init(struct inspection *inspection, const struct settings *settings,
                                const struct catalogue *catalogue);
void inspection_fini(struct inspection *inspection);

/// For each fixture that ran.
void inspection_note(struct inspection *inspection, const struct script_supplier *script,
                     const struct fixture *fixture);

/// Tells everything.
void inspection_run(const struct inspection *inspection);

// ---- its parts

/// Tells one thing at a place; `file` absent: none.
void inspection_tell(const struct inspection *inspection, enum inspection_weight weight, enum code code,
                     struct settings_place place, const char *help, const char *format, ...) PRINTF_LIKE(6, 7);
/// Is it about the supplier of this name?
bool inspection_is_about(const struct inspection *inspection, struct text name);
/// The line of the script's file that first assigns `word`.
struct settings_place inspection_place(const struct inspection *inspection, size_t index, const char *word);
/// What the settings say of a supplier; NULL: nothing.
const struct settings_supplier *inspection_settings_of(const struct inspection *inspection, struct text name);
/// What fixtures showed of the script that plays a supplier, under whichever name.
const struct inspection_seen *inspection_seen_of(const struct inspection *inspection, size_t index);

void inspection_run_ceilings(const struct inspection *inspection);
void inspection_run_addresses(const struct inspection *inspection);
void inspection_run_secrets(const struct inspection *inspection);
