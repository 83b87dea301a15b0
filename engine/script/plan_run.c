// Running a plan: the answer's status and what it lacks decide first, then its rows become offers.

#include "script/bind.h"
#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/body_keys.h"
#include "script/drift.h"
#include "script/freeze.h"
#include "script/offers.h"
#include "script/plan_read.h"
#include "script/plan_term.h"
#include "script/reading.h"
#include "script/run_response.h"
#include "script/sandbox.h"
#include "script/script_set.h"

#include <stdio.h>

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

/// One reading of the body. False: it is broken, and the sentence says how.
static enum tape_result read_once(lua_State *L, const struct run_response *view, const struct plan *plan,
                                  struct tape *tape, char sentence[XML_SENTENCE_MAX])
{
    if (plan->is_xml) {
        return bind_shape_read_xml(L, tape, view->body, plan->root, &plan->names, plan->is_lenient, sentence);
    }
    enum tape_result result = tape_read_json(tape, view->body, plan->root, is_stopped, L);
    if (result == TAPE_BROKEN) {
        (void)snprintf(sentence, XML_SENTENCE_MAX, "not JSON at byte %zu: %s", tape->offset + 1, tape->error);
    }
    return result;
}

/// The document as the state's tape, or an error.
static void read_document(lua_State *L, struct run_response *view, const struct plan *plan, struct tape *tape)
{
    char sentence[XML_SENTENCE_MAX];
    const char *wanted = plan->is_xml ? "XML" : "JSON";

    run_response_expect(L, view, plan->is_xml);
    enum tape_result result = read_once(L, view, plan, tape, sentence);
    if (result == TAPE_BROKEN && run_response_reread(L, view)) {
        result = read_once(L, view, plan, tape, sentence);
    }
    sandbox_stop_here(L);
    if (result == TAPE_BROKEN) {
        run_response_unparsable(L, view, lua_pushfstring(L, "the body is no %s: %s", wanted, sentence));
    } else if (result != TAPE_OK) {
        run_response_unparsable(L, view, "more values than may be kept");
    }
    if (view->unread.seen != NULL) {
        reading_note(view->unread.seen->reading, plan->root, &plan->names);
        drift_look(view->unread.seen, plan->root, tape);
    }
}

/// Does an author look on?
static bool is_watched(const struct run_response *view)
{
    return view->unread.seen != NULL && view->unread.seen->reading != NULL;
}

/// For an author who looks on: a status has decided, so the answer is read only to know which of the plan's paths it
/// has.
static void look_anyway(lua_State *L, const struct run_response *view, const struct plan *plan, struct tape *tape)
{
    char sentence[XML_SENTENCE_MAX];

    if (is_watched(view) && view->body.length > 0 && read_once(L, view, plan, tape, sentence) == TAPE_OK) {
        drift_look(view->unread.seen, plan->root, tape);
    }
}

