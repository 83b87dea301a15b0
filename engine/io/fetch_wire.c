#include "io/fetch_wire.h"

#include "base/log.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// libcurl is entered at three places only: wire_start, a socket's event, its own wake. Each of them ends in
// wire_settle, which collects what has ended. Its callbacks only note things.

enum {
    BUFFER_BYTES = 64 * 1024, // libcurl fills it up to a hundred times in one go
    CONNECTION_LIFE_S = 300,  // suppliers move
    WARM_ROUNDS = 200,
};

// ------------------------------------------------------------------------------------------------- libcurl's callbacks

// See wire_nudge_stuck.
static void wire_suspect(struct transfer *transfer)
{
    list_move(&transfer->wire->suspects, &transfer->suspect_node);
}

// The last look at where a connection really goes.
static curl_socket_t wire_on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    struct wire *wire = transfer->wire;

    wire_suspect(transfer);
    if (purpose != CURLSOCKTYPE_IPCXN ||
        !transfer_may_open(transfer, &address->addr, wire->options.allowed, wire->options.allowed_count)) {
        return CURL_SOCKET_BAD;
    }
    int fd = sockets_open(&wire->sockets, transfer->origin, address->family, address->socktype, address->protocol);
    if (fd < 0) {
        return CURL_SOCKET_BAD;
    }
    if (transfer->opened_count < TRANSFER_OPENED_MAX) {
        transfer->opened[transfer->opened_count++] = fd;
    }
    wire->counts.connects++;
    wire->counts.handshakes += transfer->url.is_https ? 1 : 0;
    return fd;
}

static int wire_on_close(void *context, curl_socket_t fd)
{
    struct wire *wire = context;
    sockets_close(&wire->sockets, fd);
    return 0;
}

// Connected, TLS included; called again when libcurl repeats a request over another connection.
static int wire_on_request(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct transfer *transfer = context;
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    return transfer_may_send(transfer, &transfer->wire->sending) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t wire_on_line(char *data, size_t size, size_t count, void *context)
{
    return transfer_take_line(context, (struct text){ data, size * count }) ? size * count : 0;
}

static size_t wire_on_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    return assembly_add_body(&transfer->assembly, (struct text){ data, size * count }) ? size * count
                                                                                       : CURL_WRITEFUNC_ERROR;
}

// In each go at a socket, whatever came over it.
static int wire_on_progress(void *context, curl_off_t d_total, curl_off_t d_now, curl_off_t u_total, curl_off_t u_now)
{
    struct transfer *transfer = context;
    (void)d_total, (void)d_now, (void)u_total, (void)u_now;
    list_move(&transfer->wire->touched, &transfer->touched_node);
    return 0;
}

// Names are never resolved here: what is no address must have come from the book.
static int wire_on_resolve(void *resolver, void *reserved, void *context)
{
    struct transfer *transfer = context;
    (void)resolver, (void)reserved;
    return transfer->peer_is_literal ? 0 : 1;
}

static int wire_on_socket(CURL *handle, curl_socket_t fd, int what, void *context, void *socket_context)
{
    struct wire *wire = context;
    struct transfer *transfer = NULL;
    unsigned events = 0;
    (void)socket_context;

    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
    if (what == CURL_POLL_REMOVE) {
        sockets_let_go(&wire->sockets, fd, transfer->opened_count != 0);
        if (!transfer->is_requested) {
            wire_suspect(transfer);
        }
        return 0;
    }
    events |= what == CURL_POLL_IN || what == CURL_POLL_INOUT ? LOOP_READABLE : 0;
    events |= what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? LOOP_WRITABLE : 0;
    transfer_use_socket(transfer, fd);
    if (!sockets_want(&wire->sockets, fd, events)) {
        transfer->is_doomed = wire->has_doomed = true; // an error from here would break all transfers
    }
    return 0;
}

static int wire_on_timer(CURLM *multi, long timeout_ms, void *context)
{
    struct wire *wire = context;
    (void)multi;
    wake_set(&wire->wake, timeout_ms);
    return 0;
}

// --------------------------------------------------------------------------------------------------------------- ends

