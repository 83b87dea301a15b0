/// XML names: which namespaces the prefixes of a shape or plan mean, and which member an element or attribute is.
///
///     xmlns = { air = "http://example.com/air", [""] = "http://example.com/common" }
///
/// `air:Offer` is the Offer of that namespace and of no other. A name without a prefix is one of the namespace that
/// `""` states, or of any namespace when there is no `""`. Attributes begin with `@`: `@air:Key` is one of that
/// namespace, `@Key` one without a namespace, or, when there is none, with any. The prefixes are the script's own and
/// have nothing to do with those of the document.
///
/// Threads: any.
/// Memory:  a plain value; its texts live in the arena of whoever declares.
#pragma once

#include "script/declared.h"
#include "script/xml_reader.h"

#include <lua.h>

enum { XML_NAMES_MAX = 16 };

struct xml_names {
    struct text prefixes[XML_NAMES_MAX], uris[XML_NAMES_MAX];
    size_t count;
    struct text common; // what `""` states; absent: any
};

/// Reads the table at `index`. The sentence of what is wrong with it, or NULL.
MUST_CHECK const char *xml_names_take(struct xml_names *names, lua_State *L, int index, struct arena *arena);

/// What is wrong with the name of a member, or NULL.
const char *xml_names_check(const struct xml_names *names, struct text name);

/// Is it the name of what nothing can stand in, an attribute or `#text`?
bool xml_names_is_leaf(struct text name);

/// The member of `object` that the element is, or NULL.
struct declared *xml_names_element(const struct xml_names *names, const struct declared *object,
                                   const struct xml_name *name);

/// The member that the attribute is, or NULL. `*is_exact`: no other attribute is it rather.
struct declared *xml_names_attribute(const struct xml_names *names, const struct declared *object,
                                     const struct xml_name *name, bool *is_exact);
