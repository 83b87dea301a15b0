/// JSON shapes: what the objects of a state's answers look like, learned while they are decoded.
///
/// Suppliers send the same objects again and again. A shape is a node in a tree of keys, in the order in which they
/// came; the decoder walks down that tree and, at each key, first tries the one that came last time. The node where an
/// object ends may have a maker: a Lua function that takes the values and returns the table, which is made in its final
/// size. Decoding without shapes gives the same values, only slower.
///
/// Threads: those of the lua_State.
/// Memory:  a Lua userdata with an arena; bounded, and forgotten when full.
#pragma once

#include "base/arena.h"

#include <lua.h>

enum { JSON_SHAPE_KEYS = 32, JSON_SHAPE_TEACHERS = 8 };

struct json_shape {
    struct text key;   // of the step that leads here; plain UTF-8
    struct text spelt; // … for json_take_key
    struct json_shape *parent;
    struct json_shape *likely;  // where it went last time
    struct json_shape *sibling; // the chain of its bucket
    uint32_t depth;             // how many keys
    uint32_t seen;              // objects that ended here
    int maker;                  // index among the makers; 0: none
};

struct json_shapes {
    struct arena arena;
    struct json_shape root;
    struct json_shape *buckets[1024];
    size_t count;
    int makers;
};

/// Pushes the table of makers and returns the state's shapes.
struct json_shapes *json_shapes_push(lua_State *L);

/// Where `key` (well-formed, without escapes) leads from `shape`. NULL: nowhere, the object has no shape.
struct json_shape *json_shapes_step(struct json_shapes *shapes, struct json_shape *shape, struct text key);

/// An object has ended here without a maker; after some of them it gets one. `makers` is the stack index of the table.
void json_shapes_learn(lua_State *L, struct json_shapes *shapes, struct json_shape *shape, int makers);
