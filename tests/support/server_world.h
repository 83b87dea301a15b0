/// Server world: an HTTP server on a loop and thread of its own, with handlers that a test steers by the path.
///
/// Threads: the counters may be read by the test while the server runs; `held` belongs to the loop's thread.
/// Memory:  one world a test, made and freed by the cmocka set-up and tear-down functions.
#pragma once

#include "io/http_server.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BIG = 5 * 1024 * 1024, MIDDLE = 400 * 1000, HELD_MAX = 64 };

/// What the handlers do is told by the path: /echo, /later, /hold, /big, /middle, /header, /many,
/// /broken, /status/NNN/…; /full is turned away with a 503 before any handler; any other path is answered with the body of the request. Every reply carries
/// X-Path.
struct server_world {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    struct message stop, quiesce, release;
    struct block *big, *middle;
    atomic_uint requests, gone, sent, broken, slow;
    atomic_uint open_calls;
    atomic_uint last_status; // of what was sent last
    atomic_uint malformed, malformed_status;
    atomic_bool arrival_is_plausible, quiesced;
    struct http_call *held[HELD_MAX]; // the loop's thread only
    unsigned held_count;
};

int server_world_setup(void **state);
int server_world_setup_impatient(void **state); // idle callers are closed after a second
int server_world_setup_narrow(void **state);    // the same, and there is room for one
int server_world_teardown(void **state);
void server_world_stop(struct server_world *world); // destroys the server and ends its loop; once

/// Waits until `counter` has reached `least`; patience is bounded so that a hang fails instead of hanging.
void server_world_await(atomic_uint *counter, unsigned least);
int server_world_descriptors(void);
void await_descriptors(int expected);

extern const struct http_server_handlers server_world_handlers; // without a context
