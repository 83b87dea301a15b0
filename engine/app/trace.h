/// Trace: the trace context of a request (W3C Trace Context, level 1): the caller's trace goes on, or a new one begins.
///
/// Threads: any; a plain value.
/// Memory:  nothing to free.
#pragma once

#include "io/http_server.h"

enum { TRACE_ID_LENGTH = 32, TRACE_PARENT_LENGTH = 55 };

struct trace {
    char id[TRACE_ID_LENGTH + 1];         // trace-id
    char parent[TRACE_PARENT_LENGTH + 1]; // the traceparent of our reply: a parent-id of our own
};

/// `traceparent` is the request's. Of one that is absent or no traceparent nothing is kept: the trace is new, and not
/// sampled.
void trace_continue(struct trace *trace, struct text traceparent);
/// That of a request: its trace goes on unless its caller gives two.
void trace_of_call(struct trace *trace, const struct http_call *call);
