/// XML reader: a document as events: elements with their attributes, their ends, and text.
///
/// Strict: well-formed (XML 1.0) and namespace-well-formed, no DOCTYPE. Lenient takes prefixes that nobody has declared
/// (their names are in no namespace), blanks before the XML declaration, and a DOCTYPE, which it skips. In neither mode
/// is an entity expanded but the five that XML has and numbers: a DOCTYPE that declares one is refused. The document is
/// UTF-8, whatever its declaration says.
///
/// Caps: 64 elements within each other, 256 attributes of an element, 128 namespaces in force, 1 MiB for one tag or
/// comment, 4 MiB for what the parser itself keeps. Reading asks now and then whether it must end.
///
/// Threads: any; one reading at a time on each.
/// Memory:  the parser's is the heap that is given, freed before the call returns. Nothing here raises.
#pragma once

#include "base/text.h"
#include "script/heap.h"

enum { XML_DEPTH_MAX = 64, XML_ATTRIBUTES_MAX = 256, XML_SENTENCE_MAX = 256 };

struct xml_name {
    struct text prefix; // as written; empty: none
    struct text local;
    struct text uri; // absent: in no namespace
};

struct xml_attribute {
    struct xml_name name;
    struct text value;
    bool is_binding; // xmlns or xmlns:…
};

/// Valid during the event; `name.prefix` and `name.local` point into the document.
struct xml_element {
    struct xml_name name;
    const struct xml_attribute *attributes;
    size_t attribute_count;
    size_t begin; // of its tag, in the document
};

/// What is told of a document. An event that gives false ends the reading as XML_READER_REFUSED.
struct xml_events {
    void *context;
    bool (*on_begin)(void *context, const struct xml_element *element);
    bool (*on_end)(void *context, size_t end); // behind its tag
    bool (*on_text)(void *context, struct text piece);
    bool (*is_stopped)(void *context); // NULL: never
};

enum xml_result {
    XML_READER_OK,
    XML_READER_BROKEN,    // the sentence says why
    XML_READER_REFUSED,   // an event did
    XML_READER_STOPPED,   // is_stopped did
    XML_READER_NO_MEMORY, // the heap's limit, or the parser's
};

/// Reads a whole document. BROKEN: the sentence is `line 3, column 7, in Envelope.Body: mismatched tag`.
MUST_CHECK enum xml_result xml_read(struct text document, bool is_lenient, struct heap *heap,
                                    const struct xml_events *events, char sentence[XML_SENTENCE_MAX]);
