// `reach` says of each two modules whether the first reaches the second, at last over others. What a text names is
// found by looking for the word, not by compiling it: a word in a comment only makes it reach more.

#include "script/script_shelf.h"
#include "script/bind.h"
#include "script/sandbox.h"
#include "script/script_version.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SHELF_MEMORY ((size_t)256 << 20)

enum { SHELF_NAMES_MAX = 256 };

struct script_shelf {
    atomic_uint holds;
    struct arena arena;
    struct script_module *modules;
    size_t count;
    bool *reach; // [from * count + to]
    struct script_look_up *look_ups;
    size_t look_up_count;
};

struct script_shelf *script_shelf_create(void)
{
    struct script_shelf *shelf = calloc(1, sizeof *shelf);

    if (shelf != NULL) {
        atomic_init(&shelf->holds, 1);
        arena_init(&shelf->arena, SHELF_MEMORY);
        shelf->modules = arena_alloc_array(&shelf->arena, SCRIPT_SHELF_MODULES_MAX, sizeof *shelf->modules);
    }
    if (shelf != NULL && shelf->modules == NULL) {
        script_shelf_drop(&shelf);
    }
    return shelf;
}

struct script_shelf *script_shelf_hold(struct script_shelf *shelf)
{
    atomic_fetch_add(&shelf->holds, 1);
    return shelf;
}

void script_shelf_drop(struct script_shelf **shelf)
{
    if (*shelf != NULL && atomic_fetch_sub(&(*shelf)->holds, 1) == 1) {
        arena_fini(&(*shelf)->arena);
        free(*shelf);
    }
    *shelf = NULL;
}

struct script_module *script_shelf_add(struct script_shelf *shelf, const struct script_file *file)
{
    if (shelf->count == SCRIPT_SHELF_MODULES_MAX) {
        return NULL;
    }
    struct script_module *module = &shelf->modules[shelf->count];
    module->file = (struct script_file){ .name = arena_copy(&shelf->arena, file->name),
                                         .path = arena_copy(&shelf->arena, file->path),
                                         .source = arena_copy(&shelf->arena, file->source),
                                         .shelf = shelf };
    bool is_kept = module->file.name.data != NULL && module->file.path.data != NULL &&
                   (module->file.source.data != NULL || file->source.data == NULL);
    if (!is_kept) {
        return NULL;
    }
    if (file->source.data != NULL) {
        bind_crypto_sha256(file->source, module->digest);
    }
    shelf->count++;
    return module;
}

