/// Call lanes: the script calls that wait for a worker, and which of them is next.
///
/// START calls and others that make requests first, then NORMALISE, then the NORMALISE calls of suppliers that are over
/// their share of the processor; within each lane by earliest deadline. Whoever is over its share loses nothing but its
/// turn: without others that wait it is served at once, and what waits past its deadline ends as any call that came too
/// late.
///
/// A START call is one for all suppliers of a search and never waits for one of them: what a supplier does there is
/// charged to it, and bounded by the limit of each of its functions.
///
/// Threads: its owner's lock.
/// Memory:  owns the queues; calls stay the submitter's until they are taken.
/// Time:    never reads the clock.
#pragma once

#include "script/call_queue.h"
#include "script/cpu_share.h"

struct call_lanes {
    struct call_queue start;
    struct call_queue normalise;
    struct call_queue last; // of suppliers that are over their share
    struct cpu_share share;
};

/// `threads`: how many take from the lanes at once.
void call_lanes_init(struct call_lanes *lanes, uint32_t threads);
void call_lanes_fini(struct call_lanes *lanes); // they are empty

MUST_CHECK enum status call_lanes_put(struct call_lanes *lanes, struct script_call *call);
/// The next call; NULL: none waits. Calls past their deadline come first, to be given back: they cost no time, but
/// their memory.
struct script_call *call_lanes_take(struct call_lanes *lanes, uint64_t now_us);
size_t call_lanes_count(const struct call_lanes *lanes);

/// Charges what a finished call has used: a NORMALISE call's to its supplier, a START call's to its candidates.
void call_lanes_charge(struct call_lanes *lanes, const struct script_call *call, uint64_t cpu_us, uint64_t now_us);
