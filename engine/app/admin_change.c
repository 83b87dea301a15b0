#include "app/admin_change.h"

#include "app/problem.h"
#include "app/reload.h"
#include "app/settings_value.h"
#include "base/json_tree.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHANGE_ARENA = 1 << 20, CHANGE_WORDS_MAX = 400, CHANGE_RETRY_MAX = 64, CHANGE_REPLY_MAX = 16 << 20 };

struct admin_change {
    struct reload_request request;
    struct message message;
    struct loop *loop;
    struct http_call *call; // NULL: the caller left
    struct reload_answer *answer;
    struct arena arena; // of the texts in the request
    struct text retry[CHANGE_RETRY_MAX];
};

// ------------------------------------------------------------------------------------------------------------ the body

/// One field of a body; `read` says what it should have been when it is something else.
struct change_field {
    const char *name;
    const char *(*read)(struct admin_change *change, const struct json_node *value);
    bool is_of_rollback, is_of_reload;
};

static const char *read_words(const struct json_node *value, struct text *words)
{
    if (value->kind != JSON_STRING || value->text.length > CHANGE_WORDS_MAX) {
        return "expected a text of at most 400 bytes";
    }
    *words = value->text;
    return NULL;
}

static const char *read_who(struct admin_change *change, const struct json_node *value)
{
    return read_words(value, &change->request.who);
}

static const char *read_why(struct admin_change *change, const struct json_node *value)
{
    return read_words(value, &change->request.why);
}

static const char *read_retry(struct admin_change *change, const struct json_node *value)
{
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

static const char *read_generation(struct admin_change *change, const struct json_node *value)
{
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

static const char *read_shadow(struct admin_change *change, const struct json_node *value)
{
    return read_shadow_of(change, value, RELOAD_SHADOW_SET);
}

static const char *read_promote(struct admin_change *change, const struct json_node *value)
{
    return read_shadow_of(change, value, RELOAD_SHADOW_PROMOTE);
}

static const char *read_drop(struct admin_change *change, const struct json_node *value)
{
    return read_shadow_of(change, value, RELOAD_SHADOW_DROP);
}

static const struct change_field FIELDS[] = {
    { "who", read_who, true, true },
    { "why", read_why, true, true },
    { "retry", read_retry, false, true },
    { "shadow", read_shadow, false, true },
    { "promote", read_promote, false, true },
    { "drop", read_drop, false, true },
    { "generation", read_generation, true, false },
};

static const struct change_field *find_field(struct text name, bool is_rollback)
{
    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        bool is_taken = is_rollback ? FIELDS[i].is_of_rollback : FIELDS[i].is_of_reload;
        if (is_taken && text_equals_c(name, FIELDS[i].name)) {
            return &FIELDS[i];
        }
    }
    return NULL;
}

static void refuse_unknown(struct problem *problem, const char *pointer, struct text name, bool is_rollback)
{
    const char *names[COUNT_OF(FIELDS)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(FIELDS); i++) {
        if (is_rollback ? FIELDS[i].is_of_rollback : FIELDS[i].is_of_reload) {
            names[count++] = FIELDS[i].name;
        }
    }
    const char *nearest = text_nearest(name, names, count);
    problem_add(problem, pointer, "unknown_field", "there is no such field%s%s%s",
                nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "", nearest != NULL ? "`?" : "");
}

static bool is_repeated(const struct json_node *member)
{
    return json_tree_member_text(member->parent, member->key) != member;
}

static void read_fields(struct admin_change *change, const struct json_node *root, bool is_rollback,
                        struct problem *problem)
{
    for (const struct json_node *member = root->first; member != NULL; member = member->next) {
        struct buffer pointer;
        char place[sizeof(problem->errors[0].pointer)];

        buffer_init(&pointer, sizeof(place) - 1);
        json_pointer_append(&pointer, member->key);
        (void)snprintf(place, sizeof(place), "%.*s", TEXT_ARGS(buffer_text(&pointer)));
        buffer_fini(&pointer);
        const struct change_field *field = find_field(member->key, is_rollback);
        if (field == NULL) {
            refuse_unknown(problem, place, member->key, is_rollback);
        } else if (is_repeated(member)) {
            problem_add(problem, place, "duplicate", "the field is given twice");
        } else {
            const char *expected = field->read(change, member);
            if (expected != NULL) {
                problem_add(problem, place, "wrong_type", "%s", expected);
            }
        }
    }
}

static bool is_json(const struct http_call *call)
{
    struct text rest;
    struct text type = text_trim(text_split(http_call_header(call, "content-type"), ';', &rest));
    return text_equals_nocase(type, TEXT("application/json"));
}

/// False: `problem` tells what is wrong with it.
static bool read_body(struct admin_change *change, struct http_call *call, bool is_rollback, struct problem *problem)
{
    struct text body = text_trim(block_text(http_call_body(call)));
    struct json_node *root = NULL;
    const char *sentence = NULL;
    size_t offset = 0;

    problem_init(problem, 422, "bad_request", "The request was not understood");
    if (body.length > 0 && !is_json(call)) {
        problem_init(problem, 415, "unsupported_media_type", "The body must be application/json");
        return false;
    }
    if (body.length > 0) {
        // Texts of the tree point into the body, which is gone before the answer comes.
        struct text kept = arena_copy(&change->arena, body);
        enum status status = json_tree_read(&change->arena, kept, &root, &offset, &sentence);
        if (status != STATUS_OK || root->kind != JSON_BEGIN_OBJECT) {
            problem_init(problem, 400, "not_json", "The body is not a JSON object");
            if (status == STATUS_OK) {
                problem_add(problem, "", "not_json", "expected an object, not %s", json_tree_kind(root));
            } else {
                problem_add(problem, "", "not_json", "%s, at byte %zu",
                            status == STATUS_INVALID ? sentence : "it takes too much memory", offset);
            }
            return false;
        }
        read_fields(change, root, is_rollback, problem);
    }
    if (is_rollback && change->request.roll_back_to == 0 && problem->error_count == 0) {
        problem_add(problem, "/generation", "required", "say which generation shall run again");
    }
    return problem->error_count == 0;
}

// ---------------------------------------------------------------------------------------------------------- the answer

static void change_free(struct admin_change *change)
{
    reload_answer_release(&change->answer);
    arena_fini(&change->arena);
    free(change);
}

static void refuse_draining(struct http_call *call)
{
    struct header_pair retry = { "Retry-After", "1" };
    struct problem problem;

    problem_init(&problem, 503, "draining", "The engine is stopping");
    problem_reply(call, &problem, &retry, 1);
}

static void refuse_memory(struct http_call *call)
{
    struct problem problem;

    problem_init(&problem, 503, "out_of_memory", "There was no memory for the request");
    problem_reply(call, &problem, NULL, 0);
}

static void reply(struct http_call *call, const struct reload_answer *answer)
{
    struct header_pair no_store = { "Cache-Control", "no-store" };
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, CHANGE_REPLY_MAX);
    json_writer_init(&json, &out);
    reload_answer_write(answer, &json);
    struct block *body = block_from_buffer(&out);
    buffer_fini(&out);
    if (body == NULL) {
        refuse_memory(call);
        return;
    }
    struct http_reply http = {
        .status = answer->outcome == RELOAD_REFUSED ? 422 : 200,
        .content_type = "application/json",
        .body = body,
        .headers = &no_store,
        .header_count = 1,
    };
    http_call_reply(call, &http);
    block_release(&body);
}

