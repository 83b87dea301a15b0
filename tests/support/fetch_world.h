/// Fetch world: a loop with a fetch pool, a test authority and a peer, and the words in which the tests of fetching
/// speak.
///
/// Failures are cmocka's. A test that hangs is ended after 30 s and fails.
///
/// Threads: the test's; peers have their own.
/// Memory:  made and freed by the set-up and tear-down functions of cmocka.
#pragma once

#include "io/fetch.h"
#include "support/certificate.h"
#include "support/peer.h"

#include <stdio.h>
#include <string.h>

enum { MS = 1000, HEAD = 16 * 1024 };

struct fetch_world {
    struct loop *loop;
    struct fetch_pool *pool; // allows 127.0.0.0 to 127.0.0.3; caps heads at 8 KiB; trusts the authority
    struct certificate_authority *authority;
    SSL_CTX *tls; // of peer.test and 127.0.0.1
    struct peer *peer;
    unsigned pending; // fetches that run_world waits for
    struct timer guard;
    bool is_guarded; // the guard had to end it
    const char *says;
    bool then_waits;
};

/// One fetch with what it needs.
struct call {
    struct fetch fetch;
    struct http_request request;
    struct header headers[4];
    char url[512];
    unsigned done;
};

int fetch_world_set_up(void **state);
int fetch_world_tear_down(void **state);

void run_world(struct fetch_world *world); // until nothing is pending
void run_for(struct fetch_world *world, uint64_t us);

/// Replaces the peer.
void start_peer(struct fetch_world *world, void (*serve)(struct peer_stream *stream), bool is_tls);
/// One that reads a request, says these bytes, and leaves, or waits for the client to leave.
void start_peer_saying(struct fetch_world *world, const char *bytes, bool then_waits);
void serve_echo(struct peer_stream *stream);   // answers with the first line of each request
void serve_mirror(struct peer_stream *stream); // answers with the whole head of each request

void call_prepare(struct fetch_world *world, struct call *call, const char *method, const char *host, bool is_tls);
void call_on_done(struct fetch *fetch);
void call_start(struct fetch_world *world, struct call *call);
void call_run(struct fetch_world *world, struct call *call);
void call_fini(struct call *call);
void one_until_its_end(struct fetch_world *world, struct call *call, enum phase phase);

void expect(const struct call *call, enum fetch_result result, enum phase phase);
void expect_body(const struct call *call, const char *body);

/// A book with the one name peer.test (IPv4 addresses).
struct address_book *make_book(enum name_state state, const char *const *addresses, size_t count);
void set_book(struct fetch_world *world, enum name_state state, const char *address);

/// Connects to a listener that never accepts until it answers no more.
void fill_backlog(uint16_t port, int *fds, size_t count);
size_t count_descriptors(void);
