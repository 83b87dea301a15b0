/// Recording: answers that a real server once gave, found by method and target.
///
/// It is read from a file whose name ends in .answers: one answer a line, columns separated by tabs: method, target,
/// status, content type, the file with the body (or -), and any number of header lines. A line that begins with # is a
/// comment. The first line that fits a request answers it: the same method, the same path, and each piece of its query,
/// if it has one, among the pieces of the request's, spelled alike.
///
///     GET   /air/offers?after=abc   429 Too Many Requests   application/json   error.json   ratelimit-limit: 60
///
/// Threads: any.
/// Memory:  owns all bytes; answers live as long as it.
#pragma once

#include "base/status.h"
#include "farm/request.h"

enum { RECORDING_HEADERS_MAX = 1024 };

struct recorded_answer {
    const char *status;  // "200 OK"
    const char *type;    // of the content
    const char *headers; // more lines, each with its end; at most RECORDING_HEADERS_MAX bytes
    struct text body;
};

struct recording;

/// Is this the name of a file of answers?
bool recording_is_named(const char *path);

MUST_CHECK enum status recording_read(const char *path, struct recording **recording, struct failure *why);
void recording_destroy(struct recording **recording);

/// NULL: nothing was recorded for such a request.
const struct recorded_answer *recording_find(const struct recording *recording, const struct request *request);
