#include "app/unread.h"

#include "base/json_tree.h"
#include "script/heap.h"
#include "script/xml_tree.h"

#include <stdio.h>
#include <string.h>

enum { TREES_MAX = 8, PATH_SIZE = 512, XML_MEMORY_MAX = 64 << 20 };
enum { XML_ELEMENTS_MAX = 500000, XML_INPUT_MAX = 64 << 20, XML_TREE_BYTES = 256 << 20 };

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
    const struct json_node *roots[TREES_MAX]; // … and where they begin
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
    bool has_room = unread->count < UNREAD_MAX;
    struct text kept = has_room ? arena_copy(unread->arena, text_of(path)) : (struct text){ 0 };
    struct text kept_kind = has_room ? arena_copy(unread->arena, text_of(kind)) : (struct text){ 0 };
    if (kept.data == NULL || kept_kind.data == NULL) {
        unread->more++;
        return;
    }
    unread->paths[unread->count++] = (struct unread_path){ kept, kept_kind, 1 };
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
    struct at below = *at;

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

/// What a prefix means in a tree; under "" what names without one are of. Absent: nothing is said.
static struct text meaning_of(const struct json_node *root, struct text prefix)
{
    const struct json_node *found = json_tree_member_text(json_tree_member(root, "x"), prefix);
    return found != NULL ? found->text : (struct text){ 0 };
}

/// `@prefix:local`
struct spelled {
    bool is_attribute;
    struct text prefix, local; // the prefix is empty: it has none
};

static struct spelled spelled_of(struct text name)
{
    struct spelled spelled = { .is_attribute = name.length > 0 && name.data[0] == '@', .prefix = TEXT("") };
    struct text rest;

    if (spelled.is_attribute) {
        name = (struct text){ name.data + 1, name.length - 1 };
    }
    struct text head = text_split(name, ':', &rest);
    spelled.local = rest.data != NULL ? rest : head;
    spelled.prefix = rest.data != NULL ? head : spelled.prefix;
    return spelled;
}

enum fit { FIT_NONE, FIT_OTHER_NAMESPACE, FIT_ANY, FIT_EXACT };

static enum fit fit_of(const struct json_node *root, const struct spelled *spelled, const struct xml_name *name,
                       bool is_attribute)
{
    struct text meaning = meaning_of(root, spelled->prefix);

    if (spelled->is_attribute != is_attribute || !text_equals(spelled->local, name->local)) {
        return FIT_NONE;
    }
    if (meaning.data == NULL || (is_attribute && spelled->prefix.length == 0)) {
        return FIT_ANY;
    }
    return text_equals(meaning, name->uri) ? FIT_EXACT : FIT_OTHER_NAMESPACE;
}

/// The member of the tree `i` that fits best, as far as any does.
static const struct json_node *member_of(const struct at *at, size_t i, const struct xml_name *name, bool is_attribute,
                                         enum fit *fit)
{
    const struct json_node *members = json_tree_member(at->trees[i], "o"), *found = NULL;

    *fit = FIT_NONE;
    for (const struct json_node *child = members == NULL ? NULL : members->first; child != NULL; child = child->next) {
        struct spelled spelled = spelled_of(child->key);
        enum fit its = fit_of(at->roots[i], &spelled, name, is_attribute);
        if (its > *fit) {
            *fit = its;
            found = child;
        }
    }
    return found;
}

static void spell_as(const char *mark, struct text prefix, struct text local, char spelled[PATH_SIZE])
{
    (void)snprintf(spelled, PATH_SIZE, "%s%.*s%s%.*s", mark, TEXT_ARGS(prefix), prefix.length > 0 ? ":" : "",
                   TEXT_ARGS(local));
}

/// A name as a plan or shape has to say it: by what the trees call its namespace, else by what the document does.
static void spell(const struct at *at, const struct xml_name *name, const char *mark, char spelled[PATH_SIZE])
{
    bool is_any = true; // a name without a prefix is this one, too

    for (size_t i = 0; i < at->count; i++) {
        const struct json_node *names = json_tree_member(at->roots[i], "x");
        for (const struct json_node *child = names == NULL ? NULL : names->first; child != NULL; child = child->next) {
            if (text_equals(child->text, name->uri)) {
                spell_as(mark, child->key, name->local, spelled);
                return;
            }
            is_any = is_any && child->key.length > 0;
        }
    }
    bool has_prefix = name->prefix.length > 0 && (!is_any || name->uri.data == NULL);
    spell_as(mark, has_prefix ? name->prefix : TEXT(""), name->local, spelled);
}

