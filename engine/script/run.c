// A section that runs out of memory is not believed at once: the garbage of earlier calls may have filled the state.
// The caller repeats it in the fresh state before it blames the script.

#include "script/run.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/redact.h"
#include "script/bind.h"
#include "script/field_watch.h"
#include "script/freeze.h"
#include "script/script_check.h"
#include "script/trouble_line.h"

#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum script_verdict run_verdict_of(const char *kind)
{
    static const struct {
        const char *kind;
        enum script_verdict verdict;
    } kinds[] = {
        { "quota", SCRIPT_FAIL_QUOTA }, { "busy", SCRIPT_FAIL_BUSY },         { "login", SCRIPT_FAIL_LOGIN },
        { "auth", SCRIPT_FAIL_AUTH },   { "supplier", SCRIPT_FAIL_SUPPLIER }, { "unexpected", SCRIPT_FAIL_UNEXPECTED },
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) == 0) {
            return kinds[i].verdict;
        }
    }
    return SCRIPT_ERROR;
}

void run_keep(char *place, size_t size, const char *words)
{
    (void)redact_copy(place, size, text_of(words));
}

/// Takes the error value on top of the stack into the run's failure. Still protected.
static void run_on_error(lua_State *L, void *context)
{
    struct run *run = ((struct run_work *)context)->run;
    struct run_failure *failure = &run->failure;
    struct script_fail fail;

    failure->verdict = SCRIPT_ERROR;
    if (bind_fail_read(L, -1, &fail)) {
        failure->verdict = run_verdict_of(fail.kind);
        failure->wait = fail.wait;
        run_keep(failure->message, sizeof failure->message, fail.message);
        run_keep(failure->code, sizeof failure->code, fail.code);
        return;
    }
    if (lua_type(L, -1) == LUA_TSTRING) {
        run_keep(failure->message, sizeof failure->message, lua_tostring(L, -1));
        if (run->unparsable[0] != '\0' && strcmp(run->unparsable, failure->message) == 0) {
            failure->verdict = SCRIPT_UNPARSABLE;
        }
        return;
    }
    snprintf(failure->message, sizeof failure->message, "the script raised a %s that is no message and no failure",
             luaL_typename(L, -1));
}

static void run_allow_log(const struct script_set *set, struct sandbox *sandbox, struct script_id script,
                          uint64_t now_us)
{
    uint32_t left = script_set_log_lines_left(set, script, now_us);
    sandbox->log_most = left < SANDBOX_LOG_LINES ? left : SANDBOX_LOG_LINES;
}

/// Which limits the section met, on its script's account.
static void run_count_limits(struct script_set *set, const struct sandbox *sandbox, struct script_id script,
                             enum sandbox_result result, uint64_t now_us)
{
    for (size_t i = 0; i < SCRIPT_LIMIT_COUNT; i++) {
        if (sandbox->met_limits[i] > 0) {
            script_set_note_limit(set, script, (enum script_limit)i, sandbox->met_limits[i]);
        }
    }
    if (sandbox->log_lines > 0) {
        script_set_note_log_lines(set, script, now_us, sandbox->log_lines);
    }
    if (result == SANDBOX_STOPPED) {
        script_set_note_limit(set, script, SCRIPT_LIMIT_TIME, 1);
    } else if (result == SANDBOX_OUT_OF_MEMORY) {
        script_set_note_limit(set, script, SCRIPT_LIMIT_MEMORY, 1);
    }
}

/// An error of what was called last has no line, but its file may have only one that it can be.
static void run_find_tail(struct failure *trouble, struct text source)
{
    struct text rest = text_of(trouble->notes), note = failure_next_note(&rest);

    if (trouble->line == 0 && text_starts_with(note, TEXT(TROUBLE_TAIL))) {
        const char *name = note.data + strlen(TROUBLE_TAIL);
        struct text function = text_split(text_of(name), '(', &rest);
        trouble->line = trouble_line_of_tail(source, function);
    }
}

/// Without a place of its own it gets the script's file. A line that is known then is shown before the notes.
static void run_place_trouble(struct run *run, const struct guard_blame *blame)
{
    struct script_set *set = run->state->set;
    struct failure *trouble = &run->trouble;
    struct text path, source;

    if (trouble->code == CODE_NONE || blame == NULL) {
        return;
    }
    const struct script_file *file = blame->script.is_product ? script_set_product_file(set, blame->script.index)
                                                              : script_set_supplier_file(set, blame->script.index);
    if (trouble->file[0] == '\0') {
        (void)snprintf(trouble->file, sizeof trouble->file, "%.*s", TEXT_ARGS(file->path));
        run_find_tail(trouble, file->source);
    }
    if (trouble->line > 0 && trouble->notes[0] != ' ' &&
        script_set_find_source(set, text_of(trouble->file), &path, &source)) {
        (void)snprintf(trouble->file, sizeof trouble->file, "%.*s", TEXT_ARGS(path)); // Lua tells the end of a long one
        trouble_note_line_first(trouble, source, NULL);
    }
}

