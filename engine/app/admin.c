#include "app/admin.h"

#include "app/admin_change.h"
#include "app/admin_switch.h"
#include "app/admin_view.h"
#include "app/admin_wait.h"
#include "app/bearer.h"
#include "app/problem.h"
#include "app/reload.h"
#include "app/settings_value.h"
#include "app/suppliers_view.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/http_server.h"
#include "telemetry/attribution.h"
#include "telemetry/metrics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ADMIN_STRANGERS_TOLD_US = 60000000,
    ADMIN_NICE = 10,
    ADMIN_CONNECTIONS = 64,
    ADMIN_REPLY_MAX = 16 << 20,
    ADMIN_LATEST = 100
};

struct admin {
    struct engine *engine;
    pthread_t thread;
    bool is_running;
    struct loop *loop;
    struct http_server *server;
    struct text token;  // absent: none is asked for
    uint64_t strangers; // requests without the token
    uint64_t strangers_told_us;
};

typedef void (*admin_handler)(struct admin *admin, struct http_call *call);

/// One row, one route. A path that ends in `/` stands for all below it.
struct admin_route {
    const char *method;
    const char *path;
    admin_handler handle;
};

/// Takes the bytes of `out`.
static void reply_bytes(struct http_call *call, const char *content_type, struct buffer *out)
{
    struct header_pair headers[] = { { "Cache-Control", "no-store" } };
    struct block *body = block_from_buffer(out);
    struct http_reply reply = {
        .status = body != NULL ? 200 : 503,
        .content_type = content_type,
        .body = body,
        .headers = headers,
        .header_count = COUNT_OF(headers),
    };
    buffer_fini(out);
    http_call_reply(call, &reply);
    block_release(&body);
}

static void handle_metrics(struct admin *admin, struct http_call *call)
{
    struct buffer out;

    buffer_init(&out, ADMIN_REPLY_MAX);
    admin_view_sample(admin->engine);
    metrics_set(admin->engine->metrics, METRIC_ADMIN_UNAUTHORISED, 0, admin->strangers);
    metrics_write(admin->engine->metrics, &out);
    reply_bytes(call, METRICS_CONTENT_TYPE, &out);
}

static void handle_status(struct admin *admin, struct http_call *call)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, ADMIN_REPLY_MAX);
    json_writer_init(&json, &out);
    admin_view_status(admin->engine, &json);
    reply_bytes(call, "application/json", &out);
}

/// The query `limit`, or all that the route has. False: it is no number, which was answered.
static bool read_limit(struct http_call *call, uint64_t *most)
{
    struct text limit = http_call_query(call, "limit");
    struct problem problem;

    if (limit.data == NULL || text_to_u64(limit, most)) {
        return true;
    }
    problem_init(&problem, 400, "bad_request", "The query `limit` is a whole number");
    problem_reply(call, &problem, NULL, 0);
    return false;
}

static void handle_generations(struct admin *admin, struct http_call *call)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, ADMIN_REPLY_MAX);
    json_writer_init(&json, &out);
    reload_write_generations(admin->engine->reload, &json);
    reply_bytes(call, "application/json", &out);
}

static void handle_events(struct admin *admin, struct http_call *call)
{
    uint64_t most = EVENTS_MAX;
    struct buffer out;
    struct json_writer json;

    if (read_limit(call, &most)) {
        buffer_init(&out, ADMIN_REPLY_MAX);
        json_writer_init(&json, &out);
        reload_write_events(admin->engine->reload, most, &json);
        reply_bytes(call, "application/json", &out);
    }
}

static void handle_shadows(struct admin *admin, struct http_call *call)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, ADMIN_REPLY_MAX);
    json_writer_init(&json, &out);
    reload_write_shadows(admin->engine->reload, &json);
    reply_bytes(call, "application/json", &out);
}

static void handle_reload(struct admin *admin, struct http_call *call)
{
    admin_change_reload(admin->engine, admin->loop, call);
}

static void handle_rollback(struct admin *admin, struct http_call *call)
{
    admin_change_roll_back(admin->engine, admin->loop, call);
}

