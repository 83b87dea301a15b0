#include "app/revalidate_route.h"

#include "app/budget_headers.h"
#include "app/io_thread.h"
#include "app/problem.h"
#include "app/revalidate_reply.h"
#include "app/route_call.h"
#include "app/search_request.h"
#include "base/clock.h"
#include "base/json_tree.h"
#include "base/json_write.h"
#include "base/log.h"
#include "telemetry/metrics.h"
#include "token/booking_token.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALL_ARENA = 1 << 20, REPLY_MAX = 4 << 20 };

/// A revalidation between its request and the last byte of its reply.
struct revalidate_call {
    struct route_call route;
    struct list node;
    struct io_thread *thread;
    struct http_call *call;
    struct generation *generation;
    struct revalidation *revalidation; // NULL once it has replied
    struct arena arena;                // of the claims
    struct offer_claims claims;
    struct block *kept; // what the shelf has of it; NULL: all is in the claims
    enum reply_detail detail;
    const struct catalogue_supplier *supplier;
    const struct script_account *account;
};

static void reply_json(struct http_call *call, struct buffer *body)
{
    struct header_pair header = { "Cache-Control", "no-store" };
    struct block *block = block_from_buffer(body);
    struct http_reply reply = { .status = block != NULL ? 200 : 503,
                                .content_type = "application/json",
                                .body = block,
                                .headers = &header,
                                .header_count = 1 };
    http_call_reply(call, &reply);
    block_release(&block);
}

static struct text hidden_of(const struct revalidate_call *mine)
{
    return mine->kept != NULL ? block_text(mine->kept) : mine->claims.hidden;
}

/// Counted, and told in the log: who was asked, what it came to, how long it took.
static void note(struct revalidate_call *mine, enum revalidation_status status, const struct revalidation_end *end,
                 const char *why, uint32_t requests)
{
    struct text supplier = mine->supplier != NULL ? mine->supplier->name : (struct text){ NULL, 0 };
    uint64_t took_us = clock_now_us() - http_call_arrival_us(mine->call);
    const char *because = end != NULL ? outcome_name(end->end.outcome) : why;
    const char *phase = end != NULL ? phase_name(end->end.phase) : NULL;

    metrics_count_revalidation(mine->thread->engine->metrics, status, supplier, requests);
    log_line(LOG_INFO, "revalidation",
             "supplier=%.*s account=%.*s status=%s because=%s phase=%s requests=%u took_ms=%llu",
             TEXT_ARGS(mine->claims.supplier), TEXT_ARGS(mine->claims.account), revalidation_status_name(status),
             because, phase != NULL ? phase : "none", requests, (unsigned long long)(took_us / 1000));
}