// What is not here is an answer that failed.
static const struct {
    CURLcode code;
    enum fetch_result result;
} results[] = {
    { CURLE_OK, FETCH_OK },
    { CURLE_COULDNT_RESOLVE_HOST, FETCH_DNS_FAILED },
    { CURLE_COULDNT_CONNECT, FETCH_CONNECT_FAILED },
    { CURLE_OPERATION_TIMEDOUT, FETCH_CONNECT_FAILED }, // libcurl's own limit of a connect; we set none
    { CURLE_SSL_CONNECT_ERROR, FETCH_TLS_FAILED },
    { CURLE_SSL_CIPHER, FETCH_TLS_FAILED },
    { CURLE_PEER_FAILED_VERIFICATION, FETCH_TLS_FAILED },
    { CURLE_SSL_CACERT_BADFILE, FETCH_TLS_FAILED },
    { CURLE_SSL_ISSUER_ERROR, FETCH_TLS_FAILED },
    { CURLE_SEND_ERROR, FETCH_SEND_FAILED },
    { CURLE_SEND_FAIL_REWIND, FETCH_SEND_FAILED },
    { CURLE_FILESIZE_EXCEEDED, FETCH_TOO_LARGE },
    { CURLE_URL_MALFORMAT, FETCH_REFUSED },
    { CURLE_OUT_OF_MEMORY, FETCH_NO_MEMORY },
};

static enum fetch_result result_of_curl(CURLcode code, bool is_requested)
{
    for (size_t i = 0; i < COUNT_OF(results); i++) {
        if (results[i].code == code) {
            return results[i].result;
        }
    }
    return is_requested ? FETCH_RECEIVE_FAILED : FETCH_CONNECT_FAILED; // the latter: a proxy that does not lead there
}

static void wire_end(struct wire *wire, struct transfer *transfer, CURLcode code)
{
    struct fetch *fetch = transfer->fetch;
    curl_off_t tcp_us = 0, tls_us = 0; // done, since the start
    // What we stopped ourselves comes back from libcurl as an error of a callback; we know better.
    if (!transfer_has_fault(transfer, code == CURLE_OK, code == CURLE_COULDNT_CONNECT, code == CURLE_OUT_OF_MEMORY)) {
        fetch->result = transfer_result(transfer, result_of_curl(code, transfer->is_requested));
        fetch_set_detail(fetch, transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code));
    }
    fetch->phase = transfer_end_phase(transfer, &wire->sockets);
    if (!fetch->is_reused) { // a kept connection, the usual one, has none to tell
        curl_easy_getinfo(transfer->handle, CURLINFO_CONNECT_TIME_T, &tcp_us);
        curl_easy_getinfo(transfer->handle, CURLINFO_APPCONNECT_TIME_T, &tls_us);
        fetch->tls_took_us = tcp_us > 0 && tls_us > tcp_us ? (uint64_t)(tls_us - tcp_us) : 0;
    }
    wire->counts.reused += transfer->is_requested && fetch->is_reused ? 1 : 0;
    wire_stop(wire, transfer);
    if (fetch->result == FETCH_OK) {
        fetch->detail[0] = '\0';
        fetch->response = assembly_finish(&transfer->assembly);
        if (fetch->response == NULL) {
            fetch->result = FETCH_NO_MEMORY;
        }
    }
    wire->options.on_ended(wire->options.context, transfer);
}

static void wire_end_doomed(struct wire *wire)
{
    wire->has_doomed = false;
    LIST_FOR_EACH (node, &wire->running) {
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, node);
        if (transfer->is_doomed) {
            wire_end(wire, transfer, CURLE_OUT_OF_MEMORY);
        }
    }
}

// Only of those that go on: the kernel is asked what it took, and most answers come in one go and end with it.
static void wire_end_flooded(struct wire *wire)
{
    struct transfer *transfer;

    while ((transfer = transfers_take_flooded(&wire->touched)) != NULL) {
        wire_end(wire, transfer, CURLE_ABORTED_BY_CALLBACK);
    }
}

