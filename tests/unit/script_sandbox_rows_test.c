// What a script can do to hold a thread, to fill memory or to get at what is not its own: row by row, and how each row
// ends. A timer of processor time stands for the watchdog: it signals this thread, as the watchdog does a worker.

#include "script/freeze.h"
#include "script/sandbox.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>
#include <lauxlib.h>

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
enum { HAS_LATE_SIGNALS = 1 }; // a loop of a script never makes the call in which they would come
#else
enum { HAS_LATE_SIGNALS = 0 };
#endif

enum { FIRST_SIGNAL_US = 20000, NEXT_SIGNAL_US = 5000, HANGS_S = 240 };

enum end { STOPS = 1, RAISES = 2, FILLS = 4, GIVES = 8 };

struct row {
    const char *name; // a sentence
    unsigned ends;    // any of these
    const char *text; // within the message, or all of the result; NULL: any
    const char *source;
};

#define LOOP "while true do end"

static const struct row rows[] = {
    // ---- loops, and what would catch their end
    { "a loop is stopped", STOPS, NULL, LOOP },
    { "a goto is stopped", STOPS, NULL, "::again:: goto again" },
    { "a loop that counts to infinity is stopped", STOPS, NULL, "for _ = 1, math.huge do end" },
    { "a loop of repeat is stopped", STOPS, NULL, "repeat until false" },
    { "a loop within pcall is stopped", STOPS, NULL, "pcall(function() " LOOP " end) return 'caught'" },
    { "a loop of pcall around a loop is stopped", STOPS, NULL, "while true do pcall(function() " LOOP " end) end" },
    { "a loop of failing pcalls is stopped", STOPS, NULL, "while true do pcall(error, 'x') end" },
    { "a loop of pcall(pcall) is stopped", STOPS, NULL, "while true do pcall(pcall, pcall, error) end" },
    { "a function that calls itself by pcall is stopped", STOPS, NULL, "local function f() pcall(f) pcall(f) end f()" },
    { "a loop within xpcall is stopped", STOPS, NULL, "xpcall(function() " LOOP " end, tostring) return 'caught'" },
    { "a loop in a handler of xpcall is stopped", STOPS, NULL, "xpcall(error, function() " LOOP " end)" },
    { "a handler that calls xpcall with itself ends", STOPS | RAISES, NULL,
      "local function h() xpcall(error, h) " LOOP " end xpcall(error, h)" },
    { "handlers within handlers end", RAISES, "nested too deeply", "local function h() xpcall(error, h) end h()" },
    { "a loop in an iterator is stopped", STOPS, NULL, "for _ in function() return 1 end do end" },

    // ---- metamethods
    { "a loop in __index is stopped", STOPS, NULL, "return setmetatable({}, { __index = function() " LOOP " end }).x" },
    { "a loop in __newindex is stopped", STOPS, NULL,
      "setmetatable({}, { __newindex = function() " LOOP " end }).x = 1" },
    { "a loop in __call is stopped", STOPS, NULL, "setmetatable({}, { __call = function() " LOOP " end })()" },
    { "a loop in __eq is stopped", STOPS, NULL,
      "local m = { __eq = function() " LOOP " end } return setmetatable({}, m) == setmetatable({}, m)" },
    { "a loop in __lt is stopped", STOPS, NULL,
      "local m = { __lt = function() " LOOP " end } return setmetatable({}, m) < setmetatable({}, m)" },
    { "a loop in __concat is stopped", STOPS, NULL,
      "return 'a' .. setmetatable({}, { __concat = function() " LOOP " end })" },
    { "a loop in __add is stopped", STOPS, NULL, "return 1 + setmetatable({}, { __add = function() " LOOP " end })" },
    { "a loop in __unm is stopped", STOPS, NULL, "return -setmetatable({}, { __unm = function() " LOOP " end })" },
    { "a loop in __tostring is stopped", STOPS, NULL,
      "return tostring(setmetatable({}, { __tostring = function() " LOOP " end }))" },
    { "a loop in __tostring within format is stopped", STOPS, NULL,
      "return ('%s'):format(setmetatable({}, { __tostring = function() " LOOP " end }))" },
    { "a loop in __lt within sort is stopped", STOPS, NULL,
      "local m = { __lt = function() " LOOP " end } table.sort({ setmetatable({}, m), setmetatable({}, m) })" },
    { "a loop in __index within gsub is stopped", STOPS, NULL,
      "return ('a'):gsub('a', setmetatable({}, { __index = function() " LOOP " end }))" },
    { "__gc of a table is never called", GIVES, "fine",
      "do local _ = setmetatable({}, { __gc = function() " LOOP " end }) end "
      "for i = 1, 90 do local _ = ('x'):rep(1e5 + i) end return 'fine'" },
    { "__len of a table is never asked", GIVES, "0", "return #setmetatable({}, { __len = function() " LOOP " end })" },
    { "an __index that is its own table is told", RAISES, "loop",
      "local t = {} setmetatable(t, { __index = t }) return t.x" },
    { "an error object with a looping __tostring is just an error", RAISES, NULL,
      "error(setmetatable({}, { __tostring = function() " LOOP " end }))" },
    { "an error object with a looping __index is just an error", RAISES, NULL,
      "error(setmetatable({}, { __index = function() " LOOP " end }))" },

    // ---- recursion
    { "endless recursion ends", RAISES, "stack overflow", "local function f() return 1 + f() end return f()" },
    { "endless tail calls are stopped", STOPS, NULL, "local function f() return f() end return f()" },
    { "recursion through __index ends", RAISES | FILLS, NULL,
      "local m = {} m.__index = function(t, k) local v = t[k .. 'x'] return v end return setmetatable({}, m).x" },
    { "recursion through tostring ends", RAISES | STOPS, NULL,
      "local m = {} m.__tostring = function(t) local s = tostring(t) return s end tostring(setmetatable({}, m))" },
    { "recursion through format ends", RAISES | STOPS, NULL,
      "local m = {} m.__tostring = function(t) return ('%s'):format(t) .. '' end tostring(setmetatable({}, m))" },
    { "recursion through gsub ends", RAISES, "nested too deeply",
      "local function f() return (('a'):gsub('a', f)) end f()" },
    { "recursion through gsub and __index ends", RAISES, "nested too deeply",
      "local m = {} m.__index = function() return (('a'):gsub('a', setmetatable({}, m))) end "
      "return ('a'):gsub('a', setmetatable({}, m))" },
    { "recursion through map ends", RAISES, "nested too deeply", "local function f() return map({ 1 }, f) end f()" },
    { "recursion through filter ends", RAISES, "nested too deeply",
      "local function f() return filter({ 1 }, f) end f()" },
    { "recursion through first ends", RAISES, "nested too deeply",
      "local function f() return first({ 1 }, f) end f()" },
    { "recursion through format ends", RAISES, "nested too deeply",
      "local t t = setmetatable({}, { __tostring = function() return ('%s'):format(t) end }) tostring(t)" },
    { "recursion through tostring ends", RAISES, "nested too deeply",
      "local t t = setmetatable({}, { __tostring = function() return tostring(t) end }) tostring(t)" },
    { "recursion through sort ends", RAISES, "nested too deeply",
      "local function f() table.sort({ 1, 2 }, f) end f()" },
    { "recursion through map ends", RAISES, NULL, "local function f() map({ 1 }, f) end f()" },
    { "recursion through filter and first ends", RAISES, NULL,
      "local function f() return filter({ 1 }, function() return first({ 1 }, f) end) end f()" },
    { "recursion through pcall ends", GIVES, "151",
      "local n = 0 local function f() n = n + 1 pcall(f) end f() return n" },
    { "a table within itself is no JSON", RAISES, NULL, "local t = {} t[1] = t return json.encode(t)" },
    { "a source of a thousand parentheses does not compile", RAISES, NULL, NULL }, // made below

    // ---- memory
    { "doubling a text fills its memory", FILLS, NULL, "local s = ('x'):rep(1000) while true do s = s .. s end" },
    { "doubling within pcall fills it too", FILLS, NULL,
      "local s = ('x'):rep(1000) while true do pcall(function() s = s .. s end) end" },
    { "rep of rep ends", RAISES | FILLS, NULL, "local s = 'x' while true do s = s:rep(1000) end" },
    { "a text of a gigabyte is refused", RAISES, "larger than 4 MiB", "return ('x'):rep(2 ^ 30)" },
    { "a separator of a gigabyte is refused", RAISES, "larger than 4 MiB", "return ('x'):rep(1e5, ('y'):rep(1e4))" },
    { "a list of 2^27 items ends", FILLS | STOPS, NULL, "local t = {} for i = 1, 2 ^ 27 do t[i] = i end" },
    { "tables within tables end", FILLS | STOPS, NULL, "local t = {} while true do t = { t, {}, {} } end" },
    { "closures without end fill memory", FILLS | STOPS, NULL,
      "local t = {} while true do local n = #t t[n + 1] = function() return n end end" },
    { "concat of one big text many times fills memory", FILLS, NULL,
      "local s, t = ('x'):rep(1e6), {} for i = 1, 1e4 do t[i] = s end return #table.concat(t)" },
    { "gsub that grows fills memory", FILLS | STOPS, NULL,
      "local s = ('x'):rep(1e5) return (s:gsub('x', ('y'):rep(1e5)))" },
    { "a list at a huge place is just a table", GIVES, "1", "local t = {} t[2 ^ 27] = 1 return t[2 ^ 27]" },

    // ---- functions of C
    { "a pattern bomb in find is stopped", STOPS, NULL, "return ('a'):rep(60):find(('a*'):rep(60) .. 'b')" },
    { "a pattern bomb in match is stopped", STOPS, NULL, "return string.match(('a'):rep(60), ('a-'):rep(60) .. 'b')" },
    { "a pattern bomb in gmatch is stopped", STOPS, NULL,
      "for _ in ('a'):rep(60):gmatch(('a?'):rep(60) .. ('a'):rep(60) .. 'b') do end " LOOP },
    { "a pattern bomb in gsub is stopped", STOPS, NULL, "return ('a'):rep(60):gsub(('(a*)'):rep(20) .. 'b', '')" },
    { "a pattern bomb within pcall is stopped", STOPS, NULL,
      "pcall(string.find, ('a'):rep(60), ('a*'):rep(60) .. 'b') return 'caught'" },
    { "a bomb of balanced pairs is stopped", STOPS, NULL, "return ('('):rep(1e6):find('%b()')" },
    { "a bomb of references is stopped", STOPS, NULL, "return ('a'):rep(1e5):find('(a*)%1(a*)%2b')" },
    { "a set of a million bytes over a million is stopped or over", STOPS | GIVES, NULL,
      "return tostring(('a'):rep(1e6):find('[' .. ('b'):rep(1e6) .. ']'))" },
    { "a replacement of a megabyte for each byte ends", STOPS | FILLS, NULL,
      "return #(('a'):rep(1e5):gsub('.', ('%%'):rep(5e5)))" },
    { "sort of equal long texts is stopped", STOPS, NULL,
      "local a, b, t = ('x'):rep(1e6) .. 1, ('x'):rep(1e6) .. 2, {} "
      "for i = 1, 20000 do t[i] = i % 3 == 0 and a or b end table.sort(t)" },
    { "sort by a function of C is stopped", STOPS | RAISES, NULL,
      "local s, t = ('x'):rep(1e6), {} for i = 1, 20000 do t[i] = s end table.sort(t, string.find)" },
    { "sort by a function that lies ends", RAISES | GIVES, NULL,
      "local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function() return true end) return 'sorted'" },
    { "map with a function of C is stopped", STOPS, NULL,
      "local s, t = ('x'):rep(1e6), {} for i = 1, 1e5 do t[i] = s end map(t, string.reverse)" },
    { "first with a function of C is stopped", STOPS, NULL,
      "local s, t = ('x'):rep(1e6), {} for i = 1, 1e5 do t[i] = s end first(t, function(v) return v:upper() == '' "
      "end)" },
    { "gsub with a function of C is stopped", STOPS | RAISES, NULL,
      "local s = ('x'):rep(1e6) return ((s .. ' '):rep(4):gsub('()(%S+)', string.rep))" },
    { "unpack of a hundred million is refused", RAISES, "too many results", "return unpack({}, 1, 1e8)" },
    { "select from a hundred million is refused", RAISES, NULL, "return select(1e9 * -1, 1)" },
    { "byte of a long text is refused", RAISES, "too long", "return ('x'):rep(1e6):byte(1, -1)" },
    { "a width of a hundred million is refused", RAISES, NULL, "return ('%99999999d'):format(1)" },
    { "a precision of a hundred million is refused", RAISES, NULL, "return ('%.99999999f'):format(1)" },
    { "insert far outside of a list is refused", RAISES, "outside of the list", "table.insert({}, -1e9, 1)" },
    { "sorting more keys than are sorted is refused", RAISES | FILLS, NULL,
      "local t = {} for i = 1, 50001 do t['k' .. i] = i end sorted_pairs(t)" },

    // ---- what is not there
    { "there is no coroutine", RAISES, "not available", "return coroutine.wrap(function() " LOOP " end)()" },
    { "there is no newproxy", RAISES, "not available", "return newproxy(true)" },
    { "there is no loadstring", RAISES, "not available", "return loadstring('return 1')()" },
    { "there is no load", RAISES, "not available", "return load(function() end)" },
    { "there is no dofile", RAISES, "not available", "return dofile('/etc/passwd')" },
    { "there is no getfenv", RAISES, "not available", "return getfenv(1)" },
    { "there is no setfenv", RAISES, "not available", "setfenv(1, {})" },
    { "there is no debug", RAISES, "not available", "return debug.sethook()" },
    { "there is no ffi", RAISES, "not available", "return ffi.C" },
    { "there is no _G", RAISES, "not available", "return _G.io" },
    { "there is no _ENV", RAISES, "unknown global", "return _ENV" },
    { "require finds no library of LuaJIT", RAISES, "there is no module", "return require('ffi')" },
    { "there is no string.dump", GIVES, "nil", "return tostring(string.dump)" },
    { "there is no string.gfind", GIVES, "nil", "return tostring(string.gfind) " },
    { "there is no table.foreach", GIVES, "nil", "return tostring(table.foreach)" },
    { "there is no math.random", GIVES, "nil", "return tostring(math.random)" },
    { "bytecode is refused", RAISES, "this is bytecode: scripts are loaded as text only", "\033LJ\002\002" },
    { "bytecode behind a comment is refused", RAISES, NULL, "#!\n\033LJ\002\002" },

    // ---- what is not its own
    { "a global cannot be set", RAISES, "cannot be set", "leak = 1" },
    { "the metatable of texts is not seen", GIVES, "nil", "return tostring(getmetatable(''))" },
    { "the metatable of texts cannot be set", RAISES, NULL, "setmetatable('', {})" },
    { "a text has no fields to write", RAISES, NULL, "('').find = nil" },
    { "a text's methods are not a table to write", RAISES, NULL, "('').find.x = 1" },
    { "a library cannot be changed", RAISES, "read-only", "string.find = nil" },
    { "rawset changes no library", RAISES, NULL, "rawset(string, 'find', nil)" },
    { "the metatable of a library is not seen", GIVES, "nil", "return tostring(getmetatable(string))" },
    { "the metatable of a library cannot be set", RAISES, NULL, "setmetatable(json, { __index = {} })" },
    { "what require gives cannot be changed", RAISES, "read-only", "require('counter').count = nil" },
    { "a helper cannot be replaced", RAISES, "cannot be set", "map = function() end" },
};

