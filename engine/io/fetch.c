#include "io/fetch.h"

#include "base/clock.h"
#include "io/fetch_wire.h"
#include "model/ground.h"

#include <stdlib.h>
#include <string.h>

// A fetch waits for an address (naming), for its turn (ready), runs on the wire, and is told to its owner (ended). All
// callbacks to owners are made by pool_drain, which is never entered twice and breathes before each of them; so an
// owner may start and cancel what it likes from inside its callback.
//
// Turns: fetches that were started in one turn of the loop go out in the next one, one after the other with a breath
// between them; of those that need a new TLS connection only `handshakes_per_turn`.

struct fetch_pool {
    struct loop *loop;
    struct wire *wire;
    struct address_book *book;
    struct address_range *allowed;
    size_t allowed_count;
    uint32_t handshakes_per_turn;
    uint64_t head_cap;
    struct list naming;
    struct list ready;
    struct list ended;
    struct list orphans;
    struct list idle; // transfers for the next fetches
    size_t idle_count;
    struct message turn; // deferred while something is ready or ended
    bool is_draining;
    bool is_turning;
    struct fetch_pool_counts counts;
};

enum { IDLE_MAX = 256, HANDSHAKES_PER_TURN = 4, HEAD_CAP = 64 * 1024, CONNECTIONS_MAX = 512 };

// ---------------------------------------------------------------------------------------------------------- transfers

static void pool_drop(struct transfer *transfer)
{
    wire_detach(transfer);
    wire_request_fini(&transfer->request);
    free(transfer);
}

static struct transfer *pool_take(struct fetch_pool *pool)
{
    struct list *node = list_take_first(&pool->idle);

    if (node != NULL) {
        pool->idle_count--;
        return CONTAINER_OF(node, struct transfer, node);
    }
    struct transfer *transfer = calloc(1, sizeof(*transfer));
    if (transfer == NULL) {
        return NULL;
    }
    list_init(&transfer->node);
    list_init(&transfer->sending_node);
    list_init(&transfer->suspect_node);
    list_init(&transfer->touched_node);
    list_init(&transfer->orphan_node);
    transfer->pool = pool;
    wire_request_init(&transfer->request);
    if (!wire_attach(pool->wire, transfer)) {
        pool_drop(transfer);
        return NULL;
    }
    return transfer;
}

static void pool_give_back(struct fetch_pool *pool, struct transfer *transfer)
{
    require(transfer->state != TRANSFER_RUNNING);
    transfer->state = TRANSFER_UNUSED;
    transfer->fetch = NULL;
    if (pool->idle_count == IDLE_MAX) {
        pool_drop(transfer);
        return;
    }
    list_append(&pool->idle, &transfer->node);
    pool->idle_count++;
}

static void list_move_all(struct list *from, struct list *to)
{
    struct list *node;

    while ((node = list_take_first(from)) != NULL) {
        list_append(to, node);
    }
}

// --------------------------------------------------------------------------------------------------------------- ends

// Takes the transfer away from its fetch: nothing points from one to the other afterwards.
static void pool_part(struct fetch_pool *pool, struct transfer *transfer)
{
    list_remove(&transfer->node);
    list_remove(&transfer->orphan_node);
    loop_timer_cancel(pool->loop, &transfer->end_timer);
    assembly_fini(&transfer->assembly);
    origin_release(&pool->wire->origins, &transfer->origin);
    transfer->fetch->impl = NULL;
    if (transfer_is_orphan(transfer)) {
        ground_drop(&transfer->orphan.ground);
    }
    pool_give_back(pool, transfer);
}

// Takes the owner's place; nothing points to the owner's fetch and request any more. The route stays: libcurl may yet
// read its certificate and key, so what they stand on is held until it lets go.
static void pool_orphan(struct fetch_pool *pool, struct transfer *transfer)
{
    struct fetch *fetch = transfer->fetch;

    transfer->orphan = *fetch;
    transfer->orphan.request = NULL;
    transfer->orphan.on_done = NULL;
    transfer->orphan.ground = ground_hold(fetch->ground);
    transfer->fetch = &transfer->orphan;
    fetch->impl = NULL;
    loop_timer_cancel(pool->loop, &transfer->end_timer);
    list_append(&pool->orphans, &transfer->orphan_node);
    loop_defer(pool->loop, &pool->turn);
}

