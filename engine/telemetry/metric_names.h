/// Metric names: which names have a line of their own in a metric, and which line.
///
/// Names come and go with the configuration while others count. A name keeps its line when it goes, so that it counts
/// on when it comes back; only when all lines are given is one of those that are gone given to a new name. A name
/// without a line counts as "other".
///
/// Threads: find and at from any, without a lock: entries are published whole and never freed; the rest one at a time.
/// Memory:  an entry for each name that ever was, at most METRIC_NAMES_EVER; those after them stay without a line.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stddef.h>

enum { METRIC_NAMES_EVER = 4096, METRIC_NAMES_BUCKETS = 1024, METRIC_NAME_MAX = 63 };

struct metric_name;

struct metric_names {
    _Atomic(struct metric_name *) *lines; // NULL: nobody's
    _Atomic(struct metric_name *) *buckets;
    size_t most; // lines
    size_t ever;
};

MUST_CHECK enum status metric_names_init(struct metric_names *names, size_t most);
void metric_names_fini(struct metric_names *names);

/// The line of a name; `most` when it has none.
size_t metric_names_find(const struct metric_names *names, struct text name);

/// The name of a line, terminated, cut to METRIC_NAME_MAX bytes; NULL: nobody has it.
const char *metric_names_at(const struct metric_names *names, size_t line);

/// From here on these are the wanted ones, and the others are gone. `on_reuse` comes before a line goes from one name
/// to another one.
void metric_names_set(struct metric_names *names, const struct text *wanted, size_t count,
                      void (*on_reuse)(void *context, size_t line), void *context);