static void wire_settle(struct wire *wire)
{
    CURLMsg *message;
    int left;

    transfers_note_sent(&wire->sending, &wire->sockets);
    while ((message = curl_multi_info_read(wire->multi, &left)) != NULL) {
        struct transfer *transfer = NULL;
        CURLcode code = message->data.result; // the message dies with its handle's removal
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        wire_end(wire, transfer, code);
    }
    if (wire->has_doomed) {
        wire_end_doomed(wire);
    }
}

static void wire_act(struct wire *wire, int fd, int mask)
{
    int still_running;

    require(!wire->is_inside);
    wire->is_inside = true;
    CURLMcode code = curl_multi_socket_action(wire->multi, fd, mask, &still_running);
    wire->is_inside = false;
    require(code == CURLM_OK || code == CURLM_OUT_OF_MEMORY || code == CURLM_INTERNAL_ERROR);
}

// When an address fails and there are others, this libcurl may wait for an event of a socket that is closed. A pause
// that is taken back makes it look again.
static bool wire_nudge_stuck(struct wire *wire)
{
    struct list *node;
    bool has_nudged = false;

    while ((node = list_take_first(&wire->suspects)) != NULL) {
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, suspect_node);
        if (!transfer->is_requested && !transfer_has_watched_socket(transfer, &wire->sockets)) {
            curl_easy_pause(transfer->handle, CURLPAUSE_ALL);
            curl_easy_pause(transfer->handle, CURLPAUSE_CONT);
            has_nudged = true;
        }
    }
    return has_nudged;
}

static void wire_enter(struct wire *wire, int fd, int mask)
{
    wire_act(wire, fd, mask);
    wire_settle(wire);
    while (wire_nudge_stuck(wire)) {
        wire_act(wire, CURL_SOCKET_TIMEOUT, 0);
        wire_settle(wire);
    }
}

