/// Settings reader: applies checked trees, one after the other, to the settings that are being read.
///
/// Each value is checked when it is applied, also one that a later file overrides. Findings are counted, never fatal.
///
/// Threads: one.
/// Memory:  the settings' arena for what stays; nodes must live until settings_reader_finish.
#pragma once

#include "app/settings_table.h"
#include "app/settings_yaml.h"

enum { SETTING_ROWS_MAX = 128 };

struct settings_shown;

struct settings_reader {
    struct settings *settings;
    settings_finding report;
    void *context;
    size_t findings;
    bool is_out_of_memory;
    struct setting_path path;                              // of the entry being applied
    size_t supplier;                                       // index of the supplier that `path` lies in
    size_t account;                                        // and of its account
    size_t table;                                          // index of the table that `path` lies in
    struct settings_rule *rule;                            // that `path` lies in
    struct settings_shown *shown;                          // NULL: nobody looks who said what
    const struct settings_node *origins[SETTING_ROWS_MAX]; // the winner of each row of the engine
};

/// Fills `settings` (zeroed but for its arena) with the defaults. Nodes come from `scratch`.
void settings_reader_init(struct settings_reader *reader, struct settings *settings, struct arena *scratch,
                          settings_finding report, void *context);
void settings_apply(struct settings_reader *reader, const struct settings_node *root);

/// Applies the entries of a map below `reader->path`.
void settings_apply_below(struct settings_reader *reader, const struct settings_node *map);

/// Applies the list of rules at `path`; it takes the place of an earlier file's.
void settings_apply_rules(struct settings_reader *reader, const struct settings_node *list);
/// Where a value of the current rule is stored: the rule, or a new condition of it; keeps its place. NULL without
/// memory.
MUST_CHECK void *settings_rule_base(struct settings_reader *reader, const struct setting *row,
                                    const struct settings_node *entry);
/// Reads the words of conditions, and reports what is wrong with rules as far as settings alone can tell.
void settings_finish_rules(struct settings_reader *reader);

/// Checks what settings must agree on, and gives suppliers without an account "main".
void settings_reader_finish(struct settings_reader *reader);

/// Puts the accounts of a supplier into the order in which they are tried, and reports what is wrong with them.
void settings_finish_accounts(struct settings_reader *reader, struct settings_supplier *supplier);

/// Reports a share of the traffic that no account of the supplier is for.
void settings_check_traffic(struct settings_reader *reader, const struct settings_supplier *supplier);

/// Reports a finding at a place.
void settings_find(struct settings_reader *reader, const char *file, uint32_t line, uint32_t column, enum code code,
                   const char *message, const char *help);

/// Stores a value of a row at `base` (the settings, or the supplier). Reports what is wrong with it.
void settings_store(struct settings_reader *reader, const struct setting *row, void *base,
                    const struct settings_node *node);

/// The array with room for one more than `count` items of `size` bytes: itself, or a copy of twice the length when
/// `count` is a power of two. NULL without memory.
MUST_CHECK void *settings_grow(struct arena *arena, const void *items, size_t count, size_t size);

/// Applies the variables LASTCALL__SECTION__KEY of the environment, in the order of their names. Nodes come from
/// `scratch`.
void settings_apply_environment(struct settings_reader *reader, struct arena *scratch);
