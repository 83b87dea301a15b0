/// Shape: what a script declares that it reads, compiled.
///
/// Tables mirror the document, a list of one element is "a list of", `map_of` a map with free keys, the globals text,
/// decimal, integer, flag and raw are the leaves. A shape is compiled when it is first used, and found again by the
/// script's own table.
///
/// Threads: those of the lua_State.
/// Memory:  a Lua userdata with an arena; its environment holds the makers of its objects.
#pragma once

#include "script/declared.h"
#include "script/xml_names.h"

#include <lua.h>

enum shape_leaf { LEAF_NONE, LEAF_TEXT, LEAF_DECIMAL, LEAF_INTEGER, LEAF_FLAG, LEAF_RAW, LEAF_MAP };

enum { SHAPE_DEPTH = 60 };

/// Of which documents: names, and so what is wrong with a shape, are not the same.
enum shape_of { SHAPE_OF_JSON, SHAPE_OF_XML };

struct shape {
    struct arena arena;
    enum shape_of of;
    struct xml_names names; // of XML: what prefixes mean
    struct declared *root;  // `leaf` of a scalar is an enum shape_leaf
};

/// Pushes the compiled shape of the value at `index`; raises when it is none, with the path in it. One of XML may have
/// `xmlns` beside its root element.
struct shape *shape_push(lua_State *L, int index, enum shape_of of);

/// What an error says was expected at a node.
const char *shape_expected(const struct declared *node);
