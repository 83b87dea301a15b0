#include "script/xml_keys.h"

#include "base/redact.h"
#include "script/xml_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_MAX = 16 << 20 };

/// What the prefix of a plan's name means; absent: any namespace.
static struct text meaning_of(const struct xml_names *names, struct text prefix)
{
    for (size_t i = 0; i < names->count; i++) {
        if (text_equals(names->prefixes[i], prefix)) {
            return names->uris[i];
        }
    }
    return names->common;
}

/// A name of a plan.
struct wanted {
    struct text prefix, local, uri; // the prefix may be empty; an absent URI is any
};

static struct wanted wanted_of(const struct xml_names *names, struct text name)
{
    struct text rest;
    struct text head = text_split(name, ':', &rest);
    struct wanted wanted = { rest.data != NULL ? head : TEXT(""), rest.data != NULL ? rest : head, { 0 } };

    wanted.uri = meaning_of(names, wanted.prefix);
    return wanted;
}

static bool is_it(const struct wanted *wanted, const struct xml_name *name)
{
    return text_equals(wanted->local, name->local) && (wanted->uri.data == NULL || text_equals(wanted->uri, name->uri));
}

/// The element of that number among those that are it, from `from` on.
static const struct xml_node *find(const struct xml_node *from, const struct wanted *wanted, unsigned long number)
{
    for (; from != NULL; from = from->next) {
        if (is_it(wanted, &from->name) && --number == 0) {
            return from;
        }
    }
    return NULL;
}

static void tell_other(struct xml_keys *keys, const struct xml_node *from, const struct wanted *wanted)
{
    for (; from != NULL; from = from->next) {
        if (text_equals(from->name.local, wanted->local)) {
            bool has_prefix = wanted->prefix.length > 0;
            (void)redact_print(keys->other, sizeof keys->other, "%.*s there is of %.*s, but %s%.*s%s is %.*s",
                               TEXT_ARGS(wanted->local),
                               TEXT_ARGS(from->name.uri.data != NULL ? from->name.uri : TEXT("no namespace")),
                               has_prefix ? "`" : "a name without a prefix", TEXT_ARGS(wanted->prefix),
                               has_prefix ? "`" : "", TEXT_ARGS(wanted->uri));
            return;
        }
    }
}

void xml_keys_spell(const struct xml_names *names, const struct xml_name *name, char *out, size_t size)
{
    struct text prefix = TEXT("");

    for (size_t i = 0; i < names->count; i++) {
        prefix = text_equals(names->uris[i], name->uri) ? names->prefixes[i] : prefix;
    }
    (void)snprintf(out, size, "%.*s%s%.*s", TEXT_ARGS(prefix), prefix.length > 0 ? ":" : "", TEXT_ARGS(name->local));
}

static void add_name(struct body_keys *found, const struct xml_names *names, const char *mark,
                     const struct xml_name *name)
{
    char spelled[BODY_KEY_SIZE * 2];
    size_t length = strlen(mark);

    (void)snprintf(spelled, sizeof spelled, "%s", mark);
    xml_keys_spell(names, name, spelled + length, sizeof spelled - length);
    body_keys_add(found, text_of(spelled));
}

static void list_names(struct xml_keys *keys, const struct xml_names *names, const struct xml_node *node)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (!node->attributes[i].is_binding) {
            add_name(&keys->found, names, "@", &node->attributes[i].name);
        }
    }
    for (const struct xml_node *child = node->first; child != NULL; child = child->next) {
        add_name(&keys->found, names, "", &child->name);
    }
}

static bool has_leaf(const struct xml_node *node, const struct wanted *wanted)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (is_it(wanted, &node->attributes[i].name) ||
            (wanted->prefix.length == 0 && text_equals(wanted->local, node->attributes[i].name.local))) {
            return true;
        }
    }
    return false;
}

/// `.name`, `.@name`, `[2]` or `[]`, which is as `[1]`. Absent: the path ends.
static struct text step_at(struct text path, size_t at)
{
    size_t end = at + 1;

    while (end < path.length && path.data[end] != '.' && path.data[end] != '[') {
        end++;
    }
    return at < path.length ? (struct text){ path.data + at, end - at } : (struct text){ 0 };
}

static unsigned long number_of(struct text step)
{
    long number = step.data != NULL && step.data[0] == '[' ? strtol(step.data + 1, NULL, 10) : 1;

    return number > 1 ? (unsigned long)number : 1;
}

static void follow(struct xml_keys *keys, struct text path, const struct xml_names *names, const struct xml_node *root)
{
    struct xml_node document = { .first = (struct xml_node *)(uintptr_t)root };
    const struct xml_node *node = &document;

    for (;;) {
        struct text step = step_at(path, keys->found.length);
        if (step.data == NULL || step.data[0] != '.' || step.length < 2) {
            keys->found.length = path.length; // the end, or something that is not followed
            return;
        }
        struct text name = { step.data + 1, step.length - 1 };
        bool is_leaf = xml_names_is_leaf(name);
        struct text behind = step_at(path, keys->found.length + step.length);
        bool has_number = behind.data != NULL && behind.data[0] == '[';
        struct wanted wanted =
            wanted_of(names, name.data[0] == '@' ? (struct text){ name.data + 1, name.length - 1 } : name);
        const struct xml_node *next = is_leaf ? NULL : find(node->first, &wanted, number_of(behind));
        if (is_leaf && (name.data[0] != '@' || has_leaf(node, &wanted))) {
            keys->found.length = path.length;
            return;
        }
        if (next == NULL) {
            list_names(keys, names, node);
            tell_other(keys, is_leaf ? NULL : node->first, &wanted);
            return;
        }
        keys->found.length += step.length + (has_number ? behind.length : 0);
        node = next;
    }
}

bool xml_keys_find(struct text body, struct text path, const struct xml_names *names, struct xml_keys *keys)
{
    char sentence[XML_SENTENCE_MAX];
    struct xml_tree tree;
    struct heap heap;

    *keys = (struct xml_keys){ .found = { .length = strlen("body"), .kind = "an object" } };
    heap_init(&heap);
    heap.limit = MEMORY_MAX;
    xml_tree_init(&tree);
    bool is_read = xml_tree_read(&tree, body, true, &heap, NULL, NULL, sentence) == XML_READER_OK && tree.root != NULL;
    if (is_read) {
        follow(keys, path, names, tree.root);
    }
    xml_tree_fini(&tree);
    heap_fini(&heap);
    return is_read;
}
