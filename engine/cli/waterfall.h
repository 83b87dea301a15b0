/// Waterfall: who answered when, and who was cut by what: one line a supplier on a time axis from arrival to deadline.
///
///     supplier  outcome   0      500     1000    1500 2000 ms     took offers      cheapest
///     acme      answered  ███████████   ◇                 │     690 ms     31    412.30 EUR
///     omni      cut       ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░┫   1,976 ms budget: first byte
///
/// Threads: one.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "cli/paint.h"
#include "cli/reply_view.h"

/// The axis, one line a supplier in the order of the view, and a legend of the marks that occur.
void waterfall_draw(struct paint *paint, const struct reply_view *view);
