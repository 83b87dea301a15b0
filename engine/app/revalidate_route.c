#include "app/revalidate_route.h"

#include "app/budget_headers.h"
#include "app/hidden_notes.h"
#include "app/io_thread.h"
#include "app/revalidate_flights.h"
#include "app/revalidate_reply.h"
#include "app/route_call.h"
#include "app/search_id.h"
#include "app/search_request.h"
#include "app/token_call.h"
#include "base/clock.h"
#include "base/json_tree.h"
#include "base/json_write.h"
#include "base/log.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_ARENA = 1 << 20, REPLY_MAX = 4 << 20, RECORD_TEXTS = 4 << 10 };

/// A revalidation between its request and the last byte of its reply.
struct revalidate_call {
    struct route_call route;
    struct list node;
    struct io_thread *thread;
    struct http_call *call;
    struct generation *generation;
    char id[SEARCH_ID_SIZE];
    bool is_riding, is_reading; // what it waits for: a revalidation, what the store has kept of the offer
    struct revalidate_rider rider;
    struct hidden_read read;
    uint64_t end_us;
    struct arena arena; // of the claims
    struct offer_claims claims;
    struct block *kept; // what is kept of it elsewhere; NULL: all is in the claims
    enum reply_detail detail;
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
};

static struct text hidden_of(const struct revalidate_call *mine)
{
    return mine->kept != NULL ? block_text(mine->kept) : mine->claims.hidden;
}

/// What came of it, as its caller saw it.
struct conclusion {
    enum revalidation_status status;
    const struct revalidation_end *end; // NULL: nobody was asked, because of `why`
    const char *why;
    uint32_t requests;
    struct revalidate_prices prices;
};

static void fill_entry(const struct revalidate_call *mine, const struct conclusion *conclusion,
                       struct search_record *record)
{
    const struct revalidation_end *end = conclusion->end;
    struct search_record_entry *entry = &record->entries[0];

    entry->name = search_record_keep(record, mine->claims.supplier);
    entry->account = search_record_keep(record, mine->claims.account);
    entry->script = mine->supplier != NULL ? search_record_keep(record, mine->supplier->script) : entry->script;
    entry->requests = conclusion->requests;
    entry->outcome = OUTCOME_CANCELLED;
    if (end != NULL) {
        entry->outcome = end->end.outcome;
        entry->phase = end->end.phase;
        entry->rejection = end->end.rejection;
        entry->http_status = end->end.http_status;
        entry->retry_after_ms = end->end.retry_after_ms;
        entry->code = search_record_keep(record, text_of(end->end.code));
        entry->detail = search_record_keep(record, text_of(end->end.detail));
    }
}

static void attribute(struct revalidate_call *mine, const struct conclusion *conclusion, uint64_t took_us)
{
    struct search_record *record = search_record_create(1, RECORD_TEXTS);
    struct search_record_revalidation *told = record != NULL ? &record->revalidation : NULL;

    if (record == NULL) {
        return;
    }
    record->kind = RECORD_REVALIDATION;
    record->search_id = search_record_keep(record, text_of(mine->id));
    record->product = search_record_keep(record, mine->claims.product);
    record->generation = generation_catalogue(mine->generation)->generation;
    record->arrival_wall_us = http_call_arrival_wall_us(mine->call);
    record->took_us = took_us;
    told->status = conclusion->status;
    told->because = search_record_keep(
        record, text_of(conclusion->end != NULL ? outcome_name(conclusion->end->end.outcome) : conclusion->why));
    told->was = search_record_keep(record, text_of(conclusion->prices.was));
    told->now = search_record_keep(record, text_of(conclusion->prices.now));
    told->has_joined = mine->rider.has_joined;
    told->age_ms = mine->claims.observed_ms > 0 && record->arrival_wall_us / 1000 > mine->claims.observed_ms
                       ? record->arrival_wall_us / 1000 - mine->claims.observed_ms
                       : 0;
    fill_entry(mine, conclusion, record);
    attribution_submit(mine->thread->engine->attribution, record);
}