static void reply(struct revalidate_call *mine, const struct revalidation_end *end, const char *why, uint32_t requests)
{
    struct revalidate_subject subject = {
        .tokens = &mine->thread->engine->tokens,
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
    enum revalidation_status status = revalidate_reply_write(&subject, end, why, &body);
    note(mine, status, end, why, requests);
    reply_json(mine->call, &body);
    buffer_fini(&body);
}

static void call_free(struct revalidate_call *mine)
{
    if (mine->revalidation != NULL) {
        note(mine, REVALIDATION_CANCELLED, NULL, "caller_left", revalidation_cancel(&mine->revalidation));
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

static void on_end(void *owner, const struct revalidation_end *end)
{
    struct revalidate_call *mine = owner;

    uint64_t kept_quiet = 0;

    mine->revalidation = NULL;
    if (end->trouble != NULL &&
        complaints_admit(&mine->thread->engine->complaints, mine->supplier->script, clock_now_us(), &kept_quiet)) {
        log_line(LOG_WARNING, "script", "supplier `%.*s`: %s: %s kept_quiet=%llu", TEXT_ARGS(mine->supplier->name),
                 outcome_name(end->end.outcome), end->end.detail, (unsigned long long)kept_quiet);
        log_failure(LOG_WARNING, "script", end->trouble);
    }
    reply(mine, end, NULL, end->requests);
}

void revalidate_route_end_all(struct io_thread *thread)
{
    struct list *node = thread->revalidations.next, *next;

    for (; node != &thread->revalidations; node = next) {
        struct revalidate_call *mine = CONTAINER_OF(node, struct revalidate_call, node);
        next = node->next;
        if (mine->revalidation != NULL) {
            uint32_t requests = revalidation_cancel(&mine->revalidation);
            reply(mine, NULL, "draining", requests); // its call stays until the reply is sent
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ request

/// The one field of the body. False: `problem` says what is wrong.
static bool read_token(struct http_call *call, const char *field, struct arena *arena, struct text *token,
                       struct problem *problem)
{
    struct json_node *root = NULL;
    size_t offset = 0;
    const char *sentence = "there is none";
    struct text rest, body = block_text(http_call_body(call));
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));

    if (!text_equals_nocase(type, TEXT("application/json"))) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        problem_add(problem, "", "unsupported_media_type", "send the header content-type: application/json");
        return false;
    }
    if (body.length == 0 || json_tree_read(arena, body, &root, &offset, &sentence) != STATUS_OK ||
        root->kind != JSON_BEGIN_OBJECT) {
        problem_init(problem, 400, "not_json", "The body is not a JSON object");
        problem_add(problem, "", "not_json", "%s, at byte %zu", sentence != NULL ? sentence : "no object", offset);
        return false;
    }
    problem_init(problem, 422, "bad_request", "The request is not valid");
    for (const struct json_node *at = root->first; at != NULL; at = at->next) {
        if (!text_equals_c(at->key, field)) {
            problem_add(problem, "", "unknown_field", "there is no field but \"%s\"", field);
        }
    }
    const struct json_node *node = json_tree_member(root, field);
    if (node == NULL || node->kind != JSON_STRING) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/%s", field);
        problem_add(problem, node == NULL ? "" : pointer, node == NULL ? "missing" : "not_a_text", "\"%s\": a text %s",
                    field, node == NULL ? "is missing" : "expected");
    }
    *token = node == NULL ? (struct text){ NULL, 0 } : node->text;
    return problem->error_count == 0;
}

static void refuse_fault(struct http_call *call, enum token_fault fault)
{
    struct problem problem;

    problem_init(&problem, fault == TOKEN_UNREADABLE ? 503 : 422, token_fault_code(fault), "The token is not accepted");
    problem_add(&problem, "/token", token_fault_code(fault), "%s", token_fault_sentence(fault));
    problem_reply(call, &problem, NULL, 0);
}

static void refuse_off(struct http_call *call)
{
    struct problem problem;

    problem_init(&problem, 404, "tokens_are_off", "This engine gives no tokens: tokens.enabled is false");
    problem_reply(call, &problem, NULL, 0);
}

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

static void start(struct revalidate_call *mine, uint64_t end_us)
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
        .end_us = end_us,
        .on_end = on_end,
        .owner = mine,
    };

    if (facts == NULL || offer == NULL || revalidation_start(&options, &mine->revalidation) != STATUS_OK) {
        reply(mine, NULL, "out_of_memory", 0);
    }
    block_release(&facts);
    block_release(&offer);
}

static void begin(struct revalidate_call *mine)
{
    struct problem problem;
    uint64_t end_us = end_of(mine, &problem);

    if (problem.error_count > 0) {
        problem_reply(mine->call, &problem, NULL, 0);
        return;
    }
    if (mine->claims.hidden_key.length > 0) {
        mine->kept =
            hidden_shelf_find(mine->thread->engine->tokens.shelf, mine->claims.hidden_key, clock_wall_us() / 1000);
        if (mine->kept == NULL) {
            reply(mine, NULL, "forgotten", 0);
            return;
        }
    }
    if (!find_subject(mine)) {
        reply(mine, NULL, "disabled", 0);
        return;
    }
    if (!mine->supplier->revalidates) { // by its nature, and no error of its script
        reply(mine, NULL, "not_revalidated", 0);
        return;
    }
    start(mine, end_us);
}

