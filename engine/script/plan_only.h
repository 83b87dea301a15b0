/// Plan, only: which elements of a list are meant, and which are left out.
///
///     only = "bookable"                                 -- it is there, and neither false nor 0
///     only = { "status", "OK" }                         -- it is spelt so
///     only = { up(1).status, { "OK", "LIMITED" } }      -- or so
///     only = function(rate) return … end                -- or { "a", "b", function(a, b) … end }
///
/// What is left out is no offer and no dropped one. A value that cannot be compared (a list, an object, a reference to
/// nothing) is bad: a supplier that says it in another way must not look as if it had nothing.
///
/// Threads: those of the lua_State.
/// Memory:  made in the plan's arena.
#pragma once

#include "script/plan_compiler.h"
#include "script/plan_read.h"

enum { PLAN_ONLY_MAX = 64 };

struct plan_only {
    struct plan_node *leaf;
    struct text *words; // that it may be spelt like; NULL: it is to be there and true
    size_t word_count;
};

/// Field `only` of the table at `table`, for the elements of `level`; NULL: there is none.
struct plan_only *plan_only_compile(struct plan_compiler *compiler, int table, uint32_t level);

/// Is the element in hand meant? A bad one is, too: `bad` says why it can be nothing, and is absent otherwise.
MUST_CHECK bool plan_only_means(struct plan_row *row, const struct plan_only *only, struct value *bad);

/// Steps to the next element that is meant, for an offer; without `each` the document is one. False: there are no more.
/// `number`, from 0 on, becomes its place among all.
MUST_CHECK bool plan_only_next_offer(struct plan_row *row, int *number, struct value *bad);

/// Steps the level of a list to its next element that is meant: its value. False: there are no more.
static inline bool plan_only_next(struct plan_row *row, const struct plan_node *list, bool wants_text,
                                  struct value *value)
{
    value->kind = VALUE_ABSENT;
    do {
        if (!plan_row_next(row, list->level, list->outer)) {
            return false;
        }
    } while (list->only != NULL && !plan_only_means(row, list->only, value));
    if (value->kind == VALUE_ABSENT) {
        *value = plan_element(row, list, wants_text);
    }
    return true;
}