/// Counted, written down, and told in the log: who was asked, what it came to, how long it took.
static void note(struct revalidate_call *mine, const struct conclusion *conclusion)
{
    uint64_t took_us = clock_now_us() - http_call_arrival_us(mine->call);
    const struct revalidation_end *end = conclusion->end;
    const char *because = end != NULL ? outcome_name(end->end.outcome) : conclusion->why;
    const char *phase = end != NULL ? phase_name(end->end.phase) : NULL;

    metrics_count_revalidation(mine->thread->engine->metrics, conclusion->status);
    attribute(mine, conclusion, took_us);
    log_line(LOG_INFO, "revalidation",
             "id=%s supplier=%.*s account=%.*s status=%s because=%s phase=%s requests=%u joined=%d took_ms=%llu",
             mine->id, TEXT_ARGS(mine->claims.supplier), TEXT_ARGS(mine->claims.account),
             revalidation_status_name(conclusion->status), because, phase != NULL ? phase : "none",
             conclusion->requests, mine->rider.has_joined, (unsigned long long)(took_us / 1000));
}

static void reply(struct revalidate_call *mine, const struct revalidation_end *end, const char *why, uint32_t requests)
{
    struct conclusion conclusion = { .end = end, .why = why, .requests = requests };
    struct revalidate_subject subject = {
        .tokens = &mine->thread->engine->tokens,
        .store = io_thread_store(mine->thread),
        .id = text_of(mine->id),
        .settings = generation_settings(mine->generation),
        .supplier = mine->supplier,
        .account = mine->account,
        .claims = &mine->claims,
        .hidden = hidden_of(mine),
        .detail = mine->detail,
        .now_ms = clock_wall_us() / 1000,
    };
    struct buffer body;

    buffer_init(&body, REPLY_MAX);
    conclusion.status = revalidate_reply_write(&subject, end, why, &body, &conclusion.prices);
    note(mine, &conclusion);
    token_call_reply(mine->call, &body);
    buffer_fini(&body);
}

/// Whatever it waits for goes on without it, or ends. How many requests went out for it.
static uint32_t leave(struct revalidate_call *mine)
{
    uint32_t requests = mine->is_riding ? revalidate_flights_leave(&mine->rider) : 0;

    if (mine->is_reading) {
        hidden_notes_cancel(&mine->read);
    }
    mine->is_riding = mine->is_reading = false;
    return requests;
}

static void call_free(struct revalidate_call *mine)
{
    if (mine->is_riding || mine->is_reading) {
        struct conclusion gone = { .status = REVALIDATION_CANCELLED, .why = "caller_left" };
        gone.requests = leave(mine);
        note(mine, &gone);
    }
    generation_release(&mine->generation);
    block_release(&mine->kept);
    arena_fini(&mine->arena);
    http_call_set_owner(mine->call, NULL);
    list_remove(&mine->node);
    free(mine);
}

static void on_gone(struct io_thread *thread, struct route_call *route)
{
    (void)thread;
    call_free(CONTAINER_OF(route, struct revalidate_call, route));
}

static void on_sent(struct io_thread *thread, struct route_call *route, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct revalidate_call *mine = CONTAINER_OF(route, struct revalidate_call, route);
    uint16_t status = http_call_status(mine->call);

    (void)sent_us;
    (void)was_sent;
    (void)was_slow;
    if (status >= 400) { // it never became a revalidation
        metrics_count_refusal(thread->engine->metrics, status);
    }
    call_free(mine);
}

static const struct route_call_kind REVALIDATE_CALL = { on_gone, on_sent };

static void on_end(struct revalidate_rider *rider, const struct revalidation_end *end)
{
    struct revalidate_call *mine = CONTAINER_OF(rider, struct revalidate_call, rider);

    mine->is_riding = false;
    reply(mine, end, end != NULL ? NULL : "draining", end != NULL ? end->requests : 0);
}

