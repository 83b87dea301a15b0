/// Watch list: the files and folders that a generation is made of, for app/file_watch.h.
///
/// The settings' own files, suppliers with their fixtures, products, modules and airports, look-up tables, the table of
/// rates, secrets that are files, client certificates. `network.ca_file` is not among them: it needs a restart anyway.
///
/// Threads: one.
/// Memory:  one arena; the settings may go.
#pragma once

#include "app/file_watch.h"
#include "app/settings.h"

struct watch_list {
    struct arena arena;
    struct file_watch_path *items;
    size_t count;
};

/// STATUS_NO_MEMORY; watch_list_fini is due in any case.
MUST_CHECK enum status watch_list_init(struct watch_list *list, const struct settings *settings);
void watch_list_fini(struct watch_list *list);
