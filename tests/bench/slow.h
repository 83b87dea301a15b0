/// Slow readers: a few callers beside the load that ask and do not read, or read drop by drop.
///
/// Each sends several searches on one connection in advance, with a small receive buffer, and then reads nothing, or
/// two KiB at a time, for some seconds; then it goes and another one comes. One of two asks for a stream. They have a
/// budget of their own, SLOW_BUDGET_MS, by which the engine's records tell their searches from all others.
///
/// Threads: one of its own between start and stop.
/// Memory:  owns its sockets.
#pragma once

#include "base/text.h"

enum { SLOW_BUDGET_MS = 997, SLOW_KINDS = 4 };

struct slow_options {
    const char *host;
    uint16_t port;
    uint32_t count;                  // readers at any time
    struct text request[SLOW_KINDS]; // reader i sends request i % SLOW_KINDS
};

struct slow_result {
    size_t asked;    // searches sent
    size_t answered; // whole replies that were read after all
    size_t cut;      // connections that the engine ended
};

/// False: no thread. `options` must live until slow_stop.
bool slow_start(const struct slow_options *options);
void slow_stop(struct slow_result *result);
