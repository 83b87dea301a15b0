#include "app/admin_switch.h"

#include "app/admin_body.h"
#include "app/admin_wait.h"
#include "app/switch_words.h"
#include "base/clock.h"
#include "base/redact.h"

#include <stdio.h>
#include <stdlib.h>

enum { SWITCH_ARENA = 1 << 20, SWITCH_REPLY_MAX = 64 << 10 };

struct admin_switch {
    struct switch_request request;
    struct admin_wait wait;
    struct arena arena;
    bool has_account, has_why;
    const struct action_row *row;
    char sentence[160]; // what a field should have been
};

// ---------------------------------------------------------------------------------------------------------- the fields

static const char *read_name(struct admin_switch *asked, const struct json_node *value, char *place, const char *what)
{
    struct value_problem problem;

    if (value->kind != JSON_STRING || !value_name(value->text, &problem)) {
        (void)snprintf(asked->sentence, sizeof(asked->sentence), "expected the name of %s", what);
        return asked->sentence;
    }
    (void)snprintf(place, SWITCH_NAME_SIZE, "%.*s", TEXT_ARGS(value->text));
    return NULL;
}

static const char *read_account(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;

    return read_name(asked, value, asked->request.account, "an account");
}

static const char *read_who(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;
    struct text words = { 0 };
    const char *expected = admin_body_words(value, &words);

    (void)redact_copy(asked->request.who, sizeof(asked->request.who), words);
    return expected;
}

static const char *read_why(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;
    struct text words = { 0 };
    const char *expected = admin_body_words(value, &words);

    (void)redact_copy(asked->request.why, sizeof(asked->request.why), words);
    asked->has_why = text_trim(words).length > 0;
    return expected;
}

static const char *read_for(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;
    struct value_problem problem = { "is not a duration", "write it like 90s, 30m, 2h or 7d" };

    if (value->kind == JSON_STRING && switch_read_for(value->text, &asked->request.for_us, &problem)) {
        return NULL;
    }
    (void)snprintf(asked->sentence, sizeof(asked->sentence), "%s: %s", problem.sentence, problem.help);
    return asked->sentence;
}

/// One row, one thing that is done to a breaker.
static const struct {
    const char *name;
    enum switch_action action;
} BREAKER_STATES[] = { { "open", SWITCH_OPEN }, { "close", SWITCH_CLOSE }, { "reset", SWITCH_RESET } };

static const char *read_state(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;

    for (size_t i = 0; i < COUNT_OF(BREAKER_STATES); i++) {
        if (value->kind == JSON_STRING && text_equals_c(value->text, BREAKER_STATES[i].name)) {
            asked->request.action = BREAKER_STATES[i].action;
            return NULL;
        }
    }
    return "expected \"open\", \"close\" or \"reset\"";
}

/// "900ms", or "none": as it was.
static const char *read_ceiling(void *context, const struct json_node *value)
{
    struct admin_switch *asked = context;
    struct value_problem problem = { "is not a duration", "write it like 900ms or 2s, or \"none\"" };

    if (value->kind == JSON_STRING && text_equals_c(value->text, "none")) {
        asked->request.action = SWITCH_DROP_CEILING;
        return NULL;
    }
    if (value->kind == JSON_STRING && switch_read_ceiling(value->text, &asked->request.ceiling_us, &problem)) {
        asked->request.action = SWITCH_SET_CEILING;
        return NULL;
    }
    (void)snprintf(asked->sentence, sizeof(asked->sentence), "%s: %s", problem.sentence, problem.help);
    return asked->sentence;
}

static const struct admin_field FIELDS[] = {
    { "who", read_who }, { "why", read_why }, { "account", read_account }, { "for", read_for }, { "state", read_state },
};
static const struct admin_field CEILING_FIELDS[] = {
    { "who", read_who }, { "why", read_why }, { "for", read_for }, { "ceiling", read_ceiling }
};

/// One row, one action; `count` are the first of `fields`. Without an action of its own a field says it: `said_by`.
static const struct action_row {
    const char *name;
    enum switch_action action;
    const struct admin_field *fields;
    size_t count;
    const char *said_by, *says;
} ACTIONS[] = {
    { "enable", SWITCH_ENABLE, FIELDS, 3, NULL, NULL },
    { "disable", SWITCH_DISABLE, FIELDS, 4, NULL, NULL },
    { "drain", SWITCH_DRAIN, FIELDS, 4, NULL, NULL },
    { "breaker", SWITCH_ACTION_COUNT, FIELDS, 5, "/state", "say \"open\", \"close\" or \"reset\"" },
    { "purge", SWITCH_PURGE, FIELDS, 3, NULL, NULL },
    { "ceiling", SWITCH_ACTION_COUNT, CEILING_FIELDS, 4, "/ceiling", "say how long, or \"none\"" },
};

/// Whoever finds a supplier switched off wants to know why.
static bool needs_why(const struct switch_request *request)
{
    return request->action == SWITCH_DISABLE || request->action == SWITCH_OPEN || request->action == SWITCH_CLOSE ||
           request->action == SWITCH_SET_CEILING;
}

