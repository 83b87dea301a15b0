#include "app/routes.h"

#include "app/cors.h"
#include "app/io_thread.h"
#include "app/problem.h"
#include "app/revalidate_route.h"
#include "app/route_call.h"
#include "app/search_route.h"
#include "app/verify_route.h"
#include "telemetry/metrics.h"

#include <string.h>

typedef void (*route_handler)(struct io_thread *thread, struct http_call *call);

/// One row, one route.
struct route {
    const char *method;
    const char *path;
    route_handler handle;
};

static void reply_text(struct http_call *call, uint16_t status, struct text text)
{
    struct block *body = block_create(text);
    struct http_reply reply = { .status = status, .content_type = "text/plain; charset=utf-8", .body = body };
    http_call_reply(call, &reply);
    block_release(&body);
}

/// Alive: the process answers. Says nothing of its usefulness.
static void handle_healthz(struct io_thread *thread, struct http_call *call)
{
    (void)thread;
    reply_text(call, 200, TEXT("ok\n"));
}

static void handle_readyz(struct io_thread *thread, struct http_call *call)
{
    const char *because = NULL;
    if (engine_is_ready(thread->engine, &because)) {
        reply_text(call, 200, TEXT("ready\n"));
        return;
    }
    reply_text(call, 503, text_of(because));
}

static const struct route ROUTES[] = {
    { "POST", "/v1/search", search_route_handle }, { "POST", "/v1/revalidate", revalidate_route_handle },
    { "POST", "/v1/verify", verify_route_handle }, { "GET", "/.well-known/jwks.json", verify_route_keys },
    { "GET", "/healthz", handle_healthz },         { "GET", "/readyz", handle_readyz },
};

/// False: browsers are not served.
static bool routes_reply_options(struct io_thread *thread, struct http_call *call, const char *allow)
{
    struct generation *generation = engine_generation(thread->engine);
    const struct settings *settings = generation_settings(generation);
    bool is_on = cors_is_on(settings);

    if (is_on) {
        cors_reply_options(settings, call, allow);
    }
    generation_release(&generation);
    return is_on;
}

static void routes_on_request(void *context, struct http_call *call)
{
    struct io_thread *thread = context;
    const char *allow = NULL;
    struct problem problem;

    for (size_t i = 0; i < COUNT_OF(ROUTES); i++) {
        if (!text_equals_c(http_call_path(call), ROUTES[i].path)) {
            continue;
        }
        struct text method = http_call_method(call);
        bool is_head = text_equals_c(method, "HEAD") && strcmp(ROUTES[i].method, "GET") == 0;
        if (text_equals_c(method, ROUTES[i].method) || is_head) {
            ROUTES[i].handle(thread, call);
            return;
        }
        allow = ROUTES[i].method;
    }
    if (allow != NULL && text_equals_c(http_call_method(call), "OPTIONS") &&
        routes_reply_options(thread, call, allow)) {
        return;
    }
    if (allow != NULL) {
        struct header_pair header = { "Allow", allow };
        problem_init(&problem, 405, "method_not_allowed", "This path takes another method");
        problem_reply(call, &problem, &header, 1);
        return;
    }
    problem_init(&problem, 404, "not_found", "There is nothing at this path");
    problem_reply(call, &problem, NULL, 0);
}

/// Probes ask for as long as an engine is not ready: those answers are no refusals.
static bool is_probe(const struct http_call *call)
{
    return text_equals_c(http_call_path(call), "/readyz") || text_equals_c(http_call_path(call), "/healthz");
}

/// Searches are counted by their records; all other refusals here, also those that the server gave itself. So the sum
/// of both is what callers saw.
static void routes_on_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    struct io_thread *thread = context;
    struct route_call *mine = http_call_owner(call);
    uint16_t status = http_call_status(call);

    if (mine != NULL) {
        mine->kind->on_sent(thread, mine, sent_us, was_sent, was_slow);
    } else if (status >= 400 && !is_probe(call)) {
        metrics_count_refusal(thread->engine->metrics, status);
    }
}

static void routes_on_gone(void *context, struct http_call *call)
{
    struct route_call *mine = http_call_owner(call);

    if (mine != NULL) {
        mine->kind->on_gone(context, mine);
    }
}

static size_t routes_common_headers(void *context, const struct http_call *call,
                                    struct header_pair headers[HTTP_SERVER_COMMON_HEADERS])
{
    struct io_thread *thread = context;
    struct generation *generation = engine_generation(thread->engine);
    size_t count = cors_headers(generation_settings(generation), call, headers);

    generation_release(&generation);
    if (atomic_load(&thread->engine->is_draining)) {
        headers[count++] = (struct header_pair){ "Connection", "close" }; // come back to somebody else
    }
    return count;
}

/// What was no HTTP, and was answered before anybody here knew of it.
static void routes_on_malformed(void *context, uint16_t status)
{
    const struct io_thread *thread = context;

    metrics_count_refusal(thread->engine->metrics, status);
}

/// Only searches are.
static const struct http_reply *routes_turn_away(void *context, const struct http_call *call)
{
    bool is_search = text_equals_c(http_call_path(call), "/v1/search") && text_equals_c(http_call_method(call), "POST");

    return is_search ? search_refusal_ask(context, call) : NULL;
}

struct http_server_handlers routes_handlers(struct io_thread *thread)
{
    return (struct http_server_handlers){
        .on_request = routes_on_request,
        .on_gone = routes_on_gone,
        .on_sent = routes_on_sent,
        .context = thread,
        .common_headers = routes_common_headers,
        .on_malformed = routes_on_malformed,
        .turn_away = routes_turn_away,
    };
}