// Ends it without telling anybody.
static void pool_give_up(struct fetch_pool *pool, struct transfer *transfer)
{
    if (transfer->state == TRANSFER_RUNNING) {
        wire_stop(pool->wire, transfer);
    }
    http_response_destroy(&transfer->fetch->response); // of one that ended and was not told yet
    pool_part(pool, transfer);
}

static void pool_stop_orphans(struct fetch_pool *pool)
{
    struct list *node;

    while ((node = list_take_first(&pool->orphans)) != NULL) {
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, orphan_node);
        pool_give_up(pool, transfer);
        loop_breathe(pool->loop);
    }
}

// What ends meanwhile waits for the next turn: an owner that always starts anew must not shut out the sockets.
static void pool_drain(struct fetch_pool *pool)
{
    struct list due;
    struct list *node;

    if (pool->is_draining) {
        return;
    }
    pool->is_draining = true;
    list_init(&due);
    list_move_all(&pool->ended, &due);
    while (!list_is_empty(&due)) {
        loop_breathe(pool->loop); // libcurl's work was one job, what an owner makes of it is another
        node = list_take_first(&due);
        if (node == NULL) {
            break; // a timer has just cancelled the last one
        }
        struct transfer *transfer = CONTAINER_OF(node, struct transfer, node);
        struct fetch *fetch = transfer->fetch;
        if (transfer_is_orphan(transfer)) {
            pool_give_up(pool, transfer);
            continue;
        }
        pool_part(pool, transfer);
        pool->counts.done++;
        pool->counts.running--;
        fetch->done_us = clock_now_us();
        fetch->on_done(fetch);
    }
    pool->is_draining = false;
    if (!list_is_empty(&pool->ended)) {
        loop_defer(pool->loop, &pool->turn);
    }
}

static void pool_on_ended(void *context, struct transfer *transfer)
{
    struct fetch_pool *pool = context;

    list_append(&pool->ended, &transfer->node);
}

static void pool_on_settled(void *context)
{
    pool_drain(context);
}

// Ends a transfer that is not on the wire. Its owner hears of it in the next turn.
static void pool_fail(struct fetch_pool *pool, struct transfer *transfer, enum fetch_result result, enum phase phase,
                      const char *sentence)
{
    struct fetch *fetch = transfer->fetch;

    require(transfer->state != TRANSFER_RUNNING && transfer->state != TRANSFER_ENDED);
    transfer->state = TRANSFER_ENDED;
    fetch->result = result;
    fetch->phase = phase;
    fetch_set_detail(fetch, sentence);
    list_remove(&transfer->node);
    list_append(&pool->ended, &transfer->node);
    loop_defer(pool->loop, &pool->turn);
}

static void pool_on_end_time(struct timer *timer)
{
    struct transfer *transfer = CONTAINER_OF(timer, struct transfer, end_timer);
    struct fetch_pool *pool = transfer->pool;
    struct fetch *fetch = transfer->fetch;

    if (transfer->state == TRANSFER_ENDED) {
        return; // what it ended with is on its way to the owner
    }
    fetch->phase = fetch_phase(fetch);
    fetch->result = FETCH_ENDED;
    if (transfer->state == TRANSFER_RUNNING) {
        wire_stop(pool->wire, transfer);
    }
    transfer->state = TRANSFER_ENDED;
    list_remove(&transfer->node);
    list_append(&pool->ended, &transfer->node);
    pool_drain(pool);
}

// -------------------------------------------------------------------------------------------------------------- starts

