/// Revalidate route: POST /v1/revalidate.
///
/// A revalidation opens an offer's token, asks the supplier for that offer once more, and says one of six things. Only
/// `confirmed` and `price_changed` give the hand-off and a booking token, and nothing else in the engine does.
///
/// Threads: the I/O thread's.
/// Memory:  one revalidate_call for each, freed when its reply is sent or its caller has left.
#pragma once

#include "io/http_server.h"

struct io_thread;

void revalidate_route_handle(struct io_thread *thread, struct http_call *call);
/// All revalidations of the thread end now, as `retry`.
void revalidate_route_end_all(struct io_thread *thread);
