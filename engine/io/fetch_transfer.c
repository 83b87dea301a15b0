#include "io/fetch_transfer.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ADDRESSES_MAX = 32,           // of one host
    FRAMING_BYTES = 1024 * 1024,  // beside a head's cap: handshakes, records, chunks
    WIRE_BYTES_PER_BODY_BYTE = 8, // a chunk of one byte takes six
};

void transfer_begin(struct transfer *transfer)
{
    transfer->fd = -1;
    transfer->taken_before = 0;
    transfer->opened_count = 0;
    transfer->is_requested = transfer->is_doomed = transfer->is_flooded = false;
    transfer->is_address_refused = transfer->is_resend_refused = transfer->has_tunnel = transfer->has_lost = false;
    transfer->error[0] = '\0';
}

// A second sending means: a kept connection died before a byte of the answer, and the transport wants to repeat the
// request by itself. Nobody knows whether the peer acted on the first.
static bool transfer_may_repeat(struct transfer *transfer)
{
    if (transfer->is_requested && !transfer->request.is_repeatable) {
        transfer->is_resend_refused = true;
        return false;
    }
    return true;
}

bool transfer_may_open(struct transfer *transfer, const struct sockaddr *address, const struct address_range *allowed,
                       size_t allowed_count)
{
    if (!address_is_allowed(address, allowed, allowed_count)) {
        transfer->is_address_refused = true;
        return false;
    }
    if (!transfer_may_repeat(transfer)) {
        return false;
    }
    transfer->is_requested = transfer->has_tunnel = false;
    transfer->taken_before = 0; // also when the new socket gets the number of the old one
    list_remove(&transfer->sending_node);
    return true;
}

// Of two that race to connect the first one sends.
static bool transfer_wins_race(struct transfer *transfer)
{
    struct fetch_race *race = transfer->fetch->race;

    if (race != NULL && race->winner == NULL) {
        race->winner = transfer->fetch;
    }
    transfer->has_lost = race != NULL && race->winner != transfer->fetch;
    return !transfer->has_lost;
}

bool transfer_may_send(struct transfer *transfer, struct list *sending)
{
    if (transfer_is_orphan(transfer) || !transfer_may_repeat(transfer) || !transfer_wins_race(transfer)) {
        return false;
    }
    transfer->is_requested = true;
    transfer->fetch->connected_us = clock_now_us();
    transfer->fetch->sent_us = 0;
    transfer->fetch->is_reused = transfer->opened_count == 0;
    list_remove(&transfer->sending_node);
    list_append(sending, &transfer->sending_node);
    return true;
}

void transfer_use_socket(struct transfer *transfer, int fd)
{
    if (fd != transfer->fd) {
        transfer->fd = fd;
        transfer->taken_before = transfer->opened_count == 0 ? sockets_taken(fd) : 0;
    }
}

static bool transfer_is_flooded(struct transfer *transfer)
{
    const struct assembly *assembly = &transfer->assembly;
    uint64_t body = assembly->body.length;
    uint64_t most = assembly->head.ceiling + FRAMING_BYTES + body * WIRE_BYTES_PER_BODY_BYTE;

    transfer->is_flooded = transfer->fd >= 0 && sockets_taken(transfer->fd) > transfer->taken_before + most;
    return transfer->is_flooded;
}

static bool transfer_needs_tunnel(const struct transfer *transfer)
{
    const struct fetch_route *route = transfer->fetch->route;
    return transfer->url.is_https && route != NULL && route->proxy.data != NULL;
}

struct transfer *transfers_take_flooded(struct list *touched)
{
    struct list *node;

    while ((node = list_take_first(touched)) != NULL) {
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, touched_node);
        if (transfer_is_flooded(transfer)) {
            return transfer;
        }
    }
    return NULL;
}

