/// HTTP server body: what a caller sends, collected up to a cap.
///
/// Past the cap nothing is kept, but somewhat more is still read, so that a sender gets to see its 413 instead of a
/// reset.
///
/// Threads: its loop's.
/// Memory:  owns the bytes until they are taken as a block.
#pragma once

#include "base/block.h"

struct http_server_body {
    struct buffer buffer;
    uint64_t cap;
    uint64_t received;
    bool is_too_large;
    bool is_ambiguous; // its end can be read in more than one way
    uint32_t lengths;  // headers that tell its end
};

void http_server_body_init(struct http_server_body *body, uint64_t cap);
void http_server_body_fini(struct http_server_body *body);

/// Looks at one header of the head. Two that tell where the body ends (RFC 9112, 6.3), one that tells it in no known
/// way, and one whose name is written so that only some see it could be read differently by a proxy before us: what
/// follows the body would be somebody else's request.
void http_server_body_note_header(struct http_server_body *body, struct text name, struct text value);

/// Judges the announced length (absent: none) before anything is read. False: refuse at once; `asks_first` is a sender
/// that waits for a "100 Continue".
MUST_CHECK bool http_server_body_announce(struct http_server_body *body, struct text length, bool asks_first);

/// False: enough was thrown away, the connection is not worth more.
MUST_CHECK bool http_server_body_append(struct http_server_body *body, const char *bytes, size_t length);

/// All bytes as one block; NULL when there are none or without memory (then the buffer keeps them).
struct block *http_server_body_take(struct http_server_body *body);

/// Releases a block that stands behind a plain pointer.
void http_server_body_release(void *block);

/// The problem (RFC 9457) of a body that is ambiguous or over the cap; NULL without memory.
MUST_CHECK struct block *http_server_body_problem(const struct http_server_body *body);