static void pool_make_ready(struct fetch_pool *pool, struct transfer *transfer)
{
    transfer->state = TRANSFER_READY;
    transfer->fetch->named_us = clock_now_us();
    list_remove(&transfer->node);
    list_append(&pool->ready, &transfer->node);
    loop_defer(pool->loop, &pool->turn);
}

static const struct address_entry *pool_find(const struct fetch_pool *pool, const struct transfer *transfer)
{
    return pool->book != NULL ? address_book_find(pool->book, transfer->peer_host) : NULL;
}

// What the book says of the name decides where a transfer goes.
static void pool_route_name(struct fetch_pool *pool, struct transfer *transfer)
{
    const struct address_entry *entry = pool_find(pool, transfer);

    if (entry == NULL) {
        pool_fail(pool, transfer, FETCH_REFUSED, PHASE_DNS, "the host is not among the hosts that suppliers declare");
        return;
    }
    switch (entry->state) {
    case NAME_KNOWN:
        pool_make_ready(pool, transfer);
        return;
    case NAME_FAILED:
        pool_fail(pool, transfer, FETCH_DNS_FAILED, PHASE_DNS, entry->detail);
        return;
    case NAME_FORBIDDEN:
        pool_fail(pool, transfer, FETCH_REFUSED, PHASE_DNS, entry->detail);
        return;
    case NAME_PENDING:
    default:
        transfer->state = TRANSFER_NAMING;
        list_remove(&transfer->node);
        list_append(&pool->naming, &transfer->node);
    }
}

static bool literal_is_allowed(const struct fetch_pool *pool, struct text host)
{
    struct address_range literal;
    struct sockaddr_in6 address = { .sin6_family = AF_INET6 };

    if (!address_range_parse(host, &literal)) {
        return false;
    }
    address.sin6_addr = literal.network; // IPv4 as mapped, which is judged the same
    return address_is_allowed((const struct sockaddr *)&address, pool->allowed, pool->allowed_count);
}

static void pool_route(struct fetch_pool *pool, struct transfer *transfer)
{
    const struct http_request *request = transfer->fetch->request;

    if (!url_split(request->url, &transfer->url)) {
        pool_fail(pool, transfer, FETCH_REFUSED, PHASE_QUEUE, "not an absolute http or https URL");
        return;
    }
    transfer_choose_peer(transfer);
    const char *refusal = wire_request_write(&transfer->request, request, &transfer->url);
    if (refusal != NULL) {
        pool_fail(pool, transfer, FETCH_REFUSED, PHASE_QUEUE, refusal);
    } else if ((transfer->url.is_literal && !literal_is_allowed(pool, transfer->url.host)) ||
               (transfer->peer_is_literal && !literal_is_allowed(pool, transfer->peer_host))) {
        pool_fail(pool, transfer, FETCH_REFUSED, PHASE_QUEUE, "the address is private and not allowed");
    } else if (transfer->peer_is_literal) {
        pool_make_ready(pool, transfer);
    } else {
        pool_route_name(pool, transfer);
    }
}

enum status fetch_start(struct fetch_pool *pool, struct fetch *fetch)
{
    struct transfer *transfer = pool_take(pool);

    require(fetch->on_done != NULL && fetch->request != NULL);
    if (transfer == NULL) {
        return STATUS_NO_MEMORY;
    }
    transfer->end_timer.on_due = pool_on_end_time;
    if (loop_timer_start(pool->loop, &transfer->end_timer, fetch->end_us) != STATUS_OK) {
        pool_give_back(pool, transfer);
        return STATUS_NO_MEMORY;
    }
    transfer->fetch = fetch;
    assembly_init(&transfer->assembly, pool->head_cap, fetch->body_cap);
    fetch->impl = transfer;
    fetch->result = FETCH_OK;
    fetch->phase = PHASE_QUEUE;
    fetch->response = NULL;
    fetch->started_us = clock_now_us();
    fetch->connected_us = fetch->sent_us = fetch->first_byte_us = fetch->done_us = 0;
    fetch->named_us = fetch->tls_took_us = 0;
    fetch->is_reused = false;
    fetch->detail[0] = '\0';
    pool->counts.started++;
    pool->counts.running++;
    pool_route(pool, transfer);
    return STATUS_OK;
}

