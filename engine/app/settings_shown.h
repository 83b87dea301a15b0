/// Settings shown: what each setting is, and who said so, for `lastcall config show`.
///
/// A tree like that of the files: sections, and settings with everything that was said of them, the winner first. It is
/// filled while the settings are read; what scripts say is added by whoever has loaded them.
///
/// Threads: one.
/// Memory:  its own arena.
#pragma once

#include "app/settings_table.h"
#include "app/settings_yaml.h"

enum settings_source { SETTINGS_BUILT_IN, SETTINGS_SCRIPT, SETTINGS_FILE, SETTINGS_ENVIRONMENT };

/// Somebody's word on a setting.
struct settings_said {
    enum settings_source source;
    const char *file; // of a script or a file; the variable's name; NULL: built in
    uint32_t line;
    const struct settings_node *value;
    struct settings_said *before; // what it wins over; NULL: nothing
};

struct settings_shown_node {
    struct text key;
    struct settings_said *said; // the winner; NULL: a section
    struct settings_shown_node *first, *last, *next;
};

struct settings_shown {
    struct arena arena;
    struct settings_shown_node root;
    bool is_out_of_memory;
};

/// With all that is built in.
void settings_shown_init(struct settings_shown *shown);
void settings_shown_fini(struct settings_shown *shown);

/// A setting was read; `node` is copied.
void settings_shown_add(struct settings_shown *shown, const struct setting_path *path,
                        const struct settings_node *node);
/// A section that the operator named exists, even if it is empty.
void settings_shown_enter(struct settings_shown *shown, const struct setting_path *path);
/// A script says so: below all that files and the environment say.
void settings_shown_add_script(struct settings_shown *shown, const struct setting_path *path, const char *file,
                               struct text value, bool is_plain);

/// settings_read, with `shown` (initialised; NULL: nobody looks) filled.
MUST_CHECK enum status settings_read_shown(const char *const *files, size_t count, settings_finding report,
                                           void *context, struct settings_shown *shown, struct settings **settings);
