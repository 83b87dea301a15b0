// Somebody's fetch is not sent itself: one of the tap's is, and what becomes of it is written into his. A script call
// is handed on with its owner and callback put aside, and has them again when it is back.

#include "app/tap.h"

#include "model/request_call.h"
#include "search/part.h"

#include <stdio.h>
#include <stdlib.h>

/// A script call under way.
struct tap_call {
    struct list node;
    struct tap *tap;
    struct script_call *call;
    void (*on_done)(struct script_call *call);
    void *owner;
};

static struct tap *tap_of(struct world *world)
{
    return CONTAINER_OF(world, struct tap, world);
}

static struct world *behind(struct world *world)
{
    return tap_of(world)->behind;
}

static uint64_t tap_now_us(struct world *world)
{
    return behind(world)->ops->now_us(behind(world));
}

static enum status tap_timer_start(struct world *world, struct timer *timer, uint64_t at_us)
{
    return behind(world)->ops->timer_start(behind(world), timer, at_us);
}

static void tap_timer_cancel(struct world *world, struct timer *timer)
{
    behind(world)->ops->timer_cancel(behind(world), timer);
}

// ------------------------------------------------------------------------------------------------------------ fetches

static struct tap_exchange *exchange_of(struct tap *tap, const struct fetch *owner)
{
    LIST_FOR_EACH (node, &tap->exchanges) {
        struct tap_exchange *exchange = CONTAINER_OF(node, struct tap_exchange, node);
        if (exchange->owner == owner) {
            return exchange;
        }
    }
    return NULL;
}

/// What is known of it now, for its owner.
static void mirror(const struct tap_exchange *exchange)
{
    struct fetch *owner = exchange->owner;
    const struct fetch *fetch = &exchange->fetch;

    owner->result = fetch->result;
    owner->phase = fetch->phase;
    owner->response = fetch->response;
    owner->started_us = fetch->started_us;
    owner->named_us = fetch->named_us;
    owner->connected_us = fetch->connected_us;
    owner->sent_us = fetch->sent_us;
    owner->first_byte_us = fetch->first_byte_us;
    owner->done_us = fetch->done_us;
    owner->tls_took_us = fetch->tls_took_us;
    owner->is_reused = fetch->is_reused;
    memcpy(owner->detail, fetch->detail, sizeof(owner->detail));
}

static void on_done(struct fetch *fetch)
{
    struct tap_exchange *exchange = CONTAINER_OF(fetch, struct tap_exchange, fetch);
    struct fetch *owner = exchange->owner;

    if (fetch->response != NULL) {
        exchange->response = http_response_copy(fetch->response);
        exchange->tap->is_short = exchange->tap->is_short || exchange->response == NULL;
    }
    exchange->reading = fetch->response;
    mirror(exchange);
    exchange->owner = NULL;
    fetch->request = NULL; // both are his
    fetch->response = NULL;
    owner->impl = NULL;
    owner->on_done(owner);
}

/// Which line it is on; a part, or an account's login, has one fetch that it uses again and again.
static void place_exchange(struct tap *tap, struct tap_exchange *exchange, const struct fetch *owner)
{
    size_t line = 0;

    while (line < tap->lines && tap->known[line] != owner) {
        line++;
    }
    if (line == tap->lines && line < TAP_LINES_MAX) {
        tap->known[tap->lines++] = owner;
    }
    exchange->line = line + 1;
    exchange->place = 1;
    LIST_FOR_EACH (node, &tap->exchanges) {
        const struct tap_exchange *other = CONTAINER_OF(node, struct tap_exchange, node);
        exchange->place += other->line == exchange->line ? 1 : 0;
    }
    exchange->is_login = owner->request == tap->login_request;
    tap->login_request = exchange->is_login ? NULL : tap->login_request;
    if (!exchange->is_login) {
        const struct part *part = CONTAINER_OF(owner, struct part, fetch); // nobody else has one
        exchange->part = part->index;
        exchange->step = part->step;
    }
}

