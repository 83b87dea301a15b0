/// Name: what the resolver knows of one host, and when it will ask again.
///
/// A name has two look-ups, one per address family, which go their own ways: a server that never answers the one must
/// not hold up the other. Addresses stay while a refresh fails.
///
/// Threads: the resolver's own.
/// Memory:  owns its addresses.
/// Time:    always an argument; µs.
#pragma once

#include "io/resolver.h"

enum { NAME_MAX_LENGTH = 253, NAME_LOOKUPS = 2 };

enum lookup_answer {
    LOOKUP_SILENCE, // no server answered, or none could be asked
    LOOKUP_ADDRESSES,
    LOOKUP_NO_DATA, // the name exists without addresses of this family
    LOOKUP_NO_NAME, // the name does not exist
    LOOKUP_ERROR,   // a server refused or failed
};

struct lookup {
    struct name *name;
    int family;
    bool is_running;
    bool is_answered;          // a server has answered at least once
    bool is_forbidden;         // the latest answer held only addresses that are not allowed
    enum lookup_answer answer; // the latest that was no silence
    struct sockaddr_storage *addresses;
    size_t address_count;
    uint64_t next_us;  // when to ask (again)
    uint32_t failures; // in a row
};

struct name {
    char host[NAME_MAX_LENGTH + 1]; // lower case
    uint64_t resolved_us;
    char detail[RESOLVER_DETAIL];
    struct lookup lookups[NAME_LOOKUPS];
};

/// Asks at once; NULL without memory.
MUST_CHECK struct name *name_create(struct text host);
void name_destroy(struct name **name);
bool name_is_running(const struct name *name);

/// What came of a look-up.
struct lookup_found {
    enum lookup_answer answer;
    struct sockaddr_storage *addresses; // the allowed ones (malloc); taken over
    size_t count;
    size_t seen; // allowed or not
    uint32_t ttl_s;
    const char *sentence; // what to say when it leaves the name without an address
};

/// Takes it in and plans the next look-up. True: an entry made from the name says something else than before.
bool lookup_settle(struct lookup *lookup, const struct lookup_found *found, uint64_t now_us);

/// The entry of a book; `addresses` must have room for all of the name's, the views point into both.
void name_to_entry(const struct name *name, struct address_entry *entry, struct sockaddr_storage *addresses);
size_t name_address_count(const struct name *name);
