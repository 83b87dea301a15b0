/// Support for the bindings: arguments, growing results and read-only views, the same way in every module.
///
/// Threads: those of the lua_State.
/// Memory:  what is pushed belongs to Lua, so an error that unwinds leaks nothing.
#pragma once

#include "base/buffer.h"

#include <lauxlib.h>
#include <lua.h>

enum {
    BIND_INPUT_MAX = 4 << 20,
    BIND_OUTPUT_MAX = 8 << 20,
    BIND_KEYS_MAX = 50000, // of a table that is sorted: 15 ms
};

/// Pushes a collected buffer; it lives as long as its stack slot (or its reference) does.
struct buffer *bind_push_buffer(lua_State *L, size_t ceiling);

/// Frees the bytes now. The collector counts a buffer as a few bytes, whatever it holds, so every way out of a function
/// does this; being collected is only for errors that unwind.
void bind_drop_buffer(struct buffer *buffer);

/// Pushes the buffer's bytes as a string and frees them; raises when an append did not fit.
void bind_push_result(lua_State *L, struct buffer *buffer);

/// Raises when there are more arguments than that: one that is passed over in silence is a mistake nobody finds.
void bind_at_most(lua_State *L, int count);

/// The argument, which must be a string (a number is not one) of at most BIND_INPUT_MAX bytes.
struct text bind_check_text(lua_State *L, int argument);

/// The string at `index`, or the absent text when there is something else.
struct text bind_to_text(lua_State *L, int index);
void bind_push_text(lua_State *L, struct text text);

/// The string at `index`, which is one.
static inline struct text bind_text_at(lua_State *L, int index)
{
    struct text text;

    text.data = lua_tolstring(L, index, &text.length);
    return text;
}

/// The argument, which must be a number without a fraction within [least, most].
int64_t bind_check_integer(lua_State *L, int argument, int64_t least, int64_t most);

/// One of the first `count` arguments is nil, though it was given: so is the result, which is pushed.
bool bind_gives_nil(lua_State *L, int count);

/// Raises "bad argument … (EXPECTED expected, got TYPE)".
int bind_expected(lua_State *L, int argument, const char *expected);

/// Pushes nil and a sentence: what a function returns for data that it could not read.
int bind_refuse(lua_State *L, const char *format, ...) PRINTF_LIKE(2, 3);

/// When the value at `index` is a read-only view, the table behind it takes its place on the stack. True: it is a
/// table.
bool bind_unwrap(lua_State *L, int index);

/// Keeps a pointer in the registry, or gives it back; NULL: nothing. `key` is an address of the caller's own.
void bind_keep_pointer(lua_State *L, const void *key, const void *pointer);
const void *bind_kept_pointer(lua_State *L, const void *key);

/// Pushes a table with the functions of the list.
void bind_push_module(lua_State *L, const luaL_Reg *functions);