static struct tap_exchange *exchange_create(struct tap *tap, const struct fetch *owner)
{
    struct tap_exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        return NULL;
    }
    exchange->tap = tap;
    exchange->request = http_request_create(owner->request);
    if (exchange->request == NULL) {
        free(exchange);
        return NULL;
    }
    exchange->request->signed_count = owner->request->signed_count;
    exchange->fetch.request = owner->request;
    exchange->fetch.route = owner->route;
    exchange->fetch.ground = owner->ground;
    exchange->fetch.end_us = owner->end_us;
    exchange->fetch.body_cap = owner->body_cap;
    exchange->fetch.on_done = on_done;
    place_exchange(tap, exchange, owner);
    return exchange;
}

static void exchange_free(struct tap_exchange *exchange)
{
    http_request_destroy(&exchange->request);
    if (exchange->response != NULL) {
        http_response_destroy(&exchange->response);
    }
    block_release(&exchange->reads);
    block_release(&exchange->drops);
    free(exchange);
}

static enum status tap_fetch_start(struct world *world, struct fetch *fetch)
{
    struct tap *tap = tap_of(world);
    struct tap_exchange *exchange = exchange_create(tap, fetch);

    if (exchange == NULL) {
        return STATUS_NO_MEMORY;
    }
    uint64_t now_us = tap_now_us(world);
    exchange->waited_us = tap->waiting_since_us == 0 ? 0 : now_us - tap->waiting_since_us;
    tap->waiting_since_us = 0;
    exchange->number = tap->count + 1;
    exchange->owner = fetch;
    if (tap->on_send != NULL) {
        tap->on_send(tap->owner, exchange);
    }
    enum status status = tap->behind->ops->fetch_start(tap->behind, &exchange->fetch);
    if (status != STATUS_OK) {
        exchange_free(exchange);
        return status;
    }
    mirror(exchange);
    tap->count++;
    list_append(&tap->exchanges, &exchange->node);
    return STATUS_OK;
}

static void tap_fetch_cancel(struct world *world, struct fetch *fetch)
{
    struct tap *tap = tap_of(world);
    struct tap_exchange *exchange = exchange_of(tap, fetch);

    if (exchange == NULL) {
        return;
    }
    exchange->fetch.phase = tap->behind->ops->fetch_phase(tap->behind, &exchange->fetch);
    exchange->fetch.done_us = tap_now_us(world);
    exchange->is_cut = true;
    tap->behind->ops->fetch_cancel(tap->behind, &exchange->fetch);
    mirror(exchange);
    exchange->owner = NULL;
    exchange->fetch.request = NULL;
}

static enum phase tap_fetch_phase(struct world *world, struct fetch *fetch)
{
    struct tap *tap = tap_of(world);
    struct tap_exchange *exchange = exchange_of(tap, fetch);

    if (exchange == NULL) {
        return fetch->phase;
    }
    enum phase phase = tap->behind->ops->fetch_phase(tap->behind, &exchange->fetch);
    mirror(exchange);
    return phase;
}

// ------------------------------------------------------------------------------------------------------- script calls

static struct tap_exchange *exchange_read_by(struct tap *tap, const struct http_response *response)
{
    struct tap_exchange *found = NULL;

    LIST_FOR_EACH (node, &tap->exchanges) { // the last one: what is freed comes again
        struct tap_exchange *exchange = CONTAINER_OF(node, struct tap_exchange, node);
        found = response != NULL && exchange->reading == response ? exchange : found;
    }
    return found;
}

static void take_times(struct tap_exchange *exchange, const struct script_call *call)
{
    exchange->was_read = true;
    exchange->read_queued_us = call->queued_us;
    exchange->read_begun_us = atomic_load(&call->begun_us);
    exchange->read_done_us = call->done_us;
}

static void take_normalise(struct tap *tap, struct normalise_call *call)
{
    struct tap_exchange *exchange = exchange_read_by(tap, call->response);

    if (exchange == NULL) {
        return;
    }
    take_times(exchange, &call->call);
    exchange->verdict = call->verdict;
    (void)snprintf(exchange->message, sizeof(exchange->message), "%s", call->message);
    (void)snprintf(exchange->code, sizeof(exchange->code), "%s", call->code);
    (void)snprintf(exchange->warning, sizeof(exchange->warning), "%s", call->warning);
    exchange->warning_count = call->warning_count;
    exchange->offers = call->offers == NULL ? 0 : call->offers->count;
    exchange->dropped = call->offers == NULL ? 0 : call->offers->dropped;
    if (call->offers != NULL) {
        exchange->ended = call->offers->ended;
        (void)snprintf(exchange->ended_first, sizeof(exchange->ended_first), "%s", call->offers->ended_first);
    }
    exchange->is_incomplete = call->is_incomplete;
    exchange->is_told_empty = call->is_told_empty;
    exchange->is_quota_used = call->is_quota_used;
    exchange->quota_wait_ms = call->quota_wait_ms;
    exchange->retry_after_ms = call->retry_after_ms;
    exchange->merge = call->merge;
    exchange->has_next = call->next.request != NULL;
    exchange->next_after_us = call->next.after_us;
    block_release(&exchange->reads);
    block_release(&exchange->drops);
    exchange->reads = block_acquire(call->reads);
    exchange->drops = block_acquire(call->drops);
}

