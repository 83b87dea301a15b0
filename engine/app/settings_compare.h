/// Settings compare: whether two settings say the same, and which of their differences wait for a restart.
///
/// All of it is read off the table of settings: a new row is compared without a line of code here.
///
/// Threads: any; `fresh` of settings_keep_running is its caller's alone.
/// Memory:  what is kept is copied into the arena of `fresh`.
#pragma once

#include "app/settings.h"

/// A setting that only a restart changes, and that differs from the running one.
struct settings_difference {
    const char *setting;    // "io_threads"
    struct failure failure; // where the new value stands, a sentence, and what to do
};

typedef void (*settings_difference_report)(void *context, const struct settings_difference *difference);

/// Do they say the same, wherever it stands and in whatever order suppliers and tables are written?
MUST_CHECK bool settings_is_same(const struct settings *a, const struct settings *b);

/// Does `settings` declare the same table?
MUST_CHECK bool settings_has_same_table(const struct settings *settings, const struct settings_table *table);

typedef void (*settings_name_report)(void *context, struct text name);
/// Names what differs: "deadline.max", "suppliers.acme", "data.hotels", "rules".
void settings_name_changes(const struct settings *before, const struct settings *now, settings_name_report report,
                           void *context);

/// Reports each setting of `fresh` that needs a restart and differs from `running`; returns how many. `report` may be
/// NULL.
size_t settings_compare(const struct settings *running, const struct settings *fresh, settings_difference_report report,
                        void *context);

/// Gives those settings their running values, so that `fresh` says what is true. STATUS_NO_MEMORY: `fresh` is of no
/// use.
MUST_CHECK enum status settings_keep_running(struct settings *fresh, const struct settings *running);

/// Reports each file of `fresh` that sets nothing where the same file of `running` did, or whose last line has no end
/// where that one's had: whoever writes it has not ended yet, or could not. Returns how many.
size_t settings_find_torn(const struct settings *running, const struct settings *fresh, settings_finding report,
                          void *context);
