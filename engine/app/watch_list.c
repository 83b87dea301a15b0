#include "app/watch_list.h"

#include "app/secret.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIST_BYTES_MAX = 16 << 20, LIST_FIXED = 8 };

static void list_add(struct watch_list *list, struct text path, enum file_walk_kind kind)
{
    struct text copy = arena_copy(&list->arena, path);

    if (copy.length > 0) {
        list->items[list->count++] = (struct file_watch_path){ copy.data, kind };
    }
}

static void list_add_below(struct watch_list *list, struct text folder, const char *name, enum file_walk_kind kind)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%.*s/%s", TEXT_ARGS(folder), name);

    if (folder.length > 0 && length > 0 && (size_t)length < sizeof(path)) {
        list_add(list, (struct text){ path, (size_t)length }, kind);
    }
}

static size_t count_accounts(const struct settings *settings)
{
    size_t count = 0;
    for (size_t i = 0; i < settings->supplier_count; i++) {
        count += settings->suppliers[i].account_count;
    }
    return count;
}

static void add_certificates(struct watch_list *list, const struct settings_supplier *supplier)
{
    for (size_t i = 0; i < supplier->account_count; i++) {
        list_add(list, supplier->accounts[i].certificate_file, FILE_WALK_FILE);
        list_add(list, supplier->accounts[i].key_file, FILE_WALK_FILE);
    }
}

enum status watch_list_init(struct watch_list *list, const struct settings *settings)
{
    size_t most = LIST_FIXED + settings->file_count + settings->suppliers_dir_count + settings->table_count +
                  2 * count_accounts(settings);

    *list = (struct watch_list){ .count = 0 };
    arena_init(&list->arena, LIST_BYTES_MAX);
    list->items = arena_alloc_array(&list->arena, most, sizeof(*list->items));
    if (list->items == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < settings->file_count; i++) {
        list_add(list, text_of(settings->files[i].path), FILE_WALK_FILE);
    }
    for (size_t i = 0; i < settings->suppliers_dir_count; i++) {
        list_add(list, settings->suppliers_dirs[i], FILE_WALK_SUPPLIERS);
    }
    list_add(list, settings->scripts_dir, FILE_WALK_LUA);
    list_add_below(list, settings->scripts_dir, "products", FILE_WALK_LUA);
    list_add_below(list, settings->scripts_dir, "data", FILE_WALK_ENTRIES);
    for (size_t i = 0; i < settings->table_count; i++) {
        list_add(list, settings->tables[i].file, FILE_WALK_FILE);
    }
    list_add(list, settings->fx_file, FILE_WALK_FILE);
    list_add(list, secret_directory(settings->secrets_dir), FILE_WALK_ENTRIES);
    for (size_t i = 0; i < settings->supplier_count; i++) {
        add_certificates(list, &settings->suppliers[i]);
    }
    return STATUS_OK;
}

void watch_list_fini(struct watch_list *list)
{
    arena_fini(&list->arena);
    *list = (struct watch_list){ .count = 0 };
}
