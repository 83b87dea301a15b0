/// CPU share: who took how much of the processor for his scripts lately, and who took too much.
///
/// A supplier is over its share when its scripts used more than 25 % of what all scripts used within the last 10 s. Of
/// what was used, not of what the threads could have had: where loops and other programs take the processors, scripts
/// never come near that, and a share of it would never bite. While the threads are mostly idle the whole counts as a
/// quarter of their time, so that nobody is over its share only because he is alone.
///
/// Being over has one consequence, and only while others wait: see call_lanes.h.
///
/// Threads: one owner at a time.
/// Memory:  owns an account for each name that was charged; names come from the configuration, and change with it: of
///          more than CPU_SHARE_NAMES those that have used nothing for 10 s are forgotten, with what they ever used.
/// Time:    never reads the clock, calls take `now_us`, which must not go back by more than a second.
#pragma once

#include "base/text_map.h"

enum { CPU_SHARE_SECONDS = 10, CPU_SHARE_PERCENT = 25, CPU_SHARE_IDLE_PERCENT = 25, CPU_SHARE_NAMES = 1024 };

/// CPU time by the second, of the last ten.
struct cpu_window {
    uint64_t used_us[CPU_SHARE_SECONDS];
    uint64_t newest_s;
};

void cpu_window_add(struct cpu_window *window, uint64_t now_us, uint64_t cpu_us);
uint64_t cpu_window_sum(const struct cpu_window *window, uint64_t now_us);

struct cpu_account;

struct cpu_share {
    struct cpu_window all;
    uint64_t least_us; // what `all` counts for at least
    struct text_map by_name;
    struct cpu_account **accounts;
    size_t capacity;
    size_t crowded; // at so many accounts idle ones are looked for
};

/// What a supplier has used since it was first charged.
struct cpu_usage {
    uint64_t cpu_us;
    uint64_t put_back; // calls that had to let others pass
};

/// `threads`: how many run scripts at once.
void cpu_share_init(struct cpu_share *share, uint32_t threads);
void cpu_share_fini(struct cpu_share *share);

/// Charges CPU time to a supplier; an absent name charges it to nobody, as a part of the whole only. Without memory for
/// a new account the same happens.
void cpu_share_charge(struct cpu_share *share, struct text supplier, uint64_t cpu_us, uint64_t now_us);
bool cpu_share_is_over(const struct cpu_share *share, struct text supplier, uint64_t now_us);
void cpu_share_note_put_back(struct cpu_share *share, struct text supplier);
/// Zeros for a supplier that was never charged.
struct cpu_usage cpu_share_usage(const struct cpu_share *share, struct text supplier);
