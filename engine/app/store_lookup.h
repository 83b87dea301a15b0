/// Store lookup: the addresses of a store's host, found on a thread of its own, because the resolver of the C library
/// waits, for ten seconds and more.
///
/// That thread belongs to nobody: who no longer wants to know leaves, and it cleans up when it is through. So neither a
/// connection nor the end of the engine ever waits for it.
///
/// Threads: the loop's; on_found comes there, later.
/// Memory:  the addresses are the receiver's (freeaddrinfo).
#pragma once

#include "io/loop.h"

struct addrinfo; // netdb.h
struct store_lookup;

/// NULL: no memory or no thread. `why` of on_found is NULL when there are addresses.
MUST_CHECK struct store_lookup *
store_lookup_start(struct loop *loop, const char *host, uint16_t port,
                   void (*on_found)(void *owner, struct addrinfo *found, const char *why), void *owner);
void store_lookup_leave(struct store_lookup **lookup); // before on_found came; it will not come

/// Without asking anybody: NULL: the host is no literal address.
struct addrinfo *store_lookup_literal(const char *host, uint16_t port);
