// The handler runs on top of the stack of whoever raised: level 0 is the handler, level 1 the function that raised. It
// must not raise itself: it asks for room before it pushes, and the heap's limit is lifted meanwhile.

#include "script/trouble.h"

#include "base/redact.h"
#include "script/bind.h"
#include "script/sandbox.h"
#include "script/trouble_kind.h"
#include "script/trouble_line.h"
#include "script/trouble_path.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TROUBLE_STACK = 40, TROUBLE_LEVELS = 30, TROUBLE_MESSAGE_MAX = 4096 };

static const char handler_key; // registry: the handler

struct trouble *sandbox_trouble(lua_State *L)
{
    return sandbox_has(L) ? &sandbox_of(L)->trouble : NULL;
}

void trouble_code(lua_State *L, enum code code)
{
    struct trouble *trouble = sandbox_trouble(L);

    if (trouble != NULL) {
        trouble->raised = code;
    }
}

void trouble_code_unless(lua_State *L, enum code code)
{
    struct trouble *trouble = sandbox_trouble(L);

    if (trouble != NULL && trouble->raised == CODE_NONE) {
        trouble->raised = code;
    }
}

void trouble_caught(lua_State *L)
{
    struct trouble *trouble = sandbox_trouble(L);

    if (trouble != NULL) {
        trouble->raised = CODE_NONE;
        trouble->row = NULL; // it may have stood on the part of the stack that is gone
    }
}

void trouble_set_row(lua_State *L, const struct plan_row *row)
{
    struct trouble *trouble = sandbox_trouble(L);

    if (trouble != NULL) {
        trouble->row = row;
    }
}

// ---- place and excerpt