static void wire_on_event(void *context, int fd, unsigned events)
{
    struct wire *wire = context;
    int mask = 0;

    mask |= (events & LOOP_READABLE) != 0 ? CURL_CSELECT_IN : 0;
    mask |= (events & LOOP_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
    // With IN beside it libcurl reads and learns the true error, instead of saying "select/poll returned error".
    mask |= (events & LOOP_ERROR) != 0 ? CURL_CSELECT_ERR | CURL_CSELECT_IN : 0;
    wire_enter(wire, fd, mask);
    wire_end_flooded(wire);
    if ((events & LOOP_ERROR) != 0) {
        sockets_rewatch(&wire->sockets, fd);
    }
    wire->options.on_settled(wire->options.context);
}

static void wire_on_due(void *context)
{
    struct wire *wire = context;

    wire_enter(wire, CURL_SOCKET_TIMEOUT, 0);
    wire->options.on_settled(wire->options.context);
}

// ------------------------------------------------------------------------------------------------------ start and stop

// Tells libcurl the addresses when they are not those it was told before. They stay for good: no "+".
static bool transfer_set_addresses(struct transfer *transfer, const struct address_entry *entry)
{
    const char *addresses;

    if (!transfer_tell_addresses(transfer, entry, &addresses)) {
        return false;
    }
    transfer->resolve = addresses == NULL ? NULL : curl_slist_append(NULL, addresses);
    return addresses == NULL || (transfer->resolve != NULL &&
                                 curl_easy_setopt(transfer->handle, CURLOPT_RESOLVE, transfer->resolve) == CURLE_OK);
}

static bool transfer_set_lines(struct transfer *transfer)
{
    for (const char *line = wire_request_next_line(&transfer->request, NULL); line != NULL;
         line = wire_request_next_line(&transfer->request, line)) {
        struct curl_slist *longer = curl_slist_append(transfer->lines, line);
        if (longer == NULL) {
            return false;
        }
        transfer->lines = longer;
    }
    return curl_easy_setopt(transfer->handle, CURLOPT_HTTPHEADER, transfer->lines) == CURLE_OK;
}

// Each host has a share of its own for TLS sessions (one holds only 8), plain ones have one for all: a handle that runs
// without a share makes a store of its own, and this libcurl loses it when the handle gets a share later.
static bool transfer_set_session_share(struct transfer *transfer)
{
    void **share = transfer->url.is_https ? &transfer->origin->share : &transfer->wire->plain_share;

    if (*share == NULL) {
        *share = curl_share_init();
        if (*share == NULL || curl_share_setopt(*share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK) {
            return false;
        }
    }
    return curl_easy_setopt(transfer->handle, CURLOPT_SHARE, *share) == CURLE_OK;
}

#define SET(option, value) (curl_easy_setopt(handle, CURLOPT_##option, value) == CURLE_OK)

// The certificate is in memory already, for libcurl would read its file for each connection, on the loop.
static bool transfer_set_route(struct transfer *transfer)
{
    CURL *handle = transfer->handle;
    const struct fetch_route *route = transfer->fetch->route;
    bool is_ok = SET(PROXY, route != NULL && route->proxy.data != NULL ? route->proxy.data : "");

    if (route != NULL && route->certificate.data != NULL) {
        struct curl_blob certificate = { (void *)(uintptr_t)route->certificate.data, route->certificate.length, 0 };
        struct curl_blob key = { (void *)(uintptr_t)route->key.data, route->key.length, 0 };
        is_ok = is_ok && SET(SSLCERT_BLOB, &certificate) && SET(SSLKEY_BLOB, &key);
    }
    return is_ok;
}

// Everything that varies is set for every use, so that no reset is needed.
static bool transfer_set_options(struct transfer *transfer)
{
    CURL *handle = transfer->handle;
    const struct wire_request *request = &transfer->request;
    struct text body = transfer->fetch->request->body;
    uint64_t cap = transfer->fetch->body_cap;
    curl_off_t most = cap == 0 ? 1 : cap < INT64_MAX ? (curl_off_t)cap : INT64_MAX; // 0 would mean no limit
    bool is_ok;

    // HTTPGET takes back what POST or NOBODY of an earlier use have left.
    is_ok = SET(HTTPGET, 1L);
    if (request->has_body) {
        is_ok = is_ok && SET(POST, 1L) && SET(POSTFIELDSIZE_LARGE, (curl_off_t)body.length) &&
                SET(POSTFIELDS, body.data != NULL ? body.data : "");
    } else if (request->is_head) {
        is_ok = is_ok && SET(NOBODY, 1L);
    }
    return is_ok && SET(URL, wire_request_url(request)) && SET(CUSTOMREQUEST, wire_request_method(request)) &&
           SET(FRESH_CONNECT, transfer->fetch->is_fresh ? 1L : 0L) && SET(MAXFILESIZE_LARGE, most) &&
           transfer_set_lines(transfer) && transfer_set_route(transfer) && transfer_set_session_share(transfer);
}

static void transfer_clear_options(struct transfer *transfer)
{
    static const CURLoption options[] = { CURLOPT_RESOLVE, CURLOPT_HTTPHEADER,   CURLOPT_POSTFIELDS,
                                          CURLOPT_SHARE,   CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB };
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        curl_easy_setopt(transfer->handle, options[i], NULL);
    }
    curl_slist_free_all(transfer->lines);
    curl_slist_free_all(transfer->resolve);
    transfer->lines = transfer->resolve = NULL;
}

bool wire_start(struct wire *wire, struct transfer *transfer, const struct address_entry *entry)
{
    require(!wire->is_inside && transfer->state == TRANSFER_READY);
    transfer_begin(transfer);
    if (!transfer_set_options(transfer) || (entry != NULL && !transfer_set_addresses(transfer, entry)) ||
        curl_multi_add_handle(wire->multi, transfer->handle) != CURLM_OK) {
        free(transfer->origin->resolve); // the next one tells the addresses again
        transfer->origin->resolve = NULL;
        transfer_clear_options(transfer);
        return false;
    }
    list_remove(&transfer->node);
    list_append(&wire->running, &transfer->node);
    transfer->state = TRANSFER_RUNNING;
    transfer->origin->running++;
    wire_enter(wire, CURL_SOCKET_TIMEOUT, 0);
    return true;
}

void wire_stop(struct wire *wire, struct transfer *transfer)
{
    require(!wire->is_inside && transfer->state == TRANSFER_RUNNING);
    require(curl_multi_remove_handle(wire->multi, transfer->handle) == CURLM_OK);
    list_remove(&transfer->node);
    for (unsigned i = 0; i < transfer->opened_count; i++) {
        sockets_check(&wire->sockets, transfer->opened[i]);
    }
    list_remove(&transfer->sending_node);
    list_remove(&transfer->suspect_node);
    list_remove(&transfer->touched_node);
    transfer->state = TRANSFER_ENDED;
    transfer->origin->running--;
    transfer_clear_options(transfer);
}

// ------------------------------------------------------------------------------------------------------------ handles

// What never varies. Not set at all: any time limit (0 means "for ever" to libcurl, and its own clock is not ours),
// decoding, redirects, cookies, netrc.
static bool wire_set_constants(struct wire *wire, CURL *handle, struct transfer *transfer)
{
    return SET(NOSIGNAL, 1L) && SET(PROTOCOLS_STR, "http,https") && SET(FOLLOWLOCATION, 0L) && SET(NOPROXY, "") &&
           SET(PROXY, "") && SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) && SET(HTTP09_ALLOWED, 0L) &&
           SET(PATH_AS_IS, 1L) && SET(BUFFERSIZE, (long)BUFFER_BYTES) && SET(CAPATH, NULL) &&
           SET(CAINFO, wire->ca_file) && SET(CA_CACHE_TIMEOUT, -1L) && SET(MAXLIFETIME_CONN, (long)CONNECTION_LIFE_S) &&
           SET(DNS_CACHE_TIMEOUT, -1L) && SET(QUICK_EXIT, 1L) && SET(PRIVATE, transfer);
}

