#include "app/routes.h"

#include "app/io_thread.h"
#include "app/problem.h"
#include "app/search_route.h"

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
    { "POST", "/v1/search", search_route_handle },
    { "GET", "/healthz", handle_healthz },
    { "GET", "/readyz", handle_readyz },
};

void routes_reply_problem(struct http_call *call, const struct problem *problem, const struct header_pair *header)
{
    struct block *body = problem_body(problem);
    struct http_reply reply = {
        .status = problem->status,
        .content_type = "application/problem+json",
        .body = body,
        .headers = header,
        .header_count = header != NULL ? 1 : 0,
    };
    http_call_reply(call, &reply);
    block_release(&body);
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
    if (allow != NULL) {
        struct header_pair header = { "Allow", allow };
        problem_init(&problem, 405, "method_not_allowed", "This path takes another method");
        routes_reply_problem(call, &problem, &header);
        return;
    }
    problem_init(&problem, 404, "not_found", "There is nothing at this path");
    routes_reply_problem(call, &problem, NULL);
}

struct http_server_handlers routes_handlers(struct io_thread *thread)
{
    return (struct http_server_handlers){
        .on_request = routes_on_request,
        .on_gone = search_route_on_gone,
        .on_sent = search_route_on_sent,
        .context = thread,
    };
}
