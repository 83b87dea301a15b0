/// Script set: the checked, immutable Lua sources of one generation, and what their tables declare.
///
/// Loading reads every file of the scripts and suppliers directories once, compiles it as text in a throw-away sandbox
/// without network or clock, checks the contract (contract.md section 4) and keeps source, bytecode-free, for the workers,
/// which build their own states from it. All findings are reported, not the first.
///
/// Threads: loaded by one, read by all.
/// Memory:  counted; the last release frees it.
#pragma once

#include "base/status.h"
#include "base/text.h"

struct script_set;

/// A supplier to be: its name and the file that plays it.
struct script_source {
    struct text name;     // "acme"
    struct text file;     // path to the Lua file, as shown in errors
};

/// What a supplier's table declares; texts live as long as the set.
struct script_supplier {
    struct text  name;
    struct text  display_name;
    struct text  file;
    struct text  label;              // "acme@3f9a": name and the head of the source's SHA-256
    struct text  product;
    struct text *hosts;
    size_t       host_count;
    struct text *secrets;            // names
    size_t       secret_count;
    struct text  options;            // JSON object of defaults
    uint64_t     body_cap;           // limits.body, or the default
};

/// One finding of a load; file, line and remedy in `failure`.
typedef void (*script_finding)(void *context, const struct failure *failure);

/// Loads `scripts_dir` (products/*.lua and helpers) and the sources. On any finding the result is STATUS_INVALID, every
/// finding was reported and `*set` is NULL.
MUST_CHECK enum status script_set_load(const char *scripts_dir, const struct script_source *sources, size_t count,
                                       script_finding report, void *context, struct script_set **set);
struct script_set *script_set_acquire(struct script_set *set);
void script_set_release(struct script_set **set);

size_t script_set_supplier_count(const struct script_set *set);
/// Index = position in `sources`.
const struct script_supplier *script_set_supplier(const struct script_set *set, size_t index);
size_t script_set_product_count(const struct script_set *set);
struct text script_set_product(const struct script_set *set, size_t index);