static void change_on_answer_here(struct message *message)
{
    struct admin_change *change = CONTAINER_OF(message, struct admin_change, message);
    struct http_call *call = change->call;

    if (call != NULL) {
        http_call_set_owner(call, NULL);
        if (change->answer == NULL) {
            refuse_memory(call);
        } else if (change->answer->is_draining) {
            refuse_draining(call);
        } else {
            reply(call, change->answer);
        }
    }
    change_free(change);
}

/// On the builder's thread.
static void change_on_answer(struct reload_request *request, struct reload_answer *answer)
{
    struct admin_change *change = CONTAINER_OF(request, struct admin_change, request);

    change->answer = reload_answer_acquire(answer);
    loop_post(change->loop, &change->message);
}

void admin_change_on_gone(struct http_call *call)
{
    struct admin_change *change = http_call_owner(call);

    if (change != NULL) {
        change->call = NULL;
    }
}

static void submit(struct engine *engine, struct loop *loop, struct http_call *call, bool is_rollback)
{
    struct admin_change *change = calloc(1, sizeof(*change));
    struct problem problem;

    if (change == NULL) {
        refuse_memory(call);
        return;
    }
    arena_init(&change->arena, CHANGE_ARENA);
    change->request.source = RELOAD_COMMAND;
    change->request.on_answer = change_on_answer;
    change->message.on_receive = change_on_answer_here;
    change->loop = loop;
    change->call = call;
    if (!read_body(change, call, is_rollback, &problem)) {
        problem_reply(call, &problem, NULL, 0);
        change_free(change);
        return;
    }
    http_call_set_owner(call, change);
    if (reload_submit(engine->reload, &change->request) != STATUS_OK) {
        http_call_set_owner(call, NULL);
        refuse_draining(call);
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
