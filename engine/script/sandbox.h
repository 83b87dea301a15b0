/// Sandbox: one Lua state for scripts nobody trusts.
///
/// Its memory is a heap of its own, which refuses what grows past the cap of a call. Garbage is collected between
/// calls, within one only when it makes a lot of it. The JIT is off. Chunks are text, run in an environment of their
/// own over allow-listed, read-only globals. A stopped or out-of-memory call cannot be caught by its script: pcall and
/// xpcall pass those two on.
///
/// Threads: one owner at a time; sandbox_interrupt belongs into a signal handler of the owner's thread.
/// Memory:  owns the state. After out of memory the sandbox must be destroyed, never used again.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "model/script_limit.h"
#include "script/bind.h"
#include "script/heap.h"
#include "script/pattern.h"
#include "script/trouble.h"

#include <lua.h>

#include <signal.h>

enum {
    SANDBOX_MAX_DEPTH = 150, // functions that call back, within each other
    SANDBOX_LOG_LINES = 20,  // that a call may log
};

/// Where `require` looks: the module's path (for errors) and source. False: there is none.
typedef bool (*sandbox_find_module)(void *context, struct text name, struct text *path, struct text *source);

struct data_set; // model/data_set.h

struct sandbox {
    lua_State *L;
    struct heap heap;
    size_t used_live;  // of the heap, after the last full collection
    size_t growth_cap; // bytes a call may add; 0: no cap
    bool is_stopped;   // the hook has raised its error
    uint32_t depth;
    char stopped_at[128];
    volatile sig_atomic_t is_interrupted;
    struct pattern_allowance allowance;      // steps of C code until it looks whether it must stop
    uint64_t steps;                          // that the call in hand was given so far
    uint64_t end_cpu_us;                     // of the thread's CPU time, when C code stops by itself; 0: never
    uint32_t log_most;                       // lines that a call may log
    uint32_t log_lines;                      // that the call in hand has logged
    uint64_t effects;                        // counted by sandbox_effects
    uint64_t met_limits[SCRIPT_LIMIT_COUNT]; // by the call in hand
    sandbox_find_module find_module;
    void *find_context;      // of the file that is loaded next; its `require` keeps it
    struct data_set *data;   // what `lookup` reads; borrowed; NULL: none
    struct crypto_seed seed; // of `crypto`'s randomness
    const char *pure;        // the function within which nothing may differ from call to call; NULL: none
    bool was_impure;         // it tried what no such function may
    struct trouble trouble;  // what the error of the call in hand is told of
};

/// A state with its globals; NULL without memory. `find_module` may be NULL: `require` then finds nothing.
MUST_CHECK struct sandbox *sandbox_create(size_t growth_cap, sandbox_find_module find_module, void *context);
void sandbox_destroy(struct sandbox **sandbox);

/// Is it the state of a sandbox? Bindings are also used in plain ones, by tests and tools.
bool sandbox_has(lua_State *L);

/// The sandbox that a state belongs to.
struct sandbox *sandbox_of(lua_State *L);

enum sandbox_result { SANDBOX_OK, SANDBOX_ERROR, SANDBOX_STOPPED, SANDBOX_OUT_OF_MEMORY };

/// Runs `function` protected, with `context` as its one argument (a light userdata), on an empty stack. After a plain
/// error `on_error` is called, still protected, with the error value on top of the stack; it may be NULL. A call
/// begins: what was stopped before is forgotten.
enum sandbox_result sandbox_call(struct sandbox *sandbox, lua_CFunction function,
                                 void (*on_error)(lua_State *L, void *context), void *context);

/// Makes the running script stop at its next instruction. Async-signal-safe.
void sandbox_interrupt(struct sandbox *sandbox);

/// Has the running script been told to stop? C code of ours that may run long asks now and then, frees what it holds
/// and calls sandbox_stop_here; otherwise its thread is given up for lost and the script quarantined.
bool sandbox_is_interrupted(lua_State *L);

/// Within a protected call: raises the stop when there is one.
void sandbox_stop_here(lua_State *L);

/// Within a protected call: raises the stop, whoever wants it.
void sandbox_stop(lua_State *L);

/// C code that works through much of a script's data takes steps off its allowance, about one for a nanosecond or two;
/// raises the stop when there is one, or when a call has used up all the steps that any call gets.
void sandbox_spend(lua_State *L, size_t steps);
struct pattern_allowance *sandbox_allowance(lua_State *L);

/// C code that calls a function of a script's choice, again and again, calls this each time: the function may be one of
/// C, which no hook ends.
void sandbox_called_back(lua_State *L);

/// Counts that the call in hand met a limit.
void sandbox_note_limit(lua_State *L, enum script_limit limit);

/// Counts a line that is about to be logged. False: the call has logged enough.
bool sandbox_may_log(lua_State *L);

/// So often something of the script did what another call of it might not repeat: took randomness, logged a line.
uint64_t sandbox_effects(lua_State *L);

/// Copies a terminated text to `place`; one that is too long is cut between two characters, and counted.
void sandbox_copy_message(lua_State *L, char *place, size_t size, const char *message);

/// C code that calls functions of a script counts how deep such calls nest: raises when they are too deep, else gives
/// what sandbox_unnest must get. Errors need no unnesting.
uint32_t sandbox_nest(lua_State *L, const char *what);
void sandbox_unnest(lua_State *L, uint32_t depth);

/// Within a protected call, on a thread that no watchdog looks after: stops it when it has used that much more of the
/// thread's CPU time. Lasts until sandbox_unbound, which does not belong into a call.
void sandbox_bound(lua_State *L, uint64_t limit_us);
void sandbox_unbound(struct sandbox *sandbox);

/// Collects all garbage. Not within a call.
void sandbox_collect(struct sandbox *sandbox);

/// Takes an interruption back, once no further one can come. Not within a call.
void sandbox_calm(struct sandbox *sandbox);

/// Within a protected call: pushes the compiled chunk, which has no globals yet. False: the error message is pushed.
bool sandbox_compile(lua_State *L, struct text path, struct text source);

/// The same, in an environment of its own.
bool sandbox_load(lua_State *L, struct text path, struct text source);

/// Within a protected call: raises when the running function must give the same answer every time; `what` would not.
void sandbox_refuse_if_pure(lua_State *L, const char *what);

/// Within a protected call, before untrusted code may go on: raises again when the script was stopped or out of memory.
void sandbox_check(lua_State *L);
