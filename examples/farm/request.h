/// Request: one HTTP/1.1 request found at the start of some bytes.
///
/// Bodies come by Content-Length or in chunks. Those are put together where they stand, so the bytes of a whole request
/// are not to be read once more.
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
    bool closes; // the caller will not send another
    bool waits;  // for "100 Continue" before it sends the body; also while that is incomplete
    bool is_chunked;
    size_t length; // of all of it
};

/// The first header of this name (lower case); the absent text without one.
struct text request_header(const struct request *request, const char *name);

/// Also of an incomplete one `waits` is known once its head is there.
enum request_verdict request_read(struct request *request, char *bytes, size_t length);