static void take_login(struct tap *tap, const struct login_call *call)
{
    struct tap_exchange *exchange = exchange_read_by(tap, call->response);

    if (call->response == NULL) {
        tap->login_request = call->request;
    } else if (exchange != NULL) {
        take_times(exchange, &call->call);
        exchange->verdict = call->verdict;
        (void)snprintf(exchange->message, sizeof(exchange->message), "%s", call->message);
        (void)snprintf(exchange->code, sizeof(exchange->code), "%s", call->code);
        exchange->retry_after_ms = call->retry_after_ms;
    }
}

static void take_trouble(struct tap *tap, const struct failure *trouble, const struct http_response *response)
{
    if (trouble != NULL && tap->trouble.code == CODE_NONE) {
        tap->trouble = *trouble;
        tap->trouble_of = exchange_read_by(tap, response);
    }
}

static void take_troubles(struct tap *tap, struct script_call *call)
{
    const struct http_response *response = NULL;

    if (call->kind == SCRIPT_CALL_NORMALISE) {
        response = CONTAINER_OF(call, struct normalise_call, call)->response;
    } else if (call->kind == SCRIPT_CALL_LOGIN) {
        response = CONTAINER_OF(call, struct login_call, call)->response;
    } else if (call->kind == SCRIPT_CALL_START) {
        const struct start_call *start = CONTAINER_OF(call, struct start_call, call);
        for (size_t i = 0; i < start->candidate_count; i++) {
            take_trouble(tap, start->candidates[i].trouble, NULL);
        }
    }
    take_trouble(tap, call->trouble, response);
}

static void on_call_done(struct script_call *call)
{
    struct tap_call *own = call->owner;
    struct tap *tap = own->tap;

    call->on_done = own->on_done;
    call->owner = own->owner;
    list_remove(&own->node);
    free(own);
    take_troubles(tap, call);
    if (call->kind == SCRIPT_CALL_NORMALISE) {
        take_normalise(tap, CONTAINER_OF(call, struct normalise_call, call));
    } else if (call->kind == SCRIPT_CALL_LOGIN) {
        take_login(tap, CONTAINER_OF(call, struct login_call, call));
    } else if (call->kind == SCRIPT_CALL_START) {
        tap->start_script_us = call->done_us - call->queued_us;
        tap->start_cpu_us = call->script_cpu_us;
    }
    call->on_done(call);
}

static enum status tap_script_submit(struct world *world, struct script_call *call)
{
    struct tap *tap = tap_of(world);
    struct tap_call *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        return STATUS_NO_MEMORY;
    }
    *own = (struct tap_call){ .tap = tap, .call = call, .on_done = call->on_done, .owner = call->owner };
    list_init(&own->node);
    call->on_done = on_call_done;
    call->owner = own;
    if (call->kind == SCRIPT_CALL_NORMALISE) {
        CONTAINER_OF(call, struct normalise_call, call)->wants_notes = true;
    }
    enum status status = tap->behind->ops->script_submit(tap->behind, call);
    if (status != STATUS_OK) {
        call->on_done = own->on_done;
        call->owner = own->owner;
        free(own);
        return status;
    }
    list_append(&tap->calls, &own->node);
    return STATUS_OK;
}

static void tap_script_cancel(struct world *world, struct script_call *call)
{
    struct tap *tap = tap_of(world);

    LIST_FOR_EACH (node, &tap->calls) {
        struct tap_call *own = CONTAINER_OF(node, struct tap_call, node);
        if (own->call == call) {
            list_remove(node);
            free(own);
        }
    }
    tap->behind->ops->script_cancel(tap->behind, call);
}

