/// Zone rule: what holds in a zone in every later year, as POSIX writes it: `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// Threads: any.
/// Memory:  plain values.
#pragma once

#include "base/text.h"

enum zone_day_kind {
    ZONE_DAY_OF_WEEK, // the `week`-th `weekday` of `month`; 5: the last one
    ZONE_DAY_JULIAN,  // 1 to 365, 29 February is never counted
    ZONE_DAY_OF_YEAR, // 0 to 365
};

struct zone_day {
    enum zone_day_kind kind;
    int day;
    int month, week, weekday; // Sunday is 0
    int32_t time_s;           // of that day's clocks; may lie on another day
};

struct zone_rule {
    int32_t standard, summer; // seconds east of Greenwich
    bool has_summer;
    struct zone_day start, end; // of summer time
};

/// False: it cannot be read.
MUST_CHECK bool zone_rule_parse(struct text text, struct zone_rule *rule);

/// The instants of a year at which summer time begins and ends.
int64_t zone_rule_start(const struct zone_rule *rule, int year);
int64_t zone_rule_end(const struct zone_rule *rule, int year);
