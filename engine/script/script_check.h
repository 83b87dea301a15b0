/// Script check: the contract a supplier's or product's table must keep, found out by running its file once.
///
/// Everything wrong is reported, not only the first thing.
///
/// Threads: the loader's.
/// Memory:  what it fills lives in the caller's arena.
#pragma once

#include "base/arena.h"
#include "script/sandbox.h"
#include "script/script_set.h"

enum { SCRIPT_CHECK_RUN_US = 2000000 }; // of CPU time, for running a file

struct script_check {
    struct arena *arena;
    sandbox_find_module find_module; // for `require`
    void *find_context;
    script_finding report;
    void *context;
    size_t findings; // counted
    bool is_overdue; // a file ran for too long
    // what suppliers may refer to
    const struct script_file *products;
    size_t product_count;
    bool knows_products; // else their folder could not be read, which is a finding of its own
};

/// Reports one finding; `line` 0: none.
void script_check_report(struct script_check *check, const struct script_file *file, uint32_t line, const char *help,
                         const char *format, ...) PRINTF_LIKE(5, 6);

/// Runs a module's file; it only has to load.
void script_check_module(struct script_check *check, const struct script_file *file);

/// Runs a product's file and checks its table, the offer's schema included.
void script_check_product(struct script_check *check, const struct script_file *file);

/// Runs a supplier's file, checks its table and fills `supplier` from it.
void script_check_supplier(struct script_check *check, const struct script_file *file,
                           struct script_supplier *supplier);

/// The path without folders and without ".lua".
struct text script_check_basename(struct text path);
