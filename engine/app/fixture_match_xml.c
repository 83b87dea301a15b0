#include "app/fixture_match_xml.h"

#include "app/fixture_match.h"
#include "script/heap.h"
#include "script/xml_tree.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256, TOLD_MAX = 12, MEMORY_MAX = 64 << 20 };

struct matching {
    struct fixture *fixture;
    const struct json_node *at;
    size_t told;
};

static struct text known(struct text value)
{
    return value.data == NULL ? TEXT("nothing") : value;
}

static void tell(struct matching *matching, const char *path, struct text expected, struct text got)
{
    if (matching->told++ < TOLD_MAX) {
        fixture_tell_difference(matching->fixture, matching->at, "", path, known(expected), known(got));
    }
}

static bool is_same_text(struct text a, struct text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static bool is_same_name(const struct xml_name *a, const struct xml_name *b)
{
    return is_same_text(a->local, b->local) && is_same_text(a->uri, b->uri);
}

static const struct xml_attribute *attribute_of(const struct xml_node *node, const struct xml_name *name)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (!node->attributes[i].is_binding && is_same_name(&node->attributes[i].name, name)) {
            return &node->attributes[i];
        }
    }
    return NULL;
}

/// Those of `node` that `other` has otherwise; of those that it lacks, too.
static void match_attributes(struct matching *matching, const char *path, const struct xml_node *node,
                             const struct xml_node *other, bool is_expected)
{
    char below[PATH_SIZE];

    for (size_t i = 0; i < node->attribute_count; i++) {
        const struct xml_attribute *attribute = &node->attributes[i];
        const struct xml_attribute *same = attribute_of(other, &attribute->name);
        if (attribute->is_binding || (same != NULL && (!is_expected || is_same_text(same->value, attribute->value)))) {
            continue;
        }
        (void)snprintf(below, sizeof(below), "%s.@%.*s", path, TEXT_ARGS(attribute->name.local));
        struct text value = same != NULL ? same->value : (struct text){ 0 };
        tell(matching, below, is_expected ? attribute->value : value, is_expected ? value : attribute->value);
    }
}

/// The child that has as many of its name before it; NULL: there is none.
static const struct xml_node *same_child(const struct xml_node *parent, const struct xml_node *child, size_t *before,
                                         bool *is_one_of_several)
{
    size_t count = 0;

    for (const struct xml_node *at = child->parent->first; at != child; at = at->next) {
        count += is_same_name(&at->name, &child->name);
    }
    *before = count;
    *is_one_of_several = count > 0;
    for (const struct xml_node *at = child->next; at != NULL && !*is_one_of_several; at = at->next) {
        *is_one_of_several = is_same_name(&at->name, &child->name);
    }
    for (const struct xml_node *at = parent->first; at != NULL; at = at->next) {
        if (is_same_name(&at->name, &child->name) && count-- == 0) {
            return at;
        }
    }
    return NULL;
}

static void match_node(struct matching *matching, const char *path, const struct xml_node *expected,
                       const struct xml_node *got);

/// The children of `node`, each with that of `other`; `is_expected` says which of the two is the expected one.
static void match_children(struct matching *matching, const char *path, const struct xml_node *node,
                           const struct xml_node *other, bool is_expected)
{
    char below[PATH_SIZE], number[24];

    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        size_t before;
        bool is_one_of_several;
        const struct xml_node *same = same_child(other, child, &before, &is_one_of_several);
        (void)snprintf(number, sizeof(number), "[%zu]", before);
        (void)snprintf(below, sizeof(below), "%s.%.*s%s", path, TEXT_ARGS(child->name.local),
                       is_one_of_several ? number : "");
        if (same == NULL) {
            struct text what = child->first == NULL ? child->text : TEXT("an element");
            what = what.data == NULL ? TEXT("an empty element") : what;
            tell(matching, below, is_expected ? what : (struct text){ 0 }, is_expected ? (struct text){ 0 } : what);
        } else if (is_expected) {
            match_node(matching, below, child, same);
        }
    }
}

static void match_node(struct matching *matching, const char *path, const struct xml_node *expected,
                       const struct xml_node *got)
{
    match_attributes(matching, path, expected, got, true);
    match_attributes(matching, path, got, expected, false);
    if (!is_same_text(expected->text, got->text)) {
        tell(matching, path, expected->text, got->text);
    }
    match_children(matching, path, expected, got, true);
    match_children(matching, path, got, expected, false);
}

static bool read_tree(struct xml_tree *tree, struct heap *heap, struct text body)
{
    char sentence[XML_SENTENCE_MAX];

    return text_starts_with(text_trim(body), TEXT("<")) &&
           xml_tree_read(tree, body, true, heap, NULL, NULL, sentence) == XML_READER_OK && tree->root != NULL;
}

bool fixture_match_xml(struct fixture *fixture, const char *path, const struct json_node *at, struct text expected,
                       struct text got)
{
    struct matching matching = { .fixture = fixture, .at = at };
    struct xml_tree wanted, have;
    struct heap heap;

    heap_init(&heap);
    heap.limit = MEMORY_MAX;
    xml_tree_init(&wanted);
    xml_tree_init(&have);
    if (read_tree(&wanted, &heap, expected) && read_tree(&have, &heap, got) &&
        is_same_name(&wanted.root->name, &have.root->name)) {
        match_node(&matching, path, wanted.root, have.root);
    }
    xml_tree_fini(&have);
    xml_tree_fini(&wanted);
    heap_fini(&heap);
    return matching.told > 0;
}
