#include "script/script_set_parts.h"
#include "script/check_task.h"

#include <stdio.h>
#include <stdlib.h>

#define SET_MEMORY ((size_t)64 << 20)

struct script_set *script_set_create(struct script_shelf *shelf, struct script_places *places, size_t product_count,
                                     size_t supplier_count)
{
    struct script_set *set = calloc(1, sizeof *set);

    if (set == NULL) {
        return NULL;
    }
    atomic_init(&set->owners, 1);
    atomic_init(&set->holds, 1);
    arena_init(&set->arena, SET_MEMORY);
    set->shelf = script_shelf_hold(shelf);
    set->places = script_places_hold(places);
    set->products = arena_alloc_array(&set->arena, product_count + 1, sizeof(struct script_version *));
    set->suppliers = arena_alloc_array(&set->arena, supplier_count + 1, sizeof(struct script_version *));
    set->product_files = arena_alloc_array(&set->arena, product_count + 1, sizeof(*set->product_files));
    set->shadows = arena_alloc_array(&set->arena, supplier_count + 1, sizeof(struct script_version *));
    set->shadow_payers = arena_alloc_array(&set->arena, supplier_count + 1, sizeof(*set->shadow_payers));
    if (set->products == NULL || set->suppliers == NULL || set->product_files == NULL || set->shadows == NULL ||
        set->shadow_payers == NULL) {
        script_set_release(&set);
    }
    return set;
}

void script_set_add(struct script_set *set, struct script_version *version)
{
    if (version->kind == SCRIPT_KIND_PRODUCT) {
        set->product_files[set->product_count] = version->file;
        set->products[set->product_count++] = script_version_hold(version);
    } else {
        set->suppliers[set->supplier_count++] = script_version_hold(version);
    }
}

bool script_set_add_shadow(struct script_set *set, struct script_version *version)
{
    char payer[SCRIPT_LABEL_SIZE];

    snprintf(payer, sizeof payer, "%.*s (shadow)", TEXT_ARGS(version->file.name));
    struct text kept = arena_copy(&set->arena, text_of(payer));
    if (kept.data == NULL) {
        return false;
    }
    set->shadow_payers[set->shadow_count] = kept;
    set->shadows[set->shadow_count++] = script_version_hold(version);
    return true;
}

enum status script_set_close_products(struct script_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->product_count; i++) {
        count += set->products[i]->segment_count;
    }
    set->segments = arena_alloc_array(&set->arena, count + 1, sizeof *set->segments);
    if (set->segments == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < set->product_count; i++) {
        for (size_t k = 0; k < set->products[i]->segment_count; k++) {
            set->segments[set->segment_count++] = set->products[i]->segments[k];
        }
    }
    return STATUS_OK;
}

static void set_take_look_ups(struct script_set *set, const struct script_look_up *items, size_t count,
                              ptrdiff_t supplier)
{
    for (size_t i = 0; i < count; i++) {
        struct script_look_up *look_up = &set->look_ups[set->look_up_count++];
        *look_up = items[i];
        look_up->supplier = supplier;
    }
}

/// Products first, then suppliers, then shadows.
static const struct script_version *set_any(const struct script_set *set, size_t index)
{
    return index < set->product_count ? set->products[index]
                                      : script_set_supplier_version(set, index - set->product_count);
}

/// The shelf of the version at `index` when no earlier one stands on it.
static const struct script_shelf *set_other_shelf(const struct script_set *set, size_t index)
{
    const struct script_shelf *shelf = set_any(set, index)->file.shelf;

    for (size_t i = 0; i < index; i++) {
        if (set_any(set, i)->file.shelf == shelf) {
            return NULL;
        }
    }
    return shelf == set->shelf ? NULL : shelf;
}

/// Of the modules, on whichever shelf a version stands; of products; of suppliers and shadows.
enum status script_set_close(struct script_set *set)
{
    size_t versions = set->product_count + set->supplier_count + set->shadow_count;
    size_t total;
    size_t count;