/// What the plan says of this answer: the marker of no offers, a failure, or what a function of the script returns.
static int act(lua_State *L, struct run_response *view, const struct plan_when *when, int kept)
{
    if (when->is_empty) {
        view->is_told_empty = when->test != PLAN_ABSENT; // what an answer lacks says nothing
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

/// Is it a scalar that is spelt so?
static bool has_literal(const struct tape_node *node, struct text literal)
{
    switch (node == NULL ? TAPE_NONE : node->kind) {
    case TAPE_TEXT:
    case TAPE_NUMBER:
        return text_equals(node->text, literal);
    case TAPE_TRUE:
        return text_equals_c(literal, "true");
    case TAPE_FALSE:
        return text_equals_c(literal, "false");
    default:
        return false;
    }
}

static const struct plan_when *find_condition(const struct plan *plan, const struct plan_row *row)
{
    for (size_t i = 0; i < plan->when_count; i++) {
        const struct plan_when *when = &plan->whens[i];
        if (when->test == PLAN_STATUS) {
            continue;
        }
        const struct tape_node *node = plan_find(row, &when->path);
        bool is_absent = node == NULL || node->kind == TAPE_NONE || node->kind == TAPE_NULL ||
                         (plan->is_xml && node->kind == TAPE_LIST && node->count == 0);
        bool holds =
            when->test == PLAN_EQUALS ? has_literal(node, when->value) : is_absent == (when->test == PLAN_ABSENT);
        if (holds) {
            return when;
        }
    }
    return NULL;
}

/// Unparsable: the list or map of a level is not there, though something is that should have it.
static void refuse_list(lua_State *L, struct run_response *view, const struct plan_level *level,
                        const struct tape_node *node, struct plan_row *row)
{
    char path[200];
    char lists[BODY_LISTS_SIZE] = "";

    declared_path(level->element, path, sizeof path);
    plan_drop_refuse(row, "each", path);
    lua_pushfstring(L, "%s: %s expected, got %s", path, level->is_map ? "an object" : "a list",
                    node == NULL ? "nothing" : tape_kind_name(node));
    if (!level->is_map && !row->plan->is_xml) {
        body_lists(view->body, lists);
        lua_pushfstring(L, lists[0] == '\0' ? "; the answer has no list" : "; the answer has the lists %s", lists);
        lua_concat(L, 2);
    }
    run_response_unparsable(L, view, lua_tostring(L, -1));
}

/// An answer without its list of offers is none that says "nothing for you"; neither is one that has elements, none of
/// which has the list further in.
static void check_lists(lua_State *L, struct run_response *view, struct plan_row *row)
{
    const struct plan *plan = row->plan;
    uint32_t chain[PLAN_LEVELS_MAX];
    uint32_t depth = 0;

    for (uint32_t level = plan->offer_level; level != 0; level = plan->levels[level].outer) {
        chain[depth++] = level;
    }
    while (depth > 0) {
        const struct plan_level *level = &plan->levels[chain[--depth]];
        const struct tape_node *list = plan_find(row, &level->list);
        bool has_outer = level->outer == 0;
        bool has_list = has_outer && plan_is_list_of(level, list);
        while (level->outer != 0 && !has_list && plan_row_next(row, level->outer, 0)) {
            sandbox_stop_here(L);
            has_outer = true;
            list = plan_find(row, &level->list);
            has_list = plan_is_list_of(level, list);
        }
        plan_row_rewind(row);
        if (!has_list && has_outer) {
            refuse_list(L, view, level, list, row);
        }
    }
}

/// plan{…}(response, search, ctx); upvalue: the plan.
static int run(lua_State *L)
{
    struct plan *plan = lua_touserdata(L, lua_upvalueindex(1));
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
    bool is_fine = view->status >= 200 && view->status <= 299;
    if (when != NULL || !is_fine) {
        look_anyway(L, view, plan, tape);
        return when != NULL ? act(L, view, when, 4) : give_marker(L, view); // nothing to say: the status decides
    }
    read_document(L, view, plan, tape);
    struct plan_row row;
    plan->answers++;
    plan_row_init(&row, L, plan, tape, 4);
    row.search = 2;
    row.drop = &view->drop;
    view->drop.body = view->body;
    view->drop.is_watched = is_watched(view);
    trouble_set_row(L, &row);
    when = find_condition(plan, &row);
    if (when != NULL) {
        trouble_set_row(L, NULL);
        return act(L, view, when, 4);
    }
    check_lists(L, view, &row);
    view->is_planned = true; // even if a function of the plan raises: the batch is begun
    view->taken = offers_take_planned(L, &row, 2, view->supplier->product.data, view->supplier->name, view->batch);
    trouble_set_row(L, NULL);
    tape_trim(tape);
    return give_marker(L, view);
}

static int make(lua_State *L)
{
    bind_at_most(L, 1);
    lua_settop(L, 1);
    plan_make(L, 1);
    lua_pushcclosure(L, run, 1);
    return 1;
}

void bind_plan(lua_State *L)
{
    static const luaL_Reg functions[] = { { "plan", make },    { "up", term_up },       { "const", term_const },
                                          { "ref", term_ref }, { "asked", term_asked }, { NULL, NULL } };

    bind_push_module(L, functions);
}
