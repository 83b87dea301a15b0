/// Request: one HTTP/1.1 request found at the start of some bytes.
///
/// Bodies come by Content-Length only; a chunked one is refused.
///
/// Threads: any.
/// Memory:  views into the bytes.
#pragma once

#include "base/text.h"

enum { REQUEST_MAX = 256 << 10 };
enum request_verdict { REQUEST_INCOMPLETE, REQUEST_BROKEN, REQUEST_WHOLE };

struct request {
    struct text method;
    struct text target; // as it was sent
    struct text path;   // without the query string
    struct text query_string;
    struct text head; // the header lines
    struct text body;
    bool closes;   // the caller will not send another
    size_t length; // of all of it
};

/// The first header of this name (lower case); the absent text without one.
struct text request_header(const struct request *request, const char *name);

enum request_verdict request_read(struct request *request, struct text bytes);
