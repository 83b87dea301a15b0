/// Suppliers print: the answer of GET /admin/v1/suppliers as a table.
///
/// Threads: any.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "base/json_tree.h"
#include "cli/paint.h"

/// All of them, or the one of this name and account (NULL: all). How many lines there are.
size_t suppliers_print(struct paint *paint, const struct json_node *root, const char *name, const char *account);
