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

enum { SCRIPT_CHECK_RUN_US = 2000000 }; // of CPU time, for running a file, as a rule

struct script_check {
    struct arena *arena;
    script_finding report;
    void *context;
    size_t findings; // counted
    uint64_t run_us; // of CPU time, for running a file; 0: SCRIPT_CHECK_RUN_US
    bool is_overdue; // a file ran for too long
    // what suppliers may refer to
    const struct script_file *products;
    size_t product_count;
    struct script_look_up *look_ups; // found so far, in the arena
    size_t look_up_count;
    struct script_segment *segments; // likewise
    size_t segment_count;
    const struct script_segment *known_segments; // of the products, for the check of suppliers
    size_t known_segment_count;
    const struct places *places; // the airports; NULL: none
    bool knows_products;         // else their folder could not be read, which is a finding of its own
};

/// Of CPU time, for running a file.
uint64_t script_check_limit_us(const struct script_check *check);

/// Reports one finding; `line` 0: none. A question ": did you mean …?" at the end of the sentence becomes its help.
void script_check_report(struct script_check *check, const struct script_file *file, uint32_t line, enum code code,
                         const char *help, const char *format, ...) PRINTF_LIKE(6, 7);

/// In a protected call: checks `key` and `segments` of the product's table at index 1, and keeps the segments.
void script_check_product_lists(lua_State *L, struct script_check *check, const struct script_file *file);

/// In a protected call: reports the unknown globals and fields of helpers that the file uses, and keeps its look-ups.
void script_check_globals(lua_State *L, struct script_check *check, const struct script_file *file);

/// The line where the source first assigns `word`, from line `first` on; 0: nowhere.
uint32_t script_check_line_of(const struct script_file *file, const char *word, uint32_t first);

/// In a protected call: holds the plans of a supplier's file, whose table is at 1, against its product's offer.
void script_check_plans(lua_State *L, struct script_check *check, const struct script_file *file, struct text product);

/// In a protected call: reads `limits` of the supplier's table at index 1.
void script_check_limits(lua_State *L, struct script_check *check, const struct script_file *file,
                         struct script_supplier *supplier);
/// Likewise: `endpoints`; and one entry of `limits`, whose value is on top of the stack. False: it is another one's.
void script_check_endpoints(lua_State *L, struct script_check *check, const struct script_file *file,
                            struct script_supplier *supplier);
bool script_check_extra_limit(lua_State *L, struct script_check *check, const struct script_file *file,
                              struct script_supplier *supplier, const char *key, uint32_t line);

/// In a protected call: the field of the supplier's table at 1, when there is one, is a table of exactly these
/// functions.
void script_check_functions(lua_State *L, struct script_check *check, const struct script_file *file, const char *field,
                            const char *const *names, size_t count);

/// Runs a module's file; it only has to load.
void script_check_module(struct script_check *check, const struct script_file *file);

/// Runs a product's file and checks its table, the offer's schema included.
void script_check_product(struct script_check *check, const struct script_file *file);

/// Keeps a look-up that was found, with a copy of its texts in the check's arena. False: no memory.
MUST_CHECK bool script_check_keep_look_up(struct script_check *check, const struct script_look_up *look_up);

/// The same for a segment, but for the name of its product.
MUST_CHECK bool script_check_keep_segment(struct script_check *check, const struct script_segment *segment);

/// Runs a supplier's file, checks its table and fills `supplier` from it.
void script_check_supplier(struct script_check *check, const struct script_file *file,
                           struct script_supplier *supplier);

/// The path without folders and without ".lua".
struct text script_check_basename(struct text path);