bool trouble_split(struct failure *why, const char *message)
{
    for (const char *colon = strchr(message, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        char *end = NULL;
        unsigned long line = colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
        if (line > 0 && line < UINT32_MAX && end[0] == ':' && end[1] == ' ' && colon > message) {
            failure_at(why, "", (uint32_t)line, 0);
            struct text file = { message, (size_t)(colon - message) };
            (void)redact_copy(why->file, sizeof why->file, file);
            (void)redact_copy(why->message, sizeof why->message, text_of(end + 2));
            return true;
        }
    }
    (void)redact_copy(why->message, sizeof why->message, text_of(message));
    return false;
}

// ---- the handler

static bool ends_with(const char *words, const char *end)
{
    size_t length = strlen(words), tail = strlen(end);

    return length >= tail && strcmp(words + length - tail, end) == 0;
}

/// Where the error was raised: the innermost function of Lua, or the one whose place the message begins with.
static bool find_scene(lua_State *L, const char *message, struct trouble_scene *scene)
{
    char place[LUA_IDSIZE + 24];
    bool is_found = false;

    for (int level = 1; level < TROUBLE_LEVELS; level++) {
        lua_Debug where;
        if (lua_getstack(L, level, &where) == 0 || lua_getinfo(L, "Sl", &where) == 0) {
            break;
        }
        if (where.currentline <= 0) {
            continue;
        }
        int length = snprintf(place, sizeof place, "%s:%d: ", where.short_src, where.currentline);
        bool is_told = strncmp(message, place, (size_t)length) == 0;
        if (!is_found || is_told) {
            scene->level = level;
            scene->line = (uint32_t)where.currentline;
            (void)snprintf(scene->file, sizeof scene->file, "%s",
                           where.source[0] == '@' ? where.source + 1 : where.short_src);
            scene->words = is_told ? message + length : message;
            is_found = true;
        }
        if (is_told) {
            break;
        }
    }
    return is_found;
}

/// The source of what `why` names, whose path it gets; absent: no file of scripts has that line.
static struct text know_place(struct trouble *trouble, struct failure *why)
{
    struct text path, source;

    if (trouble->find_source == NULL || why->file[0] == '\0' ||
        !trouble->find_source(trouble->context, text_of(why->file), &path, &source) ||
        trouble_line_of(source, why->line).data == NULL) {
        return (struct text){ NULL, 0 };
    }
    (void)snprintf(why->file, sizeof why->file, "%.*s", TEXT_ARGS(path));
    return source;
}

/// The place that the message begins with, when it is one of a script: what was caught and raised again has its own.
/// Any other is words of somebody: there is none then.
static struct text split_known(struct trouble *trouble, struct failure *why, const char *message)
{
    struct text source = { NULL, 0 };

    if (trouble_split(why, message)) {
        source = know_place(trouble, why);
    }
    if (source.data == NULL) {
        failure_at(why, "", 0, 0);
        (void)redact_copy(why->message, sizeof why->message, text_of(message));
    }
    return source;
}

static void collect_words(lua_State *L, struct trouble *trouble, const char *message)
{
    struct failure *why = &trouble->failure;
    struct trouble_scene scene = { .L = L, .trouble = trouble, .words = message };
    struct text source = { NULL, 0 };

    *why = (struct failure){ .code = CODE_RAISED };
    (void)find_scene(L, message, &scene);
    bool is_told = scene.words != message;
    if (!is_told) {
        source = split_known(trouble, why, message);
    }
    bool is_elsewhere = source.data != NULL;
    if (!is_elsewhere && scene.level > 0) {
        failure_at(why, scene.file, scene.line, 0);
        (void)redact_copy(why->message, sizeof why->message, text_of(scene.words));
        source = know_place(trouble, why);
    }
    if (is_elsewhere && scene.level > 0) {
        failure_note(why, "that is what the error says; it was raised at %s:%u", scene.file, scene.line);
    } else if (source.data != NULL) {
        scene.source = source;
        scene.source_line = trouble_line_of(source, why->line);
    }
    trouble_tell_kind(&scene, why);
    if (source.data != NULL) {
        trouble_note_line_first(why, source, scene.at);
    }
}

/// A value that is no text has no words and no place: it gets those of whoever raised it. A typed failure is no error.
static void collect(lua_State *L, struct trouble *trouble)
{
    struct script_fail fail;
    char words[64];

    if (lua_type(L, 1) == LUA_TSTRING) {
        collect_words(L, trouble, lua_tostring(L, 1));
    } else if (!bind_fail_read(L, 1, &fail)) {
        (void)snprintf(words, sizeof words, "the error is a %s, not a text", lua_typename(L, lua_type(L, 1)));
        trouble->raised = CODE_RAISED;
        collect_words(L, trouble, words);
    }
}

void trouble_settle(lua_State *L, int status)
{
    struct trouble *trouble = sandbox_trouble(L);
    struct failure *why = &trouble->failure;

    if (why->code != CODE_NONE || lua_type(L, -1) != LUA_TSTRING) {
        return;
    }
    const char *message = lua_tostring(L, -1);
    if (status == LUA_ERRERR) { // there was no room for the handler at all
        lua_pop(L, 1);
        lua_pushliteral(L, "stack overflow");
        message = lua_tostring(L, -1);
    }
    *why = (struct failure){ .code = strstr(message, "stack overflow") != NULL ? CODE_TOO_DEEP : CODE_RAISED };
    (void)split_known(trouble, why, message);
    trouble_help(why);
}

/// There is no room on the stack, and none is needed for the place of the innermost function of Lua.
static void collect_overflow(lua_State *L, struct trouble *trouble)
{
    struct failure *why = &trouble->failure;
    lua_Debug where;

    *why = (struct failure){ .code = CODE_TOO_DEEP };
    failure_set(why, "stack overflow: functions call each other without end");
    for (int level = 1; level < TROUBLE_LEVELS && lua_getstack(L, level, &where) != 0; level++) {
        if (lua_getinfo(L, "Sl", &where) != 0 && where.currentline > 0) {
            failure_at(why, where.source[0] == '@' ? where.source + 1 : where.short_src, (uint32_t)where.currentline,
                       0);
            break;
        }
    }
    struct text source = know_place(trouble, why);
    if (source.data != NULL) {
        trouble_note_line(why, source, why->line, NULL);
    }
    trouble_help(why);
}

static int on_raise(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    struct trouble *trouble = &sandbox->trouble;
    size_t limit = sandbox->heap.limit;

    lua_settop(L, 1);
    if (sandbox->is_stopped || sandbox->heap.is_exhausted) {
        return 1;
    }
    if (lua_type(L, 1) == LUA_TSTRING && lua_objlen(L, 1) > TROUBLE_MESSAGE_MAX) {
        return 1;
    }
    if (lua_type(L, 1) == LUA_TSTRING && ends_with(lua_tostring(L, 1), "stack overflow")) {
        collect_overflow(L, trouble);
        return 1;
    }
    sandbox->heap.limit = SIZE_MAX;
    if (lua_checkstack(L, TROUBLE_STACK)) {
        collect(L, trouble);
    }
    lua_settop(L, 1);
    sandbox->heap.limit = limit;
    return 1;
}

void trouble_open(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&handler_key);
    lua_pushcfunction(L, on_raise);
    lua_rawset(L, LUA_REGISTRYINDEX);
    trouble_open_roots(L);
}

void trouble_push_handler(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&handler_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}