static void walk_xml(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path);

static void walk_attributes(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path)
{
    char below[PATH_SIZE], spelled[PATH_SIZE];

    for (size_t i = 0; i < node->attribute_count; i++) {
        const struct xml_attribute *attribute = &node->attributes[i];
        enum fit best = FIT_NONE;
        for (size_t j = 0; j < at->count; j++) {
            enum fit fit;
            (void)member_of(at, j, &attribute->name, true, &fit);
            best = fit > best ? fit : best;
        }
        if (!attribute->is_binding && best < FIT_ANY) {
            spell(at, &attribute->name, "@", spelled);
            join(below, path, ".", text_of(spelled), "");
            tell(unread, below, "an attribute");
        }
    }
}

/// An element of the right name that no tree leads to, for it is of another namespace than the script says.
static void tell_other(struct unread *unread, const struct at *at, const struct xml_node *child, const char *path)
{
    struct text uri = child->name.uri.data != NULL ? child->name.uri : TEXT("no namespace");
    char kind[PATH_SIZE];

    for (size_t i = 0; i < at->count; i++) {
        enum fit fit;
        const struct json_node *member = member_of(at, i, &child->name, false, &fit);
        if (fit != FIT_OTHER_NAMESPACE) {
            continue;
        }
        struct text prefix = spelled_of(member->key).prefix;
        struct text meaning = meaning_of(at->roots[i], prefix);
        (void)snprintf(kind, sizeof(kind), "an element of %.*s, but %s%.*s%s is %.*s", TEXT_ARGS(uri),
                       prefix.length > 0 ? "`" : "a name without a prefix", TEXT_ARGS(prefix),
                       prefix.length > 0 ? "`" : "", TEXT_ARGS(meaning));
        tell(unread, path, kind);
        return;
    }
    tell(unread, path, child->first != NULL ? "an element with elements" : "an element");
}

/// One step down to an element, in each tree by its own name for it. The name of the first that leads there, or none.
static struct text step_to(const struct at *at, const struct xml_name *name, struct at *below)
{
    struct text found = { 0 };

    *below = *at;
    for (size_t i = 0; i < at->count; i++) {
        enum fit fit;
        const struct json_node *member = member_of(at, i, name, false, &fit);
        below->trees[i] = fit >= FIT_ANY ? member : NULL;
        found = found.data == NULL && fit >= FIT_ANY ? member->key : found;
    }
    return found;
}

/// An element below `node`: it may be one of a list, or the value of a map.
static void walk_child(struct unread *unread, const struct at *at, const struct xml_node *child, const char *path)
{
    char below[PATH_SIZE], spelled[PATH_SIZE];
    struct at next;
    struct text member = step_to(at, &child->name, &next);

    if (member.data == NULL) {
        next = step(at, "m", member);
        spell(at, &child->name, "", spelled);
        member = text_of(spelled);
    }
    struct at element = step(&next, "l", member);
    bool is_list = is_wanted(&element);
    join(below, path, path[0] == '\0' ? "" : ".", member, is_list ? "[]" : "");
    if (!is_list && !is_wanted(&next)) {
        tell_other(unread, at, child, below);
        return;
    }
    walk_xml(unread, is_list ? &element : &next, child, below);
}

static void walk_xml(struct unread *unread, const struct at *at, const struct xml_node *node, const char *path)
{
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
    xml_tree_init_with(&tree, (struct xml_tree_limits){ XML_ELEMENTS_MAX, XML_INPUT_MAX, XML_TREE_BYTES });
    enum xml_result result = xml_tree_read(&tree, body, true, &heap, NULL, NULL, sentence);
    if (result == XML_READER_OK && tree.root != NULL) {
        unread->is_known = true;
        walk_child(unread, at, tree.root, "");
    } else if (result == XML_READER_REFUSED || result == XML_READER_NO_MEMORY) {
        unread->why = "the document has more elements than are looked at, 500,000, or is too large";
    }
    xml_tree_fini(&tree);
    heap_fini(&heap);
}

// ----------------------------------------------------------------------------------------------------------- the whole

static void find_json(struct unread *unread, const struct at *at, struct text body)
{
    struct json_node *root;
    const char *sentence;
    size_t offset;

    enum status status = json_tree_read(unread->arena, body, &root, &offset, &sentence);
    if (status == STATUS_OK) {
        unread->is_known = true;
        walk_json(unread, at, root, "");
    } else if (status == STATUS_NO_MEMORY) {
        unread->why = "the document is too large to look at";
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
        at.roots[at.count] = tree;
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
