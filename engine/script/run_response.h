/// Run response: what `normalise` sees of an HTTP response.
///
/// A frozen table {status, headers, json, text} whose `body` is made when it is asked for. It is good during one call:
/// a script that keeps it gets an error later.
///
/// Threads: a worker's.
/// Memory:  the body belongs to the run and must stay until the call is over.
#pragma once

#include "model/exchange.h"
#include "script/bind_shape.h"
#include "script/charset.h"
#include "script/plan_drop.h"
#include "script/run.h"

struct offer_batch;
struct script_supplier;

struct run_response {
    struct run *run;
    struct text body;               // plain: inflated and, as far as `reading` knows, UTF-8
    struct charset_reading reading; // how it was read
    struct buffer converted;        // what `body` points into, unless it is the inflated bytes themselves
    uint16_t status;
    struct shape_unread unread; // of response:json(shape)
    // for a plan, which takes the offers itself
    const struct script_supplier *supplier;
    struct offer_batch *batch;
    bool is_planned;    // it has
    bool is_told_empty; // the script has said that this answer means nothing for sale
    enum status taken;
    struct plan_drop drop; // the first offer of a plan that was dropped
};

/// Pushes the plain map of headers by their lower-case names; a repeated one has a list.
void run_push_headers(lua_State *L, const struct header *headers, size_t count);

/// Not in a section: makes the frozen table and keeps it for run_response_push. `response` is read here only.
void run_response_make(lua_State *L, struct run_response *view, const struct http_response *response);

/// In a section: pushes it.
void run_response_push(lua_State *L);

/// In a section: the view, when the value at `index` is the response in hand; NULL otherwise.
struct run_response *run_response_at(lua_State *L, int index);

/// In a section: raises as unparsable when the body is empty, or plainly something else than XML or JSON.
void run_response_expect(lua_State *L, struct run_response *view, bool is_xml);

/// In a section: makes the body's charset certain, because it could not be read. True: it changed, try again. Raises
/// when it is too large.
bool run_response_reread(lua_State *L, struct run_response *view);

/// In a section: raises an error that, unless the script catches it, ends the call as unparsable.
int run_response_unparsable(lua_State *L, struct run_response *view, const char *sentence);

/// How long the header Retry-After of a 429 or 503, or of what the script calls a quota or busy, says to leave the
/// supplier alone; 0: it does not.
uint64_t run_response_retry_after_ms(const struct http_response *response, enum script_verdict verdict,
                                     uint64_t wall_us);

/// From now on the view is gone.
void run_response_forget(struct state *state);