static bool tap_script_has_begun(struct world *world, const struct script_call *call)
{
    return behind(world)->ops->script_has_begun(behind(world), call);
}

// --------------------------------------------------------------------------------------------------- what goes through

static enum quota_answer note_wait(struct world *world, enum quota_answer answer)
{
    struct tap *tap = tap_of(world);

    if (answer != QUOTA_FREE && tap->waiting_since_us == 0) {
        tap->waiting_since_us = tap_now_us(world);
    }
    return answer;
}

static enum quota_answer tap_permit_begin(struct world *world, const struct script_account *account, uint64_t *wait_us)
{
    return note_wait(world, behind(world)->ops->permit_begin(behind(world), account, wait_us));
}

static enum quota_answer tap_permit_begin_kept(struct world *world, const struct script_account *account,
                                               uint64_t *wait_us)
{
    return note_wait(world, behind(world)->ops->permit_begin_kept(behind(world), account, wait_us));
}

static void tap_permit_end(struct world *world, const struct script_account *account)
{
    behind(world)->ops->permit_end(behind(world), account);
}

static uint64_t tap_account_block(struct world *world, const struct script_account *account, uint64_t wait_us)
{
    return behind(world)->ops->account_block(behind(world), account, wait_us);
}

static struct login tap_login_peek(struct world *world, const struct script_account *account)
{
    return behind(world)->ops->login_peek(behind(world), account);
}

static enum login_state tap_login_take(struct world *world, const struct script_account *account, uint64_t refused,
                                       struct login *login, struct part_end *end)
{
    return behind(world)->ops->login_take(behind(world), account, refused, login, end);
}

static enum status tap_login_start(struct world *world, struct login_wait *wait)
{
    return behind(world)->ops->login_start(behind(world), wait);
}

static void tap_login_cancel(struct world *world, struct login_wait *wait)
{
    behind(world)->ops->login_cancel(behind(world), wait);
}

static void tap_login_refuse(struct world *world, const struct script_account *account, uint64_t number,
                             const struct part_end *end)
{
    behind(world)->ops->login_refuse(behind(world), account, number, end);
}

void tap_init(struct tap *tap)
{
    *tap = (struct tap){ .count = 0 };
    list_init(&tap->exchanges);
    list_init(&tap->calls);
}

void tap_begin(struct tap *tap, struct world *world)
{
    static const struct world_ops OPS = {
        .now_us = tap_now_us,
        .timer_start = tap_timer_start,
        .timer_cancel = tap_timer_cancel,
        .fetch_start = tap_fetch_start,
        .fetch_cancel = tap_fetch_cancel,
        .fetch_phase = tap_fetch_phase,
        .script_submit = tap_script_submit,
        .script_cancel = tap_script_cancel,
        .script_has_begun = tap_script_has_begun,
        .permit_begin = tap_permit_begin,
        .permit_begin_kept = tap_permit_begin_kept,
        .permit_end = tap_permit_end,
        .account_block = tap_account_block,
        .login_peek = tap_login_peek,
        .login_take = tap_login_take,
        .login_start = tap_login_start,
        .login_cancel = tap_login_cancel,
        .login_refuse = tap_login_refuse,
    };

    tap->ops = OPS;
    if (world->ops->permit_begin == NULL) { // a world without permits has none for anybody
        tap->ops.permit_begin = NULL;
        tap->ops.permit_end = NULL;
        tap->ops.account_block = NULL;
    }
    tap->world.ops = &tap->ops;
    tap->behind = world;
}

void tap_fini(struct tap *tap)
{
    struct list *node;

    while ((node = list_take_first(&tap->exchanges)) != NULL) {
        exchange_free(CONTAINER_OF(node, struct tap_exchange, node));
    }
    while ((node = list_take_first(&tap->calls)) != NULL) {
        free(CONTAINER_OF(node, struct tap_call, node));
    }
}

struct tap_exchange *tap_at(const struct tap *tap, size_t index)
{
    size_t at = 0;

    for (struct list *node = tap->exchanges.next; node != &tap->exchanges; node = node->next) {
        if (at++ == index) {
            return CONTAINER_OF(node, struct tap_exchange, node);
        }
    }
    return NULL;
}
