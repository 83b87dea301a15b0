#include "app/admin_change.h"

#include "app/admin_body.h"
#include "app/admin_wait.h"
#include "app/reload.h"
#include "app/settings_value.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHANGE_ARENA = 1 << 20, CHANGE_RETRY_MAX = 64, CHANGE_REPLY_MAX = 16 << 20 };

struct admin_change {
    struct reload_request request;
    struct admin_wait wait;
    struct reload_answer *answer;
    struct arena arena; // of the texts in the request
    struct text retry[CHANGE_RETRY_MAX];
};

// ------------------------------------------------------------------------------------------------------------ the body

static const char *read_who(void *context, const struct json_node *value)
{
    return admin_body_words(value, &((struct admin_change *)context)->request.who);
}

static const char *read_why(void *context, const struct json_node *value)
{
    return admin_body_words(value, &((struct admin_change *)context)->request.why);
}

static const char *read_retry(void *context, const struct json_node *value)
{
    struct admin_change *change = context;
    const struct json_node *first = value->kind == JSON_BEGIN_ARRAY ? value->first : value;

    for (const struct json_node *name = first; name != NULL; name = name == value ? NULL : name->next) {
        if (name->kind != JSON_STRING || change->request.retry_count == CHANGE_RETRY_MAX) {
            return "expected a name, or a list of at most 64 names";
        }
        change->retry[change->request.retry_count++] = name->text;
    }
    change->request.retry = change->retry;
    return NULL;
}

static const char *read_generation(void *context, const struct json_node *value)
{
    struct admin_change *change = context;
    uint64_t number = 0;

    if (!json_tree_to_u64(value, &number) || number == 0 || number > UINT32_MAX) {
        return "expected the number of a generation";
    }
    change->request.roll_back_to = (uint32_t)number;
    return NULL;
}

static const char *read_shadow_of(struct admin_change *change, const struct json_node *value, enum reload_shadow shadow)
{
    if (change->request.shadow != RELOAD_SHADOW_NONE) {
        return "`shadow`, `promote` and `drop` go one by one";
    }
    if (value->kind != JSON_STRING || value->text.length == 0) {
        return "expected the name of a supplier";
    }
    change->request.shadow = shadow;
    change->request.shadow_of = value->text;
    return NULL;
}

static const char *read_shadow(void *context, const struct json_node *value)
{
    return read_shadow_of(context, value, RELOAD_SHADOW_SET);
}

static const char *read_promote(void *context, const struct json_node *value)
{
    return read_shadow_of(context, value, RELOAD_SHADOW_PROMOTE);
}

static const char *read_drop(void *context, const struct json_node *value)
{
    return read_shadow_of(context, value, RELOAD_SHADOW_DROP);
}

static const struct admin_field RELOAD_FIELDS[] = {
    { "who", read_who },       { "why", read_why },         { "retry", read_retry },
    { "shadow", read_shadow }, { "promote", read_promote }, { "drop", read_drop },
};

static const struct admin_field ROLLBACK_FIELDS[] = {
    { "who", read_who },
    { "why", read_why },
    { "generation", read_generation },
};

/// False: `problem` tells what is wrong with it.
static bool read_body(struct admin_change *change, struct http_call *call, bool is_rollback, struct problem *problem)
{
    if (!is_rollback) {
        return admin_body_read(call, &change->arena, RELOAD_FIELDS, COUNT_OF(RELOAD_FIELDS), change, problem);
    }
    bool is_fine = admin_body_read(call, &change->arena, ROLLBACK_FIELDS, COUNT_OF(ROLLBACK_FIELDS), change, problem);
    if (is_fine && change->request.roll_back_to == 0) {
        problem_add(problem, "/generation", "required", "say which generation shall run again");
        return false;
    }
    return is_fine;
}

// ---------------------------------------------------------------------------------------------------------- the answer

static void change_free(struct admin_change *change)
{
    reload_answer_release(&change->answer);
    arena_fini(&change->arena);
    free(change);
}

static void reply(struct http_call *call, const struct reload_answer *answer)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, CHANGE_REPLY_MAX);
    json_writer_init(&json, &out);
    reload_answer_write(answer, &json);
    admin_reply_json(call, answer->outcome == RELOAD_REFUSED ? 422 : 200, &out);
}

static void change_on_answer_here(struct message *message)
{
    struct admin_wait *wait = CONTAINER_OF(message, struct admin_wait, message);
    struct admin_change *change = CONTAINER_OF(wait, struct admin_change, wait);
    struct http_call *call = admin_wait_end(wait);

    if (call != NULL && change->answer == NULL) {
        admin_refuse_memory(call);
    } else if (call != NULL && change->answer->is_draining) {
        admin_refuse_draining(call);
    } else if (call != NULL) {
        reply(call, change->answer);
    }
    change_free(change);
}

/// On the builder's thread.
static void change_on_answer(struct reload_request *request, struct reload_answer *answer)
{
    struct admin_change *change = CONTAINER_OF(request, struct admin_change, request);

    change->answer = reload_answer_acquire(answer);
    admin_wait_done(&change->wait);
}

static void submit(struct engine *engine, struct loop *loop, struct http_call *call, bool is_rollback)
{
    struct admin_change *change = calloc(1, sizeof(*change));
    struct problem problem;

    if (change == NULL) {
        admin_refuse_memory(call);
        return;
    }
    arena_init(&change->arena, CHANGE_ARENA);
    change->request.source = RELOAD_COMMAND;
    change->request.on_answer = change_on_answer;
    if (!read_body(change, call, is_rollback, &problem)) {
        problem_reply(call, &problem, NULL, 0);
        change_free(change);
        return;
    }
    admin_wait_begin(&change->wait, loop, call, change_on_answer_here);
    if (reload_submit(engine->reload, &change->request) != STATUS_OK) {
        admin_refuse_draining(admin_wait_end(&change->wait));
        change_free(change);
    }
}

void admin_change_reload(struct engine *engine, struct loop *loop, struct http_call *call)
{
    submit(engine, loop, call, false);
}

void admin_change_roll_back(struct engine *engine, struct loop *loop, struct http_call *call)
{
    submit(engine, loop, call, true);
}

// --------------------------------------------------------------------------------------------------------- the browser

/// "127.0.0.1:8081", "[::1]", "localhost:8081": an address, for a name could be anybody's.
static bool is_this_machine(struct text host)
{
    char with_port[64];
    struct text rest;

    if (text_equals_nocase(text_split(host, ':', &rest), TEXT("localhost"))) {
        return true;
    }
    bool has_port = host.length > 0 && host.data[host.length - 1] != ']' && memchr(host.data, ':', host.length) != NULL;
    int length = snprintf(with_port, sizeof(with_port), "%.*s%s", TEXT_ARGS(host), has_port ? "" : ":80");
    return length < (int)sizeof(with_port) && value_is_loopback(text_of(with_port));
}

bool admin_change_is_foreign(const struct http_call *call)
{
    struct text origin = http_call_header(call, "origin");
    struct text host = http_call_header(call, "host");
    struct text scheme = TEXT("http://");

    if (host.data == NULL || origin.data == NULL) {
        return origin.data != NULL || (host.data != NULL && !is_this_machine(host));
    }
    if (!is_this_machine(host)) {
        return true; // a name that was made to mean this machine
    }
    return !text_starts_with(origin, scheme) ||
           !text_equals((struct text){ origin.data + scheme.length, origin.length - scheme.length }, host);
}
