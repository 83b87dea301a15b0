// To stop a script, its own thread (in a signal handler) sets a hook for the next instruction; the hook raises an
// error. The hook stays in place with count 1, so whatever would catch the error meets the next one at once.

#include "script/sandbox.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/redact.h"
#include "script/freeze.h"
#include "script/sandbox_globals.h"

#include <lauxlib.h>
#include <luajit.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_AT_ONCE = 1 << 14, // of C code, between two looks at the stop
    STEPS_MAX = 1 << 30,     // in one call, should nobody stop it
    CALL_STEPS = 1 << 10,    // that a call of who knows what counts for
    GARBAGE_SHARE = 12,      // of the cap that garbage may take up between calls
    CALL_SHARE = 4,          // of the cap that a call may add before the collector starts
    BOUND_STEPS = 10000,     // of Lua code, between two looks at the time
};

#if defined(__SANITIZE_THREAD__)
/// LuaJIT is not built with the thread sanitizer. Its memory moves between threads with mremap, which the sanitizer
/// does not see; without this it reports memcpy calls of LuaJIT in memory that another thread's state had before.
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1";
}
#endif

bool sandbox_has(lua_State *L)
{
    void *context;
    return lua_getallocf(L, &context) == heap_allocate;
}

struct sandbox *sandbox_of(lua_State *L)
{
    void *context;
    (void)lua_getallocf(L, &context);
    return CONTAINER_OF((struct heap *)context, struct sandbox, heap);
}

/// Nothing raises outside of a protected call; if it did, this would be a bug.
static int sandbox_on_panic(lua_State *L)
{
    (void)L;
    check_failed(__FILE__, __LINE__, "a Lua error outside of a protected call");
}

static int sandbox_open(lua_State *L)
{
    trouble_open(L);
    sandbox_globals_open(L);
    bind_crypto_set_seed(L, &sandbox_of(L)->seed);
    return 0;
}

/// C code looks here now and then whether it must stop.
static bool sandbox_refill(struct pattern_allowance *allowance)
{
    struct sandbox *sandbox = CONTAINER_OF(allowance, struct sandbox, allowance);

    sandbox->steps += (uint64_t)(STEPS_AT_ONCE - allowance->left);
    allowance->left = STEPS_AT_ONCE;
    return !sandbox_is_interrupted(sandbox->L) && sandbox->steps < STEPS_MAX &&
           (sandbox->end_cpu_us == 0 || clock_thread_cpu_us() < sandbox->end_cpu_us);
}

struct sandbox *sandbox_create(size_t growth_cap, sandbox_find_module find_module, void *context)
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);
    if (sandbox == NULL) {
        return NULL;
    }
    heap_init(&sandbox->heap);
    lua_State *L = lua_newstate(heap_allocate, &sandbox->heap);
    if (L == NULL) {
        heap_fini(&sandbox->heap);
        free(sandbox);
        return NULL;
    }
    sandbox->L = L;
    sandbox->allowance.refill = sandbox_refill;
    sandbox->log_most = SANDBOX_LOG_LINES;
    sandbox->find_module = find_module;
    sandbox->find_context = context;
    lua_atpanic(L, sandbox_on_panic);
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF | LUAJIT_MODE_FLUSH);
    if (lua_cpcall(L, sandbox_open, NULL) != 0) {
        sandbox_destroy(&sandbox);
        return NULL;
    }
    lua_settop(L, 0);
    sandbox->growth_cap = growth_cap;
    sandbox->used_live = sandbox->heap.used;
    return sandbox;
}

void sandbox_destroy(struct sandbox **sandbox)
{
    if (*sandbox == NULL) {
        return;
    }
    (*sandbox)->heap.limit = SIZE_MAX;
    lua_close((*sandbox)->L);
    heap_fini(&(*sandbox)->heap);
    free(*sandbox);
    *sandbox = NULL;
}

static void sandbox_on_hook(lua_State *L, lua_Debug *where)
{
    struct sandbox *sandbox = sandbox_of(L);

    if (!sandbox->is_stopped) {
        sandbox->is_stopped = true;
        if (lua_getinfo(L, "Sl", where) != 0) {
            snprintf(sandbox->stopped_at, sizeof sandbox->stopped_at, "%s:%d", where->short_src, where->currentline);
        }
    }
    lua_sethook(L, sandbox_on_hook, LUA_MASKCOUNT, 1);
    lua_pushnil(L);
    lua_error(L);
}

bool sandbox_is_interrupted(lua_State *L)
{
    return lua_gethook(L) == sandbox_on_hook; // so that a state without a sandbox can be asked too
}

