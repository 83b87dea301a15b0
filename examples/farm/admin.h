/// Admin: the endpoint at which the farm is watched and changed while it runs.
///
///     GET  /stats              what everybody did; CPU share since the last call
///     GET  /faults             which faults there are
///     GET  /supplier/NAME      how one behaves now
///     POST /supplier/NAME      {"fault": NAME | "none" | "mix", "model", "outage": NAME, and the numbers of a
///     population's
///                               line}: any of them; "mix" plays the population's shares again
///     POST /names              {"mode": "answer" | "never" | "nxdomain", "delay_ms"}
///     POST /reset              {"seed"}: everything as planned, counters at 0; without a seed the same one again
///
/// Threads: the loop's.
/// Memory:  none that stays.
#pragma once

#include "farm/connection.h"

void admin_answer(struct connection *connection, const struct request *request);

/// CPU time over wall time since the last call, in percent of one core.
double admin_cpu_share(struct farm *farm);
