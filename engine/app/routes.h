/// Routes: the public HTTP API, from a request's bytes to its reply.
///
/// One table lists every route; a search request becomes a search of this thread, everything else is answered at once.
///
/// Threads: the I/O thread's.
/// Memory:  one struct search_call per search being answered, in the thread's list.
#pragma once

#include "io/http_server.h"

struct io_thread;

/// The handlers for a thread's listener.
struct http_server_handlers routes_handlers(struct io_thread *thread);
