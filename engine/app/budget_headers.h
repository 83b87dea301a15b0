/// Budget headers: how long a caller waits, as the headers of a search say it.
///
/// `Search-Budget-Ms` is a wish, as budget_ms in the body is: the smallest wish counts, and is clamped to the
/// configured range. `grpc-timeout` and `x-envoy-expected-rq-timeout-ms` are the deadlines of a proxy that will not
/// wait longer, whatever we like: they shorten every budget, never lengthen one, and are not clamped. A header may come
/// several times (up to 16), or with several values divided by commas: each counts.
///
/// Threads: any; a plain value.
/// Memory:  nothing to free.
#pragma once

#include "app/problem.h"
#include "io/http_server.h"
#include "policy/budget.h"

struct budget_headers {
    uint64_t wish_us;  // UINT64_MAX: none
    uint64_t limit_us; // UINT64_MAX: none
};

/// The range and the default that the wishes are clamped to.
struct budget_range {
    uint64_t default_us, min_us, max_us;
};

/// Reads all of them from a request; the deadlines of proxies when `honours_deadlines`. What cannot be read is added to
/// `problem`.
void budget_headers_read(struct budget_headers *headers, const struct http_call *call, bool honours_deadlines,
                         struct problem *problem);

/// One value of the header of that name (lower case; one of the three).
void budget_headers_take(struct budget_headers *headers, const char *name, struct text value, struct problem *problem);

/// The budget of the search; `body_ms` 0: the body names none. False: a proxy waits less than the least budget.
MUST_CHECK bool budget_headers_decide(const struct budget_headers *headers, uint64_t body_ms, struct budget_range range,
                                      struct budget *budget);