/// What was stopped, or was out of memory, as a person is told of it: with its line, when it is known.
static void run_tell_limit(struct run *run, enum code code, const struct guard_blame *blame)
{
    struct failure *trouble = &run->trouble;

    *trouble = (struct failure){ .code = code };
    (void)trouble_split(trouble, run->failure.message);
    run_place_trouble(run, blame);
    failure_help(trouble, code == CODE_TIMEOUT ? "look for a loop that does not end; read long lists by a shape"
                                               : "look for a list or text that grows without end; read by a shape");
}

static enum run_end run_one(struct run *run, const struct guard_blame *blame, uint64_t limit_us, lua_CFunction function,
                            struct run_work *work)
{
    struct run_failure *failure = &run->failure;

    *failure = (struct run_failure){ .verdict = SCRIPT_MEMORY };
    run->trouble.code = CODE_NONE;
    run->unparsable[0] = '\0';
    work->run = run;
    if (run->state->sandbox == NULL && !state_renew(run->state)) {
        run_keep(failure->message, sizeof failure->message, "there is no memory for a Lua state");
        return RUN_FAILED;
    }
    struct sandbox *sandbox = run->state->sandbox;
    uint64_t begun_us = clock_now_us();
    if (blame != NULL) {
        run_allow_log(run->state->set, sandbox, blame->script, begun_us);
        guard_enter(run->guard, sandbox, blame, limit_us);
    }
    enum sandbox_result result = sandbox_call(sandbox, function, run_on_error, work);
    if (blame != NULL && !guard_leave(run->guard)) {
        return RUN_LOST;
    }
    if (blame != NULL) {
        run_count_limits(run->state->set, sandbox, blame->script, result, begun_us);
    }
    switch (result) {
    case SANDBOX_OK:
        return RUN_DONE;
    case SANDBOX_ERROR:
        run->trouble = sandbox->trouble.failure;
        run_place_trouble(run, blame);
        return RUN_FAILED;
    case SANDBOX_STOPPED:
        failure->verdict = SCRIPT_TIMEOUT;
        snprintf(failure->message, sizeof failure->message, "%s: stopped after %llu ms", sandbox->stopped_at,
                 (unsigned long long)(limit_us / 1000));
        run_tell_limit(run, CODE_TIMEOUT, blame);
        failure_set(&run->trouble, "the script ran for more than %llu ms", (unsigned long long)(limit_us / 1000));
        if (blame != NULL &&
            script_set_note_timeout(run->state->set, blame->script, sandbox->stopped_at, clock_now_us())) {
            run->quarantined++;
            log_line(LOG_ERROR, "script", "stopped too often and quarantined at=%s", sandbox->stopped_at);
        }
        return RUN_FAILED;
    case SANDBOX_OUT_OF_MEMORY:
        break;
    }
    failure->verdict = SCRIPT_MEMORY;
    snprintf(failure->message, sizeof failure->message, "the script asked for more than %zu MiB of memory",
             run->state->growth_cap >> 20);
    run_tell_limit(run, CODE_MEMORY, blame);
    (void)state_renew(run->state); // without memory for it the next section says so
    return RUN_FAILED;
}

struct run_load {
    struct run_work work;
    struct script_id script;
};

static int run_load_file(lua_State *L)
{
    const struct run_load *load = lua_touserdata(L, 1);

    if (load->script.is_product) {
        state_push_product(L, load->work.run->state, load->script.index);
    } else {
        state_push_supplier(L, load->work.run->state, load->script.index);
    }
    return 0;
}

static enum run_end run_load_one(struct run *run, struct guard_blame blame)
{
    struct run_load load = { .script = blame.script };

    if (state_is_loaded(run->state, blame.script)) {
        return RUN_DONE;
    }
    return run_one(run, &blame, SCRIPT_CHECK_RUN_US, run_load_file, &load.work);
}

/// What a fresh state lacks has the time that its check allowed: a large file is no fault of the call that comes first.
static enum run_end run_load(struct run *run, const struct guard_blame *blame)
{
    struct guard_blame product = *blame;

    if (state_is_loaded(run->state, blame->script)) {
        return RUN_DONE;
    }
    if (!blame->script.is_product) {
        const struct script_set *set = run->state->set;
        ptrdiff_t index = script_set_find_product(set, script_set_supplier(set, blame->script.index)->product);
        product.script = (struct script_id){ .is_product = true, .index = index < 0 ? 0 : (size_t)index };
        enum run_end end = index < 0 ? RUN_DONE : run_load_one(run, product);
        if (end != RUN_DONE) {
            return end;
        }
    }
    return run_load_one(run, *blame);
}

enum run_end run_section(struct run *run, const struct guard_blame *blame, uint64_t limit_us, lua_CFunction function,
                         struct run_work *work)
{
    enum run_end end = blame == NULL ? RUN_DONE : run_load(run, blame);

    return end == RUN_DONE ? run_one(run, blame, limit_us, function, work) : end;
}

struct failure *run_take_trouble(struct run *run)
{
    struct failure *taken = NULL;

