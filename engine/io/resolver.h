/// Resolver: keeps the addresses of every supplier host known, on a thread of its own (c-ares).
///
/// No search ever resolves a name. Names are given when a generation is published; each is looked up at once, refreshed
/// at 80 % of its TTL (clamped to 5 s … 10 min), served stale while a refresh fails, retried with backoff while
/// unknown. Addresses that are private, loopback, link-local or unspecified are left out unless a rule allows them.
///
/// Threads: one of its own; the functions below from any.
/// Memory:  address books are immutable and counted.
#pragma once

#include "base/status.h"
#include "base/text.h"

#include <netinet/in.h>

struct resolver;

enum { RESOLVER_DETAIL = 256 };

enum name_state {
    NAME_PENDING, // not answered yet
    NAME_KNOWN,
    NAME_FAILED,    // a server answered that there is none, or refused
    NAME_FORBIDDEN, // all its addresses are private and not allowed
};

struct address_book; // one published state of all names
struct address_entry {
    struct text host;
    enum name_state state;
    struct sockaddr_storage *addresses; // port 0
    size_t address_count;
    uint64_t resolved_us;         // when its addresses last came from a server; 0: never
    char detail[RESOLVER_DETAIL]; // why there is no address: the server's words, or which address is not allowed
};

/// A range that may be used although it is private: "127.0.40.0/24", "::1/128".
struct address_range {
    struct in6_addr network; // IPv4 as mapped
    uint8_t prefix;          // of the 128 bits
};
MUST_CHECK bool address_range_parse(struct text text, struct address_range *range);
/// Public, or allowed by a range. An IPv6 address that carries an IPv4 one (mapped, NAT64, 6to4) is judged by both.
bool address_is_allowed(const struct sockaddr *address, const struct address_range *ranges, size_t count);

struct resolver_options {
    const char *const *servers; // "ip" or "ip:port"; none: resolv.conf, re-read when it changes
    size_t server_count;
    const char *resolv_conf;             // NULL: /etc/resolv.conf
    uint16_t resolv_conf_port;           // of the servers named there; 0: 53
    const struct address_range *allowed; // copied
    size_t allowed_count;
    /// A new book was published; on the resolver's thread.
    void (*on_change)(void *context);
    void *context;
};

MUST_CHECK enum status resolver_create(const struct resolver_options *options, struct resolver **resolver,
                                       struct failure *why);
void resolver_destroy(struct resolver **resolver);

/// Replaces the set of names to keep; literals need not be given. A book that holds them all (new ones pending) is the
/// current one when this returns. STATUS_INVALID: a name is empty or longer than 253 bytes.
MUST_CHECK enum status resolver_set_names(struct resolver *resolver, const struct text *hosts, size_t count);

/// The current book, with a reference for the caller; never NULL.
struct address_book *resolver_book(struct resolver *resolver);
void address_book_release(struct address_book **book);
/// NULL: not a name of the book.
const struct address_entry *address_book_find(const struct address_book *book, struct text host);
/// True once every name has been answered, one way or the other, or 2 s have passed since they were set; and from then
/// on, whatever names are set later: they are somebody's, not everybody's.
bool resolver_is_settled(struct resolver *resolver);
