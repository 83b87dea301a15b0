/// JSON tree: a whole document as nodes that know where they stand, for files that people write.
///
/// Nodes keep the order of the document; of equal keys the first is found. Numbers keep their literals. What comes from
/// strangers by the megabyte is not read by this but by the pull reader.
///
/// Threads: one owner.
/// Memory:  nodes and unescaped texts live in the caller's arena, everything else points into the input.
#pragma once

#include "base/arena.h"
#include "base/json_read.h"
#include "base/status.h"

struct json_node {
    enum json_token kind;     // BEGIN_OBJECT, BEGIN_ARRAY, STRING, NUMBER, TRUE, FALSE, NULL
    struct text key;          // of a member
    struct text text;         // STRING: what it says; NUMBER: its literal
    struct text source;       // its bytes, as they stand in the input
    struct json_node *first;  // of an object or a list: its first member or element
    struct json_node *next;   // the one behind it
    struct json_node *parent; // NULL: the root
    size_t count;             // members or elements
};

struct json_place {
    uint32_t line, column; // from 1 on; the column counts bytes
};

/// STATUS_INVALID: not one strict document; `offset` and `sentence` tell why not. STATUS_NO_MEMORY: the arena's cap.
MUST_CHECK enum status json_tree_read(struct arena *arena, struct text input, struct json_node **root, size_t *offset,
                                      const char **sentence);

/// NULL: `object` is no object (or NULL), or has no such member.
struct json_node *json_tree_member(const struct json_node *object, const char *key);
/// The text of a member that is a string, or the digits of one that is a number; absent: it is neither.
struct text json_tree_text(const struct json_node *object, const char *key);
struct json_node *json_tree_member_text(const struct json_node *object, struct text key);
/// The element at `index`, from 0 on; NULL: there is none.
struct json_node *json_tree_element(const struct json_node *list, size_t index);

/// Equal by value: members in any order, numbers by what they are worth.
bool json_tree_equals(const struct json_node *a, const struct json_node *b);

/// A whole number that is not negative.
MUST_CHECK bool json_tree_to_u64(const struct json_node *node, uint64_t *value);

/// "an object", "a text", "null".
const char *json_tree_kind(const struct json_node *node);

struct json_place json_place_of(struct text input, size_t offset);