static bool wire_set_callbacks(struct wire *wire, CURL *handle, struct transfer *transfer)
{
    return SET(ERRORBUFFER, transfer->error) && SET(OPENSOCKETFUNCTION, wire_on_open) &&
           SET(OPENSOCKETDATA, transfer) && SET(CLOSESOCKETFUNCTION, wire_on_close) && SET(CLOSESOCKETDATA, wire) &&
           SET(PREREQFUNCTION, wire_on_request) && SET(PREREQDATA, transfer) && SET(HEADERFUNCTION, wire_on_line) &&
           SET(HEADERDATA, transfer) && SET(NOPROGRESS, 0L) && SET(XFERINFOFUNCTION, wire_on_progress) &&
           SET(XFERINFODATA, transfer) && SET(WRITEFUNCTION, wire_on_body) && SET(WRITEDATA, transfer) &&
           SET(RESOLVER_START_FUNCTION, wire_on_resolve) && SET(RESOLVER_START_DATA, transfer);
}

bool wire_attach(struct wire *wire, struct transfer *transfer)
{
    transfer->wire = wire;
    transfer->handle = curl_easy_init();
    return transfer->handle != NULL && wire_set_constants(wire, transfer->handle, transfer) &&
           wire_set_callbacks(wire, transfer->handle, transfer);
}

void wire_detach(struct transfer *transfer)
{
    curl_easy_cleanup(transfer->handle);
    transfer->handle = NULL;
}

// --------------------------------------------------------------------------------------------------------------- warm

// Begins a TLS connection with a listener of our own, up to libcurl's first bytes: then it has read the CA file and
// keeps it for all transfers of this multi handle.
static CURLcode wire_warm_with(struct wire *wire, CURL *handle, int listener, uint16_t port)
{
    CURLcode code = CURLE_OK;
    int peer = -1;
    char url[48];
    int still_running = 1;
    int left;

    snprintf(url, sizeof(url), "https://127.0.0.1:%u/", (unsigned)port);
    if (!wire_set_constants(wire, handle, NULL) || !SET(URL, url) ||
        curl_multi_add_handle(wire->multi, handle) != CURLM_OK) {
        return CURLE_OUT_OF_MEMORY;
    }
    for (int i = 0; i < WARM_ROUNDS && still_running != 0; i++) {
        curl_multi_perform(wire->multi, &still_running);
        if (sockets_hear_on_loopback(listener, &peer)) {
            break;
        }
    }
    const CURLMsg *message = curl_multi_info_read(wire->multi, &left);
    if (message != NULL) {
        code = message->data.result;
    }
    curl_multi_remove_handle(wire->multi, handle);
    if (peer >= 0) {
        close(peer);
    }
    return code;
}

