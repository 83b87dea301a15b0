/// Record read: members of small documents that engines write for each other and for themselves, checked one by one.
///
/// Threads: any.
/// Memory:  owns nothing.
#pragma once

#include "base/json_tree.h"

/// Where the document breaks a rule, and how.
struct record_reading {
    struct text document;
    struct failure *why; // may be NULL
};

/// STATUS_INVALID, with line and column of the node; NULL: of the document.
enum status record_refuse(const struct record_reading *reading, const struct json_node *node, const char *sentence);

/// The whole document; STATUS_INVALID: it is none, or no object.
MUST_CHECK enum status record_read_root(const struct record_reading *reading, struct arena *arena,
                                        struct json_node **root);
/// A member that is a whole number; absent: `*number` stays, unless it must be there.
MUST_CHECK enum status record_read_number(const struct record_reading *reading, const struct json_node *object,
                                          const char *key, bool is_needed, uint64_t *number);
/// A member that is a text which fits; absent: empty, unless it must be there.
MUST_CHECK enum status record_read_text(const struct record_reading *reading, const struct json_node *object,
                                        const char *key, bool is_needed, char *place, size_t size);
/// Likewise, as names of suppliers and accounts are spelt.
MUST_CHECK enum status record_read_name(const struct record_reading *reading, const struct json_node *object,
                                        const char *key, bool is_needed, char *place, size_t size);
/// A member that is a list of at most `most`.
MUST_CHECK enum status record_read_list(const struct record_reading *reading, const struct json_node *object,
                                        const char *key, size_t most, const struct json_node **list);
