/// Fetch pool: all outgoing HTTP of one loop (libcurl multi).
///
/// What the installed libcurl does wrong is kept out here: it never resolves, never follows redirects, never decodes,
/// never times out by itself, never reuses a connection on which a transfer was cut, never gets called from its own
/// callbacks.
///
/// Threads: its loop's.
/// Memory:  owns easy handles (pooled) and connections; a `struct fetch` is embedded in its owner.
/// Time:    µs; `end_us` is absolute.
#pragma once

#include "io/loop.h"
#include "io/resolver.h"
#include "model/exchange.h"

struct fetch_pool;

struct fetch_pool_options {
    const char *ca_file;                 // NULL: the system's bundle
    const struct address_range *allowed; // literals are checked against it; copied
    size_t allowed_count;
    uint32_t max_connections;     // kept ones; set explicitly, default 512
    uint32_t handshakes_per_turn; // default 4
    uint64_t head_cap;            // bytes of a response head; default 64 KiB
};

struct fetch_pool_counts {
    uint64_t started, done, cancelled, connects, reused;
    uint32_t running, waiting; // waiting: for a name or for a handshake slot
};

/// Loads the CA file too (21-28 ms once), so that no search does.
MUST_CHECK enum status fetch_pool_create(struct loop *loop, const struct fetch_pool_options *options,
                                         struct fetch_pool **pool, struct failure *why);
void fetch_pool_destroy(struct fetch_pool **pool); // running fetches are cancelled

/// Takes over a reference; fetches that wait for a name go on.
void fetch_pool_set_book(struct fetch_pool *pool, struct address_book *book);

/// Where requests may go has changed: kept connections that nobody uses are closed, and TLS sessions forgotten, of each
/// host, port and route (its id; 0: none) that `is_wanted` does not want. The peer sees it at once; the descriptor goes
/// when libcurl looks at it next, at the start of some later fetch.
void fetch_pool_sweep(struct fetch_pool *pool,
                      bool (*is_wanted)(void *context, struct text host, uint16_t port, uint64_t route), void *context);

/// on_done comes exactly once, never from inside this call.
MUST_CHECK enum status fetch_start(struct fetch_pool *pool, struct fetch *fetch);
/// Final: no callback comes. The connection is closed unless the exchange was over.
void fetch_cancel(struct fetch_pool *pool, struct fetch *fetch);
enum phase fetch_phase(const struct fetch *fetch);
void fetch_pool_counts(const struct fetch_pool *pool, struct fetch_pool_counts *counts);
