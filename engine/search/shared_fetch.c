#include "search/shared_fetch.h"

#include <stdio.h>
#include <stdlib.h>

struct shared_fetch {
    struct shared_fetch *next; // of its world
    struct world *world;
    const struct script_account *account; // of one generation
    struct http_request *request;
    struct fetch fetch;
    struct permit permit;
    struct list waits;
    bool is_done; // those that wait are being told
};

static size_t plain_count(const struct http_request *request)
{
    return request->header_count - request->signed_count;
}

/// No body is another thing than an empty one.
static bool is_same_body(struct text a, struct text b)
{
    if (a.data == NULL || b.data == NULL) {
        return a.data == b.data;
    }
    return text_equals(a, b);
}

/// The same bytes, but for the signature.
static bool is_equal(const struct http_request *a, const struct http_request *b)
{
    if (!text_equals(a->method, b->method) || !text_equals(a->url, b->url) || plain_count(a) != plain_count(b) ||
        !is_same_body(a->body, b->body)) {
        return false;
    }
    for (size_t i = 0; i < plain_count(a); i++) {
        if (!text_equals(a->headers[i].name, b->headers[i].name) ||
            !text_equals(a->headers[i].value, b->headers[i].value)) {
            return false;
        }
    }
    return true;
}

static void shared_forget(struct shared_fetch *shared)
{
    for (struct shared_fetch **at = &shared->world->shared; *at != NULL; at = &(*at)->next) {
        if (*at == shared) {
            *at = shared->next;
            return;
        }
    }
}

static void shared_free(struct shared_fetch *shared)
{
    http_response_destroy(&shared->fetch.response);
    http_request_destroy(&shared->request);
    free(shared);
}

/// What became of it, for one that waits; the last one takes the answer, the others share it.
static void hand_over(struct shared_fetch *shared, struct fetch *fetch, bool is_last)
{
    const struct fetch *from = &shared->fetch;

    fetch->result = from->result;
    fetch->phase = from->phase;
    fetch->started_us = from->started_us;
    fetch->named_us = from->named_us;
    fetch->connected_us = from->connected_us;
    fetch->sent_us = from->sent_us;
    fetch->first_byte_us = from->first_byte_us;
    fetch->done_us = from->done_us;
    fetch->tls_took_us = from->tls_took_us;
    fetch->is_reused = from->is_reused;
    snprintf(fetch->detail, sizeof(fetch->detail), "%s", from->detail);
    if (from->result != FETCH_OK) {
        return;
    }
    fetch->response = is_last ? from->response : http_response_copy(from->response);
    shared->fetch.response = is_last ? NULL : shared->fetch.response;
    fetch->result = fetch->response != NULL ? FETCH_OK : FETCH_NO_MEMORY;
}

static void shared_on_done(struct fetch *fetch)
{
    struct shared_fetch *shared = CONTAINER_OF(fetch, struct shared_fetch, fetch);
    struct list *node;

    shared_forget(shared);
    shared->is_done = true;
    permit_return(&shared->permit, shared->world);
    while ((node = list_take_first(&shared->waits)) != NULL) { // whoever is told may end others that wait
        struct shared_wait *wait = CONTAINER_OF(node, struct shared_wait, node);
        wait->shared = NULL;
        hand_over(shared, wait->fetch, list_is_empty(&shared->waits));
        wait->fetch->on_done(wait->fetch);
    }
    shared_free(shared);
}

bool shared_fetch_join(struct world *world, const struct script_account *account, struct shared_wait *wait)
{
    for (struct shared_fetch *shared = world->shared; shared != NULL; shared = shared->next) {
        bool fits = shared->account == account && shared->fetch.end_us >= wait->fetch->end_us &&
                    shared->fetch.body_cap == wait->fetch->body_cap && shared->fetch.is_fresh == wait->fetch->is_fresh;
        if (fits && is_equal(shared->request, wait->fetch->request)) {
            list_append(&shared->waits, &wait->node);
            wait->shared = shared;
            wait->has_joined = true;
            wait->fetch->started_us = world->ops->now_us(world);
            return true;
        }
    }
    return false;
}

enum status shared_fetch_start(struct world *world, const struct script_account *account, struct shared_wait *wait,
                               struct permit *permit)
{
    struct shared_fetch *shared = calloc(1, sizeof(*shared));
    struct http_request values = *wait->fetch->request;
    uint64_t now_us = world->ops->now_us(world);

    wait->has_joined = false;
    values.next = NULL;
    if (shared == NULL || (shared->request = http_request_create(&values)) == NULL) {
        free(shared);
        return STATUS_NO_MEMORY;
    }
    shared->world = world;
    shared->account = account;
    list_init(&shared->waits);
    shared->fetch = *wait->fetch;
    shared->fetch.request = shared->request;
    shared->fetch.on_done = shared_on_done;
    shared->fetch.end_us += wait->fetch->end_us - now_us; // those that come later may wait longer
    if (world->ops->fetch_start(world, &shared->fetch) != STATUS_OK) {
        shared_free(shared);
        return STATUS_NO_MEMORY;
    }
    wait->fetch->started_us = shared->fetch.started_us != 0 ? shared->fetch.started_us : now_us;
    shared->permit = *permit;
    *permit = (struct permit){ NULL };
    shared->next = world->shared;
    world->shared = shared;
    list_append(&shared->waits, &wait->node);
    wait->shared = shared;
    return STATUS_OK;
}

enum phase shared_fetch_phase(struct world *world, const struct shared_wait *wait)
{
    return world->ops->fetch_phase(world, &wait->shared->fetch);
}

void shared_fetch_leave(struct world *world, struct shared_wait *wait)
{
    struct shared_fetch *shared = wait->shared;

    list_remove(&wait->node);
    wait->shared = NULL;
    if (shared->is_done || !list_is_empty(&shared->waits)) {
        return;
    }
    shared_forget(shared);
    world->ops->fetch_cancel(world, &shared->fetch);
    permit_return(&shared->permit, world);
    shared_free(shared);
}
