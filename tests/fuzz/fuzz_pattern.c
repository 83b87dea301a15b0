// Any bytes as a subject, a pattern and a replacement: our matcher and LuaJIT's own agree in all they find, replace and
// refuse. Short ones only, for LuaJIT's has no end in sight.
#include "script/sandbox.h"
#include "support/pattern_probe.h"

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SUBJECT_MAX = 40, PATTERN_MAX = 24, REPLACEMENT_MAX = 8, REPEATED_MAX = 4, ANSWER_MAX = 1 << 20 };

struct probe {
    struct text subject, pattern, replacement;
    int init, most;
    char *answer;
    size_t length;
    int function; // the registry's reference
};

static void probe_ask(lua_State *L, struct probe *probe, int function)
{
    size_t length;

    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    lua_pushlstring(L, probe->subject.data, probe->subject.length);
    lua_pushlstring(L, probe->pattern.data, probe->pattern.length);
    lua_pushlstring(L, probe->replacement.data, probe->replacement.length);
    lua_pushinteger(L, probe->init);
    lua_pushinteger(L, probe->most);
    lua_call(L, 5, 1);
    const char *answer = lua_tolstring(L, -1, &length);
    require(length < ANSWER_MAX);
    memcpy(probe->answer, answer, length);
    probe->length = length;
}

static int ask(lua_State *L)
{
    struct probe *probe = lua_touserdata(L, 1);
    lua_settop(L, 0);
    probe_ask(L, probe, probe->function);
    return 0;
}

static int open_ours(lua_State *L)
{
    struct probe *probe = lua_touserdata(L, 1);
    lua_settop(L, 0);
    require(sandbox_load(L, TEXT("probe.lua"), text_of(pattern_probe)));
    lua_call(L, 0, 1);
    probe->function = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int open_theirs(lua_State *L)
{
    struct probe *probe = lua_touserdata(L, 1);
    lua_settop(L, 0);
    require(luaL_loadbuffer(L, pattern_probe, sizeof(pattern_probe) - 1, "@probe.lua") == 0);
    lua_call(L, 0, 1);
    probe->function = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/// How many items may match in more ways than one; LuaJIT's time is exponential in it.
static size_t count_repeated(struct text pattern)
{
    size_t count = 0;
    for (size_t i = 0; i < pattern.length; i++) {
        count += memchr("*+-?", pattern.data[i], 4) != NULL ? 1 : 0;
    }
    return count;
}

static struct text take(const uint8_t **data, size_t *size, size_t most)
{
    size_t length = *size < most ? *size : most;
    struct text text = { (const char *)*data, length };
    *data += length;
    *size -= length;
    return text;
}

// The first four bytes are the lengths of pattern and replacement, init and the most replacements.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sandbox *sandbox;
    static lua_State *plain;
    static char answers[2][ANSWER_MAX];
    static struct probe ours = { .answer = answers[0] };
    static struct probe theirs = { .answer = answers[1] };

    if (sandbox == NULL) {
        sandbox = sandbox_create(64 << 20, NULL, NULL);
        plain = luaL_newstate();
        require(sandbox != NULL && plain != NULL);
        luaL_openlibs(plain);
        luaJIT_setmode(plain, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
        require(sandbox_call(sandbox, open_ours, NULL, &ours) == SANDBOX_OK);
        require(lua_cpcall(plain, open_theirs, &theirs) == 0);
    }
    if (size < 4) {
        return 0;
    }
    const uint8_t *rest = data + 4;
    size_t left = size - 4;
    ours.pattern = take(&rest, &left, data[0] % (PATTERN_MAX + 1));
    ours.replacement = take(&rest, &left, data[1] % (REPLACEMENT_MAX + 1));
    ours.subject = take(&rest, &left, SUBJECT_MAX);
    ours.init = (int)data[2] % 64 - 32;
    ours.most = (int)data[3] % 8 - 1;
    if (count_repeated(ours.pattern) > REPEATED_MAX) {
        return 0;
    }
    theirs.pattern = ours.pattern;
    theirs.replacement = ours.replacement;
    theirs.subject = ours.subject;
    theirs.init = ours.init;
    theirs.most = ours.most;
    require(sandbox_call(sandbox, ask, NULL, &ours) == SANDBOX_OK);
    require(lua_cpcall(plain, ask, &theirs) == 0);
    if (ours.length != theirs.length || memcmp(ours.answer, theirs.answer, ours.length) != 0) {
        fprintf(stderr, "ours:   %.*s\ntheirs: %.*s\n", (int)ours.length, ours.answer, (int)theirs.length,
                theirs.answer);
        abort();
    }
    return 0;
}
