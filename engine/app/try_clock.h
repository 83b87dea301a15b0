/// Try, clock: the time of day at which saved answers are played.
///
/// An answer is as old as the day it was saved, and so are the dates of its search. A fixture says its own time. Any
/// other search whose first date is over everywhere is played at noon of the day before that date.
///
/// Threads: one.
/// Memory:  none.
#pragma once

#include "app/try.h"

/// Is the first day that a search names over everywhere, so that an engine refuses it?
MUST_CHECK bool try_clock_is_over(const struct json_node *search, uint64_t real_us);

/// Fills in the run's `clock_us` and `clock_from`; both stay empty where the real clock does. `root` is what was given
/// for a search, which may be a fixture; `search` is the search in it.
void try_clock_choose(struct try_run *run, const struct json_node *root, const struct json_node *search,
                      uint64_t real_us);
