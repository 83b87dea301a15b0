/// Timing: one record per search in a memory-mapped ring, for benchmarks that must see when the engine believes it
/// sent.
///
/// Off unless `timing_file` is set. A record costs a copy into mapped memory: no call into the kernel, no lock.
///
/// Threads: one writer (a loop thread claims its slot atomically); readers in other processes after the fact.
/// Memory:  owns the mapping.
#pragma once

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { TIMING_MAGIC = 0x4c43544d, TIMING_RECORDS = 1 << 17 };

enum { TIMING_CUT_BY_BUDGET = 1, TIMING_SENT = 2, TIMING_CLIENT_SLOW = 4 };

struct timing_record {
    uint64_t arrival_us, deadline_us, sent_us;
    uint32_t reserve_us;
    uint32_t timer_late_us; // of the timer at deadline - reserve, when the budget ended the search
    uint32_t assemble_us;
    uint16_t status;
    uint16_t flags;
};

struct timing_file {
    uint32_t magic;
    uint32_t capacity;
    _Atomic uint64_t count; // ever written; the newest `capacity` are kept
    struct timing_record records[TIMING_RECORDS];
};

struct timing {
    struct timing_file *file; // NULL: off
};

/// Creates or replaces the file and maps it, all pages present.
MUST_CHECK enum status timing_open(struct timing *timing, const char *path, struct failure *why);
void timing_close(struct timing *timing);
void timing_add(struct timing *timing, const struct timing_record *record);