void sandbox_refuse_if_pure(lua_State *L, const char *what)
{
    struct sandbox *sandbox = sandbox_of(L);

    if (sandbox->pure != NULL) {
        sandbox->was_impure = true;
        trouble_code(L, CODE_IMPURE);
        luaL_error(L, "%s is not available within %s, which sees no clock, randomness or state", what, sandbox->pure);
    }
    sandbox->effects++;
}

/// The innermost line of a script; a function that was left by a tail call is not known any more.
static void sandbox_keep_place(lua_State *L, struct sandbox *sandbox)
{
    lua_Debug where;

    for (int level = 1; lua_getstack(L, level, &where) != 0 && lua_getinfo(L, "Sl", &where) != 0; level++) {
        if (where.currentline >= 0) {
            snprintf(sandbox->stopped_at, sizeof sandbox->stopped_at, "%s:%d", where.short_src, where.currentline);
            return;
        }
    }
    snprintf(sandbox->stopped_at, sizeof sandbox->stopped_at, "in a tail call");
}

void sandbox_stop(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);

    if (!sandbox->is_stopped) {
        sandbox->is_stopped = true;
        sandbox_keep_place(L, sandbox);
    }
    lua_pushnil(L);
    lua_error(L);
}

void sandbox_stop_here(lua_State *L)
{
    if (sandbox_is_interrupted(L)) {
        sandbox_stop(L);
    }
}

// ---- the steps of C code

struct pattern_allowance *sandbox_allowance(lua_State *L)
{
    return &sandbox_of(L)->allowance;
}

void sandbox_spend(lua_State *L, size_t steps)
{
    if (sandbox_has(L) && !pattern_spend(sandbox_allowance(L), steps)) {
        sandbox_stop(L);
    }
}

void sandbox_called_back(lua_State *L)
{
    sandbox_stop_here(L);
    sandbox_spend(L, CALL_STEPS);
}

void sandbox_note_limit(lua_State *L, enum script_limit limit)
{
    if (sandbox_has(L)) {
        sandbox_of(L)->met_limits[limit]++;
    }
}

bool sandbox_may_log(lua_State *L)
{
    if (!sandbox_has(L)) {
        return true;
    }
    struct sandbox *sandbox = sandbox_of(L);
    if (sandbox->log_lines >= sandbox->log_most) {
        sandbox_note_limit(L, SCRIPT_LIMIT_LOG);
        return false;
    }
    sandbox->log_lines++;
    sandbox->effects++;
    return true;
}

uint64_t sandbox_effects(lua_State *L)
{
    return sandbox_has(L) ? sandbox_of(L)->effects : 0;
}

void sandbox_copy_message(lua_State *L, char *place, size_t size, const char *message)
{
    size_t length = strlen(message);

    if (length >= size) {
        sandbox_note_limit(L, SCRIPT_LIMIT_MESSAGE);
        length = size - 1;
        while (length > 0 && ((unsigned char)message[length] & 0xc0) == 0x80) {
            length--; // not within a character
        }
    }
    memcpy(place, message, length);
    length = redact_apply(place, length, message[length] != '\0'); // while what was cut can still be told
    place[plain_strip(place, length)] = '\0';
}

uint32_t sandbox_nest(lua_State *L, const char *what)
{
    if (!sandbox_has(L)) {
        return 0;
    }
    struct sandbox *sandbox = sandbox_of(L);
    sandbox_check(L);
    if (sandbox->depth >= SANDBOX_MAX_DEPTH) {
        trouble_code(L, CODE_TOO_DEEP);
        luaL_error(L, "%s is nested too deeply (at most %d)", what, SANDBOX_MAX_DEPTH);
    }
    return sandbox->depth++;
}

void sandbox_unnest(lua_State *L, uint32_t depth)
{
    if (sandbox_has(L)) {
        sandbox_of(L)->depth = depth;
    }
}

void sandbox_interrupt(struct sandbox *sandbox)
{
    sandbox->is_interrupted = 1;
    lua_sethook(sandbox->L, sandbox_on_hook, LUA_MASKCOUNT, 1);
}

static void sandbox_on_count(lua_State *L, lua_Debug *where)
{
    struct sandbox *sandbox = sandbox_of(L);
    (void)where;

    if (clock_thread_cpu_us() > sandbox->end_cpu_us) {
        sandbox_interrupt(sandbox);
    }
}

void sandbox_bound(lua_State *L, uint64_t limit_us)
{
    sandbox_of(L)->end_cpu_us = clock_thread_cpu_us() + limit_us;
    lua_sethook(L, sandbox_on_count, LUA_MASKCOUNT, BOUND_STEPS);
}

void sandbox_unbound(struct sandbox *sandbox)
{
    sandbox->end_cpu_us = 0;
    sandbox->is_interrupted = 0;
    lua_sethook(sandbox->L, NULL, 0, 0);
}

