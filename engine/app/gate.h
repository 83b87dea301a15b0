/// Gate: the admission of one loop: what waited is noted here, and searches ask here before anything else is done for
/// them.
///
/// It judges by what its own loop sees (policy/admission): how long its script calls waited for a worker, and what they
/// brought for the loop's turn. While it is under pressure a timer of its own looks on, so that it ends by itself when
/// nobody comes any more. A change of level is a line of the log, at most one a second.
///
/// Threads: its loop's; gate_view from any.
/// Memory:  a plain value to embed in its thread.
/// Time:    reads the monotonic clock.
#pragma once

#include "io/loop.h"
#include "model/script_call.h"
#include "policy/admission.h"

#include <stdatomic.h>

struct gate {
    struct loop *loop;
    unsigned number; // of its loop
    struct admission admission;
    struct timer timer;       // while the level is not OVERLOAD_NONE
    uint32_t in_flight;       // searches
    uint64_t out;             // script calls that somebody waits for, and that are not back
    uint64_t silent_us;       // since then none has come back though one was out
    enum overload_level told; // in the log
    uint64_t told_us;
    _Atomic unsigned level; // the rest is for those who look on
    _Atomic unsigned most;
    _Atomic uint64_t refused, pressed;
};

void gate_init(struct gate *gate, struct loop *loop, unsigned number);
void gate_fini(struct gate *gate); // before its loop is destroyed

/// A call was handed to the workers; it is back. Workers from which nothing comes at all are pressure, too: what nobody
/// takes tells nobody how long it waited.
void gate_note_out(struct gate *gate, const struct script_call *call);
void gate_note_call(struct gate *gate, const struct script_call *call);

/// May a search begin, by these settings? False: it is to be refused at once. It may be asked more than once.
MUST_CHECK bool gate_admits(struct gate *gate, struct admission_settings settings);
/// One that was admitted has begun; it is over, that long after its arrival.
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate, uint64_t took_us);

enum overload_level gate_level(const struct gate *gate);
/// The share of a search's suppliers that is left out now.
double gate_shed_share(const struct gate *gate);

struct gate_view {
    enum overload_level level;
    uint64_t refused; // searches, since the start
    uint64_t pressed; // times that its level rose from none
    unsigned most;    // searches at once; UINT_MAX: any number
};
void gate_look(struct gate *gate, struct gate_view *view);
