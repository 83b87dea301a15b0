/// Verify route: POST /v1/verify, whether a booking token is genuine and its time is not over, and the public keys by
/// which a booking system sees that without asking.
///
/// Threads: the I/O thread's.
/// Memory:  nothing is left.
#pragma once

struct http_call;
struct io_thread;

/// {"booking_token"}: answers at once.
void verify_route_handle(struct io_thread *thread, struct http_call *call);
/// The JSON Web Key Set.
void verify_route_keys(struct io_thread *thread, struct http_call *call);