static struct revalidate_call *call_create(struct io_thread *thread, struct http_call *call)
{
    struct revalidate_call *mine = calloc(1, sizeof *mine);

    if (mine != NULL) {
        arena_init(&mine->arena, CALL_ARENA);
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

void revalidate_route_handle(struct io_thread *thread, struct http_call *call)
{
    struct problem problem;
    struct text token;

    if (!thread->engine->tokens.is_on) {
        refuse_off(call);
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
    if (!read_token(call, "token", &mine->arena, &token, &problem)) {
        problem_reply(call, &problem, NULL, 0);
        return;
    }
    enum token_fault fault =
        offer_token_read(&thread->engine->tokens.ring, token, clock_wall_us() / 1000, &mine->arena, &mine->claims);
    if (fault == TOKEN_EXPIRED) { // one of the six: its time is over, and nobody is asked
        struct buffer body;
        buffer_init(&body, REPLY_MAX);
        buffer_append_text(&body, TEXT("{\"status\":\"expired\",\"because\":\"token_expired\"}"));
        note(mine, REVALIDATION_EXPIRED, NULL, "token_expired", 0);
        reply_json(call, &body);
        buffer_fini(&body);
    } else if (fault != TOKEN_GENUINE) {
        refuse_fault(call, fault);
    } else {
        begin(mine);
    }
}

// ------------------------------------------------------------------------------------------------------------- verify

static void write_claims(const struct booking_claims *claims, struct json_writer *json)
{
    char expires_at[TOKENS_TIME_SIZE];

    json_field_text(json, "id", claims->id);
    json_field_text(json, "product", claims->product);
    json_field_text(json, "supplier", claims->supplier);
    if (claims->account.length > 0) {
        json_field_text(json, "account", claims->account);
    }
    json_field_text(json, "offer", claims->offer);
    json_key(json, "price");
    json_begin_object(json);
    json_field_text(json, "total", claims->total);
    json_field_text(json, "currency", claims->currency);
    json_end_object(json);
    json_field_text(json, "search", claims->search);
    tokens_print_time(claims->expires_s * 1000, expires_at);
    json_field_c(json, "expires_at", expires_at);
}

void revalidate_route_verify(struct io_thread *thread, struct http_call *call)
{
    struct booking_claims claims;
    struct problem problem;
    struct json_writer json;
    struct arena arena;
    struct buffer body;
    struct text token;

    if (!thread->engine->tokens.is_on) {
        refuse_off(call);
        return;
    }
    arena_init(&arena, CALL_ARENA);
    if (!read_token(call, "booking_token", &arena, &token, &problem)) {
        problem_reply(call, &problem, NULL, 0);
        arena_fini(&arena);
        return;
    }
    enum token_fault fault =
        booking_token_read(&thread->engine->tokens.ring, token, clock_wall_us() / 1000000, &arena, &claims);
    buffer_init(&body, REPLY_MAX);
    json_writer_init(&json, &body);
    json_begin_object(&json);
    json_field_bool(&json, "genuine", fault == TOKEN_GENUINE || fault == TOKEN_EXPIRED);
    json_field_bool(&json, "valid", fault == TOKEN_GENUINE);
    if (fault != TOKEN_GENUINE) {
        json_field_c(&json, "because", token_fault_code(fault));
    }
    if (fault == TOKEN_GENUINE || fault == TOKEN_EXPIRED) {
        write_claims(&claims, &json);
    }
    json_end_object(&json);
    reply_json(call, &body);
    buffer_fini(&body);
    arena_fini(&arena);
}

void revalidate_route_keys(struct io_thread *thread, struct http_call *call)
{
    struct buffer body;

    if (!thread->engine->tokens.is_on) {
        refuse_off(call);
        return;
    }
    buffer_init(&body, REPLY_MAX);
    token_ring_write_public(&thread->engine->tokens.ring, &body);
    reply_json(call, &body);
    buffer_fini(&body);
}
