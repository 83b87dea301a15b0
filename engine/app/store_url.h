/// Store URL: where a shared store is: `redis://host:port/db`, or `unix:///path?db=N`.
///
/// Threads: any.
/// Memory:  a plain value.
#pragma once

#include "base/status.h"
#include "base/text.h"

enum { STORE_HOST_MAX = 256, STORE_PATH_MAX = 108, STORE_PORT = 6379, STORE_DATABASE_MAX = 65535 };

struct store_url {
    char host[STORE_HOST_MAX]; // a name or an address, without brackets; "": it is a path
    char path[STORE_PATH_MAX]; // of a Unix socket; "": it is a host
    uint16_t port;
    uint32_t database;
};

/// STATUS_INVALID: it is none, and `why` says why and what to do; never with a word of it that could be a secret.
MUST_CHECK enum status store_url_read(struct text url, struct store_url *out, struct failure *why);
/// As a person reads it: "host:port" or the path; terminated.
enum { STORE_PLACE_MAX = STORE_HOST_MAX + 16 };
void store_url_print(const struct store_url *url, char out[STORE_PLACE_MAX]);
