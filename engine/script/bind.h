/// Bindings: the helper modules that scripts see, one .c file per Lua module.
///
/// Each bind_NAME pushes its finished module table (or function table) on the stack; the sandbox puts it into the
/// shared, read-only globals of a state. Misuse raises a Lua error at the caller's line (luaL_argerror and friends,
/// level 1). Every function is bounded: at most 20 ms by the size of its input, outputs capped.
///
/// Threads: a worker's, or the loader's.
/// Memory:  Lua's.
#pragma once

#include "base/buffer.h"
#include "script/wait.h"

#include <lua.h>

void bind_json(lua_State *L); // encode (canonical: keys sorted), decode (strict, doubles), array, null
void bind_url(lua_State *L);
void bind_form(lua_State *L); // encode, decode, pairs
void bind_crypto(lua_State *L);

/// Where `crypto`'s randomness comes from.
struct crypto_seed {
    uint64_t value; // 0: the machine
    uint64_t draws; // what came of it so far
};
/// Within a protected call: from now on from there; borrowed. Without it the machine's.
void bind_crypto_set_seed(lua_State *L, struct crypto_seed *seed);

/// Gives back what the cryptography keeps for this thread, which calls no script any more. A thread that nobody joins
/// has to say so: its own end may come after that of the process has begun, and a leak would be told.
void bind_crypto_leave_thread(void);

void bind_time(lua_State *L);

/// The airports and their zones that `time` and the check of offers know from now on; borrowed. NULL: none.
struct places;
void bind_time_set_places(lua_State *L, const struct places *places);
const struct places *bind_time_places(lua_State *L);

void bind_money(lua_State *L);
void bind_log(lua_State *L);
void bind_lookup(lua_State *L);  // a function: rows of the settings' data tables
void bind_xml(lua_State *L);     // parse, build
void bind_soap(lua_State *L);    // envelope, fault, security
void bind_fail(lua_State *L);    // typed failures: tables with a private metatable, see bind_fail_read
void bind_pattern(lua_State *L); // adds find, match, gmatch, gsub to the table on top, which is `string`
void bind_text(lua_State *L);    // map, filter, first, get, sorted_pairs: pushes a table of them for the globals

/// What a script returned or raised, when it is a typed failure; false: it is not one.
struct script_fail {
    const char *kind;    // "quota", "busy", "login", "auth", "supplier", "unexpected"
    const char *message; // may be NULL; Lua's, valid while the value is on the stack
    const char *code;
    struct wait wait; // of quota
};
bool bind_fail_read(lua_State *L, int index, struct script_fail *fail);

/// True: the value at `index` is one of fail's functions that need no argument; pushes the failure it makes, quota with
/// the seconds of the text `retry_after`.
bool bind_fail_make(lua_State *L, int index, struct text retry_after);

/// Appends the value as canonical JSON. False: it cannot be one; a sentence with the path is pushed.
bool bind_json_encode(lua_State *L, int index, struct buffer *out);

/// Pushes the decoded document (null is nil, arrays stay arrays, strict grammar). False: a sentence is pushed instead.
bool bind_json_decode(lua_State *L, struct text json);

/// The same, but nulls within lists stay, as json.null: whoever checks a list must see how long it was.
bool bind_json_decode_keeping_nulls(lua_State *L, struct text json);

/// Appends a query string without `?` from a map (sorted by key) or a list of {key, value} pairs (order kept); a value
/// that is a list repeats its key. False: it cannot be one; a sentence is pushed.
bool bind_url_query(lua_State *L, int index, struct buffer *out);

/// Appends the bytes of a piece of a query or form, decoded: %41 is A, + a blank. 0, or the number of the byte (from 1)
/// that two hexadecimal digits do not follow.
size_t bind_url_decode(struct text text, struct buffer *out);

/// Digests of the bytes, and their spelling; the only doors to OpenSSL for the rest of this folder.
void bind_crypto_sha1(struct text bytes, unsigned char digest[20]);
void bind_crypto_push_base64(lua_State *L, struct text bytes);
void bind_crypto_sha256(struct text bytes, unsigned char digest[32]);
