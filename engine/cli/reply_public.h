/// Reply public: draws the suppliers of a reply that tells no details: names, one of four words, and what of their
/// offers was returned. There are no times, so there is no chart.
///
/// Threads: one.
/// Memory:  into the paint's buffer.
#pragma once

#include "cli/paint.h"
#include "cli/reply_view.h"

void reply_public_draw(struct paint *paint, const struct reply_view *view);
