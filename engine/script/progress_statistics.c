// The functions are closures over the progress, which so outlives them. What is said of statistics without a knowledge
// (fixtures) is given back as it was said.

#include "script/progress_statistics.h"

#include "script/sandbox.h"

#include <lauxlib.h>
#include <string.h>

enum { MS_US = 1000 };

static const struct {
    const char *name;
    size_t offset;
} quantiles[] = {
    { "p50", offsetof(struct knowledge_latency, p50_us) },
    { "p75", offsetof(struct knowledge_latency, p75_us) },
    { "p95", offsetof(struct knowledge_latency, p95_us) },
    { "p99", offsetof(struct knowledge_latency, p99_us) },
};

static uint64_t *quantile_of(struct knowledge_latency *latency, size_t index)
{
    return (uint64_t *)(void *)((char *)latency + quantiles[index].offset);
}

void progress_push_latency(lua_State *L, const struct search_progress *values)
{
    struct knowledge_latency latency = values->latency;

    if (latency.samples == 0) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 5);
    lua_pushnumber(L, (lua_Number)latency.samples);
    lua_setfield(L, -2, "samples");
    for (size_t i = 0; i < COUNT_OF(quantiles); i++) {
        uint64_t us = *quantile_of(&latency, i);
        if (us != 0) { // else nobody knows
            lua_pushnumber(L, (lua_Number)us / MS_US);
            lua_setfield(L, -2, quantiles[i].name);
        }
    }
}

void progress_push_win_rate(lua_State *L, const struct search_progress *values)
{
    if (values->has_win_rate) {
        lua_pushnumber(L, values->win_rate);
    } else {
        lua_pushnil(L);
    }
}

static const struct progress *progress_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/// chance(ms): that the answer comes within so many ms from now, when it has not come yet.
static int progress_chance(lua_State *L)
{
    const struct progress *progress = progress_of(L);
    const struct knowledge *knowledge = progress->knowledge;
    lua_Number ms = luaL_checknumber(L, 1);
    double chance = 0;

    if (progress->values.has_chance) {
        lua_pushnumber(L, progress->values.chance);
        return 1;
    }
    luaL_argcheck(L, ms >= 0 && ms <= 1e9, 1, "a number of milliseconds is expected");
    uint64_t elapsed_us =
        progress->values.elapsed_us > progress->began_us ? progress->values.elapsed_us - progress->began_us : 0;
    if (knowledge == NULL ||
        !knowledge->ops->chance(knowledge, elapsed_us, elapsed_us + (uint64_t)(ms * MS_US), &chance)) {
        lua_pushnil(L);
    } else {
        lua_pushnumber(L, chance);
    }
    return 1;
}

/// A field of the one argument, a number that is not negative; `otherwise` when it is not there.
static double number_in(lua_State *L, const char *name, double otherwise)
{
    lua_getfield(L, 1, name);
    bool is_there = !lua_isnil(L, -1);
    double number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
    lua_pop(L, 1);
    if (is_there && !(number >= 0 && number <= 1e12)) {
        sandbox_of(L)->was_impure = true; // it will never be a ceiling, whatever it is asked
        luaL_error(L, "progress.worth_waiting: `%s` must be a number from 0 on", name);
    }
    return is_there ? number : otherwise;
}

/// worth_waiting{ value=, delay_cost= }: the ceiling at which a longer wait costs more than it brings.
static int progress_worth_waiting(lua_State *L)
{
    static const char *const names[] = { "value", "delay_cost" };
    const struct progress *progress = progress_of(L);
    const struct knowledge *knowledge = progress->knowledge;
    uint64_t us = 0;

    luaL_checktype(L, 1, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        const char *word = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
        if (strcmp(word, names[0]) != 0 && strcmp(word, names[1]) != 0) {
            sandbox_of(L)->was_impure = true;
            return luaL_error(L, "progress.worth_waiting has no `%s`: it takes `value` and `delay_cost`", word);
        }
    }
    double value = number_in(L, names[0], 1), delay_cost = number_in(L, names[1], -1);
    if (delay_cost < 0) {
        sandbox_of(L)->was_impure = true;
        return luaL_error(L, "progress.worth_waiting needs `delay_cost`, what a second costs in units of `value`");
    }
    if (progress->values.worth_us != 0) {
        lua_pushnumber(L, (lua_Number)progress->values.worth_us / MS_US);
    } else if (knowledge != NULL && knowledge->ops->worth_waiting(knowledge, value, delay_cost, &us)) {
        lua_pushnumber(L, (lua_Number)(progress->began_us + us) / MS_US);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

void progress_push_chance(lua_State *L, const struct search_progress *values)
{
    (void)values;
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, progress_chance, 1);
}

void progress_push_worth_waiting(lua_State *L, const struct search_progress *values)
{
    (void)values;
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, progress_worth_waiting, 1);
}

// ------------------------------------------------------------------------------------------------------------ fixtures

static double checked_number(lua_State *L, const char *what, double most)
{
    double number = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;

    if (!(number >= 0 && number <= most)) {
        luaL_error(L,
                   most <= 1 ? "progress.%s: a number from 0 to 1 is expected"
                             : "progress.%s: a number from 0 on is expected",
                   what);
    }
    return number;
}

static void read_latency_field(lua_State *L, const char *word, struct knowledge_latency *latency)
{
    if (strcmp(word, "samples") == 0) {
        latency->samples = (uint64_t)checked_number(L, "latency.samples", 1e9);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(quantiles); i++) {
        if (strcmp(word, quantiles[i].name) == 0) {
            *quantile_of(latency, i) = (uint64_t)(checked_number(L, "latency", 1e9) * MS_US);
            return;
        }
    }
    luaL_error(L, "progress.latency has no field \"%s\": it has samples, p50, p75, p95, p99", word);
}

static void read_latency(lua_State *L, struct knowledge_latency *latency)
{
    if (!lua_istable(L, -1)) {
        luaL_error(L, "progress.latency: an object such as {\"samples\": 500, \"p50\": 400} is expected");
    }
    *latency = (struct knowledge_latency){ .samples = 1 };
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        read_latency_field(L, lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?", latency);
    }
}

bool progress_read_statistic(lua_State *L, const char *word, struct search_progress *values)
{
    if (strcmp(word, "latency") == 0) {
        read_latency(L, &values->latency);
    } else if (strcmp(word, "win_rate") == 0) {
        values->win_rate = checked_number(L, word, 1);
        values->has_win_rate = true;
    } else if (strcmp(word, "chance") == 0) {
        values->chance = checked_number(L, word, 1);
        values->has_chance = true;
    } else if (strcmp(word, "worth_waiting") == 0) {
        values->worth_us = (uint64_t)(checked_number(L, word, 1e9) * MS_US);
    } else {
        return false;
    }
    return true;
}