// ---- running them

struct job {
    const char *source;
    char text[512];
};

static struct sandbox *sandbox;

static bool find_module(void *context, struct text name, struct text *path, struct text *source)
{
    (void)context;
    *path = TEXT("counter.lua");
    *source = TEXT("local n = 0 local M = {} function M.count() n = n + 1 return n end return M");
    return text_equals_c(name, "counter");
}

static int run_chunk(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    if (!sandbox_load(L, TEXT("t.lua"), text_of(job->source))) {
        return lua_error(L);
    }
    lua_call(L, 0, 1);
    const char *text = lua_tostring(L, -1);
    snprintf(job->text, sizeof job->text, "%s", text == NULL ? lua_typename(L, lua_type(L, -1)) : text);
    return 0;
}

static void on_error(lua_State *L, void *context)
{
    struct job *job = context;
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : lua_typename(L, lua_type(L, -1));
    snprintf(job->text, sizeof job->text, "%s", text);
}

static void on_signal(int signal)
{
    (void)signal;
    sandbox_interrupt(sandbox);
}

static void set_timer(suseconds_t first_us)
{
    const struct itimerval times = { .it_value.tv_usec = first_us,
                                     .it_interval.tv_usec = first_us == 0 ? 0 : NEXT_SIGNAL_US };
    assert_int_equal(setitimer(ITIMER_VIRTUAL, &times, NULL), 0);
}

