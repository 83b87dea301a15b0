/// Value: one field of an offer, wherever it comes from: a Lua table, or a plan over a tape.
///
/// Threads: any.
/// Memory:  borrows; good while the row, the Lua stack and the document it came from are.
#pragma once

#include "base/text.h"

enum value_kind {
    VALUE_ABSENT,
    VALUE_TEXT,
    VALUE_NUMBER,
    VALUE_FLAG,
    VALUE_TABLE,   // a Lua table, at `index` of the stack
    VALUE_PLANNED, // an object or list that a plan makes
    VALUE_OTHER,   // something no field may be
};

struct plan_node;

struct value {
    enum value_kind kind;
    bool flag;
    int index;
    struct text text;
    double number;
    const struct plan_node *node;
    const char *what; // what an error calls it: "number", "a list"
};
