// What a ceiling raises by itself is no finding: its supplier may skip such a search. What it may never do is.

#include "script/ceiling_check.h"

#include "script/bind.h"
#include "script/check_job.h"
#include "script/freeze.h"
#include "script/progress.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CEILING_SAID_SIZE = 160, CEILING_LIMIT_US = 500000 };

#define CEILING_HELP "let it be a function of search and progress that gives milliseconds, or nil"
#define EXAMPLE_DAY_S 1768478400 // when examples are asked: 2026-01-15T12:00:00Z

#define EXAMPLE_LATENCY                                                                                                \
    {                                                                                                                  \
        800, 420000, 610000, 1300000, 0                                                                                \
    }

/// From a search that has just begun to one that is nearly over; of a supplier that is not known, and of one that is.
static const struct search_progress moments[] = {
    { 2000, 1988000, 0, 0, 40, INT64_MAX, 0, { 0 }, false, 0, false, 0, 0 },
    { 300000, 1690000, 12, 3, 40, INT64_C(412300000), 2, EXAMPLE_LATENCY, true, 0.2, true, 0.7, 1200000 },
    { 900000, 1090000, 700, 25, 38, INT64_C(99990000), 2, EXAMPLE_LATENCY, true, 0.2, true, 0.3, 1200000 },
    { 1900000, 90000, 2100, 37, 38, INT64_C(99990000), 2, EXAMPLE_LATENCY, true, 0.2, true, 0.01, 1200000 },
};

struct ceiling_asking {
    struct script_check *check;
    const struct script_file *file;
    const struct script_file *product;
    bool is_backwards;
    bool has_none; // no ceiling, or no example to ask it about
    char said[COUNT_OF(moments)][CEILING_SAID_SIZE];
    char wrong[CEILING_SAID_SIZE]; // the first thing that no ceiling may do or say; empty: none
};

static void push_request(lua_State *L, struct text product, int example)
{
    lua_createtable(L, 0, 2);
    lua_pushlstring(L, product.data, product.length);
    lua_setfield(L, -2, "product");
    lua_pushvalue(L, example);
    lua_setfield(L, -2, "query");
}

static void push_arrival(lua_State *L)
{
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, EXAMPLE_DAY_S);
    lua_setfield(L, -2, "s");
    lua_pushnumber(L, EXAMPLE_DAY_S * 1000.0);
    lua_setfield(L, -2, "ms");
    lua_pushliteral(L, "2026-01-15T12:00:00Z");
    lua_setfield(L, -2, "iso");
    freeze_shallow(L);
}

bool ceiling_check_push_example(lua_State *L, struct text product, int table)
{
    lua_getfield(L, table, "query");
    lua_getfield(L, table, "example");
    int example = lua_gettop(L);
    if (!freeze_is_table(L, example) || !lua_isfunction(L, example - 1)) {
        lua_pushnil(L);
        return false;
    }
    lua_pushvalue(L, example - 1);
    push_request(L, product, example);
    push_arrival(L);
    int status = lua_pcall(L, 2, 2, 0);
    sandbox_check(L);
    return status == 0;
}

/// "/query/slices/0/date: in_the_past" of the list of errors on top.
static void say_first_error(lua_State *L, char *said, size_t size)
{
    snprintf(said, size, "it gave no search");
    if (!lua_istable(L, -1)) {
        return;
    }
    lua_rawgeti(L, -1, 1);
    if (!lua_istable(L, -1)) {
        return;
    }
    lua_getfield(L, -1, "pointer");
    lua_getfield(L, -2, "code");
    if (lua_isstring(L, -1) && lua_isstring(L, -2)) {
        snprintf(said, size, "%s: %s", lua_tostring(L, -2), lua_tostring(L, -1));
    }
}

void ceiling_check_example(lua_State *L, struct script_check *check, const struct script_file *file)
{
    uint32_t line = script_check_line_of(file, "example", 1);
    int top = lua_gettop(L);
    char said[CEILING_SAID_SIZE];

    bind_time_set_places(L, check->places);
    if (!ceiling_check_push_example(L, file->name, 1)) {
        if (lua_isstring(L, -1)) {
            script_check_report(check, file, line, CODE_PRODUCT, NULL, "field `example`: %s", lua_tostring(L, -1));
        }
    } else if (!freeze_is_table(L, -2)) {
        say_first_error(L, said, sizeof said);
        script_check_report(check, file, line, CODE_PRODUCT, "it is asked on 2026-01-15",
                            "field `example` is not valid: %s", said);
    }
    lua_settop(L, top);
}