static void handle_suppliers(struct admin *admin, struct http_call *call)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, ADMIN_REPLY_MAX);
    json_writer_init(&json, &out);
    suppliers_view_write(admin->engine, &json);
    reply_bytes(call, "application/json", &out);
}

static void handle_supplier_change(struct admin *admin, struct http_call *call)
{
    admin_switch(admin->engine, admin->loop, call);
}

static void handle_searches(struct admin *admin, struct http_call *call)
{
    uint64_t most = ADMIN_LATEST;
    struct buffer out;
    struct json_writer json;

    if (!read_limit(call, &most)) {
        return;
    }
    buffer_init(&out, ADMIN_REPLY_MAX);
    json_writer_init(&json, &out);
    json_begin_object(&json);
    json_key(&json, "searches");
    attribution_write_latest(admin->engine->attribution, most, &json);
    json_end_object(&json);
    reply_bytes(call, "application/json", &out);
}

static void handle_search(struct admin *admin, struct http_call *call)
{
    struct text prefix = TEXT("/admin/v1/searches/");
    struct text path = http_call_path(call);
    struct text id = { path.data + prefix.length, path.length - prefix.length };
    struct block *record = attribution_find(admin->engine->attribution, id);

    if (record == NULL) {
        struct problem problem;
        problem_init(&problem, 404, "unknown_search", "No record of this search is kept");
        problem_reply(call, &problem, NULL, 0);
        return;
    }
    struct http_reply reply = { .status = 200, .content_type = "application/json", .body = record };
    http_call_reply(call, &reply);
    block_release(&record);
}

static const struct admin_route ROUTES[] = {
    { "GET", "/metrics", handle_metrics },
    { "GET", "/admin/v1/status", handle_status },
    { "GET", "/admin/v1/searches", handle_searches },
    { "GET", "/admin/v1/searches/", handle_search },
    { "GET", "/admin/v1/generations", handle_generations },
    { "GET", "/admin/v1/events", handle_events },
    { "GET", "/admin/v1/shadows", handle_shadows },
    { "POST", "/admin/v1/reload", handle_reload },
    { "POST", "/admin/v1/rollback", handle_rollback },
    { "GET", "/admin/v1/suppliers", handle_suppliers },
    { "POST", "/admin/v1/suppliers/", handle_supplier_change },
};

// -------------------------------------------------------------------------------------------------------- the doorman

static bool is_route(const struct admin_route *route, struct text path)
{
    struct text wanted = text_of(route->path);
    bool is_prefix = wanted.data[wanted.length - 1] == '/';

    return is_prefix ? path.length > wanted.length && text_starts_with(path, wanted) : text_equals(path, wanted);
}

static void refuse(struct http_call *call, uint16_t status, const char *code, const char *title,
                   const struct header_pair *header)
{
    struct problem problem;

    problem_init(&problem, status, code, title);
    problem_reply(call, &problem, header, header != NULL ? 1 : 0);
}

/// Counted each time, told once a minute at most: whoever tries tokens does not fill the log.
static void note_stranger(struct admin *admin)
{
    uint64_t now_us = clock_now_us();

    admin->strangers++;
    if (admin->strangers == 1 || now_us - admin->strangers_told_us > ADMIN_STRANGERS_TOLD_US) {
        admin->strangers_told_us = now_us;
        log_line(LOG_WARNING, "admin", "a request without the admin token was refused, requests=%llu",
                 (unsigned long long)admin->strangers);
    }
}