bool transfer_take_line(struct transfer *transfer, struct text line)
{
    if (transfer_needs_tunnel(transfer) && !transfer->is_requested) {
        transfer->has_tunnel = true; // a line of the proxy's own: no part of the answer
        return true;
    }
    if (!assembly_add_line(&transfer->assembly, line)) {
        return false;
    }
    if (transfer->fetch->first_byte_us == 0 && assembly_has_begun(&transfer->assembly)) {
        transfer->fetch->first_byte_us = clock_now_us();
    }
    return true;
}

void fetch_set_detail(struct fetch *fetch, const char *sentence)
{
    snprintf(fetch->detail, sizeof(fetch->detail), "%s", sentence);
}

static bool fetch_fails(struct fetch *fetch, enum fetch_result result, const char *sentence)
{
    fetch->result = result;
    fetch_set_detail(fetch, sentence);
    return true;
}

bool transfer_has_fault(struct transfer *transfer, bool is_ok, bool is_connect_error, bool is_memory_error)
{
    struct fetch *fetch = transfer->fetch;
    const struct assembly *assembly = &transfer->assembly;

    if (transfer->is_doomed || assembly->fault == ASSEMBLY_NO_MEMORY) {
        return fetch_fails(fetch, FETCH_NO_MEMORY, "no memory");
    }
    if (transfer->has_lost) {
        return fetch_fails(fetch, FETCH_LOST, "another connection was there first");
    }
    if (transfer->is_resend_refused) {
        return fetch_fails(fetch, FETCH_RECEIVE_FAILED,
                           "the kept connection died before a byte of the answer; the request is not sent twice");
    }
    if (assembly->fault == ASSEMBLY_HEAD_TOO_LARGE) {
        return fetch_fails(fetch, FETCH_TOO_LARGE, "the head is larger than its cap");
    }
    if (assembly->fault == ASSEMBLY_BODY_TOO_LARGE) {
        return fetch_fails(fetch, FETCH_TOO_LARGE, "the body is larger than its cap");
    }
    if (transfer->is_flooded) {
        return fetch_fails(fetch, FETCH_TOO_LARGE, "the peer sends framing and hardly a body");
    }
    // libcurl has a limit of its own for one line, 100 KiB, and calls a longer one "out of memory".
    if (is_memory_error && transfer->is_requested && !assembly->is_head_complete) {
        return fetch_fails(fetch, FETCH_TOO_LARGE, "a line of the head is larger than its cap");
    }
    if (is_connect_error && transfer->is_address_refused && transfer->opened_count == 0) {
        return fetch_fails(fetch, FETCH_REFUSED, "the address is private and not allowed");
    }
    if (is_ok && assembly->status == 101) {
        return fetch_fails(fetch, FETCH_RECEIVE_FAILED, "the peer switched protocols unasked");
    }
    if (is_ok && !assembly->is_head_complete) {
        return fetch_fails(fetch, FETCH_RECEIVE_FAILED, "the connection ended before a whole head");
    }
    return false;
}

// libcurl tells the time of the TCP connect only when TLS is through as well, so the sockets are asked.
static bool transfer_is_in_tls(const struct transfer *transfer, const struct sockets *sockets)
{
    bool is_connected = false;
    bool may_be = transfer->url.is_https && (transfer->has_tunnel || !transfer_needs_tunnel(transfer));

    for (unsigned i = 0; may_be && i < transfer->opened_count && !is_connected; i++) {
        is_connected = sockets_is_connected(sockets, transfer->opened[i]);
    }
    return is_connected;
}

bool transfer_has_watched_socket(const struct transfer *transfer, struct sockets *sockets)
{
    for (unsigned i = 0; i < transfer->opened_count; i++) {
        sockets_check(sockets, transfer->opened[i]);
        if (sockets_is_watched(sockets, transfer->opened[i])) {
            return true;
        }
    }
    return false;
}

