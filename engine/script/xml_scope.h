/// XML scope: which prefix stands for which namespace, where a document is being read.
///
/// Elements bind prefixes for themselves and what is in them; the innermost binding counts. The prefix `xml` is always
/// bound (Namespaces in XML 1.0, section 3).
///
/// Threads: one owner.
/// Memory:  a plain value with a copy of what is bound, capped; nothing to free.
#pragma once

#include "base/text.h"

enum { XML_BINDINGS_MAX = 128, XML_BINDING_BYTES = 16 << 10 };

#define XML_NAMESPACE TEXT("http://www.w3.org/XML/1998/namespace")
#define XMLNS_NAMESPACE TEXT("http://www.w3.org/2000/xmlns/")

struct xml_binding {
    struct text prefix; // empty: names without one
    struct text uri;    // empty: none
    uint32_t depth;     // of the element that binds
};

struct xml_scope {
    struct xml_binding bindings[XML_BINDINGS_MAX];
    size_t count;
    char bytes[XML_BINDING_BYTES];
    size_t used;
};

void xml_scope_init(struct xml_scope *scope);

/// An element at `depth` binds a prefix. False: there are too many.
MUST_CHECK bool xml_scope_bind(struct xml_scope *scope, uint32_t depth, struct text prefix, struct text uri);

/// The element at `depth` ends.
void xml_scope_leave(struct xml_scope *scope, uint32_t depth);

/// The namespace of a prefix, good until its element ends; the absent text for none. False: the prefix is not bound.
MUST_CHECK bool xml_scope_find(const struct xml_scope *scope, struct text prefix, struct text *uri);