static enum status wire_warm(struct wire *wire, struct failure *why)
{
    int listener;
    uint16_t port = sockets_listen_on_loopback(&listener);
    CURL *handle = curl_easy_init();
    CURLcode code = CURLE_OUT_OF_MEMORY;

    if (port != 0 && handle != NULL) {
        code = wire_warm_with(wire, handle, listener, port);
    }
    curl_easy_cleanup(handle);
    if (listener >= 0) {
        close(listener);
    }
    if (code == CURLE_OK) {
        return STATUS_OK;
    }
    if (code == CURLE_SSL_CACERT_BADFILE && wire->options.ca_file != NULL) {
        failure_set(why, "cannot read certificates of authorities from \"%s\"", wire->ca_file);
        failure_help(why, "give a file of certificates in PEM format");
        return STATUS_INVALID;
    }
    log_line(LOG_WARNING, "fetch", "certificates of authorities in %s were not read ahead: %s", wire->ca_file,
             curl_easy_strerror(code));
    return STATUS_OK;
}

// --------------------------------------------------------------------------------------------------- birth and death

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_once_code;

static void curl_start_once(void)
{
    curl_once_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void wire_drop_share(void *share)
{
    curl_share_cleanup(share);
}

static enum status wire_open(struct wire *wire, struct failure *why)
{
    const char *built_in = curl_version_info(CURLVERSION_NOW)->cainfo;
    const char *ca_file = wire->options.ca_file != NULL ? wire->options.ca_file : built_in;

    wire->ca_file = strdup(ca_file != NULL ? ca_file : "/etc/ssl/certs/ca-certificates.crt");
    wire->multi = curl_multi_init();
    if (!wake_init(&wire->wake, wire->loop, wire_on_due, wire) || curl_once_code != CURLE_OK || wire->ca_file == NULL ||
        wire->multi == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = wire_warm(wire, why);
    if (status != STATUS_OK) {
        return status;
    }
    // A pool of connections of its own choice would shrink with the transfers and cause constant reconnects.
    curl_multi_setopt(wire->multi, CURLMOPT_MAXCONNECTS, (long)wire->options.max_connections);
    curl_multi_setopt(wire->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(wire->multi, CURLMOPT_SOCKETFUNCTION, wire_on_socket);
    curl_multi_setopt(wire->multi, CURLMOPT_SOCKETDATA, wire);
    curl_multi_setopt(wire->multi, CURLMOPT_TIMERFUNCTION, wire_on_timer);
    curl_multi_setopt(wire->multi, CURLMOPT_TIMERDATA, wire);
    return STATUS_OK;
}

enum status wire_create(struct loop *loop, const struct wire_options *options, struct wire **wire, struct failure *why)
{
    struct wire *made = calloc(1, sizeof(*made));

    *wire = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_once(&curl_once, curl_start_once);
    made->loop = loop;
    made->options = *options;
    sockets_init(&made->sockets, loop, wire_on_event, made);
    origins_init(&made->origins, wire_drop_share);
    list_init(&made->running);
    list_init(&made->sending);
    list_init(&made->suspects);
    list_init(&made->touched);
    enum status status = wire_open(made, why);
    if (status != STATUS_OK) {
        wire_destroy(&made);
        return status;
    }
    *wire = made;
    return STATUS_OK;
}

void wire_destroy(struct wire **wire)
{
    struct wire *gone = *wire;

    *wire = NULL;
    if (gone == NULL) {
        return;
    }
    require(list_is_empty(&gone->running));
    curl_multi_cleanup(gone->multi); // closes the kept connections
    wake_fini(&gone->wake);
    origins_fini(&gone->origins);
    curl_share_cleanup(gone->plain_share);
    sockets_fini(&gone->sockets);
    free(gone->ca_file);
    free(gone);
}
