/// Witness: a thread that notices when the machine itself stalls a core.
///
/// Pinned to the engine's core under SCHED_FIFO, it wakes by an absolute timerfd each millisecond and keeps the ticks
/// that came late: nothing of ours can delay it, so what does is the host.
///
/// Threads: one of its own between start and stop.
/// Memory:  a fixed ring of stalls.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness_stall {
    uint64_t planned_us, actual_us;
};

/// False: SCHED_FIFO was refused; then nothing is excused.
bool witness_start(int cpu);
void witness_stop(void);

/// Was a tick between `from_us` and `to_us` late by at least `late_us`?
bool witness_excuses(uint64_t from_us, uint64_t to_us, uint64_t late_us);
size_t witness_stall_count(void);
uint64_t witness_worst_us(void);
