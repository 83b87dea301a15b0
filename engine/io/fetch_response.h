/// Assembly: one response being put together from the lines and pieces that come over the wire.
///
/// Heads of interim responses (1xx) and trailers are left out; both count against the head's cap all the same.
///
/// Threads: one owner.
/// Memory:  two capped buffers that move into the response at the end.
#pragma once

#include "model/exchange.h"

enum assembly_fault { ASSEMBLY_FINE, ASSEMBLY_HEAD_TOO_LARGE, ASSEMBLY_BODY_TOO_LARGE, ASSEMBLY_NO_MEMORY };

struct assembly {
    struct buffer head; // the final response's, from the status line to the blank line
    struct buffer body;
    uint64_t head_left; // of the cap
    uint64_t announced; // the body's length, as the head being read tells it; 0: it does not
    size_t line_count;
    uint16_t status;           // of the head being read
    bool is_head_complete;     // the final head has ended
    enum assembly_fault fault; // why a line or piece was not taken
};

void assembly_init(struct assembly *assembly, uint64_t head_cap, uint64_t body_cap);
void assembly_fini(struct assembly *assembly);

/// One line of a head with its line end. False: see fault.
MUST_CHECK bool assembly_add_line(struct assembly *assembly, struct text line);
MUST_CHECK bool assembly_add_body(struct assembly *assembly, struct text piece);

/// A final response (200 and up) has begun.
bool assembly_has_begun(const struct assembly *assembly);

/// The response; the assembly is empty afterwards. NULL without memory.
MUST_CHECK struct http_response *assembly_finish(struct assembly *assembly);
