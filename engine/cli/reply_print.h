/// Reply print: a whole answer for a person: head line, waterfall, best offers, and what happened in a sentence.
///
/// A problem (RFC 9457) is shown with the place and the reason of each error; one that names suppliers (504) with its
/// waterfall too.
///
/// Threads: one.
/// Memory:  writes into the paint's buffer.
#pragma once

#include "cli/paint.h"
#include "cli/reply_view.h"

void reply_print(struct paint *paint, struct reply_view *view);