bool script_shelf_keep_look_ups(struct script_shelf *shelf, const struct script_look_up *items, size_t count)
{
    size_t before = shelf->look_up_count;
    struct script_look_up *grown = arena_alloc_array(&shelf->arena, before + count + 1, sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    for (size_t i = 0; i < before; i++) {
        grown[i] = shelf->look_ups[i];
    }
    for (size_t i = 0; i < count; i++) {
        grown[before + i] = items[i];
        grown[before + i].table = arena_copy(&shelf->arena, items[i].table);
        if (grown[before + i].table.data == NULL) {
            return false;
        }
    }
    shelf->look_ups = grown;
    shelf->look_up_count = before + count;
    return true;
}

// ---- what a text reaches

static bool shelf_is_word(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static size_t shelf_skip_space(struct text source, size_t at)
{
    while (at < source.length && strchr(" \t\r\n", source.data[at]) != NULL && source.data[at] != '\0') {
        at++;
    }
    return at;
}

/// The name in the call of `require` whose word ends at `at`; absent: it is no call with a plain name.
static struct text shelf_name_at(struct text source, size_t at)
{
    const struct text none = { NULL, 0 };

    at = shelf_skip_space(source, at);
    bool has_parenthesis = at < source.length && source.data[at] == '(';
    at = has_parenthesis ? shelf_skip_space(source, at + 1) : at;
    if (at >= source.length || (source.data[at] != '"' && source.data[at] != '\'')) {
        return none;
    }
    size_t first = at + 1;
    size_t end = first;
    while (end < source.length && source.data[end] != source.data[at] && source.data[end] != '\\') {
        end++;
    }
    if (end >= source.length || source.data[end] == '\\') {
        return none;
    }
    size_t after = shelf_skip_space(source, end + 1);
    if (has_parenthesis && (after >= source.length || source.data[after] != ')')) {
        return none;
    }
    return (struct text){ source.data + first, end - first };
}

static ptrdiff_t shelf_index(const struct script_shelf *shelf, struct text name)
{
    for (size_t i = 0; i < shelf->count; i++) {
        if (text_equals(shelf->modules[i].file.name, name)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/// Marks the modules that a text names itself.
static void shelf_mark_named(const struct script_shelf *shelf, struct text source, bool *marks)
{
    static const char word[] = "require";
    const size_t length = sizeof word - 1;

    for (size_t i = 0; source.data != NULL && i + length <= source.length; i++) {
        const char *found = memchr(source.data + i, word[0], source.length - length - i + 1);
        if (found == NULL) {
            return;
        }
        i = (size_t)(found - source.data);
        size_t end = i + length;
        if (memcmp(found, word, length) != 0 || (i > 0 && shelf_is_word(source.data[i - 1])) ||
            (end < source.length && shelf_is_word(source.data[end]))) {
            continue;
        }
        struct text name = shelf_name_at(source, end);
        if (name.data == NULL) {
            memset(marks, true, shelf->count * sizeof *marks);
            return;
        }
        ptrdiff_t index = shelf_index(shelf, name);
        if (index >= 0) {
            marks[index] = true;
        }
    }
}

enum status script_shelf_close(struct script_shelf *shelf)
{
    size_t count = shelf->count;
    bool *reach = arena_alloc_array(&shelf->arena, count * count + 1, sizeof *reach);

    if (reach == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        shelf_mark_named(shelf, shelf->modules[i].file.source, &reach[i * count]);
    }
    for (size_t over = 0; over < count; over++) {
        for (size_t from = 0; from < count; from++) {
            for (size_t to = 0; reach[from * count + over] && to < count; to++) {
                reach[from * count + to] |= reach[over * count + to];
            }
        }
    }
    shelf->reach = reach;
    return STATUS_OK;
}

/// Marks all that a text reaches. False: nothing.
static bool shelf_mark_reached(const struct script_shelf *shelf, struct text source, bool *marks)
{
    bool named[SCRIPT_SHELF_MODULES_MAX] = { false };
    bool is_any = false;

    shelf_mark_named(shelf, source, named);
    for (size_t i = 0; i < shelf->count; i++) {
        is_any = is_any || named[i];
        for (size_t to = 0; named[i] && to < shelf->count; to++) {
            marks[to] = marks[to] || to == i || shelf->reach[i * shelf->count + to];
        }
    }
    return is_any;
}

void script_shelf_digest(const struct script_shelf *shelf, struct text source, unsigned char digest[SCRIPT_DIGEST])
{
    bool marks[SCRIPT_SHELF_MODULES_MAX] = { false };

    bind_crypto_sha256(source, digest);
    if (shelf == NULL || !shelf_mark_reached(shelf, source, marks)) {
        return;
    }
    for (size_t i = 0; i < shelf->count; i++) {
        if (marks[i]) { // what came before, the name, the text
            unsigned char sum[3 * SCRIPT_DIGEST];
            memcpy(sum, digest, SCRIPT_DIGEST);
            bind_crypto_sha256(shelf->modules[i].file.name, sum + SCRIPT_DIGEST);
            memcpy(sum + (size_t)2 * SCRIPT_DIGEST, shelf->modules[i].digest, SCRIPT_DIGEST);
            bind_crypto_sha256((struct text){ (const char *)sum, sizeof sum }, digest);
        }
    }
}

const struct script_module *script_shelf_first_broken(const struct script_shelf *shelf, struct text source)
{
    bool marks[SCRIPT_SHELF_MODULES_MAX] = { false };

    (void)shelf_mark_reached(shelf, source, marks);
    for (size_t i = 0; i < shelf->count; i++) {
        if (marks[i] && shelf->modules[i].is_broken) {
            return &shelf->modules[i];
        }
    }
    return NULL;
}

const struct script_module *script_shelf_reached(const struct script_shelf *shelf, struct text source, struct text name)
{
    bool marks[SCRIPT_SHELF_MODULES_MAX] = { false };
    ptrdiff_t index = shelf_index(shelf, name);

    (void)shelf_mark_reached(shelf, source, marks);
    return index >= 0 && marks[index] ? &shelf->modules[index] : NULL;
}

// ---- readers

size_t script_shelf_count(const struct script_shelf *shelf)
{
    return shelf->count;
}

struct script_module *script_shelf_module(const struct script_shelf *shelf, size_t index)
{
    require(index < shelf->count);
    return &shelf->modules[index];
}

const struct script_module *script_shelf_find(const struct script_shelf *shelf, struct text name)
{
    ptrdiff_t index = shelf_index(shelf, name);

    return index < 0 ? NULL : &shelf->modules[index];
}

const struct script_look_up *script_shelf_look_ups(const struct script_shelf *shelf, size_t *count)
{
    *count = shelf->look_up_count;
    return shelf->look_ups;
}

bool script_shelf_equals(const struct script_shelf *one, const struct script_shelf *other)
{
    bool is_equal = one->count == other->count;

    for (size_t i = 0; is_equal && i < one->count; i++) {
        const struct script_file *a = &one->modules[i].file;
        const struct script_file *b = &other->modules[i].file;
        is_equal = text_equals(a->name, b->name) && text_equals(a->path, b->path) &&
                   (a->source.data == NULL) == (b->source.data == NULL) &&
                   memcmp(one->modules[i].digest, other->modules[i].digest, SCRIPT_DIGEST) == 0;
    }
    return is_equal;
}

/// The name of the module that `name` may mean; absent: none.
static struct text shelf_nearest(const struct script_shelf *shelf, struct text name)
{
    const char *names[SHELF_NAMES_MAX];
    size_t count = 0;

    for (; count < shelf->count && count < SHELF_NAMES_MAX; count++) {
        names[count] = shelf->modules[count].file.name.data;
    }
    return text_of(text_nearest(name, names, count));
}

bool script_shelf_on_require(void *context, struct text name, struct text *path, struct text *source)
{
    const struct script_shelf *shelf = context;
    const struct script_module *module = shelf == NULL ? NULL : script_shelf_find(shelf, name);

    if (module == NULL || module->file.source.data == NULL) {
        *path = shelf == NULL ? (struct text){ NULL, 0 } : shelf_nearest(shelf, name);
        return false;
    }
    *path = module->file.path;
    *source = module->file.source;
    return true;
}

bool script_shelf_load(lua_State *L, const struct script_file *file)
{
    sandbox_of(L)->find_context = file->shelf;
    return sandbox_load(L, file->path, file->source);
}

bool script_file_is(const struct script_file *file, struct text shown)
{
    if (!text_starts_with(shown, TEXT("..."))) {
        return text_equals(file->path, shown);
    }
    size_t length = shown.length - 3;
    return length > 0 && length <= file->path.length &&
           memcmp(file->path.data + file->path.length - length, shown.data + 3, length) == 0;
}

const struct script_file *script_shelf_shown(const struct script_shelf *shelf, struct text shown)
{
    for (size_t i = 0; shelf != NULL && i < script_shelf_count(shelf); i++) {
        const struct script_file *file = &script_shelf_module(shelf, i)->file;
        if (script_file_is(file, shown)) {
            return file;
        }
    }
    return NULL;
}
