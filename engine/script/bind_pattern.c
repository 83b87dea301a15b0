// find, match, gmatch and gsub, with the arguments and results of Lua's own. Each match spends from the allowance of
// the call; what a replacement calls may be a function of C, which no hook ends, so the stop is looked for after each.

#include "script/bind.h"
#include "script/freeze.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <string.h>

enum { FIND_AT_ONCE = 256 << 10 }; // bytes that are searched between two looks at the allowance

static struct text check_string(lua_State *L, int argument)
{
    struct text text;

    text.data = luaL_checklstring(L, argument, &text.length);
    return text;
}

/// Where a search begins, counted from 0; `position` counts from 1, or from the end when it is negative.
static size_t place_of(ptrdiff_t position, size_t length)
{
    if (position < 0) {
        position += (ptrdiff_t)length;
    } else {
        position--;
    }
    return position < 0 ? 0 : (size_t)position > length ? length : (size_t)position;
}

/// Raises unless the match ended well. True: found.
static bool check_result(lua_State *L, const struct pattern_match *match, enum pattern_result result)
{
    switch (result) {
    case PATTERN_FOUND:
        return true;
    case PATTERN_NONE:
        return false;
    case PATTERN_MALFORMED:
        luaL_error(L, "%s", match->items.trouble);
        break;
    case PATTERN_STOPPED:
        sandbox_stop(L);
        break;
    }
    return false;
}

// ---- captures

/// A pattern without captures captures the whole match.
static void push_capture(lua_State *L, const struct pattern_match *match, uint32_t index, struct text whole)
{
    if (index >= match->capture_count) {
        if (index != 0) {
            luaL_error(L, "invalid capture index");
        }
        lua_pushlstring(L, whole.data, whole.length);
        return;
    }
    const struct pattern_capture *capture = &match->captures[index];
    if (capture->length == PATTERN_OPEN) {
        luaL_error(L, "unfinished capture");
    }
    if (capture->length == PATTERN_POSITION) {
        lua_pushinteger(L, capture->start - match->subject + 1);
    } else {
        lua_pushlstring(L, capture->start, (size_t)capture->length);
    }
}

static int push_captures(lua_State *L, const struct pattern_match *match, struct text whole)
{
    uint32_t count = match->capture_count == 0 && whole.data != NULL ? 1 : match->capture_count;

    luaL_checkstack(L, (int)count, "too many captures");
    for (uint32_t i = 0; i < count; i++) {
        push_capture(L, match, i, whole);
    }
    return (int)count;
}

static struct text whole_of(const char *start, const char *end)
{
    return (struct text){ start, (size_t)(end - start) };
}

// ---- find and match

static int find_plain(lua_State *L, struct text subject, struct text wanted, size_t from)
{
    size_t at_once = wanted.length < FIND_AT_ONCE / 4 ? FIND_AT_ONCE : wanted.length * 4;

    for (;;) {
        size_t left = subject.length - from;
        size_t length = left < at_once ? left : at_once;
        const char *found = memmem(subject.data + from, length, wanted.data, wanted.length);
        if (found != NULL) {
            ptrdiff_t place = found - subject.data;
            lua_pushinteger(L, place + 1);
            lua_pushinteger(L, place + (ptrdiff_t)wanted.length);
            return 2;
        }
        if (length == left) {
            lua_pushnil(L);
            return 1;
        }
        from += length - wanted.length + 1; // what lies across the border
        sandbox_spend(L, length / 16);
    }
}

static int find_or_match(lua_State *L, bool is_find)
{
    struct text subject = check_string(L, 1);
    struct text pattern = check_string(L, 2);
    size_t from = place_of(luaL_optinteger(L, 3, 1), subject.length);
    struct pattern_match match;
    const char *start;
    const char *end;

    if (is_find && (lua_toboolean(L, 4) || pattern_is_plain(pattern))) {
        return find_plain(L, subject, pattern, from);
    }
    pattern_begin(&match, subject, pattern.data, true, sandbox_allowance(L));
    if (!check_result(L, &match, pattern_search(&match, subject.data + from, &start, &end))) {
        lua_pushnil(L);
        return 1;
    }
    if (!is_find) {
        return push_captures(L, &match, whole_of(start, end));
    }
    lua_pushinteger(L, start - subject.data + 1);
    lua_pushinteger(L, end - subject.data);
    return push_captures(L, &match, (struct text){ NULL, 0 }) + 2;
}

static int string_find(lua_State *L)
{
    return find_or_match(L, true);
}

static int string_match(lua_State *L)
{
    return find_or_match(L, false);
}

// ---- gmatch