static void renew(void)
{
    sandbox_destroy(&sandbox);
    sandbox = sandbox_create(16 << 20, find_module, NULL);
    assert_non_null(sandbox);
}

/// Runs it as a worker does: stopped when it has used up its time.
static enum sandbox_result run_limited(struct job *job)
{
    if (sandbox->heap.is_exhausted) {
        renew();
    }
    alarm(HANGS_S); // whatever cannot be stopped ends the test
    set_timer(HAS_LATE_SIGNALS ? 0 : FIRST_SIGNAL_US);
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, on_error, job);
    set_timer(0);
    sandbox_calm(sandbox);
    alarm(0);
    return result;
}

static enum end end_of(enum sandbox_result result)
{
    switch (result) {
    case SANDBOX_OK:
        return GIVES;
    case SANDBOX_ERROR:
        return RAISES;
    case SANDBOX_STOPPED:
        return STOPS;
    case SANDBOX_OUT_OF_MEMORY:
        break;
    }
    return FILLS;
}

/// Whatever happened, the next one finds all as it was.
static void assert_next_is_fine(void)
{
    struct job job = { .source = "assert(not pcall(function() return leak end)) local n = require('counter').count() "
                                 "return ('%d %s'):format(n, ('abc'):match('b')) .. #map({ 1 }, tostring)" };
    if (sandbox->heap.is_exhausted) {
        renew();
    }
    assert_int_equal(sandbox_call(sandbox, run_chunk, on_error, &job), SANDBOX_OK);
    assert_string_equal(job.text, "1 b1");
}

