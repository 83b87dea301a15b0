/// Reading: what a script reads of a document, for an author who wants to know what it passes over.
///
/// Each tree of declared paths that a document is read by is noted as JSON: 1 is a scalar, 2 a value taken as its
/// bytes, {"o": {name: node}} an object, {"l": node} a list, {"m": node} a map with free keys. Of XML the outermost
/// node has {"x": {prefix: URI}} besides: what the prefixes of its names mean, and under "" names without one. A script
/// that has the whole document in its hands reads all of it, as far as anybody can tell.
///
/// Threads: one owner.
/// Memory:  owns its text, under a cap; what does not fit makes it "all".
#pragma once

#include "base/json_write.h"
#include "script/xml_names.h"

struct reading {
    struct buffer trees; // finished nodes, commas between them
    bool is_all;
    struct buffer text; // of reading_text
};

void reading_init(struct reading *reading);
void reading_fini(struct reading *reading);
void reading_clear(struct reading *reading);

/// Notes a tree, of XML with its names; one that is known is passed over, and so is a reading of NULL.
void reading_note(struct reading *reading, const struct declared *root, const struct xml_names *names);
void reading_note_all(struct reading *reading);

/// `{"all": true}`, `{"trees": [node, …]}`, or empty: nothing was read. Valid until the next call.
struct text reading_text(struct reading *reading);
