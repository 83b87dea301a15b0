// Running a plan: the answer's status and what it lacks decide first, then its rows become offers.

#include "script/bind.h"
#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/plan_read.h"
#include "script/plan_term.h"
#include "script/run_response.h"
#include "script/sandbox.h"
#include "script/script_set.h"

static const char MARKER; // its address, as a light userdata: the offers have been taken

static bool is_stopped(void *context)
{
    return sandbox_is_interrupted(context);
}

bool plan_is_marker(lua_State *L, int index)
{
    return lua_islightuserdata(L, index) && lua_touserdata(L, index) == (const void *)&MARKER;
}

/// What the plan has made of the answer is all there is of it.
static int give_marker(lua_State *L, struct run_response *view)
{
    view->is_planned = true;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&MARKER);
    return 1;
}

/// The document as the state's tape, or an error.
static void read_document(lua_State *L, struct run_response *view, const struct plan *plan, struct tape *tape)
{
    struct text body = text_trim(view->body);

    if (body.length == 0) {
        run_response_unparsable(L, view, "the body is empty, JSON was expected");
    }
    if (body.data[0] == '<') {
        run_response_unparsable(L, view, "the body is HTML or XML, JSON was expected");
    }
    enum tape_result result = tape_read_json(tape, view->body, plan->root, is_stopped, L);
    if (result == TAPE_BROKEN && run_response_reread(L, view)) {
        result = tape_read_json(tape, view->body, plan->root, is_stopped, L);
    }
    sandbox_stop_here(L);
    if (result == TAPE_BROKEN) {
        run_response_unparsable(
            L, view,
            lua_pushfstring(L, "the body is no JSON: not JSON at byte %d: %s", (int)tape->offset + 1, tape->error));
    } else if (result != TAPE_OK) {
        run_response_unparsable(L, view, "more values than may be kept");
    }
}

/// What the plan says of this answer: the marker of no offers, a failure, or what a function of the script returns.
static int act(lua_State *L, struct run_response *view, const struct plan_when *when, int kept)
{
    if (when->is_empty) {
        return give_marker(L, view);
    }
    lua_settop(L, kept);
    lua_rawgeti(L, kept, when->action);
    if (!lua_isfunction(L, -1)) {
        return 1;
    }
    lua_getfield(L, 1, "headers");
    lua_getfield(L, -1, "retry-after");
    struct text retry_after = bind_to_text(L, -1);
    if (bind_fail_make(L, lua_gettop(L) - 2, retry_after)) {
        return 1;
    }
    lua_settop(L, kept + 1);
    for (int i = 1; i <= 3; i++) {
        lua_pushvalue(L, i);
    }
    lua_call(L, 3, LUA_MULTRET);
    return lua_gettop(L) - kept;
}

static const struct plan_when *find_status(const struct plan *plan, uint16_t status)
{
    for (size_t i = 0; i < plan->when_count; i++) {
        if (plan->whens[i].test == PLAN_STATUS && plan->whens[i].status == status) {
            return &plan->whens[i];
        }
    }
    return NULL;
}

static const struct plan_when *find_condition(const struct plan *plan, const struct plan_row *row)
{
    for (size_t i = 0; i < plan->when_count; i++) {
        const struct plan_when *when = &plan->whens[i];
        if (when->test == PLAN_STATUS) {
            continue;
        }
        const struct tape_node *node = plan_find(row, &when->path);
        bool is_absent = node == NULL || node->kind == TAPE_NONE || node->kind == TAPE_NULL;
        if (is_absent == (when->test == PLAN_ABSENT)) {
            return when;
        }
    }
    return NULL;
}

/// An answer without its list of offers is none that says "nothing for you".
static void check_list(lua_State *L, struct run_response *view, const struct plan_row *row)
{
    const struct plan_level *level = &row->plan->levels[row->plan->offer_level];

    if (row->plan->offer_level == 0) {
        return;
    }
    while (level->outer != 0) {
        level = &row->plan->levels[level->outer];
    }
    const struct tape_node *node = plan_find(row, &level->list);
    if (node == NULL || node->kind != TAPE_LIST) {
        lua_pushfstring(L, "%s: a list expected, got %s", level->list.text.data,
                        node == NULL ? "nothing" : tape_kind_name(node));
        run_response_unparsable(L, view, lua_tostring(L, -1));
    }
}

/// plan{…}(response, search, ctx); upvalue: the plan.
static int run(lua_State *L)
{
    const struct plan *plan = lua_touserdata(L, lua_upvalueindex(1));
    struct run_response *view = run_response_at(L, 1);
    struct tape *tape = bind_shape_tape(L, TAPE_OF_PLANS);

    if (view == NULL || !freeze_is_table(L, 2)) {
        return luaL_error(L, "a plan is called as plan(response, search, ctx), within normalise");
    }
    if (view->is_planned) {
        return luaL_error(L, "only one plan can be run for an answer");
    }
    lua_settop(L, 3);
    lua_getfenv(L, lua_upvalueindex(1));
    view->taken = STATUS_OK;
    const struct plan_when *when = find_status(plan, view->status);
    if (when != NULL) {
        return act(L, view, when, 4);
    }
    if (view->status < 200 || view->status > 299) {
        return give_marker(L, view); // nothing to say: the status decides
    }
    read_document(L, view, plan, tape);
    struct plan_row row;
    plan_row_init(&row, L, plan, tape, 4);
    when = find_condition(plan, &row);
    if (when != NULL) {
        return act(L, view, when, 4);
    }
    check_list(L, view, &row);
    view->is_planned = true; // even if a function of the plan raises: the batch is begun
    view->taken = offers_take_planned(L, &row, 2, view->supplier->product.data, view->supplier->name, view->batch);
    tape_trim(tape);
    return give_marker(L, view);
}

static int make(lua_State *L)
{
    lua_settop(L, 1);
    plan_make(L, 1);
    lua_pushcclosure(L, run, 1);
    return 1;
}

void bind_plan(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "plan", make }, { "up", term_up }, { "const", term_const }, { "ref", term_ref }, { NULL, NULL }
    };

    bind_push_module(L, functions);
}
