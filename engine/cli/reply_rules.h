/// Reply rules: which rules of the settings had a say in a search, each by the line where it stands.
///
/// Threads: one.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "cli/paint.h"
#include "cli/reply_view.h"

/// A line for the rule of the deadline, and one for each that had a hand in ceilings, with the suppliers. Nothing
/// without rules.
void reply_rules_print(struct paint *paint, const struct reply_view *view);
