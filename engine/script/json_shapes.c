// Keys are strangers' bytes: in the code of a maker every byte of them is written as a decimal escape.

#include "script/json_shapes.h"

#include "base/json_read.h"
#include "script/bind_support.h"

#include <string.h>

enum { SHAPES_MAX = 2048, SHAPES_BYTES = 512 << 10, SHAPE_KEY_MAX = 100, MAKER_MAX = 32 << 10, CHAIN_MAX = 24 };

static const char SHAPES_KEY; // its address names the userdata in the registry

static void shapes_forget(struct json_shapes *shapes)
{
    arena_fini(&shapes->arena);
    *shapes = (struct json_shapes){ .count = 0 };
    arena_init(&shapes->arena, SHAPES_BYTES);
}

static int shapes_collect(lua_State *L)
{
    struct json_shapes *shapes = lua_touserdata(L, 1);

    arena_fini(&shapes->arena);
    return 0;
}

static struct json_shapes *shapes_create(lua_State *L)
{
    struct json_shapes *shapes = lua_newuserdata(L, sizeof *shapes);

    *shapes = (struct json_shapes){ .count = 0 };
    arena_init(&shapes->arena, SHAPES_BYTES);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, shapes_collect);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_newtable(L);
    lua_setfenv(L, -2);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&SHAPES_KEY);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
    return shapes;
}

struct json_shapes *json_shapes_push(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&SHAPES_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    struct json_shapes *shapes = lua_touserdata(L, -1);
    if (shapes == NULL) {
        lua_pop(L, 1);
        shapes = shapes_create(L);
    }
    if (shapes->count >= SHAPES_MAX) {
        shapes_forget(shapes);
        lua_newtable(L);
        lua_setfenv(L, -2);
    }
    lua_getfenv(L, -1);
    lua_replace(L, -2);
    return shapes;
}

static size_t shapes_bucket(const struct json_shapes *shapes, const struct json_shape *shape, struct text key)
{
    uint64_t hash = (text_hash(key) ^ (uint64_t)(uintptr_t)shape) * 0x9E3779B97F4A7C15ULL;

    return (size_t)(hash >> 40) % COUNT_OF(shapes->buckets);
}

static bool shape_has_key(const struct json_shape *shape, struct text key)
{
    for (; shape->parent != NULL; shape = shape->parent) {
        if (text_equals(shape->key, key)) {
            return true;
        }
    }
    return false;
}

// Of two equal keys the later one stays, which a maker cannot tell when that one is null: such objects have no shape.
static struct json_shape *shapes_add(struct json_shapes *shapes, struct json_shape *parent, struct text key)
{
    if (shapes->count >= SHAPES_MAX || parent->depth >= JSON_SHAPE_KEYS || key.length > SHAPE_KEY_MAX ||
        shape_has_key(parent, key)) {
        return NULL;
    }
    struct json_shape *shape = arena_alloc(&shapes->arena, sizeof *shape);
    struct text spelt = json_spell_key(&shapes->arena, key);
    if (shape == NULL || spelt.data == NULL) {
        shapes->count = SHAPES_MAX;
        return NULL;
    }
    size_t bucket = shapes_bucket(shapes, parent, key);
    *shape = (struct json_shape){ .key = json_spelt_name(spelt),
                                  .spelt = spelt,
                                  .parent = parent,
                                  .sibling = shapes->buckets[bucket],
                                  .depth = parent->depth + 1 };
    shapes->buckets[bucket] = shape;
    shapes->count++;
    return shape;
}

struct json_shape *json_shapes_step(struct json_shapes *shapes, struct json_shape *shape, struct text key)
{
    struct json_shape *next = shapes->buckets[shapes_bucket(shapes, shape, key)];
    size_t looked = 0;

    while (next != NULL && (next->parent != shape || !text_equals(next->key, key))) {
        next = next->sibling;
        if (++looked == CHAIN_MAX) {
            shapes->count = SHAPES_MAX; // keys made to collide: forget them with the rest, next time
            return NULL;
        }
    }
    if (next == NULL) {
        next = shapes_add(shapes, shape, key);
    }
    if (next != NULL) {
        shape->likely = next;
    }
    return next;
}

// return function(a1, a2) return {["\105\100"]=a1,["\116"]=a2} end
static void write_maker(struct buffer *code, const struct json_shape *shape)
{
    const struct json_shape *path[JSON_SHAPE_KEYS] = { NULL };

    for (const struct json_shape *step = shape; step->parent != NULL; step = step->parent) {
        path[step->depth - 1] = step;
    }
    buffer_append_c(code, "return function(");
    for (uint32_t i = 0; i < shape->depth; i++) {
        buffer_printf(code, "%sa%u", i > 0 ? "," : "", i + 1);
    }
    buffer_append_c(code, ") return {");
    for (uint32_t i = 0; i < shape->depth; i++) {
        require(path[i] != NULL);
        buffer_append_c(code, "[\"");
        for (size_t k = 0; k < path[i]->key.length; k++) {
            buffer_printf(code, "\\%03u", (unsigned)(unsigned char)path[i]->key.data[k]);
        }
        buffer_printf(code, "\"]=a%u,", i + 1);
    }
    buffer_append_c(code, "} end");
}

void json_shapes_learn(lua_State *L, struct json_shapes *shapes, struct json_shape *shape, int makers)
{
    if (shape->depth == 0 || ++shape->seen != JSON_SHAPE_TEACHERS) {
        return;
    }
    int top = lua_gettop(L);
    struct buffer *code = bind_push_buffer(L, MAKER_MAX);
    write_maker(code, shape);
    if (!code->is_full && luaL_loadbuffer(L, code->data, code->length, "=json") == 0) {
        lua_call(L, 0, 1);
        lua_rawseti(L, makers, ++shapes->makers);
        shape->maker = shapes->makers;
    }
    buffer_fini(code);
    lua_settop(L, top);
}
