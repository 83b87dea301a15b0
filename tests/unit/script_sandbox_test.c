// The sandbox by itself: what scripts find in it, what is read-only, and what cannot be caught.

#include "script/freeze.h"
#include "script/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>

struct job {
    const char *source;
    char message[512];
    char result[512];
};

static bool find_module(void *context, struct text name, struct text *path, struct text *source)
{
    (void)context;
    *path = TEXT("shared.lua");
    *source = TEXT("local M = { list = { 1, 2, 3 } } function M.count() return #M.list end return M");
    return text_equals_c(name, "shared");
}

/// Two chunks, each with an environment of its own, see the frozen table `given` as their argument.
static int run_chunk(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(job->source))) {
        return lua_error(L);
    }
    lua_newtable(L);
    lua_newtable(L);
    for (int i = 1; i <= 3; i++) {
        lua_pushinteger(L, i * 10);
        lua_rawseti(L, -2, i);
    }
    lua_setfield(L, -2, "list");
    lua_pushliteral(L, "word");
    lua_setfield(L, -2, "text");
    freeze_deep(L);
    lua_call(L, 1, 1);
    const char *text = lua_tostring(L, -1);
    snprintf(job->result, sizeof job->result, "%s", text == NULL ? lua_typename(L, lua_type(L, -1)) : text);
    return 0;
}

static void on_error(lua_State *L, void *context)
{
    struct job *job = context;
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : lua_typename(L, lua_type(L, -1));
    snprintf(job->message, sizeof job->message, "%s", text);
}

static struct sandbox *sandbox;

static int open_sandbox(void **state)
{
    (void)state;
    sandbox = sandbox_create(4 << 20, find_module, NULL);
    assert_non_null(sandbox);
    return 0;
}

static int close_sandbox(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

static void assert_gives(const char *source, const char *wanted)
{
    struct job job = { .source = source };
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, on_error, &job);
    if (result != SANDBOX_OK) {
        fail_msg("%s: %s", source, job.message);
    }
    assert_string_equal(job.result, wanted);
}

static void assert_raises(const char *source, const char *wanted)
{
    struct job job = { .source = source };
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, on_error, &job);
    assert_int_equal(result, SANDBOX_ERROR);
    if (strstr(job.message, wanted) == NULL) {
        fail_msg("%s: \"%s\" is not in \"%s\"", source, wanted, job.message);
    }
}

static void a_frozen_table_reads_like_any_other(void **state)
{
    (void)state;
    assert_gives("local t = ... return #t.list", "3");
    assert_gives("local t = ... return t.list[2]", "20");
    assert_gives("local t = ... return tostring(t.none)", "nil");
    assert_gives("local t = ... return type(t) .. type(t.list)", "tabletable");
    assert_gives("local t, s = ..., 0 for i, v in ipairs(t.list) do s = s + i * v end return s", "140");
    assert_gives("local t, s = ..., 0 for _, v in pairs(t.list) do s = s + v end return s", "60");
    assert_gives(
        "local t, n = ..., {} for k in pairs(t) do n[#n + 1] = k end table.sort(n) return table.concat(n, ',')",
        "list,text");
    assert_gives("local t = ... return next(t.list)", "1");
    assert_gives("local t = ... return table.concat(t.list, '-')", "10-20-30");
    assert_gives("local t = ... return select('#', unpack(t.list))", "3");
    assert_gives("local t = ... return rawget(t, 'text')", "word");
    assert_gives("local t = ... return json.encode(t)", "{\"list\":[10,20,30],\"text\":\"word\"}");
    assert_gives("local t = ... return map(t.list, function(v) return v + 1 end)[3]", "31");
    assert_gives("local t = ... return t.list == t.list", "boolean");
}

static void a_write_to_what_is_shared_raises_with_the_line(void **state)
{
    (void)state;
    assert_raises("local t = ...\nt.text = 1", "t.lua:2: this table is read-only: field \"text\" cannot be set");
    assert_raises("local t = ...\nt.more = 1", "t.lua:2: this table is read-only");
    assert_raises("local t = ...\nt.list[1] = 1", "t.lua:2: this table is read-only: item [1]");
    assert_raises("local t = ...\ntable.insert(t.list, 4)", "t.lua:2: this table is read-only");
    assert_raises("local t = ...\ntable.sort(t.list)", "read-only");
    assert_raises("local t = ...\ntable.remove(t.list)", "read-only");
    assert_raises("local t = ...\nrawset(t, 'text', 1)", "t.lua:2: ");
    assert_raises("string.upper = nil", "read-only");
    assert_raises("json.encode = nil", "read-only");
    assert_raises("setmetatable(..., {})", "");
    assert_gives("return tostring(getmetatable(...))", "nil");
    assert_gives("return tostring(getmetatable(''))", "nil");
    assert_gives("return ('ab'):upper()", "AB");
}

