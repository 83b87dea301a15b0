// A compiled shape is a userdata, found by the script's own table in a weak table of the registry. Its environment
// holds the makers: functions that take the values of an object's members and return the table in its final size.

#include "script/shape.h"

#include "script/bind_shape.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_BYTES = 256 << 10, MAKER_BYTES = 32 << 10, MAKER_MEMBERS = 100 };

static const char *const LEAF_NAMES[] = {
    [LEAF_NONE] = "table", [LEAF_TEXT] = "text",          [LEAF_DECIMAL] = "decimal", [LEAF_INTEGER] = "whole number",
    [LEAF_RAW] = "value",  [LEAF_FLAG] = "true or false", [LEAF_MAP] = "map",
};

static const char LEAF_KEY;      // registry: the leaves' metatable
static const char CACHE_KEYS[2]; // registry: compiled shapes, by what they are of

static void push_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

static void set_key(lua_State *L, const void *key)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)key);
    lua_insert(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

// ---- leaves --------------------------------------------------------------------------------------------------------

static int leaf_text(lua_State *L)
{
    const enum shape_leaf *leaf = lua_touserdata(L, 1);
    lua_pushfstring(L, "shape: %s", LEAF_NAMES[*leaf]);
    return 1;
}

static void push_leaf_metatable(lua_State *L)
{
    push_key(L, &LEAF_KEY);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, leaf_text);
        lua_setfield(L, -2, "__tostring");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        lua_pushvalue(L, -1);
        set_key(L, &LEAF_KEY);
    }
}

static void push_leaf(lua_State *L, enum shape_leaf kind)
{
    enum shape_leaf *leaf = lua_newuserdata(L, sizeof *leaf);
    *leaf = kind;
    push_leaf_metatable(L);
    lua_setmetatable(L, -2);
}

static enum shape_leaf leaf_at(lua_State *L, int index)
{
    const enum shape_leaf *leaf = lua_touserdata(L, index);

    if (leaf == NULL || lua_islightuserdata(L, index) || !lua_getmetatable(L, index)) {
        return LEAF_NONE;
    }
    push_leaf_metatable(L);
    bool is_leaf = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return is_leaf ? *leaf : LEAF_NONE;
}

static int shape_map_of(lua_State *L)
{
    bind_at_most(L, 1);
    if (leaf_at(L, 1) == LEAF_NONE && !freeze_is_table(L, 1)) {
        return bind_expected(L, 1, "what the values of the map are: a shape");
    }
    lua_settop(L, 1);
    push_leaf(L, LEAF_MAP);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_setfenv(L, -2);
    return 1;
}

void bind_shape(lua_State *L)
{
    static const struct {
        const char *name;
        enum shape_leaf leaf;
    } leaves[] = { { "text", LEAF_TEXT },
                   { "decimal", LEAF_DECIMAL },
                   { "integer", LEAF_INTEGER },
                   { "flag", LEAF_FLAG },
                   { "raw", LEAF_RAW } };

    lua_createtable(L, 0, COUNT_OF(leaves) + 1);
    for (size_t i = 0; i < COUNT_OF(leaves); i++) {
        push_leaf(L, leaves[i].leaf);
        lua_setfield(L, -2, leaves[i].name);
    }
    lua_pushcfunction(L, shape_map_of);
    lua_setfield(L, -2, "map_of");
}

// ---- compiling -----------------------------------------------------------------------------------------------------

struct compiler {
    lua_State *L;
    struct shape *shape;
    int depth;
};

static void compile(struct compiler *compiler, int index, struct declared *node);

static _Noreturn void compile_failed(struct compiler *compiler, const struct declared *node, const char *sentence)
{
    char path[200];

    declared_path(node, path, sizeof path);
    trouble_code(compiler->L, CODE_SHAPE);
    luaL_error(compiler->L, "shape at `%s`: %s", path, sentence);
    require(false);
}

