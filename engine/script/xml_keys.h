/// XML keys: which names an XML answer has where a plan looks for another one, spelled with the plan's prefixes.
///
/// Names only, never values; those without secrets. A document of more than XML_TREE_INPUT_MAX bytes is not looked at.
///
/// Threads: any.
/// Memory:  the document is read into a tree of its own, which is gone when the call returns.
/// Time:    one pass over the body, for what has failed already.
#pragma once

#include "script/body_keys.h"
#include "script/xml_names.h"
#include "script/xml_reader.h"

enum { XML_KEYS_OTHER_SIZE = 400 };

struct xml_keys {
    struct body_keys found;
    char other[XML_KEYS_OTHER_SIZE]; // the element is there, but of another namespace: a sentence; empty: it is not
};

/// Follows `body.s:Envelope.s:Body.a:Answer[1].@id` as the names of the plan mean it; false: the body cannot be read.
MUST_CHECK bool xml_keys_find(struct text body, struct text path, const struct xml_names *names, struct xml_keys *keys);

/// A name as the plan would write it, with its prefix for the namespace, if it has one.
void xml_keys_spell(const struct xml_names *names, const struct xml_name *name, char *out, size_t size);
