/// Wire: the only place that talks to libcurl: connections, TLS, HTTP/1.1 of one fetch pool.
///
/// A transfer that is started ends exactly once, through `on_ended` or wire_stop. `on_ended` only notes; `on_settled`
/// comes when libcurl is left again and anything may be called. libcurl is never entered from its own callbacks.
///
/// Threads: its loop's.
/// Memory:  owns connections and origins; a handle lives as long as its transfer, from use to use.
#pragma once

#include "io/fetch_transfer.h"
#include "io/fetch_wake.h"
#include "io/resolver.h"

struct wire_options {
    const char *ca_file;                 // NULL: the one libcurl was built with
    const struct address_range *allowed; // borrowed
    size_t allowed_count;
    uint32_t max_connections;
    /// The transfer's fetch has its result, phase and detail; a response when it is FETCH_OK.
    void (*on_ended)(void *context, struct transfer *transfer);
    void (*on_settled)(void *context);
    void *context;
};

struct wire_counts {
    uint64_t connects, reused, handshakes; // handshakes: connections opened for TLS
};

struct wire {
    struct origins origins;
    struct list running; // transfers
    struct wire_counts counts;

    // its own
    struct loop *loop;
    struct wire_options options;
    char *ca_file;
    void *multi;
    void *plain_share;
    struct wake wake;
    struct sockets sockets;
    struct list sending;
    struct list suspects; // transfers that may be stuck while connecting
    struct list touched;  // transfers that libcurl went on with; what they took was not looked at yet
    bool is_inside;       // libcurl is working
    bool has_doomed;
};

/// Reads the CA file (20 to 30 ms). STATUS_INVALID: the named one cannot be used.
MUST_CHECK enum status wire_create(struct loop *loop, const struct wire_options *options, struct wire **wire,
                                   struct failure *why);
void wire_destroy(struct wire **wire); // no transfer has a handle any more

/// Gives a transfer its handle, once; false: no memory. wire_detach takes it back, also after a failure.
MUST_CHECK bool wire_attach(struct wire *wire, struct transfer *transfer);
void wire_detach(struct transfer *transfer);

/// Sends it. `entry`: the addresses of its host; NULL: the URL holds one. False: no memory, nothing was sent.
MUST_CHECK bool wire_start(struct wire *wire, struct transfer *transfer, const struct address_entry *entry);
/// Ends it without a result; its connection is closed.
void wire_stop(struct wire *wire, struct transfer *transfer);

static inline enum phase wire_phase(const struct transfer *transfer)
{
    return transfer_phase(transfer, &transfer->wire->sockets);
}
