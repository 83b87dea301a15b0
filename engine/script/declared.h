/// Declared: the paths of a document that a script reads, as a tree.
///
/// A script says what it reads, as a shape or through a plan; a document is kept only as far as this tree goes
/// (tape.h). Members have a place in their object, in the order in which they were declared. While documents are read
/// the tree learns one thing: in which order a supplier sends the members.
///
/// Threads: those of the lua_State that it lives in.
/// Memory:  nodes live in the arena of whoever declares; nothing to free.
#pragma once

#include "base/arena.h"

enum declared_kind {
    DECLARED_SCALAR, // text, number, true or false
    DECLARED_RAW,    // any value, as its bytes
    DECLARED_OBJECT,
    DECLARED_MAP, // an object with free keys, its values all alike
    DECLARED_LIST,
};

enum { DECLARED_MEMBERS_MAX = 256, DECLARED_NAME_MAX = 128 };

struct declared {
    enum declared_kind kind;
    uint8_t leaf;      // the declarer's own
    struct text name;  // within its object; empty: the root, or the element of a list or map
    struct text spelt; // … as it mostly stands in a document: `,"name":`
    struct declared *parent;
    uint32_t place; // among its object's members

    // of drift.h
    bool is_main;         // on the way to the list of offers
    uint32_t number;      // among the watched paths of its tree, from 1 on; 0: not watched
    uint64_t fingerprint; // of a root: of all below; 0: not known yet

    struct declared *element; // of a list or map

    struct declared **members; // of an object
    uint32_t member_count;
    uint8_t *places; // open hash of names to place + 1; NULL until it is needed
    uint32_t mask;
    struct declared *first;    // the member that came first, last time
    struct declared *follower; // of a member: the one that came behind it, last time
};

enum declared_result { DECLARED_OK, DECLARED_NO_MEMORY, DECLARED_CONFLICT, DECLARED_TOO_MANY };

/// A scalar without a name; NULL without memory.
MUST_CHECK struct declared *declared_root(struct arena *arena);

/// The member `name` of `node`, which is an object from then on. CONFLICT: it is a list, a map or raw already.
MUST_CHECK enum declared_result declared_member(struct arena *arena, struct declared *node, struct text name,
                                                struct declared **member);

/// The element of `node`, which is a list or map from then on.
MUST_CHECK enum declared_result declared_element(struct arena *arena, struct declared *node, enum declared_kind kind,
                                                 struct declared **element);

/// The member of that name, or NULL.
struct declared *declared_find(const struct declared *object, struct text name);

/// Writes the path of a node as errors show it: `offers[].price.total`; the root is `.`. Cuts what does not fit.
void declared_path(const struct declared *node, char *out, size_t size);