/// The search that ceilings are asked about, frozen, on top. False: there is none.
static bool push_search(lua_State *L, const struct ceiling_asking *asking)
{
    bind_time_set_places(L, asking->check->places);
    if (!script_shelf_load(L, asking->product) || lua_pcall(L, 0, 1, 0) != 0) {
        sandbox_check(L);
        return false; // a finding of the product's
    }
    if (!lua_istable(L, -1) || !ceiling_check_push_example(L, asking->product->name, lua_gettop(L)) ||
        !lua_istable(L, -2)) {
        return false;
    }
    lua_pop(L, 1);
    lua_pushliteral(L, "example");
    lua_setfield(L, -2, "id");
    freeze_deep(L);
    return true;
}

static bool is_ceiling(lua_State *L)
{
    if (lua_type(L, -1) == LUA_TNUMBER) {
        return lua_tonumber(L, -1) >= 0.001 && lua_tonumber(L, -1) <= 1e9;
    }
    return lua_isnil(L, -1) || lua_istable(L, -1); // a table may be a failure
}

/// The function and the search are at `function` and above it.
static void ask_once(lua_State *L, struct ceiling_asking *asking, int function, size_t moment)
{
    struct sandbox *sandbox = sandbox_of(L);
    char *said = asking->said[moment];

    lua_pushvalue(L, function);
    lua_pushvalue(L, function + 1);
    (void)progress_push(L, &moments[moment], NULL, 0);
    sandbox->pure = "ceiling";
    int status = lua_pcall(L, 2, 1, 0);
    sandbox->pure = NULL;
    sandbox_check(L);
    bool is_wrong = status != 0 ? sandbox->was_impure : !is_ceiling(L);
    if (lua_isstring(L, -1)) {
        snprintf(said, CEILING_SAID_SIZE, "%s%s", status != 0 ? "an error: " : "", lua_tostring(L, -1));
    } else {
        snprintf(said, CEILING_SAID_SIZE, "%s", luaL_typename(L, -1));
    }
    if (is_wrong && asking->wrong[0] == '\0') {
        const char *message = lua_isstring(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1);
        snprintf(asking->wrong, CEILING_SAID_SIZE, "%s%s",
                 status != 0 ? "" : "ceiling must return a number of milliseconds above 0, or nil; not ", message);
    }
    lua_settop(L, function + 1);
}

static int ceiling_ask_call(lua_State *L)
{
    struct ceiling_asking *asking = check_job_begin(L);

    if (!script_shelf_load(L, asking->file) || lua_pcall(L, 0, 1, 0) != 0) {
        sandbox_check(L);
        return 0; // a finding already
    }
    lua_getfield(L, 1, "ceiling");
    if (!lua_isfunction(L, 2) || !push_search(L, asking)) {
        return 0;
    }
    lua_insert(L, 3);
    lua_settop(L, 3); // the file's table, its ceiling, the search
    asking->has_none = false;
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        ask_once(L, asking, 2, asking->is_backwards ? COUNT_OF(moments) - 1 - i : i);
    }
    return 0;
}

/// In a fresh state.
static void ceiling_ask(struct ceiling_asking *asking)
{
    struct check_job job = {
        .check = asking->check, .file = asking->file, .limit_us = CEILING_LIMIT_US, .work = asking
    };
    check_job_call(&job, ceiling_ask_call);
}

/// A message of a script has its own place; the file's name in front of it would be there twice.
static void report_wrong(const struct ceiling_asking *asking)
{
    uint32_t line = script_check_line_of(asking->file, "ceiling", 1);
    const char *message = asking->wrong;
    struct text path = asking->file->path;

    if (strncmp(message, path.data, path.length) == 0 && message[path.length] == ':') {
        char *rest = NULL;
        line = (uint32_t)strtoul(message + path.length + 1, &rest, 10);
        message = strncmp(rest, ": ", 2) == 0 ? rest + 2 : rest;
    }
    script_check_report(asking->check, asking->file, line, CODE_CEILING_IMPURE, CEILING_HELP, "%s", message);
}

void ceiling_check(struct script_check *check, const struct script_file *file, const struct script_supplier *supplier)
{
    struct ceiling_asking first = { .check = check, .file = file, .has_none = true };

    for (size_t i = 0; i < check->product_count && first.product == NULL; i++) {
        bool is_it = text_equals(check->products[i].name, supplier->product) && check->products[i].source.data != NULL;
        first.product = is_it ? &check->products[i] : NULL;
    }
    if (first.product == NULL) {
        return;
    }
    struct ceiling_asking second = first;
    second.is_backwards = true;
    ceiling_ask(&first);
    if (first.has_none || check->findings > 0) {
        return;
    }
    ceiling_ask(&second);
    if (first.wrong[0] != '\0') {
        report_wrong(&first);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        if (strcmp(first.said[i], second.said[i]) != 0) {
            script_check_report(check, file, script_check_line_of(file, "ceiling", 1), CODE_CEILING_IMPURE,
                                "let it depend on the search and on progress only: keep nothing between two calls",
                                "ceiling says %s, and in a fresh state %s, for the same search and progress",
                                first.said[i], second.said[i]);
            return;
        }
    }
}