void revalidate_route_end_all(struct io_thread *thread)
{
    struct list *node = thread->revalidations.next, *next;

    revalidate_flights_end_all(thread); // those who ride along, here and elsewhere, are told
    for (; node != &thread->revalidations; node = next) {
        struct revalidate_call *mine = CONTAINER_OF(node, struct revalidate_call, node);
        next = node->next;
        if (mine->is_riding || mine->is_reading) {
            reply(mine, NULL, "draining", leave(mine)); // its call stays until the reply is sent
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ request

/// The supplier and account that the token names, as they are now. False: there is none, or nobody may ask it.
static bool find_subject(struct revalidate_call *mine)
{
    const struct catalogue *catalogue = generation_catalogue(mine->generation);

    for (size_t i = 0; i < catalogue->supplier_count && mine->supplier == NULL; i++) {
        const struct catalogue_supplier *supplier = &catalogue->suppliers[i];
        bool is_it = text_equals(supplier->name, mine->claims.supplier) &&
                     text_equals(supplier->product, mine->claims.product); // another one may have its name by now
        if (is_it && supplier->is_enabled) {
            mine->supplier = supplier;
        }
    }
    for (size_t i = 0; mine->supplier != NULL && i < catalogue_account_count(mine->supplier); i++) {
        if (text_equals(mine->supplier->account[i].name, mine->claims.account)) {
            mine->account = &mine->supplier->account[i];
        }
    }
    return mine->account != NULL;
}

/// What the script gets: the offer, what it left in it, and the query.
static struct block *make_offer(struct revalidate_call *mine)
{
    struct json_node *facts = NULL;
    size_t offset = 0;
    const char *sentence = NULL;
    struct text offer = mine->claims.offer;
    struct buffer out;

    if (json_tree_read(&mine->arena, mine->claims.facts, &facts, &offset, &sentence) != STATUS_OK || offer.length < 2) {
        return NULL;
    }
    const struct json_node *query = json_tree_member(facts, "query");
    buffer_init(&out, REPLY_MAX);
    buffer_append(&out, offer.data, offer.length - 1);
    buffer_append_text(&out, hidden_of(mine));
    if (query != NULL) {
        buffer_append_text(&out, TEXT(",\"query\":"));
        buffer_append_text(&out, query->source);
    }
    buffer_append_byte(&out, '}');
    struct block *block = block_from_buffer(&out);
    buffer_fini(&out);
    return block;
}

static uint64_t end_of(const struct revalidate_call *mine, struct problem *problem)
{
    struct budget_headers headers;
    uint64_t budget_us = generation_settings(mine->generation)->revalidation_budget_us;

    problem_init(problem, 422, "bad_request", "The request is not valid");
    budget_headers_read(&headers, mine->call, generation_settings(mine->generation)->honours_deadline_headers, problem);
    budget_us = headers.wish_us < budget_us ? headers.wish_us : budget_us;
    budget_us = headers.limit_us < budget_us ? headers.limit_us : budget_us;
    return http_call_arrival_us(mine->call) + budget_us;
}

/// What makes two of them the same, but for the catalogue: whom they ask, about what.
static enum status make_key(const struct revalidate_call *mine, uint8_t key[SEAL_DIGEST])
{
    const struct text texts[] = { mine->supplier->name, mine->account->name, mine->claims.facts, mine->claims.offer,
                                  hidden_of(mine) };
    struct buffer all;

    buffer_init(&all, REPLY_MAX);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        uint64_t length = texts[i].length;
        buffer_append(&all, (const char *)&length, sizeof length);
        buffer_append_text(&all, texts[i]);
    }
    enum status status = all.is_full ? STATUS_NO_MEMORY : seal_digest(buffer_text(&all), key);
    buffer_fini(&all);
    return status;
}

static void ride(struct revalidate_call *mine)
{
    struct block *facts = block_create(mine->claims.facts), *offer = make_offer(mine);
    struct revalidation_options options = {
        .world = &mine->thread->live.world,
        .catalogue = generation_catalogue(mine->generation),
        .supplier = mine->supplier,
        .account = mine->account,
        .facts = facts,
        .offer = offer,
        .arrival_us = http_call_arrival_us(mine->call),
        .arrival_wall_us = http_call_arrival_wall_us(mine->call),
        .end_us = mine->end_us,
    };
    uint8_t key[SEAL_DIGEST];

    mine->rider.on_end = on_end;
    if (facts != NULL && offer != NULL && make_key(mine, key) == STATUS_OK &&
        revalidate_flights_join(mine->thread, key, &options, &mine->rider) == STATUS_OK) {
        mine->is_riding = true;
    } else {
        reply(mine, NULL, "out_of_memory", 0);
    }
    block_release(&facts);
    block_release(&offer);
}

/// All of the offer is there.
static void ask(struct revalidate_call *mine)
{
    if (!find_subject(mine)) {
        reply(mine, NULL, "disabled", 0);
    } else if (!mine->supplier->revalidates) { // by its nature, and no error of its script
        reply(mine, NULL, "not_revalidated", 0);
    } else {
        ride(mine);
    }
}

static void on_read(struct hidden_read *read, struct block *hidden, bool is_fault)
{
    struct revalidate_call *mine = CONTAINER_OF(read, struct revalidate_call, read);

    mine->is_reading = false;
    mine->kept = block_acquire(hidden);
    if (hidden != NULL) {
        ask(mine);
    } else {
        reply(mine, NULL, is_fault ? "store_unavailable" : "forgotten", 0);
    }
}

/// What its token only names: here, else in the store. False: it is not here.
static bool find_hidden(struct revalidate_call *mine)
{
    struct engine *engine = mine->thread->engine;
    struct world *store = io_thread_store(mine->thread);
    struct text name = mine->claims.hidden_key;

    if (name.length == 0) {
        return true;
    }
    mine->kept = hidden_shelf_find(engine->tokens.shelf, name, clock_wall_us() / 1000);
    if (mine->kept != NULL) {
        return true;
    }
    mine->read.on_done = on_read;
    mine->is_reading = store != NULL && name.length == HIDDEN_NAME &&
                       hidden_notes_read(&mine->read, store, &engine->tokens.ring, name.data, mine->end_us);
    if (!mine->is_reading) {
        reply(mine, NULL, "forgotten", 0);
    }
    return false;
}

static void begin(struct revalidate_call *mine)
{
    struct problem problem;

    mine->end_us = end_of(mine, &problem);
    if (problem.error_count > 0) {
        problem_reply(mine->call, &problem, NULL, 0);
    } else if (find_hidden(mine)) {
        ask(mine);
    }
}

static struct revalidate_call *call_create(struct io_thread *thread, struct http_call *call)
{
    struct revalidate_call *mine = calloc(1, sizeof *mine);

    if (mine != NULL) {
        arena_init(&mine->arena, CALL_ARENA);
        search_id_make(mine->id, http_call_arrival_wall_us(call));
        mine->route = (struct route_call){ &REVALIDATE_CALL };
        mine->thread = thread;
        mine->call = call;
        mine->generation = engine_generation(thread->engine);
        mine->detail = search_request_detail(thread->engine, generation_settings(mine->generation), call);
        list_append(&thread->revalidations, &mine->node);
        http_call_set_owner(call, &mine->route);
    }
    return mine;
}

static void refuse_busy(struct http_call *call, const char *code, const char *title)
{
    struct header_pair header = { "Retry-After", "1" };
    struct problem problem;

    problem_init(&problem, 503, code, title);
    problem_reply(call, &problem, &header, 1);
}

/// One of the six: its time is over, and nobody is asked.
static void reply_expired(struct revalidate_call *mine)
{
    struct conclusion conclusion = { .status = REVALIDATION_EXPIRED, .why = "token_expired" };
    struct json_writer json;
    struct buffer body;

    buffer_init(&body, REPLY_MAX);
    json_writer_init(&json, &body);
    json_begin_object(&json);
    json_field_c(&json, "revalidation_id", mine->id);
    json_field_c(&json, "status", revalidation_status_name(conclusion.status));
    json_field_c(&json, "because", conclusion.why);
    json_end_object(&json);
    note(mine, &conclusion);
    token_call_reply(mine->call, &body);
    buffer_fini(&body);
}

void revalidate_route_handle(struct io_thread *thread, struct http_call *call)
{
    struct text token;

    if (!thread->engine->tokens.is_on) {
        token_call_refuse_off(call);
        return;
    }
    if (atomic_load(&thread->engine->refuses_searches)) {
        refuse_busy(call, "draining", "This engine is about to stop");
        return;
    }
    struct revalidate_call *mine = call_create(thread, call);
    if (mine == NULL) {
        refuse_busy(call, "out_of_memory", "There was no memory for the revalidation");
        return;
    }
    if (!token_call_read(call, "token", &mine->arena, &token)) {
        return;
    }
    enum token_fault fault =
        offer_token_read(&thread->engine->tokens.ring, token, clock_wall_us() / 1000, &mine->arena, &mine->claims);
    if (fault == TOKEN_EXPIRED) {
        reply_expired(mine);
    } else if (fault != TOKEN_GENUINE) {
        token_call_refuse(call, fault);
    } else {
        begin(mine);
    }
}
