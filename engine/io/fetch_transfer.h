/// Transfer: the inside of one fetch; the pool (fetch.c) and the wire (fetch_wire.c) share it.
///
/// Threads: their loop's.
/// Memory:  the pool makes them and keeps them with their handle, from use to use.
#pragma once

#include "io/fetch_origin.h"
#include "io/fetch_request.h"
#include "io/fetch_response.h"
#include "io/fetch_sockets.h"
#include "io/loop.h"
#include "io/resolver.h"

//   NAMING --> READY --> RUNNING --> ENDED      NAMING waits for an address, READY for its turn and a handshake slot,
//      \__________\___________________/         ENDED for being told to the owner
enum transfer_state { TRANSFER_UNUSED, TRANSFER_NAMING, TRANSFER_READY, TRANSFER_RUNNING, TRANSFER_ENDED };

enum { TRANSFER_OPENED_MAX = 16 };

struct transfer {
    struct list node; // in the list of its state
    enum transfer_state state;
    struct fetch *fetch; // the owner's, or `orphan`
    void *pool;
    struct timer end_timer;
    struct url_parts url;
    struct text peer_host; // whom we connect to: the URL's host, or the route's proxy
    uint16_t peer_port;
    bool peer_is_literal;
    struct origin *origin; // NULL until it is ready to be sent
    struct wire_request request;
    struct assembly assembly;
    struct fetch orphan;     // in place of the owner's fetch once that was cancelled and libcurl still holds on
    struct list orphan_node; // in the pool's list of those to be stopped

    // the wire's own
    struct wire *wire;
    void *handle;
    void *lines;
    void *resolve;
    struct list sending_node; // in the wire's list of those whose request is on its way
    struct list suspect_node; // in the wire's list of those that may be stuck
    struct list touched_node; // in the wire's list of those that libcurl went on with
    int fd;
    uint64_t taken_before;           // bytes read from `fd` before this transfer
    int opened[TRANSFER_OPENED_MAX]; // the first sockets opened for it
    unsigned opened_count;           // 0: it runs over a kept connection
    bool is_requested;               // connected, the request goes out
    bool has_tunnel;                 // its proxy has answered, so that what follows is between the peer and us
    bool is_address_refused;
    bool is_resend_refused;
    bool has_lost;   // its race
    bool is_doomed;  // its socket cannot be watched
    bool is_flooded; // by bytes that are neither head nor body
    char error[256];
};

/// Its owner has cancelled it; what libcurl still does for it is for nobody.
static inline bool transfer_is_orphan(const struct transfer *transfer)
{
    return transfer->fetch == &transfer->orphan;
}

/// Its request is on its way: libcurl reads from the owner's memory.
static inline bool transfer_is_sending(const struct transfer *transfer)
{
    return transfer->is_requested && transfer->fetch->sent_us == 0;
}

/// Before each sending.
void transfer_begin(struct transfer *transfer);

/// May a connection be opened for it? Notes why not.
MUST_CHECK bool transfer_may_open(struct transfer *transfer, const struct sockaddr *address,
                                  const struct address_range *allowed, size_t allowed_count);
/// May its request go out on the connection that is there now? Notes it as sending, or why not. An orphan's may not.
MUST_CHECK bool transfer_may_send(struct transfer *transfer, struct list *sending);

/// From now on it runs over this socket.
void transfer_use_socket(struct transfer *transfer, int fd);
/// Empties the list up to the first to whom the peer sent far more than the head and the body that came out of it;
/// NULL: to nobody. The transport itself reads the framing of chunks for ever and tells nobody.
MUST_CHECK struct transfer *transfers_take_flooded(struct list *touched);

MUST_CHECK bool transfer_take_line(struct transfer *transfer, struct text line);

/// Was it ended by one of the rules above, or by a cap? Then its fetch has result and detail. `is_ok`: the transport
/// saw a whole exchange; `is_connect_error`: it got no connection.
MUST_CHECK bool transfer_has_fault(struct transfer *transfer, bool is_ok, bool is_connect_error, bool is_memory_error);

/// The result, but FETCH_TLS_FAILED when the peer refused us by an alert of TLS. With TLS 1.3 that comes after our side
/// of the handshake is done: the peer has looked at our certificate only then.
enum fetch_result transfer_result(const struct transfer *transfer, enum fetch_result result);

/// One of its sockets is open and waited for.
bool transfer_has_watched_socket(const struct transfer *transfer, struct sockets *sockets);
/// Where a running one stands.
enum phase transfer_phase(const struct transfer *transfer, const struct sockets *sockets);
/// The phase to report with its result.
enum phase transfer_end_phase(const struct transfer *transfer, const struct sockets *sockets);
/// Takes those out of the list whose request has gone out.
void transfers_note_sent(struct list *sending, const struct sockets *sockets);
void fetch_set_detail(struct fetch *fetch, const char *sentence);

/// Once the URL is known: by whom the route leads.
void transfer_choose_peer(struct transfer *transfer);

/// What the transport must be told of the peer's addresses, "host:port:address,[address]": kept by the origin; NULL: it
/// was told just that before. False: no memory.
MUST_CHECK bool transfer_tell_addresses(struct transfer *transfer, const struct address_entry *entry,
                                        const char **addresses);