enum phase transfer_phase(const struct transfer *transfer, const struct sockets *sockets)
{
    if (!transfer->is_requested) {
        return transfer_is_in_tls(transfer, sockets) ? PHASE_TLS : PHASE_CONNECT;
    }
    if (transfer->fetch->first_byte_us != 0) {
        return PHASE_BODY;
    }
    return transfer->fetch->sent_us != 0 ? PHASE_FIRST_BYTE : PHASE_SEND;
}

// The words are OpenSSL's, which libcurl hands on.
enum fetch_result transfer_result(const struct transfer *transfer, enum fetch_result result)
{
    bool is_alert = transfer->url.is_https && transfer->fetch->first_byte_us == 0 &&
                    strstr(transfer->error, "SSL routines") != NULL && strstr(transfer->error, " alert ") != NULL;
    return is_alert ? FETCH_TLS_FAILED : result;
}

enum phase transfer_end_phase(const struct transfer *transfer, const struct sockets *sockets)
{
    switch (transfer->fetch->result) {
    case FETCH_DNS_FAILED:
        return PHASE_DNS;
    case FETCH_CONNECT_FAILED:
    case FETCH_REFUSED:
        return PHASE_CONNECT;
    case FETCH_TLS_FAILED:
        return PHASE_TLS;
    default:
        return transfer_phase(transfer, sockets);
    }
}

// A request is out when its connection has nothing left to send. That libcurl went on with it so far is no reason to
// ask the kernel what came: an answer that floods goes on.
void transfers_note_sent(struct list *sending, const struct sockets *sockets)
{
    LIST_FOR_EACH (node, sending) {
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, sending_node);
        if (!sockets_wants_to_send(sockets, transfer->fd)) {
            transfer->fetch->sent_us = clock_now_us();
            list_remove(&transfer->sending_node);
            list_remove(&transfer->touched_node);
        }
    }
}

void transfer_choose_peer(struct transfer *transfer)
{
    const struct fetch_route *route = transfer->fetch->route;
    bool has_proxy = route != NULL && route->proxy.data != NULL;

    transfer->peer_host = has_proxy ? route->proxy_host : transfer->url.host;
    transfer->peer_port = has_proxy ? route->proxy_port : transfer->url.port;
    transfer->peer_is_literal = has_proxy ? route->proxy_is_literal : transfer->url.is_literal;
}

static bool addresses_write(struct buffer *text, const struct address_entry *entry, const struct transfer *transfer)
{
    char address[INET6_ADDRSTRLEN];
    size_t count = entry->address_count < ADDRESSES_MAX ? entry->address_count : ADDRESSES_MAX;

    buffer_printf(text, "%.*s:%u", TEXT_ARGS(transfer->peer_host), (unsigned)transfer->peer_port);
    for (size_t i = 0; i < count; i++) {
        const struct sockaddr_storage *from = &entry->addresses[i];
        bool is_ipv6 = from->ss_family == AF_INET6;
        const void *bytes = is_ipv6 ? (const void *)&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr
                                    : (const void *)&((const struct sockaddr_in *)(const void *)from)->sin_addr;
        require(inet_ntop(from->ss_family, bytes, address, sizeof(address)) != NULL);
        buffer_printf(text, "%c%s%s%s", i == 0 ? ':' : ',', is_ipv6 ? "[" : "", address, is_ipv6 ? "]" : "");
    }
    return buffer_append_byte(text, '\0');
}

bool transfer_tell_addresses(struct transfer *transfer, const struct address_entry *entry, const char **addresses)
{
    struct origin *origin = transfer->origin;
    struct buffer text;

    *addresses = NULL;
    buffer_init(&text, 16 * 1024);
    bool is_ok = addresses_write(&text, entry, transfer);
    if (is_ok && (origin->resolve == NULL || strcmp(origin->resolve, text.data) != 0)) {
        free(origin->resolve);
        origin->resolve = strdup(text.data);
        *addresses = origin->resolve;
        is_ok = origin->resolve != NULL;
    }
    buffer_fini(&text);
    return is_ok;
}
