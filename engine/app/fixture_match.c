#include "app/fixture_match.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256, SHOWN = 160, KEYS_MAX = 64, SAME_SHOWN = 24, SAME_MAX = 80 };

/// Room for the words of a value.
struct shown {
    char text[SHOWN + 16];
};

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; // of a character of several bytes
}

/// The value from `from` on, as far as there is room in a sentence.
static struct shown show(struct text source, size_t from)
{
    struct shown shown = { "" };
    size_t length = source.length - from, at = 0;
    bool is_cut = length > SHOWN;

    length = is_cut ? SHOWN : length;
    while (is_cut && length > 0 && is_inside(source.data[from + length])) {
        length--;
    }
    at += (size_t)snprintf(shown.text, sizeof(shown.text), "%s", from > 0 ? "…" : "");
    for (size_t i = 0; i < length; i++) {
        shown.text[at++] = (unsigned char)source.data[from + i] < ' ' ? ' ' : source.data[from + i];
    }
    (void)snprintf(shown.text + at, sizeof(shown.text) - at, "%s", is_cut ? "…" : "");
    return shown;
}

/// Where two long values are worth showing: a little before they part.
static size_t parting_of(struct text expected, struct text got)
{
    size_t same = 0;

    while (same < expected.length && same < got.length && expected.data[same] == got.data[same]) {
        same++;
    }
    if (same <= SAME_MAX) {
        return 0;
    }
    same -= SAME_SHOWN;
    while (same > 0 && is_inside(expected.data[same])) {
        same--;
    }
    return same;
}

void fixture_tell_difference(struct fixture *fixture, const struct json_node *at, const char *help, const char *path,
                             struct text expected, struct text got)
{
    size_t from = parting_of(expected, got);
    struct shown wanted = show(expected, from), have = show(got, from);

    fixture_find(fixture, at, fixture->differs, help, "%s: expected %s, got %s", path, wanted.text, have.text);
}

static struct text source_of(const struct json_node *node)
{
    return node == NULL ? TEXT("nothing") : node->source;
}

static void differ(struct fixture *fixture, const char *path, const struct json_node *expected,
                   const struct json_node *got, const char *help)
{
    if (!fixture->is_updating) {
        fixture_tell_difference(fixture, expected, help, path, source_of(expected), source_of(got));
    } else if (got != NULL) {
        fixture_edit(fixture, expected, got->source);
    } else {
        fixture_remove(fixture, expected);
    }
}

/// A member of what came that the expected one may mean, for it is nearly its name; NULL: none.
static const char *nearest_member(struct fixture *fixture, const struct json_node *expected,
                                  const struct json_node *owner)
{
    const char *names[KEYS_MAX];
    size_t count = 0;

    for (const struct json_node *at = owner->first; at != NULL && count < KEYS_MAX; at = at->next) {
        bool is_expected = json_tree_member_text(expected->parent, at->key) != NULL;
        struct text name = is_expected ? (struct text){ 0 } : arena_copy(&fixture->arena, at->key);
        if (name.data != NULL) {
            names[count++] = name.data;
        }
    }
    return text_nearest(expected->key, names, count);
}

/// The object beside it that has a member of its name; NULL: none.
static const struct json_node *find_within(const struct json_node *owner, struct text key)
{
    for (const struct json_node *at = owner->first; at != NULL; at = at->next) {
        if (at->kind == JSON_BEGIN_OBJECT && json_tree_member_text(at, key) != NULL) {
            return at;
        }
    }
    return NULL;
}

/// A member that did not come.
static void lack(struct fixture *fixture, const char *path, const struct json_node *expected,
                 const struct json_node *owner)
{
    const struct json_node *within = find_within(owner, expected->key);
    const char *nearest = nearest_member(fixture, expected, owner);
    char help[128] = "";

    if (within != NULL) {
        (void)snprintf(help, sizeof(help), "`%.*s` stands within `%.*s`", TEXT_ARGS(expected->key),
                       TEXT_ARGS(within->key));
    } else if (nearest != NULL) {
        (void)snprintf(help, sizeof(help), "did you mean `%s`?", nearest);
    }
    differ(fixture, path, expected, NULL, help);
}

static void match_object(struct fixture *fixture, const char *path, const struct json_node *expected,
                         const struct json_node *got, enum fixture_match how)
{
    char below[PATH_SIZE];

    for (const struct json_node *member = expected->first; member != NULL; member = member->next) {
        const struct json_node *other = json_tree_member_text(got, member->key);
        (void)snprintf(below, sizeof(below), "%s.%.*s", path, TEXT_ARGS(member->key));
        if (other == NULL && member->kind != JSON_NULL) {
            lack(fixture, below, member, got);
        } else {
            fixture_match(fixture, below, member, other, how);
        }
    }
    for (const struct json_node *member = got->first; member != NULL && how == MATCH_WHOLE; member = member->next) {
        if (json_tree_member_text(expected, member->key) != NULL) {
            continue;
        }
        if (fixture->is_updating) {
            fixture_edit(fixture, expected, got->source);
            return;
        }
        (void)snprintf(below, sizeof(below), "%s.%.*s", path, TEXT_ARGS(member->key));
        fixture_tell_difference(fixture, expected, "", below, TEXT("nothing"), member->source);
    }
}

static void match_list(struct fixture *fixture, const char *path, const struct json_node *expected,
                       const struct json_node *got, enum fixture_match how)
{
    char below[PATH_SIZE];
    const struct json_node *other = got->first;
    size_t index = 0;

    if (expected->count != got->count) {
        if (fixture->is_updating) {
            fixture_edit(fixture, expected, got->source);
        } else {
            fixture_find(fixture, expected, fixture->differs, "", "%s: expected a list of %zu, got one of %zu", path,
                         expected->count, got->count);
        }
        return;
    }
    for (const struct json_node *item = expected->first; item != NULL; item = item->next, other = other->next) {
        (void)snprintf(below, sizeof(below), "%s[%zu]", path, index++);
        fixture_match(fixture, below, item, other, how);
    }
}

void fixture_match(struct fixture *fixture, const char *path, const struct json_node *expected,
                   const struct json_node *got, enum fixture_match how)
{
    if (got == NULL || expected->kind != got->kind) {
        if (got != NULL || expected->kind != JSON_NULL) {
            differ(fixture, path, expected, got, "");
        }
    } else if (expected->kind == JSON_BEGIN_OBJECT) {
        match_object(fixture, path, expected, got, how);
    } else if (expected->kind == JSON_BEGIN_ARRAY) {
        match_list(fixture, path, expected, got, how);
    } else if (!json_tree_equals(expected, got)) {
        differ(fixture, path, expected, got, "");
    }
}
