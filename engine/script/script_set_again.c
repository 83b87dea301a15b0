// Sets made of versions that are there, without a look at the disk.

#include "script/script_set_parts.h"

struct again {
    bool is_apart;
    struct script_version *other; // for the supplier of its name; NULL: none
    bool keeps_shadows;
};

/// False: no memory.
static bool again_add(struct script_set *made, struct script_version *version, const struct again *again)
{
    bool is_it = again->other != NULL && version->kind == again->other->kind &&
                 text_equals(version->file.name, again->other->file.name);
    struct script_version *added = is_it             ? script_version_hold(again->other)
                                   : again->is_apart ? script_version_apart(version)
                                                     : script_version_hold(version);

    if (added == NULL) {
        return false;
    }
    script_set_add(made, added);
    script_version_drop(&added);
    return true;
}

static struct script_set *again_with_products(const struct script_set *from, const struct again *again)
{
    struct script_set *made = script_set_create(from->shelf, from->places, from->product_count, from->supplier_count);
    bool has_memory = made != NULL;

    for (size_t i = 0; has_memory && i < from->product_count; i++) {
        has_memory = again_add(made, from->products[i], again);
    }
    if (!has_memory || script_set_close_products(made) != STATUS_OK) {
        script_set_release(&made);
    }
    return made;
}

/// Releases the set and makes it NULL without memory.
static void again_finish(struct script_set **made, const struct script_set *from, const struct again *again)
{
    bool has_memory = *made != NULL;

    for (size_t i = 0; has_memory && i < from->supplier_count; i++) {
        has_memory = again_add(*made, from->suppliers[i], again);
    }
    for (size_t i = 0; has_memory && again->keeps_shadows && i < from->shadow_count; i++) {
        has_memory = script_set_add_shadow(*made, from->shadows[i]);
    }
    if (!has_memory || script_set_close(*made) != STATUS_OK) {
        script_set_release(made);
    }
}

static struct script_set *again_make(const struct script_set *from, const struct again *again)
{
    struct script_set *made = again_with_products(from, again);

    again_finish(&made, from, again);
    return made;
}

struct script_set *script_set_again(struct script_set *set)
{
    return again_make(set, &(struct again){ .is_apart = false });
}

struct script_set *script_set_apart(struct script_set *set)
{
    return again_make(set, &(struct again){ .is_apart = true });
}

enum status script_set_with(struct script_set *running, struct script_set *older, struct text supplier,
                            script_finding report, void *context, struct script_set **set)
{
    struct script_version *version = script_set_version(older, SCRIPT_KIND_SUPPLIER, supplier);
    struct again again = { .keeps_shadows = true };
    enum status status = STATUS_OK;

    *set = NULL;
    if (version == NULL || script_set_version(running, SCRIPT_KIND_SUPPLIER, supplier) == NULL) {
        return STATUS_NOT_FOUND;
    }
    struct script_set *made = again_with_products(running, &again);
    if (made == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (script_set_vouches(made, older, version)) {
        again.other = script_version_hold(version);
    } else {
        status = script_set_check(made, version, true, 0, report, context, &again.other);
    }
    if (status == STATUS_OK) {
        again_finish(&made, running, &again);
        status = made == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    }
    script_version_drop(&again.other);
    if (status != STATUS_OK) {
        script_set_release(&made);
    }
    *set = made;
    return status == STATUS_TIMEOUT ? STATUS_INVALID : status;
}
