/// Try fixture: a fixture as text: the search, the clock, made-up secrets, the settings' options, and exchanges.
///
/// Threads: one.
/// Memory:  writes into the caller's buffer.
#pragma once

#include "app/try.h"

/// One exchange of it; texts are finished JSON, absent ones are left out.
struct try_frame_exchange {
    struct text expect_request;
    uint16_t status;
    uint64_t after_ms;
    const struct header *headers;
    size_t header_count;
    const char *body_file; // beside the fixture; NULL: no body
};

struct try_frame {
    struct text about; // absent: none
    struct text search;
    struct text login;  // JSON; absent: none
    struct text expect; // JSON; absent: none
    uint64_t wall_us;
    const struct try_frame_exchange *exchanges;
    size_t exchange_count;
};

void try_fixture_write(const struct try_subject *subject, const struct try_frame *frame, struct buffer *out);
