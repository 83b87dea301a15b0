/// Search request: what a request to search asks, read and checked: its body but for the query, and its headers.
///
/// Threads: the I/O thread's.
/// Memory:  the envelope owns scratch; texts point into it, into the call's body or into the generation's settings.
#pragma once

#include "app/budget_headers.h"
#include "app/envelope.h"
#include "app/search_stream.h"
#include "search/search.h"

struct engine;
struct generation;
struct settings;

struct search_request {
    struct envelope envelope;
    struct budget budget;
    struct text caller; // absent: not named
    enum stream_format format;
    enum reply_detail detail;
};

void search_request_init(struct search_request *request);
void search_request_fini(struct search_request *request);

/// How much the caller of this request is told of suppliers.
enum reply_detail search_request_detail(const struct engine *engine, const struct settings *settings,
                                        const struct http_call *call);

/// What it may ask, the generation says on which the search will be. False: `problem` says everything that is wrong.
MUST_CHECK bool search_request_read(struct search_request *request, const struct engine *engine,
                                    const struct generation *generation, struct http_call *call,
                                    struct problem *problem);
