/// XML tree: a small document as a whole, for what is not known before it is read: a fault's detail, a token.
///
/// Threads: one owner.
/// Memory:  an arena, at most 4 MiB, at most 10,000 elements, unless an author who looks on has room for more; texts
/// may
///          point into the document.
#pragma once

#include "base/arena.h"
#include "script/xml_reader.h"

enum { XML_TREE_ELEMENTS_MAX = 10000, XML_TREE_INPUT_MAX = 1 << 20 };

struct xml_node {
    struct xml_name name;
    struct xml_attribute *attributes;
    size_t attribute_count;
    struct text text; // its own, without blanks at its ends; absent: none
    size_t text_room; // how long it may grow where it is
    size_t child_count;
    struct xml_node *first, *last; // children
    struct xml_node *next;         // of the same parent
    struct xml_node *parent;
};

struct xml_tree_limits {
    size_t elements, input, bytes; // bytes: of the arena
};

struct xml_tree {
    struct xml_tree_limits limits;
    struct arena arena;
    struct xml_node *root;
    size_t count;
    struct xml_node *at; // the element in hand, while it is read
};

void xml_tree_init(struct xml_tree *tree);
void xml_tree_init_with(struct xml_tree *tree, struct xml_tree_limits limits);
void xml_tree_fini(struct xml_tree *tree);

/// Reads a document. REFUSED: larger than the limits. `is_stopped` may be NULL.
MUST_CHECK enum xml_result xml_tree_read(struct xml_tree *tree, struct text document, bool is_lenient,
                                         struct heap *heap, bool (*is_stopped)(void *context), void *context,
                                         char sentence[XML_SENTENCE_MAX]);

/// The first child of that local name in any namespace, or NULL; NULL of NULL.
const struct xml_node *xml_tree_child(const struct xml_node *node, const char *local);
