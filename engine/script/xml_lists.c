// Each path of names is a row; rows are few, for answers repeat themselves. The rows from the root on that are alone in
// their row are what all lists have in common, and are told once.

#include "script/xml_lists.h"

#include "base/redact.h"
#include "script/xml_keys.h"

#include <stdio.h>
#include <string.h>

enum { MEMORY_MAX = 4 << 20, ROWS_MAX = 200, NAME_SIZE = 64, TOLD_MAX = 10, PATH_SIZE = 300, NOBODY = -1 };

struct row {
    char name[NAME_SIZE];
    int parent;
    unsigned depth, here; // how many within the parent in hand
    bool is_list;
};

struct lists {
    const struct xml_names *names;
    struct row rows[ROWS_MAX];
    int count, at;   // the row of the element in hand; NOBODY: the document
    unsigned beyond; // elements around the one in hand that have no row
};

static int find_row(const struct lists *lists, int parent, const char *name)
{
    for (int i = parent + 1; i < lists->count; i++) {
        if (lists->rows[i].parent == parent && strcmp(lists->rows[i].name, name) == 0) {
            return i;
        }
    }
    return NOBODY;
}

static bool on_begin(void *context, const struct xml_element *element)
{
    struct lists *lists = context;
    char name[NAME_SIZE];

    xml_keys_spell(lists->names, &element->name, name, sizeof name);
    int row = lists->beyond > 0 ? NOBODY : find_row(lists, lists->at, name);
    if (row == NOBODY && (lists->beyond > 0 || lists->count == ROWS_MAX)) {
        lists->beyond++;
        return true;
    }
    if (row == NOBODY) {
        row = lists->count++;
        struct row *made = &lists->rows[row];
        *made =
            (struct row){ .parent = lists->at, .depth = lists->at == NOBODY ? 0 : lists->rows[lists->at].depth + 1 };
        (void)snprintf(made->name, sizeof made->name, "%s", name);
    }
    lists->rows[row].is_list = lists->rows[row].is_list || lists->rows[row].here > 0;
    lists->rows[row].here++;
    lists->at = row;
    return true;
}

static bool on_end(void *context, size_t end)
{
    struct lists *lists = context;

    (void)end;
    if (lists->beyond > 0) {
        lists->beyond--;
        return true;
    }
    for (int i = lists->at + 1; i < lists->count; i++) {
        if (lists->rows[i].parent == lists->at) {
            lists->rows[i].here = 0;
        }
    }
    lists->at = lists->rows[lists->at].parent;
    return true;
}

static bool on_text(void *context, struct text piece)
{
    (void)context;
    (void)piece;
    return true;
}

/// The only row within that one, or NOBODY.
static int only_child(const struct lists *lists, int parent)
{
    int found = NOBODY;

    for (int i = parent + 1; i < lists->count; i++) {
        if (lists->rows[i].parent == parent) {
            if (found != NOBODY || lists->rows[i].is_list) {
                return NOBODY;
            }
            found = i;
        }
    }
    return found;
}

/// The path of a row from `top` on, which is left out; false: it does not fit.
static bool path_of(const struct lists *lists, int row, int top, char path[PATH_SIZE])
{
    char before[PATH_SIZE] = "";
    const struct row *at = &lists->rows[row];

    if (at->parent != top && !path_of(lists, at->parent, top, before)) {
        return false;
    }
    int length =
        snprintf(path, PATH_SIZE, "%s%s%s%s", before, before[0] != '\0' ? "." : "", at->name, at->is_list ? "[]" : "");
    return length > 0 && length < PATH_SIZE;
}

/// The lists so deep; those that have no more room are left out.
static size_t tell_depth(const struct lists *lists, unsigned depth, int top, size_t told, char out[XML_LISTS_SIZE])
{
    char path[PATH_SIZE];

    for (int i = 0; i < lists->count && told < TOLD_MAX; i++) {
        const struct row *row = &lists->rows[i];
        size_t length = strlen(out);
        if (row->depth == depth && row->is_list && path_of(lists, i, top, path) &&
            length + strlen(path) + 3 < XML_LISTS_SIZE) {
            (void)snprintf(out + length, XML_LISTS_SIZE - length, "%s%s", told > 0 ? ", " : "", path);
            told++;
        }
    }
    return told;
}

static void tell(const struct lists *lists, char out[XML_LISTS_SIZE])
{
    int top = NOBODY;
    unsigned depth = 0;
    char path[PATH_SIZE] = "the answer";
    size_t told = 0;

    for (int next = only_child(lists, NOBODY); next != NOBODY; next = only_child(lists, next)) {
        top = next;
        depth = lists->rows[top].depth + 1;
    }
    if (top != NOBODY && !path_of(lists, top, NOBODY, path)) {
        return;
    }
    (void)snprintf(out, XML_LISTS_SIZE, "%s has the lists ", path);
    for (unsigned i = 0; i < XML_DEPTH_MAX; i++) {
        told = tell_depth(lists, depth + i, top, told, out);
    }
    if (told == 0) {
        out[0] = '\0';
    }
}

void xml_lists(struct text body, const struct xml_names *names, char out[XML_LISTS_SIZE])
{
    struct lists lists = { .names = names, .at = NOBODY };
    const struct xml_events events = { .context = &lists, .on_begin = on_begin, .on_end = on_end, .on_text = on_text };
    char sentence[XML_SENTENCE_MAX], told[XML_LISTS_SIZE] = "";
    struct heap heap;

    out[0] = '\0';
    heap_init(&heap);
    heap.limit = MEMORY_MAX;
    if (xml_read(body, true, &heap, &events, sentence) == XML_READER_OK) {
        tell(&lists, told);
        (void)redact_copy(out, XML_LISTS_SIZE, text_of(told));
    }
    heap_fini(&heap);
}
