/// Search refusal: whether a search can begin on this loop now, and what its caller is told else: 503, when to come
/// back, and his trace.
///
/// It is asked while the request is still being read (routes.c), so that who is turned away costs next to nothing and
/// waits for nobody, and again when the search is to begin: others of the same turn may have taken the last place.
///
/// Threads: its loop's.
/// Memory:  a plain value to embed; its bodies are made once, and counted. What it answers is valid until it is asked
///          again.
#pragma once

#include "app/trace.h"
#include "io/http_server.h"

struct io_thread;

enum { SEARCH_REFUSAL_HEADERS = 3 };

struct search_refusal {
    struct block *overloaded, *draining; // NULL: there was no memory, and the reply has no body
    struct trace trace;
    struct header_pair headers[SEARCH_REFUSAL_HEADERS];
    struct http_reply reply;
};

void search_refusal_init(struct search_refusal *refusal);
void search_refusal_fini(struct search_refusal *refusal);

/// NULL: it may begin.
const struct http_reply *search_refusal_ask(struct io_thread *thread, const struct http_call *call);