void sandbox_check(lua_State *L)
{
    const struct sandbox *sandbox = sandbox_of(L);
    if (sandbox->is_stopped || sandbox->heap.is_exhausted) {
        lua_pushnil(L);
        lua_error(L);
    }
}

void sandbox_collect(struct sandbox *sandbox)
{
    sandbox->heap.limit = SIZE_MAX; // the collector may not fail here, where nothing is protected
    lua_gc(sandbox->L, LUA_GCCOLLECT, 0);
    sandbox->used_live = sandbox->heap.used;
}

/// A full collection before a call, when the garbage of earlier ones is worth it. Within the call the collector starts
/// only after it has added a share of its cap: LuaJIT knows that threshold as a percentage of what is in use.
static void sandbox_begin(struct sandbox *sandbox)
{
    struct heap *heap = &sandbox->heap;

    if (sandbox->growth_cap != 0) {
        if (heap->used > sandbox->used_live + sandbox->growth_cap / GARBAGE_SHARE) {
            sandbox_collect(sandbox);
        }
        heap->limit = heap->used + sandbox->growth_cap;
        lua_gc(sandbox->L, LUA_GCSETPAUSE, (int)(100 + sandbox->growth_cap / CALL_SHARE / (heap->used / 100 + 1)));
        lua_gc(sandbox->L, LUA_GCRESTART, -1);
    }
    sandbox->allowance.left = 0;
    sandbox->steps = 0;
    sandbox->log_lines = 0;
    memset(sandbox->met_limits, 0, sizeof sandbox->met_limits);
    sandbox->is_stopped = false;
    sandbox->pure = NULL;
    sandbox->was_impure = false;
    sandbox->depth = 0;
    sandbox->stopped_at[0] = '\0';
    trouble_begin(&sandbox->trouble);
}

struct sandbox_job {
    lua_CFunction function;
    void (*on_error)(lua_State *L, void *context);
    void *context;
    bool has_failed;
};

static int sandbox_run(lua_State *L)
{
    struct sandbox_job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    trouble_push_handler(L);
    lua_pushcfunction(L, job->function);
    lua_pushlightuserdata(L, job->context);
    int status = lua_pcall(L, 1, 0, 1);
    if (status == LUA_ERRMEM) {
        sandbox_of(L)->heap.is_exhausted = true;
    }
    if (status == 0) {
        return 0;
    }
    sandbox_check(L);
    trouble_settle(L, status);
    job->has_failed = true;
    if (job->on_error != NULL) {
        job->on_error(L, job->context);
    }
    return 0;
}

enum sandbox_result sandbox_call(struct sandbox *sandbox, lua_CFunction function,
                                 void (*on_error)(lua_State *L, void *context), void *context)
{
    struct sandbox_job job = { .function = function, .on_error = on_error, .context = context };

    require(!sandbox->heap.is_exhausted);
    sandbox_begin(sandbox);
    int status = lua_cpcall(sandbox->L, sandbox_run, &job);
    lua_settop(sandbox->L, 0);
    if (sandbox->heap.is_exhausted || status == LUA_ERRMEM) {
        sandbox->heap.is_exhausted = true;
        return SANDBOX_OUT_OF_MEMORY;
    }
    if (sandbox->is_stopped) {
        return SANDBOX_STOPPED;
    }
    return status == 0 && !job.has_failed ? SANDBOX_OK : SANDBOX_ERROR;
}

void sandbox_calm(struct sandbox *sandbox)
{
    if (sandbox->is_interrupted != 0) {
        sandbox->is_interrupted = 0;
        lua_sethook(sandbox->L, NULL, 0, 0);
    }
}

bool sandbox_compile(lua_State *L, struct text path, struct text source)
{
    lua_pushliteral(L, "@");
    lua_pushlstring(L, path.data, path.length);
    lua_concat(L, 2);
    int status = luaL_loadbufferx(L, source.data, source.length, lua_tostring(L, -1), "t");
    lua_remove(L, -2);
    if (status != 0) {
        sandbox_check(L);
        if (strstr(lua_tostring(L, -1), "wrong mode") != NULL) { // LuaJIT's words for a chunk that is no text
            lua_pop(L, 1);
            lua_pushlstring(L, path.data, path.length);
            lua_pushliteral(L, ":1: this is bytecode: scripts are loaded as text only");
            lua_concat(L, 2);
        }
        return false;
    }
    return true;
}

bool sandbox_load(lua_State *L, struct text path, struct text source)
{
    if (!sandbox_compile(L, path, source)) {
        return false;
    }
    sandbox_globals_push_environment(L);
    lua_setfenv(L, -2);
    return true;
}