    (void)script_shelf_look_ups(set->shelf, &total);
    for (size_t i = 0; i < versions; i++) {
        const struct script_shelf *shelf = set_other_shelf(set, i);
        if (shelf != NULL) {
            (void)script_shelf_look_ups(shelf, &count);
            total += count;
        }
        total += set_any(set, i)->look_up_count;
    }
    set->look_ups = arena_alloc_array(&set->arena, total + 1, sizeof(*set->look_ups));
    if (set->look_ups == NULL) {
        return STATUS_NO_MEMORY;
    }
    const struct script_look_up *items = script_shelf_look_ups(set->shelf, &count);
    set_take_look_ups(set, items, count, -1);
    for (size_t i = 0; i < versions; i++) {
        const struct script_shelf *shelf = set_other_shelf(set, i);
        if (shelf != NULL) {
            items = script_shelf_look_ups(shelf, &count);
            set_take_look_ups(set, items, count, -1);
        }
    }
    for (size_t i = 0; i < set->product_count; i++) {
        set_take_look_ups(set, set->products[i]->look_ups, set->products[i]->look_up_count, -1);
    }
    for (size_t i = 0; i < set->supplier_count + set->shadow_count; i++) {
        const struct script_version *version = script_set_supplier_version(set, i);
        set_take_look_ups(set, version->look_ups, version->look_up_count, (ptrdiff_t)i);
    }
    return STATUS_OK;
}

struct script_version *script_set_version(const struct script_set *set, enum script_kind kind, struct text name)
{
    ptrdiff_t index =
        kind == SCRIPT_KIND_PRODUCT ? script_set_find_product(set, name) : script_set_find_supplier(set, name);

    if (index < 0) {
        return NULL;
    }
    return kind == SCRIPT_KIND_PRODUCT ? set->products[index] : set->suppliers[index];
}

struct script_version *script_set_shadow(const struct script_set *set, struct text name)
{
    ptrdiff_t index = script_set_find_shadow(set, name);

    return index < 0 ? NULL : set->shadows[(size_t)index - set->supplier_count];
}

bool script_set_vouches(const struct script_set *set, const struct script_set *from,
                        const struct script_version *version)
{
    if (set->places != from->places) {
        return false;
    }
    return version->kind == SCRIPT_KIND_PRODUCT ||
           script_set_version(set, SCRIPT_KIND_PRODUCT, version->declared.product) ==
               script_set_version(from, SCRIPT_KIND_PRODUCT, version->declared.product);
}

enum status script_set_check(struct script_set *set, const struct script_version *version, bool knows_products,
                             uint64_t run_us, script_finding report, void *context, struct script_version **checked)
{
    struct script_version *fresh = script_version_again(version);
    struct arena scratch;

    *checked = NULL;
    if (fresh == NULL) {
        return STATUS_NO_MEMORY;
    }
    arena_init(&scratch, SET_MEMORY);
    struct script_check check = { .arena = &scratch,
                                  .run_us = run_us,
                                  .report = report,
                                  .context = context,
                                  .products = set->product_files,
                                  .product_count = set->product_count,
                                  .known_segments = set->segments,
                                  .known_segment_count = set->segment_count,
                                  .places = script_set_places(set),
                                  .knows_products = knows_products };
    const struct check_subject subject = { .kind =
                                               version->kind == SCRIPT_KIND_PRODUCT ? CHECK_PRODUCT : CHECK_SUPPLIER,
                                           .file = &fresh->file,
                                           .set = set,
                                           .version = fresh };
    enum status status = check_task_run(&check, &subject);
    arena_fini(&scratch);
    if (status == STATUS_OK && check.findings > 0) {
        status = STATUS_INVALID;
    }
    if (status != STATUS_OK) {
        script_version_drop(&fresh);
    }
    *checked = fresh;
    return status;
}
