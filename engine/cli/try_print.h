/// Try, printed: what app/try_write.h says of a run, for people.
///
/// Threads: the main thread.
/// Memory:  paints into the caller's buffer.
#pragma once

#include "base/json_tree.h"
#include "cli/paint.h"

/// `shows_all`: bodies, offers and lists are not cut.
void try_print(struct paint *paint, const struct json_node *root, bool shows_all);

/// The offers as a table.
void try_print_offers(struct paint *paint, const struct json_node *root, bool shows_all);
