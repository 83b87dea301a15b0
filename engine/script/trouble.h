/// Trouble: what a person is told of an error that a script raised: place, excerpt, which table lacked what.
///
/// It is collected where the error is raised, while the stack still stands: by the message handler of a sandbox's
/// protected call. What a script catches itself is not looked at, nor is a script that was stopped or out of memory.
/// Values are never told, only names and keys; those without secrets.
///
/// Whoever raises an error of ours gives its code with trouble_code right before; the others have that of their kind.
///
/// Threads: those of the lua_State.
/// Memory:  a plain value within the sandbox. Collecting may use memory beyond the cap of the call, but little.
/// Time:    bounded: at most TROUBLE_STEPS fields of a document are looked at; nothing where nothing is raised.
#pragma once

#include "base/status.h"

#include <lua.h>

struct plan_row; // script/plan_read.h

/// How the note begins about an error of a function that was called last, whose line is not known.
#define TROUBLE_TAIL "called as the last thing of a function, `return "

enum { TROUBLE_ROOTS_MAX = 8, TROUBLE_STEPS = 30000, TROUBLE_KEYS_MAX = 12 };

/// The source of a file by its path, or by the end of it behind "..."; `*path` is the whole. False: not known.
typedef bool (*trouble_find_source)(void *context, struct text shown, struct text *path, struct text *source);

struct trouble {
    struct failure failure;          // of the call in hand; CODE_NONE: nothing was raised
    enum code raised;                // given by who raises next; CODE_NONE: by kind
    uint32_t root_count;             // documents that the script has read
    uint32_t declared;               // of their places, one bit each: read by a shape, so not whole
    const struct plan_row *row;      // of the plan that runs; NULL: none
    trouble_find_source find_source; // NULL: no excerpts
    void *context;
};

/// A call begins.
static inline void trouble_begin(struct trouble *trouble)
{
    trouble->failure.code = CODE_NONE;
    trouble->raised = CODE_NONE;
    trouble->root_count = 0;
    trouble->row = NULL;
}

/// The trouble of the state's sandbox; NULL: it has none.
struct trouble *sandbox_trouble(lua_State *L);

/// While a state is opened: what the handler needs is put into its registry.
void trouble_open(lua_State *L);

/// Part of that: where documents are kept.
void trouble_open_roots(lua_State *L);

/// Pushes the message handler.
void trouble_push_handler(lua_State *L);

/// The next error raised is of that kind.
void trouble_code(lua_State *L, enum code code);

/// The same, unless its kind was given already.
void trouble_code_unless(lua_State *L, enum code code);

/// After the protected call, with its error value on top: what could not be collected, for the stack was full, is told
/// by its words alone. Within a protected call of its own.
void trouble_settle(lua_State *L, int status);

/// An error was caught by its script: what was given for it does not count any more.
void trouble_caught(lua_State *L);

/// The table on top is a document that the script has read; by a shape when it is declared.
void trouble_keep_root(lua_State *L, bool is_declared);

/// The plan in hand; NULL: it is over.
void trouble_set_row(lua_State *L, const struct plan_row *row);

/// "acme.lua:58: sentence" taken apart; the file is kept as it is shown. False: there is no place.
bool trouble_split(struct failure *why, const char *message);

/// Errors of helpers have their remedy behind the sentence, for they are one line: it goes where remedies are.
void trouble_part_help(struct failure *why);
