/// Switch print: what operators have said of suppliers, as lines for people.
///
/// Threads: any.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "base/json_tree.h"
#include "cli/paint.h"

/// "by ann@gateway until 2026-11-30T21:00:00.000Z: it answers nonsense"; of an absent one nothing.
void switch_print_words(struct paint *paint, const struct json_node *item);

/// Of the field `kept`, when a restart would forget them, or has: why, and what to do.
void switch_print_kept(struct paint *paint, const struct json_node *kept);

/// Of the status: every switch of suppliers and accounts, a line each, and whether they are kept.
void switch_print_all(struct paint *paint, const struct json_node *status);
