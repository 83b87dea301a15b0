/// Settings tree: a YAML document as nodes that know where they stand.
///
/// Only what settings need: maps with plain keys, lists, scalars. Anchors, aliases, merge keys, tags, a second
/// document, a key that stands twice, more than SETTINGS_DEPTH_MAX levels or SETTINGS_NODES_MAX nodes are findings with
/// their place.
///
/// Threads: one.
/// Memory:  nodes and texts live in the caller's arena.
#pragma once

#include "app/settings.h"

enum { SETTINGS_DEPTH_MAX = 16, SETTINGS_NODES_MAX = 20000, SETTINGS_FILE_MAX = 1024 * 1024 };

enum settings_node_kind { SETTINGS_SCALAR, SETTINGS_LIST, SETTINGS_MAP };

struct settings_node {
    enum settings_node_kind kind;
    const char *file;      // or the environment variable
    uint32_t line, column; // from 1; 0: it has none
    struct text value;     // of a scalar, terminated
    bool is_plain;         // a scalar without quotes
    bool is_environment;
    struct text key; // of an entry of a map, terminated
    uint32_t key_line, key_column;
    struct settings_node *first, *last; // items or entries, in their order
    struct settings_node *next;
};

/// Reads `bytes`; `file` is the name for findings and must live as long as the arena. An empty document is an empty
/// map. STATUS_INVALID: findings were reported and `*root` is NULL.
MUST_CHECK enum status settings_yaml_parse(struct arena *arena, const char *file, struct text bytes,
                                           settings_finding report, void *context, struct settings_node **root);

/// Zeroed, at a place; NULL without memory.
MUST_CHECK struct settings_node *settings_node_create(struct arena *arena, enum settings_node_kind kind,
                                                      const char *file, uint32_t line, uint32_t column);
void settings_node_append(struct settings_node *parent, struct settings_node *child);

/// A scalar without quotes that says nothing: empty, `~` or `null`.
bool settings_node_is_nothing(const struct settings_node *node);
