#include "script/script_changes.h"
#include "script/script_set_parts.h"

#include <string.h>

#define CHANGES_MEMORY ((size_t)256 << 20) // a row is 1.2 KB, and grows by doubling

void script_changes_init(struct script_changes *changes)
{
    *changes = (struct script_changes){ .count = 0 };
    arena_init(&changes->arena, CHANGES_MEMORY);
}

void script_changes_fini(struct script_changes *changes)
{
    arena_fini(&changes->arena);
    changes->items = NULL;
    changes->count = 0;
}

static struct text changes_copy(struct script_changes *changes, struct text text, bool *is_out_of_memory)
{
    struct text copy = arena_copy(&changes->arena, text);

    *is_out_of_memory = *is_out_of_memory || (text.data != NULL && copy.data == NULL);
    return copy;
}

bool script_changes_add(struct script_changes *changes, const struct script_change *change)
{
    bool is_out_of_memory = false;
    struct script_change copy = *change;

    copy.name = changes_copy(changes, change->name, &is_out_of_memory);
    copy.file = changes_copy(changes, change->file, &is_out_of_memory);
    copy.before = changes_copy(changes, change->before, &is_out_of_memory);
    copy.running = changes_copy(changes, change->running, &is_out_of_memory);
    copy.on_disk = changes_copy(changes, change->on_disk, &is_out_of_memory);
    if ((changes->count & (changes->count - 1)) == 0) { // full: twice the room
        size_t room = changes->count == 0 ? 1 : changes->count * 2;
        struct script_change *grown = arena_alloc_array(&changes->arena, room, sizeof *grown);
        for (size_t i = 0; grown != NULL && i < changes->count; i++) {
            grown[i] = changes->items[i];
        }
        changes->items = grown != NULL ? grown : changes->items;
        is_out_of_memory = is_out_of_memory || grown == NULL;
    }
    if (!is_out_of_memory) {
        changes->items[changes->count++] = copy;
    }
    return !is_out_of_memory;
}

static bool changes_have(const struct script_changes *changes, enum script_kind kind, struct text name)
{
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].kind == kind && text_equals(changes->items[i].name, name)) {
            return true;
        }
    }
    return false;
}

/// Adds what became of one file, when it is told already or the same nothing. False: no memory.
static bool changes_compare(struct script_changes *changes, struct script_change change, bool is_same)
{
    if (is_same || changes_have(changes, change.kind, change.name)) {
        return true;
    }
    change.fate = change.before.data == NULL    ? SCRIPT_ADDED
                  : change.running.data == NULL ? SCRIPT_REMOVED
                                                : SCRIPT_CHANGED;
    change.on_disk = change.running;
    return script_changes_add(changes, &change);
}

/// Either may be NULL, not both.
static bool changes_compare_versions(struct script_changes *changes, const struct script_version *before,
                                     const struct script_version *now)
{
    const struct script_version *any = now != NULL ? now : before;
    struct script_change change = { .kind = any->kind, .name = any->file.name, .file = any->file.path };

    if (before != NULL) {
        change.before = before->label;
    }
    if (now != NULL) {
        change.running = now->label;
        memcpy(change.on_disk_digest, now->digest, SCRIPT_DIGEST);
    }
    return changes_compare(changes, change, before != NULL && now != NULL && script_version_equals(before, now));
}

static bool changes_compare_all(struct script_changes *changes, const struct script_set *before,
                                const struct script_set *now, enum script_kind kind)
{
    bool is_products = kind == SCRIPT_KIND_PRODUCT;
    size_t count = is_products ? now->product_count : now->supplier_count;
    size_t before_count = is_products ? before->product_count : before->supplier_count;
    bool has_memory = true;

    for (size_t i = 0; has_memory && i < count; i++) {
        const struct script_version *version = is_products ? now->products[i] : now->suppliers[i];
        has_memory = changes_compare_versions(changes, script_set_version(before, kind, version->file.name), version);
    }
    for (size_t i = 0; has_memory && i < before_count; i++) {
        const struct script_version *version = is_products ? before->products[i] : before->suppliers[i];
        if (script_set_version(now, kind, version->file.name) == NULL) {
            has_memory = changes_compare_versions(changes, version, NULL);
        }
    }
    return has_memory;
}

static bool changes_compare_modules(struct script_changes *changes, const struct script_module *before,
                                    const struct script_module *now)
{
    const struct script_module *any = now != NULL ? now : before;
    struct script_change change = { .kind = SCRIPT_KIND_SCRIPTS, .name = any->file.name, .file = any->file.path };
    char labels[2][SCRIPT_LABEL_SIZE];

    if (before != NULL) {
        change.before = script_label(before->file.name, before->digest, labels[0]);
    }
    if (now != NULL) {
        change.running = script_label(now->file.name, now->digest, labels[1]);
        memcpy(change.on_disk_digest, now->digest, SCRIPT_DIGEST);
    }
    bool is_same = before != NULL && now != NULL && memcmp(before->digest, now->digest, SCRIPT_DIGEST) == 0;
    return changes_compare(changes, change, is_same);
}

static bool changes_compare_shelves(struct script_changes *changes, const struct script_shelf *before,
                                    const struct script_shelf *now)
{
    bool has_memory = true;

    for (size_t i = 0; has_memory && i < script_shelf_count(now); i++) {
        const struct script_module *module = script_shelf_module(now, i);
        has_memory = changes_compare_modules(changes, script_shelf_find(before, module->file.name), module);
    }
    for (size_t i = 0; has_memory && i < script_shelf_count(before); i++) {
        const struct script_module *module = script_shelf_module(before, i);
        if (script_shelf_find(now, module->file.name) == NULL) {
            has_memory = changes_compare_modules(changes, module, NULL);
        }
    }
    return has_memory;
}

static bool changes_compare_places(struct script_changes *changes, const struct script_places *before,
                                   const struct script_places *now)
{
    struct script_change change = { .kind = SCRIPT_KIND_SCRIPTS, .name = TEXT("airports") };
    char labels[2][SCRIPT_LABEL_SIZE];

    if (before == now) {
        return true;
    }
    change.file = text_of(now != NULL ? now->path : before->path);
    if (before != NULL) {
        change.before = script_label(change.name, before->digest, labels[0]);
    }
    if (now != NULL) {
        change.running = script_label(change.name, now->digest, labels[1]);
        memcpy(change.on_disk_digest, now->digest, SCRIPT_DIGEST);
    }
    return changes_compare(changes, change,
                           before != NULL && now != NULL && script_places_is(before, now->path, now->digest));
}

enum status script_changes_between(const struct script_set *before, const struct script_set *now,
                                   struct script_changes *changes)
{
    if (before == NULL) {
        return STATUS_OK;
    }
    bool has_memory = changes_compare_shelves(changes, before->shelf, now->shelf) &&
                      changes_compare_places(changes, before->places, now->places) &&
                      changes_compare_all(changes, before, now, SCRIPT_KIND_PRODUCT) &&
                      changes_compare_all(changes, before, now, SCRIPT_KIND_SUPPLIER);
    return has_memory ? STATUS_OK : STATUS_NO_MEMORY;
}