static void admin_on_request(void *context, struct http_call *call)
{
    struct admin *admin = context;
    struct header_pair challenge = { "WWW-Authenticate", "Bearer" };
    struct text method = http_call_method(call);

    if (admin->token.data != NULL && !bearer_is_given(admin->token, call)) {
        note_stranger(admin);
        refuse(call, 401, "unauthorised", "This listener wants the admin token as a bearer token", &challenge);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(ROUTES); i++) {
        const struct admin_route *route = &ROUTES[i];
        if (!is_route(route, http_call_path(call))) {
            continue;
        }
        bool is_head = text_equals_c(method, "HEAD") && strcmp(route->method, "GET") == 0;
        bool is_change = strcmp(route->method, "POST") == 0;
        if (is_change && admin->token.data == NULL && admin_change_is_foreign(call)) {
            refuse(call, 403, "foreign_page",
                   "Changes without a token are made from this machine, and not by web pages", NULL);
        } else if (text_equals_c(method, route->method) || is_head) {
            route->handle(admin, call);
        } else {
            struct header_pair allow = { "Allow", route->method };
            refuse(call, 405, "method_not_allowed", "This path takes another method", &allow);
        }
        return;
    }
    refuse(call, 404, "not_found", "There is nothing at this path", NULL);
}

static void admin_on_gone(void *context, struct http_call *call)
{
    (void)context;
    admin_wait_on_gone(call);
}

static void admin_on_sent(void *context, struct http_call *call, uint64_t sent_us, bool was_sent, bool was_slow)
{
    (void)context;
    (void)call;
    (void)sent_us;
    (void)was_sent;
    (void)was_slow;
}

// ---------------------------------------------------------------------------------------------------- birth and death

enum status admin_read_token(const struct settings *settings, struct text *token, struct failure *why)
{
    *token = (struct text){ NULL, 0 };
    if (settings->admin_listen.length == 0) {
        return STATUS_OK;
    }
    if (settings->admin_token_env.data == NULL && !value_is_loopback(settings->admin_listen)) {
        failure_set(why, "admin.listen %s is beyond loopback and has no token", settings->admin_listen.data);
        failure_help(why, "put a token into an environment variable and name it in admin.token_env, or listen at "
                          "127.0.0.1:8081");
        return STATUS_INVALID;
    }
    return bearer_read("admin.token_env", settings->admin_token_env, settings->secrets_dir, token, why);
}

static void *admin_main(void *argument)
{
    struct admin *admin = argument;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), ADMIN_NICE);
    loop_run(admin->loop);
    return NULL;
}

static enum status admin_open(struct admin *admin, struct failure *why)
{
    struct http_server_options options = {
        .listen = admin->engine->settings->admin_listen.data,
        .max_connections = ADMIN_CONNECTIONS,
    };
    struct http_server_handlers handlers = {
        .on_request = admin_on_request,
        .on_gone = admin_on_gone,
        .on_sent = admin_on_sent,
        .context = admin,
    };

    enum status status = admin_read_token(admin->engine->settings, &admin->token, why);
    if (status == STATUS_OK) {
        failure_set(why, "no memory for the admin listener");
        status = loop_create(&admin->loop);
    }
    if (status == STATUS_OK) {
        status = http_server_create(admin->loop, &options, &handlers, &admin->server, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    int error = pthread_create(&admin->thread, NULL, admin_main, admin);
    if (error != 0) {
        failure_set(why, "no thread for the admin listener: %s", strerror(error));
        return STATUS_IO;
    }
    admin->is_running = true;
    pthread_setname_np(admin->thread, "admin");
    return STATUS_OK;
}

enum status admin_start(struct engine *engine, struct admin **admin, struct failure *why)
{
    *admin = NULL;
    if (engine->settings->admin_listen.length == 0) {
        return STATUS_OK;
    }
    struct admin *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        failure_set(why, "no memory for the admin listener");
        return STATUS_NO_MEMORY;
    }
    made->engine = engine;
    enum status status = admin_open(made, why);
    if (status != STATUS_OK) {
        admin_stop(&made);
        return status;
    }
    *admin = made;
    return STATUS_OK;
}

void admin_stop(struct admin **admin)
{
    struct admin *ending = *admin;

    if (ending == NULL) {
        return;
    }
    *admin = NULL;
    if (ending->is_running) {
        loop_stop(ending->loop);
        pthread_join(ending->thread, NULL);
    }
    http_server_destroy(&ending->server);
    loop_destroy(&ending->loop);
    bearer_free(&ending->token);
    free(ending);
}

uint16_t admin_port(const struct admin *admin)
{
    return http_server_port(admin->server);
}
