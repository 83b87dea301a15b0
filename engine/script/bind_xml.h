/// XML in Lua: what `xml` and `soap` share.
///
/// Threads: those of the lua_State.
/// Memory:  Lua's.
#pragma once

#include "base/buffer.h"
#include "script/xml_tree.h"

#include <lua.h>

/// xml.build(tree, options)
int bind_xml_build(lua_State *L);

/// Appends the element at `index` as XML; raises when it is none, with the place in it. `out` is on the Lua stack.
void bind_xml_write(lua_State *L, int index, struct buffer *out);

/// Pushes the document as a tree that Lua owns. NULL: nil and a sentence are pushed instead. Raises when
/// the script is stopped.
struct xml_tree *bind_xml_push_tree(lua_State *L, struct text document, bool is_lenient);

/// Pushes a node as a table {name, prefix, uri, attrs, text, children…}.
void bind_xml_push_node(lua_State *L, const struct xml_node *node);
