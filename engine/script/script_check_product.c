// What a product's table lists beside its functions and its schema.

#include "script/bind_support.h"
#include "script/script_check.h"

#include <lauxlib.h>
#include <string.h>

enum { SEGMENT_VALUES_MAX = 64, SEGMENTS_MAX = 64 };

/// `key` names fields of the search. Who asks is nobody's key.
static void check_key(lua_State *L, struct script_check *check, const struct script_file *file)
{
    lua_getfield(L, 1, "key");
    int list = lua_gettop(L);
    bool is_list = lua_isnil(L, list) || bind_unwrap(L, list);

    for (int i = 1; is_list && lua_istable(L, list) && i <= (int)lua_objlen(L, list); i++) {
        lua_rawgeti(L, list, i);
        is_list = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "client") != 0;
        lua_pop(L, 1);
    }
    if (!is_list) {
        script_check_report(check, file, script_check_line_of(file, "key", 1), CODE_FIELD_TYPE, NULL,
                            "field `key` must be a list of names of the search's fields, `client` not among them");
    }
    lua_settop(L, list - 1);
}

/// What a segment may be: "text", "integer", "country", "flag", or the list of its values.
static bool check_segment_kind(lua_State *L, struct script_check *check, struct script_segment *segment)
{
    static const struct {
        const char *word;
        enum script_segment_kind kind;
    } kinds[] = { { "text", SEGMENT_TEXT },
                  { "integer", SEGMENT_INTEGER },
                  { "country", SEGMENT_COUNTRY },
                  { "flag", SEGMENT_FLAG } };
    int value = lua_gettop(L);

    if (lua_type(L, value) == LUA_TSTRING) {
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            if (strcmp(lua_tostring(L, value), kinds[i].word) == 0) {
                segment->kind = kinds[i].kind;
                return true;
            }
        }
        return false;
    }
    size_t count = bind_unwrap(L, value) ? lua_objlen(L, value) : 0;
    if (count == 0 || count > SEGMENT_VALUES_MAX) {
        return false;
    }
    segment->kind = SEGMENT_CHOICE;
    segment->values = arena_alloc_array(check->arena, count, sizeof *segment->values);
    for (size_t i = 0; segment->values != NULL && i < count; i++) {
        lua_rawgeti(L, value, (int)i + 1);
        struct text word = { NULL, 0 };
        if (lua_type(L, -1) == LUA_TSTRING) {
            word.data = lua_tolstring(L, -1, &word.length);
        }
        segment->values[i] = arena_copy(check->arena, word);
        segment->value_count += segment->values[i].data != NULL;
        lua_pop(L, 1);
    }
    return segment->value_count == count;
}

/// `segments` names the facts of the search that rules may ask for, and what they can be.
static void check_segments(lua_State *L, struct script_check *check, const struct script_file *file)
{
    uint32_t line = script_check_line_of(file, "segments", 1);
    int top = lua_gettop(L);
    size_t count = 0;

    lua_getfield(L, 1, "segments");
    bool is_map = bind_unwrap(L, top + 1);
    if (!is_map && !lua_isnil(L, -1)) {
        script_check_report(check, file, line, CODE_FIELD_TYPE, NULL, "field `segments` must be a table, not a %s",
                            luaL_typename(L, -1));
    }
    if (is_map) {
        lua_pushnil(L);
    }
    while (is_map && lua_next(L, top + 1) != 0) {
        struct script_segment segment = { .product = file->name };
        if (lua_type(L, -2) == LUA_TSTRING) {
            segment.name.data = lua_tolstring(L, -2, &segment.name.length);
        }
        if (segment.name.data == NULL || text_equals_c(segment.name, "client") || ++count > SEGMENTS_MAX) {
            script_check_report(check, file, line, CODE_PRODUCT, NULL,
                                "field `segments` has up to %d names of the search's facts, `client` not among them",
                                SEGMENTS_MAX);
        } else if (!check_segment_kind(L, check, &segment)) {
            script_check_report(check, file, line, CODE_PRODUCT,
                                "\"text\", \"integer\", \"country\", \"flag\" or a list of words",
                                "segment `%s` is no kind of value", segment.name.data);
        } else if (!script_check_keep_segment(check, &segment)) {
            script_check_report(check, file, line, CODE_MEMORY, NULL, "not enough memory to keep its segments");
        }
        lua_pop(L, 1);
    }
    lua_settop(L, top);
}

bool script_check_keep_segment(struct script_check *check, const struct script_segment *segment)
{
    size_t count = check->segment_count;
    struct script_segment *items = check->segments;

    if ((count & (count - 1)) == 0) { // full: twice the room
        items = arena_alloc_array(check->arena, count == 0 ? 1 : count * 2, sizeof *items);
        if (items == NULL) {
            return false;
        }
        memcpy(items, count == 0 ? items : check->segments, count * sizeof *items);
    }
    struct text *values = arena_alloc_array(check->arena, segment->value_count + 1, sizeof *values);
    struct text name = arena_copy(check->arena, segment->name);
    if (values == NULL || name.data == NULL) {
        return false;
    }
    for (size_t i = 0; i < segment->value_count; i++) {
        values[i] = arena_copy(check->arena, segment->values[i]);
        if (values[i].data == NULL) {
            return false;
        }
    }
    items[count] = *segment;
    items[count].name = name;
    items[count].values = values;
    check->segments = items;
    check->segment_count = count + 1;
    return true;
}

void script_check_product_lists(lua_State *L, struct script_check *check, const struct script_file *file)
{
    check_key(L, check, file);
    check_segments(L, check, file);
}
