#include "scenario/script_rules.h"

#include <lauxlib.h>

/// The string at `key` of the table on top, which keeps it alive.
static struct text get_text(lua_State *lua, const char *key)
{
    struct text text = { NULL, 0 };

    lua_getfield(lua, -1, key);
    if (lua_type(lua, -1) == LUA_TSTRING) {
        text.data = lua_tolstring(lua, -1, &text.length);
    }
    lua_pop(lua, 1);
    return text;
}

static int64_t get_integer(lua_State *lua, const char *key, int64_t otherwise)
{
    lua_getfield(lua, -1, key);
    int64_t integer = lua_isnil(lua, -1) ? otherwise : (int64_t)lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    return integer;
}

/// Calls `read` with each element of the list at `key` on top.
static void for_each(lua_State *lua, struct play *play, const char *key, void (*read)(lua_State *, struct play *))
{
    lua_getfield(lua, -1, key);
    for (int i = 1; lua_istable(lua, -1) && i <= (int)lua_objlen(lua, -1); i++) {
        lua_rawgeti(lua, -1, i);
        read(lua, play);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

static void read_fact(lua_State *lua, struct play *play)
{
    require(play->segment_count < RULE_SEGMENTS_MAX);
    play->segments[play->segment_count] = get_text(lua, "name");
    play->facts[play->segment_count] = rule_fact_of(get_text(lua, "value"));
    play->segment_count++;
}

static struct play_rule *last_rule(struct play *play)
{
    return &play->rules[play->rule_count - 1];
}

static void read_value(lua_State *lua, struct play *play)
{
    struct play_rule *rule = last_rule(play);
    struct rule_condition *condition = &rule->conditions[rule->rule.condition_count - 1];

    require(condition->value_count < PLAY_VALUES_MAX);
    rule->values[rule->rule.condition_count - 1][condition->value_count++] = (struct rule_value){
        .text = get_text(lua, "text"),
        .least = get_integer(lua, "least", INT64_MIN),
        .most = get_integer(lua, "most", INT64_MAX),
    };
}

static void read_condition(lua_State *lua, struct play *play)
{
    struct play_rule *rule = last_rule(play);
    size_t index = rule->rule.condition_count++;

    require(index < PLAY_CONDITIONS_MAX);
    rule->conditions[index] = (struct rule_condition){ .segment = (uint32_t)get_integer(lua, "segment", 1) - 1,
                                                       .values = rule->values[index] };
    for_each(lua, play, "values", read_value);
}

static void read_rule_supplier(lua_State *lua, struct play *play)
{
    struct play_rule *rule = last_rule(play);

    require(rule->supplier_count < PLAY_VALUES_MAX);
    rule->suppliers[rule->supplier_count++] = lua_tostring(lua, -1);
}

static void read_rule(lua_State *lua, struct play *play)
{
    require(play->rule_count < PLAY_RULES_MAX);
    struct play_rule *rule = &play->rules[play->rule_count++];

    *rule = (struct play_rule){ 0 };
    rule->rule.place = get_text(lua, "place");
    rule->rule.conditions = rule->conditions;
    rule->rule.values[RULE_DEADLINE] = (uint64_t)get_integer(lua, "deadline_us", 0);
    rule->rule.values[RULE_CEILING] = (uint64_t)get_integer(lua, "ceiling_us", 0);
    rule->rule.values[RULE_CEILING_SCALE] = (uint64_t)get_integer(lua, "scale_millionths", 0);
    rule->rule.values[RULE_CEILING_MAX] = (uint64_t)get_integer(lua, "max_us", 0);
    rule->rule.values[RULE_WEIGHT] = (uint64_t)get_integer(lua, "weight_millionths", 0);
    rule->rule.values[RULE_DELAY_COST] = (uint64_t)get_integer(lua, "delay_cost_millionths", 0);
    for_each(lua, play, "conditions", read_condition);
    for_each(lua, play, "suppliers", read_rule_supplier);
}

void script_read_rules(lua_State *lua, struct play *play)
{
    luaL_checkstack(lua, 16, "rules");
    for_each(lua, play, "facts", read_fact);
    for_each(lua, play, "rules", read_rule);
}
