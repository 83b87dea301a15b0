/// Try, as JSON: everything that an author wants to know of a run, without its secrets, as one object. What is printed
/// for people is printed from it.
///
/// Threads: one.
/// Memory:  writes into the caller's buffer; bodies go into files of a folder.
#pragma once

#include "app/try.h"

struct json_writer;

struct try_view {
    const struct try_run *run;
    const struct try_subject *subject;
    const char *folder; // for the bodies; NULL: they are not kept
    /// Writes a finding into the list that is open.
    void (*tell)(struct json_writer *json, const struct failure *failure, bool is_colourless);
};

/// False: a body could not be written, and `why` says why; the object is whole all the same.
MUST_CHECK bool try_write(const struct try_view *view, struct buffer *out, struct failure *why);

/// One exchange in it; for try_write.
struct hide;
MUST_CHECK bool try_write_exchange(const struct try_view *view, struct tap_exchange *exchange, struct hide *hide,
                                   struct json_writer *json, struct failure *why);
/// A text of it, without secrets.
void try_field(struct hide *hide, struct json_writer *json, const char *key, struct text value);

/// Hides the headers that `sign` gave, wherever an answer repeats them.
void try_hide_signed(const struct try_run *run, struct hide *hide);

/// The plain bytes of a body; `scratch` may hold them. False: it cannot be unpacked, and `*plain` is as it came.
MUST_CHECK bool try_inflate(const struct http_response *response, struct buffer *scratch, struct text *plain);
