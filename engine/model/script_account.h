/// Script account: one set of credentials and options of a supplier, as plain data.
///
/// Threads: immutable once published.
/// Memory:  owned by its generation.
#pragma once

#include "base/text.h"
#include "model/mode.h"
#include "model/request_limits.h"

#include <stddef.h>
#include <stdint.h>

struct fetch_route;  // model/exchange.h
struct account_kept; // model/catalogue.h

/// What its scripts see in `ctx`, where its requests may go, which searches are its.
struct script_account {
    uint64_t serial;     // unique in the process; workers keep the decoded tables by it
    uint32_t supplier;   // index within the script set
    struct text name;    // "main"
    struct text context; // JSON {"account":…, "options":{…}, "secret":{…}}
    struct text *hosts;  // "host" or "host:port" where requests may go
    size_t host_count;
    struct text *markets; // only searches of these are its; none: every search
    size_t market_count;
    const struct fetch_route *route; // NULL: none of its own
    uint32_t number;                 // from 0 on within its generation
    struct request_limits limits;    // in force: the settings' over the script's
    uint64_t body_cap;               // bytes on the wire, and after decompression; 0: the supplier's
    uint32_t login;                  // its place among the accounts that log in, from 1 on; 0: it does not
    enum mode mode;
    struct account_kept *kept; // what the engine keeps of it over generations; NULL: it is no engine's
};