static bool read_body(struct admin_switch *asked, struct http_call *call, struct problem *problem)
{
    const struct action_row *row = asked->row;
    asked->request.action = row->action;
    if (!admin_body_read(call, &asked->arena, row->fields, row->count, asked, problem)) {
        return false;
    }
    if (asked->request.action == SWITCH_ACTION_COUNT) {
        problem_add(problem, row->said_by, "required", "%s", row->says);
    } else if (asked->request.action == SWITCH_SET_CEILING && asked->request.for_us == 0) {
        problem_add(problem, "/for", "required", "say for how long: what shall stay belongs into the settings");
    } else if (needs_why(&asked->request) && !asked->has_why) {
        problem_add(problem, "/why", "required", "say why: whoever finds it so wants to know");
    } else if ((asked->request.action == SWITCH_RESET || asked->request.action == SWITCH_DROP_CEILING) &&
               asked->request.for_us != 0) {
        problem_add(problem, "/for", "not_supported", "what is as new has no end");
    }
    return problem->error_count == 0;
}

// ------------------------------------------------------------------------------------------------------------ the path

static void refuse_action(struct http_call *call, struct text action)
{
    const char *names[COUNT_OF(ACTIONS)];
    struct problem problem;

    for (size_t i = 0; i < COUNT_OF(ACTIONS); i++) {
        names[i] = ACTIONS[i].name;
    }
    const char *nearest = text_nearest(action, names, COUNT_OF(names));
    problem_init(&problem, 404, "not_found", "A supplier takes enable, disable, drain, breaker, ceiling and purge");
    if (nearest != NULL) {
        problem_add(&problem, "", "unknown_action", "did you mean `%s`?", nearest);
    }
    problem_reply(call, &problem, NULL, 0);
}

/// False: it was answered.
static bool read_path(struct admin_switch *asked, struct http_call *call)
{
    struct text prefix = TEXT("/admin/v1/suppliers/");
    struct text path = http_call_path(call);
    struct text action;
    struct text rest = { path.data + prefix.length, path.length - prefix.length };
    struct text name = text_split(rest, '/', &action);

    for (size_t i = 0; i < COUNT_OF(ACTIONS); i++) {
        if (text_equals_c(action, ACTIONS[i].name)) {
            asked->row = &ACTIONS[i];
        }
    }
    if (asked->row == NULL) {
        refuse_action(call, action);
        return false;
    }
    (void)snprintf(asked->request.supplier, sizeof(asked->request.supplier), "%.*s", TEXT_ARGS(name));
    return true;
}

// ---------------------------------------------------------------------------------------------------------- the answer

static void switch_free(struct admin_switch *asked)
{
    arena_fini(&asked->arena);
    free(asked);
}

/// The sentence and its remedy in one, for a problem has no other place for it.
static void refuse(struct http_call *call, const struct switch_request *request)
{
    static const struct {
        uint16_t status;
        const char *code, *title, *pointer;
    } REFUSALS[] = {
        [SWITCH_NO_SUPPLIER] = { 404, "unknown_supplier", "There is no such supplier", "" },
        [SWITCH_NO_ACCOUNT] = { 422, "unknown_account", "The supplier has no such account", "/account" },
        [SWITCH_REFUSED] = { 409, "not_possible", "This cannot be done now", "" },
    };
    const struct failure *because = &request->because;
    struct problem problem;

    problem_init(&problem, REFUSALS[request->end].status, REFUSALS[request->end].code, REFUSALS[request->end].title);
    problem_add(&problem, REFUSALS[request->end].pointer, REFUSALS[request->end].code, "%s%s%s", because->message,
                because->help[0] != '\0' ? "; " : "", because->help);
    problem_reply(call, &problem, NULL, 0);
}

static void reply(struct http_call *call, const struct switch_request *request)
{
    struct buffer out;
    struct json_writer json;

    buffer_init(&out, SWITCH_REPLY_MAX);
    json_writer_init(&json, &out);
    switch_words_write(request, clock_now_us(), clock_wall_us(), &json);
    admin_reply_json(call, 200, &out);
}

static void switch_on_done_here(struct message *message)
{
    struct admin_wait *wait = CONTAINER_OF(message, struct admin_wait, message);
    struct admin_switch *asked = CONTAINER_OF(wait, struct admin_switch, wait);
    struct http_call *call = admin_wait_end(wait);
    enum switch_end end = asked->request.end;

    if (call != NULL && (end == SWITCH_DONE || end == SWITCH_UNCHANGED)) {
        reply(call, &asked->request);
    } else if (call != NULL) {
        refuse(call, &asked->request);
    }
    switch_free(asked);
}

/// On the desk's thread.
static void switch_on_done(struct switch_request *request)
{
    admin_wait_done(&CONTAINER_OF(request, struct admin_switch, request)->wait);
}

void admin_switch(struct engine *engine, struct loop *loop, struct http_call *call)
{
    struct admin_switch *asked = calloc(1, sizeof(*asked));
    struct problem problem;

    if (asked == NULL) {
        admin_refuse_memory(call);
        return;
    }
    arena_init(&asked->arena, SWITCH_ARENA);
    asked->request.on_done = switch_on_done;
    if (!read_path(asked, call)) {
        switch_free(asked);
        return;
    }
    if (!read_body(asked, call, &problem)) {
        problem_reply(call, &problem, NULL, 0);
        switch_free(asked);
        return;
    }
    admin_wait_begin(&asked->wait, loop, call, switch_on_done_here);
    if (engine->switch_desk == NULL || switch_desk_submit(engine->switch_desk, &asked->request) != STATUS_OK) {
        admin_refuse_draining(admin_wait_end(&asked->wait));
        switch_free(asked);
    }
}