// Puts one on the wire. False: it needs a handshake and has to wait for the next turn.
static bool pool_send(struct fetch_pool *pool, struct transfer *transfer, uint32_t *handshakes_left)
{
    const struct address_entry *entry = transfer->peer_is_literal ? NULL : pool_find(pool, transfer);
    const struct fetch_route *route = transfer->fetch->route;

    if (!transfer->peer_is_literal && (entry == NULL || entry->state != NAME_KNOWN)) {
        pool_route_name(pool, transfer); // a newer book has other news of it
        return true;
    }
    if (transfer->origin == NULL) {
        transfer->origin =
            origin_acquire(&pool->wire->origins, transfer->url.host, transfer->url.port, route == NULL ? 0 : route->id);
    }
    if (transfer->origin == NULL) {
        pool_fail(pool, transfer, FETCH_NO_MEMORY, PHASE_QUEUE, "no room for another host");
        return true;
    }
    if (transfer->url.is_https && *handshakes_left == 0 && !origin_has_idle(transfer->origin)) {
        return false;
    }
    uint64_t before = pool->wire->counts.handshakes;
    if (!wire_start(pool->wire, transfer, entry)) {
        pool_fail(pool, transfer, FETCH_NO_MEMORY, PHASE_QUEUE, "no memory");
        return true;
    }
    uint64_t used = pool->wire->counts.handshakes - before;
    *handshakes_left -= used < *handshakes_left ? (uint32_t)used : *handshakes_left;
    return true;
}

static void pool_on_turn(struct message *message)
{
    struct fetch_pool *pool = CONTAINER_OF(message, struct fetch_pool, turn);
    uint32_t handshakes_left = pool->handshakes_per_turn;
    struct list due;
    struct list held;
    struct list *node;

    list_init(&due);
    list_init(&held);
    pool->is_turning = true;
    list_move_all(&pool->ready, &due);
    while ((node = list_take_first(&due)) != NULL) {
        if (!pool_send(pool, CONTAINER_OF(node, struct transfer, node), &handshakes_left)) {
            list_append(&held, node);
            continue;
        }
        pool_drain(pool);
        loop_breathe(pool->loop);
    }
    pool->is_turning = false;
    pool_stop_orphans(pool);
    list_move_all(&pool->ready, &held); // those held back go first in the next turn
    list_move_all(&held, &pool->ready);
    pool_drain(pool);
    if (!list_is_empty(&pool->ready)) {
        loop_defer(pool->loop, &pool->turn);
    }
}

void fetch_pool_set_book(struct fetch_pool *pool, struct address_book *book)
{
    struct list waiting;
    struct list *node;

    address_book_release(&pool->book);
    pool->book = book;
    list_init(&waiting);
    list_move_all(&pool->naming, &waiting);
    while ((node = list_take_first(&waiting)) != NULL) {
        pool_route_name(pool, CONTAINER_OF(node, struct transfer, node));
    }
}

static void pool_on_unwanted(void *owner, struct origin *origin)
{
    struct fetch_pool *pool = owner;
    sockets_shut_idle(&pool->wire->sockets, origin);
}

void fetch_pool_sweep(struct fetch_pool *pool,
                      bool (*is_wanted)(void *context, struct text host, uint16_t port, uint64_t route), void *context)
{
    origins_sweep(&pool->wire->origins, is_wanted, context, pool_on_unwanted, pool);
}

void fetch_cancel(struct fetch_pool *pool, struct fetch *fetch)
{
    struct transfer *transfer = fetch->impl;

    if (transfer == NULL) {
        return; // over, or never started
    }
    pool->counts.cancelled++;
    pool->counts.running--;
    if (transfer->state == TRANSFER_RUNNING && !transfer_is_sending(transfer)) {
        pool_orphan(pool, transfer);
    } else {
        pool_give_up(pool, transfer);
    }
}

