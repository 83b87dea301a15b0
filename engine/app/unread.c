#include "app/unread.h"

#include "base/json_tree.h"
#include "script/heap.h"
#include "script/xml_tree.h"

#include <stdio.h>
#include <string.h>

enum { TREES_MAX = 8, PATH_SIZE = 512, XML_MEMORY_MAX = 64 << 20 };

/// A path, one step longer; what does not fit is cut.
static void join(char place[PATH_SIZE], const char *path, const char *between, struct text name, const char *end)
{
    int length = snprintf(place, PATH_SIZE, "%s%s%.*s%s", path, between, TEXT_ARGS(name), end);

    place[PATH_SIZE - 1] = '\0';
    require(length >= 0);
}

/// Where the walk stands: in the document, and in each tree that leads here.
struct at {
    const struct json_node *trees[TREES_MAX]; // NULL: it does not lead here
    size_t count;
};

static void tell(struct unread *unread, const char *path, const char *kind)
{
    for (size_t i = 0; i < unread->count; i++) {
        if (text_equals_c(unread->paths[i].path, path)) {
            unread->paths[i].count++;
            return;
        }
    }
    struct text kept = unread->count < UNREAD_MAX ? arena_copy(unread->arena, text_of(path)) : (struct text){ 0 };
    if (kept.data == NULL) {
        unread->more++;
        return;
    }
    unread->paths[unread->count++] = (struct unread_path){ kept, kind, 1 };
}

/// Does any tree want the value as it is?
static bool is_taken(const struct at *at)
{
    for (size_t i = 0; i < at->count; i++) {
        if (at->trees[i] != NULL && at->trees[i]->kind == JSON_NUMBER) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct at *at)
{
    for (size_t i = 0; i < at->count; i++) {
        if (at->trees[i] != NULL) {
            return true;
        }
    }
    return false;
}

/// One step down: by a member's name, or, with `kind` "l" or "m", to elements.
static struct at step(const struct at *at, const char *kind, struct text name)
{
    struct at below = { .count = at->count };

    for (size_t i = 0; i < at->count; i++) {
        const struct json_node *found = json_tree_member(at->trees[i], kind);
        below.trees[i] = found != NULL && kind[0] == 'o' ? json_tree_member_text(found, name) : found;
    }
    return below;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

static void walk_json(struct unread *unread, const struct at *at, const struct json_node *node, const char *path)
{
    char below[PATH_SIZE];

    if (!is_wanted(at)) {
        tell(unread, path[0] == '\0' ? "." : path, json_tree_kind(node));
        return;
    }
    if (is_taken(at)) {
        return;
    }
    for (const struct json_node *child = node->first; child != NULL; child = child->next) {
        bool is_object = node->kind == JSON_BEGIN_OBJECT;
        struct at next = step(at, is_object ? "o" : "l", child->key);
        struct at mapped = step(at, "m", child->key);
        bool is_map = is_object && !is_wanted(&next) && is_wanted(&mapped);
        if (is_map) {
            next = mapped;
            join(below, path, "", TEXT(""), "{}");
        } else if (is_object) {
            join(below, path, path[0] == '\0' ? "" : ".", child->key, "");
        } else {
            join(below, path, "", TEXT(""), "[]");
        }
        walk_json(unread, &next, child, below);
    }
}

// ----------------------------------------------------------------------------------------------------------------- XML

/// The member that is this element or attribute, whatever prefix the script gives it; absent: none.
static struct text member_of(const struct at *at, struct text local, bool is_attribute)
{
    for (size_t i = 0; i < at->count; i++) {
        const struct json_node *members = json_tree_member(at->trees[i], "o");
        for (const struct json_node *child = members == NULL ? NULL : members->first; child != NULL;
             child = child->next) {
            struct text name = child->key, rest;
            bool has_sign = name.length > 0 && name.data[0] == '@';
            if (has_sign) {
                name = (struct text){ name.data + 1, name.length - 1 };
            }
            struct text head = text_split(name, ':', &rest);
            if (has_sign == is_attribute && text_equals(rest.data != NULL ? rest : head, local)) {
                return child->key;
            }
        }
    }
    return (struct text){ 0 };
}

static void walk_xml(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path);

static void walk_attributes(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path)
{
    char below[PATH_SIZE];

    for (size_t i = 0; i < node->attribute_count; i++) {
        const struct xml_attribute *attribute = &node->attributes[i];
        if (!attribute->is_binding && member_of(at, attribute->name.local, true).data == NULL) {
            join(below, path, ".@", attribute->name.local, "");
            tell(unread, below, "an attribute");
        }
    }
}

/// An element below `node`: it may be one of a list, or the value of a map.
static void walk_child(struct unread *unread, const struct at *at, const struct xml_node *child, const char *path)
{
    char below[PATH_SIZE];
    struct text member = member_of(at, child->name.local, false);
    struct at next = step(at, "o", member.data == NULL ? TEXT("") : member);

    if (member.data == NULL) {
        next = step(at, "m", member);
    }
    struct at element = step(&next, "l", member);
    bool is_list = is_wanted(&element);
    join(below, path, path[0] == '\0' ? "" : ".", child->name.local, is_list ? "[]" : "");
    walk_xml(unread, is_list ? &element : &next, child, below);
}

static void walk_xml(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path)
{
    if (!is_wanted(at)) {
        tell(unread, path, node->first != NULL ? "an element with elements" : "an element");
        return;
    }
    walk_attributes(unread, at, node, path);
    if (is_taken(at)) {
        return;
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        walk_child(unread, at, child, path);
    }
}

static void find_xml(struct unread *unread, const struct at *at, struct text body)
{
    char sentence[XML_SENTENCE_MAX];
    struct xml_tree tree;
    struct heap heap;

    heap_init(&heap);
    heap.limit = XML_MEMORY_MAX;
    xml_tree_init(&tree);
    if (xml_tree_read(&tree, body, true, &heap, NULL, NULL, sentence) == XML_READER_OK && tree.root != NULL) {
        unread->is_known = true;
        walk_child(unread, at, tree.root, "");
    }
    xml_tree_fini(&tree);
    heap_fini(&heap);
}

// ------------------------------------------------------------------------------------------------------------ the
// whole

static void find_json(struct unread *unread, const struct at *at, struct text body)
{
    struct json_node *root;
    const char *sentence;
    size_t offset;

    if (json_tree_read(unread->arena, body, &root, &offset, &sentence) == STATUS_OK) {
        unread->is_known = true;
        walk_json(unread, at, root, "");
    }
}

void unread_find(struct unread *unread, struct arena *arena, struct text reads, struct text body)
{
    struct json_node *root;
    struct at at = { .count = 0 };
    const char *sentence;
    size_t offset;

    *unread = (struct unread){ .arena = arena };
    if (reads.length == 0 || json_tree_read(arena, reads, &root, &offset, &sentence) != STATUS_OK) {
        return;
    }
    unread->is_all_read = json_tree_member(root, "all") != NULL;
    const struct json_node *trees = json_tree_member(root, "trees");
    for (const struct json_node *tree = trees == NULL ? NULL : trees->first; tree != NULL && at.count < TREES_MAX;
         tree = tree->next) {
        at.trees[at.count++] = tree;
    }
    struct text trimmed = text_trim(body);
    if (unread->is_all_read || at.count == 0 || trimmed.length == 0) {
        return;
    }
    if (trimmed.data[0] == '<') {
        find_xml(unread, &at, body);
    } else {
        find_json(unread, &at, body);
    }
}