static void run_row(void **state)
{
    const struct row *row = *state;
    char parentheses[2100] = "return ";
    struct job job = { .source = row->source };

    if ((row->ends & STOPS) != 0 && HAS_LATE_SIGNALS) {
        skip();
    }
    if (job.source == NULL) {
        memset(parentheses + 7, '(', 1000);
        parentheses[1007] = '1';
        job.source = parentheses;
    }
    enum sandbox_result result = run_limited(&job);
    if ((end_of(result) & row->ends) == 0) {
        fail_msg("ended as %d: %s", (int)end_of(result), job.text);
    }
    if (row->text != NULL && end_of(result) == GIVES) {
        assert_string_equal(job.text, row->text);
    } else if (row->text != NULL && end_of(result) == RAISES && strstr(job.text, row->text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", row->text, job.text);
    }
    assert_next_is_fine();
}

static void two_suppliers_do_not_meet_in_a_module(void **state)
{
    struct job first = { .source = "local c = require('counter') c.count() c.count() return c.count()" };
    struct job second = { .source = "return require('counter').count() + require('counter').count()" };
    (void)state;
    assert_int_equal(run_limited(&first), SANDBOX_OK);
    assert_string_equal(first.text, "3");
    assert_int_equal(run_limited(&second), SANDBOX_OK);
    assert_string_equal(second.text, "3"); // one copy for the two calls of its own, and none of the other's
}

static void a_call_logs_twenty_lines_and_the_rest_is_counted(void **state)
{
    struct job job = { .source = "for i = 1, 100 do log.debug('line ' .. i) end return 'done'" };
    (void)state;
    for (int call = 0; call < 2; call++) {
        assert_int_equal(run_limited(&job), SANDBOX_OK);
        assert_int_equal(sandbox->log_lines, SANDBOX_LOG_LINES);
        assert_int_equal(sandbox->met_limits[SCRIPT_LIMIT_LOG], 100 - SANDBOX_LOG_LINES);
    }
}

static void steps_of_c_end_a_call_when_nobody_else_does(void **state)
{
    struct job job = { .source = "local n\nn = ('a'):rep(60):find(('a*'):rep(60) .. 'b')\nreturn n" };
    (void)state;
    sandbox->end_cpu_us = 1; // long past
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, on_error, &job);
    sandbox->end_cpu_us = 0;
    assert_int_equal(result, SANDBOX_STOPPED);
    assert_string_equal(sandbox->stopped_at, "t.lua:2");
    assert_next_is_fine();
}