/// Upvalues: subject, pattern, where to go on (counted from 0).
static int gmatch_next(lua_State *L)
{
    struct text subject;
    struct pattern_match match;
    const char *start;
    const char *end;

    subject.data = lua_tolstring(L, lua_upvalueindex(1), &subject.length);
    size_t from = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    if (from > subject.length) {
        return 0;
    }
    pattern_begin(&match, subject, lua_tostring(L, lua_upvalueindex(2)), false, sandbox_allowance(L));
    if (!check_result(L, &match, pattern_search(&match, subject.data + from, &start, &end))) {
        return 0;
    }
    lua_pushinteger(L, end - subject.data + (end == start ? 1 : 0));
    lua_replace(L, lua_upvalueindex(3));
    return push_captures(L, &match, whole_of(start, end));
}

static int string_gmatch(lua_State *L)
{
    (void)check_string(L, 1);
    (void)check_string(L, 2);
    lua_settop(L, 2);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, gmatch_next, 3);
    return 1;
}

// ---- gsub

struct substitution {
    luaL_Buffer out;
    struct pattern_match match;
    struct text text; // the replacement, when it is one
    int type;
};

/// The replacement's text: %0 to %9 are captures, % before any other byte is that byte.
static void add_text(lua_State *L, struct substitution *job, struct text whole)
{
    const char *p = job->text.data;
    const char *end = p + job->text.length;

    while (p < end) {
        const char *escape = memchr(p, '%', (size_t)(end - p));
        if (escape == NULL) {
            luaL_addlstring(&job->out, p, (size_t)(end - p));
            return;
        }
        luaL_addlstring(&job->out, p, (size_t)(escape - p));
        char what = escape[1]; // the zero byte behind a text that ends in %
        if (what == '0') {
            luaL_addlstring(&job->out, whole.data, whole.length);
        } else if (what >= '1' && what <= '9') {
            push_capture(L, &job->match, (uint32_t)(what - '1'), whole);
            luaL_addvalue(&job->out);
        } else {
            luaL_addchar(&job->out, what);
        }
        p = escape + 2;
    }
}

/// Pushes what the function or table gives for a match.
static void push_replacement(lua_State *L, struct substitution *job, struct text whole)
{
    if (job->type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(L, &job->match, whole), 1);
        sandbox_called_back(L);
    } else {
        push_capture(L, &job->match, 0, whole);
        lua_gettable(L, 3);
    }
}

static void add_replacement(lua_State *L, struct substitution *job, struct text whole)
{
    if (job->type == LUA_TSTRING) {
        sandbox_spend(L, job->text.length / 16);
        add_text(L, job, whole);
        return;
    }
    push_replacement(L, job, whole);
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(&job->out, whole.data, whole.length);
    } else if (lua_isstring(L, -1)) {
        luaL_addvalue(&job->out);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
}

/// Replaces up to `most` matches; how many there were.
static ptrdiff_t substitute(lua_State *L, struct substitution *job, ptrdiff_t most)
{
    struct pattern_match *match = &job->match;
    const char *s = match->subject;
    const char *copied = s; // up to here the result is complete
    ptrdiff_t count = 0;

    while (count < most) {
        const char *start;
        const char *end;
        if (!check_result(L, match, pattern_search(match, s, &start, &end))) {
            break;
        }
        count++;
        luaL_addlstring(&job->out, copied, (size_t)(start - copied));
        add_replacement(L, job, whole_of(start, end));
        copied = end;
        s = end > start ? end : end + 1; // the byte behind an empty match is passed over
        if (s > match->end || match->is_anchored) {
            break;
        }
    }
    luaL_addlstring(&job->out, copied, (size_t)(match->end - copied));
    return count;
}

static int string_gsub(lua_State *L)
{
    struct text subject = check_string(L, 1);
    struct text pattern = check_string(L, 2);
    struct substitution job; // large: not cleared
    ptrdiff_t most = luaL_optinteger(L, 4, (ptrdiff_t)subject.length + 1);

    job.type = freeze_is(L, 3) ? LUA_TTABLE : lua_type(L, 3);
    if (job.type == LUA_TSTRING || job.type == LUA_TNUMBER) {
        job.text = check_string(L, 3);
        job.type = LUA_TSTRING;
    } else if (job.type != LUA_TFUNCTION && job.type != LUA_TTABLE) {
        return luaL_argerror(L, 3, "string/function/table expected");
    }
    uint32_t depth = sandbox_nest(L, "gsub");
    pattern_begin(&job.match, subject, pattern.data, true, sandbox_allowance(L));
    luaL_buffinit(L, &job.out);
    ptrdiff_t count = substitute(L, &job, most);
    luaL_pushresult(&job.out);
    sandbox_unnest(L, depth);
    lua_pushinteger(L, count);
    return 2;
}

void bind_pattern(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "find", string_find }, { "match", string_match }, { "gmatch", string_gmatch }, { "gsub", string_gsub },
        { NULL, NULL },
    };

    luaL_register(L, NULL, functions);
}