enum phase fetch_phase(const struct fetch *fetch)
{
    const struct transfer *transfer = fetch->impl;

    if (transfer == NULL) {
        return fetch->phase;
    }
    switch (transfer->state) {
    case TRANSFER_NAMING:
        return PHASE_DNS;
    case TRANSFER_READY:
        return PHASE_QUEUE;
    case TRANSFER_RUNNING:
        return wire_phase(transfer);
    case TRANSFER_UNUSED:
    case TRANSFER_ENDED:
    default:
        return fetch->phase;
    }
}

static uint32_t list_count(const struct list *head)
{
    uint32_t count = 0;

    for (const struct list *node = head->next; node != head; node = node->next) {
        count++;
    }
    return count;
}

void fetch_pool_counts(const struct fetch_pool *pool, struct fetch_pool_counts *counts)
{
    *counts = pool->counts;
    counts->connects = pool->wire->counts.connects;
    counts->reused = pool->wire->counts.reused;
    counts->waiting = list_count(&pool->naming) + list_count(&pool->ready);
    counts->running -= counts->waiting;
}

// --------------------------------------------------------------------------------------------------- birth and death

enum status fetch_pool_create(struct loop *loop, const struct fetch_pool_options *options, struct fetch_pool **pool,
                              struct failure *why)
{
    struct fetch_pool *made = calloc(1, sizeof(*made));

    *pool = NULL;
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    made->loop = loop;
    made->handshakes_per_turn = options->handshakes_per_turn != 0 ? options->handshakes_per_turn : HANDSHAKES_PER_TURN;
    made->head_cap = options->head_cap != 0 ? options->head_cap : HEAD_CAP;
    made->turn.on_receive = pool_on_turn;
    list_init(&made->turn.node);
    list_init(&made->naming);
    list_init(&made->ready);
    list_init(&made->ended);
    list_init(&made->orphans);
    list_init(&made->idle);
    made->allowed = calloc(options->allowed_count + 1, sizeof(*made->allowed));
    if (made->allowed == NULL) {
        fetch_pool_destroy(&made);
        return STATUS_NO_MEMORY;
    }
    if (options->allowed_count != 0) {
        memcpy(made->allowed, options->allowed, options->allowed_count * sizeof(*made->allowed));
        made->allowed_count = options->allowed_count;
    }
    const struct wire_options wire_options = {
        .ca_file = options->ca_file,
        .allowed = made->allowed,
        .allowed_count = made->allowed_count,
        .max_connections = options->max_connections != 0 ? options->max_connections : CONNECTIONS_MAX,
        .on_ended = pool_on_ended,
        .on_settled = pool_on_settled,
        .context = made,
    };
    enum status status = wire_create(loop, &wire_options, &made->wire, why);
    if (status != STATUS_OK) {
        fetch_pool_destroy(&made);
        return status;
    }
    *pool = made;
    return STATUS_OK;
}

static void pool_give_all_up(struct fetch_pool *pool, struct list *head)
{
    struct list *node;

    while ((node = list_take_first(head)) != NULL) {
        pool_give_up(pool, CONTAINER_OF(node, struct transfer, node));
    }
}

void fetch_pool_destroy(struct fetch_pool **pool)
{
    struct fetch_pool *gone = *pool;
    struct list *node;

    *pool = NULL;
    if (gone == NULL) {
        return;
    }
    require(!gone->is_draining && !gone->is_turning);
    pool_give_all_up(gone, &gone->naming);
    pool_give_all_up(gone, &gone->ready);
    pool_give_all_up(gone, &gone->ended);
    if (gone->wire != NULL) {
        pool_give_all_up(gone, &gone->wire->running);
    }
    while ((node = list_take_first(&gone->idle)) != NULL) {
        pool_drop(CONTAINER_OF(node, struct transfer, node));
    }
    loop_defer_cancel(&gone->turn);
    wire_destroy(&gone->wire);
    address_book_release(&gone->book);
    free(gone->allowed);
    free(gone);
}