static void a_stop_tells_the_line_that_ran(void **state)
{
    struct job loop = { .source =
                            "local n = 0\nlocal function f()\n  while true do n = n + 1 end\nend\nf()\nreturn n" };
    struct job tail = { .source = "return ('a'):rep(60):find(('a*'):rep(60) .. 'b')" }; // leaves no line behind

    (void)state;
    if (HAS_LATE_SIGNALS) {
        skip();
    }
    assert_int_equal(run_limited(&loop), SANDBOX_STOPPED);
    assert_string_equal(sandbox->stopped_at, "t.lua:3");
    assert_next_is_fine();
    sandbox->end_cpu_us = 1;
    enum sandbox_result result = sandbox_call(sandbox, run_chunk, on_error, &tail);
    sandbox->end_cpu_us = 0;
    assert_int_equal(result, SANDBOX_STOPPED);
    assert_string_equal(sandbox->stopped_at, "in a tail call");
    assert_next_is_fine();
}

static int open_all(void **state)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    (void)state;
    sigaction(SIGVTALRM, &action, NULL);
    renew();
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    sandbox_destroy(&sandbox);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[COUNT_OF(rows) + 4] = {
        cmocka_unit_test(two_suppliers_do_not_meet_in_a_module),
        cmocka_unit_test(a_call_logs_twenty_lines_and_the_rest_is_counted),
        cmocka_unit_test(steps_of_c_end_a_call_when_nobody_else_does),
        cmocka_unit_test(a_stop_tells_the_line_that_ran),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        tests[4 + i] = (struct CMUnitTest){ .name = rows[i].name,
                                            .test_func = run_row,
                                            .initial_state = (void *)(uintptr_t)&rows[i] };
    }
    return cmocka_run_group_tests_name("script_sandbox_rows", tests, open_all, close_all);
}