static void check_result(struct compiler *compiler, const struct declared *node, enum declared_result result)
{
    if (result != DECLARED_OK) {
        compile_failed(compiler, node,
                       result == DECLARED_NO_MEMORY  ? "the shape is too large"
                       : result == DECLARED_TOO_MANY ? "too many members, or a name of more than 128 bytes"
                                                     : "declared in two ways");
    }
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/// `xmlns` beside the root element of XML. The table of the members is on top.
static void compile_namespaces(struct compiler *compiler, int table, struct declared *node)
{
    lua_State *L = compiler->L;

    lua_getfield(L, table, "xmlns");
    if (!lua_isnil(L, -1)) {
        const char *wrong = freeze_raw(L, lua_gettop(L))
                                ? xml_names_take(&compiler->shape->names, L, lua_gettop(L), &compiler->shape->arena)
                                : "xmlns is a table from prefixes to the namespaces that they mean";
        if (wrong != NULL) {
            compile_failed(compiler, node, wrong);
        }
    }
    lua_settop(L, table);
}

/// In the order of their names, so that equal shapes are read alike.
static void compile_members(struct compiler *compiler, int table, struct declared *node)
{
    lua_State *L = compiler->L;
    struct text names[DECLARED_MEMBERS_MAX];
    size_t count = 0;
    bool is_xml = compiler->shape->of == SHAPE_OF_XML;
    bool has_namespaces = is_xml && node->parent == NULL;

    node->kind = DECLARED_OBJECT;
    if (has_namespaces) {
        compile_namespaces(compiler, table, node);
    }
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            compile_failed(compiler, node, "names and a list at once; a list is a table with one element");
        }
        if (has_namespaces && text_equals_c(bind_text_at(L, lua_gettop(L) - 1), "xmlns")) {
            continue;
        }
        check_result(compiler, node, count < COUNT_OF(names) ? DECLARED_OK : DECLARED_TOO_MANY);
        names[count++] = bind_text_at(L, lua_gettop(L) - 1);
    }
    qsort(names, count, sizeof names[0], compare_names);
    for (size_t i = 0; i < count; i++) {
        struct declared *member = NULL;
        check_result(compiler, node, declared_member(&compiler->shape->arena, node, names[i], &member));
        const char *wrong = is_xml ? xml_names_check(&compiler->shape->names, names[i]) : NULL;
        if (wrong != NULL) {
            compile_failed(compiler, member, wrong);
        }
        bind_push_text(L, names[i]);
        lua_rawget(L, table);
        compile(compiler, lua_gettop(L), member);
        lua_pop(L, 1);
        if (is_xml && member->kind != DECLARED_SCALAR && xml_names_is_leaf(names[i])) {
            compile_failed(compiler, member, "expected text, decimal, integer or flag of an attribute or #text");
        }
    }
}

static void compile_element(struct compiler *compiler, int index, struct declared *node, enum declared_kind kind)
{
    struct declared *element = NULL;

    check_result(compiler, node, declared_element(&compiler->shape->arena, node, kind, &element));
    require(element != NULL);
    compile(compiler, index, element);
}

static void compile(struct compiler *compiler, int index, struct declared *node)
{
    lua_State *L = compiler->L;
    int top = lua_gettop(L);
    enum shape_leaf leaf = leaf_at(L, index);

    luaL_checkstack(L, 12, "the shape is nested too deeply");
    if (++compiler->depth > SHAPE_DEPTH) {
        compile_failed(compiler, node, "nested too deeply");
    }
    node->leaf = (uint8_t)leaf;
    if (leaf == LEAF_MAP) {
        lua_getfenv(L, index);
        lua_rawgeti(L, -1, 1);
        compile_element(compiler, lua_gettop(L), node, DECLARED_MAP);
    } else if (leaf != LEAF_NONE) {
        node->kind = leaf == LEAF_RAW ? DECLARED_RAW : DECLARED_SCALAR;
    } else if (!freeze_raw(L, index)) {
        compile_failed(compiler, node, "expected text, decimal, integer, flag, raw, map_of or a table");
    } else {
        int table = lua_gettop(L);
        lua_rawgeti(L, table, 1);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            compile_members(compiler, table, node);
        } else {
            lua_pushnil(L);
            bool has_one = lua_next(L, table) != 0 && (lua_pop(L, 1), lua_next(L, table) == 0);
            if (!has_one) {
                compile_failed(compiler, node, "a list has one element: what it is a list of");
            }
            compile_element(compiler, lua_gettop(L), node, DECLARED_LIST);
        }
    }
    compiler->depth--;
    lua_settop(L, top);
}

