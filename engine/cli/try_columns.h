/// Try columns: what an author checks of offers beside their totals: id, taxes, seats, bags, whether they can be
/// cancelled or changed. A column is there when one of the offers has it.
///
/// Threads: one.
/// Memory:  plain values; offers are the caller's.
#pragma once

#include "base/json_tree.h"
#include "cli/paint.h"

enum { TRY_COLUMNS = 7 };

struct try_columns {
    size_t widths[TRY_COLUMNS]; // 0: no offer has it
};

/// `shows_all`: no id is cut.
void try_columns_measure(struct try_columns *columns, const struct json_node *offers, bool shows_all);
/// How many columns of the terminal they take.
size_t try_columns_width(const struct try_columns *columns);
void try_columns_print_head(const struct try_columns *columns, struct paint *paint);
void try_columns_print(const struct try_columns *columns, struct paint *paint, const struct json_node *offer);
