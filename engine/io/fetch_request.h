/// Wire request: an HTTP request checked and written out as the terminated strings that the transport wants.
///
/// What the transport decides itself is left out (length, chunking, Expect); a line break inside a header is refused.
///
/// Threads: one owner.
/// Memory:  one capped buffer, kept from use to use.
#pragma once

#include "model/exchange.h"

struct wire_request {
    struct buffer bytes;
    size_t method_at, lines_at; // offsets; the URL stands first
    bool has_body;              // a body is sent, be it empty
    bool is_head;
    bool is_repeatable; // sending it twice does no harm (RFC 9110, safe methods)
};

void wire_request_init(struct wire_request *wire);
void wire_request_fini(struct wire_request *wire);

/// NULL: written. Else why the request cannot be sent, a constant sentence.
MUST_CHECK const char *wire_request_write(struct wire_request *wire, const struct http_request *request,
                                          const struct url_parts *url);

const char *wire_request_url(const struct wire_request *wire);
const char *wire_request_method(const struct wire_request *wire);

/// The header lines one by one: NULL gives the first, the last one is followed by NULL.
const char *wire_request_next_line(const struct wire_request *wire, const char *line);