    if (run->trouble.code != CODE_NONE) {
        taken = malloc(sizeof *taken);
    }
    if (taken != NULL) {
        *taken = run->trouble;
    }
    run->trouble.code = CODE_NONE;
    return taken;
}

uint64_t run_now_us(const struct run *run)
{
    return run->now_us != 0 ? run->now_us : clock_now_us();
}

uint64_t run_wall_us(const struct run *run, struct script_times times)
{
    return run->now_us != 0 ? times.arrival_wall_us + run_time_left(run->now_us, times.arrival_us) : clock_wall_us();
}

void run_count_failure(struct run *run)
{
    switch (run->failure.verdict) {
    case SCRIPT_TIMEOUT:
        run->timeouts++;
        break;
    case SCRIPT_MEMORY:
        run->memory++;
        break;
    case SCRIPT_ERROR:
        run->errors++;
        break;
    default:
        break;
    }
}

void run_note_trial(const struct run *run, size_t supplier, enum script_verdict verdict, const char *message)
{
    script_set_note_trial(run->state->set, (struct script_id){ .index = supplier }, verdict, message);
}

int run_breach(lua_State *L, int function, const char *format, ...)
{
    lua_Debug where;
    va_list arguments;

    lua_pushvalue(L, function);
    if (lua_getinfo(L, ">S", &where) != 0) {
        lua_pushfstring(L, "%s:%d: ", where.short_src, where.linedefined);
    } else {
        lua_pushliteral(L, "");
    }
    va_start(arguments, format);
    char message[256];
    (void)redact_vprint(message, sizeof message, format, arguments);
    va_end(arguments);
    lua_pushstring(L, message);
    lua_concat(L, 2);
    trouble_code_unless(L, CODE_RETURNED);
    lua_error(L);
    __builtin_unreachable(); // lua_error does not return, but its header does not say so
}

static bool is_one_of(const char *name, const char *const *known, size_t count)
{
    bool is_known = false;

    for (size_t i = 0; i < count && !is_known; i++) {
        is_known = strcmp(known[i], name) == 0;
    }
    return is_known;
}

static void refuse_field(lua_State *L, int function, const char *where, const char *name, const char *const *known,
                         size_t count)
{
    const char *nearest = text_nearest(text_of(name), known, count);
    char all[128] = "";
    size_t length = 0;

    if (is_one_of("request", known, count) && run_is_request_field(name)) {
        run_breach(L, function, "%s: unknown field `%s`: the request goes into `next.request`", where, name);
    }
    if (nearest != NULL) {
        run_breach(L, function, "%s: unknown field `%s`, did you mean `%s`?", where, name, nearest);
    }
    for (size_t i = 0; i < count && length < sizeof all; i++) {
        length += (size_t)snprintf(all + length, sizeof all - length, "%s`%s`", i == 0 ? "" : ", ", known[i]);
    }
    run_breach(L, function, "%s: unknown field `%s`; there are %s", where, name, all);
}

void run_check_fields(lua_State *L, int table, int function, const char *where, const char *const *known, size_t count)
{
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        if (!is_one_of(name, known, count)) {
            refuse_field(L, function, where, name, known, count);
        }
    }
}

void run_check_failure(lua_State *L, int index)
{
    struct script_fail fail;

    if (bind_fail_read(L, index, &fail)) {
        lua_pushvalue(L, index);
        lua_error(L);
    }
}

static void run_set_number(lua_State *L, const char *name, uint64_t value)
{
    lua_pushnumber(L, (lua_Number)value);
    lua_setfield(L, -2, name);
}

void run_push_context(lua_State *L, struct state *state, const struct run_context *context)
{
    static const char *const parts[] = { "account", "options", "secret" };
    static const char *const optional[] = { "state", "login" };

    lua_createtable(L, 0, 12);
    if (!state_push_account(L, state, context->serial)) {
        luaL_error(L, "the account is not known to this worker");
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        lua_getfield(L, -1, parts[i]);
        lua_setfield(L, -3, parts[i]);
    }
    lua_pop(L, 1);
    state_push_now(L, state, context->wall_us);
    lua_setfield(L, -2, "now");
    run_set_number(L, "remaining_ms", context->remaining_us / 1000);
    run_set_number(L, "elapsed_ms", context->elapsed_us / 1000);
    run_set_number(L, "attempt", context->attempt != 0 ? context->attempt : 1);
    lua_pushboolean(L, context->is_hedge);
    lua_setfield(L, -2, "hedge");
    run_set_number(L, "part", context->part);
    run_set_number(L, "parts", context->parts);
    run_set_number(L, "step", context->step);
    if (context->state.data != NULL) {
        if (!bind_json_decode(L, context->state)) {
            lua_error(L);
        }
        lua_setfield(L, -2, "state");
    }
    if (context->login.data != NULL) {
        if (!bind_json_decode(L, context->login)) {
            lua_error(L);
        }
        freeze_deep(L);
        lua_setfield(L, -2, "login");
    }
    if (state->watches_fields) {
        field_watch_known(L, "ctx", optional, COUNT_OF(optional));
    }
    freeze_shallow(L);
}