static void modules_are_shared_and_read_only(void **state)
{
    (void)state;
    assert_gives("return require('shared').count()", "3");
    assert_gives("return #require('shared').list", "3");
    assert_raises("require('shared').list[1] = 9", "read-only");
    assert_raises("require('shared').extra = 9", "read-only");
    assert_gives("return require('shared').count()", "3");
}

static void what_scripts_must_not_have_is_not_there(void **state)
{
    static const char *const names[] = { "io",      "os",     "ffi",      "jit",      "debug",          "package",
                                         "load",    "dofile", "newproxy", "loadfile", "loadstring",     "getfenv",
                                         "setfenv", "_G",     "module",   "print",    "collectgarbage", "coroutine" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char source[64];
        snprintf(source, sizeof source, "return %s", names[i]);
        assert_raises(source, "is not available to scripts");
    }
    assert_gives("return tostring(string.dump)", "nil");
    assert_gives("return tostring(math.random)", "nil");
    assert_raises("return jsn", "t.lua:1: unknown global \"jsn\": did you mean \"json\"?");
    assert_raises("return fail.qouta", "t.lua:1: there is no fail.qouta: did you mean fail.quota?");
    assert_raises("return crypto[7]", "t.lua:1: there is no crypto.");
    assert_gives("return tostring(rawget(crypto, 'hmack'))", "nil");
    assert_raises("leak = 1", "t.lua:1: global \"leak\" cannot be set");
    assert_raises("\033LJ\002\002", "");
}

static void long_and_deep_calls_into_c_are_bounded(void **state)
{
    (void)state;
    assert_raises("return ('x'):rep(1e9)", "larger than 4 MiB");
    assert_raises("return ('x'):rep(1e5, ('y'):rep(1000))", "larger than 4 MiB");
    assert_gives("return #(''):rep(1e15)", "0");
    assert_raises("table.sort({ 1, 2, \"3\" })", "attempt to compare");
    assert_raises("table.insert({}, -1e9, 1)", "outside of the list");
    assert_raises("local function f() return (('a'):gsub('a', f)) end f()", "nested too deeply");
    assert_raises("local function f() table.sort({ 1, 2 }, f) end f()", "nested too deeply");
    assert_gives("local n = 0 local function f() n = n + 1 pcall(f) end f() return n", "151");
    assert_raises("local function h() xpcall(error, h) end h()", "nested too deeply");
}

static void errors_are_caught_as_in_lua(void **state)
{
    (void)state;
    assert_gives("local ok, e = pcall(error, 'x', 0) return tostring(ok) .. e", "falsex");
    assert_gives("return select('#', pcall(function(...) return ... end, 1, nil, 3))", "4");
    assert_gives("local ok, e = xpcall(function() error('x', 0) end, function(m) return m .. '!' end) return e", "x!");
    assert_gives("return select(3, xpcall(function(a, b) return a, b end, error, 1, 2))", "2");
}

static int interrupt_and_run(lua_State *L)
{
    sandbox_interrupt(sandbox_of(L));
    return run_chunk(L);
}

static void a_stop_cannot_be_caught(void **state)
{
    static const char *const sources[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() return 1 end) end",
        "local function f() pcall(f) pcall(f) end f()",
        "pcall(require, 'shared') while true do end",
        "return ('a'):gsub('a', function() while true do end end)",
        "local m = { __index = function() while true do end end } pcall(function() return setmetatable({}, m).x end)",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        struct job job = { .source = sources[i] };
        assert_int_equal(sandbox_call(sandbox, interrupt_and_run, on_error, &job), SANDBOX_STOPPED);
        sandbox_calm(sandbox);
        assert_gives("return 1", "1");
    }
}

static void out_of_memory_cannot_be_caught(void **state)
{
    struct job job = { .source = "local s = ('x'):rep(1000) while true do pcall(function() s = s .. s end) end" };
    (void)state;
    assert_int_equal(sandbox_call(sandbox, run_chunk, on_error, &job), SANDBOX_OUT_OF_MEMORY);
}

static void garbage_of_earlier_calls_is_no_reason_to_refuse(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_gives("local t = {} for i = 1, 20 do t[i] = ('x'):rep(50000 + i) end return #t", "20");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frozen_table_reads_like_any_other, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(a_write_to_what_is_shared_raises_with_the_line, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(modules_are_shared_and_read_only, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(what_scripts_must_not_have_is_not_there, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(long_and_deep_calls_into_c_are_bounded, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(errors_are_caught_as_in_lua, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(a_stop_cannot_be_caught, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(out_of_memory_cannot_be_caught, open_sandbox, close_sandbox),
        cmocka_unit_test_setup_teardown(garbage_of_earlier_calls_is_no_reason_to_refuse, open_sandbox, close_sandbox),
    };
    return cmocka_run_group_tests_name("script_sandbox", tests, NULL, NULL);
}