// return function(a1,a2) return {["\105\100"]=a1,["\116"]=a2} end; names as decimal escapes, for they may be anything.
static void write_maker(struct buffer *code, const struct declared *object)
{
    buffer_append_c(code, "return function(");
    for (uint32_t i = 0; i < object->member_count; i++) {
        buffer_printf(code, "%sa%u", i > 0 ? "," : "", i + 1);
    }
    buffer_append_c(code, ") return {");
    for (uint32_t i = 0; i < object->member_count; i++) {
        buffer_append_c(code, "[\"");
        for (size_t k = 0; k < object->members[i]->name.length; k++) {
            buffer_printf(code, "\\%03u", (unsigned)(unsigned char)object->members[i]->name.data[k]);
        }
        buffer_printf(code, "\"]=a%u,", i + 1);
    }
    buffer_append_c(code, "} end");
}

/// Gives the object a maker, in the table at `makers`, by its address.
static void make_maker(lua_State *L, struct declared *object, int makers)
{
    struct buffer *code = bind_push_buffer(L, MAKER_BYTES);

    write_maker(code, object);
    if (!code->is_full && luaL_loadbuffer(L, code->data, code->length, "=shape") == 0) {
        lua_call(L, 0, 1);
        lua_pushlightuserdata(L, object);
        lua_insert(L, -2);
        lua_rawset(L, makers);
    }
    buffer_fini(code);
    buffer_init(code, 0);
}

static void make_makers(lua_State *L, struct declared *node, int makers)
{
    int top = lua_gettop(L);

    luaL_checkstack(L, 8, "the shape is nested too deeply");
    if (node->kind == DECLARED_OBJECT) {
        if (node->member_count > 0 && node->member_count <= MAKER_MEMBERS) {
            make_maker(L, node, makers);
        }
        for (uint32_t i = 0; i < node->member_count; i++) {
            make_makers(L, node->members[i], makers);
        }
    } else if (node->element != NULL) {
        make_makers(L, node->element, makers);
    }
    lua_settop(L, top);
}

static int shape_collect(lua_State *L)
{
    struct shape *shape = lua_touserdata(L, 1);
    arena_fini(&shape->arena);
    return 0;
}

/// Pushes a new shape, compiled from the value at `index`.
static void shape_make(lua_State *L, int index, enum shape_of of)
{
    struct shape *shape = lua_newuserdata(L, sizeof *shape);
    int place = lua_gettop(L);

    arena_init(&shape->arena, SHAPE_BYTES);
    shape->of = of;
    shape->names = (struct xml_names){ .count = 0 };
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, shape_collect);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, place);
    shape->root = declared_root(&shape->arena);
    if (shape->root == NULL) {
        luaL_error(L, "there is no memory for the shape");
        return;
    }
    struct compiler compiler = { .L = L, .shape = shape };
    compile(&compiler, index, shape->root);
    lua_newtable(L);
    make_makers(L, shape->root, place + 1);
    lua_setfenv(L, place);
}

const char *shape_expected(const struct declared *node)
{
    return node->kind == DECLARED_LIST                                   ? "list"
           : node->kind == DECLARED_OBJECT || node->kind == DECLARED_MAP ? "object"
                                                                         : LEAF_NAMES[node->leaf];
}

struct shape *shape_push(lua_State *L, int index, enum shape_of of)
{
    push_key(L, &CACHE_KEYS[of]);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_createtable(L, 0, 1);
        lua_pushliteral(L, "k");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        lua_pushvalue(L, -1);
        set_key(L, &CACHE_KEYS[of]);
    }
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        shape_make(L, index, of);
        lua_pushvalue(L, index);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
}
