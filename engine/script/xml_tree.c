// Text comes in pieces, and elements stand between those of their parent, so a text has room to grow, twice as much
// each time.

#include "script/xml_tree.h"

#include <string.h>

enum { TREE_BYTES = 4 << 20 };

struct reading {
    struct xml_tree *tree;
    struct text document;
    bool (*is_stopped)(void *context);
    void *context;
};

void xml_tree_init_with(struct xml_tree *tree, struct xml_tree_limits limits)
{
    *tree = (struct xml_tree){ .limits = limits };
    arena_init(&tree->arena, limits.bytes);
}

void xml_tree_init(struct xml_tree *tree)
{
    xml_tree_init_with(tree, (struct xml_tree_limits){ XML_TREE_ELEMENTS_MAX, XML_TREE_INPUT_MAX, TREE_BYTES });
}

void xml_tree_fini(struct xml_tree *tree)
{
    arena_fini(&tree->arena);
    xml_tree_init_with(tree, tree->limits);
}

static bool keep(struct xml_tree *tree, struct text *text)
{
    if (text->data != NULL) {
        *text = arena_copy(&tree->arena, *text);
        return text->data != NULL;
    }
    return true;
}

static bool keep_attributes(struct xml_tree *tree, struct xml_node *node, const struct xml_element *element)
{
    node->attribute_count = element->attribute_count;
    node->attributes = arena_alloc_array(&tree->arena, element->attribute_count + 1, sizeof(struct xml_attribute));
    if (node->attributes == NULL) {
        return false;
    }
    for (size_t i = 0; i < element->attribute_count; i++) {
        struct xml_attribute *attribute = &node->attributes[i];
        *attribute = element->attributes[i];
        if (!keep(tree, &attribute->name.prefix) || !keep(tree, &attribute->name.local) ||
            !keep(tree, &attribute->name.uri) || !keep(tree, &attribute->value)) {
            return false;
        }
    }
    return true;
}

static bool on_begin(void *context, const struct xml_element *element)
{
    struct xml_tree *tree = ((struct reading *)context)->tree;
    struct xml_node *parent = tree->at;
    struct xml_node *node = arena_alloc(&tree->arena, sizeof *node);

    if (node == NULL || tree->count++ == tree->limits.elements) {
        return false;
    }
    *node = (struct xml_node){ .name = element->name, .parent = parent };
    if (!keep(tree, &node->name.uri) || !keep_attributes(tree, node, element)) {
        return false;
    }
    if (parent == NULL) {
        tree->root = node;
    } else {
        *(parent->first == NULL ? &parent->first : &parent->last->next) = node;
        parent->last = node;
        parent->child_count++;
    }
    tree->at = node;
    return true;
}

static bool on_end(void *context, size_t end)
{
    struct xml_tree *tree = ((struct reading *)context)->tree;
    struct xml_node *node = tree->at;

    (void)end;
    node->text = node->text.data != NULL ? text_trim(node->text) : node->text;
    if (node->text.length == 0) {
        node->text = (struct text){ NULL, 0 };
    }
    tree->at = node->parent;
    return true;
}

static bool on_text(void *context, struct text piece)
{
    struct xml_tree *tree = ((struct reading *)context)->tree;
    struct xml_node *node = tree->at;

    if (node->text.data == NULL && text_trim(piece).length == 0) {
        return true;
    }
    size_t length = node->text.length + piece.length;
    if (node->text.data == NULL || length > node->text_room) {
        size_t room = node->text_room == 0 ? length : length * 2;
        char *text = arena_alloc(&tree->arena, room);
        if (text == NULL) {
            return false;
        }
        if (node->text.data != NULL) {
            memcpy(text, node->text.data, node->text.length);
        }
        node->text_room = room;
        node->text.data = text;
    }
    memcpy((char *)(uintptr_t)node->text.data + node->text.length, piece.data, piece.length); // the arena's
    node->text.length = length;
    return true;
}

static bool is_stopped(void *context)
{
    const struct reading *reading = context;
    return reading->is_stopped != NULL && reading->is_stopped(reading->context);
}

enum xml_result xml_tree_read(struct xml_tree *tree, struct text document, bool is_lenient, struct heap *heap,
                              bool (*stopped)(void *context), void *context, char sentence[XML_SENTENCE_MAX])
{
    struct reading reading = { tree, document, stopped, context };
    const struct xml_events events = {
        .context = &reading, .on_begin = on_begin, .on_end = on_end, .on_text = on_text, .is_stopped = is_stopped
    };

    xml_tree_fini(tree);
    if (document.length > tree->limits.input) {
        return XML_READER_REFUSED;
    }
    return xml_read(document, is_lenient, heap, &events, sentence);
}

const struct xml_node *xml_tree_child(const struct xml_node *node, const char *local)
{
    const struct xml_node *child = node != NULL ? node->first : NULL;

    while (child != NULL && !text_equals_c(child->name.local, local)) {
        child = child->next;
    }
    return child;
}
