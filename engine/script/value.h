/// Value: one field of an offer, wherever it comes from: a Lua table, or a plan over a tape.
///
/// Threads: any.
/// Memory:  borrows; good while the Lua stack, or the row and the document it came from, are.
#pragma once

#include "base/text.h"

enum value_kind {
    VALUE_ABSENT,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_FLAG,
    VALUE_TABLE,   // a Lua table (or a read-only view), at `index` of the stack
    VALUE_PLANNED, // an object or list that a plan makes
    VALUE_OTHER,   // something no field may be; `text` says what
};

struct plan_node;

struct value {
    enum value_kind kind;
    int index; // TABLE; FLAG: 1 is true
    union {
        struct text text;
        double number;
        const struct plan_node *node; // PLANNED
    };
};

/// What an error calls it: "number", "table".
const char *value_what(const struct value *value);

/// Its text, or the absent one when it is something else.
static inline struct text value_text(const struct value *value)
{
    return value->kind == VALUE_TEXT ? value->text : (struct text){ NULL, 0 };
}
