// Whom a finding stops when only some suppliers are wanted: those that reach what is broken, and nobody else.

#include "script/script_load.h"

static bool is_named(const struct script_order *order, struct text name)
{
    for (size_t i = 0; i < order->needed_count; i++) {
        if (text_equals(order->needed[i], name)) {
            return true;
        }
    }
    return false;
}

/// One that could not be chosen may lack any product.
static bool needs_product(const struct load *load, struct text product)
{
    for (size_t i = 0; i < load->suppliers.count; i++) {
        const struct load_seat *supplier = &load->suppliers.items[i];
        if (is_named(load->order, supplier->name) &&
            (supplier->chosen == NULL || text_equals(supplier->chosen->declared.product, product))) {
            return true;
        }
    }
    return false;
}

bool load_needs(const struct load *load, const struct load_seat *seat)
{
    if (load->order->needed == NULL) {
        return true;
    }
    return seat->kind == SCRIPT_KIND_PRODUCT ? needs_product(load, seat->name) : is_named(load->order, seat->name);
}

static bool is_reached(const struct load *load, const struct load_seats *seats, struct text module)
{
    for (size_t i = 0; i < seats->count; i++) {
        const struct load_seat *seat = &seats->items[i];
        if (seat->disk != NULL && load_needs(load, seat) &&
            script_shelf_reached(load->shelf, seat->disk->file.source, module) != NULL) {
            return true;
        }
    }
    return false;
}

bool load_needs_module(const struct load *load, struct text path)
{
    const struct script_file *file = load->order->needed == NULL ? NULL : script_shelf_shown(load->shelf, path);

    return file == NULL || is_reached(load, &load->suppliers, file->name) ||
           is_reached(load, &load->products, file->name);
}
