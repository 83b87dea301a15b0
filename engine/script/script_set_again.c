// Sets made of versions that are there, without a look at the disk.

#include "script/script_set_parts.h"

static void again_add_products(struct script_set *made, const struct script_set *from)
{
    for (size_t i = 0; i < from->product_count; i++) {
        script_set_add(made, from->products[i]);
    }
}

/// All suppliers of `from`, `other` in the place of the one of its name; it may be NULL.
static void again_add_suppliers(struct script_set *made, const struct script_set *from, struct script_version *other)
{
    for (size_t i = 0; i < from->supplier_count; i++) {
        struct script_version *version = from->suppliers[i];
        bool is_it = other != NULL && text_equals(version->file.name, other->file.name);
        script_set_add(made, is_it ? other : version);
    }
}

static struct script_set *again_with_products(const struct script_set *from)
{
    struct script_set *made = script_set_create(from->shelf, from->places, from->product_count, from->supplier_count);

    if (made != NULL) {
        again_add_products(made, from);
    }
    if (made != NULL && script_set_close_products(made) != STATUS_OK) {
        script_set_release(&made);
    }
    return made;
}

struct script_set *script_set_again(struct script_set *set)
{
    struct script_set *made = again_with_products(set);

    if (made != NULL) {
        again_add_suppliers(made, set, NULL);
    }
    if (made != NULL && script_set_close(made) != STATUS_OK) {
        script_set_release(&made);
    }
    return made;
}

// Adds a version apart. False: no memory.
static bool apart_add(struct script_set *made, struct script_version *version)
{
    struct script_version *apart = script_version_apart(version);

    if (apart != NULL) {
        script_set_add(made, apart);
    }
    bool is_added = apart != NULL;
    script_version_drop(&apart);
    return is_added;
}

struct script_set *script_set_apart(struct script_set *set)
{
    struct script_set *made = script_set_create(set->shelf, set->places, set->product_count, set->supplier_count);
    bool is_whole = made != NULL;

    for (size_t i = 0; i < set->product_count && is_whole; i++) {
        is_whole = apart_add(made, set->products[i]);
    }
    is_whole = is_whole && script_set_close_products(made) == STATUS_OK;
    for (size_t i = 0; i < set->supplier_count && is_whole; i++) {
        is_whole = apart_add(made, set->suppliers[i]);
    }
    is_whole = is_whole && script_set_close(made) == STATUS_OK;
    if (made != NULL && !is_whole) {
        script_set_release(&made);
    }
    return made;
}

enum status script_set_with(struct script_set *running, struct script_set *older, struct text supplier,
                            script_finding report, void *context, struct script_set **set)
{
    struct script_version *version = script_set_version(older, SCRIPT_KIND_SUPPLIER, supplier);
    struct script_version *checked = NULL;
    enum status status = STATUS_OK;

    *set = NULL;
    if (version == NULL || script_set_version(running, SCRIPT_KIND_SUPPLIER, supplier) == NULL) {
        return STATUS_NOT_FOUND;
    }
    struct script_set *made = again_with_products(running);
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (script_set_vouches(made, older, version)) {
        checked = script_version_hold(version);
    } else {
        status = script_set_check(made, version, true, report, context, &checked);
    }
    if (status == STATUS_OK) {
        again_add_suppliers(made, running, checked);
        status = script_set_close(made);
    }
    script_version_drop(&checked);
    if (status != STATUS_OK) {
        script_set_release(&made);
    }
    *set = made;
    return status == STATUS_TIMEOUT ? STATUS_INVALID : status;
}
