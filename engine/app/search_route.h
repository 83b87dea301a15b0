/// Search route: POST /v1/search, from its body to the reply on the wire.
///
/// Threads: the I/O thread's.
/// Memory:  one search_call for each search, freed when its reply is sent or its caller has left.
#pragma once

#include "io/http_server.h"
#include "model/search_record.h"

struct io_thread;

void search_route_handle(struct io_thread *thread, struct http_call *call);
/// All searches of the thread end now, with what they have; `grace_us` are left for their replies.
void search_route_end_all(struct io_thread *thread, uint64_t grace_us);
/// For its world: what went on of a search, or a probe, has ended; `context` is the thread.
void search_route_on_late(void *context, struct search_record *record, enum outcome spoiled,
                          const struct failure *trouble);
