/// Dark: suppliers that are asked, normalised and recorded, and never shown.
///
/// They get a share of the searches, and they come behind all others: a start call of their own goes out once that of
/// the shown ones is back, into the last lane of the workers. Their attempts count for nothing of the search: not for
/// its coverage, its offers, its stream, its progress, nor for its end. What of them is open when the shown ones are
/// done ends as `finished_early`.
///
/// Threads: the search's.
/// Memory:  the search owns the call that is out.
#pragma once

#include "model/script_call.h"

struct attempt;
struct search;

/// Closes a dark attempt whose supplier's share this search is not in; true: it did.
bool dark_close_unreached(const struct search *search, struct attempt *attempt);
/// Those that the start call found to be dark leave the shown ones; before anything of the search is told.
void dark_hide(struct search *search, const struct start_call *start);
/// Asks the dark ones that wait; `start` has found their accounts and the rules that are theirs.
void dark_submit(struct search *search, const struct start_call *start);
/// The shown ones are done.
void dark_finish(struct search *search);
void dark_fini(struct search *search);
