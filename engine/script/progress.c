// Fields are found by name in one table; the metatable is made once for each state.

#include "script/progress.h"

#include "base/text.h"
#include "script/amount.h"
#include "script/progress_statistics.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

static const char progress_metatable_key; // registry

static void push_elapsed(lua_State *L, const struct search_progress *values)
{
    uint64_t ms = values->elapsed_us / 1000;
    lua_pushnumber(L, (lua_Number)ms);
}

static void push_remaining(lua_State *L, const struct search_progress *values)
{
    uint64_t ms = values->remaining_us / 1000;
    lua_pushnumber(L, (lua_Number)ms);
}

static void push_offers(lua_State *L, const struct search_progress *values)
{
    lua_pushnumber(L, (lua_Number)values->offers);
}

static void push_answered(lua_State *L, const struct search_progress *values)
{
    lua_pushnumber(L, (lua_Number)values->answered);
}

static void push_eligible(lua_State *L, const struct search_progress *values)
{
    lua_pushnumber(L, (lua_Number)values->eligible);
}

static void push_cheapest(lua_State *L, const struct search_progress *values)
{
    char text[MICROS_TEXT_MAX];

    if (values->cheapest_micros == INT64_MAX) {
        lua_pushnil(L);
        return;
    }
    size_t length = micros_write(values->cheapest_micros, values->decimals, text);
    lua_pushlstring(L, text, length);
}

static const struct progress_row {
    const char *name;
    uint32_t field; // sum of enum progress_field
    void (*push)(lua_State *L, const struct search_progress *values);
} progress_rows[] = {
    { "elapsed_ms", PROGRESS_TIME, push_elapsed },
    { "remaining_ms", PROGRESS_TIME, push_remaining },
    { "offers", PROGRESS_OFFERS, push_offers },
    { "answered", PROGRESS_ANSWERED, push_answered },
    { "eligible", PROGRESS_ELIGIBLE, push_eligible },
    { "cheapest", PROGRESS_CHEAPEST, push_cheapest },
    { "latency", PROGRESS_STATISTICS, progress_push_latency },
    { "win_rate", PROGRESS_STATISTICS, progress_push_win_rate },
    { "chance", PROGRESS_STATISTICS | PROGRESS_TIME, progress_push_chance }, // of what is still out: it falls with time
    { "worth_waiting", PROGRESS_STATISTICS, progress_push_worth_waiting },
};

void progress_tell_fields(char *place, size_t size)
{
    size_t length = 0;

    place[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(progress_rows) && length + strlen(progress_rows[i].name) + 2 < size; i++) {
        length += (size_t)snprintf(place + length, size - length, "%s%s", i == 0 ? "" : ", ", progress_rows[i].name);
    }
}

static int progress_refuse(lua_State *L, const char *word)
{
    const char *names[COUNT_OF(progress_rows)];

    for (size_t i = 0; i < COUNT_OF(progress_rows); i++) {
        names[i] = progress_rows[i].name;
    }
    const char *nearest = text_nearest(text_of(word), names, COUNT_OF(names));
    sandbox_of(L)->was_impure = true;
    if (nearest == NULL) {
        char fields[128];
        progress_tell_fields(fields, sizeof fields);
        return luaL_error(L, "progress has no field \"%s\": it has %s", word, fields);
    }
    return luaL_error(L, "progress has no field \"%s\": did you mean \"%s\"?", word, nearest);
}

static void read_cheapest(lua_State *L, struct search_progress *values)
{
    struct text text = { NULL, 0 }, decimals;
    const char *why = "a text such as \"412.30\" is expected";

    if (lua_type(L, -1) == LUA_TSTRING) {
        text.data = lua_tolstring(L, -1, &text.length);
        (void)text_split(text, '.', &decimals);
        values->decimals = (int)(decimals.length < AMOUNT_MAX_DECIMALS ? decimals.length : AMOUNT_MAX_DECIMALS);
    }
    if (text.data == NULL || !amount_parse(text, values->decimals, &values->cheapest_micros, &why)) {
        luaL_error(L, "progress.cheapest: %s", why);
    }
}

/// The value on top, of the field that `word` names.
static void read_field(lua_State *L, const char *word, struct search_progress *values)
{
    const struct {
        const char *name;
        uint64_t *us, *number;
        uint32_t *count;
    } fields[] = {
        { "elapsed_ms", &values->elapsed_us, NULL, NULL }, { "remaining_ms", &values->remaining_us, NULL, NULL },
        { "offers", NULL, &values->offers, NULL },         { "answered", NULL, NULL, &values->answered },
        { "eligible", NULL, NULL, &values->eligible },
    };
    lua_Number number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (strcmp(word, fields[i].name) != 0) {
            continue;
        }
        if (!(number >= 0 && number <= 1e9)) {
            luaL_error(L, "progress.%s: a number from 0 on is expected", word);
        }
        if (fields[i].us != NULL) {
            *fields[i].us = (uint64_t)(number * 1000);
        } else if (fields[i].number != NULL) {
            *fields[i].number = (uint64_t)number;
        } else {
            *fields[i].count = (uint32_t)number;
        }
        return;
    }
    if (strcmp(word, "cheapest") == 0) {
        read_cheapest(L, values);
        return;
    }
    if (!progress_read_statistic(L, word, values)) {
        progress_refuse(L, word);
    }
}

void progress_read(lua_State *L, int index, struct search_progress *values)
{
    *values = (struct search_progress){ .cheapest_micros = INT64_MAX };
    luaL_checktype(L, index, LUA_TTABLE);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        read_field(L, lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?", values);
        lua_pop(L, 1);
    }
}

static int progress_on_read(lua_State *L)
{
    struct progress *progress = lua_touserdata(L, 1);
    const char *word = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);

    for (size_t i = 0; i < COUNT_OF(progress_rows); i++) {
        if (strcmp(word, progress_rows[i].name) == 0) {
            progress->reads |= progress_rows[i].field;
            progress_rows[i].push(L, &progress->values);
            return 1;
        }
    }
    return progress_refuse(L, word);
}

static int progress_on_collect(lua_State *L)
{
    struct progress *progress = lua_touserdata(L, 1);

    knowledge_drop(&progress->knowledge);
    return 0;
}

static int progress_on_write(lua_State *L)
{
    return luaL_error(L, "progress is read-only");
}

static void progress_push_metatable(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&progress_metatable_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_isnil(L, -1)) {
        return;
    }
    lua_pop(L, 1);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, progress_on_collect);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, progress_on_read);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, progress_on_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushlightuserdata(L, (void *)(uintptr_t)&progress_metatable_key);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

const struct progress *progress_push(lua_State *L, const struct search_progress *values, struct knowledge *knowledge,
                                     uint64_t began_us)
{
    progress_push_metatable(L);
    struct progress *progress = lua_newuserdata(L, sizeof(*progress));

    // Nothing here raises between the hold and what will drop it.
    *progress = (struct progress){ .values = *values, .knowledge = knowledge_hold(knowledge), .began_us = began_us };
    if (knowledge != NULL) {
        progress->values.latency = knowledge->latency;
        progress->values.has_win_rate = knowledge->has_win_rate;
        progress->values.win_rate = knowledge->win_rate;
    }
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return progress;
}

uint32_t progress_reads(const struct progress *progress)
{
    return progress->reads;
}
