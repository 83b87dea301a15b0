/// Script set parts: what a set consists of, for those that make one.
///
/// A set is filled in this order: products, script_set_close_products, suppliers, script_set_close. Suppliers can be
/// checked against its products in between; a thread that is stuck in such a check holds it, so what it reads then is
/// never written again.
///
/// Threads: one makes it.
/// Memory:  the set holds its versions, shelf and places.
#pragma once

#include "base/arena.h"
#include "script/script_places.h"
#include "script/script_set.h"

#include <stdatomic.h>

struct script_set {
    atomic_uint owners;
    atomic_uint holds;
    struct arena arena;
    struct script_shelf *shelf;
    struct script_places *places; // NULL: none
    struct script_version **products;
    size_t product_count;
    struct script_version **suppliers;
    size_t supplier_count;
    struct script_version **shadows; // of suppliers; by index they follow these
    struct text *shadow_payers;      // beside `shadows`
    size_t shadow_count;
    struct script_file *product_files; // beside `products`
    struct script_look_up *look_ups;
    size_t look_up_count;
    struct script_segment *segments;
    size_t segment_count;
};

/// With room for so many; holds shelf and places (which may be NULL). NULL without memory.
MUST_CHECK struct script_set *script_set_create(struct script_shelf *shelf, struct script_places *places,
                                                size_t product_count, size_t supplier_count);
/// Takes a hold of its own.
void script_set_add(struct script_set *set, struct script_version *version);
/// The same for a shadow of a supplier that the set has, or gets. False: no memory.
MUST_CHECK bool script_set_add_shadow(struct script_set *set, struct script_version *version);
MUST_CHECK enum status script_set_close_products(struct script_set *set);
MUST_CHECK enum status script_set_close(struct script_set *set);

/// By name; NULL: none.
struct script_version *script_set_version(const struct script_set *set, enum script_kind kind, struct text name);

/// The shadow of a supplier; NULL: none.
struct script_version *script_set_shadow(const struct script_set *set, struct text name);

/// Was the version, which is in `from`, checked against just the places and the product that `set` has?
bool script_set_vouches(const struct script_set *set, const struct script_set *from,
                        const struct script_version *version);

/// Checks a version's file against the products and places of `set`. `*checked`, a new version with the same life, is
/// there when nothing was found; what was found is reported. `run_us` as in struct script_check. STATUS_INVALID,
/// STATUS_TIMEOUT, STATUS_NO_MEMORY.
MUST_CHECK enum status script_set_check(struct script_set *set, const struct script_version *version,
                                        bool knows_products, uint64_t run_us, script_finding report, void *context,
                                        struct script_version **checked);
