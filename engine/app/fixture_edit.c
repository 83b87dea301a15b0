// What `--update` changes of a fixture's file: bytes in place of others, so that everything else stays as it was
// written.

#include "app/fixture.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static void add_edit(struct fixture *fixture, size_t from, size_t length, struct text text)
{
    struct fixture_edit *edit = arena_alloc(&fixture->arena, sizeof(*edit));
    struct text kept = arena_copy(&fixture->arena, text);

    if (edit == NULL || kept.data == NULL) {
        fixture_find(fixture, NULL, CODE_NONE, "", "there is no memory for what is new in it");
        return;
    }
    *edit = (struct fixture_edit){ from, length, kept, fixture->edits };
    fixture->edits = edit;
    fixture->edit_count++;
}

static size_t offset_of(const struct fixture *fixture, const char *at)
{
    return (size_t)(at - fixture->bytes.data);
}

void fixture_edit(struct fixture *fixture, const struct json_node *node, struct text text)
{
    add_edit(fixture, offset_of(fixture, node->source.data), node->source.length, text);
}

static size_t end_of(const struct fixture *fixture, const struct json_node *node)
{
    return offset_of(fixture, node->source.data) + node->source.length;
}

/// Where a member's key begins: at the quote that opens it.
static size_t start_of(const struct fixture *fixture, const struct json_node *member)
{
    const char *bytes = fixture->bytes.data;
    size_t at = offset_of(fixture, member->source.data) - 1;
    bool is_open = false;

    while (bytes[at] != '"') { // the colon and what is blank
        at--;
    }
    while (!is_open) {
        size_t slashes = 0;
        for (at--; bytes[at] != '"'; at--) {
        }
        while (bytes[at - 1 - slashes] == '\\') {
            slashes++;
        }
        is_open = slashes % 2 == 0;
    }
    return at;
}

static bool is_removed(const struct fixture *fixture, const struct json_node *member)
{
    const struct fixture_edit *edit = fixture->edits;
    size_t start = start_of(fixture, member);

    while (edit != NULL && (edit->from != start || edit->text.length > 0)) {
        edit = edit->next;
    }
    return edit != NULL;
}

void fixture_remove(struct fixture *fixture, const struct json_node *member)
{
    const struct json_node *kept = NULL; // the last one before it that stays
    size_t from = start_of(fixture, member);

    if (member->next != NULL) { // with its comma
        add_edit(fixture, from, start_of(fixture, member->next) - from, TEXT(""));
        return;
    }
    for (const struct json_node *at = member->parent->first; at != member; at = at->next) {
        kept = is_removed(fixture, at) ? kept : at;
    }
    // The comma before it goes, and so do those of what was removed in between.
    from = kept != NULL ? end_of(fixture, kept) : start_of(fixture, member->parent->first);
    add_edit(fixture, from, end_of(fixture, member) - from, TEXT(""));
}

void fixture_add_member(struct fixture *fixture, const struct json_node *object, const char *key, struct text text)
{
    struct buffer member;
    const struct json_node *last = object->first;

    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    const char *end = last == NULL ? object->source.data + 1 : last->source.data + last->source.length;
    buffer_init(&member, FIXTURE_FILE_MAX);
    buffer_printf(&member, "%s\n  \"%s\": %.*s", last == NULL ? "" : ",", key, TEXT_ARGS(text));
    add_edit(fixture, offset_of(fixture, end), 0, buffer_text(&member));
    buffer_fini(&member);
}

static int compare_edits(const void *a, const void *b)
{
    const struct fixture_edit *left = *(const struct fixture_edit *const *)a;
    const struct fixture_edit *right = *(const struct fixture_edit *const *)b;

    if (left->from != right->from) {
        return left->from < right->from ? -1 : 1;
    }
    return left->length > right->length ? -1 : left->length < right->length; // the one that holds the other
}

/// The file with its edits; those within an earlier one are part of what it replaces.
static void apply(const struct fixture *fixture, struct fixture_edit **edits, struct buffer *out)
{
    size_t at = 0;

    for (size_t i = 0; i < fixture->edit_count; i++) {
        if (edits[i]->from < at) {
            continue;
        }
        buffer_append(out, fixture->bytes.data + at, edits[i]->from - at);
        buffer_append_text(out, edits[i]->text);
        at = edits[i]->from + edits[i]->length;
    }
    buffer_append(out, fixture->bytes.data + at, fixture->bytes.length - at);
}

bool fixture_save(struct fixture *fixture)
{
    struct fixture_edit **edits =
        arena_alloc_array(&fixture->arena, fixture->edit_count + 1, sizeof(struct fixture_edit *));
    const char *why = "there is no memory for it, or it would be too large";
    struct buffer out;
    size_t count = 0;

    buffer_init(&out, FIXTURE_FILE_MAX);
    for (struct fixture_edit *edit = fixture->edits; edit != NULL && edits != NULL; edit = edit->next) {
        edits[count++] = edit;
    }
    bool is_saved = edits != NULL;
    if (is_saved) {
        qsort(edits, count, sizeof(struct fixture_edit *), compare_edits);
        apply(fixture, edits, &out);
        is_saved = !out.is_full && file_replace(fixture->path.data, buffer_text(&out), &why);
    }
    if (!is_saved) {
        fixture_find(fixture, NULL, CODE_FIXTURE_UNREADABLE, "", "the fixture cannot be written: %s", why);
    }
    buffer_fini(&out);
    return is_saved;
}
