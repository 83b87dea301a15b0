/// Request limits: how much of one account may be asked, as its script and the settings say.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include <stdint.h>

/// 0 of any: no such limit.
struct request_limits {
    uint32_t per_second, per_minute, per_day; // requests begun within any such time
    uint32_t concurrent;                      // requests under way at once
    uint32_t kept_share;                      // of the rates: millionths that searches leave to revalidations
};

enum {
    REQUEST_LIMIT_RPS_MAX = 100000,
    REQUEST_LIMIT_MINUTE_MAX = 6000000,
    REQUEST_LIMIT_DAY_MAX = 1000000000,
    REQUEST_LIMIT_CONCURRENT_MAX = 100000,
};

/// Those of `over` where it has some, else those of `under`.
static inline struct request_limits request_limits_over(struct request_limits over, struct request_limits under)
{
    return (struct request_limits){
        .per_second = over.per_second != 0 ? over.per_second : under.per_second,
        .per_minute = over.per_minute != 0 ? over.per_minute : under.per_minute,
        .per_day = over.per_day != 0 ? over.per_day : under.per_day,
        .concurrent = over.concurrent != 0 ? over.concurrent : under.concurrent,
        .kept_share = over.kept_share != 0 ? over.kept_share : under.kept_share,
    };
}
