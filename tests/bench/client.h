/// Client: an open-loop HTTP load on one address, from one thread.
///
/// Each request has an intended start fixed in advance (exponential gaps, seeded); it is sent then whether or not
/// earlier ones have been answered, and its latency counts from then. In closed mode `concurrency` requests are kept in
/// flight, but in its rests, a share of each CLIENT_SPELL_US, in which none begins. A part of the callers may stream;
/// their reply is there when the event `done` and the end are.
///
/// Threads: its caller's.
/// Memory:  owns connections and samples.
#pragma once

#include "base/text.h"

enum { CLIENT_SPELL_US = 50000 };

enum caller_kind { CALLER_SINGLE, CALLER_SSE, CALLER_NDJSON, CALLER_KINDS };

struct client_options {
    const char *host;
    uint16_t port;
    struct text requests[CALLER_KINDS]; // the whole HTTP request of each kind
    bool has_streams;                   // of each 8 searches one is SSE and one NDJSON
    double rate;                        // searches a second; 0: closed mode
    uint32_t concurrency;               // closed mode
    uint32_t rest_percent;              // … of the time, in which no search begins
    double seconds;
    uint64_t seed;
    uint64_t grace_us; // how long to wait for the last replies
};

struct client_sample {
    uint64_t intended_us, sent_us, done_us; // done 0: lost, or a stream without its end
    enum caller_kind kind;
    uint16_t status;
    uint32_t body_bytes;
    int percent; // of its coverage; -1: it told none
};

struct client_result {
    struct client_sample *samples; // in the order of intended starts; free()
    size_t count;
    uint64_t began_us, ended_us; // of the load, without the grace
    size_t connects;
};

/// False: no connection could be made at all, or no memory.
bool client_run(const struct client_options *options, struct client_result *result);
