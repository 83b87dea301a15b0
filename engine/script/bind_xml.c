#include "script/bind_xml.h"

#include "script/bind.h"
#include "script/bind_support.h"
#include "script/freeze.h"
#include "script/sandbox.h"

static const char TREE_KEY; // registry: the metatable of trees

static int tree_collect(lua_State *L)
{
    xml_tree_fini(lua_touserdata(L, 1));
    return 0;
}

static struct xml_tree *push_tree(lua_State *L)
{
    struct xml_tree *tree = lua_newuserdata(L, sizeof *tree);

    xml_tree_init(tree);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&TREE_KEY);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, tree_collect);
        lua_setfield(L, -2, "__gc");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&TREE_KEY);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_setmetatable(L, -2);
    return tree;
}

static bool is_stopped(void *context)
{
    return sandbox_is_interrupted(context);
}

struct xml_tree *bind_xml_push_tree(lua_State *L, struct text document, bool is_lenient)
{
    char sentence[XML_SENTENCE_MAX] = "";
    struct xml_tree *tree = push_tree(L);
    enum xml_result result = xml_tree_read(tree, document, is_lenient, &sandbox_of(L)->heap, is_stopped, L, sentence);

    sandbox_stop_here(L);
    if (result == XML_READER_OK) {
        return tree;
    }
    xml_tree_fini(tree);
    lua_pop(L, 1);
    if (result == XML_READER_BROKEN) {
        (void)bind_refuse(L, "not XML: %s", sentence);
    } else {
        (void)bind_refuse(L, "more than 1 MiB or 10,000 elements: read it with response:xml(shape)");
    }
    return NULL;
}

static void set_text(lua_State *L, const char *name, struct text text)
{
    if (text.length > 0) {
        bind_push_text(L, text);
        lua_setfield(L, -2, name);
    }
}

static void push_attributes(lua_State *L, const struct xml_node *node)
{
    lua_createtable(L, 0, (int)node->attribute_count);
    for (size_t i = 0; i < node->attribute_count; i++) {
        const struct xml_name *name = &node->attributes[i].name;
        if (name->prefix.length > 0) {
            bind_push_text(L, name->prefix);
            lua_pushliteral(L, ":");
            bind_push_text(L, name->local);
            lua_concat(L, 3);
        } else {
            bind_push_text(L, name->local);
        }
        bind_push_text(L, node->attributes[i].value);
        lua_rawset(L, -3);
    }
}

void bind_xml_push_node(lua_State *L, const struct xml_node *node)
{
    int place = 0;

    luaL_checkstack(L, 8, "the document is nested too deeply");
    lua_createtable(L, (int)node->child_count, 5);
    set_text(L, "name", node->name.local);
    set_text(L, "prefix", node->name.prefix);
    set_text(L, "uri", node->name.uri);
    set_text(L, "text", node->text);
    push_attributes(L, node);
    lua_setfield(L, -2, "attrs");
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        bind_xml_push_node(L, child);
        lua_rawseti(L, -2, ++place);
    }
}

/// xml.parse(text, { lenient = true })
static int xml_parse(lua_State *L)
{
    bind_at_most(L, 2);
    bool is_lenient = false;

    if (lua_isnil(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    struct text document = bind_check_text(L, 1);
    if (!lua_isnoneornil(L, 2)) {
        if (!freeze_is_table(L, 2)) {
            return bind_expected(L, 2, "a table like { lenient = true }");
        }
        lua_getfield(L, 2, "lenient");
        is_lenient = lua_toboolean(L, -1) != 0;
    }
    struct xml_tree *tree = bind_xml_push_tree(L, document, is_lenient);
    if (tree == NULL) {
        return 2;
    }
    bind_xml_push_node(L, tree->root);
    xml_tree_fini(tree);
    return 1;
}

void bind_xml(lua_State *L)
{
    static const luaL_Reg functions[] = { { "parse", xml_parse }, { "build", bind_xml_build }, { NULL, NULL } };

    bind_push_module(L, functions);
}
